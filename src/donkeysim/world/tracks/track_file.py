"""The format of a track file: what a place is; the tables themselves stand in `tables/`.

All values are in our frames: metres, degrees where a person writes an angle, x forward, y left, z up, turns positive to
the left. A broken file fails with one sentence that names file, line, field and the nearest valid name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SceneError, SpecError, describe_unknown
from donkeysim.world.tracks.tables.blocks import BlockTable
from donkeysim.world.tracks.tables.ground import GroundTable
from donkeysim.world.tracks.tables.light import LightTable
from donkeysim.world.tracks.tables.path import PathTable
from donkeysim.world.tracks.tables.props import PropTable
from donkeysim.world.tracks.tables.road import Marking, RoadTable
from donkeysim.world.tracks.tables.room import RoomTable
from donkeysim.world.tracks.tables.start import StartTable
from donkeysim.world.tracks.tables.tunnels import ArchTable, TunnelTable
from donkeysim.world.tracks.tables.walls import WallTable

FORMAT = 1
"""Version of the format; a file says it first."""

NO_LOOK = frozenset(("format", "name", "listed", "path", "road_styles"))
"""What a look leaves alone."""

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


def read_track(path: Path, look: str = "") -> TrackFile:
    """Return the track of a file; of one that is only a path, the track that `make_bare_track` makes of it.

    Args:
        path: The file.
        look: One of its `[looks]`; empty: as the file is without them.

    Raises:
        SceneError: The file cannot be read, is not TOML, or breaks the format, or has no such look.
    """
    if path.suffix.lower() != ".toml":
        choose_look({}, look, path)
        return make_bare_track(path)
    try:
        table = read_toml(path)
        version = table.get("format")
        if version != FORMAT:
            given = "says nothing" if version is None else f"says {version!r}"
            raise SceneError(f"{locate_key(path, 'format')}: format {given}; this program reads 'format = {FORMAT}'.")
        _refuse_endless(table, path, "")
        table, source = choose_look(table, look, path)
        track = read_dataclass(TrackFile, table, source)
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


def choose_look(table: dict[str, Any], look: str, path: Path) -> tuple[dict[str, Any], str]:
    """Return the tables of a file without its looks, those of one look laid over them; and what errors call the file.

    Args:
        table: All tables of the file.
        look: Name of a look; empty: none.
        path: The file.

    Raises:
        SceneError: There is no such look, or it changes what no look may.
    """
    looks = table.get("looks", {})
    if not isinstance(looks, dict) or not all(isinstance(one, dict) for one in looks.values()):
        raise SceneError(f"{locate_key(path, 'looks')}: looks are tables with names: [looks.{look or 'NAME'}].")
    plain = {key: value for key, value in table.items() if key != "looks"}
    for name, over in looks.items():
        for key in NO_LOOK.intersection(over):
            place = locate_key(path, f"looks.{name}.{key}")
            raise SceneError(f"{place}: a look changes what is seen of a track, not its {key}; leave it out.")
    if not look:
        return plain, str(path)
    if look not in looks:
        raise SceneError(f"{path}: {describe_unknown('look', look, looks)}" if looks else f"{path} has no looks.")
    return _lay_over(plain, looks[look]), f"{path}, look {look!r}"


def _lay_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return a table with another over it: tables are merged, anything else is replaced."""
    merged = below | above
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            merged[key] = _lay_over(below[key], value)
    return merged


def list_looks(path: Path) -> tuple[str, ...]:
    """Return the names of a track file's looks, in its order, without the one it has when none is chosen.

    Raises:
        SpecError: The file cannot be read.
    """
    return tuple(read_toml(path).get("looks", {})) if path.suffix.lower() == ".toml" else ()


def make_bare_track(path: Path) -> TrackFile:
    """Return the track of a file that holds a path and nothing else: usual values for everything beside it.

    A circuit becomes a tenth of its size; a drawing, whose units mean nothing, 30 m long with corners that can be
    driven; a model stays as it is. A road without widths of its own is 1 m wide.

    Raises:
        SceneError: The path cannot be read.
    """
    from donkeysim.world.tracks.paths.path_file import read_raw_path

    kind, raw = path.suffix.lower(), read_raw_path(path, "")
    table = PathTable(
        file=path.name,
        closed=raw.is_closed is not False,
        scale=0.1 if kind == ".csv" else 1.0,
        length=30.0 if kind == ".svg" else 0.0,
        smooth=0.8 if kind == ".svg" else 0.0,
    )
    edges = tuple(Marking(0.03, 0.03, (232, 232, 226), edge=side) for side in ("left", "right"))
    width = 0.5 if raw.width is None else 0.0
    road = RoadTable(width, width, markings=edges)
    return TrackFile(FORMAT, path.stem, table, road, start=StartTable(lines=(0.3,)))


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
