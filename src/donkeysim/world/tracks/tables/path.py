"""The table [path]: the line that a car follows."""

from dataclasses import dataclass
from typing import Literal

from donkeysim.world.specs import TURN_LEAST, TURN_MOST

Point = tuple[float, float]

PATH_SUFFIXES = (".csv", ".svg", ".glb", ".gltf")
"""Files that a path is read from."""


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
class RandomWalk:
    """A random closed path; whoever loads the track may ask for another seed and turn.

    Attributes:
        seed: Of its random numbers.
        turn: How lively it turns: change of the turn from one span of 0.25 m to the next [degree].
        style: Which road lies on it: 0 the one of [road], 1 the first of [[road_styles]] and so on.
        factor: What `turn` is multiplied by, up to `TURN_MOST`: a random place draws it.
    """

    seed: int = 0
    turn: float = 1.0
    style: int = 0
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not TURN_LEAST <= self.turn <= TURN_MOST:
            raise ValueError(f"turn is {self.turn:g}; it takes {TURN_LEAST} (calm) to {TURN_MOST:g} (restless).")
        if not TURN_LEAST <= self.factor <= TURN_MOST:
            raise ValueError(f"factor is {self.factor:g}; it takes {TURN_LEAST} to {TURN_MOST:g}.")

    @property
    def liveliness(self) -> float:
        """How lively it turns in the end [degree]."""
        return min(max(self.turn * self.factor, TURN_LEAST), TURN_MOST)


@dataclass(frozen=True)
class PathTable:
    """The centre path: `segments`, `points` to be joined by a smooth curve, a `file` of them, or a random `walk`.

    Attributes:
        start: x, y of the first car and of the path's beginning [m].
        yaw: There [degree], counter-clockwise from +x; of a file: by how much it is turned.
        closed: Whether the end meets the beginning; a script is then changed as little as closing needs.
        nodes: Whether they lie evenly on the path, or are the very points of its list or .csv file.
        node_count: Nodes, evenly spaced; 0: one every quarter of a metre.
        length: Of a random walk; wanted, of a closed script or a file's path [m]; 0: what closing, or `scale`, gives.
        segments: Script, in driving order.
        points: Instead of a script: the curve passes through them, the first is the start.
        file: Instead of both, one of `PATH_SUFFIXES`, as seen from the track's own file (as it is read: from here).
        element: Id of the drawing's path, or name of the model's node; empty: the only one there is.
        scale: Metres per unit of the file; a `length` overrules it.
        reverse: Whether the file's path is driven the other way round.
        smooth: Radius that a right-angled corner of the file's path is rounded to, about [m]; 0: it is kept. Nodes that
            are points stay where they are.
        walk: Instead of all these, a random path.
    """

    nodes: Literal["even", "points"] = "even"
    node_count: int = 0
    start: Point = (0.0, 0.0)
    yaw: float = 0.0
    closed: bool = True
    length: float = 0.0
    segments: tuple[Segment, ...] = ()
    points: tuple[Point, ...] = ()
    file: str = ""
    element: str = ""
    scale: float = 1.0
    reverse: bool = False
    smooth: float = 0.0
    walk: RandomWalk | None = None

    def __post_init__(self) -> None:
        if (bool(self.segments), bool(self.points), bool(self.file), self.walk is not None).count(True) != 1:
            raise ValueError("a path needs either segments or points or a file, or a walk.")
        if self.walk is not None and not (self.closed and self.length >= 20.0):
            raise ValueError("a random walk is closed and needs its length, 20 m or more.")
        if self.points and len(self.points) < (3 if self.closed else 2):
            raise ValueError(f"{len(self.points)} points do not make a path; give 3 or more.")
        if self.node_count and not 2 <= self.node_count <= 100_000:
            raise ValueError(f"node_count is {self.node_count}; it takes 2 to 100000, or 0 for one every 0.25 m.")
        if self.nodes == "points" and not (self.points or self.file.lower().endswith(".csv")):
            raise ValueError("nodes = 'points' is for a path with a .csv file or points; leave it out.")
        if self.nodes == "points" and (self.node_count or self.length):
            raise ValueError("with nodes = 'points' the points say count and length; leave node_count and length out.")
        if not self.file and (self.element or self.reverse or self.scale != 1.0):
            raise ValueError("element, scale and reverse are for a path with a file.")
        if self.smooth and not (self.file or self.nodes == "points"):
            raise ValueError("smooth is for a path with a file, or with nodes = 'points'.")
        if self.scale <= 0.0 or self.length < 0.0:
            raise ValueError(
                f"scale = {self.scale:g} and length = {self.length:g}; scale is above 0, length 0 or more."
            )
        if not 0.0 <= self.smooth <= 10.0:
            raise ValueError(f"smooth is {self.smooth:g}; it takes 0 to 10 m.")
