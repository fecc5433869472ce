"""The table [road]: the drivable strip and what is painted on it."""

from __future__ import annotations

from dataclasses import dataclass

from donkeysim.world.tracks.tables.checks import Colour, check_colour, check_friction


@dataclass(frozen=True)
class Marking:
    """A painted line along the path.

    Attributes:
        offset: Of its middle from the path [m], + = left.
        width: [m]
        colour: sRGB 0 to 255.
        dash: Length of a dash [m]; 0: one solid line.
        gap: Between dashes [m].
    """

    offset: float
    width: float
    colour: Colour
    dash: float = 0.0
    gap: float = 0.0

    def __post_init__(self) -> None:
        if self.width <= 0.0:
            raise ValueError(f"width is {self.width:g}; a marking is wider than 0.")
        if (self.dash > 0.0) != (self.gap > 0.0) or self.dash < 0.0:
            raise ValueError("a dashed marking needs dash and gap above 0; a solid one has neither.")
        check_colour(self.colour)


@dataclass(frozen=True)
class RoadTable:
    """The drivable strip.

    Attributes:
        width_left: From the path to the left edge [m].
        width_right: From the path to the right edge [m].
        friction: Of its surface [-].
        markings: Lines painted on it.
    """

    width_left: float
    width_right: float
    friction: float = 1.0
    markings: tuple[Marking, ...] = ()

    def __post_init__(self) -> None:
        if self.width_left <= 0.0 or self.width_right <= 0.0:
            raise ValueError("width_left and width_right are above 0: the path lies inside the road.")
        check_friction(self.friction)
