"""A place as one file for pages: what kernels read there, and the model that graphics chips draw.

A file begins with `MAGIC`, the number of its format and the length of what follows (32 bits each, little-endian): the
header, JSON. Behind it lie sections, one after another; the header says where.
"""

import gzip
import struct
from typing import Any

import msgspec

from donkeysim.core.errors import DonkeySimError
from donkeysim.watch.moments import Seat

MAGIC = b"DONKEYPL"
FORMAT = 1
ENDING = ".place"

_HEAD = struct.Struct("<8sII")


class Texture(msgspec.Struct, omit_defaults=True):
    """Where the texels of a texture go, and where they come from.

    Attributes:
        levels: Address of each mip level.
        width, height: Of the first level [texel].
        picture: Name of a picture in the model, or of a section.
        alpha: Section with the alpha of all levels, a byte each; None: all texels are opaque.
        face: Which face of a sky it is; the picture is the panorama. None: it is the picture.
    """

    levels: list[int]
    width: int
    height: int
    picture: str
    alpha: str | None = None
    face: int | None = None


class Header(msgspec.Struct):
    """What a page gets.

    Attributes:
        name: Of the track.
        kernels: Which module its calls are for, see `modules.name_module`.
        size: Of the module's memory [byte].
        parts: Address and length of each part of the section "memory" [byte].
        textures: Texels that are not in it.
        calls: By name: kernel, address of its arguments, address of its counter.
        arrays: By name: where it is, what it holds, its shape; of `State`, `Control`, `Derived` as they are called
            there.
        changing: Address and length of all that driving changes: what a restart restores.
        fields: Vertical fields of view [rad] of what people look through, "chase" and "seat".
        seat: The car's camera, as pages of moments give it.
        car: Its body, and what its driver should know: see `freeze`.
        line: What the expert follows: rows of x, y [m], heading [rad], speed [m/s], acceleration [m/s²].
        is_closed: Whether the line's last point is followed by its first.
        sections: By name: begin behind the header, and length [byte].
    """

    name: str
    kernels: str
    size: int
    parts: list[tuple[int, int]]
    textures: list[Texture]
    calls: dict[str, tuple[str, int, int]]
    arrays: dict[str, dict[str, Any]]
    changing: list[tuple[int, int]]
    fields: dict[str, float]
    seat: Seat
    car: dict[str, Any]
    line: list[list[float]]
    is_closed: bool
    sections: dict[str, tuple[int, int]] = {}


def write_place_file(header: Header, sections: dict[str, bytes]) -> bytes:
    """Return the file; sections but for pictures are packed with gzip, which browsers unpack by themselves."""
    content, begin = [], 0
    for name, section in sections.items():
        # Without the time of packing in it: the same place gives the same file.
        packed = section if name.startswith(("picture", "texture")) else gzip.compress(section, 9, mtime=0)
        header.sections[name] = begin, len(packed)
        content.append(packed)
        begin += len(packed)
    head = msgspec.json.encode(header)
    return b"".join((_HEAD.pack(MAGIC, FORMAT, len(head)), head, *content))


def read_header(content: bytes) -> Header:
    """Return the header of a file.

    Raises:
        DonkeySimError: It is no such file, or one of a newer format.
    """
    if len(content) < _HEAD.size or content[: len(MAGIC)] != MAGIC:
        raise DonkeySimError(f"this is no place for pages: it does not begin with {MAGIC.decode()}.")
    _, version, length = _HEAD.unpack_from(content)
    if version > FORMAT:
        raise DonkeySimError(f"this place is of format {version}, this donkeysim reads up to {FORMAT}; update it.")
    return msgspec.json.decode(content[_HEAD.size : _HEAD.size + length], type=Header)
