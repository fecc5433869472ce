"""Who is where in a race: laps, their times, places."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray, IntArray
from donkeysim.world.ledger import EVENT_LAP, Event


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
    """Of the last finished lap, 0 before [s]; the first one begins at the start line."""
    finished: BoolArray
    """Who has driven all laps."""
    finish_time: FloatArray
    """When that was, infinite before [s]."""


class Standings:
    """Keeps the score of one race, by the laps that the ledger counts.

    Attributes:
        lap_times: Of each car, oldest first [s].
    """

    def __init__(self, lap_count: int, grid: FloatArray) -> None:
        """Begin with all cars on the grid.

        Args:
            lap_count: Laps of the race.
            grid: How far each car stands behind the start line along the path [m].
        """
        self._lap_count, self._grid = lap_count, grid
        self._finish_time: FloatArray = np.full(len(grid), math.inf)
        self._lap_time: FloatArray = np.zeros(len(grid))
        self._place = _rank(self._finish_time, -grid)
        self.lap_times: tuple[list[float], ...] = tuple([] for _ in grid)

    def note(self, driven: FloatArray, events: Iterable[Event] = ()) -> Standing:
        """Return how the race stands.

        Args:
            driven: What each car has made of way since the start [m].
            events: What has happened since the last call, on the clock of the race.
        """
        for event in events:
            times = self.lap_times[event.car]
            if event.kind == EVENT_LAP and len(times) < self._lap_count:
                times.append(event.value)
                self._lap_time[event.car] = event.value
                if len(times) == self._lap_count:
                    self._finish_time[event.car] = event.time
        way = driven - self._grid
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


def _rank(finish_time: FloatArray, way: FloatArray) -> IntArray:
    """Return places from 1; of equals the one with the lower row is in front."""
    place = np.empty(len(way), np.int32)
    place[np.lexsort((-way, finish_time))] = np.arange(1, len(way) + 1)
    return place
