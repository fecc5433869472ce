"""Which tracks there are, by name or by file. Light to import: the builder is loaded with the first scene."""

from __future__ import annotations

import dataclasses
import functools
import glob
import logging
import os
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.core.config import read_toml
from donkeysim.core.errors import SceneError, SpecError, describe_unknown, nearest_name
from donkeysim.core.files import Stamp, read_stamp
from donkeysim.world.specs import CarSpec, RoadSpec, SceneSpec
from donkeysim.world.tracks.tables.path import PATH_SUFFIXES
from donkeysim.world.tracks.track_file import list_looks, locate_errors, read_track

if TYPE_CHECKING:
    from donkeysim.world.scene import Scene

ORIGINAL_SCENES = (
    "generated_road",
    "warehouse",
    "sparkfun_avc",
    "generated_track",
    "roboracingleague_1",
    "waveshare",
    "mini_monaco",
    "warren",
    "circuit_launch",
    "mountain_track",
    "thunderhill",
)
"""The places of the original, in the order of its menu; all others are of our own design, or somebody's."""

TRACK_SUFFIXES = (".toml", *PATH_SUFFIXES)
"""Files that are a track: our own format, and those that a path is read from, with usual values for all else."""

TRACKS_KNOWN = 1000
"""Files of tracks of which this process remembers whether menus show them."""

FORMER_LAYOUTS = ("roboracingleague_2021", "generated_road_2020", "generated_track_2020")
"""Places as the original, or we, had them before; no menu shows them, and they are found by their names."""

_log = logging.getLogger(__name__)

VARIABLE = "DONKEYSIM_TRACKS"
"""Environment variable: further folders with track files, with the system's separator of paths between them."""

_TRACKS = Path(__file__).parent

_shared: weakref.WeakValueDictionary[tuple[SceneSpec, int], Scene] = weakref.WeakValueDictionary()
"""Scenes that somebody in this process holds, by what was asked for and when the track's file was changed."""


def list_scenes(folders: Sequence[str] = (), when_broken: Callable[[SpecError], None] | None = None) -> tuple[str, ...]:
    """Return the names that a menu shows: the original's in its order, which some programs
    count on, then all others by alphabet.

    Broken track files are left out.

    Args:
        folders: Further folders with track files, before those of `DONKEYSIM_TRACKS`.
        when_broken: Called for each file that is left out; its error names it.

    Raises:
        SceneError: A folder does not exist.
    """
    names = set()
    for name, path in find_tracks(folders).items():
        try:
            if _is_listed(path, read_stamp(path)):
                names.add(name)
        except SpecError as error:
            if when_broken is not None and is_meant_as_track(path):
                when_broken(error)
    first = [name for name in ORIGINAL_SCENES if name in names]
    return (*first, *sorted(names.difference(first)))


def is_meant_as_track(path: Path) -> bool:
    """Return whether a file is of a track, a broken one too: not of a camera, a car or ranges that lies beside it."""
    from donkeysim.world.camera_file import CameraFile
    from donkeysim.world.randomization import RandomizationSpec

    try:
        keys = read_toml(path).keys() - {"format"} if path.suffix.lower() == ".toml" else set()
    except SpecError:
        return True
    others = ({each.name for each in dataclasses.fields(kind)} for kind in (CameraFile, CarSpec, RandomizationSpec))
    return not keys or not any(keys <= other for other in others)


@functools.cache
def _list_package() -> frozenset[str]:
    return frozenset(path.stem for path in _TRACKS.glob("*.toml"))


