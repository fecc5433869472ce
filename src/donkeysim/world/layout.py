"""How a batch is laid out: which worlds are where, and how many rows each has in arrays of cars and props."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from donkeysim.core.types import IntArray
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec


class Layout(NamedTuple):
    """Worlds of a simulator; car row = world * cars_per_world + slot, and likewise for movable props."""

    scenes: Sequence[Scene]
    """Places."""
    world_scene: IntArray
    """Index into `scenes` of each world, shape [world_count]."""
    car: CarSpec
    """Every car's preset."""
    world_count: int
    cars_per_world: int
    """Slots for cars in each world."""
    props_per_world: int
    """Slots for movable props in each world."""

    @property
    def car_count(self) -> int:
        """Slots for cars in all worlds."""
        return self.world_count * self.cars_per_world
