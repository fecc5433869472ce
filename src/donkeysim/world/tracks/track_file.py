"""The format of a track file: what a place is; the tables themselves stand in `tables/`.

All values are in our frames: metres, degrees where a person writes an angle, x forward, y left, z up, turns positive to
the left. A broken file fails with one sentence that names file, line, field and the nearest valid name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from donkeysim.core.config import locate_key, read_dataclass, read_toml
from donkeysim.core.errors import SceneError, SpecError, describe_unknown
from donkeysim.world.tracks.tables.checks import is_picture_file
from donkeysim.world.tracks.tables.ground import GroundTable
from donkeysim.world.tracks.tables.light import LightTable
from donkeysim.world.tracks.tables.path import PathTable
from donkeysim.world.tracks.tables.props import PropTable
from donkeysim.world.tracks.tables.random import RandomTable
from donkeysim.world.tracks.tables.road import Marking, RoadTable
from donkeysim.world.tracks.tables.room import RoomTable
from donkeysim.world.tracks.tables.start import StartTable
from donkeysim.world.tracks.tables.structures import ArchTable, BlockTable, PanelTable, TunnelTable, WallTable

FORMAT = 1
"""Version of the format; a file says it first."""

NO_LOOK = frozenset(("format", "name", "listed", "path", "road_styles", "random"))
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
        random: What all of it is drawn from, anew for every road that is asked for; None: it is as the file says.
    """

    format: int
    name: str
    path: PathTable
    road: RoadTable = field(default_factory=RoadTable)
    listed: bool = True
    ground: GroundTable = field(default_factory=GroundTable)
    props: tuple[PropTable, ...] = ()
    panels: tuple[PanelTable, ...] = ()
    walls: tuple[WallTable, ...] = ()
    blocks: tuple[BlockTable, ...] = ()
    tunnels: tuple[TunnelTable, ...] = ()
    arches: tuple[ArchTable, ...] = ()
    room: RoomTable | None = None
    start: StartTable = field(default_factory=StartTable)
    light: LightTable = field(default_factory=LightTable)
    road_styles: tuple[RoadTable, ...] = ()
    random: RandomTable | None = None


def read_track(path: Path, look: str = "") -> TrackFile:
    """Return the track of a file; of one that is only a path, the track that `make_bare_track` makes of it.

    Args:
        look: One of its `[looks]`; empty: as the file is without them.

    Raises:
        SceneError: The file cannot be read, is not TOML, or breaks the format, or has no such look.
    """
    with locate_errors(path):
        if path.suffix.lower() != ".toml":
            choose_look({}, look)
            return make_bare_track(path)
        table = read_toml(path)
        version = table.get("format")
        if version != FORMAT:
            given = "says nothing" if version is None else f"says {version!r}"
            raise SceneError(f"format {given}; this program reads 'format = {FORMAT}'.", "format")
        _refuse_endless(table)
        track = read_dataclass(TrackFile, choose_look(table, look), f"{path}, look {look!r}" if look else path)
        if track.name != path.stem:
            text = f"name is {track.name!r}, but clients find the track as {path.stem!r}; call file and track the same."
            raise SceneError(text, "name")
    return _find_beside(track, path.parent)


@contextmanager
def locate_errors(path: Path) -> Iterator[None]:
    """Put a track's file, and the line of the key, before what is said about one of its keys.

    Raises:
        SceneError: Something was refused.
    """
    try:
        yield
    except SpecError as error:
        text = str(error) if error.key is None else f"{locate_key(path, error.key)}: {error}"
        raise SceneError(text) from error


def _find_beside(track: TrackFile, folder: Path) -> TrackFile:
    """Return a track with the files that it names as seen from here, not from its own."""

    def find(file: str) -> str:
        return file and str(folder / Path(file).expanduser())

    def find_picture(name: str) -> str:
        return find(name) if is_picture_file(name) else name

    props = tuple(replace(table, model=find(table.model)) for table in track.props)
    panels = tuple(replace(table, picture=find_picture(table.picture)) for table in track.panels)
    patches = tuple(replace(patch, picture=find_picture(patch.picture)) for patch in track.ground.patches)
    path, ground = replace(track.path, file=find(track.path.file)), replace(track.ground, patches=patches)
    light = replace(track.light, sky=find_picture(track.light.sky))
    return replace(track, path=path, props=props, panels=panels, ground=ground, light=light)


def choose_look(table: dict[str, Any], look: str) -> dict[str, Any]:
    """Return the tables of a file without its looks, those of one look laid over them.

    Args:
        look: Name of a look; empty: none.

    Raises:
        SceneError: There is no such look, or it changes what no look may.
    """
    looks = table.get("looks", {})
    if not isinstance(looks, dict) or not all(isinstance(one, dict) for one in looks.values()):
        raise SceneError(f"looks are tables with names: [looks.{look or 'NAME'}].", "looks")
    plain = {key: value for key, value in table.items() if key != "looks"}
    for name, over in looks.items():
        for key in NO_LOOK.intersection(over):
            text = f"a look changes what is seen of a track, not its {key}; leave it out."
            raise SceneError(text, f"looks.{name}.{key}")
    if look and look not in looks:
        raise SceneError(describe_unknown("look", look, looks) if looks else f"it has no looks, so no {look!r}.", "")
    return _lay_over(plain, looks[look]) if look else plain


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
    driven; a model, and a path that a small car recorded, stay as they are. A road without widths is 1 m wide.

    Raises:
        SceneError: The path cannot be read.
    """
    from donkeysim.world.tracks.paths.path_file import is_full_size, read_raw_path

    kind, raw = path.suffix.lower(), read_raw_path(path, "")
    table = PathTable(
        file=str(path),
        closed=raw.is_closed is not False,
        scale=0.1 if kind == ".csv" and is_full_size(raw) else 1.0,
        length=30.0 if kind == ".svg" else 0.0,
        smooth=0.8 if kind == ".svg" else 0.0,
    )
    edges = tuple(Marking(0.03, 0.03, (232, 232, 226), edge=side) for side in ("left", "right"))
    width = 0.5 if raw.width is None else 0.0
    road = RoadTable(width, width, markings=edges)
    return TrackFile(FORMAT, path.stem, table, road, start=StartTable(lines=(0.3,)))


def _refuse_endless(value: object, key: str = "") -> None:
    """Refuse nan and infinity, which TOML allows, anywhere in a table."""
    if isinstance(value, dict):
        for name, inner in value.items():
            _refuse_endless(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_endless(inner, f"{key}[{index}]")
    elif isinstance(value, float) and not abs(value) < LARGEST:
        raise SceneError(f"{key} is {value:g}; numbers lie between -{LARGEST:g} and {LARGEST:g}.", key)
