"""How a batch is laid out: which worlds are where, and how many rows each has in arrays of cars and props."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from donkeysim.core.types import IntArray
from donkeysim.world.camera_file import load_camera
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec, WorldSpec, load_car


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


def make_layout(spec: WorldSpec, scenes: Sequence[Scene]) -> Layout:
    """Return the layout of an experiment: worlds take turns on the scenes.

    Args:
        spec: How many worlds and cars, and which car.
        scenes: Those of `spec.scenes`, built.

    Raises:
        SpecError: There is no such car or camera.
    """
    world_scene = (np.arange(spec.world_count) % len(scenes)).astype(np.int32)
    props_per_world = max(len(scene.props.mass) for scene in scenes)
    return Layout(scenes, world_scene, find_car(spec), spec.world_count, spec.cars_per_world, props_per_world)


def find_car(spec: WorldSpec) -> CarSpec:
    """Return the car of an experiment, with its camera.

    Raises:
        SpecError: There is no such car or camera.
    """
    if spec.car_spec is not None:
        return spec.car_spec
    car = load_car(spec.car)
    return replace(car, camera=load_camera(spec.camera, car.camera)) if spec.camera else car


def hold_car(spec: WorldSpec, car: CarSpec) -> WorldSpec:
    """Return a spec that contains its car where a file says what it is: that may be elsewhere later, or another one."""
    is_own = any(name.endswith(".toml") for name in (spec.car, spec.camera))
    return replace(spec, car_spec=car) if is_own else spec
