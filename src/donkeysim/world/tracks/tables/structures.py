"""The tables of what stands still.

[[blocks]] are buildings, containers, crates: things with a size. [[panels]] are pictures that stand, hang or lie:
people, screens, crowd barriers, lamps, far buildings. [[tunnels]] and [[arches]] are what the road leads through.
[[walls]] are long things beside the road or anywhere: walls, rails, barriers, hedges, cliffs.
"""

import itertools
from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import Colour, check_colours
from donkeysim.world.tracks.tables.path import Point

WallName = Literal[
    "wall", "brick", "guard_rail", "railing", "barrier", "tyres", "hay", "kerb", "hedge", "low_hedge", "fence",
    "cliff", "ledge", "board", "strip", "park_fence", "rail_fence", "bank", "wood", "invisible",
]  # fmt: skip

BlockName = Literal["house", "townhouse", "office", "hall", "container", "crate", "bale", "plain", "invisible"]


@dataclass(frozen=True)
class BlockTable:
    """Blocks at places, or in a row beside the road.

    Attributes:
        kind: What, one of `BLOCK_KINDS`.
        places: x, y of each [m], or x, y, yaw [m, m, degree]; its front is along +x.
        side: Instead of places: a row along this side of the road, fronts to the road, end to end.
        gap: From the road's edge to their fronts [m].
        spans: Where along the path the row stands, each [from, to] [m]; empty: all along it.
        between: Space between two of a row [m].
        size: Depth, width, height [m]; all 0: the kind's own.
        vary: Greatest change of width and height, as a share, from one to the next.
        yaw: Turned by this much more [degree].
        colour: sRGB 0 to 255 that its pictures are multiplied by, or of a plain one; none: seeded shades.
        picture: Of a plain one: the picture on each of its sides; empty: its colour.
        base: Of its underside above the ground [m].
        hit: What clients hear that a car has hit; empty: what the kind is called.
        seed: Of colours and of what varies.
    """

    kind: BlockName
    places: tuple[tuple[float, ...], ...] = ()
    side: Literal["left", "right", "both", ""] = ""
    gap: float = 0.4
    spans: tuple[tuple[float, float], ...] = ()
    between: float = 0.0
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    vary: float = 0.0
    yaw: float = 0.0
    colour: Colour | None = None
    picture: str = ""
    base: float = 0.0
    hit: str = ""
    seed: int = 1

    def __post_init__(self) -> None:
        if bool(self.places) == bool(self.side):
            raise ValueError("blocks need either places or side.")
        if any(len(place) not in (2, 3) for place in self.places):
            raise ValueError("a place of a block is [x, y] or [x, y, yaw in degrees].")
        if any(self.size) and min(self.size) <= 0.0:
            raise ValueError("size is depth, width, height, all above 0.")
        if not 0.0 <= self.vary < 0.9 or self.gap < 0.0 or self.between < 0.0 or self.seed < 0:
            raise ValueError("vary is 0 to below 0.9; gap, between and seed are 0 or more.")
        if self.picture and self.kind != "plain":
            raise ValueError(f"picture is for kind = 'plain'; a {self.kind} has its own.")
        if not -10.0 <= self.base <= 100.0:
            raise ValueError(f"base is {self.base:g}; it takes -10 to 100 m above the ground.")
        if self.places and self.spans:
            raise ValueError("spans belong to a row; give side instead of places.")
        check_colours(self.colour)


