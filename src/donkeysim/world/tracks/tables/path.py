"""The table [path]: the line that a car follows."""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Segment:
    """One piece of a path script: a straight, or a turn of constant radius.

    Attributes:
        straight: Length [m]; 0 for a turn.
        turn: Angle [degree], + = left; 0 for a straight.
        radius: Of the turn [m].
    """

    straight: float = 0.0
    turn: float = 0.0
    radius: float = 0.0

    def __post_init__(self) -> None:
        is_straight = self.straight > 0.0 and self.turn == 0.0 and self.radius == 0.0
        is_turn = self.straight == 0.0 and self.turn != 0.0 and self.radius > 0.0
        if not (is_straight or is_turn):
            raise ValueError(
                "a segment is { straight = LENGTH } or { turn = DEGREES, radius = RADIUS }, all above 0 but turn."
            )


@dataclass(frozen=True)
class PathTable:
    """The centre path: `segments` from the start pose, or `points` to be joined by a smooth curve.

    Attributes:
        start: x, y of the first car and of the path's beginning [m].
        yaw: There [degree], counter-clockwise from +x.
        closed: Whether the end meets the beginning; a script is then changed as little as closing needs.
        node_count: Nodes, evenly spaced.
        length: Wanted length of a closed script [m]; 0: what closing gives.
        segments: Script, in driving order.
        points: Instead of a script: the curve passes through them, the first is the start.
    """

    node_count: int
    start: Point = (0.0, 0.0)
    yaw: float = 0.0
    closed: bool = True
    length: float = 0.0
    segments: tuple[Segment, ...] = ()
    points: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.segments) == bool(self.points):
            raise ValueError("a path needs either segments or points.")
        if self.points and len(self.points) < (3 if self.closed else 2):
            raise ValueError(f"{len(self.points)} points do not make a path; give 3 or more.")
        if not 2 <= self.node_count <= 100_000:
            raise ValueError(f"node_count is {self.node_count}; it takes 2 to 100000.")
