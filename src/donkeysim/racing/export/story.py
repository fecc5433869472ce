"""What a report says about a race, gathered on a walk through its file: laps, best laps along the track, incidents."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from donkeysim.racing.export.walk import RaceWalk
from donkeysim.racing.rules.classification import Placing
from donkeysim.racing.rules.director import Line
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.rules.rule_book import Penalty
from donkeysim.racing.rules.run import Run
from donkeysim.racing.rules.scoring import Lap, Tally, count_costs
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.verify import Verification
from donkeysim.world.scene import Scene


@dataclass
class Trace:
    """Where and how fast a car drove a lap, a point for each frame.

    Attributes:
        along: Length of the path [m].
        speed: Along the nose [m/s].
        x: [m, world frame]
        y: [m, world frame]
    """

    along: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class CarStory:
    """What a car has driven in the run that counts.

    Attributes:
        placing: Its line of the classification.
        colour: Paint, sRGB 0 to 255.
        grid: Its place on the grid, from 1.
        laps: All that it has finished, also those that do not count.
        ends: When it had each of the laps that count, on the clock by which times are taken [s].
        best: Its fastest lap; None: it has finished none.
    """

    placing: Placing
    colour: tuple[int, int, int]
    grid: int
    laps: tuple[Lap, ...]
    ends: tuple[float, ...]
    best: Trace | None

    @property
    def row(self) -> int:
        """Of the race file."""
        return self.placing.row

    @property
    def name(self) -> str:
        """As entered; any text."""
        return self.placing.name


@dataclass(frozen=True)
class IncidentStory:
    """An incident, and what came of it.

    Attributes:
        incident: As the director noted it.
        cost: In words; "" for nothing.
        place: Where the car was, x and y [m]; None: it was not there.
        is_undone: Whether the race engineer has taken it back.
    """

    incident: Incident
    cost: str
    place: tuple[float, float] | None
    is_undone: bool


@dataclass(frozen=True)
class RaceStory:
    """A race as a report shows it.

    Attributes:
        plan: What was driven.
        verdict: Whether its file holds.
        cars: In the order of the classification.
        incidents: In order.
        time: Simulated in all [s].
    """

    plan: RacePlan
    scene: Scene
    verdict: Verification
    cars: tuple[CarStory, ...]
    incidents: tuple[IncidentStory, ...]
    journal: tuple[Line, ...]
    time: float


class StoryKeeper:
    """Keeps what a report needs: of each car the lap that it drives and its fastest one, no more."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._places: dict[int, tuple[float, float]] = {}

    def note(self, walk: RaceWalk) -> None:
        """Note a frame."""
        run, ledger = walk.director.run, walk.simulator.ledger
        if run is not self._run:
            self._run = run
            self._driving: dict[int, Trace] = {}
            self._best: dict[int, Trace] = {}
            self._counts = dict.fromkeys(run.logs, 0)
        for incident in walk.incidents:
            if ledger.present[incident.row]:
                x, y, _ = ledger.position[incident.row].tolist()
                self._places[incident.number] = (x, y)
        for row, log in run.logs.items():
            if len(log.laps) > self._counts[row]:
                self._end_lap(row, log.laps)
            if ledger.present[row] and log.lap:
                self._note_place(walk, row)

    def _end_lap(self, row: int, laps: list[Lap]) -> None:
        self._counts[row] = len(laps)
        trace = self._driving.pop(row, None)
        if trace is not None and laps[-1].time <= min(lap.time for lap in laps):
            self._best[row] = trace

    def _note_place(self, walk: RaceWalk, row: int) -> None:
        ledger, trace = walk.simulator.ledger, self._driving.setdefault(row, Trace())
        trace.along.append(float(ledger.along[row]))
        trace.speed.append(float(ledger.forward_speed[row]))
        trace.x.append(float(ledger.position[row, 0]))
        trace.y.append(float(ledger.position[row, 1]))

    def make_story(self, walk: RaceWalk, verdict: Verification) -> RaceStory:
        """Return the story, after the last frame."""
        run = walk.director.run
        placings = verdict.counted.placings if verdict.counted else tuple(walk.standing.values())
        cars = [self._describe_car(walk, placing) for placing in placings]
        costs = price_incidents(verdict.plan.book.penalty, run)
        incidents = [
            IncidentStory(item, costs[item.number], self._places.get(item.number), is_undone=item.number in run.undone)
            for item in run.incidents
        ]
        journal = tuple(walk.director.journal)
        scene = walk.simulator.scene
        return RaceStory(verdict.plan, scene, verdict, tuple(cars), tuple(incidents), journal, walk.time)

    def _describe_car(self, walk: RaceWalk, placing: Placing) -> CarStory:
        row, run = placing.row, walk.director.run
        log, score = run.logs[row], run.score(row)
        zero = score.laps[-1].end - score.last if score.laps else 0.0
        ends = tuple(lap.end - zero for lap in score.laps)
        return CarStory(placing, walk.find_body(row).colour, log.grid + 1, tuple(log.laps), ends, self._best.get(row))


def price_incidents(penalties: tuple[Penalty, ...], run: Run) -> dict[int, str]:
    """Return what each incident of a run has cost, in words, by number: by how much it changed what the car owes."""
    costs = dict.fromkeys((incident.number for incident in run.incidents), "")
    for row in run.logs:
        counted: list[Incident] = []
        before = count_costs(penalties, counted)
        for incident in run.incidents:
            if incident.row == row and incident.number not in run.undone:
                counted.append(incident)
                after = count_costs(penalties, counted)
                costs[incident.number] = ", ".join(_describe_difference(before, after))
                before = after
    return costs


def _describe_difference(before: Tally, after: Tally) -> Iterable[str]:
    if seconds := round(after.seconds - before.seconds, 6):
        yield f"{seconds:g} s"
    if laps := after.laps - before.laps:
        yield f"{laps} lap{'s' if laps > 1 else ''}"
    if after.voided - before.voided:
        yield "the lap does not count"
    if after.out and not before.out:
        yield after.out
