"""Texts that lie in a `.tflite` file beside its network, read without what writes or runs such files."""

import struct

from donkeysim.core.errors import PilotError

IDENTIFIER = b"TFL3"
"""What each file has behind its first four bytes."""

SIGNATURE = "serving_default"
"""The name by which programs, the original among them, find inputs and outputs."""

PRODUCER = "donkeysim"
"""What our files say of who wrote them."""

_DESCRIPTION, _BUFFERS, _METADATA = 3, 4, 6
"""Fields of the table of a file."""


def is_ours(content: bytes) -> bool:
    """Return whether the bytes are those of a `.tflite` file that donkeysim wrote."""
    if content[4:8] != IDENTIFIER:
        return False
    try:
        return _read_bytes(content, _find_field(content, _follow(content, 0), _DESCRIPTION)) == PRODUCER.encode()
    except (struct.error, IndexError, PilotError):
        return False


def read_metadata(content: bytes, key: str) -> bytes | None:
    """Return a text that lies in a file beside its network; None where there is none of this name.

    Raises:
        PilotError: Not a `.tflite` file, or a broken one.
    """
    if content[4:8] != IDENTIFIER:
        raise PilotError("it is not a .tflite file.")
    try:
        model = _follow(content, 0)
        for entry in _list_tables(content, _find_field(content, model, _METADATA)):
            if _read_bytes(content, _find_field(content, entry, 0)) != key.encode():
                continue
            place = _find_field(content, entry, 1)
            index = struct.unpack_from("<I", content, place)[0] if place else 0
            buffer = _list_tables(content, _find_field(content, model, _BUFFERS))[index]
            return _read_bytes(content, _find_field(content, buffer, 0))
    except (struct.error, IndexError) as error:
        raise PilotError(f"it is broken: {error}.") from error
    return None


def _follow(content: bytes, place: int) -> int:
    """Return what the distance at a place leads to."""
    return place + int(struct.unpack_from("<I", content, place)[0])


def _find_field(content: bytes, table: int, number: int) -> int:
    """Return the place of a field of a table; 0: it was left out."""
    index = table - struct.unpack_from("<i", content, table)[0]
    size = struct.unpack_from("<H", content, index)[0]
    entry = 4 + 2 * number
    distance = struct.unpack_from("<H", content, index + entry)[0] if entry < size else 0
    return table + int(distance) if distance else 0


def _list_tables(content: bytes, place: int) -> list[int]:
    if not place:
        return []
    begin = _follow(content, place)
    count = struct.unpack_from("<I", content, begin)[0]
    if 4 * count > len(content):
        raise IndexError("a list is longer than the file")
    return [_follow(content, begin + 4 + 4 * index) for index in range(count)]


def _read_bytes(content: bytes, place: int) -> bytes:
    if not place:
        return b""
    begin = _follow(content, place)
    return content[begin + 4 : begin + 4 + int(struct.unpack_from("<I", content, begin)[0])]
