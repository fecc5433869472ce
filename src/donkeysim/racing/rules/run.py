"""One run of cars on a track: practice, qualifying, or a race; what happened in it, and what that comes to.

A judge says what incidents lead to at once: cars put back, slowed down, or taken off the track.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules import decision as decide
from donkeysim.racing.rules.classification import Placing, classify
from donkeysim.racing.rules.course import PAST_GATE, RaceCourse
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.rules.rule_book import Penalty, Race, RuleBook, Watch
from donkeysim.racing.rules.scoring import CarLog, Lap, Score, Tally, count_costs, find_penalties, score_laps
from donkeysim.racing.rules.spotter import Sighting, Spotter
from donkeysim.world.ledger import EVENT_CHECKPOINT, EVENT_CROSSING, EVENT_LAP, Event, Ledger

# Slower than any car that means to race; the half minute is for starts, penalties and being put back.
WALK, EXTRA_TIME = 0.35, 30.0
"""Where a race has no limit, it has the time of its laps at this speed [m/s], and so much more [s]."""

MOVED = 0.05
"""A car that has gone farther than this has started [m]."""


class Run:
    """What has happened since cars were lined up.

    Attributes:
        race: What is driven.
        names: Of all cars, by row.
        logs: Of the cars in this run, by row.
        incidents: In order; those that were taken back are in `undone`.
        undone: Numbers of incidents that count no more.
        green: On the world's clock [s].
        limit: When the run ends, since green [s].
        is_over: Whether the race has ended and only cooling down is left: what a car has driven stands.
        spotter: Its eyes.
    """

    def __init__(
        self,
        race: Race,
        penalties: tuple[Penalty, ...],
        watch: Watch,
        course: RaceCourse,
        names: Mapping[int, str],
        order: Sequence[int],
    ) -> None:
        """Begin with cars on the grid.

        Args:
            penalties: What incidents cost.
            watch: When something is an incident.
            names: Of cars, by row.
            order: Rows in the order of the grid.
        """
        self.race, self.names = race, names
        self.logs = {row: CarLog(row, grid) for grid, row in enumerate(order)}
        self.incidents: list[Incident] = []
        self.undone: set[int] = set()
        self.green, self.is_over = math.inf, False
        laps = race.laps + race.warm_up_laps
        self.limit = race.limit or laps * course.length / WALK + EXTRA_TIME
        self.spotter = Spotter(watch, course)
        self._penalties = penalties
        self._weighed: dict[int, tuple[tuple[int, ...], Tally, Score]] = {}

    @property
    def rows(self) -> list[int]:
        """Cars that are still on the track, in the order of the grid."""
        return [row for row, log in self.logs.items() if not log.is_off]

    def list_active(self) -> list[int]:
        """Return the cars that may still finish."""
        return [
            row
            for row, log in self.logs.items()
            if not log.retired and not self.count_costs(row).out and math.isinf(self.score(row).finish)
        ]

    # -- what happens -------------------------------------------------------------------------------------------------

    def note(self, ledger: Ledger, events: Iterable[Event]) -> None:
        """Note what the cars have driven in a frame."""
        for row in self.rows:
            log = self.logs[row]
            log.way += float(ledger.gain[row])
            log.was_moving |= abs(log.way) > MOVED
        self.note_events(events)

    def note_events(self, events: Iterable[Event]) -> None:
        """Note which gates cars have passed, and their laps."""
        for event in events:
            log = self.logs.get(event.car)
            if log is not None and not log.is_off:
                self._note_event(log, event)

    def _note_event(self, log: CarLog, event: Event) -> None:
        time = event.time - self.green
        if event.kind == EVENT_LAP:
            log.laps.append(Lap(log.lap, event.value, time))
        elif event.kind == EVENT_CROSSING and event.value == 0.0:
            log.lap += 1
            log.begins[log.lap] = time
            log.gate, log.gate_time = 0, time
        elif event.kind == EVENT_CHECKPOINT:
            log.gate, log.gate_time = 1 + int(event.value), time

    def find_lap(self, row: int, time: float) -> int:
        """Return in which lap a car was at a time since green, 0 before the first."""
        return max((lap for lap, begin in self.logs[row].begins.items() if begin <= time), default=0)

    def is_counted(self, row: int, time: float) -> bool:
        """Return whether an incident of a car counts at a time since green: neither warming up nor cooling down."""
        warm_up = self.race.warm_up_laps
        if time > self.score(row).done:
            return False
        return warm_up == 0 or time < 0.0 or self.find_lap(row, time) > warm_up

    def check_laps(self, row: int) -> None:
        """Check that penalty laps can be driven yet, or taken off where only laps count.

        Raises:
            SpecError: They cannot.
        """
        log = self.logs.get(row)
        is_done = self.is_over and self.race.order == "best_lap"
        if log is not None and (log.is_off or is_done or math.isfinite(self.score(row).finish)):
            why = "is off the track" if math.isinf(self.score(row).finish) and log.is_off else "has finished"
            reason = f"{self.names[row]} {why} and drives no penalty laps any more; give seconds, or disqualify it."
            raise SpecError(reason)

    def count_cool_down(self, row: int) -> int:
        """Return how many laps a car has driven since it finished."""
        done = self.score(row).done
        return sum(lap.end > done for lap in self.logs[row].laps)

    # -- what it comes to ---------------------------------------------------------------------------------------------

    def count_costs(self, row: int) -> Tally:
        """Return what a car's incidents cost."""
        return self._weigh(row)[0]

    def score(self, row: int) -> Score:
        """Return what a car's laps are worth."""
        return self._weigh(row)[1]

    def _weigh(self, row: int) -> tuple[Tally, Score]:
        """Return both, counted anew where something has changed: they are asked for in every frame."""
        log = self.logs[row]
        key = (len(self.incidents), len(self.undone), len(log.laps), log.lap)
        if row not in self._weighed or self._weighed[row][0] != key:
            mine = (item for item in self.incidents if item.row == row and item.number not in self.undone)
            tally = count_costs(self._penalties, mine)
            self._weighed[row] = key, tally, score_laps(self.race, log, tally)
        return self._weighed[row][1:]

    def classify(self, is_over: bool = True) -> tuple[Placing, ...]:
        """Return all cars of the run in order."""
        return classify_runs(self.race, [self], is_over)


