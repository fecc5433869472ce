"""Places on a path, for cars that shall begin there."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.core.frames import Vector, yaw_to_quaternion
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import Path


def find_place(path: Path, along: float) -> tuple[Vector, float]:
    """Return a point of a path [m] and the direction of the path there [rad].

    Args:
        path: Whose nodes are at the height of a standing car's origin.
        along: Length from node 0 [m]: modulo the length of a closed path, else cut to its ends.
    """
    node = np.concatenate([path.position, path.position[: 1 if path.closed else 0]])
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(node[:, :2], axis=0).T))])
    along = along % length[-1] if path.closed else min(max(along, 0.0), float(length[-1]))
    row = min(int(np.searchsorted(length, along, side="right")) - 1, len(node) - 2)
    step = node[row + 1] - node[row]
    share = (along - length[row]) / (length[row + 1] - length[row])
    x, y, z = (node[row] + share * step).tolist()
    return (x, y, z), math.atan2(step[1], step[0])


def find_along(path: Path, x: float, y: float) -> float:
    """Return the length of a path from its node 0 to the point nearest to (x, y) [m]."""
    node = path.position[[*range(len(path.position)), 0]] if path.closed else path.position
    step = np.diff(node[:, :2], axis=0)
    length = np.hypot(*step.T)
    away = np.array([x, y]) - node[:-1, :2]
    share = np.clip((away * step).sum(axis=1) / length**2, 0.0, 1.0)
    nearest = int(np.argmin(np.hypot(*(away - share[:, None] * step).T)))
    return float(length[:nearest].sum() + share[nearest] * length[nearest])


def place_on_path(simulator: Simulator, car: int, along: float, offset: float, yaw: float) -> None:
    """Put a car somewhere on its scene's path, at rest, its brake released.

    Args:
        simulator: Whose car it is.
        car: Row of the car.
        along: Length of the path from node 0 [m], as for `find_place`.
        offset: From the path, + = left of it [m].
        yaw: Against the direction of the path, + = left [rad].
    """
    (x, y, z), direction = find_place(simulator.get_scene(car).path, along)
    position = (x - offset * math.sin(direction), y + offset * math.cos(direction), z)
    simulator.place_car(car, position, yaw_to_quaternion(direction + yaw))
    simulator.control.brake[car] = 0.0