def group_scenes(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return names in their order by whose design the places are: "yours", "original", "ours"; no empty groups."""
    groups: dict[str, list[str]] = {"yours": [], "original": [], "ours": []}
    for name in names:
        kind = "original" if name in ORIGINAL_SCENES else "ours" if name in _list_package() else "yours"
        groups[kind].append(name)
    return {kind: tuple(found) for kind, found in groups.items() if found}


@functools.lru_cache(maxsize=TRACKS_KNOWN)
def _is_listed(path: Path, stamp: Stamp | None) -> bool:  # noqa: ARG001  (what is remembered is of this stamp)
    """Return whether a menu shows a track; its file is read once for each of its stamps, as a program asks often."""
    return read_track(path).listed


def load_scene(spec: SceneSpec) -> Scene:
    """Build a scene by its name or from a file.

    Args:
        spec: A scene's name, or the path of a file in `TRACK_SUFFIXES`, folders to look in, which of its roads,
            what is added, and how it looks.

    Raises:
        SceneError: There is no such scene or look, its file is broken, or its road is not a generated one.
    """
    from donkeysim.world.tracks.builder import build_scene
    from donkeysim.world.tracks.challenges import vary_track

    path = find_track(spec)
    with locate_errors(path):
        return build_scene(vary_track(read_track(path, spec.look), spec), spec.challenges)


def share_scene(spec: SceneSpec) -> Scene:
    """Return what `load_scene` does, or the same that somebody holds already: scenes never change.

    A batch to learn in and one to check in then build their tracks once.
    """
    key = spec, find_track(spec).stat().st_mtime_ns
    scene = _shared.get(key)
    if scene is None:
        scene = _shared[key] = load_scene(spec)
    return scene


def find_road(spec: SceneSpec) -> RoadSpec | None:
    """Return which of its roads a scene has; None: its road is not a generated one.

    Raises:
        SceneError: There is no such scene, or its file is broken.
    """
    from donkeysim.world.tracks.challenges import describe_road

    return spec.road or describe_road(read_track(find_track(spec)))


def specify_scene(wanted: SceneSpec) -> SceneSpec:
    """Return the spec of a scene, of several that may be chosen and of which all the same is wanted.

    The road counts only where roads are generated, and the look only where the track's file offers it.

    Raises:
        SceneError: There is no such scene, or its file is broken.
    """
    plain = dataclasses.replace(wanted, road=None, look="")
    return dataclasses.replace(
        wanted,
        road=wanted.road if wanted.road and find_road(plain) else None,
        look=wanted.look if wanted.look and wanted.look in list_looks(find_track(plain)) else "",
    )


def is_track_file(name: str) -> bool:
    """Return whether a scene's name is the path of a file."""
    return name.lower().endswith(TRACK_SUFFIXES)


def shorten_scene_name(name: str) -> str:
    """Return what a scene is called to others: of a track file only its stem, not the folders of this machine."""
    return Path(name).stem if is_track_file(name) else name


def find_track(spec: SceneSpec) -> Path:
    """Return the file of a scene.

    Raises:
        SceneError: There is none.
    """
    if is_track_file(spec.name):
        path = Path(spec.name).expanduser()
        if path.is_file():
            return path
        beside = [item.name for item in path.parent.glob("*") if is_track_file(item.name)] if path.name else []
        near = nearest_name(path.name, beside)
        hint = f"did you mean {str(path.with_name(near))!r}?" if near else "give the path of an existing one."
        raise SceneError(f"there is no track file {spec.name!r}; {hint}")
    tracks = find_tracks(spec.folders)
    if spec.name not in tracks:
        raise SceneError(describe_unknown("scene", spec.name, tracks))
    return tracks[spec.name]


def find_tracks(folders: Sequence[str] = ()) -> dict[str, Path]:
    """Return all track files by name (the file's stem): the package's, those of `DONKEYSIM_TRACKS`, those of `folders`.

    Of two of one name the one in the folder named first wins; folders given win over the variable's, and all over the
    package's.

    Raises:
        SceneError: A folder does not exist.
    """
    return {path.stem: path for path in sorted(_TRACKS.glob("*.toml"))} | find_own_tracks(folders)


def find_own_tracks(folders: Sequence[str] = ()) -> dict[str, Path]:
    """Return the track files of folders, and of those that the variable `DONKEYSIM_TRACKS` names.

    Raises:
        SceneError: A folder does not exist.
    """
    tracks: dict[str, Path] = {}
    shared = [(name, f" of {VARIABLE}") for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    for name, where in reversed([*((name, "") for name in folders), *shared]):
        folder = Path(name).expanduser()
        if not folder.is_dir():
            raise SceneError(f"there is no folder {name!r}{where} to look for tracks in; give an existing one.")
        tracks.update({path.stem: path for path in sorted(folder.glob("*.toml"))})
    return tracks


def share_folders(folders: Sequence[str]) -> None:
    """Let this process, and those it starts, find the tracks of these folders before any others; log what they hide.

    Raises:
        SceneError: A folder does not exist.
    """
    for name, path in find_own_tracks(folders).items():
        if (_TRACKS / path.name).exists():
            _log.warning("%s is driven instead of the built-in %s; call it otherwise if you want both.", path, name)
    known = [os.path.abspath(Path(name).expanduser()) for name in folders]
    os.environ[VARIABLE] = os.pathsep.join([*known, *filter(None, [os.environ.get(VARIABLE)])])


def expand_tracks(names: Sequence[str]) -> list[str]:
    """Return names of tracks, with those of a folder, or that fit a pattern, in its place.

    Raises:
        SceneError: A folder has no tracks.
    """
    found: list[str] = []
    for name in names:
        if name in find_tracks() or not Path(name).expanduser().is_dir():
            fitting = sorted(glob.glob(str(Path(name).expanduser()))) if glob.has_magic(name) else []
            found += fitting or [name]
            continue
        own = [str(path) for path in sorted(Path(name).expanduser().glob("*.toml"))]
        if not own:
            raise SceneError(
                f"the folder {name!r} has no track, that is, no .toml file; `donkey tracks new` writes one."
            )
        found += own
    return found
