"""How much memory a batch takes, and what is kept in it: what is made of scenes, for as long as they live.

Simulators of the same scene, as in a batch of environments each with one of its own, and drivers there share this work.
"""

import ctypes
import functools
import mmap
import os
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from donkeysim.core.types import WordArray

M = TypeVar("M")


@dataclass(frozen=True)
class MemoryUse:
    """Bytes in a device's memory.

    Attributes:
        scenes: Tables of the places, once for all worlds.
        worlds: What changes, parameters and rows of the ledger, of all worlds.
        scratch: Working memory of physics and pictures.
        pictures: What is seen.
        world_count: Worlds.
    """

    scenes: int
    worlds: int
    scratch: int
    pictures: int
    world_count: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.scenes + self.worlds + self.scratch + self.pictures

    @property
    def per_world(self) -> float:
        """What each further world takes on a GPU, where working memory too is each world's own."""
        return (self.worlds + self.scratch + self.pictures) / self.world_count


def count_bytes(value: Any) -> int:
    """Return how many bytes the arrays in tuples, lists and dicts have, each counted once."""
    return sum(_find_arrays(value, {}).values())


def _find_arrays(value: Any, found: dict[int, int]) -> dict[int, int]:
    if hasattr(value, "nbytes"):
        found[id(value)] = int(value.nbytes)
    elif isinstance(value, dict):
        for part in value.values():
            _find_arrays(part, found)
    elif isinstance(value, (tuple, list)):
        for part in value:
            _find_arrays(part, found)
    return found


def give_back() -> None:
    """Return memory that nobody uses to the system, where the C library keeps it until asked, as Linux' does."""
    trim = _find_trim()
    if trim is not None:
        trim(0)


@functools.cache
def _find_trim() -> Callable[[int], int] | None:
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


def leave_library(name: str) -> None:
    """Take the code of a library, all of it read from its file, out of this process until it is needed again.

    Args:
        name: What its file is called, as "libllvmlite": of the compiler's 50 MB nothing runs once kernels are loaded.
    """
    if sys.platform != "linux":
        return
    advise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if name in line and " r-xp " in line:
            first, end = (int(number, 16) for number in line.split()[0].split("-"))
            advise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), mmap.MADV_DONTNEED)


def remember(known: dict[int, M], thing: object, make: Callable[[], M]) -> M:
    """Return what is made of a thing, made once for as long as the thing lives; two threads may both make it.

    Args:
        known: What has been made of such things, by their `id`.
        thing: Nobody may change it any more; a weak reference to it must be possible.
        make: Returns what is kept, which must not hold the thing itself.
    """
    key = id(thing)
    if key not in known:
        made = make()
        weakref.finalize(thing, known.pop, key, None)
        known[key] = made
    return known[key]


class SharedPages:
    """Numbers with which many arrays begin; each owns what it changes, and shares all other memory.

    Attributes:
        count: How many there are; those behind them are 0 and take no memory.
    """

    def __init__(self, content: WordArray, room: int) -> None:
        self.count = len(content)
        self._file = os.memfd_create("donkeysim")
        weakref.finalize(self, os.close, self._file)
        os.ftruncate(self._file, room * content.itemsize)
        np.frombuffer(mmap.mmap(self._file, 0), np.uint32)[: self.count] = content

    def open(self) -> WordArray:
        """Return one more array."""
        return np.frombuffer(mmap.mmap(self._file, 0, access=mmap.ACCESS_COPY), np.uint32)


def share_pages(content: WordArray, room: int) -> SharedPages | None:
    """Return a copy to begin arrays of `room` numbers with; None: the system has no memory that can be shared so."""
    try:
        return SharedPages(content, room)
    except (AttributeError, OSError):  # Linux alone has files without a name
        return None
