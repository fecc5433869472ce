"""Draws what differs from car to car and from reset to reset, and puts it where it acts.

A car's values are a function of its world's key, its slot and how often it was reset. So nothing has to be noted when a
moment is restored or a world gets another seed: before time passes and before something is drawn, `refresh` finds the
cars whose values are not the ones that they should have.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.device import IndexKernel, is_here
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.physics.vehicle import pack_car
from donkeysim.render.camera import Renderer
from donkeysim.render.camera_group import CameraGroup
from donkeysim.render.kernels.vary import note_picture, vary_looks
from donkeysim.sim.delay_line import list_under_way, make_lines
from donkeysim.sim.kernels.reset import vary_params
from donkeysim.world.kernels.draw import Drawn, draw_values, make_drawn, make_knobs
from donkeysim.world.randomization import RandomizationSpec, find_column, list_knobs
from donkeysim.world.state import Control, State

CAR_BLOCK = 64
"""Cars that a thread draws for at once; most have nothing to draw."""


class Randomizer:
    """Values of all cars, and what they act on.

    Attributes:
        spec: What differs.
        knobs: What is drawn.
        drawn: Values of all cars, arrays of their device.
        looks: What follows from them for cameras, likewise: scenes, lights, and the rows of `variation`.
        moment: What the noise of each car's next picture begins with, and the car's yaw rate [rad/s], likewise.
        actions: Commands on their way; None when they are never late.
        pictures: Moments that pictures are made of; None when they are never late.
    """

    def __init__(self, spec: RandomizationSpec, physics: PhysicsEngine, renderer: Renderer) -> None:
        self.spec, self.knobs = spec, list_knobs(spec)
        self._device, self._physics, self._renderer = physics.device, physics, renderer
        layout, device = physics.layout, physics.device
        self._is_here, self._cars_per_world = is_here(device), layout.cars_per_world
        self._table, self._base = device.upload((make_knobs(self.knobs), pack_car(layout.car)))
        self.drawn: Drawn = device.upload(make_drawn(layout.car_count))
        self._written = device.download(physics.car_params.packed).copy()
        self._variation = renderer.open_variation(spec)
        self.looks: Any = device.upload((*renderer.scene_lights, self._variation.rows))
        self.moment: Any = device.upload((self._variation.number, self._variation.turn))
        rooms = (layout.world_count, layout.cars_per_world, layout.props_per_world)
        self.actions, self.pictures = make_lines(spec.delay, *rooms)

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
        drawn, slots = self.drawn, self._cars_per_world
        if self._is_here:
            stale = (np.repeat(world_key, slots) != drawn.key) | (state.reset_count != drawn.reset)
            if not (stale & (state.present != 0)).any():
                return
        self._run(draw_values, slots, state.present, state.reset_count, world_key, self._table, drawn)
        self._run(vary_params, self._base, drawn, self._physics.car_params.packed)
        *lights, rows = self.looks
        self._run(vary_looks, slots, *lights, drawn, rows)
        if self._is_here:
            fresh = np.flatnonzero(drawn.fresh)
            self._written[fresh] = self._physics.car_params.packed[fresh]
        self._variation.version += 1

    def _run(self, function: IndexKernel, *arguments: Any) -> None:
        self._device.run(function, len(self.drawn.key), *arguments, block=CAR_BLOCK)

    def describe(self, car: int, state: State, world_key: LongArray) -> dict[str, float]:
        """Return a car's values by name; the other arguments are those of `refresh`."""
        self.refresh(state, world_key)
        return {knob.name: float(self.drawn.value[car, knob.stream]) for knob in self.knobs}

    def name_columns(self, value: Any) -> dict[str, Any]:
        """Return columns of `drawn.value`, or of a copy of it, by name, arrays of shape [car_count]."""
        return {knob.name: value[:, knob.stream] for knob in self.knobs}

    def find_lateness(self) -> FloatArray:
        """Return how long after they were given commands are done [s], on average, shape [car_count]; on a CPU only."""
        delay, jitter = self._read_delays("action")
        return delay + 0.5 * jitter

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
            self._run(
                note_picture, self._cars_per_world, world_key, state.step_index, state.angular_velocity, *self.moment
            )
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
        value = self.drawn.value
        return value[:, find_column(f"delay.{name}")], value[:, find_column(f"delay.{name}_jitter")]


def make_randomizer(spec: RandomizationSpec, physics: PhysicsEngine, renderer: Renderer) -> Randomizer | None:
    """Return what draws, None when nothing is drawn; call it before any camera group is made."""
    return Randomizer(spec, physics, renderer) if spec.is_on else None
