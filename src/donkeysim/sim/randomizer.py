"""Draws what differs from car to car and from reset to reset, and puts it where it acts.

A car's values are a function of its world's key, its slot and how often it was reset. So nothing has to be noted when a
moment is restored or a world gets another seed: before time passes and before something is drawn, `refresh` finds the
cars whose values are not the ones that they should have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.device import Device, IndexKernel
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.physics.kernels.vary import vary_params
from donkeysim.render.camera import Renderer
from donkeysim.render.camera_group import CameraGroup
from donkeysim.render.kernels.vary import number_picture, vary_looks
from donkeysim.sim.delay_line import list_under_way, make_lines
from donkeysim.world.drawing import make_drawn, make_knobs
from donkeysim.world.kernels.draw import draw_values
from donkeysim.world.randomization import RandomizationSpec, find_column, list_knobs
from donkeysim.world.state import Control, State

CAR_BLOCK = 64
"""Cars that a thread draws for at once; most have nothing to draw."""


class Randomizer:
    """Values of all cars, and what they act on.

    Attributes:
        knobs: What is drawn.
        actions: Commands on their way; None when they are never late.
        pictures: Moments that pictures are made of; None when they are never late.
    """

    def __init__(
        self,
        spec: RandomizationSpec,
        device: Device,
        physics: PhysicsEngine,
        renderer: Renderer,
        props_per_world: int,
    ) -> None:
        self.knobs = list_knobs(spec)
        self._device, self._physics, self._renderer = device, physics, renderer
        self._cars_per_world = renderer.cars_per_world
        self._table = make_knobs(self.knobs)
        self._drawn = make_drawn(renderer.world_count * renderer.cars_per_world)
        self._base: FloatArray = physics.car_params.packed[0].copy()
        self._written = physics.car_params.packed.copy()
        self._variation = renderer.open_variation(spec)
        layout = (renderer.world_count, renderer.cars_per_world, props_per_world)
        self.actions, self.pictures = make_lines(spec.delay, *layout)

    def list_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what is under way, by name; the drawn values themselves follow from the rest of a moment."""
        return list_under_way(self.actions, self.pictures)

    # -- drawing ------------------------------------------------------------------------------------------------------

    def refresh(self, state: State, world_key: LongArray) -> None:
        """Draw anew for cars of another key, or that have been reset since.

        Args:
            state: Who is there, and how often each was reset.
            world_key: Of each world's random numbers.
        """
        drawn, slots = self._drawn, self._cars_per_world
        stale = (np.repeat(world_key, slots) != drawn.key) | (state.reset_count != drawn.reset)
        if not (stale & (state.present != 0)).any():
            return
        self._run(draw_values, slots, state.present, state.reset_count, world_key, self._table, drawn)
        self._run(vary_params, self._base, drawn, self._physics.car_params.packed)
        self._run(vary_looks, slots, *self._renderer.scene_lights, drawn, self._variation.rows)
        rows = np.flatnonzero(drawn.fresh)
        self._written[rows] = self._physics.car_params.packed[rows]
        self._variation.version += 1

    def _run(self, function: IndexKernel, *arguments: Any) -> None:
        self._device.run(function, len(self._drawn.key), *arguments, block=CAR_BLOCK)

    def describe(self, car: int, state: State, world_key: LongArray) -> dict[str, float]:
        """Return a car's values by name; the other arguments are those of `refresh`."""
        self.refresh(state, world_key)
        return {knob.name: float(self._drawn.value[car, knob.stream]) for knob in self.knobs}

    def describe_all(self, state: State, world_key: LongArray) -> dict[str, FloatArray]:
        """Return the values of all cars by name, shape [car_count] each; the arguments are those of `refresh`."""
        self.refresh(state, world_key)
        return {knob.name: self._drawn.value[:, knob.stream].copy() for knob in self.knobs}

    def has_own_params(self) -> bool:
        """Return whether the cars' parameters are as they were drawn."""
        return np.array_equal(self._physics.car_params.packed, self._written)

    # -- where it acts ------------------------------------------------------------------------------------------------

    def forget(self, rows: LongArray, state: State, control: Control) -> None:
        """Drop what is on its way to or from cars that have been put somewhere."""
        if self.actions is not None:
            self.actions.forget(rows, control)
        if self.pictures is not None:
            self.pictures.forget(rows, state)

    def step(self, state: State, control: Control, world_key: LongArray, step_count: int) -> None:
        """Let time pass."""
        self.refresh(state, world_key)
        if self.actions is None or step_count < 1:
            self._physics.step(state, control, step_count)
        else:
            self.actions.send(control, state.step_index, world_key, self._read_delays("action"))
            self.actions.step(self._physics, state, step_count)
        if self.pictures is not None:
            self.pictures.note(state)

    def look_through(
        self, group: CameraGroup, state: State, world_key: LongArray
    ) -> Iterator[tuple[CameraGroup, State]]:
        """Yield the cameras of a group, each as its car's values are, and what they see, valid until the next ones."""
        self.refresh(state, world_key)
        cars: LongArray = group.frame.car.astype(np.int64)
        if self._variation.has_effects:
            self._run(number_picture, self._cars_per_world, world_key, state.step_index, self._variation.number)
        if self.pictures is None or not len(cars):
            yield group, state
            return
        delays = self._read_delays("picture")
        if self._cars_per_world == 1:
            yield group, self.pictures.show(state, cars, world_key, delays)
            return
        self._renderer.vary_group(group)
        for row in range(len(cars)):
            yield group.select(row), self.pictures.show(state, cars[row : row + 1], world_key, delays)

    def _read_delays(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return delay and greatest further delay of all cars [s]."""
        value = self._drawn.value
        return value[:, find_column(f"delay.{name}")], value[:, find_column(f"delay.{name}_jitter")]


def make_randomizer(
    spec: RandomizationSpec, device: Device, physics: PhysicsEngine, renderer: Renderer, props_per_world: int
) -> Randomizer | None:
    """Return what draws, None when nothing is drawn; call it before any camera group is made."""
    return Randomizer(spec, device, physics, renderer, props_per_world) if spec.is_on else None
