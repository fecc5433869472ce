"""Keeps the ledger of a simulator: whose rows they are, and when they are written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import LongArray
from donkeysim.physics.kernels.ledger import Derived
from donkeysim.physics.ledger import make_book, make_derived
from donkeysim.sim.place import Place
from donkeysim.world.ledger import Event, Ledger
from donkeysim.world.state import Control, State

_OTHER_NAMES = {"cte": "offset", "checkpoint": "sector"}
"""What the ledger calls arrays of `State`."""

WAY_FIELDS = ("speed", "gain", "driven", "furthest", "progress", "off_road_time", "still_time", "wrong_way_time")
"""What is counted from where a car was put."""


class LedgerKeeper:
    """The ledger of cars, and what happened to them.

    Attributes:
        ledger: For everybody, read only.
    """

    def __init__(self, place: Place, state: State, control: Control, look_ahead: Sequence[float] = ()) -> None:
        """Open a ledger.

        Args:
            place: Where the cars are.
            state: Read; what is counted is written there.
            control: Read.
            look_ahead: Distances for `Ledger.ahead`, rising, 0 or more [m].
        """
        car_count = len(state.present)
        self._look_ahead = tuple(look_ahead)
        self._everybody: LongArray = np.arange(car_count)
        self._derived = make_derived(car_count, len(look_ahead))
        self.ledger = _share(place.spec.cars_per_world, state, control, self._derived)
        self.move(place, state)

    def move(self, place: Place, state: State) -> None:
        """Go on in another place, with the same arrays of cars."""
        self._state, self._physics = state, place.physics
        place.physics.book = make_book(place.scenes, self._derived, self._look_ahead)

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


def _share(cars_per_world: int, state: State, control: Control, derived: Derived) -> Ledger:
    """Return a ledger of these arrays, which nobody can write by it."""
    known = {name: getattr(state, name) for name in State._fields}
    arrays = {_OTHER_NAMES.get(name, name): array for name, array in known.items()}
    arrays |= control._asdict() | derived._asdict()
    arrays["on_road"] = arrays["on_road"].view(bool)
    rows = {}
    for name in Ledger.__dataclass_fields__:
        if name != "cars_per_world":
            rows[name] = arrays[name].view()
            rows[name].flags.writeable = False
    return Ledger(cars_per_world, **rows)
