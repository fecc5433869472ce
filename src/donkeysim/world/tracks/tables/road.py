"""The table [road]: the drivable strip and what is painted on it."""

import itertools
from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import Colour, check_colours, check_friction
from donkeysim.world.tracks.tables.path import Point

RoadTexture = Literal["asphalt", "concrete", "dirt", "carpet", "mat", "cobbles", "wood", "none"]


@dataclass(frozen=True)
class Marking:
    """A painted line along the path.

    Attributes:
        offset: Of its middle from the path [m], + = left.
        width: [m]
        colour: sRGB 0 to 255.
        dash: Length of a dash [m]; 0: one solid line.
        gap: Between dashes [m].
        edge: `offset` counts from this edge of the road instead, + = into the road; or from the middle between both,
            + = left.
        worn: Share of its paint that has gone, in spots and at its edges, 0 to 1.
    """

    offset: float
    width: float
    colour: Colour
    dash: float = 0.0
    gap: float = 0.0
    edge: Literal["none", "left", "right", "middle"] = "none"
    worn: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.worn <= 1.0:
            raise ValueError(f"worn is {self.worn:g}; it is a share, 0 to 1.")
        if self.width <= 0.0:
            raise ValueError(f"width is {self.width:g}; a marking is wider than 0.")
        if (self.dash > 0.0) != (self.gap > 0.0) or self.dash < 0.0:
            raise ValueError("a dashed marking needs dash and gap above 0; a solid one has neither.")
        check_colours(self.colour)


@dataclass(frozen=True)
class Stroke:
    """A solid line painted through points, wherever the path runs: edges of roads that fork, cross or share a line.

    Attributes:
        points: x, y of its corners [m].
        width: [m]
        colour: sRGB 0 to 255.
        closed: Whether the last point is joined to the first.
    """

    points: tuple[Point, ...]
    width: float
    colour: Colour
    closed: bool = False

    def __post_init__(self) -> None:
        if len(self.points) < 2 + self.closed or self.width <= 0.0:
            raise ValueError("a stroke has two points or more, three if closed, and a width above 0.")
        check_colours(self.colour)


@dataclass(frozen=True)
class Kerb:
    """A striped strip outside the road's edge, painted on the ground where the path turns.

    Attributes:
        width: [m]
        stripe: Length of a stripe [m].
        colours: Of the stripes by turns, sRGB 0 to 255.
        radius: Only in turns tighter than this [m]; 0: all along.
        side: Which edge.
    """

    width: float = 0.08
    stripe: float = 0.12
    colours: tuple[Colour, Colour] = ((196, 40, 34), (232, 230, 224))
    radius: float = 4.0
    side: Literal["left", "right", "both"] = "both"

    def __post_init__(self) -> None:
        if self.width <= 0.0 or self.stripe <= 0.0 or self.radius < 0.0:
            raise ValueError("a kerb has width and stripe above 0 and a radius of 0 or more.")
        check_colours(*self.colours)


@dataclass(frozen=True)
class Border:
    """A strip along an edge of the road: a pale shoulder inside it, or a verge of gravel and earth outside.

    Attributes:
        width: [m]
        colour: sRGB 0 to 255.
        side: Along which edge.
        contrast: How much its grains stand out.
        ragged: How far a shoulder's inner edge wanders [m], about; a verge has more of its own.
    """

    width: float
    colour: Colour
    side: Literal["left", "right", "both"] = "both"
    contrast: float = 1.0
    ragged: float = 0.006

    def __post_init__(self) -> None:
        if self.width <= 0.0:
            raise ValueError(f"width is {self.width:g}; a shoulder or verge is wider than 0.")
        if not 0.0 <= self.contrast <= 4.0 or self.ragged < 0.0:
            raise ValueError("contrast of a shoulder or verge takes 0 to 4, ragged 0 or more.")
        check_colours(self.colour)


@dataclass(frozen=True)
class Tone:
    """Colour of asphalt at a distance from the path.

    Attributes:
        offset: From the path [m], + = left.
        colour: sRGB 0 to 255.
    """

    offset: float
    colour: Colour

    def __post_init__(self) -> None:
        check_colours(self.colour)


