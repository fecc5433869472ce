"""Points tables: what places are worth, and who leads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


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
