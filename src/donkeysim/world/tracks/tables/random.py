"""The table [random]: a place that is drawn anew from every seed; what it may be made of."""

from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import Colour, check_colours
from donkeysim.world.tracks.tables.ground import GroundTexture

Range = tuple[float, float]
"""Least and greatest value; each between them is as likely."""

Lines = Literal["both", "left", "right", "middle", "both and middle", "none"]
Border = Literal["none", "boards", "cones", "tyres"]


@dataclass(frozen=True)
class Floor:
    """What may lie on the ground.

    Attributes:
        texture: As `GroundTable.texture`.
        colours: What it may be tinted, sRGB 0 to 255; empty: its own colour.
        is_inside: Whether it is a floor of rooms; else of the open.
    """

    texture: GroundTexture
    colours: tuple[Colour, ...] = ()
    is_inside: bool = True

    def __post_init__(self) -> None:
        check_colours(*self.colours)


@dataclass(frozen=True)
class RandomTable:
    """Ranges and choices; what stands in a list twice is twice as likely.

    Attributes:
        size: How many times as large the road is as length, width, line_width and dash say; doubling it once is as
            likely as doubling it once more.
        length: Of the path [m].
        turn: How lively the path turns, as `RandomWalk.turn`, at a road's own turn of 1.
        width: Of the road [m].
        line_width: [m]
        dash: Length of a dash [m]; the gaps are half as long to twice as long.
        lines: Which lines are painted.
        line_colours: Of lines at the edges.
        middle_colours: Of the middle one, which is dashed twice out of three times.
        printed: Share of roads with a surface of their own; others are marked on the ground alone.
        road_colours: Of such surfaces.
        borders: What stands along both sides.
        floors: What the ground is made of.
        things: What stands about, kinds of props, indoors and out.
        thing_count: How many of them.
        sun: Weight of direct light.
        ambient: Weight of light from everywhere.
        warmth: Red over blue of the light.
    """

    size: Range = (1.0, 1.0)
    length: Range = (20.0, 45.0)
    turn: Range = (3.0, 14.0)
    width: Range = (0.35, 1.2)
    line_width: Range = (0.02, 0.06)
    dash: Range = (0.08, 0.4)
    lines: tuple[Lines, ...] = ("both", "both and middle")
    line_colours: tuple[Colour, ...] = ((240, 240, 236),)
    middle_colours: tuple[Colour, ...] = ((240, 200, 30),)
    printed: float = 0.5
    road_colours: tuple[Colour, ...] = ((80, 80, 84),)
    borders: tuple[Border, ...] = ("none",)
    floors: tuple[Floor, ...] = (Floor("concrete"),)
    things: tuple[str, ...] = ()
    thing_count: Range = (0.0, 12.0)
    sun: Range = (0.3, 0.8)
    ambient: Range = (0.35, 0.7)
    warmth: Range = (0.8, 1.3)

    def __post_init__(self) -> None:
        for name in (
            "size",
            "length",
            "turn",
            "width",
            "line_width",
            "dash",
            "thing_count",
            "sun",
            "ambient",
            "warmth",
        ):
            low, high = getattr(self, name)
            if not 0.0 <= low <= high:
                raise ValueError(
                    f"{name} is [{low:g}, {high:g}]; it takes two numbers of 0 or more, the lower one first."
                )
        if self.size[0] < 1.0 or self.length[0] < 20.0 or self.width[0] < 0.1:
            raise ValueError(
                "random places are 20 m long or longer, of size 1 or more, their roads 0.1 m wide or wider."
            )
        for name in ("lines", "line_colours", "middle_colours", "road_colours", "borders", "floors"):
            if not getattr(self, name):
                raise ValueError(f"{name} is empty; give at least one to choose from.")
        if not 0.0 <= self.printed <= 1.0:
            raise ValueError(f"printed is {self.printed:g}; it is a share, 0 to 1.")
        check_colours(*self.line_colours, *self.middle_colours, *self.road_colours)
