"""The table [room]: a hall around the track."""

from dataclasses import dataclass, field
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
class WallNames:
    """A name for each wall of the room; empty: none.

    Attributes:
        north: At the greatest y.
        east: At the greatest x.
        south: At the least y.
        west: At the least x.
    """

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
        pictures: Of whole walls, from the left to the right seen from inside, instead of what they are made of.
        hits: What clients hear that a car has hit, by the wall's side; empty: "wall".
        lit: Whether the walls' pictures shine by themselves.
        roof: Steel trusses under a sheet roof, a flat ceiling with panels, or none.
        roof_picture: Instead of the roof's own picture.
        roof_tile: Side of that picture [m].
        doors: In the walls.
        sign: Text in large letters on the north wall; empty: none.
    """

    margin: float = 2.0
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    height: float = 4.0
    walls: Literal["metal", "brick", "plaster", "concrete"] = "metal"
    windows: Literal["none", "high", "large"] = "high"
    colour: Colour | None = None
    pictures: WallNames = field(default_factory=WallNames)
    hits: WallNames = field(default_factory=WallNames)
    lit: bool = False
    roof: Literal["truss", "flat", "none"] = "truss"
    roof_picture: str = ""
    roof_tile: float = 4.0
    doors: tuple[Door, ...] = ()
    sign: str = ""

    def __post_init__(self) -> None:
        if self.margin < 0.0 or not 0.5 <= self.height <= 50.0:
            raise ValueError("a room has a margin of 0 or more and a height of 0.5 to 50.")
        if self.roof_tile <= 0.0:
            raise ValueError(f"roof_tile is {self.roof_tile:g}; it is above 0.")
        if any(self.box) and (self.box[0] >= self.box[2] or self.box[1] >= self.box[3]):
            raise ValueError("box is least x, least y, greatest x, greatest y.")
        check_colours(self.colour)
