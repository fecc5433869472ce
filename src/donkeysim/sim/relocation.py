"""How a running simulator goes on in another place: what it takes over, and what its cars take along."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from donkeysim.core.errors import CapacityError, SpecError
from donkeysim.world.scene import Scene
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.state import HIT_NONE, State

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

OF_A_PLACE = ("spec", "scenes", "scene", "world_scene", "workers", "physics", "renderer", "_lidar", "_randomizer")
"""Attributes of a simulator that come from its place."""


def place_spec(spec: WorldSpec, scene: SceneSpec) -> WorldSpec:
    """Return the spec of the same experiment in another place.

    Raises:
        SpecError: Its worlds are on several places.
    """
    if spec.more_scenes:
        raise SpecError("worlds on several places cannot move to another one; make a simulator of one place.")
    return dataclasses.replace(spec, scene=scene)


def relocate(simulator: Simulator, other: Simulator) -> None:
    """Let a simulator go on in the place of another one, which has no cars and is of no use afterwards.

    Raises:
        CapacityError: The other place's grid is too small for our cars; nothing has changed then.
    """
    cars, room = simulator.list_cars(), len(other.scene.start.position)
    _, car_counts = np.unique([car // simulator.spec.cars_per_world for car in cars], return_counts=True)
    if car_counts.max(initial=0) > room:
        raise CapacityError(f"the start grid of {other.scene.name} has {room} places for {car_counts.max()} cars.")
    if not simulator.has_drawn_params():  # else they are drawn anew there
        other.physics.car_params.packed[:] = simulator.physics.car_params.packed
    simulator.workers.close()
    simulator.state = _carry_state(simulator.state, other.state)
    for name in OF_A_PLACE:
        setattr(simulator, name, getattr(other, name))
    for world in range(simulator.spec.world_count):
        simulator.physics.place_props(simulator.state, world)
    for index, car in enumerate(cars):
        world = car // simulator.spec.cars_per_world
        before = [row for row in cars[:index] if row // simulator.spec.cars_per_world == world]
        give_slot(simulator.state, car, simulator.get_scene(car), before)
        simulator.renderer.set_body(car, simulator.get_body(car))
        simulator.reset_car(car)


def give_slot(state: State, car: int, scene: Scene, others: Sequence[int]) -> None:
    """Let a reset put a car on the first place of a scene's grid that is none of some others'.

    Raises:
        CapacityError: They have all places.
    """
    taken = state.spawn_position[list(others)]
    for slot, position in enumerate(scene.start.position):
        if not len(taken) or np.linalg.norm(taken - position, axis=1).min() > 0.125:
            yaw = scene.start.yaw[slot]
            state.spawn_position[car] = position
            state.spawn_orientation[car] = (np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2))
            return
    raise CapacityError(
        f"the start grid of {scene.name} has {len(scene.start.position)} places and all are taken; "
        "wait until a car leaves."
    )


def _carry_state(old: State, new: State) -> State:
    """Return the state of the cars for a place whose props may be more or fewer: the old arrays if they are as many.

    What cars touch is forgotten: its codes are those of the old place.
    """
    old.touching[:] = HIT_NONE
    if len(old.prop_asleep) == len(new.prop_asleep):
        return old
    for name in State._fields:
        if not name.startswith("prop_"):
            np.copyto(getattr(new, name), getattr(old, name))
    return new
