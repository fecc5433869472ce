"""A whole tub at a glance: its numbers as arrays by position, its sessions, its deleted stretches."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from donkeysim.core.errors import TubError
from donkeysim.core.types import Float32Array, FloatArray
from donkeysim.tub.reader import TubReader, TubRecord
from donkeysim.tub.values import read_number


@dataclass(frozen=True)
class SessionSpan:
    """A stretch of records of one drive, both ends included."""

    id: str
    first: int
    last: int


@dataclass(frozen=True)
class TubOverview:
    """Everything about a tub but its pictures.

    Attributes:
        count: Positions, deleted ones too.
        numbers: Each numeric key's values by position, shape [count]; nan where a record has none.
        times: When each was recorded since the first [s], shape [count]; never goes back.
        records: The record at each position, None where its line is broken.
        sessions: The drives in order.
    """

    count: int
    numbers: dict[str, Float32Array]
    times: FloatArray
    records: list[TubRecord | None]
    sessions: list[SessionSpan]

    def list_picture_paths(self, first: int, count: int) -> list[Path | None]:
        """Return where the pictures of `count` records from `first` on lie; None where there is none."""
        wanted = self.records[max(first, 0) : max(first, 0) + max(count, 0)]
        return [_locate(record) if record else None for record in wanted]


def _locate(record: TubRecord) -> Path | None:
    try:
        return record.locate_image()
    except TubError:
        return None


def read_overview(tub: TubReader) -> TubOverview:
    """Read a whole tub once, its pictures aside."""
    found = list(tub.iterate_all())
    count = found[-1].position + 1 if found else 0
    records: list[TubRecord | None] = [None] * count
    for record in found:
        records[record.position] = record
    stamps = np.array([record.timestamp_ms if record else 0 for record in records], np.float64) / 1000
    times = np.maximum.accumulate(stamps) - stamps[:1] if count else stamps
    return TubOverview(count, _gather_numbers(found, count), times, records, _find_sessions(found))


def group_positions(positions: Collection[int]) -> list[tuple[int, int]]:
    """Return positions as stretches (first, last), both included, in order."""
    spans: list[tuple[int, int]] = []
    for position in sorted(positions):
        if spans and spans[-1][1] == position - 1:
            spans[-1] = (spans[-1][0], position)
        else:
            spans.append((position, position))
    return spans


def _gather_numbers(records: Iterable[TubRecord], count: int) -> dict[str, Float32Array]:
    numbers: dict[str, Float32Array] = {}
    for record in records:
        for key, value in record.values.items():
            if (number := read_number(value)) is not None:
                column = numbers.get(key)
                if column is None:
                    column = numbers[key] = np.full(count, np.nan, np.float32)
                column[record.position] = number
    return numbers


def _find_sessions(records: Iterable[TubRecord]) -> list[SessionSpan]:
    spans = []
    for session_id, drive in groupby(records, key=lambda record: record.session_id):
        positions = [record.position for record in drive]
        spans.append(SessionSpan(session_id, positions[0], positions[-1]))
    return spans
