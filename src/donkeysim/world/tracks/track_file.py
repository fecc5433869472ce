"""The format of a track file: what a place is; the tables themselves stand in `tables/`.

All values are in our frames: metres, degrees where a person writes an angle, x forward, y left, z up, turns positive to
the left. A broken file fails with one sentence that names file, line, field and the nearest valid name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SceneError, SpecError
from donkeysim.world.tracks.tables.blocks import BlockTable
from donkeysim.world.tracks.tables.ground import GroundTable
from donkeysim.world.tracks.tables.light import LightTable
from donkeysim.world.tracks.tables.path import PathTable
from donkeysim.world.tracks.tables.props import PropTable
from donkeysim.world.tracks.tables.road import RoadTable
from donkeysim.world.tracks.tables.room import RoomTable
from donkeysim.world.tracks.tables.start import StartTable
from donkeysim.world.tracks.tables.tunnels import ArchTable, TunnelTable
from donkeysim.world.tracks.tables.walls import WallTable

FORMAT = 1
"""Version of the format; a file says it first."""

LARGEST = 1e5
"""Numbers of a file stay below this; no place is so large."""


@dataclass(frozen=True)
class TrackFile:
    """One track.

    Attributes:
        format: Version of this format.
        name: As clients ask for it.
        listed: Whether menus show it.
        road_styles: Further roads that may lie on the path, styles 1 and up; style 0 is `road`.
    """

    format: int
    name: str
    path: PathTable
    road: RoadTable = field(default_factory=RoadTable)
    listed: bool = True
    ground: GroundTable = field(default_factory=GroundTable)
    props: tuple[PropTable, ...] = ()
    walls: tuple[WallTable, ...] = ()
    blocks: tuple[BlockTable, ...] = ()
    tunnels: tuple[TunnelTable, ...] = ()
    arches: tuple[ArchTable, ...] = ()
    room: RoomTable | None = None
    start: StartTable = field(default_factory=StartTable)
    light: LightTable = field(default_factory=LightTable)
    road_styles: tuple[RoadTable, ...] = ()


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
            _refuse_endless(inner, path, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_endless(inner, path, f"{key}[{index}]")
    elif isinstance(value, float) and not abs(value) < LARGEST:
        raise SceneError(
            f"{locate_key(path, key)}: {key} is {value:g}; numbers lie between -{LARGEST:g} and {LARGEST:g}."
        )
