"""A race in this process: whoever races drives, the director judges, everything is recorded."""

import colorsys
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from donkeysim.core.errors import DonkeySimError, SpecError, format_count
from donkeysim.core.types import PHYSICS_STEP, Report
from donkeysim.drivers.steering import Action
from donkeysim.envs.waiting import compile_aloud
from donkeysim.racing.rules import decision as decide
from donkeysim.racing.rules.act import Act
from donkeysim.racing.rules.course import RaceCourse, survey_course
from donkeysim.racing.rules.director import DRIVING, OVER, Director, Line, Result
from donkeysim.racing.rules.rule_book import RuleBook
from donkeysim.racing.run.race_file import Acted, Ended, RacePlan, pack_note
from donkeysim.racing.run.racer import Racer
from donkeysim.record.recorder import Recorder
from donkeysim.sim import commands
from donkeysim.sim.simulator import STEPS_PER_FRAME, Simulator
from donkeysim.world.experiment import Experiment
from donkeysim.world.ledger import Event
from donkeysim.world.scene import Scene
from donkeysim.world.specs import BodySpec, ChallengeSpec, SceneSpec, WorldSpec

# Without errors a race without chance would be the same in each attempt; 2 cm and 1° change nobody's chances.
LINE_UP_OFFSET, LINE_UP_YAW = 0.02, math.radians(1.0)
"""Cars are lined up as by hand: greatest error of place [m] and angle [rad], drawn from the seed and the attempt."""

BRAKING = 2.0
"""Brake per speed above a limit [s/m]."""

_MOVES = (decide.PutOnTrack, decide.PutOnGrid, decide.TakeOff)
"""A car that has gone meanwhile is not moved."""

_STOP = Action(0.0, 0.0, 1.0)

Engineer = Callable[[Director], Sequence[Act]]
"""Asked before every frame what the race engineer does now."""


@dataclass(frozen=True)
class RaceRecord:
    """A race that was driven.

    Attributes:
        result: How it ended.
        journal: Everything that was said and decided.
        file: The race file; None: none was asked for.
        time: How long it took on the world's clock, all sessions together [s].
    """

    plan: RacePlan
    result: Result
    journal: tuple[Line, ...]
    file: Path | None
    time: float


def specify_world(plan: RacePlan) -> WorldSpec:
    """Return the worlds of a race: one for all cars, or one for each where the rules let nobody meet."""
    # Without cones nothing is drawn, and the scene is the same in every race: it is built once.
    challenges = ChallengeSpec(cones=plan.book.cones, seed=plan.seed) if plan.book.cones else ChallengeSpec()
    experiment = Experiment((SceneSpec(plan.track, challenges=challenges),), plan.car, plan.seed)
    count = len(plan.names)
    return experiment.specify_world(*((count, 1) if plan.book.race.alone else (1, count)))


def make_director(plan: RacePlan, course: RaceCourse) -> Director:
    """Return the director of a race; car i is row i, in one world or in many."""
    return Director(plan.book, course, dict(enumerate(plan.names)), plan.seed)


def check_plan(plan: RacePlan) -> None:
    """Look for what makes a race impossible.

    Raises:
        SpecError: There are no cars or too many, or two have the same name.
    """
    count = len(plan.names)
    if count > plan.book.cars:
        raise SpecError(
            f"{format_count(count, 'car')} cannot race by these rules, which let {plan.book.cars} on the track; "
            "leave some out, or hold a tournament."
        )
    if not count or len(set(plan.names)) < count or "" in plan.names:
        raise SpecError(f"the cars are {list(plan.names)}; name one or more, each by a name of its own.")


def count_places(book: RuleBook, scene: Scene) -> int:
    """Return how many cars can race by these rules in a scene: they share a grid, unless each is alone."""
    return book.cars if book.race.alone else min(book.cars, len(scene.start.position))


