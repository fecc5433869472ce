"""What a car senses at one moment, wherever its simulator runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.world.specs import LidarSpec
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
        touched: What `telemetry.hit` names, in our own words, where the simulator is in this process; else as there.
        is_disqualified: Whether a server has said so since the last reset.
    """

    telemetry: Telemetry
    image: ByteArray
    image_b: ByteArray | None = None
    lidar: Sequence[LidarPoint] | None = None
    lap_times: tuple[float, ...] = ()
    drawn: Mapping[str, float] = field(default_factory=dict)
    is_disqualified: bool = False
    touched: str = "none"


def make_distances(points: Sequence[LidarPoint] | None, lidar: LidarSpec | None) -> FloatArray:
    """Return a scan as one distance per ray [U], level after level, -1 where nothing came back.

    Args:
        lidar: As `EnvConf.lidar`; None gives no rays.
    """
    if lidar is None:
        return np.zeros(0)
    increment, delta = math.degrees(lidar.sweep_increment), math.degrees(lidar.angle_delta)
    distances: FloatArray = np.full(lidar.ray_count * lidar.level_count, -1.0)
    for point in points or ():
        level, ray = round(abs(point.ry / delta)) if delta else 0, round(abs(point.rx / increment))
        if level < lidar.level_count and ray < lidar.ray_count:
            distances[level * lidar.ray_count + ray] = point.d
    return distances


class LapClock:
    """Lap times of a car whose server only reports when start line 0 is crossed: the first crossing starts the clock.

    Attributes:
        lap_times: Oldest first [s].
    """

    def __init__(self) -> None:
        self.lap_times: tuple[float, ...] = ()
        self._crossed: float | None = None

    def note_crossing(self, time: float) -> None:
        """Count a forward crossing at this simulated time [s]."""
        if self._crossed is not None:
            self.lap_times = (*self.lap_times, time - self._crossed)
        self._crossed = time
