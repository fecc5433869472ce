"""The tables [[walls]]: long things beside the road or anywhere: walls, rails, barriers, hedges, cliffs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import Colour, check_colours
from donkeysim.world.tracks.tables.path import Point

WallName = Literal[
    "wall", "brick", "guard_rail", "railing", "barrier", "tyres", "hay", "kerb", "hedge", "low_hedge", "fence",
    "cliff", "ledge", "board", "strip", "park_fence", "rail_fence", "bank", "wood", "invisible",
]  # fmt: skip


@dataclass(frozen=True)
class WallTable:
    """A strip along the path or through points.

    Attributes:
        kind: What, one of `WALL_KINDS`.
        side: Beside the road's edge on this side, `gap` away from it.
        gap: From the road's edge to the near face [m].
        offset: Instead of a side: of its middle from the path [m], + = left; 0: unset.
        spans: Where along the path it stands, each [from, to] [m]; on a closed path a span may run over the beginning.
            Empty: all along it.
        points: Instead of both: x, y of its corners; its front is to the left as they run.
        closed: Whether the last point is joined to the first.
        height: [m]; 0: the kind's own.
        thickness: [m]; 0: the kind's own.
        hit: What clients are told of a car that runs into it; empty: what the kind is called.
        colour: sRGB 0 to 255, multiplies the kind's own picture; none: as it is.
        seed: Of the random numbers of a cliff, of bales and of a low hedge.
    """

    kind: WallName
    side: Literal["left", "right", "both", ""] = ""
    gap: float = 0.1
    offset: float = 0.0
    spans: tuple[tuple[float, float], ...] = ()
    points: tuple[Point, ...] = ()
    closed: bool = False
    height: float = 0.0
    thickness: float = 0.0
    hit: str = ""
    colour: Colour | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if (bool(self.side), self.offset != 0.0, bool(self.points)).count(True) != 1:
            raise ValueError("a wall needs exactly one of side, offset other than 0, and points.")
        if self.points and (len(self.points) < 2 + self.closed or self.spans):
            raise ValueError("a wall through points has two points or more, three if closed, and no spans.")
        if self.gap < 0.0 or self.height < 0.0 or self.thickness < 0.0 or self.seed < 0:
            raise ValueError("gap, height, thickness and seed of a wall are 0 or more.")
        if any(begin == end for begin, end in self.spans):
            raise ValueError("a span of a wall runs from one place along the path to another: [from, to].")
        check_colours(self.colour)
