"""Catalogs: files of records, one JSON object a line, and a small file with each that says how long its lines are."""

import bisect
import itertools
import json
import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from donkeysim.core.errors import TubError
from donkeysim.tub.manifest import Manifest, name_catalog

logger = logging.getLogger(__name__)

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = json.JSONEncoder(sort_keys=True, allow_nan=False).encode


def format_record(contents: dict[str, Any]) -> bytes:
    """Return a record's line; raises ValueError for a number that JSON does not have (nan, inf)."""
    return (_encode(contents) + "\n").encode("ascii")


def parse_record(line: bytes) -> dict[str, Any] | None:
    """Return a line's record, or None when it is no JSON object."""
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:  # more lenient: nan, half surrogate pairs
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def read_lines(path: Path) -> list[bytes]:
    """Return a catalog's lines with their newlines; a torn last one, which a killed writer leaves, is left out.

    Raises:
        TubError: The file cannot be read.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise TubError(f"the tub {path.parent} lacks a part: {path.name} cannot be read ({error.strerror}).") from error
    if lines and not lines[-1].endswith(b"\n") and parse_record(lines[-1]) is None:
        lines.pop()
    return lines


def list_catalogs(folder: Path, manifest: Manifest) -> list[str]:
    """Return the catalogs that hold records: those of the manifest, and those behind them that it does not list.

    One was begun just before its writer died; several are there when an older manifest was put back.
    """
    names = list(manifest.paths)
    expected = None
    for name in _iterate_unnamed(folder, manifest.paths):
        if expected is None:
            expected = {manifest.current_index, *_find_next(folder, names[-1:])}
        if _find_index(next(iter(read_lines(folder / name)), b"")) in expected:
            names.append(name)
            expected = set(_find_next(folder, [name]))
    return names


def choose_new_catalog(folder: Path, paths: Sequence[str]) -> str:
    """Return the name of a catalog that is not there yet; a begun one without a record is taken away."""
    for name in _iterate_unnamed(folder, paths):
        if not read_lines(folder / name):
            (folder / name).unlink()
    number = len(paths)
    while name_catalog(number) in paths or (folder / name_catalog(number)).exists():
        number += 1
    return name_catalog(number)


def _iterate_unnamed(folder: Path, paths: Sequence[str]) -> Iterator[str]:
    """Yield the catalogs in the folder that its manifest does not name, from the place of its next one on."""
    for number in itertools.count(len(paths)):
        name = name_catalog(number)
        if name in paths:
            continue
        if not (folder / name).is_file():
            return
        yield name


def _find_next(folder: Path, names: Sequence[str]) -> list[int]:
    """Return the index that follows the last record of catalogs; none where they are missing or hold none."""
    lines = [line for name in names if (folder / name).is_file() for line in read_lines(folder / name)]
    index = _find_index(lines[-1]) if lines else None
    return [] if index is None else [index + 1]


def _find_index(line: bytes) -> int | None:
    index = (parse_record(line) or {}).get("_index")
    return index if isinstance(index, int) else None


def read_records(folder: Path, names: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield position and content of every record; a line that is none is skipped, counted and logged.

    A catalog that is not there is passed over: `warn_of_losses` logs it.
    """
    position = 0
    for name in names:
        if not (folder / name).exists():
            continue
        for line in read_lines(folder / name):
            record = parse_record(line)
            if record is None:
                logger.error("%s: record %d cannot be read, skipping it", folder / name, position)
            else:
                yield position, record
            position += 1


class LineCount(NamedTuple):
    """How many lines a catalog holds, and how many were written; fewer are held where its end was lost."""

    name: str
    held: int
    written: int


def count_lines(folder: Path, names: list[str], full: int) -> list[LineCount]:
    """Count the lines of catalogs; as written count those of a line table, if it knows of more than there are.

    Args:
        names: Its catalogs; one that is not there holds no lines.
        full: Lines of a full catalog, as which one counts that is not there and has no line table.
    """
    counts = []
    for name in names:
        table = read_table(folder / name)  # before the catalog, to which somebody may be adding
        is_there = (folder / name).exists()
        held = len(read_lines(folder / name)) if is_there else 0
        written = len(table.lengths) if table else 0 if is_there else full
        counts.append(LineCount(name, held, max(held, written)))
    return counts


def follow_positions(counts: list[LineCount], positions: Collection[int]) -> set[int]:
    """Return where records are, of the positions they had when they were written; those of lost ones are left out."""
    written = list(itertools.accumulate((count.written for count in counts), initial=0))
    held = list(itertools.accumulate((count.held for count in counts), initial=0))
    found = set()
    for position in positions:
        number = bisect.bisect_right(written, position) - 1
        if 0 <= number < len(counts) and position - written[number] < counts[number].held:
            found.add(held[number] + position - written[number])
    return found


def warn_of_losses(folder: Path, counts: list[LineCount]) -> int:
    """Say in the log how many records catalogs have lost, and return it.

    A writer of ours never leaves such a catalog, however it ends; a damaged disk and a copy that broke off do.
    """
    losses = [count for count in counts if count.held < count.written]
    count = sum(written - held for _, held, written in losses)
    if losses:
        places = ", ".join(f"{name} holds {held} of {written}" for name, held, written in losses)
        logger.warning(
            "the tub %s has lost %d records: %s. The others are used; put the file back from a copy if there is one.",
            *(folder, count, places),
        )
    return count


@dataclass
class CatalogIndex:
    """`catalog_N.catalog_manifest`: where a catalog's lines end; grows by a line at little cost."""

    name: str
    created_at: float
    start_index: int
    lengths: list[int]

    def __post_init__(self) -> None:
        self._text = bytearray(", ".join(map(str, self.lengths)).encode())

    def add_line(self, length: int) -> None:
        """Note one more line, its length in characters with the newline."""
        if self.lengths:
            self._text += b", "
        self._text += str(length).encode()
        self.lengths.append(length)

    def remove_last_line(self) -> None:
        """Forget the last line."""
        self.lengths.pop()
        self.__post_init__()

    def format(self) -> bytes:
        """Return the file's content."""
        head = f'{{"created_at": {json.dumps(self.created_at)}, "line_lengths": ['.encode()
        tail = f'], "path": {json.dumps(self.name)}, "start_index": {self.start_index}}}\n'.encode()
        return head + self._text + tail


def locate_table(catalog: Path) -> Path:
    """Return where the line table of a catalog lies."""
    return catalog.with_suffix(".catalog_manifest")


def read_table(catalog: Path) -> CatalogIndex | None:
    """Return a catalog's line table, or None when there is none or it is broken."""
    path = locate_table(catalog)
    try:
        content = json.loads(path.read_bytes())
        lengths = [int(length) for length in content["line_lengths"]]
        return CatalogIndex(path.name, float(content["created_at"]), int(content["start_index"]), lengths)
    except (OSError, OverflowError, ValueError, KeyError, TypeError):
        return None
