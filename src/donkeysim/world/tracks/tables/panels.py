"""The tables [[panels]]: pictures that stand, hang or lie: people, screens, crowd barriers, lamps, far buildings."""

from __future__ import annotations

from dataclasses import dataclass

from donkeysim.world.tracks.tables.checks import Colour, check_colours


@dataclass(frozen=True)
class PanelTable:
    """A flat picture at places.

    Attributes:
        picture: Name of a picture of the package, as `world.tracks.art.read_picture` finds it.
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
    places: tuple[tuple[float, ...], ...]
    size: tuple[float, float]
    tilt: float = 0.0
    repeat: tuple[float, float] = (1.0, 1.0)
    cutout: bool = False
    two_sided: bool = False
    unlit: bool = False
    colour: Colour | None = None
    hit: str = ""
    name: str = "panel"

    def __post_init__(self) -> None:
        if not self.places or any(len(place) not in (3, 4) for place in self.places):
            raise ValueError("a panel needs places, each [x, y, yaw in degrees] or [x, y, yaw, height of its foot].")
        if min(*self.size, *self.repeat) <= 0.0:
            raise ValueError("size and repeat of a panel are above 0.")
        if not -90.0 <= self.tilt <= 90.0:
            raise ValueError(f"tilt is {self.tilt:g}; a panel leans back by -90 to 90 degrees.")
        if self.hit and self.tilt:
            raise ValueError("only an upright panel can be hit; leave hit or tilt out.")
        check_colours(self.colour)
