"""The race director: a state machine on the rows and events of the ledger, frame by frame, in simulated time.

It does no IO, has no clock and no random numbers of its own, and changes nothing: whoever drives the race calls `open`
once, `advance` after every frame and `apply` for every act of the race engineer, and carries out the decisions that
these return. The same frames and acts give the same result, so a race can be counted again from its record.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules import act as acts
from donkeysim.racing.rules import decision as decide
from donkeysim.racing.rules.classification import FINISHED, Placing, is_tied
from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.describe import describe_decision, describe_incident
from donkeysim.racing.rules.incident import ENGINEER, Incident
from donkeysim.racing.rules.rule_book import Race, RuleBook
from donkeysim.racing.rules.run import Judge, Run, classify_runs
from donkeysim.world.ledger import Event, Ledger

PRACTICE, QUALIFYING, GRID, COUNTDOWN, RACE, COOL_DOWN, OVER = SESSIONS = (
    "practice",
    "qualifying",
    "grid",
    "countdown",
    "race",
    "cool-down",
    "over",
)
"""In the order in which they come; a rule book may leave the first two out."""

DRIVING = (PRACTICE, QUALIFYING, RACE, COOL_DOWN)
"""Sessions in which cars drive."""

FRAME = 1.0 / 20.0
"""Length of a frame, if nobody says another [s]."""

COOL_DOWN_TIME = 60.0
"""Longest time for a lap of cooling down [s]."""


class Result(msgspec.Struct, frozen=True):
    """How a race ended."""

    track: str
    rules: str
    """Title of the rule book."""
    attempt: int
    """1, and one more for each re-run or restart."""
    placings: tuple[Placing, ...]
    incidents: tuple[Incident, ...]
    """Of the attempt that counts."""
    undone: tuple[int, ...]
    """Numbers of those that the race engineer took back."""
    qualifying: tuple[Placing, ...]
    grid: tuple[int, ...]
    """Rows, the first in front."""


class Line(msgspec.Struct, frozen=True):
    """A line of the journal."""

    time: float
    """On the world's clock [s]."""
    session: str
    text: str
    row: int = -1


