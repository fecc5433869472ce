"""Draws what differs from car to car and from reset to reset, and puts it where it acts.

A car's values are a function of its world's key, its slot and how often it was reset. So nothing has to be noted when a
moment is restored or a world gets another seed: before time passes and before something is drawn, `refresh` finds the
cars whose values are not the ones that they should have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.rng import draw_uniforms, hash_rows
from donkeysim.core.types import Float32Array, FloatArray, IntArray, LongArray
from donkeysim.physics.engine import PhysicsEngine
from donkeysim.render.camera import Renderer
from donkeysim.render.camera_group import CameraGroup
from donkeysim.sim.delay_line import list_under_way, make_lines
from donkeysim.sim.look import has_looks, make_lights, make_looks
from donkeysim.world.randomization import RandomizationSpec, list_knobs
from donkeysim.world.state import Control, State

STREAM = 1 << 22
"""First of the streams of random numbers that values are drawn from."""

NOISE_STREAM, PATTERN_STREAM = STREAM + (1 << 12) + 2, STREAM + (1 << 12) + 3


class Randomizer:
    """Values of all cars, and what they act on.

    Attributes:
        knobs: What is drawn.
        values: Of each car, shape [car_count, knob_count].
        actions: Commands on their way; None when they are never late.
        pictures: Moments that pictures are made of; None when they are never late.
    """

    def __init__(
        self,
        spec: RandomizationSpec,
        physics: PhysicsEngine,
        renderer: Renderer,
        props_per_world: int,
    ) -> None:
        self.knobs = list_knobs(spec)
        self._physics, self._renderer = physics, renderer
        self._cars_per_world = renderer.cars_per_world
        car_count = renderer.world_count * renderer.cars_per_world
        self.values: FloatArray = np.zeros((car_count, len(self.knobs)))
        self._drawn_key: LongArray = np.zeros(car_count, np.int64)
        self._drawn_count: LongArray = np.full(car_count, -1, np.int64)
        self._base = physics.car_params.packed.copy()
        self._written = self._base.copy()
        self._variation = renderer.open_variation(with_looks=has_looks(spec))
        self._light: Float32Array = self._variation.light.copy()
        self._variation.has_effects = any((spec.picture.blur, spec.picture.exposure, spec.picture.noise))
        self._variation.has_files = spec.picture.jpeg_quality is not None
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
        key = np.repeat(world_key, self._cars_per_world)
        stale = (key != self._drawn_key) | (state.reset_count != self._drawn_count)
        rows: LongArray = np.flatnonzero(stale & (state.present != 0))
        if len(rows):
            self._draw(rows, key[rows], state.reset_count[rows])

    def _draw(self, rows: LongArray, key: LongArray, reset_count: IntArray) -> None:
        slot = rows % self._cars_per_world
        self._drawn_key[rows], self._drawn_count[rows] = key, reset_count
        for column, knob in enumerate(self.knobs):
            value = knob.low + draw_uniforms(key, slot, reset_count, STREAM + knob.stream) * (knob.high - knob.low)
            self.values[rows, column] = np.rint(value) if knob.name == "picture.jpeg_quality" else value
        values = {knob.name: self.values[rows, column] for column, knob in enumerate(self.knobs)}
        cars = {name.partition(".")[2]: value for name, value in values.items() if name.startswith("car.")}
        self._physics.car_params.vary(rows, self._base, **cars)
        self._written[rows] = self._physics.car_params.packed[rows]
        self._show_so(rows, values, hash_rows(key, slot, reset_count, PATTERN_STREAM) & 0xFFFFFF)

    def describe(self, car: int, state: State, world_key: LongArray) -> dict[str, float]:
        """Return a car's values by name; the other arguments are those of `refresh`."""
        self.refresh(state, world_key)
        return {knob.name: float(self.values[car, column]) for column, knob in enumerate(self.knobs)}

    def describe_all(self, state: State, world_key: LongArray) -> dict[str, FloatArray]:
        """Return the values of all cars by name, shape [car_count] each; the arguments are those of `refresh`."""
        self.refresh(state, world_key)
        return {knob.name: self.values[:, column].copy() for column, knob in enumerate(self.knobs)}

    def _show_so(self, cars: LongArray, values: Mapping[str, FloatArray], pattern: LongArray) -> None:
        rows, nothing = self._variation, np.zeros(len(cars))

        def read(name: str) -> FloatArray:
            return values.get(name, nothing)

        rows.light[cars] = make_lights(self._light[cars], values)
        if rows.look.shape[1]:
            rows.look[cars] = make_looks(self._light[cars], rows.light[cars], values, pattern)
        mount = [read(f"camera.{axis}") for axis in ("x", "y", "z", "roll", "pitch", "yaw")]
        rows.mount[cars] = np.stack(mount, axis=1)
        rows.lens[cars] = np.stack([read("camera.fov"), read("camera.distortion")], axis=1)
        # The renderer takes sRGB for a square root of light.
        gain = np.array([math.sqrt(2.0**stops) for stops in read("picture.exposure").tolist()])
        rows.effect[cars] = np.stack([read("picture.blur"), gain, read("picture.noise")], axis=1)
        rows.quality[cars] = read("picture.jpeg_quality").astype(np.int64)
        rows.version += 1

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
        world, slot = np.divmod(cars, self._cars_per_world)
        if self._variation.has_effects:
            numbers = hash_rows(world_key[world], slot, state.step_index[world], NOISE_STREAM)
            self._variation.number[cars] = numbers & 0xFFFFFFFF
        if self.pictures is None or not len(cars):
            yield group, state
            return
        delays = self._read_delays("picture")
        if self._cars_per_world == 1:
            yield group, self.pictures.show(state, cars, world_key, delays)
            return
        for row in range(len(cars)):
            yield group.select(row), self.pictures.show(state, cars[row : row + 1], world_key, delays)

    def _read_delays(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return delay and greatest further delay of all cars [s]."""
        return self._read_all(f"delay.{name}"), self._read_all(f"delay.{name}_jitter")

    def _read_all(self, name: str) -> FloatArray:
        found = [column for column, knob in enumerate(self.knobs) if knob.name == name]
        return self.values[:, found[0]] if found else np.zeros(len(self.values))


def make_randomizer(
    spec: RandomizationSpec, physics: PhysicsEngine, renderer: Renderer, props_per_world: int
) -> Randomizer | None:
    """Return what draws, None when nothing is drawn; call it before any camera group is made."""
    return Randomizer(spec, physics, renderer, props_per_world) if spec.is_on else None
