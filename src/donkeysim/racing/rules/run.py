"""One run of cars on a track: practice, qualifying, or a race; what happened in it, and what that comes to."""

import math
from collections.abc import Iterable, Mapping, Sequence

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules.classification import Placing, classify
from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.rules.rule_book import Penalty, Race, Watch
from donkeysim.racing.rules.scoring import CarLog, Lap, Score, Tally, count_costs, score_laps
from donkeysim.racing.rules.spotter import Spotter
from donkeysim.world.ledger import EVENT_CHECKPOINT, EVENT_CROSSING, EVENT_LAP, Event, Ledger

# Slower than any car that means to race; the half minute is for starts, penalties and being put back.
WALK, EXTRA_TIME = 0.35, 30.0
"""Where a race has no limit, it has the time of its laps at this speed [m/s], and so much more [s]."""

MOVED = 0.05
"""Who has gone farther than this has started [m]."""


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
            told = f"{self.names[row]} {why} and drives no penalty laps any more; give seconds, or disqualify it."
            raise SpecError(told)

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
