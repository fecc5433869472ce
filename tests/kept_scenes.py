"""Scenes of the package's own tracks, built once in a run of the tests, whichever workers want them."""

import functools
import hashlib
import io
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

SCENES_KEPT = 6
"""Of those that were built last, in a worker's memory: many tests begin on the same one."""

ROOM = 4 << 30
"""What the disk must have free, else scenes are kept in memory alone [bytes]; all of them take about a third of it."""

LARGE = 1 << 16
"""An array of so many bytes lies in a file of its own, which all scenes that hold it share, as those of cars."""

_arrays: WeakValueDictionary[str, np.ndarray] = WeakValueDictionary()
"""Those in use by their file: what is worked out of an array is remembered for that very array."""


def keep_scenes(build: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    """Return a `build_scene` that lets tests share scenes, which never change.

    Args:
        build: The one that builds.
        folder: Where scenes of this run are kept.
    """

    @functools.lru_cache(SCENES_KEPT)
    @functools.wraps(build)
    def build_scene(track: Any, *challenges: Any) -> Any:
        if any(given != type(given)() for given in challenges) or not is_packaged(track.name):
            return build(track, *challenges)  # one test's own
        file = folder / hashlib.sha1(repr(track).encode()).hexdigest()
        if not file.exists():
            scene = build(track, *challenges)
            if shutil.disk_usage(folder).free > ROOM:
                write_whole(file, lambda stream: ScenePickler(stream, folder).dump(scene))
            return scene
        with file.open("rb") as stream:
            return SceneUnpickler(stream, folder).load()

    return build_scene


def is_packaged(name: str) -> bool:
    from donkeysim.world.tracks import list_scenes

    return name in list_scenes()


def write_whole(file: Path, write: Callable[[Any], None]) -> None:
    """Write a file that others see when it is finished, unless another worker has written the same meanwhile."""
    draft = file.with_suffix(f".{os.getpid()}")
    with draft.open("wb") as stream:
        write(stream)
    try:
        draft.replace(file)
    except PermissionError:  # Windows, where that one is read
        draft.unlink()


class ScenePickler(pickle.Pickler):
    """Writes a scene without its large arrays, which it writes beside it."""

    def __init__(self, stream: io.BufferedIOBase, folder: Path) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._folder = folder

    def persistent_id(self, thing: Any) -> str | None:
        if not isinstance(thing, np.ndarray) or thing.nbytes < LARGE or not thing.flags.c_contiguous:
            return None
        name = hashlib.sha1(repr((thing.dtype, thing.shape)).encode())
        name.update(thing)
        file = self._folder / f"{name.hexdigest()}.npy"
        if not file.exists():
            write_whole(file, lambda stream: np.save(stream, thing))
        _arrays.setdefault(file.name, thing)
        return file.name


class SceneUnpickler(pickle.Unpickler):
    """Reads a scene whose large arrays are mapped into memory."""

    def __init__(self, stream: io.BufferedIOBase, folder: Path) -> None:
        super().__init__(stream)
        self._folder = folder

    def persistent_load(self, name: Any) -> np.ndarray:
        array = _arrays.get(name)
        if array is None:
            array = _arrays[name] = np.load(self._folder / name, mmap_mode="c").view(np.ndarray)
        return array
