"""Who is where: a race's order by its rules."""

import math
from collections.abc import Mapping, Sequence

import msgspec

from donkeysim.racing.rules.rule_book import Race
from donkeysim.racing.rules.scoring import CarLog, Score, Tally

RACING, FINISHED, NOT_FINISHED, NOT_STARTED, DISQUALIFIED, WAITING = (
    "racing",
    "finished",
    "did not finish",
    "did not start",
    "disqualified",
    "waiting",
)
"""What may be said of a car; one waits whose turn in qualifying has not come."""

_UNPLACED = (NOT_STARTED, DISQUALIFIED)


class Placing(msgspec.Struct, frozen=True):
    """A line of a classification."""

    place: int
    """From 1; several may share one; 0: none."""
    row: int
    name: str
    status: str
    """One of the above."""
    laps: int
    """That count, less those of penalties."""
    time: float | None
    """When all laps were done, with penalties [s]; None: not."""
    penalty: float
    """[s]"""
    best_lap: float | None
    """Without penalties [s]; None: no lap counts."""
    result: float | None
    """What the order goes by, for finishers: time or best lap with penalties, or laps [s or 1]."""
    way: float
    """Along the path since green [m]."""
    why: str = ""
    """Why it did not finish, or was disqualified."""


def classify(
    race: Race,
    logs: Sequence[CarLog],
    scores: Mapping[int, Score],
    tallies: Mapping[int, Tally],
    names: Mapping[int, str],
    is_over: bool = True,
) -> tuple[Placing, ...]:
    """Return all cars in order; scores, tallies and names are by row.

    While the race is on, `is_over` False, cars that still drive are neither finished nor out.
    """
    statuses = {log.row: _find_status(race, log, scores[log.row], tallies[log.row], is_over) for log in logs}
    keys = {log.row: _make_key(race, log, scores[log.row], tallies[log.row], statuses[log.row]) for log in logs}
    ordered = sorted(logs, key=lambda log: (*keys[log.row], *_break_tie(race, log, scores[log.row]), log.grid))
    placings: list[Placing] = []
    before: tuple[object, ...] | None = None
    for position, log in enumerate(ordered, start=1):
        row = log.row
        key = (keys[row], _break_tie(race, log, scores[row]))
        place = placings[-1].place if placings and key == before else position
        before = key
        if statuses[row] in _UNPLACED:
            place = 0
        placings.append(_describe(race, log, scores[row], tallies[row], names[row], statuses[row], place))
    return tuple(placings)


def is_tied(placings: Sequence[Placing]) -> bool:
    """Return whether several who have finished share the first place."""
    return sum(placing.place == 1 and placing.status == FINISHED for placing in placings) > 1


def _find_status(race: Race, log: CarLog, score: Score, tally: Tally, is_over: bool) -> str:
    if tally.out == DISQUALIFIED:
        return DISQUALIFIED
    if math.isfinite(score.finish):
        return FINISHED if score.laps or race.order != "best_lap" else NOT_FINISHED
    if tally.out or log.retired:
        return NOT_FINISHED if log.was_moving else NOT_STARTED
    if not is_over:
        return RACING
    if race.order != "time" and score.laps:
        return FINISHED
    return NOT_FINISHED if log.was_moving else NOT_STARTED


def _make_key(race: Race, log: CarLog, score: Score, tally: Tally, status: str) -> tuple[float, ...]:
    """Return what the order goes by; differences below a microsecond are ties."""
    if status in _UNPLACED:
        return (2.0 if status == NOT_STARTED else 3.0,)
    laps = len(score.laps) - tally.laps
    if status == FINISHED or (status == RACING and race.order != "time"):
        if race.order == "best_lap":
            return (0.0, round(score.best_result, 6), -log.way if math.isinf(score.best_result) else 0.0)
        if race.order == "distance":
            way = -round(log.way, 3) if status == RACING else 0.0
            return (0.0, -laps, round(score.last + tally.seconds, 6) if score.laps else math.inf, way)
        return (0.0, round(score.finish + tally.seconds, 6))
    return (0.5 if status == RACING else 1.0, -laps, -round(log.way, 3))


def _break_tie(race: Race, log: CarLog, score: Score) -> tuple[float, ...]:
    if race.ties == "best_lap":
        return (round(score.best_lap, 6),)
    return (float(log.grid),) if race.ties == "grid" else ()


def _describe(race: Race, log: CarLog, score: Score, tally: Tally, name: str, status: str, place: int) -> Placing:
    time = _make_finite(score.finish + tally.seconds)
    is_counted = race.laps == 0 or race.order == "best_lap" or status != FINISHED
    laps = len(score.laps) - tally.laps if is_counted else race.laps
    results = {"time": time, "best_lap": _make_finite(score.best_result), "distance": float(laps)}
    return Placing(
        place=place,
        row=log.row,
        name=name,
        status=status,
        laps=laps,
        time=time,
        penalty=tally.seconds,
        best_lap=_make_finite(score.best_lap),
        result=results[race.order] if status == FINISHED else None,
        way=round(log.way, 6),
        why=log.retired if status == NOT_FINISHED and not tally.out else tally.why,
    )


def _make_finite(value: float) -> float | None:
    """Return a number that JSON knows."""
    return round(value, 6) if math.isfinite(value) else None
