"""Readings of all cars on their paths at once, in our units and frames: what tasks judge and drivers may be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from donkeysim.core.kernel import RepeatedCall
from donkeysim.core.types import FloatArray, IntArray, LongArray
from donkeysim.sim.kernels import readings as kernels
from donkeysim.world.scene import Path, Scene
from donkeysim.world.state import State


class Readings(NamedTuple):
    """How each car stands on its path; world frame z up, shape [car_count] unless said."""

    forward_speed: FloatArray
    """Along the nose, negative backwards [m/s]."""
    left_speed: FloatArray
    """Sideways, + = to the left [m/s]."""
    yaw_rate: FloatArray
    """+ = turning left [rad/s]."""
    offset: FloatArray
    """From the path, + = left of it [m]."""
    heading_error: FloatArray
    """Yaw less the direction of the path, + = pointing left of it, -π to π [rad]."""
    along: FloatArray
    """Length of the path from its node 0 to the nearest point, below `path_length` [m]."""
    path_length: FloatArray
    """Once around, or from end to end [m]."""
    width_left: FloatArray
    """From the path to the road's left edge [m]."""
    width_right: FloatArray
    """From the path to the road's right edge [m]."""
    upright: FloatArray
    """Cosine of the tilt: 1 = level, below 0 = on its roof."""
    ahead: FloatArray
    """Points of the path ahead in the car's level frame, x forward, y left [m], shape [car_count, point_count, 2]."""


class PathReader:
    """Reads the cars of one simulator against their scenes' paths.

    Attributes:
        table: What was read last, a row per car and a column per kind of reading, for kernels.
    """

    def __init__(
        self, scenes: Sequence[Scene], world_scene: IntArray, cars_per_world: int, distances: Sequence[float] = ()
    ) -> None:
        """Build the tables.

        Args:
            scenes: Places.
            world_scene: Index into `scenes` for each world, shape [world_count].
            cars_per_world: Slots for cars in each world.
            distances: How far ahead `Readings.ahead` looks, rising, 0 or more [m].
        """
        self._index, self._node, self._width = _make_tables([scene.path for scene in scenes])
        self._world_scene = world_scene
        self._cars_per_world = cars_per_world
        self._distances: FloatArray = np.array(distances, np.float64)
        car_count = len(world_scene) * cars_per_world
        self.table: FloatArray = np.zeros((car_count, kernels.READING_COUNT))
        self._ahead: FloatArray = np.zeros((car_count, len(distances), 2))
        self._read_cars = RepeatedCall(kernels.read_cars)
        self._readings = Readings._make((*self.table.T, self._ahead))

    def read(self, state: State) -> Readings:
        """Return the cars' readings; the arrays are the reader's own and valid until the next call."""
        self._read_cars(
            (state,),
            0,
            len(self.table),
            state,
            self._world_scene,
            self._cars_per_world,
            self._index,
            self._node,
            self._width,
            self._distances,
            self.table,
            self._ahead,
        )
        return self._readings


def _make_tables(paths: Sequence[Path]) -> tuple[LongArray, FloatArray, FloatArray]:
    """Return first row, node count and closed per path, x, y and length per node, and the widths."""
    index = np.zeros((len(paths), 3), np.int64)
    nodes, widths, first = [], [], 0
    for row, path in enumerate(paths):
        index[row] = (first, len(path.position), path.closed)
        point = path.position[[*range(len(path.position)), 0 if path.closed else -1], :2]
        nodes.append(np.column_stack([point, np.append(path.frame.node_length, path.frame.length)]))
        widths.append(np.column_stack([path.width_left, path.width_right])[[*range(len(path.position)), -1]])
        first += len(path.position) + 1
    return index, np.concatenate(nodes), np.concatenate(widths)
