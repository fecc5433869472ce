"""Who is where: in a race by laps and their times, in a league by what places are worth."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray, IntArray
from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.rule_book import Race, Watch
from donkeysim.racing.rules.run import Run
from donkeysim.world.ledger import Event


class Standing(NamedTuple):
    """How a race stands after a step, shape [car_count] each."""

    place: IntArray
    """1 = in front: those that have finished, by time; then the others, by the way they have made."""
    gained: IntArray
    """Places gained since the step before, negative: lost."""
    way: FloatArray
    """Made along the path since the start line, negative on the grid behind it [m]."""
    laps: IntArray
    """Finished laps, no more than the race has."""
    lap_time: FloatArray
    """Of the last finished lap, 0 before [s]; the first one begins at the start line."""
    finished: BoolArray
    """Whether it has driven all laps."""
    finish_time: FloatArray
    """When that was, infinite before [s]."""


class Standings:
    """Keeps the places of one race, step by step; laps and times are those of a `Run` without penalties."""

    def __init__(self, lap_count: int, course: RaceCourse, grid: FloatArray) -> None:
        """Begin with all cars on the grid.

        Args:
            grid: How far each car stands behind the start line along the path [m].
        """
        rows = range(len(grid))
        self._run = Run(Race(laps=lap_count), (), Watch(), course, {row: str(row) for row in rows}, rows)
        self._run.green, self._grid = 0.0, grid
        self._place = _rank(np.full(len(grid), math.inf), -grid)

    def list_lap_times(self, row: int) -> tuple[float, ...]:
        """Return the times of a car's laps, oldest first [s]."""
        return tuple(lap.time for lap in self._run.score(row).laps)

    def note(self, driven: FloatArray, events: Iterable[Event] = ()) -> Standing:
        """Return how the race stands.

        Args:
            driven: What each car has made of way since the start [m].
            events: What has happened since the last call, on the clock of the race.
        """
        self._run.note_events(events)
        scores = [self._run.score(row) for row in self._run.logs]
        finish_time = np.array([score.finish for score in scores])
        way = driven - self._grid
        before, self._place = self._place, _rank(finish_time, way)
        return Standing(
            place=self._place,
            gained=before - self._place,
            way=way,
            laps=np.array([len(score.laps) for score in scores], np.int32),
            lap_time=np.array([score.laps[-1].time if score.laps else 0.0 for score in scores]),
            finished=np.isfinite(finish_time),
            finish_time=finish_time,
        )


def _rank(finish_time: FloatArray, way: FloatArray) -> IntArray:
    """Return places from 1; of equals the one with the lower row is in front."""
    place = np.empty(len(way), np.int32)
    place[np.lexsort((-way, finish_time))] = np.arange(1, len(way) + 1)
    return place


class Outcome(NamedTuple):
    """How one race or tournament of a league ended."""

    title: str
    """Which one, for people."""
    places: tuple[tuple[str, int], ...]
    """Name and place of each; place 0 gets nothing."""
    points: tuple[float, ...]
    """What the places are worth, from the first on."""


class LeagueLine(NamedTuple):
    """A line of a points table."""

    place: int
    name: str
    points: float
    starts: int
    wins: int
    by_outcome: tuple[float | None, ...]
    """Points in each outcome; None: not there."""


def count_points(outcomes: Sequence[Outcome]) -> list[LeagueLine]:
    """Return the points table; of equal points, more wins are better, then more second places, and so on."""
    names = list(dict.fromkeys(name for outcome in outcomes for name, _ in outcome.places))
    rows = {name: tuple(_find_points(outcome, name) for outcome in outcomes) for name in names}
    places = {
        name: Counter(place for outcome in outcomes for who, place in outcome.places if who == name) for name in names
    }
    last = max((place for counts in places.values() for place in counts), default=0)

    def make_key(name: str) -> tuple[float, ...]:
        total = sum(points or 0.0 for points in rows[name])
        return (-total, *(-places[name][place] for place in range(1, last + 1)))

    ordered = sorted(names, key=lambda name: (make_key(name), name))
    table: list[LeagueLine] = []
    for position, name in enumerate(ordered, start=1):
        is_level = bool(table) and make_key(name) == make_key(table[-1].name)
        total = sum(points or 0.0 for points in rows[name])
        starts = sum(points is not None for points in rows[name])
        place = table[-1].place if is_level else position
        table.append(LeagueLine(place, name, total, starts, places[name][1], rows[name]))
    return table


def list_places(ranking: Iterable[Sequence[str]]) -> tuple[tuple[str, int], ...]:
    """Return name and place of each from a ranking of names that share places."""
    listed: list[tuple[str, int]] = []
    for names in ranking:
        place = len(listed) + 1
        listed += [(name, place) for name in names]
    return tuple(listed)


def _find_points(outcome: Outcome, name: str) -> float | None:
    for who, place in outcome.places:
        if who == name:
            return outcome.points[place - 1] if 1 <= place <= len(outcome.points) else 0.0
    return None
