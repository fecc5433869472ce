"""The table [room]: a hall around the track."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import Colour, check_colours


@dataclass(frozen=True)
class Door:
    """A door in a wall of the room.

    Attributes:
        wall: Which; east is +x, north is +y.
        at: Share of the wall's length from its left end, seen from inside, 0 to 1.
        kind: A roller door of 3 x 3 m, or a door for people.
    """

    wall: Literal["north", "east", "south", "west"]
    at: float = 0.5
    kind: Literal["roller", "door"] = "roller"

    def __post_init__(self) -> None:
        if not 0.0 <= self.at <= 1.0:
            raise ValueError(f"at of a door is {self.at:g}; it is a share of the wall's length, 0 to 1.")


@dataclass(frozen=True)
class WallHits:
    """What clients are told of a car that hits a wall of the room; empty: "wall"."""

    north: str = ""
    east: str = ""
    south: str = ""
    west: str = ""


@dataclass(frozen=True)
class RoomTable:
    """Four walls and a roof around the track.

    Attributes:
        margin: How far the walls stand outside the path's box [m].
        box: Instead of the margin: least x, least y, greatest x, greatest y of the floor [m]; all 0: unset.
        height: Of the ceiling [m].
        walls: What they are made of.
        windows: None, a row high up, or large ones.
        colour: sRGB 0 to 255 that the walls' picture is multiplied by; none: as it is.
        roof: Steel trusses under a sheet roof, or a flat ceiling with panels.
        doors: In the walls.
        hits: What clients are told of a car that hits a wall, by its side; those left out: "wall".
        sign: Text in large letters on the north wall; empty: none.
    """

    margin: float = 2.0
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    height: float = 4.0
    walls: Literal["metal", "brick", "plaster", "concrete"] = "metal"
    windows: Literal["none", "high", "large"] = "high"
    colour: Colour | None = None
    roof: Literal["truss", "flat"] = "truss"
    doors: tuple[Door, ...] = ()
    sign: str = ""
    hits: WallHits = WallHits()

    def __post_init__(self) -> None:
        if self.margin < 0.0 or not 0.5 <= self.height <= 50.0:
            raise ValueError("a room has a margin of 0 or more and a height of 0.5 to 50.")
        if any(self.box) and (self.box[0] >= self.box[2] or self.box[1] >= self.box[3]):
            raise ValueError("box is least x, least y, greatest x, greatest y.")
        check_colours(self.colour)
