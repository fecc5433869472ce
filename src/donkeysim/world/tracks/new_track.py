"""Writes a track file to begin with: commented, complete, and ready to be driven on; or a random place as a file."""

import dataclasses
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from donkeysim.core.errors import SceneError
from donkeysim.core.files import write_whole
from donkeysim.world.specs import RoadSpec
from donkeysim.world.tracks.catalogue import find_own_tracks, find_tracks
from donkeysim.world.tracks.paths.path_file import is_full_size, read_raw_path
from donkeysim.world.tracks.paths.raw_path import RawPath
from donkeysim.world.tracks.random_place import draw_place
from donkeysim.world.tracks.tables.path import PATH_SUFFIXES, PathTable
from donkeysim.world.tracks.tables.road import RoadTable
from donkeysim.world.tracks.track_check import build_line
from donkeysim.world.tracks.track_file import TrackFile, locate_errors, read_track

# A metre in all, five cars wide.
WIDTH_USUAL = 0.5
"""From the path to either edge, where nothing says it [m]."""

ROAD_WANTED = 0.9
"""Width that a full-size circuit's road is scaled to, about [m]."""

# The largest model comes first; smaller ones keep the road at about four cars' width where a circuit is wider.
SCALES = (1.0 / 8.0, 1.0 / 10.0, 1.0 / 12.0, 1.0 / 15.0, 1.0 / 20.0)
"""Of full-size circuits."""

LENGTH_DRAWN = 30.0
"""Of a path whose units mean nothing [m]."""

# From nothing up in steps that are seen; the tightest turn of the car has 0.7 m.
SMOOTH_TRIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0, 3.0)
"""Radii of rounded corners that are tried until a car can drive the path [m]."""

_TEMPLATES = Path(__file__).parent / "templates"

_SCRIPT_WIDTH = """width_left = 0.5          # from the path to the road's edges
width_right = 0.5
"""


def write_new_track(name: str, folder: Path, path_file: Path | None = None, element: str = "") -> Path:
    """Write a track file that loads at once, and return where.

    Args:
        folder: Where to; made if there is none.
        path_file: Of a kind in `PATH_SUFFIXES`: its path becomes the track's; a copy is laid beside the track.
        element: Which of several paths of the file.

    Raises:
        SceneError: The name or the file is not possible, or something of that name is there already.
    """
    target = _find_free(name, folder)
    if path_file is None:
        path, width, cones = (_TEMPLATES / "path.toml").read_text(encoding="utf-8"), _SCRIPT_WIDTH, 0.85
    else:
        path, width, cones = _adapt(path_file, element)
    template = (_TEMPLATES / "new.toml").read_text(encoding="utf-8")
    text = template.format(name=name, path=path, width=width, cones=cones)
    if path_file is not None and not (folder / path_file.name).exists():
        write_whole(folder / path_file.name, path_file.read_bytes(), SceneError)
    write_whole(target, text.encode(), SceneError)
    return target


def write_random_track(name: str, folder: Path, seed: int) -> Path:
    """Write the place that `random_place` is with a seed as a track file of its own, and return where.

    Args:
        folder: Where to; made if there is none.
        seed: From 0.

    Raises:
        SceneError: The name is not possible, or something of that name is there already.
    """
    target = _find_free(name, folder)
    ranges = read_track(Path(__file__).parent / "random_place.toml")
    assert ranges.random is not None
    place = replace(draw_place(ranges, ranges.random, RoadSpec(seed=seed)), name=name, listed=True, random=None)
    text = f"# What random_place is with the seed {seed}; change what you like.\n" + "\n".join(_list_lines(place))
    write_whole(target, f"{text}\n".encode(), SceneError)
    return target


def _find_free(name: str, folder: Path) -> Path:
    """Return where a track's file will lie."""
    refuse_track_name(name)
    target = folder / f"{name}.toml"
    if target.exists():
        raise SceneError(f"{target} exists already; take another name, or move it away.")
    return target


