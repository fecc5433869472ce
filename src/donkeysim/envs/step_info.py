"""What `info` tells of every car of our own environments: written by `kernels.numbers.tell_car`, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.device import Cpu, Device
from donkeysim.envs.kernels.numbers import Told, tell_car
from donkeysim.envs.step import Step
from donkeysim.sim.simulator import Simulator

_TYPES: dict[str, Any] = {"on_road": bool, "hit": bool, "laps": np.int32}
"""Of what is told, where it is no float64."""

CAR_BLOCK = 256
"""Cars that a thread of this machine takes at once."""


def make_told(device: Device, count: int) -> Told:
    """Return arrays for what is told of so many cars."""
    shapes = {"position": (count, 3)}
    return Told(*(device.zeros(shapes.get(name, (count,)), _TYPES.get(name, np.float64)) for name in Told._fields))


def write_told(device: Device, ledger: Any, told: Told) -> None:
    """Write what is told of all cars by their rows of the ledger."""
    device.run(tell_car, told.offset.shape[0], ledger, told, block=CAR_BLOCK)


class StepInfo:
    """Tells of the cars of a simulator on this machine: metres, m/s, seconds, + = left."""

    def __init__(self, simulator: Simulator) -> None:
        self._rows, self._device = simulator.rows, Cpu(simulator.workers)
        self._told = make_told(self._device, simulator.car_count)

    def describe(self, step: Step) -> dict[str, NDArray[Any]]:
        """Return what is told of a step, arrays of shape [car_count, ...] that nobody writes any more."""
        del step  # its columns are those of the ledger
        write_told(self._device, self._rows, self._told)
        return {name: array.copy() for name, array in self._told._asdict().items()}
