"""The table [start]: start lines and the grid behind them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

MOST_SLOTS = 64
"""Cars on a grid that does not say how many."""

MOST_LINES = 32
"""Start lines: which of them a car has passed is noted in 32 bits, `State.lines_passed`."""


@dataclass(frozen=True)
class StartTable:
    """Start lines and grid.

    Attributes:
        lines: Places of the start lines along the path [m], up to `MOST_LINES`; the first is line 0.
        checkpoints: Places along the path that a lap must pass [m], in driving order after line 0.
        pose: x, y [m] and yaw [degree] of the first car; the grid counts from there. Empty: the path's beginning.
        rows: Distance from one row of the grid to the next [m].
        columns: Offsets of the grid's columns from the path [m], + = left.
        slots: How many cars the grid holds; 0: as many as the path has room for, up to 64.
        ride_height: Of a resting car's origin above the ground [m]; the default is that of the car `original`.
        gantry: Text on a gantry over the first start line; empty: no gantry.
    """

    lines: tuple[float, ...] = ()
    checkpoints: tuple[float, ...] = ()
    pose: tuple[float, ...] = ()
    rows: float = 0.625
    columns: tuple[float, ...] = (0.0,)
    slots: int = 0
    ride_height: float = 0.0736
    gantry: str = ""

    def __post_init__(self) -> None:
        if not self.columns or self.rows <= 0.0 or not 0 <= self.slots <= 4096:
            raise ValueError("a grid has columns, rows above 0 and up to 4096 slots (0: as many as fit).")
        if len(self.lines) > MOST_LINES:
            raise ValueError(f"lines has {len(self.lines)} places; up to {MOST_LINES} are reported, leave some out.")
        if self.ride_height < 0.0:
            raise ValueError(f"ride_height is {self.ride_height:g}; cars stand on the ground, 0 m or more above it.")
        if len(self.pose) not in (0, 3):
            raise ValueError(f"pose is {list(self.pose)}; the first car stands at [x, y, yaw in degrees].")
        if any(a >= b for a, b in itertools.pairwise((0.0, *self.checkpoints))):
            raise ValueError("checkpoints stand in driving order, the first beyond 0.")

    def count_slots(self, length: float) -> int:
        """Return how many cars the grid holds on a path of a length [m]."""
        return self.slots or max(1, min(MOST_SLOTS, self.count_room(length)))

    def count_room(self, length: float) -> int:
        """Return how many cars fit one behind the other and beside each other along a path of a length [m]."""
        return int(length / self.rows) * len(self.columns)
