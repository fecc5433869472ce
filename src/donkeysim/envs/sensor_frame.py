"""What a car senses at one moment, wherever its simulator runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.world.telemetry import LidarPoint, Telemetry


@dataclass(frozen=True)
class SensorFrame:
    """Everything that belongs together, of one simulated instant.

    Attributes:
        telemetry: The readings.
        image: First camera, shape [height, width, 1 or 3]; nobody writes into it any more.
        image_b: Second camera, shape [height, width, 3]; None when it is off.
        lidar: Returned rays; None when the lidar is off.
        lap_times: Since the last reset, oldest first [s].
        drawn: What was drawn for the car, by name; see `world.randomization`.
        is_disqualified: Whether a server has said so since the last reset.
    """

    telemetry: Telemetry
    image: ByteArray
    image_b: ByteArray | None = None
    lidar: Sequence[LidarPoint] | None = None
    lap_times: tuple[float, ...] = ()
    drawn: Mapping[str, float] = field(default_factory=dict)
    is_disqualified: bool = False


def make_distances(points: Sequence[LidarPoint] | None, lidar: Mapping[str, float]) -> FloatArray:
    """Return a scan as one distance per ray [U], level after level, -1 where nothing came back.

    Args:
        points: The returned rays.
        lidar: As `EnvConf.lidar`; empty gives no rays.
    """
    if not lidar:
        return np.zeros(0)
    increment, delta = lidar["deg_per_sweep_inc"] or 2.0, lidar["deg_ang_delta"] or -1.0
    ray_count, level_count = int(360.0 / increment + 1e-9), max(1, int(lidar["num_sweeps_levels"]))
    distances: FloatArray = np.full(ray_count * level_count, -1.0)
    for point in points or ():
        level, ray = round(abs(point.ry / delta)), round(abs(point.rx / increment))
        if level < level_count and ray < ray_count:
            distances[level * ray_count + ray] = point.d
    return distances