def classify_runs(race: Race, runs: Sequence[Run], is_over: bool = True) -> tuple[Placing, ...]:
    """Return the cars of several runs, each in one of them, in one order."""
    home = {row: run for run in runs for row in run.logs}
    logs = [run.logs[row] for row, run in home.items()]
    scores = {row: run.score(row) for row, run in home.items()}
    tallies = {row: run.count_costs(row) for row, run in home.items()}
    names = {row: run.names[row] for row, run in home.items()}
    return classify(race, logs, scores, tallies, names, is_over)


# Two and a half car lengths: a car that is put back stands in nobody's way, and has room to start.
SPACE = 0.7
"""Free length of the path where a car is put back [m]."""

LOST = 1.0
"""A car that stands or is off the road for longer brings out the yellow flag [s]."""


class Judge:
    """Judges the frames of a run."""

    def __init__(self, book: RuleBook, course: RaceCourse, say: Callable[[decide.Decision], None]) -> None:
        """Keep the rules of a book on a course; `say` is called with each decision."""
        self._book, self._course, self._say = book, course, say
        self._is_yellow = False

    @property
    def flag(self) -> str:
        """The flag that holds for all while cars drive: yellow or green."""
        return "yellow" if self._is_yellow else "green"

    def begin(self, run: Run) -> None:
        """Continue with another run."""
        self._run = run
        self._slow: dict[int, float] = {}
        self._is_yellow = False
        self._done: set[int] = set()
        self._late: set[tuple[int, float]] = set()
        self._put: dict[int, float] = {}  # since the last frame, which the ledger does not show yet

    def watch(self, ledger: Ledger, events: Sequence[Event], now: float, count: Callable[[], int]) -> list[Incident]:
        """Return the incidents of a frame.

        Args:
            now: On the world's clock [s].
            count: Returns the next number of an incident.
        """
        run, rows = self._run, self._run.rows
        self._put = {}
        run.note(ledger, events)
        for row in [row for row, until in self._slow.items() if now >= until]:
            del self._slow[row]
            self._say(decide.LimitSpeed(row, math.inf))
        seen = [
            *run.spotter.spot(ledger, events, rows, now - run.green),
            *self._find_late(now),
            *self._find_absent(ledger, now),
        ]
        self._wave_yellow(ledger, now - run.green)
        incidents = []
        for sighting in seen:
            if not sighting.kind:
                names = run.names[sighting.row], run.names.get(sighting.other, "another car")
                self._say(decide.Tell(f"{names[0]} and {names[1]} touched; nobody is to blame", sighting.row))
                continue
            incidents.append(self._make_incident(sighting, count()))
        return incidents

    def _make_incident(self, sighting: Sighting, number: int) -> Incident:
        run, time = self._run, sighting.time - self._run.green
        return Incident(
            number=number,
            time=round(time, 6),
            row=sighting.row,
            kind=sighting.kind,
            lap=run.find_lap(sighting.row, time),
            other=sighting.other,
            what=sighting.what,
            counts=run.is_counted(sighting.row, time),
        )

    def charge(self, ledger: Ledger, incident: Incident, now: float) -> None:
        """Note an incident, and do what the rules say about it; `now` is on the world's clock [s]."""
        run, row = self._run, incident.row
        was_out = run.count_costs(row).out
        run.incidents.append(incident)
        tally, log = run.count_costs(row), run.logs[row]
        if log.is_off:
            return
        if tally.out and not was_out:
            if not run.is_over:  # else it has driven all that counts, and an undo gives that back
                log.retired = tally.why
            if tally.out == "disqualified":
                self._say(decide.ShowFlag("black", row))
            self._take_off(row)
        elif incident.kind == "absent":
            log.retired = log.retired or incident.kind
            self._take_off(row)
        elif incident.kind == "stuck" and row in self._done:
            self._take_off(row)
        else:
            self._impose(ledger, incident, now)

    def _impose(self, ledger: Ledger, incident: Incident, now: float) -> None:
        """Put a car back, or slow it down, as the penalties for an incident say."""
        for penalty in find_penalties(self._book.penalty, incident.kind):
            if penalty.slow_time > 0.0 and incident.counts:
                begun = max(now, self._slow.get(incident.row, now))
                self._slow[incident.row] = begun + penalty.slow_time
                self._say(decide.LimitSpeed(incident.row, penalty.slow_speed))
            if penalty.put_back != "no":
                self.put_back(ledger, incident.row, penalty.put_back)

    def put_back_once(self, ledger: Ledger, incident: Incident) -> None:
        """Put a car back on the path, unless the incident's penalty has done so, or has taken it off the track."""
        penalties = find_penalties(self._book.penalty, incident.kind)
        if not self._run.logs[incident.row].is_off and all(item.put_back == "no" for item in penalties):
            self.put_back(ledger, incident.row, "path")

    def put_back(self, ledger: Ledger, row: int, where: str) -> None:
        """Put a car back where it was last on the road, at the last checkpoint or line, or on the grid."""
        run = self._run
        log = run.logs[row]
        if where == "grid" or (where == "checkpoint" and log.gate < 0):
            self._say(decide.PutOnGrid(row))
        else:
            place = run.spotter.find_last_place(row)
            place = place if math.isfinite(place) else float(ledger.along[row])
            along = self._course.gates[log.gate] + PAST_GATE if where == "checkpoint" else place
            self._put[row] = find_space(self._course, ledger, row, along, self._put)
            self._say(decide.PutOnTrack(row, self._put[row]))
        run.spotter.forget(row)

    def flag_finishers(self) -> None:
        """Show the chequered flag to who has finished, and take off the track who has cooled down."""
        run = self._run
        for row in run.rows:
            if math.isinf(run.score(row).finish):
                continue
            if row not in self._done:
                self._done.add(row)
                self._say(decide.ShowFlag("chequered", row))
            if run.count_cool_down(row) >= run.race.cool_down_laps:
                self._take_off(row)

    def _take_off(self, row: int) -> None:
        self._run.logs[row].is_off = True
        self._slow.pop(row, None)
        self._say(decide.TakeOff(row))

    def _find_late(self, now: float) -> list[Sighting]:
        """Return who takes too long to the next gate; each gate once."""
        run, limit = self._run, self._run.race.checkpoint_limit
        late = []
        for row in run.rows if limit else ():
            passed = run.logs[row].gate_time
            if now - run.green - passed > limit and (row, passed) not in self._late and row not in self._done:
                self._late.add((row, passed))
                late.append(Sighting(now, row, "late_checkpoint"))
        return late

    def _find_absent(self, ledger: Ledger, now: float) -> list[Sighting]:
        """Return who has been gone for too long."""
        absent = []
        for row in self._run.rows:
            log = self._run.logs[row]
            if ledger.present[row]:
                log.absent_since = math.inf
            else:
                log.absent_since = min(log.absent_since, now)
                if now - log.absent_since >= self._book.watch.absence:
                    absent.append(Sighting(now, row, "absent"))
        return absent

    def _wave_yellow(self, ledger: Ledger, driven: float) -> None:
        rows = [row for row in self._run.rows if row not in self._done and ledger.present[row]]
        is_yellow = any(max(ledger.off_road_time[row], min(driven, ledger.still_time[row])) > LOST for row in rows)
        was_yellow, self._is_yellow = self._is_yellow, is_yellow
        if is_yellow != was_yellow:
            self._say(decide.ShowFlag(self.flag))


def find_space(
    course: RaceCourse, ledger: Ledger, row: int, along: float, moved: Mapping[int, float] = MappingProxyType({})
) -> float:
    """Return the nearest place of the path at or behind one where no other car is [m].

    Args:
        row: Of the car that is to be put there.
        along: Where it shall be put [m].
        moved: Places of cars that were put somewhere since the ledger was written, by row [m].
    """
    first = row - row % ledger.cars_per_world
    others = [
        moved.get(other, float(ledger.along[other]))
        for other in range(first, first + ledger.cars_per_world)
        if other != row and ledger.present[other]
    ]
    for _ in range(1 + len(others)):
        near = [other for other in others if abs(course.measure_ahead(along, other)) < SPACE]
        if not near:
            break
        along = min(near, key=lambda other: course.measure_ahead(along, other)) - SPACE
    return along % course.length
