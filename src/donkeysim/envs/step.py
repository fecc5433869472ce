"""What happened to every car in one step of a batch: the arrays that rewards and ends judge; the rivals of each."""

from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.world.ledger import Ledger
from donkeysim.world.scene import Path

RIVAL_COUNT = 3
"""How many of the others are observed, the nearest first."""

RIVAL_WIDTH = 5
"""Numbers about each."""

RIVAL_LIMIT = 5.0
"""Numbers are cut to within ± this."""

RIVAL_SCALE = 3.0
"""Distance [m] and speed [m/s] that are observed as 1."""


@dataclass(frozen=True)
class Step(Ledger):
    """One step of all cars: their rows of the ledger, and what only episodes know. Valid until the next step.

    An episode begins where its car was put, so `driven`, `furthest` and `time` count from there; `hit` is of this step.
    """

    previous_steer: FloatArray
    """Asked for in the step before."""
    previous_throttle: FloatArray
    """Asked for in the step before."""
    ended: BoolArray
    """Which episodes this step ends by one of the task's rules; all False while the rules are asked."""
    paths: tuple[Path, ...]
    """The path that each car is measured against."""
    props: tuple[FloatArray, ...]
    """Where the movable things in each car's world are [m, world frame], shape [prop_count, 3] each."""
    duration: float
    """Of a step [s]."""


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
    rivals = np.zeros((*distance.shape[:2], RIVAL_COUNT, RIVAL_WIDTH))
    found = rivals[:, :, : nearest.shape[2]]
    for first, vector in ((1, away), (3, moving)):
        near = np.take_along_axis(vector, nearest[..., None], 2)
        found[..., first : first + 2] = _turn(near, step) / RIVAL_SCALE
    found[..., 0] = 1.0
    found[~is_there] = 0.0
    numbers: FloatArray = np.clip(rivals, -RIVAL_LIMIT, RIVAL_LIMIT).reshape(len(step.present), -1)
    return numbers


def _turn(vector: FloatArray, step: Step) -> FloatArray:
    """Return vectors of the world's plane ahead and to the left of each car, shape [world, car, other, 2]."""
    yaw = step.yaw.reshape(*vector.shape[:2], 1)
    cosine, sine = np.cos(yaw), np.sin(yaw)
    return np.stack(
        [vector[..., 0] * cosine + vector[..., 1] * sine, vector[..., 1] * cosine - vector[..., 0] * sine], axis=-1
    )
