"""The nearest other cars as numbers: what a driver without a camera must know in a race."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.envs.step import Step

RIVAL_COUNT = 3
"""How many of the others are told, the nearest first."""

RIVAL_LIMIT = 5.0
"""Numbers are cut to within ± this."""

RIVAL_SCALE = 3.0
"""Distance [m] and speed [m/s] that are told as 1."""


class Rivals:
    """For each of the nearest others: 1 (0: there is none), where it is and how it moves as seen from the car.

    Ahead and to the left, both over `RIVAL_SCALE`: place, then velocity less the own one.

    Attributes:
        space: Of one car's numbers.
        buffers: Two sets for all cars, shape [car_count, RIVAL_COUNT * 5] each.
    """

    def __init__(self, car_count: int, cars_per_world: int) -> None:
        """Make the buffers."""
        self._cars_per_world = cars_per_world
        width = 5 * RIVAL_COUNT
        self.buffers: list[NDArray[Any]] = list(np.zeros((2, car_count, width), np.float32))
        self.space: gymnasium.spaces.Box[Any] = gymnasium.spaces.Box(-RIVAL_LIMIT, RIVAL_LIMIT, (width,), np.float32)

    def read(self, parity: int, step: Step, cars: Sequence[int] | None) -> NDArray[Any]:
        """Return the numbers of all cars in buffer 0 or 1; `cars`: only their rows must be new."""
        rows: Any = slice(None) if cars is None else list(cars)
        self.buffers[parity][rows] = self._tell(step)[rows]
        return self.buffers[parity]

    def give_away(self, parity: int) -> None:
        """Take another array for buffer 0 or 1."""
        self.buffers[parity] = np.zeros_like(self.buffers[parity])

    def _tell(self, step: Step) -> NDArray[Any]:
        count = self._cars_per_world
        place, speed = (array[:, :2].reshape(-1, count, 2) for array in (step.position, step.velocity))
        away, moving = (array[:, None] - array[:, :, None] for array in (place, speed))  # [world, car, other, 2]
        is_other: BoolArray = (step.present.reshape(-1, 1, count) != 0) & ~np.eye(count, dtype=bool)
        distance: FloatArray = np.where(is_other, np.hypot(away[..., 0], away[..., 1]), np.inf)
        nearest = np.argsort(distance, axis=2, kind="stable")[:, :, :RIVAL_COUNT]
        is_there = np.isfinite(np.take_along_axis(distance, nearest, 2))
        told = np.zeros((*distance.shape[:2], RIVAL_COUNT, 5))
        found = told[:, :, : nearest.shape[2]]
        for first, vector in ((1, away), (3, moving)):
            near = np.take_along_axis(vector, nearest[..., None], 2)
            found[..., first : first + 2] = _turn(near, step) / RIVAL_SCALE
        found[..., 0] = 1.0
        found[~is_there] = 0.0
        return np.clip(told, -RIVAL_LIMIT, RIVAL_LIMIT).reshape(len(step.present), -1)


def _turn(vector: FloatArray, step: Step) -> FloatArray:
    """Return vectors of the world's plane ahead and to the left of each car, shape [world, car, other, 2]."""
    yaw = step.yaw.reshape(*vector.shape[:2], 1)
    cosine, sine = np.cos(yaw), np.sin(yaw)
    return np.stack(
        [vector[..., 0] * cosine + vector[..., 1] * sine, vector[..., 1] * cosine - vector[..., 0] * sine], axis=-1
    )
