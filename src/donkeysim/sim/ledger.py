"""Keeps the ledger of a simulator: whose rows they are, and when they are written."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from donkeysim.core.device import is_here
from donkeysim.core.types import LongArray
from donkeysim.physics.engine import make_book, make_derived, share_rows
from donkeysim.physics.kernels.ledger import LedgerRows
from donkeysim.sim.place import Place
from donkeysim.world.ledger import Event, Ledger
from donkeysim.world.state import Control, State

WAY_FIELDS = ("speed", "gain", "driven", "furthest", "progress", "off_road_time", "still_time", "wrong_way_time")
"""What is counted from where a car was put."""


class LedgerKeeper:
    """The ledger of cars, and what happened to them.

    Attributes:
        rows: The same columns in the form that kernels take.
        ledger: For everybody, read only.
    """

    def __init__(self, place: Place, state: State, control: Control, look_ahead: Sequence[float] = ()) -> None:
        """Open a ledger.

        Args:
            state: Read; what is counted is written there.
            look_ahead: Distances for `Ledger.ahead`, rising, 0 or more [m].
        """
        car_count = len(state.present)
        self._look_ahead = tuple(look_ahead)
        device = place.physics.device
        self._everybody: Any = device.upload(np.arange(car_count))
        self._derived = device.upload(make_derived(car_count, len(look_ahead)))
        self.rows = share_rows(state, control, self._derived)
        self.ledger = _show(place.spec.cars_per_world, self.rows, is_here(device))
        self.move(place, state)

    def move(self, place: Place, state: State) -> None:
        """Continue in another place, with the same arrays of cars."""
        self._state, self._physics = state, place.physics
        book = make_book(place.scenes, self._derived, self._look_ahead)
        place.physics.book = book._replace(paths=place.physics.device.upload(book.paths))

    def renew(self, rows: LongArray | None = None) -> None:
        """Write rows of cars (None: of all) about whom something has changed."""
        self._physics.write_rows(self._state, self._everybody if rows is None else rows)

    def forget_way(self, rows: LongArray) -> None:
        """Count anew what is counted from where a car was put."""
        for name in WAY_FIELDS:
            getattr(self._state, name)[rows] = 0.0

    def list_events(self) -> list[Event]:
        """Return what happened in the last frame, world by world, in the order of time but for who left the road."""
        noted, row = self._physics.events.noted, self._physics.events.row
        if not np.count_nonzero(noted):  # a third of what `any` takes
            return []
        happened = np.flatnonzero(noted).tolist()
        return [
            Event(time, int(car), int(kind), value)
            for world in happened
            for time, car, kind, value in row[world, : noted[world]].tolist()
        ]


def _show(cars_per_world: int, rows: LedgerRows, is_here: bool) -> Ledger:
    """Return a ledger of these arrays, which nobody can write by it where NumPy reads them."""
    if not is_here:
        return Ledger(cars_per_world, **rows._asdict())
    columns = {name: column.view() for name, column in rows._replace(on_road=rows.on_road.view(bool))._asdict().items()}
    for column in columns.values():
        column.flags.writeable = False
    return Ledger(cars_per_world, **columns)
