"""Who is where in a race: laps, their times, places."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray, IntArray


class Standing(NamedTuple):
    """How a race stands after a step, shape [car_count] each."""

    place: IntArray
    """1 = in front: who has finished, by time; then the others, by the way they have made."""
    gained: IntArray
    """Places gained since the step before, negative: lost."""
    way: FloatArray
    """Made along the path since the start line, negative on the grid behind it [m]."""
    laps: IntArray
    """Finished laps, no more than the race has."""
    lap_time: FloatArray
    """Of the last finished lap, 0 before [s]; the first one begins with the race."""
    finished: BoolArray
    """Who has driven all laps."""
    finish_time: FloatArray
    """When that was, infinite before [s]."""


class Standings:
    """Keeps the score of one race.

    Attributes:
        lap_times: Of each car, oldest first [s].
    """

    def __init__(self, lap_count: int, grid: FloatArray, length: float) -> None:
        """Begin with all cars on the grid.

        Args:
            lap_count: Laps of the race.
            grid: How far each car stands behind the start line along the path, 0 to `length` [m].
            length: Of the path, once around [m].
        """
        self._lap_count, self._grid, self._length = lap_count, grid, length
        self._way: FloatArray = -grid
        self._furthest: FloatArray = -grid
        self._time = 0.0
        self._finish_time: FloatArray = np.full(len(grid), math.inf)
        self._lap_time: FloatArray = np.zeros(len(grid))
        self._place = _rank(self._finish_time, self._way)
        self.lap_times: tuple[list[float], ...] = tuple([] for _ in grid)

    def note(self, driven: FloatArray, time: float) -> Standing:
        """Return how the race stands at `time` [s], after each car has made `driven` of way since the start [m].

        A lap counts once: going back over the line and again forward is no other lap. Its time is that of the very
        moment on the line, by the speed of this step.
        """
        way = driven - self._grid
        for car in np.flatnonzero(np.floor(way / self._length) > np.floor(self._furthest / self._length)):
            self._time_laps(int(car), float(way[car]), time)
        self._furthest = np.maximum(self._furthest, way)
        self._way, self._time = way, time
        before, self._place = self._place, _rank(self._finish_time, way)
        return Standing(
            place=self._place,
            gained=before - self._place,
            way=way,
            laps=np.array([len(times) for times in self.lap_times], np.int32),
            lap_time=self._lap_time.copy(),
            finished=np.isfinite(self._finish_time),
            finish_time=self._finish_time.copy(),
        )

    def _time_laps(self, car: int, way: float, time: float) -> None:
        """Note the laps that a car has finished in this step."""
        before, times = float(self._way[car]), self.lap_times[car]
        while len(times) < self._lap_count and (len(times) + 1) * self._length <= way:
            share = ((len(times) + 1) * self._length - before) / (way - before)
            moment = self._time + share * (time - self._time)
            times.append(moment - sum(times))
            self._lap_time[car] = times[-1]
            if len(times) == self._lap_count:
                self._finish_time[car] = moment


def _rank(finish_time: FloatArray, way: FloatArray) -> IntArray:
    """Return places from 1; of equals the one with the lower row is in front."""
    place = np.empty(len(way), np.int32)
    place[np.lexsort((-way, finish_time))] = np.arange(1, len(way) + 1)
    return place
