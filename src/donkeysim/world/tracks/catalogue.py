"""Which tracks there are, by name or by file. Light to import: the builder is loaded with the first scene."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.core.errors import SceneError, SpecError, describe_unknown

if TYPE_CHECKING:
    from donkeysim.world.scene import Scene
    from donkeysim.world.specs import SceneSpec

FIRST_SCENES = ("generated_road", "warehouse", "sparkfun_avc", "generated_track")
"""Scenes that menus show first, where they exist."""

_TRACKS = Path(__file__).parent


def list_scenes(folders: Sequence[str] = (), when_broken: Callable[[SpecError], None] | None = None) -> tuple[str, ...]:
    """Return the names that a menu shows: `FIRST_SCENES` first, then by alphabet; broken track files are left out.

    Args:
        folders: Further folders with track files.
        when_broken: Called for each file that is left out; its error names it.

    Raises:
        SceneError: A folder does not exist.
    """
    from donkeysim.world.tracks.track_file import read_track

    names = set()
    for name, path in find_tracks(folders).items():
        try:
            track = read_track(path)
        except SpecError as error:
            if when_broken is not None:
                when_broken(error)
            continue
        if track.listed:
            names.add(name)
    first = [name for name in FIRST_SCENES if name in names]
    return (*first, *sorted(names.difference(first)))


def load_scene(spec: SceneSpec) -> Scene:
    """Build a scene by its name or from a track file.

    Args:
        spec: A scene's name, or the path of a `.toml` file, folders to look in, and which of its roads.

    Raises:
        SceneError: There is no such scene, its file is broken, or its road is not a generated one.
    """
    from donkeysim.world.tracks.builder import build_scene
    from donkeysim.world.tracks.track_file import read_track
    from donkeysim.world.tracks.variation import vary_track

    path = find_track(spec)
    return build_scene(vary_track(read_track(path), spec), path)


def shorten_scene_name(name: str) -> str:
    """Return what others are told of a scene: of a track file only its stem, not the folders of this machine."""
    return Path(name).stem if name.endswith(".toml") else name


def find_track(spec: SceneSpec) -> Path:
    """Return the file of a scene.

    Raises:
        SceneError: There is none.
    """
    if spec.name.endswith(".toml"):
        path = Path(spec.name).expanduser()
        if not path.is_file():
            raise SceneError(
                f"there is no track file {spec.name!r}; give the path of an existing .toml file or a scene's name."
            )
        return path
    tracks = find_tracks(spec.folders)
    if spec.name not in tracks:
        raise SceneError(describe_unknown("scene", spec.name, tracks))
    return tracks[spec.name]


def find_tracks(folders: Sequence[str] = ()) -> dict[str, Path]:
    """Return all track files by name (the file's stem); own folders win over the package's.

    Raises:
        SceneError: A folder does not exist.
    """
    tracks = {path.stem: path for path in sorted(_TRACKS.glob("*.toml"))}
    for name in folders:
        folder = Path(name).expanduser()
        if not folder.is_dir():
            raise SceneError(f"there is no folder {name!r} to look for tracks in; give an existing one.")
        tracks.update({path.stem: path for path in sorted(folder.glob("*.toml"))})
    return tracks
