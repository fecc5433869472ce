"""The format of a track file: what a place is, as frozen dataclasses that `core.config` fills from TOML.

All values are in our frames: metres, degrees where a person writes an angle, x forward, y left, z up, turns positive to
the left. A broken file fails with one sentence that names file, line, field and the nearest valid name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SceneError, SpecError

FORMAT = 1
"""Version of the format; a file says it first."""

LARGEST = 1e5
"""Numbers of a file stay below this; no place is so large."""

Point = tuple[float, float]
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Segment:
    """One piece of a path script: a straight, or a turn of constant radius.

    Attributes:
        straight: Length [m]; 0 for a turn.
        turn: Angle [degree], + = left; 0 for a straight.
        radius: Of the turn [m].
    """

    straight: float = 0.0
    turn: float = 0.0
    radius: float = 0.0

    def __post_init__(self) -> None:
        is_straight = self.straight > 0.0 and self.turn == 0.0 and self.radius == 0.0
        is_turn = self.straight == 0.0 and self.turn != 0.0 and self.radius > 0.0
        if not (is_straight or is_turn):
            raise ValueError(
                "a segment is { straight = LENGTH } or { turn = DEGREES, radius = RADIUS }, all above 0 but turn."
            )


@dataclass(frozen=True)
class PathTable:
    """The centre path: `segments` from the start pose, or `points` to be joined by a smooth curve.

    Attributes:
        start: x, y of the first car and of the path's beginning [m].
        yaw: There [degree], counter-clockwise from +x.
        closed: Whether the end meets the beginning; a script is then changed as little as closing needs.
        node_count: Nodes, evenly spaced.
        length: Wanted length of a closed script [m]; 0: what closing gives.
        segments: Script, in driving order.
        points: Instead of a script: the curve passes through them, the first is the start.
    """

    node_count: int
    start: Point = (0.0, 0.0)
    yaw: float = 0.0
    closed: bool = True
    length: float = 0.0
    segments: tuple[Segment, ...] = ()
    points: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.segments) == bool(self.points):
            raise ValueError("a path needs either segments or points.")
        if self.points and len(self.points) < (3 if self.closed else 2):
            raise ValueError(f"{len(self.points)} points do not make a path; give 3 or more.")
        if not 2 <= self.node_count <= 100_000:
            raise ValueError(f"node_count is {self.node_count}; it takes 2 to 100000.")


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
        _check_colour(self.colour)


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
        _check_friction(self.friction)


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
        _check_friction(self.friction)
        if self.margin < 0.0 or self.blend <= 0.0:
            raise ValueError(
                f"margin = {self.margin:g} and blend = {self.blend:g}; margin is 0 or more, blend above 0."
            )
        if self.elevation and self.texture == "plain":
            raise ValueError("texture 'plain' is a level floor; give 'grass' to a ground with elevation.")
        if self.elevation and any(a.at >= b.at for a, b in zip(self.elevation, self.elevation[1:], strict=False)):
            raise ValueError("elevation points stand in order of growing 'at'.")


@dataclass(frozen=True)
class PropTable:
    """Things that stand about: at places, in a row along the path, or scattered beside the road.

    Attributes:
        kind: What, one of `PROP_KINDS`.
        places: x, y of each [m].
        every: One each so many metres along the path; 0: no row.
        first: Where along the path the row begins [m].
        offset: Of the row from the path [m], + = left.
        scatter: How many to scatter; 0: none.
        near: Least distance of scattered ones from the road's edge [m].
        far: Greatest [m].
        spacing: Least distance of a scattered one from everything placed before it [m].
        seed: Of the random numbers.
    """

    kind: Literal["cone", "tree", "spruce", "birch", "bush", "rock"]
    places: tuple[Point, ...] = ()
    every: float = 0.0
    first: float = 0.0
    offset: float = 0.0
    scatter: int = 0
    near: float = 0.4
    far: float = 3.0
    spacing: float = 0.5
    seed: int = 1

    def __post_init__(self) -> None:
        if (bool(self.places), self.every > 0.0, self.scatter > 0).count(True) != 1:
            raise ValueError("a prop needs exactly one of places, every above 0, and scatter above 0.")
        if self.scatter and not 0.0 <= self.near < self.far:
            raise ValueError(f"near = {self.near:g} and far = {self.far:g}; near is 0 or more and below far.")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; it is 0 or more.")
        if not 0 <= self.scatter <= 2000:
            raise ValueError(f"scatter is {self.scatter}; it takes up to 2000.")


@dataclass(frozen=True)
class StartTable:
    """Start lines and grid.

    Attributes:
        lines: Places of the start lines along the path [m]; the first is line 0.
        rows: Distance from one row of the grid to the next [m].
        columns: Offsets of the grid's columns from the path [m], + = left.
        slots: How many cars the grid holds.
        ride_height: Of a resting car's origin above the ground [m]; the default is that of the car `original`.
        gantry: Text on a gantry over the first start line; empty: no gantry.
    """

    lines: tuple[float, ...] = ()
    rows: float = 0.625
    columns: tuple[float, ...] = (0.0,)
    slots: int = 64
    ride_height: float = 0.065125
    gantry: str = ""

    def __post_init__(self) -> None:
        if not self.columns or self.rows <= 0.0 or not 1 <= self.slots <= 4096:
            raise ValueError("a grid has columns, rows above 0 and 1 to 4096 slots.")


@dataclass(frozen=True)
class LightTable:
    """Sun, haze and sky.

    Attributes:
        sun_azimuth: Direction of the sun [degree], counter-clockwise from +x.
        sun_height: Above the horizon [degree].
        sun: Linear RGB weight of direct light.
        ambient: Linear RGB weight of light from everywhere.
        fog: Colour of the haze, sRGB 0 to 255.
        fog_density: [1/m]
        sky: What is painted above and behind.
    """

    sun_azimuth: float = 60.0
    sun_height: float = 50.0
    sun: tuple[float, float, float] = (0.75, 0.72, 0.66)
    ambient: tuple[float, float, float] = (0.42, 0.45, 0.5)
    fog: Colour = (190, 208, 224)
    fog_density: float = 0.02
    sky: Literal["meadow", "plain"] = "meadow"

    def __post_init__(self) -> None:
        if not 0.0 < self.sun_height <= 90.0:
            raise ValueError(f"sun_height is {self.sun_height:g}; the sun stands above 0 and up to 90 degrees.")
        if not 0.0 <= self.fog_density <= 1.0:
            raise ValueError(f"fog_density is {self.fog_density:g}; it takes 0 to 1.")
        _check_colour(self.fog)


@dataclass(frozen=True)
class TrackFile:
    """One track.

    Attributes:
        format: Version of this format.
        name: As clients ask for it.
        listed: Whether menus show it.
    """

    format: int
    name: str
    path: PathTable
    road: RoadTable
    listed: bool = True
    ground: GroundTable = field(default_factory=GroundTable)
    props: tuple[PropTable, ...] = ()
    start: StartTable = field(default_factory=StartTable)
    light: LightTable = field(default_factory=LightTable)


def read_track(path: Path) -> TrackFile:
    """Return the track of a file.

    Raises:
        SceneError: The file cannot be read, is not TOML, or breaks the format.
    """
    try:
        table = read_toml(path)
        version = table.get("format")
        if version != FORMAT:
            given = "says nothing" if version is None else f"says {version!r}"
            raise SceneError(f"{locate_key(path, 'format')}: format {given}; this program reads 'format = {FORMAT}'.")
        _refuse_endless(table, path, "")
        track = read_dataclass(TrackFile, table, path)
    except SceneError:
        raise
    except SpecError as error:
        raise SceneError(str(error)) from error
    if track.name != path.stem:
        raise SceneError(
            f"{locate_key(path, 'name')}: name is {track.name!r}, but clients find the track as {path.stem!r}; "
            "call file and track the same."
        )
    return track


def _refuse_endless(value: object, path: Path, key: str) -> None:
    """Refuse nan and infinity, which TOML allows, anywhere in a table."""
    if isinstance(value, dict):
        for name, inner in value.items():
            _refuse_endless(inner, path, name)
    elif isinstance(value, list):
        for inner in value:
            _refuse_endless(inner, path, key)
    elif isinstance(value, float) and not abs(value) < LARGEST:
        raise SceneError(
            f"{locate_key(path, key)}: {key} is {value:g}; numbers lie between -{LARGEST:g} and {LARGEST:g}."
        )


def _check_friction(friction: float) -> None:
    if not (0.0 <= friction <= 4.0 and math.isfinite(friction)):
        raise ValueError(f"friction is {friction:g}; it takes 0 to 4.")


def _check_colour(colour: Colour) -> None:
    if not all(0 <= part <= 255 for part in colour):
        raise ValueError(f"a colour is {list(colour)}; its three parts take 0 to 255.")
