"""The nearest other cars as numbers: what a driver without a camera must know in a race."""

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.envs.step import Step

RIVAL_COUNT = 3
"""How many of the others are told, the nearest first."""

RIVAL_WIDTH = 5
"""Numbers about each."""

RIVAL_LIMIT = 5.0
"""Numbers are cut to within ± this."""

RIVAL_SCALE = 3.0
"""Distance [m] and speed [m/s] that are told as 1."""


def find_rivals(step: Step, cars_per_world: int) -> FloatArray:
    """Return for each of the nearest others: 1 (0: there is none), where it is and how it moves as seen from the car.

    Ahead and to the left, both over `RIVAL_SCALE`: place, then velocity less the own one.

    Returns:
        Numbers of all cars, shape [car_count, RIVAL_COUNT * RIVAL_WIDTH].
    """
    count = cars_per_world
    place, speed = (array[:, :2].reshape(-1, count, 2) for array in (step.position, step.velocity))
    away, moving = (array[:, None] - array[:, :, None] for array in (place, speed))  # [world, car, other, 2]
    is_other: BoolArray = (step.present.reshape(-1, 1, count) != 0) & ~np.eye(count, dtype=bool)
    distance: FloatArray = np.where(is_other, np.hypot(away[..., 0], away[..., 1]), np.inf)
    nearest = np.argsort(distance, axis=2, kind="stable")[:, :, :RIVAL_COUNT]
    is_there = np.isfinite(np.take_along_axis(distance, nearest, 2))
    told = np.zeros((*distance.shape[:2], RIVAL_COUNT, RIVAL_WIDTH))
    found = told[:, :, : nearest.shape[2]]
    for first, vector in ((1, away), (3, moving)):
        near = np.take_along_axis(vector, nearest[..., None], 2)
        found[..., first : first + 2] = _turn(near, step) / RIVAL_SCALE
    found[..., 0] = 1.0
    found[~is_there] = 0.0
    numbers: FloatArray = np.clip(told, -RIVAL_LIMIT, RIVAL_LIMIT).reshape(len(step.present), -1)
    return numbers


def _turn(vector: FloatArray, step: Step) -> FloatArray:
    """Return vectors of the world's plane ahead and to the left of each car, shape [world, car, other, 2]."""
    yaw = step.yaw.reshape(*vector.shape[:2], 1)
    cosine, sine = np.cos(yaw), np.sin(yaw)
    return np.stack(
        [vector[..., 0] * cosine + vector[..., 1] * sine, vector[..., 1] * cosine - vector[..., 0] * sine], axis=-1
    )
