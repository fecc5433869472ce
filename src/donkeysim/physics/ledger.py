"""What rows of the ledger are written from and into: paths of all scenes, and arrays for what follows from `State`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.physics.kernels.ledger import SOURCES, Book, Derived, LedgerRows, PathTables
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Scene
from donkeysim.world.state import Control, State

_TYPES = {"FloatArray": np.float64, "IntArray": np.int32}
"""Of the numbers of columns, by annotation."""


def make_derived(car_count: int, point_count: int = 0) -> Derived:
    """Return rows of zeros, for so many points of the path ahead."""
    columns = [column for column in fields(Ledger) if column.name in Derived._fields]
    shapes = {"ahead": (car_count, point_count, 2)}
    return Derived(*(np.zeros(shapes.get(column.name, car_count), _TYPES[str(column.type)]) for column in columns))


def share_rows(state: State, control: Control, derived: Derived) -> LedgerRows:
    """Return all columns of the ledger, each the array that holds its numbers."""
    known = state._asdict() | control._asdict() | derived._asdict()
    return LedgerRows(*(known[SOURCES[name]] for name in LedgerRows._fields))


def make_book(scenes: Sequence[Scene], derived: Derived, look_ahead: Sequence[float] = ()) -> Book:
    """Return the paths of these scenes, one after another, with the rows.

    Args:
        scenes: Places.
        derived: To be written.
        look_ahead: Distances for `Derived.ahead`, rising, 0 or more [m].
    """
    entry = np.zeros((len(scenes), 3), np.int64)
    nodes, widths, first = [], [], 0
    for row, path in enumerate(scene.path for scene in scenes):
        entry[row] = (first, len(path.position), path.closed)
        point = path.position[[*range(len(path.position)), 0 if path.closed else -1], :2]
        nodes.append(np.column_stack([point, np.append(path.frame.node_length, path.frame.length)]))
        widths.append(np.column_stack([path.width_left, path.width_right])[[*range(len(path.position)), -1]])
        first += len(path.position) + 1
    distances: FloatArray = np.array(look_ahead, np.float64)
    return Book(PathTables(entry, np.concatenate(nodes), np.concatenate(widths), distances), derived)
