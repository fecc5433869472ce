"""Times one run of cars: where each was when, its sectors, and who was where after each lap of the leader.

Gaps are in time: since the car in front was where this one is now. So each car's way is noted at marks a short distance
apart. A place is how far a car has come since it first crossed the line: whole laps and the way into the lap that it is
in, below 0 before the line. It follows from laps and the nearest point of the path, so that who is put back, or has to
drive a lap again, is where he is.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from donkeysim.racing.rules.classification import RACING, Placing
from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.run import Run
from donkeysim.racing.rules.scoring import CarLog
from donkeysim.world.ledger import EVENT_CHECKPOINT, EVENT_CROSSING, Event, Ledger

# A tenth of a second at 2.5 m/s.
MARK = 0.25
"""Between two marks [m]."""

BLUR = 1.0
"""So far past the line [m], by the nearest point of the path, a car that has crossed it at all has crossed it."""

PARTS = 3
"""Sectors of a track without checkpoints."""


@dataclass
class CarTimes:
    """What is known of one car.

    Attributes:
        place: How far it has come [m].
        time: When that was, since green [s].
        first: Number of the first mark.
        passed: When it passed each mark last, from the first on, since green [s].
        lap: Which one it is in.
        along: Nearest point of the path [m].
        gate: Which it passed last, -1 none.
        gate_time: When, since green [s].
        sectors: Of the lap that it is in [s].
        last_sectors: Of the lap before.
        best_sectors: Its best ones, infinite where it has none.
    """

    place: float
    time: float
    first: int
    along: float
    sectors: list[float | None]
    last_sectors: list[float | None]
    best_sectors: list[float]
    passed: list[float] = field(default_factory=list)
    lap: int = 0
    gate: int = -1
    gate_time: float = 0.0

    def find_time(self, place: float) -> float | None:
        """Return when the car was at a place for the last time, since green [s]; None: it was never there."""
        index = math.floor(place / MARK) - self.first
        if index < 0 or place >= self.place:
            return self.time if place == self.place else None
        mark = (self.first + index) * MARK
        end, time = self.place, self.time
        if mark + MARK <= self.place:
            end, time = mark + MARK, self.passed[index + 1]
        return self.passed[index] + (place - mark) / (end - mark) * (time - self.passed[index])

    def move(self, place: float, time: float) -> None:
        """Note where the car is now."""
        way = place - self.place
        marks = range(max(math.floor(self.place / MARK) + 1, self.first), math.floor(place / MARK) + 1)
        for mark in marks if way > 0.0 else ():
            moment = self.time + (mark * MARK - self.place) / way * (time - self.time)
            if mark - self.first < len(self.passed):
                self.passed[mark - self.first] = moment
            else:
                self.passed.append(moment)
        self.place, self.time = place, time


class Stopwatch:
    """Times the cars of one run.

    Attributes:
        cars: By row, those that have been seen.
        chart: Place of each row, by line: on the grid, then whenever the leader has finished a lap.
    """

    def __init__(self, run: Run, course: RaceCourse) -> None:
        """Begin with a run whose cars stand on the grid."""
        self.cars: dict[int, CarTimes] = {}
        self.chart: dict[int, list[int]] = {row: [place] for place, row in enumerate(run.logs, 1)}
        self._run, self._course = run, course
        self._gates = len(course.gates) if len(course.gates) > 1 else PARTS
        self._best = [math.inf] * self._gates
        self._laps = 0

    def note(self, ledger: Ledger, events: Iterable[Event], now: float) -> None:
        """Note a frame that the run has judged; `now`: on the world's clock [s]."""
        run, time = self._run, now - self._run.green
        for row in run.rows:
            if ledger.present[row]:
                self._follow(run.logs[row], float(ledger.along[row]), time)
            elif row in self.cars:
                self.cars[row].time = time
        for event in events:
            car, log = self.cars.get(event.car), run.logs.get(event.car)
            if car is None or log is None:
                continue
            if event.kind == EVENT_CHECKPOINT and len(self._course.gates) > 1:
                self._pass_gate(log, car, 1 + int(event.value), event.time - run.green)
            elif event.kind == EVENT_CROSSING and event.value == 0.0:
                self._pass_gate(log, car, 0, event.time - run.green)
        self._draw_chart()

    def sort_placings(self, placings: Sequence[Placing]) -> list[Placing]:
        """Return a standing in the order on the road: who still races is where it is, laps that count before places."""
        racing = [placing for placing in placings if placing.status == RACING]
        if self._run.race.order == "best_lap":
            return list(placings)
        racing.sort(key=lambda placing: (-placing.laps, -self._find_way_into_lap(placing.row)))
        first = min((placing.place for placing in racing), default=0)
        ordered = iter([msgspec.structs.replace(placing, place=first + index) for index, placing in enumerate(racing)])
        return [next(ordered) if placing.status == RACING else placing for placing in placings]

    def measure_gap(self, row: int, ahead: int) -> float | None:
        """Return the time since a car ahead was where this one is now [s]; None: it was not."""
        car, other = self.cars.get(row), self.cars.get(ahead)
        if car is None or other is None:
            return None
        passed = other.find_time(car.place)
        return None if passed is None else max(0.0, car.time - self._zero(row) - (passed - self._zero(ahead)))

    def count_laps_behind(self, row: int, ahead: int) -> int:
        """Return how many whole laps a car is behind another."""
        if row not in self.cars or ahead not in self.cars:
            return 0
        return max(0, math.floor((self.cars[ahead].place - self.cars[row].place) / self._course.length))

    def rank_sectors(self, row: int) -> list[tuple[float, str] | None]:
        """Return time [s] and rank, "best", "own" or "", of the sectors of the lap that a car is in.

        Until it has passed its first gate they are those of the lap before.
        """
        car = self.cars.get(row)
        if car is None:
            return [None] * self._gates
        shown = car.sectors if any(time is not None for time in car.sectors) else car.last_sectors
        return [None if time is None else (time, self._rank(car, index, time)) for index, time in enumerate(shown)]

    def _rank(self, car: CarTimes, index: int, time: float) -> str:
        if time <= self._best[index]:
            return "best"
        return "own" if time <= car.best_sectors[index] else ""

    def _zero(self, row: int) -> float:
        """Return when a car's clock began, since green [s]."""
        race = self._run.race
        return 0.0 if race.clock == "green" else self._run.logs[row].begins.get(race.warm_up_laps + 1, 0.0)

    def _find_way_into_lap(self, row: int) -> float:
        car = self.cars.get(row)
        return -math.inf if car is None else car.place - max(0, car.lap - 1) * self._course.length

    # -- where cars are -----------------------------------------------------------------------------------------------

    def _follow(self, log: CarLog, along: float, time: float) -> None:
        course, car = self._course, self.cars.get(log.row)
        into = (along - course.gates[0]) % course.length
        if car is None:
            self._open(log, along, (log.lap - 1) * course.length + into, time)
            return
        place = car.place + course.measure_ahead(car.along, along)
        if log.lap != car.lap:
            car.lap = log.lap
            place = (log.lap - 1) * course.length + course.measure_ahead(course.gates[0], along)
        elif place > log.lap * course.length + BLUR:  # over the line, but the lap continues
            place -= course.length
        before, car.along = car.place, along
        car.move(place, time)
        if len(course.gates) == 1:
            self._pass_parts(log, car, before)

    def _open(self, log: CarLog, along: float, place: float, time: float) -> None:
        nothing: list[float | None] = [None] * self._gates
        self.cars[log.row] = CarTimes(
            place=place,
            time=time,
            first=math.floor(place / MARK) + 1,
            along=along,
            sectors=nothing,
            last_sectors=list(nothing),
            best_sectors=[math.inf] * self._gates,
            lap=log.lap,
        )

    def _pass_parts(self, log: CarLog, car: CarTimes, before: float) -> None:
        """Pass the gates that stand where there are no checkpoints."""
        for part in range(1, PARTS):
            place = self._course.length * (log.lap - 1 + part / PARTS)
            if log.lap and before < place <= car.place and (passed := car.find_time(place)) is not None:
                self._pass_gate(log, car, part, passed)

    def _pass_gate(self, log: CarLog, car: CarTimes, gate: int, time: float) -> None:
        sector = (gate - 1) % self._gates
        is_raced = self._run.race.warm_up_laps < log.lap - (gate == 0) and time <= self._run.score(log.row).done
        if car.gate == sector and is_raced:
            taken = round(time - car.gate_time, 6)
            car.sectors[sector] = taken
            car.best_sectors[sector] = min(car.best_sectors[sector], taken)
            self._best[sector] = min(self._best[sector], taken)
        if gate == 0:
            car.last_sectors, car.sectors = car.sectors, [None] * self._gates
        car.gate, car.gate_time = gate, time

    def _draw_chart(self) -> None:
        """Add a line to the chart when the leader has finished a lap."""
        if max(len(log.laps) for log in self._run.logs.values()) <= self._laps or self._run.race.order == "best_lap":
            return
        order = self.sort_placings(self._run.classify(is_over=False))
        if order[0].laps > self._laps:
            self._laps = order[0].laps
            for place, placing in enumerate(order, 1):
                self.chart[placing.row].append(place)
