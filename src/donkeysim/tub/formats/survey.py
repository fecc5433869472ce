"""What is in a drive, found out by reading it once without its pictures: which columns a table of it needs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from donkeysim.core.errors import TubError
from donkeysim.tub.formats.drive import DriveRecord, RecordedDrive
from donkeysim.tub.reader import find_command_keys

DEFAULT_RATE = 20
"""Records per second where times do not show them."""

# From 1 to 100 records a second: no vehicle's loop is slower or faster, and gaps between two drives are far longer.
SHORTEST_STEP, LONGEST_STEP = 10.0, 1000.0
"""Steps of time that a vehicle's loop has [ms]; `donkey sample` writes records faster than they were driven."""

LONGEST_GAP = 1.0
"""Records further apart [s] belong to two stretches."""

_MOST = 2**63
_SAMPLE = 100_000
"""Steps of time from which the rate is taken."""

ITEM_TYPES: dict[str, type[np.generic]] = {"float": np.float64, "int": np.int64, "bool": np.bool_}


class ValueKind(NamedTuple):
    """What a value is.

    Attributes:
        item: "float", "int", "bool" or "str"; "json" for what is none of them or not always the same.
        depth: 0 for a single value, 1 for a list of them, 2 for a list of lists.
        shape: Of a list, if it is always the same; None: it varies.
    """

    item: str
    depth: int = 0
    shape: tuple[int, ...] | None = ()


_JSON = ValueKind("json")


@dataclass(frozen=True)
class InputColumn:
    """One input over all records."""

    key: str
    kind: ValueKind
    is_complete: bool

    @property
    def regular_kind(self) -> ValueKind:
        """Its kind where all rows of a table must be alike; "json" where they are not."""
        return self.kind if self.is_complete and self.kind.shape is not None else _JSON

    @property
    def is_number(self) -> bool:
        """Whether all records have it, as a single number."""
        return self.is_complete and self.kind in (ValueKind("float"), ValueKind("int"))


@dataclass(frozen=True)
class Survey:
    """What a drive holds.

    Attributes:
        count: Records.
        deleted_count: Those of them that are marked as deleted.
        columns: Inputs that are no pictures, those of the heading first.
        rate: Records per second.
        is_timed: Whether the records' times show the rate.
    """

    count: int
    deleted_count: int
    columns: tuple[InputColumn, ...]
    rate: int
    is_timed: bool

    def find_action(self) -> tuple[str, str] | None:
        """Return the inputs that are steering and throttle; None where not all records have both as numbers."""
        numbers = {column.key for column in self.columns if column.is_number}
        keys = find_command_keys(numbers)
        return keys if numbers.issuperset(keys) else None


def survey_drive(drive: RecordedDrive) -> Survey:
    """Read a drive once, its pictures aside.

    Raises:
        TubError: It has no records.
    """
    kinds: dict[str, ValueKind] = {}
    counts: dict[str, int] = {}
    steps: list[int] = []
    count = deleted_count = 0
    before: DriveRecord | None = None
    for record in drive.iterate(with_pictures=False):
        count += 1
        deleted_count += record.is_deleted
        for key, value in record.values.items():
            kind = _read_kind(value)
            kinds[key] = kind if key not in kinds else _join(kinds[key], kind)
            counts[key] = counts.get(key, 0) + 1
        if before is not None and before.session == record.session and len(steps) < _SAMPLE:
            steps.append(record.timestamp_ms - before.timestamp_ms)
        before = record
    if not count:
        raise TubError(f"{drive.path} has no records; there is nothing to convert.")
    order = [key for key in drive.heading.inputs if key in kinds]
    order += sorted(kinds.keys() - set(order))
    columns = tuple(InputColumn(key, kinds[key], counts[key] == count) for key in order)
    step = float(np.median(steps)) if steps else 0.0
    is_timed = SHORTEST_STEP <= step <= LONGEST_STEP
    return Survey(count, deleted_count, columns, round(1000.0 / step) if is_timed else DEFAULT_RATE, is_timed)


def list_stretches(drive: RecordedDrive) -> Iterator[tuple[bool, DriveRecord]]:
    """Yield the living records, each with whether it begins a stretch.

    A stretch is what was recorded one after the other: of one session, without a deleted record or a pause between.
    """
    before: DriveRecord | None = None
    for record in drive.iterate():
        if record.is_deleted:
            before = None
            continue
        yield before is None or not _follows(before, record), record
        before = record


def _follows(before: DriveRecord, record: DriveRecord) -> bool:
    pause = (record.timestamp_ms - before.timestamp_ms) / 1000.0
    return before.session == record.session and record.index == before.index + 1 and 0.0 <= pause <= LONGEST_GAP


def _read_kind(value: Any) -> ValueKind:
    if isinstance(value, bool):
        return ValueKind("bool")
    if isinstance(value, int):
        return ValueKind("int") if -_MOST <= value < _MOST else _JSON
    if isinstance(value, float):
        return ValueKind("float")
    if isinstance(value, str):
        return ValueKind("str")
    return _read_list_kind(value) if isinstance(value, list) else _JSON


def _read_list_kind(values: list[Any]) -> ValueKind:
    if not values:
        return ValueKind("", 1, (0,))
    kind = _read_kind(values[0])
    for value in values[1:]:
        kind = _join(kind, _read_kind(value))
    if kind.item == "json":
        return _JSON
    shape = None if kind.shape is None else (len(values), *kind.shape)
    return ValueKind(kind.item, kind.depth + 1, shape)


def _join(one: ValueKind, other: ValueKind) -> ValueKind:
    """Return the kind that takes both."""
    if one == other:
        return one
    items = {one.item, other.item} - {""}  # an empty list has items of no kind
    if items == {"int", "float"}:
        items = {"float"}
    if len(items) > 1 or one.depth != other.depth:
        return _JSON
    item = items.pop() if items else ""
    return ValueKind(item, one.depth, one.shape if one.shape == other.shape else None)
