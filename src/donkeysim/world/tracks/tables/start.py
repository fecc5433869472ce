"""The table [start]: start lines and the grid behind them."""

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
        gates: The same by their ends, instead: left x, left y, right x, right y [m], seen in driving direction.
        silent: Lines and gates are ours alone, and not to be seen: clients on the wire hear of no crossings.
        checkpoints: Places along the path that a lap must pass [m], in driving order after line 0.
        poses: x, y [m] and yaw [degree] of cars that the grid stands behind; several take turns: with two, the second
            car stands at the second pose and the third behind the first car. Empty: the path's beginning.
        pose: The same, of one car.
        straight: How many rows, the pose's own included, stand straight behind and beside their pose, turned as it is;
            those behind them follow the path.
        rows: Distance from one row of the grid to the next [m].
        columns: Offsets of the grid's columns from the path [m], + = left; the first is the pose's own.
        slots: How many cars the grid holds; 0: as many as the path has room for, up to 64.
        ride_height: Of a resting car's origin above the ground [m]; the default is that of the car `original`.
        gantry: Text on a gantry over the first start line; empty: no gantry.
    """

    lines: tuple[float, ...] = ()
    gates: tuple[tuple[float, ...], ...] = ()
    silent: bool = False
    checkpoints: tuple[float, ...] = ()
    poses: tuple[tuple[float, ...], ...] = ()
    pose: tuple[float, ...] = ()
    straight: int = 1
    rows: float = 0.625
    columns: tuple[float, ...] = (0.0,)
    slots: int = 0
    ride_height: float = 0.0736
    gantry: str = ""

    def __post_init__(self) -> None:
        if not self.columns or self.rows <= 0.0 or not 0 <= self.slots <= 4096:
            raise ValueError("a grid has columns, rows above 0 and up to 4096 slots (0: as many as fit).")
        if self.lines and self.gates:
            raise ValueError("lines and gates both say where start lines are; leave one out.")
        for name in ("lines", "gates"):
            if (count := len(getattr(self, name))) > MOST_LINES:
                raise ValueError(f"{name} has {count} places; up to {MOST_LINES} are reported, leave some out.")
        for index, gate in enumerate(self.gates):
            if len(gate) != 4:
                raise ValueError(f"gates[{index}] is {list(gate)}; a gate is [left x, left y, right x, right y].")
        if self.ride_height < 0.0:
            raise ValueError(f"ride_height is {self.ride_height:g}; cars stand on the ground, 0 m or more above it.")
        self._check_poses()
        if any(a >= b for a, b in itertools.pairwise((0.0, *self.checkpoints))):
            raise ValueError("checkpoints stand in driving order, the first beyond 0.")

    @property
    def painted(self) -> tuple[float, ...]:
        """Return the places of the start lines that are to be seen on the road [m]."""
        return () if self.silent else self.lines

    @property
    def heads(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """Return the poses that the grid stands behind, each with its key; none: it begins with the path."""
        if self.pose:
            return (("start.pose", self.pose),)
        return tuple((f"start.poses[{index}]", pose) for index, pose in enumerate(self.poses))

    def _check_poses(self) -> None:
        if self.pose and self.poses:
            raise ValueError("pose and poses both say where cars stand; leave one out.")
        for key, pose in self.heads:
            if len(pose) != 3:
                name = key.removeprefix("start.")
                raise ValueError(f"{name} is {list(pose)}; the first car stands at [x, y, yaw in degrees].")
        if not 1 <= self.straight <= 4096:
            raise ValueError(f"straight is {self.straight}; 1 to 4096 rows stand straight behind their pose.")
