"""Keeps the ledger of a simulator: whose rows they are, and when they are written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.kernel import RepeatedCall
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.sim.kernels.ledger import Derived, PathTables, write_ledger
from donkeysim.sim.place import Place
from donkeysim.world.ledger import Event, Ledger
from donkeysim.world.scene import Path
from donkeysim.world.state import Control, State

_OTHER_NAMES = {"cte": "offset", "checkpoint": "sector"}
"""What the ledger calls arrays of `State`."""

WAY_FIELDS = ("speed", "gain", "driven", "furthest", "progress", "off_road_time", "still_time", "wrong_way_time")
"""What is counted from where a car was put."""


class LedgerKeeper:
    """Writes rows of a ledger.

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
        self._look_ahead: FloatArray = np.array(look_ahead, np.float64)
        self._everybody: LongArray = np.arange(car_count)
        floats = {name: np.zeros(car_count) for name in Derived._fields if name not in ("ahead", "laps")}
        self._derived = Derived(
            **floats, ahead=np.zeros((car_count, len(look_ahead), 2)), laps=np.zeros(car_count, np.int32)
        )
        self._write = RepeatedCall(write_ledger)
        self._per_world = place.spec.cars_per_world
        self.ledger = _share(self._per_world, state, control, self._derived)
        self.move(place, state)

    def move(self, place: Place, state: State) -> None:
        """Go on in another place, with the same arrays of cars."""
        self._state, self._world_scene, self._events = state, place.world_scene, place.physics.events
        self._paths = _make_tables([scene.path for scene in place.scenes], self._look_ahead)

    def write(self, step_count: int, rows: LongArray | None = None) -> None:
        """Write rows of cars (None: of all) after a frame of so many physics steps, or 0: after a command."""
        cars = self._everybody if rows is None else rows
        self._write(
            (self._state, self._paths, self._events),
            0,
            len(cars),
            cars,
            step_count,
            self._state,
            self._world_scene,
            self._per_world,
            self._paths,
            self._derived,
            self._events,
        )

    def forget_way(self, rows: LongArray) -> None:
        """Count anew what is counted from where a car was put."""
        for name in WAY_FIELDS:
            getattr(self._state, name)[rows] = 0.0

    def list_events(self) -> list[Event]:
        """Return what happened in the last frame, world by world, in the order of time but for who left the road."""
        count, row = self._events.count, self._events.row
        happened = np.flatnonzero(count).tolist()
        return [
            Event(time, int(car), int(kind), value)
            for world in happened
            for time, car, kind, value in row[world, : count[world]].tolist()
        ]

    def clear_events(self) -> None:
        """Forget what happened."""
        self._events.count[:] = 0


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


def _make_tables(paths: Sequence[Path], distances: FloatArray) -> PathTables:
    """Return the paths of scenes, one after another."""
    index = np.zeros((len(paths), 3), np.int64)
    nodes, widths, first = [], [], 0
    for row, path in enumerate(paths):
        index[row] = (first, len(path.position), path.closed)
        point = path.position[[*range(len(path.position)), 0 if path.closed else -1], :2]
        nodes.append(np.column_stack([point, np.append(path.frame.node_length, path.frame.length)]))
        widths.append(np.column_stack([path.width_left, path.width_right])[[*range(len(path.position)), -1]])
        first += len(path.position) + 1
    return PathTables(index, np.concatenate(nodes), np.concatenate(widths), distances)
