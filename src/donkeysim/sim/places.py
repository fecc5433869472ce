"""Where the worlds of a simulator are, and the keys of their random numbers."""

from __future__ import annotations

from donkeysim.core.rng import hash_words
from donkeysim.world.scene import Scene
from donkeysim.world.specs import WorldSpec
from donkeysim.world.tracks import load_scene

_WORD = 0x7FFFFFFFFFFFFFFF
"""The bits of a world key."""


def load_places(spec: WorldSpec) -> tuple[Scene, ...]:
    """Return the places of the worlds; one that is named twice is built once."""
    built = {place: load_scene(place) for place in dict.fromkeys(spec.scenes)}
    return tuple(built[place] for place in spec.scenes)


def make_world_key(seed: int, world: int) -> int:
    """Return what all random numbers of a world are functions of."""
    return int(hash_words(seed & _WORD, world, 0, 0)) & _WORD
