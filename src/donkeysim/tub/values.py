"""Values of a record: from what a car's channels carry to what a catalog's line and a picture file hold."""

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from operator import methodcaller
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from donkeysim.core.errors import TubError, describe_unknown, shorten
from donkeysim.core.files import POINTER, POINTER_ADVICE
from donkeysim.core.types import ByteArray
from donkeysim.world.lens import LARGEST_PICTURE

IMAGE_TYPE = "image_array"

PICTURE_ENDINGS = (".jpg", ".jpeg", ".png")

PICTURE_ERRORS = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)
"""Pillow raises each for one or another broken file."""


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def read_number(value: object) -> float | None:
    """Return what a record holds as a number; None where it is none: a truth value, nan, inf, too large, other text.

    Some people's programs wrote numbers as text; training programs of donkeycar 3 read them nevertheless.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def name_type(value: object) -> str:
    """Return the type of an input by its value in a record, for tubs whose own list of them is lost."""
    if isinstance(value, str):
        return IMAGE_TYPE if value.lower().endswith(PICTURE_ENDINGS) else "str"
    if isinstance(value, bool):
        return "boolean"
    return "float" if isinstance(value, int | float) else "vector"


def check_types(inputs: Sequence[str], types: Sequence[str]) -> None:
    """Check that every input has a type that a tub knows.

    Raises:
        TubError: It has not.
    """
    if len(inputs) != len(types):
        raise TubError(f"a tub needs one type for each input; given are {len(inputs)} inputs and {len(types)} types.")
    for kind in types:
        if kind != IMAGE_TYPE and kind not in _CONVERSIONS:
            raise TubError(describe_unknown("type of a tub's input", kind, (IMAGE_TYPE, *_CONVERSIONS)))


def convert_values(record: Mapping[str, object], types: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return a record's plain values and its pictures as JPEG; None and keys that the tub does not have are left out.

    Raises:
        TubError: A value does not fit its type, or is not a finite number.
    """
    values: dict[str, Any] = {}
    pictures: dict[str, bytes] = {}
    for key, value in record.items():
        kind = types.get(key)
        if kind is None or value is None:
            continue
        if kind == IMAGE_TYPE:
            pictures[key] = encode_picture(key, value)
        else:
            values[key] = _convert(key, kind, value)
    return values, pictures


def name_picture(index: int, key: str) -> str:
    """Return the file name of a record's picture."""
    return f"{index}_{key.replace('/', '_')}_.jpg"


def encode_picture(key: str, value: object) -> bytes:
    """Return a picture as the JPEG that Pillow makes when nothing is said (quality 75).

    Args:
        key: The input it belongs to.
        value: uint8, shape [height, width, 3], or grey [height, width] or [height, width, 1].

    Raises:
        TubError: It is no such picture.
    """
    picture = np.asarray(value)
    if picture.ndim == 3 and picture.shape[2] == 1:
        picture = picture[:, :, 0]
    fits = picture.ndim == 2 or (picture.ndim == 3 and picture.shape[2] == 3)
    if picture.dtype != np.uint8 or not fits or not picture.size:
        raise TubError(
            f"{key} is not a picture: it has shape {picture.shape} and type {picture.dtype}; "
            "a tub takes [height, width, 3] or [height, width] of uint8."
        )
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="JPEG")
    return buffer.getvalue()


GREY = " grey"
"""Ends the size of a grey picture, as people write it."""

MOST_PIXELS = math.prod(LARGEST_PICTURE)
"""Of a picture in a tub; a small file may claim far more."""


def _open_picture(data: bytes) -> Image.Image:
    if data.startswith(POINTER):
        raise OSError(f"it {POINTER_ADVICE}")
    try:
        return Image.open(io.BytesIO(data))
    except UnidentifiedImageError as error:
        raise OSError("it is no picture" if data else "it is empty") from error


def decode_picture(data: bytes) -> ByteArray:
    """Return the pixels of a picture file, shape [height, width, 3], or [height, width, 1] when it is grey.

    Raises:
        OSError: It cannot be decoded.
    """
    with _open_picture(data) as image:
        if image.width * image.height > MOST_PIXELS:
            raise OSError(f"{image.width}x{image.height} pixels are more than a picture of a drive has")
        if image.mode == "L":
            return np.asarray(image)[:, :, np.newaxis]
        return np.asarray(image.convert("RGB"))


_ENDS = (b"\xff\xd9", b"IEND\xaeB`\x82")
"""What a whole JPEG and a whole PNG end with."""


def measure_picture(data: bytes) -> str:
    """Return the size of a picture file as people write it, such as "160x120" or "160x120 grey".

    Raises:
        OSError: It is no picture, or its end is missing.
    """
    with _open_picture(data) as image:
        if not data.endswith(_ENDS):
            image.load()  # is it torn, or does something follow its end?
        return f"{image.width}x{image.height}{GREY if image.mode == 'L' else ''}"


def _convert(key: str, kind: str, value: object) -> Any:
    try:
        converted = _CONVERSIONS[kind](value)
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise TubError(f"{key} should be of the type {kind}, and {shorten(repr(value))} is not: {error}.") from error
    if not _is_finite(converted):
        raise TubError(f"{key} is {shorten(repr(value))}; a tub keeps finite numbers only.")
    return converted


def _take_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("it is not text")
    return value


def _take_list(value: Any) -> list[Any]:
    return [item.item() if isinstance(item, np.generic) else item for item in value]


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "int": int,
    "boolean": bool,
    "str": _take_text,
    "nparray": methodcaller("tolist"),
    "list": _take_list,
    "vector": _take_list,
}


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return True
