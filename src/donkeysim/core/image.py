"""Picture files in memory: JPEG, PNG, TGA."""

import io

import numpy as np
import simplejpeg
from PIL import Image

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.types import ByteArray

JPEG_QUALITY = 75
"""What the original's engine uses when nothing is said."""


def encode_picture(picture: ByteArray, encoding: str) -> bytes:
    """Return a picture as the bytes of a file, three channels in every encoding.

    Args:
        picture: sRGB, top row first, C-contiguous, shape [height, width, 3].
        encoding: "JPG", "PNG" or "TGA".

    Raises:
        SpecError: Another encoding.
    """
    if encoding == "JPG":
        return encode_jpeg(picture)
    if encoding not in ("PNG", "TGA"):
        raise SpecError(describe_unknown("image encoding", encoding, ("JPG", "PNG", "TGA")))
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format=encoding, **({"compress_level": 1} if encoding == "PNG" else {}))
    return buffer.getvalue()


def prepare_encodings() -> None:
    """Load what the first picture of each encoding would wait for: 20 ms, most of it for TGA."""
    for encoding in ("JPG", "PNG", "TGA"):
        encode_picture(np.zeros((1, 1, 3), np.uint8), encoding)


def encode_jpeg(picture: ByteArray, quality: int = JPEG_QUALITY) -> bytes:
    """Return a picture [height, width, 3] as JPEG with 4:2:0 colour."""
    encoded: bytes = simplejpeg.encode_jpeg(picture, quality=quality, colorspace="RGB", colorsubsampling="420")
    return encoded


def spread_grey(picture: ByteArray) -> ByteArray:
    """Return a picture [height, width, 1 or 3] with three channels, C-contiguous."""
    return np.ascontiguousarray(np.broadcast_to(picture, (*picture.shape[:2], 3)))


def decode_jpeg(data: bytes, target: ByteArray) -> None:
    """Write the pixels of a JPEG file, sRGB, into an array of the picture's shape, [height, width, 3]."""
    simplejpeg.decode_jpeg(data, colorspace="RGB", buffer=target)


def decode_picture(data: bytes) -> ByteArray:
    """Return the pixels of any picture file Pillow opens, sRGB, shape [height, width, 3]."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))
