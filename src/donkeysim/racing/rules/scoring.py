"""What a car's laps and incidents come to: a fold over what has happened, so that anything of it can be taken back."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from donkeysim.racing.rules.incident import ENGINEER, Incident
from donkeysim.racing.rules.rule_book import Penalty, Race


class Lap(NamedTuple):
    """A lap that a car has finished."""

    number: int
    """From 1, warm-up laps too."""
    time: float
    """[s]"""
    end: float
    """Since green [s]."""


@dataclass
class CarLog:
    """What a car has done in a run.

    Attributes:
        row: Of the ledger.
        grid: Its place on the grid, from 0.
        lap: Which one it is in, 0 before the first.
        begins: When each lap began, since green [s].
        laps: Those it has finished, of whatever worth.
        way: Made along the path since the run began [m].
        gate: Which gate it passed last: 0 the line, then the checkpoints; -1 none.
        gate_time: When, since green [s].
        retired: Why it has stopped racing, "" as long as it races.
        is_off: Whether it was taken off the track.
        was_moving: Whether it has ever moved since green.
        absent_since: Since when it is not there, since green [s]; infinite: it is there.
    """

    row: int
    grid: int = 0
    lap: int = 0
    begins: dict[int, float] = field(default_factory=dict)
    laps: list[Lap] = field(default_factory=list)
    way: float = 0.0
    gate: int = -1
    gate_time: float = 0.0
    retired: str = ""
    is_off: bool = False
    was_moving: bool = False
    absent_since: float = math.inf


class Tally(NamedTuple):
    """What a car's incidents cost."""

    seconds: float = 0.0
    """In all [s]."""
    in_lap: dict[int, float] = {}  # noqa: RUF012  (never written)
    """Those of the rule book's penalties, by lap [s]."""
    laps: int = 0
    voided: frozenset[int] = frozenset()
    """Laps that do not count."""
    out: str = ""
    """"did not finish", "disqualified", or "" for neither."""
    why: str = ""
    """Kind of the incident that put it out."""
    given: float = 0.0
    """Those that the race engineer gave: they are part of the result, whatever lap they were given in [s]."""


class Score(NamedTuple):
    """What a car's laps are worth."""

    laps: tuple[Lap, ...]
    """Those that count."""
    finish: float
    """When it had all its laps, on the clock of the race, without penalties; infinite: not yet [s]."""
    done: float
    """When that was, since green; infinite: not yet [s]."""
    last: float
    """When the last lap that counts ended, on the same clock; infinite: there is none [s]."""
    best_lap: float
    """Without penalties, infinite: none [s]."""
    best_result: float
    """The best lap with the seconds of the incidents in it, and those of the engineer, infinite: none [s]."""


def find_penalties(penalties: Iterable[Penalty], kind: str) -> list[Penalty]:
    """Return the penalties that an incident is for."""
    return [penalty for penalty in penalties if kind in penalty.incidents]


def count_costs(penalties: tuple[Penalty, ...], incidents: Iterable[Incident]) -> Tally:
    """Return what the incidents of one car cost, in order."""
    seconds: dict[int, float] = {}
    in_lap: dict[int, float] = {}
    counts = [0] * len(penalties)
    laps, voided, out, why, given = 0, set[int](), "", "", 0.0
    for incident in incidents:
        if not incident.counts:
            continue
        if incident.kind == ENGINEER:
            seconds[incident.lap] = seconds.get(incident.lap, 0.0) + incident.seconds
            given += incident.seconds
            laps += incident.laps
            if incident.out and not out:
                out, why = "disqualified", incident.what or ENGINEER
        for index, penalty in enumerate(penalties):
            if incident.kind not in penalty.incidents:
                continue
            counts[index] += 1
            paid = counts[index] - penalty.free
            if paid > 0:
                cost = penalty.seconds * (paid if penalty.compounds else 1)
                seconds[incident.lap] = seconds.get(incident.lap, 0.0) + cost
                in_lap[incident.lap] = in_lap.get(incident.lap, 0.0) + cost
                laps += penalty.laps
                voided |= {incident.lap} if penalty.voids_lap else set()
            if penalty.out != "no" and counts[index] > penalty.out_after and not out:
                out, why = penalty.out, incident.kind
    return Tally(sum(seconds.values()), in_lap, laps, frozenset(voided), out, why, given)


def score_laps(race: Race, log: CarLog, tally: Tally) -> Score:
    """Return what a car's laps are worth by the rules of a race."""
    timed = tuple(lap for lap in log.laps if lap.number > race.warm_up_laps)
    counted = tuple(lap for lap in timed if lap.number not in tally.voided and lap.time >= race.least_lap)
    zero = 0.0 if race.clock == "green" else log.begins.get(race.warm_up_laps + 1, 0.0)
    done, needed = math.inf, race.laps + tally.laps
    # Where the best lap wins a lap that does not count is not driven again.
    driven = timed if race.order == "best_lap" else counted
    if race.laps and len(driven) >= needed:
        done = driven[needed - 1].end
        counted = tuple(lap for lap in counted if lap.end <= done)
    return Score(
        counted,
        done - zero,
        done,
        counted[-1].end - zero if counted else math.inf,
        min((lap.time for lap in counted), default=math.inf),
        min((lap.time + tally.in_lap.get(lap.number, 0.0) for lap in counted), default=math.inf) + tally.given,
    )