@dataclass(frozen=True)
class PanelTable:
    """A flat picture at places, or one along a line.

    Attributes:
        picture: One of the package, as `world.tracks.art.read_picture` finds it, or a file beside the track's own.
        points: x, y [m] of a line that it stands along once, instead of places; its front is to the left as they run,
            so that its right edge is at the first point.
        height: Of such a one [m].
        places: x, y [m] and yaw [degree] of the middle of its lower edge, and how high that is above the ground [m],
            0 where it is left out; the front looks along the yaw.
        size: Width and height [m].
        tilt: How far it leans back [degree]: 0 upright, 90 on the ground face up, -90 under a ceiling face down.
        repeat: How often the picture is repeated across and up.
        cutout: Whether its transparent texels are holes.
        two_sided: Whether it is seen from behind, too.
        unlit: Whether it shines by itself: lamps, screens, what lies behind windows.
        colour: sRGB 0 to 255 that the picture is multiplied by; none: as it is.
        hit: What `hit` says of it; empty: cars and the lidar pass through it.
        name: What it is, in one word.
    """

    picture: str
    places: tuple[tuple[float, ...], ...] = ()
    size: tuple[float, float] = (0.0, 0.0)
    points: tuple[Point, ...] = ()
    height: float = 0.0
    tilt: float = 0.0
    repeat: tuple[float, float] = (1.0, 1.0)
    cutout: bool = False
    two_sided: bool = False
    unlit: bool = False
    colour: Colour | None = None
    hit: str = ""
    name: str = "panel"

    def __post_init__(self) -> None:
        if self.points:
            self._check_line()
        elif not self.places or any(len(place) not in (3, 4) for place in self.places):
            raise ValueError("a panel needs places, each [x, y, yaw in degrees] or [x, y, yaw, height of its foot].")
        elif min(*self.size, *self.repeat) <= 0.0 or self.height:
            raise ValueError("size and repeat of a panel at places are above 0, and it has no other height.")
        if not -90.0 <= self.tilt <= 90.0:
            raise ValueError(f"tilt is {self.tilt:g}; a panel leans back by -90 to 90 degrees.")
        if self.hit and self.tilt:
            raise ValueError("only an upright panel can be hit; leave hit or tilt out.")
        check_colours(self.colour)

    def _check_line(self) -> None:
        if self.places or any(self.size) or self.tilt or self.repeat != (1.0, 1.0):
            raise ValueError("a panel along points has a height, and no places, size, tilt or repeat.")
        if len(self.points) < 2 or self.height <= 0.0:
            raise ValueError("a panel along points takes two of them or more, and a height above 0.")
        if any(first == second for first, second in itertools.pairwise(self.points)):
            raise ValueError("two points of a panel that follow each other are the same; leave one out.")


@dataclass(frozen=True)
class TunnelTable:
    """A tunnel over stretches of the road, lamps inside.

    Attributes:
        spans: Where along the path, each [from, to] [m]; a span may run over the beginning of a closed path.
        gap: From the road's edges to its walls [m].
        height: Of its inside [m].
        thickness: Of its walls and roof [m].
        kind: What it is seen as from outside: concrete, or rock above it.
    """

    spans: tuple[tuple[float, float], ...]
    gap: float = 0.1
    height: float = 0.75
    thickness: float = 0.12
    kind: Literal["concrete", "rock"] = "concrete"

    def __post_init__(self) -> None:
        if not self.spans or any(begin == end for begin, end in self.spans):
            raise ValueError("a tunnel needs spans, each from one place along the path to another: [[from, to]].")
        if self.gap < 0.0 or self.thickness <= 0.0 or not 0.4 <= self.height <= 20.0:
            raise ValueError("a tunnel has a gap of 0 or more, a thickness above 0 and a height of 0.4 to 20.")


@dataclass(frozen=True)
class ArchTable:
    """Something across the road to drive under.

    Attributes:
        at: Where along the path [m].
        kind: A hoop of inflated tube, or a bridge with a text.
        gap: From the road's edges to its feet [m].
        height: Of what is above the road [m].
        text: On a bridge.
        colour: Of a bridge's boards, sRGB 0 to 255.
    """

    at: tuple[float, ...]
    kind: Literal["hoop", "bridge"] = "hoop"
    gap: float = 0.08
    height: float = 0.65
    text: str = ""
    colour: Colour = (214, 176, 40)

    def __post_init__(self) -> None:
        if not self.at or self.gap < 0.0 or not 0.4 <= self.height <= 20.0:
            raise ValueError("an arch needs places 'at' along the path, a gap of 0 or more and a height of 0.4 to 20.")
        check_colours(self.colour)


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
        hit: What clients hear that a car has run into; empty: what the kind is called.
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
