"""The tables [[blocks]]: buildings, containers, crates: things with a size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import Colour, check_colours

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
        hit: What clients are told of a car that hits it; empty: what the kind is called.
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