def _list_lines(track: TrackFile) -> Iterator[str]:
    """Yield the lines of a track's file: what differs from what holds where nothing is said."""
    said = _list_said(track)
    yield from (f"{key} = {_write(value)}" for key, value in said.items() if not _is_table(value))
    for key, value in said.items():
        tables = value if isinstance(value, tuple) else (value,)
        for table in tables if _is_table(value) else ():
            yield f"\n[[{key}]]" if isinstance(value, tuple) else f"\n[{key}]"
            yield from (f"{name} = {_write(part)}" for name, part in _list_said(table).items())


def _is_table(value: Any) -> bool:
    return dataclasses.is_dataclass(value[0] if isinstance(value, tuple) and value else value)


def _list_said(table: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are not as they are by default."""
    said = {}
    for field in dataclasses.fields(table):
        value, make = getattr(table, field.name), field.default_factory
        if value != (field.default if make is dataclasses.MISSING else make()):
            said[field.name] = value
    return said


def _write(value: Any) -> str:
    """Return a value as TOML writes it."""
    if dataclasses.is_dataclass(value):
        return f"{{ {', '.join(f'{name} = {_write(part)}' for name, part in _list_said(value).items())} }}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_write, value))}]"
    return json.dumps(value, ensure_ascii=False)  # texts, whole and other numbers, and what is true are the same there


def refuse_track_name(name: str) -> None:
    """Refuse a name that no new track may have.

    Raises:
        SceneError: It is not possible, or a built-in place has it.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
        raise SceneError(f"a track cannot be called {name!r}; take letters, digits, _ and -, for example my_track.")
    if name.lower() in find_tracks() and name.lower() not in find_own_tracks():
        raise SceneError(f"{name} is a built-in place, which a track of that name would hide; take another name.")


def _adapt(path_file: Path, element: str) -> tuple[str, str, float]:
    """Return the text of [path] and of the road's width for a file, and where cones may stand beside the road."""
    if path_file.suffix.lower() not in PATH_SUFFIXES or not path_file.is_file():
        raise SceneError(f"there is no file {str(path_file)!r} of a path; give one of {', '.join(PATH_SUFFIXES)}.")
    raw = read_raw_path(path_file, element)
    scale, length = _choose_scale(path_file, raw)
    closed = raw.is_closed is not False
    table = PathTable(file=str(path_file), element=element, scale=scale, length=length, closed=closed)
    smooth = _choose_smooth(table, raw, path_file)
    lines = [f'file = "{path_file.name}"', f"closed = {str(closed).lower()}"]
    lines += [f'element = "{element}"'] if element else []
    size = f"length = {length:g}  # of the whole path" if length else f"scale = {scale:.4g}  # metres per unit"
    lines.append(size)
    lines += [f"smooth = {smooth:g}  # radius that corners are rounded to"] if smooth else []
    head = "[path]  # the line that cars follow, from a file beside this one\n"
    reach = WIDTH_USUAL if raw.width is None else float(raw.width[:, 0].max()) * scale
    own = "# The file says how wide the road is; width_left and width_right would override it.\n"
    width = own if raw.width is not None else f"width_left = {WIDTH_USUAL}\nwidth_right = {WIDTH_USUAL}\n"
    return head + "\n".join(lines) + "\n", width, round(reach + 0.15, 2)


def _choose_scale(path_file: Path, raw: RawPath) -> tuple[float, float]:
    """Return metres per unit of the file, or (1, the wanted length)."""
    kind = path_file.suffix.lower()
    if kind == ".svg":
        return 1.0, LENGTH_DRAWN
    if kind != ".csv" or not is_full_size(raw):
        return 1.0, 0.0
    if raw.width is None:
        return 0.1, 0.0
    wide = float(raw.width.sum(axis=1).mean())
    return min(SCALES, key=lambda scale: abs(scale * wide - ROAD_WANTED)), 0.0


def _choose_smooth(table: PathTable, raw: RawPath, path_file: Path) -> float:
    """Return the least rounding with which no turn is too tight.

    Raises:
        SceneError: None is enough.
    """
    road = RoadTable() if raw.width is not None else RoadTable(WIDTH_USUAL, WIDTH_USUAL)
    for smooth in SMOOTH_TRIES:
        tried = TrackFile(1, path_file.stem, replace(table, smooth=smooth), road)
        try:
            with locate_errors(path_file):
                build_line(tried)
        except SceneError:
            if smooth == SMOOTH_TRIES[-1]:
                raise
        else:
            break
    return smooth
