"""The table [ground]: everything beside the road."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from donkeysim.world.tracks.tables.checks import check_friction


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
class GroundTable:
    """Everything beside the road.

    Attributes:
        height: Of the ground where no elevation says otherwise [m].
        friction: [-]
        margin: How far the detailed ground reaches beyond the path's box [m].
        texture: What grows or lies there.
        drivable: Whether it counts as road.
        elevation: Heights along the path, joined by a smooth curve; empty: level.
        blend: Over what distance beside the road the elevation fades to `height` [m].
    """

    height: float = 0.0
    friction: float = 1.0
    margin: float = 2.0
    texture: Literal["grass", "plain"] = "grass"
    drivable: bool = False
    elevation: tuple[HeightPoint, ...] = ()
    blend: float = 3.0

    def __post_init__(self) -> None:
        check_friction(self.friction)
        if self.margin < 0.0 or self.blend <= 0.0:
            raise ValueError(
                f"margin = {self.margin:g} and blend = {self.blend:g}; margin is 0 or more, blend above 0."
            )
        if self.elevation and self.texture == "plain":
            raise ValueError("texture 'plain' is a level floor; give 'grass' to a ground with elevation.")
        if self.elevation and any(a.at >= b.at for a, b in zip(self.elevation, self.elevation[1:], strict=False)):
            raise ValueError("elevation points stand in order of growing 'at'.")