class Director:
    """Directs one race of the cars that have entered.

    Attributes:
        session: One of `SESSIONS`.
        attempt: Which one of the race, from 1.
        is_held: Whether time stands still: no frame may pass until it is not.
        run: The one under way.
        flags: Shown now, by row; -1: to all.
        journal: Everything that was said and decided, in order.
        decided: The decisions behind its lines, one each.
        result: None until the race is over; an undo changes it even then.
    """

    def __init__(self, book: RuleBook, course: RaceCourse, entries: Mapping[int, str], seed: int = 0) -> None:
        """Take the entries.

        Args:
            entries: Names of the cars by row, in the order of entry.
            seed: Of what is drawn.

        Raises:
            SpecError: Nobody has entered.
        """
        if not entries:
            raise SpecError("nobody has entered the race; enter one car or more.")
        self.book, self.course, self.entries = book, course, dict(entries)
        self.session, self.attempt, self.is_held = PRACTICE, 1, False
        self.journal: list[Line] = []
        self.decided: list[decide.Decision] = []
        self.result: Result | None = None
        self.flags: dict[int, str] = {}
        self._seed, self._reruns, self._number = seed, 0, 0
        self._now = self._until = math.nan
        self._decisions: list[decide.Decision] = []
        self._qualified: list[Run] = []
        self._waiting: list[int] = []
        self._grid: list[int] = list(entries)
        self._stands: dict[int, tuple[float, float]] = {}
        self._judge = Judge(book, course, self._decide)
        self.run = self._make_run(book.race, self._grid)

    # -- doors --------------------------------------------------------------------------------------------------------

    def open(self) -> list[decide.Decision]:
        """Begin with the first session."""
        if self.book.practice > 0.0:
            self._begin(PRACTICE, self._free_race(self.book.practice), list(self.entries))
        elif self.book.qualifying is not None:
            self._begin_qualifying()
        else:
            self._begin_race()
        return self._take()

    def advance(self, ledger: Ledger, events: Sequence[Event], passed: float = FRAME) -> list[decide.Decision]:
        """Judge a frame that has passed and return what is to be done before the next.

        Time is that of the cars; where none is on the track the length of the frame counts, `passed` [s].
        """
        if self.session == OVER or self.is_held:
            return []
        times = [float(ledger.time[row]) for row in self._grid if ledger.present[row]]
        self._now = max(times, default=(0.0 if math.isnan(self._now) else self._now) + passed)
        if self.session in DRIVING:
            self._follow(ledger, events)
        elif math.isnan(self._until):
            self._until = self._now + self.book.start.settle
        elif self.session == GRID and self._now >= self._until - 1e-9:
            self._begin_countdown(ledger)
        elif self.session == COUNTDOWN:
            self._watch_start(ledger)
        return self._take()

    def apply(self, act: acts.Act, ledger: Ledger, is_logged: bool = False) -> list[decide.Decision]:
        """Carry out an act of the race engineer.

        One from a race file, `is_logged`, counts as it was driven, with penalty laps for whoever had finished: they
        were not always refused.

        Raises:
            SpecError: It is not possible.
        """
        if isinstance(act, acts.Pause | acts.Continue):
            self.is_held = isinstance(act, acts.Pause)
            is_red = self.is_held or self.session in (GRID, COUNTDOWN)
            self._decide(decide.ShowFlag("red" if is_red else self._judge.flag))
        elif isinstance(act, acts.Restart):
            self._tell("the race engineer restarts the race")
            self.result, self.is_held = None, False
            self.attempt += self.session in (COUNTDOWN, RACE, COOL_DOWN, OVER)
            self._begin_race()
        elif isinstance(act, acts.Undo):
            self._undo(act.number)
        else:
            if isinstance(act, acts.Penalise) and act.laps and not is_logged:
                self.run.check_laps(act.row)
            self._sanction(act, ledger)
        return self._take()

    def list_standing(self) -> tuple[Placing, ...]:
        """Return who is where now."""
        return self.run.classify(is_over=self.session == OVER)

    # -- sessions -----------------------------------------------------------------------------------------------------

    def _make_run(self, race: Race, order: Sequence[int]) -> Run:
        return Run(race, self.book.penalty, self.book.watch, self.course, self.entries, order)

    def _free_race(self, limit: float, laps: int = 0, order: str = "best_lap") -> Race:
        """Return what is driven in practice and qualifying: laps for themselves, each from the line."""
        plain = {"warm_up_laps": 0, "cool_down_laps": 0, "clock": "line", "ends": "all", "reruns": 0}
        plain["finish_window"] = 0
        return replace(self.book.race, **plain, laps=laps, limit=limit, order=order)  # type: ignore[arg-type]

    def _begin(self, session: str, race: Race, order: list[int]) -> None:
        """Begin a session with these cars; in practice and qualifying they may drive at once."""
        self._grid, self._until, self.flags = order, math.nan, {}
        self.run = self._make_run(race, order)
        self._judge.begin(self.run)
        self._enter(session)
        self._decide(decide.LineUp(tuple(order)))
        if session in DRIVING:
            self._decide(decide.Release(tuple(order)))
            self._decide(decide.ShowFlag("green"))
        else:
            self._decide(decide.Hold(tuple(order)))

    def _enter(self, session: str) -> None:
        self.session = session
        self._decide(decide.BeginSession(session))

    def _begin_qualifying(self) -> None:
        rules = self.book.qualifying
        assert rules is not None
        if self.session != QUALIFYING:
            self._waiting, self._qualified = list(self.entries), []
        cars = [self._waiting.pop(0)] if rules.alone else self._waiting
        self._waiting = self._waiting if rules.alone else []
        order = "best_lap" if rules.by == "best_lap" else "time"
        self._begin(QUALIFYING, self._free_race(rules.limit, rules.laps, order), cars)
        self._qualified.append(self.run)

    def list_qualified(self) -> tuple[Placing, ...]:
        """Return how qualifying ended, or stands."""
        return classify_runs(self._qualified[0].race, self._qualified) if self._qualified else ()

    def _begin_race(self) -> None:
        order = list(self.entries)
        if self.book.start.grid == "qualifying" and self._qualified:
            order = [placing.row for placing in self.list_qualified()]
            order += [row for row in self.entries if row not in order]  # qualifying was cut short by a restart
        elif self.book.start.grid == "drawn":
            order = [order[index] for index in np.random.default_rng(self._seed).permutation(len(order))]
        self._begin(GRID, self.book.race, order)

    def _begin_countdown(self, ledger: Ledger) -> None:
        self._until += self.book.start.countdown
        self.run.green = self._until
        self._stands = {row: tuple(ledger.position[row, :2].tolist()) for row in self.run.rows}
        self._enter(COUNTDOWN)
        if not self.book.start.holds:
            self._decide(decide.Release(tuple(self.run.rows)))
        self._watch_start(ledger)

    def _watch_start(self, ledger: Ledger) -> None:
        """Look for false starts until it is green."""
        started = {incident.row for incident in self.run.incidents if incident.kind == "false_start"}
        for row, place in self._stands.items():
            away = math.dist(place, ledger.position[row, :2].tolist())
            if row not in started and away > self.book.start.false_start:
                self._charge(ledger, Incident(self._count(), self._now - self.run.green, row, "false_start", 0))
        if self._now >= self._until - 1e-9:
            self._enter(RACE)
            self._decide(decide.Release(tuple(self.run.rows)))
            self._decide(decide.ShowFlag("green"))

    def _follow(self, ledger: Ledger, events: Sequence[Event]) -> None:
        """Judge a frame in which cars drive, and end the session when it is time."""
        if math.isinf(self.run.green):
            self.run.green = self._now
        for incident in self._judge.watch(ledger, events, self._now, self._count):
            self._charge(ledger, incident)
        self._judge.flag_finishers()
        time, race = self._now - self.run.green, self.run.race
        if self.session == COOL_DOWN:
            if not self.run.rows or self._now >= self._until:
                self._settle()
        elif time >= self.run.limit - 1e-9 or not self.run.list_active() or time >= self._find_last_call(race) - 1e-9:
            self._end_run()

    def _find_last_call(self, race: Race) -> float:
        """Return when the race ends for those who have not finished, as one car has, since green [s]."""
        if race.ends == "all" and not race.finish_window:
            return math.inf
        finished = [one.row for one in self.run.classify(is_over=False) if one.status == FINISHED]
        first = min((self.run.score(row).finish for row in finished), default=math.inf)
        return first * (1.0 + race.finish_window) if race.ends == "all" else first

    def _end_run(self) -> None:
        """Move on to what follows."""
        self._decide(decide.ShowFlag("chequered"))
        is_practice_over = self.session == PRACTICE and self.book.qualifying is not None
        if is_practice_over or (self.session == QUALIFYING and self._waiting):
            self._begin_qualifying()
        elif self.session != RACE:
            self._begin_race()
        else:
            for row in self.run.list_active():
                self.run.logs[row].retired = "time is up" if self.run.race.order == "time" else ""
            self.run.is_over = True
            self._until = self._now + COOL_DOWN_TIME * self.book.race.cool_down_laps
            self._enter(COOL_DOWN)
            if self.book.race.cool_down_laps == 0 or not self.run.rows:
                self._settle()

    def _settle(self) -> None:
        """Run the race again, or give the result."""
        placings, race = self.run.classify(), self.book.race
        nobody = all(placing.status != FINISHED for placing in placings)
        reasons = {"nobody_finishes": nobody, "tie": is_tied(placings)}
        if self._reruns < race.reruns and any(reasons[reason] for reason in race.rerun_when):
            self._reruns += 1
            self.attempt += 1
            self._tell("nobody has finished: the race is run again" if nobody else "a tie: the race is run again")
            self._begin_race()
        else:
            self._give_result()
            self._enter(OVER)

    def _give_result(self) -> None:
        self.result = Result(
            track=self.course.name,
            rules=self.book.title,
            attempt=self.attempt,
            placings=self.run.classify(),
            incidents=tuple(self.run.incidents),
            undone=tuple(sorted(self.run.undone)),
            qualifying=self.list_qualified(),
            grid=tuple(self._grid),
        )
        self._decide(decide.GiveResult())

    # -- incidents ----------------------------------------------------------------------------------------------------

    def _count(self) -> int:
        """Return the next number of the journal's incidents."""
        self._number += 1
        return self._number

    def _charge(self, ledger: Ledger, incident: Incident) -> None:
        self._decide(decide.Tell(describe_incident(incident, self.entries), incident.row, incident))
        if self.session == OVER:
            self.run.incidents.append(incident)  # which an undo takes back without a trace
        else:
            self._judge.charge(ledger, incident, self._now)

    def _sanction(self, act: acts.PutBack | acts.AskBack | acts.Penalise, ledger: Ledger) -> None:
        """Put a car back, or give it a penalty, at the race engineer's word; the first at the driver's, too."""
        if act.row not in self.run.logs:
            raise SpecError(f"no car of this run has row {act.row}; it has {', '.join(map(str, self.run.logs))}.")
        is_put = isinstance(act, acts.PutBack | acts.AskBack)
        if is_put and (self.session not in DRIVING or self.run.logs[act.row].is_off):
            raise SpecError(f"{self.entries[act.row]} does not drive now; only a car on the track can be put back.")
        time = self._now - self.run.green if math.isfinite(self._now - self.run.green) else 0.0
        lap = self.run.find_lap(act.row, time)
        if isinstance(act, acts.Penalise):
            cost = {"what": act.why, "seconds": act.seconds, "laps": act.laps, "out": act.out}
            incident = Incident(self._count(), time, act.row, ENGINEER, lap, **cost)  # type: ignore[arg-type]
        else:
            counts, is_asked = self.run.is_counted(act.row, time), isinstance(act, acts.AskBack)
            kind, what = ("stuck", "asked to be put back") if is_asked else ("put_back", "")
            incident = Incident(self._count(), time, act.row, kind, lap, what=what, counts=counts)
        self._charge(ledger, incident)
        if is_put:
            self._judge.put_back_once(ledger, incident)
        self._recount()

    def _undo(self, number: int) -> None:
        """Take back an incident."""
        known = {incident.number for incident in self.run.incidents} - self.run.undone
        if number not in known:
            numbers = ", ".join(map(str, sorted(known))) or "none"
            raise SpecError(f"no. {number} is no incident of this run that still counts; these are: {numbers}.")
        self.run.undone.add(number)
        self._tell(f"the race engineer takes back no. {number}")
        self._recount()

    def _recount(self) -> None:
        if self.session == OVER:
            self._give_result()

    # -- decisions ----------------------------------------------------------------------------------------------------

    def _tell(self, text: str) -> None:
        self._decide(decide.Tell(text))

    def _decide(self, decision: decide.Decision) -> None:
        """Put a decision with the others, and into the journal."""
        self._decisions.append(decision)
        self.decided.append(decision)
        if isinstance(decision, decide.ShowFlag):
            self.flags[decision.row] = decision.flag
        row = getattr(decision, "row", -1)
        text = decision.text if isinstance(decision, decide.Tell) else describe_decision(decision, self.entries)
        self.journal.append(Line(self._now if math.isfinite(self._now) else 0.0, self.session, text, row))

    def _take(self) -> list[decide.Decision]:
        decisions, self._decisions = self._decisions, []
        return decisions
