"""Draws what differs from car to car and from episode to episode on a device, and puts it where it acts."""

from __future__ import annotations

from typing import Any

from donkeysim.core.device import Device
from donkeysim.physics.kernels.vary import vary_params
from donkeysim.physics.vehicle import pack_car
from donkeysim.world.drawing import Drawn, make_drawn, make_knobs
from donkeysim.world.kernels.draw import draw_values
from donkeysim.world.layout import Layout
from donkeysim.world.randomization import RandomizationSpec, list_knobs
from donkeysim.world.state import State

CAR_BLOCK = 64
"""Cars that a thread of this machine looks at at once; most have nothing to draw."""


class BatchRandomizer:
    """Values of all cars of a batch.

    Attributes:
        spec: What differs.
        knobs: What is drawn.
        drawn: Values of all cars, arrays of the device.
    """

    def __init__(self, spec: RandomizationSpec, layout: Layout, device: Device, param: Any) -> None:
        """Make the arrays; nothing is drawn yet.

        Args:
            spec: What differs.
            layout: Of the worlds.
            device: Where.
            param: Of all cars; written.
        """
        self.spec, self.knobs = spec, list_knobs(spec)
        self._device, self._count, self._slots = device, layout.car_count, layout.cars_per_world
        self._table, self._base = device.upload(make_knobs(self.knobs)), device.upload(pack_car(layout.car))
        self.drawn: Drawn = device.upload(make_drawn(layout.car_count))
        self._param = param

    def refresh(self, state: State, world_key: Any) -> None:
        """Draw anew for cars whose worlds have another key, or that have been reset since.

        Args:
            state: Who is there, and how often each was reset.
            world_key: Of each world's random numbers.
        """
        cars = (self._slots, state.present, state.reset_count, world_key)
        self._device.run(draw_values, self._count, *cars, self._table, self.drawn, block=CAR_BLOCK)
        self._device.run(vary_params, self._count, self._base, self.drawn, self._param, block=CAR_BLOCK)

    def describe(self, value: Any) -> dict[str, Any]:
        """Return values of all cars by name, arrays of shape [car_count], views of `drawn.value` or a copy of it."""
        return {knob.name: value[:, knob.stream] for knob in self.knobs}
