"""Where a pilot was trained and in what car, read from its file without loading what runs networks."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from donkeysim.core.errors import DonkeySimError
from donkeysim.learn.files.header import HEADER_KEY, PART_MOST, PilotHeader, read_header, read_part
from donkeysim.learn.files.keras_files import read_root_text
from donkeysim.learn.files.model_file import check_ending
from donkeysim.learn.files.tflite_metadata import read_metadata

METADATA_FIELD = 14
"""Number of `metadata_props` in the `ModelProto` of ONNX; each has a key, 1, and a value, 2."""

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
"""Wire types of protocol buffers."""


def read_places(path: Path) -> tuple[str, ...]:
    """Return the names of the places where a pilot was trained; () where its file does not say, or is broken."""
    header = _read_header(path)
    return header.places if header else ()


def read_cars(path: Path) -> tuple[str, ...]:
    """Return what a pilot was trained to drive; () where its file does not say, or is broken."""
    header = _read_header(path)
    return header.cars if header else ()


def _read_header(path: Path) -> PilotHeader | None:
    try:
        return read_header(_READERS[check_ending(path)](path))
    except (DonkeySimError, OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile):
        return None


def _read_onnx_text(path: Path) -> bytes | None:
    """Return the header in an `.onnx` file; the graph, nearly all of it, is stepped over."""
    with path.open("rb") as file:
        for number, begin, size in _list_fields(file, path.stat().st_size):
            if number == METADATA_FIELD:
                pair = {part: _read_at(file, *where) for part, *where in _list_fields(file, begin + size, begin)}
                if pair.get(1) == HEADER_KEY.encode():
                    return pair.get(2)
    return None


def _list_fields(file: BinaryIO, end: int, begin: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield number, place and size of the fields with a length that a message of protocol buffers has."""
    while begin < end:
        file.seek(begin)
        tag = _read_varint(file)
        kind, size = tag & 7, 0
        if kind == _VARINT:
            _read_varint(file)
        elif kind == _LENGTH:
            size = _read_varint(file)
            yield tag >> 3, (at := file.tell()), size
            file.seek(at)
        else:
            size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}[kind]
        begin = file.tell() + size


def _read_varint(file: BinaryIO) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    raise ValueError("a number has no end")


def _read_at(file: BinaryIO, begin: int, size: int) -> bytes:
    file.seek(begin)
    return file.read(min(size, PART_MOST))


def _read_keras_text(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return read_part(archive, f"{HEADER_KEY}.json")


def _read_h5_text(path: Path) -> bytes | None:
    with path.open("rb") as file:
        return read_root_text(file, HEADER_KEY)


def _read_tflite_text(path: Path) -> bytes | None:
    with path.open("rb") as file:
        return read_metadata(file.read(PART_MOST), HEADER_KEY)


_READERS = {".onnx": _read_onnx_text, ".keras": _read_keras_text, ".h5": _read_h5_text, ".tflite": _read_tflite_text}
