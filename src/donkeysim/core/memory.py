"""How much memory a batch takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