@dataclass(frozen=True)
class WidthPoint:
    """How wide the road is at a place of the path.

    Attributes:
        at: Share of the path's length, 0 to 1.
        left: From the path to the left edge [m].
        right: From the path to the right edge [m].
    """

    at: float
    left: float
    right: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.at <= 1.0 or self.left <= 0.0 or self.right <= 0.0:
            raise ValueError("a width has at from 0 to 1 (a share of the path's length), left and right above 0.")


@dataclass(frozen=True)
class RoadTable:
    """The drivable strip.

    Attributes:
        width_left: From the path to the left edge [m]; 0: `widths`, or the path's own file, say it.
        width_right: From the path to the right edge [m].
        widths: Where the width changes: edges along the path, joined by a smooth curve.
        friction: Of its surface [-].
        texture: What it is made of; "none": the ground continues, only what is painted shows the road.
        colour: Of asphalt where no wheel rolls, sRGB 0 to 255; none: dark grey.
        tones: Instead of one colour several across the road, in order of growing offset, blended in between.
        contrast: How much the grain and the spots of asphalt stand out.
        streaks: How much streaks along the road do.
        wear: How much darker wheels have made it.
        edge: Width of the worn strip between road and ground [m]; 0: a sharp edge.
        markings: Lines painted on it along the path.
        strokes: Lines painted through points, over the markings.
        kerbs: Striped strips beside it.
        shoulders: Strips inside its edges, under the markings.
        verges: Strips of gravel and earth outside its edges.
        overgrown: How far inside its edges tufts of the ground and bare patches of it show [m].
        stretched: Whether what is painted is as wide as the road is from place to place: offsets of markings and tones
            are then shares of half its width, from -1 at its right edge to 1 at its left.
        obstacles: Whether things may stand on it, and its edges may lie within each other's turns.
    """

    width_left: float = 0.0
    width_right: float = 0.0
    widths: tuple[WidthPoint, ...] = ()
    friction: float = 1.0
    texture: RoadTexture = "asphalt"
    colour: Colour | None = None
    tones: tuple[Tone, ...] = ()
    contrast: float = 1.0
    streaks: float = 0.0
    wear: float = 1.0
    edge: float = 0.10
    markings: tuple[Marking, ...] = ()
    strokes: tuple[Stroke, ...] = ()
    kerbs: tuple[Kerb, ...] = ()
    shoulders: tuple[Border, ...] = ()
    verges: tuple[Border, ...] = ()
    overgrown: float = 0.0
    stretched: bool = False
    obstacles: bool = False

    def __post_init__(self) -> None:
        if (self.width_left > 0.0) != (self.width_right > 0.0) or min(self.width_left, self.width_right) < 0.0:
            raise ValueError("width_left and width_right are above 0: the path lies inside the road.")
        if self.widths and any(a.at >= b.at for a, b in itertools.pairwise(self.widths)):
            raise ValueError("widths stand in order of growing 'at'.")
        for name, width in (("edge", self.edge), ("overgrown", self.overgrown)):
            if width < 0.0:
                raise ValueError(f"{name} is {width:g}; it takes 0 or more.")
        if (self.colour is not None or self.tones) and self.texture != "asphalt":
            raise ValueError(f"colour and tones are of asphalt; leave them out where texture is {self.texture!r}.")
        if self.tones and any(a.offset >= b.offset for a, b in itertools.pairwise(self.tones)):
            raise ValueError("tones stand in order of growing offset.")
        offsets = [line.offset for line in self.markings] + [tone.offset for tone in self.tones]
        if self.stretched and any(abs(offset) > 1.0 for offset in offsets):
            raise ValueError("offsets of a stretched road's markings and tones are from -1 to 1.")
        check_colours(self.colour)
        for name, share in (("contrast", self.contrast), ("streaks", self.streaks), ("wear", self.wear)):
            if not 0.0 <= share <= 4.0:
                raise ValueError(f"{name} is {share:g}; it takes 0 to 4.")
        check_friction(self.friction)
