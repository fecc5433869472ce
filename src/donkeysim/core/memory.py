"""How much memory a batch takes, and what is kept in it: what is made of scenes, for as long as they live.

Simulators of the same scene, as in a batch of environments each with one of its own, and drivers there share this work.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

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
