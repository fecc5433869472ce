"""With what something was simulated: only with the very same is it the same again, bit for bit."""

from __future__ import annotations

import dataclasses
import operator
import platform
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import llvmlite.binding
import numba
import numpy as np

from donkeysim import __version__
from donkeysim.core.kernel import CACHE_FOLDER
from donkeysim.world.scene import Scene
from donkeysim.world.tracks.former_places import rename_place

_SOLID = operator.attrgetter("path", "ground", "colliders", "props", "start")
"""What cars of a scene drive on, run into and are measured against."""

_TRACK = "track "
"""What stands before a track's name."""


def describe_origin(scenes: Sequence[Scene]) -> dict[str, str]:
    """Return versions, machine and checksums of the tracks, by name."""
    return {
        "donkeysim": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "Numba": numba.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "processor": str(llvmlite.binding.get_host_cpu_name()),
        "kernels": CACHE_FOLDER.name,
        **{f"{_TRACK}{scene.name}": f"{_sum_up(_SOLID(scene)):08x}" for scene in scenes},
    }


def rename_origin(origin: Mapping[str, str]) -> dict[str, str]:
    """Return what an older file says of its origin, with the names that its tracks have now."""
    return {
        _TRACK + rename_place(name.removeprefix(_TRACK), replayed=True) if name.startswith(_TRACK) else name: value
        for name, value in origin.items()
    }


def list_differences(there: Mapping[str, str], here: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is not the same, in words."""
    names = dict.fromkeys((*there, *here))
    return tuple(
        f"{name} {there.get(name, 'none')} then, {here.get(name, 'none')} now"
        for name in names
        if there.get(name) != here.get(name)
    )


def _sum_up(value: Any, checksum: int = 0) -> int:
    """Return a checksum of all numbers in nested dataclasses and tuples.

    Fields at their defaults do not count: one that scenes have got since a log was written changes no checksum of it.
    """
    if dataclasses.is_dataclass(value):
        parts = [(field, getattr(value, field.name)) for field in dataclasses.fields(value)]
        value = tuple(part for field, part in parts if part is not field.default)
    if isinstance(value, tuple):
        for part in value:
            checksum = _sum_up(part, checksum)
        return checksum
    return zlib.crc32(np.ascontiguousarray(value).tobytes(), checksum)