class RaceRun:
    """One race on its way, frame by frame: the director, the cars, and who drives them.

    Attributes:
        simulator: Car i of the plan is its row i.
        time: Simulated so far, all sessions together [s].
        events: Of the last frame.
    """

    def __init__(
        self,
        plan: RacePlan,
        racers: Sequence[Racer],
        log: Path | None = None,
        worker_count: int = 1,
        bodies: Sequence[BodySpec] | None = None,
        jumpers: Collection[int] = (),
    ) -> None:
        """Build the track and put the cars on its grid.

        Args:
            racers: Who drives, in the order of the plan's names.
            log: The race file; None: none.
            bodies: Of the cars; None: with their names, in colours as far apart as they can be.
            jumpers: Rows of those who may go before green where the rules do not hold them; pilots wait for it.

        Raises:
            SpecError: The race is not possible, or the track does not return to its start.
            SceneError: There is no such track.
            DonkeySimError: The race file cannot be created.
        """
        check_plan(plan)
        self._plan, self._racers, self._jumpers = plan, racers, jumpers
        self.simulator = Simulator(specify_world(plan), worker_count=worker_count)
        try:
            course = survey_course(self.simulator.scene)
            room = count_places(plan.book, self.simulator.scene)
            if len(racers) > room:
                raise SpecError(
                    f"{format_count(len(racers), 'car')} cannot start on {course.name}: its grid has {room}."
                )
            self._recorder = None if log is None else Recorder(self.simulator, log)
        except DonkeySimError:
            self.simulator.close()
            raise
        if self._recorder is not None:
            self.simulator.listen(self._recorder)
            self._recorder.keep(pack_note(plan))
        self.director = make_director(plan, course)
        self.time = 0.0
        self.events: Sequence[Event] = ()
        self._seat(list(bodies or make_bodies(plan.names)))

    def _seat(self, bodies: list[BodySpec | None]) -> None:
        """Seat and dress the cars, and keep the moment to which every run goes back."""
        simulator, count = self.simulator, len(self._racers)
        compile_aloud(simulator)
        worlds = list(range(count)) if self._plan.book.race.alone else [0] * count
        simulator.apply(commands.Join(worlds, bodies))
        for row, racer in enumerate(self._racers):
            simulator.apply(commands.SetCamera([row], racer.camera))
        self._grid = np.hstack([simulator.ledger.spawn_position, simulator.ledger.spawn_orientation])
        self._beginning = simulator.snapshot()
        self._free: set[int] = set()
        self._limits: dict[int, float] = {}
        self._is_green, self._runs = False, 0

    def begin(self) -> Sequence[decide.Decision]:
        """Line up for the first session; return what was decided and done."""
        return self._carry_out(self.director.open())

    def pass_frame(self, step_count: int = STEPS_PER_FRAME) -> Sequence[decide.Decision]:
        """Step by one frame of `step_count` physics steps unless time is held; return what was decided."""
        if self.director.is_held or self.is_over:
            self.events = ()
            return ()
        self._drive()
        self.simulator.step(step_count)
        self.events = self.simulator.list_events()
        passed = step_count * PHYSICS_STEP
        self.time += passed
        return self._carry_out(self.director.advance(self.simulator.ledger, self.events, passed))

    def apply(self, act: Act) -> Sequence[decide.Decision]:
        """Carry out an act of the race engineer; return what was decided.

        Raises:
            SpecError: It is not possible.
        """
        decisions = self.director.apply(act, self.simulator.ledger)
        self._keep(Acted(act))  # before it is carried out, so that a recount judges it by the same rows
        return self._carry_out(decisions)

    @property
    def is_over(self) -> bool:
        """Whether there is a result."""
        return self.director.session == OVER

    def may_drive(self, row: int) -> bool:
        """Return whether the director lets a car drive now."""
        return row in self._free and (self._is_green or row in self._jumpers)

    def finish(self) -> RaceRecord:
        """End a race that is over, and its file."""
        result = self.director.result
        assert result is not None, "a race that is over has one"
        self._keep(Ended(result))
        self.simulator.close()
        file = None if self._recorder is None else self._recorder.path
        return RaceRecord(self._plan, result, tuple(self.director.journal), file, self.time)

    def abandon(self) -> None:
        """End a race that shall not be driven to its end; its file has no result."""
        self.simulator.close()

    def _keep(self, note: Acted | Ended) -> None:
        if self._recorder is not None:
            self._recorder.keep(pack_note(note))

    # -- frames -------------------------------------------------------------------------------------------------------

    def _drive(self) -> None:
        """Ask all who may drive what they do."""
        simulator, rows = self.simulator, self.simulator.list_cars()
        driving = [row for row in rows if self.may_drive(row)]
        looking = [row for row in driving if self._racers[row].camera is not None]
        if looking:
            simulator.render(looking)
        actions = [
            self._restrain(row, self._racers[row].decide(simulator, row)) if row in driving else _STOP for row in rows
        ]
        if rows:
            simulator.apply(commands.Drive(rows, *(list(values) for values in zip(*actions, strict=True))))

    def _restrain(self, row: int, action: Action) -> Action:
        """Return an action that keeps to a car's speed limit."""
        excess = abs(float(self.simulator.ledger.forward_speed[row])) - self._limits.get(row, math.inf)
        return action if excess < 0.0 else Action(action.steer, 0.0, min(1.0, BRAKING * excess))

    # -- decisions ----------------------------------------------------------------------------------------------------

    def _carry_out(self, decisions: Sequence[decide.Decision]) -> Sequence[decide.Decision]:
        """Do what the director has decided, and return it."""
        simulator = self.simulator
        for decision in decisions:
            if isinstance(decision, decide.LineUp):
                self._line_up(decision.rows)
            elif isinstance(decision, decide.Hold):
                self._free -= set(decision.rows)
            elif isinstance(decision, decide.Release):
                self._free |= set(decision.rows)
            elif isinstance(decision, decide.BeginSession):
                self._is_green = decision.session in DRIVING
            elif isinstance(decision, decide.LimitSpeed):
                self._limits[decision.row] = decision.speed
            elif isinstance(decision, _MOVES) and simulator.ledger.present[decision.row]:
                self._move(decision)
        return decisions

    def _move(self, decision: decide.PutOnTrack | decide.PutOnGrid | decide.TakeOff) -> None:
        """Put a car somewhere, or take it off."""
        if isinstance(decision, decide.PutOnTrack):
            self.simulator.put_on_path(decision.row, decision.along)
        elif isinstance(decision, decide.PutOnGrid):
            self.simulator.reset_car(decision.row)
        else:
            self.simulator.retire_car(decision.row)

    def _line_up(self, rows: Sequence[int]) -> None:
        """Put everything back to the beginning, the clock too, and cars on their places of the grid."""
        simulator, chosen = self.simulator, list(rows)
        simulator.apply(commands.Restore(self._beginning))
        self._free, self._limits = set(), {}
        self._runs += 1
        if others := [row for row in simulator.list_cars() if row not in chosen]:
            simulator.apply(commands.Retire(others))
        places = chosen if self._plan.book.race.alone else list(range(len(chosen)))
        pose = self._shift(self._grid[places], chosen)
        poses = pose[:, :3].tolist(), pose[:, 3:].tolist()
        simulator.apply(commands.SetSpawn(chosen, *poses))
        simulator.apply(commands.Reset(chosen))
        for row in chosen:
            self._racers[row].reset(simulator, row, self._plan.seed * 1000 + self._runs)

    def _shift(self, pose: np.ndarray, rows: Sequence[int]) -> np.ndarray:
        """Return poses with the small errors of a line-up by hand, shape [car_count, 7]."""
        random = np.random.default_rng([self._plan.seed, self._runs])
        errors = random.uniform(-1.0, 1.0, (len(self._racers), 3))[list(rows)]
        shifted = pose.copy()
        shifted[:, :2] += LINE_UP_OFFSET * errors[:, :2]
        half = 0.5 * LINE_UP_YAW * errors[:, 2]
        w, x, y, z = pose[:, 3:].T
        cosine, sine = np.cos(half), np.sin(half)
        shifted[:, 3:] = np.stack(
            [cosine * w - sine * z, cosine * x - sine * y, cosine * y + sine * x, cosine * z + sine * w], 1
        )
        return shifted


