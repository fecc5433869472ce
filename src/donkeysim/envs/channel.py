"""Observations that are numbers, in two sets of arrays by turns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from donkeysim.envs.step import Step

Rows: TypeAlias = slice | list[int]
"""A slice of all cars, or some."""


class Numbers:
    """One kind of observation of all cars.

    Attributes:
        space: Of one car's numbers.
        buffers: Two sets for all cars, shape [car_count, width] each.
    """

    def __init__(self, low: float, high: float, car_count: int, width: int) -> None:
        """Make the buffers."""
        self.space: gymnasium.spaces.Box[Any] = gymnasium.spaces.Box(low, high, (width,), np.float32)
        self.buffers: list[NDArray[Any]] = list(np.zeros((2, car_count, width), np.float32))

    @abstractmethod
    def tell(self, step: Step, rows: Rows) -> NDArray[Any]:
        """Return the numbers of these cars, shape [row_count, width]."""

    def read(self, parity: int, step: Step, cars: Sequence[int] | None) -> NDArray[Any]:
        """Return the numbers of all cars in buffer 0 or 1; `cars`: only their rows must be new."""
        rows: Rows = slice(None) if cars is None else list(cars)
        if rows:
            self.buffers[parity][rows] = self.tell(step, rows)
        return self.buffers[parity]
