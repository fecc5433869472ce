"""Writes glTF 2.0 files: arrays and pictures into one binary buffer, and what they are as JSON before it.

Our axes are z up, glTF's y up: whoever lays out the nodes turns the outermost one by `UPRIGHT`.
Source: the Khronos glTF 2.0 specification, sections 3.6 (buffers, accessors) and 4 (GLB).
"""

import io
import struct
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from donkeysim.core.types import ByteArray

UPRIGHT = (-(0.5**0.5), 0.0, 0.0, 0.5**0.5)
"""Rotation (x, y, z, w) that turns a thing with z up into one with y up."""

_COMPONENTS = {"float32": 5126, "uint32": 5125, "uint16": 5123, "int16": 5122, "int8": 5120}
_SHAPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
_JSON_CHUNK, _BINARY_CHUNK = 0x4E4F534A, 0x004E4942
_ALIGNED = 4

WEBP_QUALITIES = (88, 80, 72)
"""Of textures, the best first; with each next one, blotches of colour are seen more, as between grass and road."""

MOST_BYTES = 3_500_000
"""Of a texture, beyond which a lower quality is taken: what is large has finer grain than is seen of it."""

SAMPLED_ROWS, SAMPLED_EACH = 64, 8
"""How many rows of a band, and how many bands, are enough to estimate how many bytes a texture takes."""

WEBP_EFFORT = 0
"""0 to 6: a third more bytes than the most would leave, in a tenth of the time."""

MOST_KEPT = 12.0
"""Larger factors would make grain out of what is hardly there."""


class GltfWriter:
    """One file that grows. Indices it returns are those of the specification.

    Attributes:
        document: The JSON part without buffers; add nodes, meshes, materials and scenes here.
    """

    def __init__(self, generator: str) -> None:
        self.document: dict[str, Any] = {"asset": {"version": "2.0", "generator": generator}}
        self._data = bytearray()

    def add(self, kind: str, entry: dict[str, Any]) -> int:
        """Add an entry to one of the document's lists ("nodes", "meshes" …) and return its index."""
        entries: list[Any] = self.document.setdefault(kind, [])
        entries.append(entry)
        return len(entries) - 1

    def add_array(self, array: NDArray[Any], *, is_index: bool = False, has_bounds: bool = False) -> int:
        """Add an array, shape [count] or [count, components], and return its accessor.

        Args:
            array: float32, uint32, uint16, or int16 or int8 that stand for -1 to 1; rows of these are padded to whole
                groups of four bytes.
            is_index: Whether it says which vertices triangles have.
            has_bounds: Whether the file has the least and largest values, as it must of positions.
        """
        count, width = len(array), 1 if array.ndim == 1 else array.shape[1]
        entry: dict[str, Any] = {"componentType": _COMPONENTS[array.dtype.name], "count": count, "type": _SHAPES[width]}
        view: dict[str, Any] = {"target": 34963 if is_index else 34962}
        if has_bounds:
            entry |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        if array.dtype in (np.int8, np.int16):
            entry["normalized"] = True
            array = np.pad(array, ((0, 0), (0, -width % (_ALIGNED // array.itemsize))))
            view["byteStride"] = array.shape[1] * array.itemsize
        entry["bufferView"] = self._add_bytes(np.ascontiguousarray(array).tobytes(), view)
        return self.add("accessors", entry)

    def add_image(self, content: bytes, media_type: str, name: str) -> int:
        """Add a picture file, "image/png" or "image/webp", and return its image."""
        view = self._add_bytes(content, {})
        return self.add("images", {"bufferView": view, "mimeType": media_type, "name": name})

    def encode(self) -> bytes:
        """Return the file."""
        self.document["buffers"] = [{"byteLength": len(self._data)}]
        text = msgspec.json.encode(self.document)
        text += b" " * (-len(text) % _ALIGNED)
        self._pad()
        chunks = struct.pack("<II", len(text), _JSON_CHUNK) + text
        chunks += struct.pack("<II", len(self._data), _BINARY_CHUNK) + bytes(self._data)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

    def _add_bytes(self, content: bytes, view: dict[str, Any]) -> int:
        self._pad()
        view |= {"buffer": 0, "byteOffset": len(self._data), "byteLength": len(content)}
        self._data += content
        return self.add("bufferViews", view)

    def _pad(self) -> None:
        self._data += bytes(-len(self._data) % _ALIGNED)


def encode_webp(picture: ByteArray) -> bytes:
    """Return a texture as WebP, with its alpha where it has any.

    Holes have the mean colour of what is around them, which far away is averaged with it.
    """
    holes = picture[..., 3] < 128
    shown = picture if (picture[..., 3] < 255).any() else picture[..., :3]
    if holes.any() and not holes.all():
        shown = picture.copy()
        shown[holes, :3] = picture[~holes][:, :3].mean(axis=0)
    return _write_webp(shown, find_quality(shown))


def find_quality(picture: ByteArray) -> int:
    """Return the best of `WEBP_QUALITIES` with which a picture takes no more than `MOST_BYTES`, or the last."""
    bands = picture[: len(picture) // SAMPLED_ROWS * SAMPLED_ROWS].reshape(-1, SAMPLED_ROWS, *picture.shape[1:])
    if picture.size < MOST_BYTES or not len(bands):
        return WEBP_QUALITIES[0]
    sample = np.concatenate(bands[min(SAMPLED_EACH, len(bands)) // 2 :: SAMPLED_EACH])
    for quality in WEBP_QUALITIES[:-1]:
        if len(_write_webp(sample, quality)) * len(picture) <= MOST_BYTES * len(sample):
            return quality
    return WEBP_QUALITIES[-1]


def _write_webp(picture: ByteArray, quality: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "WEBP", quality=quality, method=WEBP_EFFORT, exact=True)
    return buffer.getvalue()


def find_alpha_factors(alpha: ByteArray) -> list[float]:
    """Return what alpha of each mip level is multiplied by, so that as much of it is one half as on the first.

    Levels are averages: without this, fine meshes and sparse leaves would vanish far away. At most `MOST_KEPT`.

    Args:
        alpha: Of the first level, shape [height, width], sides that are powers of two.
    """
    level, factors = alpha / np.float32(255.0), [1.0]
    share = float((level >= 0.5).mean())
    while level.size > 1:
        height, width = level.shape
        down, across = min(height, 2), min(width, 2)
        level = level.reshape(height // down, down, width // across, across).mean(axis=(1, 3))
        least = np.sort(level, axis=None)[-max(1, round(share * level.size))]
        factors.append(min(0.5 / max(float(least), 1e-3), MOST_KEPT))
    return factors
