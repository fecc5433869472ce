"""The table [ground]: everything beside the road."""

from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import Colour, check_colours, check_friction

TILE_SIZE = 3.84
"""Side of the square after which a surface repeats, where nothing else is said [m]."""

TILES = tuple(TILE_SIZE * 2.0**power for power in range(-2, 6))
"""Sides that it may have [m]: pictures of the ground are cut into whole halves of each other."""

TEXELS = (0.0075, 0.015, 0.03)
"""Sides that painted texels may have at least [m]."""

LEAST_POINTS = 4
"""Places that the open ground passes through, if any."""

GroundTexture = Literal[
    "grass", "dry_grass", "short_grass", "pale_grass", "aerial", "concrete", "asphalt", "carpet", "carpet_planks",
    "dirt", "sand", "wood", "wood_carpet", "dark_wood", "hall_floor", "cracked_asphalt", "plain",
]  # fmt: skip


@dataclass(frozen=True)
class HeightPoint:
    """Height of the ground at a place of the path.

    Attributes:
        at: Share of the path's length, 0 to 1.
        height: [m]
    """

    at: float
    height: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.at <= 1.0:
            raise ValueError(f"at is {self.at:g}; a place on the path is a share of its length, 0 to 1.")


@dataclass(frozen=True)
class Patch:
    """A rectangle painted on the ground, under the road's markings: a mat, a rug, a painted field, a lying picture.

    Attributes:
        size: Length and width [m].
        colour: sRGB 0 to 255; a picture is multiplied by it.
        at: x, y of its middle [m]; or
        places: x, y and yaw of several [m, m, degree].
        yaw: Of its length [degree]; of several: in addition.
        picture: What it shows, left to right along its length: a picture of the package, or a file beside the track's
            own; empty: one colour.
        cover: Share of the ground's own colour that it hides, 0 to 1.
        border: Width of a border [m]; 0: none.
        border_colour: sRGB 0 to 255.
        text: Written on it along its length; empty: nothing.
        text_colour: sRGB 0 to 255.
        chequer: Side of squares in the two colours that it is painted with [m]; 0: none.
        over: Whether it is painted over the road's markings too, as a start line is.
    """

    size: tuple[float, float]
    colour: Colour = (255, 255, 255)
    at: tuple[float, float] | None = None
    places: tuple[tuple[float, float, float], ...] = ()
    yaw: float = 0.0
    picture: str = ""
    cover: float = 0.9
    border: float = 0.0
    border_colour: Colour = (235, 235, 230)
    text: str = ""
    text_colour: Colour = (235, 235, 230)
    chequer: float = 0.0
    over: bool = False

    def __post_init__(self) -> None:
        if (self.at is None) == (not self.places):
            raise ValueError("a patch needs either at, the place of one, or places.")
        if min(self.size) <= 0.0 or min(self.border, self.chequer) < 0.0 or not 0.0 <= self.cover <= 1.0:
            raise ValueError("a patch has a size above 0, border and chequer of 0 or more, and cover from 0 to 1.")
        check_colours(self.colour, self.border_colour, self.text_colour)


@dataclass(frozen=True)
class GroundTable:
    """Everything beside the road.

    Attributes:
        height: Of the ground where no elevation says otherwise [m].
        friction: [-]
        margin: How far the detailed ground reaches beyond the path's box [m].
        texture: What grows or lies there.
        colour: sRGB 0 to 255 that the texture is on average; none: its own.
        tile: Side of the square after which the texture repeats [m], one of `TILES`.
        texel: Side of a painted texel at least [m]; the usual 7.5 mm take four times the memory of 15 mm.
        drivable: Whether it counts as road.
        elevation: Heights along the path, joined by a smooth curve; empty: those of the path's file, or level.
        blend: Over what distance beside the road the elevation fades to `height` [m].
        hills: Greatest height of random hills away from the road [m]; 0: none.
        hill_size: How far hills lie apart, about [m].
        seed: Of the hills.
        points: x, y and height of places of the open ground that are known [m]: it passes through them smoothly, and
            is level at `height` along its border alone. Empty: it is level everywhere.
        hit: What clients hear that a chassis has touched; empty: "terrain".
        patches: Rectangles painted on the ground, later ones over earlier ones.
    """

    height: float = 0.0
    friction: float = 1.0
    margin: float = 2.0
    texture: GroundTexture = "grass"
    colour: Colour | None = None
    tile: float = TILE_SIZE
    texel: float = 0.0075
    drivable: bool = False
    elevation: tuple[HeightPoint, ...] = ()
    blend: float = 3.0
    hills: float = 0.0
    hill_size: float = 6.0
    seed: int = 1
    points: tuple[tuple[float, float, float], ...] = ()
    hit: str = ""
    patches: tuple[Patch, ...] = ()

    def __post_init__(self) -> None:
        check_friction(self.friction)
        check_colours(self.colour)
        if self.tile not in TILES:
            raise ValueError(f"tile is {self.tile:g}; it takes {', '.join(f'{tile:g}' for tile in TILES)}.")
        if self.texel not in TEXELS:
            raise ValueError(f"texel is {self.texel:g}; it takes {', '.join(f'{texel:g}' for texel in TEXELS)}.")
        if self.margin < 0.0 or self.blend <= 0.0:
            raise ValueError(
                f"margin = {self.margin:g} and blend = {self.blend:g}; margin is 0 or more, blend above 0."
            )
        if self.points and len(self.points) < LEAST_POINTS:
            raise ValueError(f"points has {len(self.points)} places; a surface passes through {LEAST_POINTS} or more.")
        if (self.elevation or self.hills or self.points or self.patches or self.colour) and self.texture == "plain":
            raise ValueError("texture 'plain' is a level, bare floor; give another one to a ground with more on it.")
        if self.hills < 0.0 or self.hill_size < 1.0 or self.seed < 0:
            raise ValueError(
                f"hills = {self.hills:g}, hill_size = {self.hill_size:g} and seed = {self.seed}; "
                "hills and seed are 0 or more, hill_size 1 or more."
            )
        if self.elevation and any(a.at >= b.at for a, b in zip(self.elevation, self.elevation[1:], strict=False)):
            raise ValueError("elevation points stand in order of growing 'at'.")