def make_bodies(names: Sequence[str]) -> list[BodySpec]:
    """Return bodies with a name plate each, in colours as far apart as they can be."""
    colours = pick_colours(len(names))
    return [BodySpec(name=name, colour=colour) for name, colour in zip(names, colours, strict=True)]


def pick_colours(count: int) -> list[tuple[int, int, int]]:
    """Return colours as far apart as they can be, sRGB 0 to 255."""
    shades = [colorsys.hsv_to_rgb(slot / count, 0.85, 0.9) for slot in range(count)]
    return [(round(255 * red), round(255 * green), round(255 * blue)) for red, green, blue in shades]


class PilotRace:
    """A race faster than real time."""

    def __init__(self, plan: RacePlan, racers: Sequence[Racer], log: Path | None = None) -> None:
        """Build the track and put the cars on its grid; see `RaceRun`."""
        self._plan = plan
        self._run = RaceRun(plan, racers, log)

    def run(self, report: Report = lambda _done, _total: None, engineer: Engineer | None = None) -> RaceRecord:
        """Drive it to its end.

        Args:
            report: Called as report(laps done, laps in all), those of the first car.
            engineer: The race engineer; None: there is none.
        """
        run = self._run
        run.begin()
        while not run.is_over:
            for act in engineer(run.director) if engineer is not None else ():
                run.apply(act)
            run.pass_frame()
            report(*self._measure())
        return run.finish()

    def _measure(self) -> tuple[int, int]:
        race = self._run.director.run.race
        return max(log.lap for log in self._run.director.run.logs.values()), race.laps + race.warm_up_laps or 1
