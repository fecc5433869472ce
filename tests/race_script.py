"""A race as a script: cars that go round at a steady pace, and what happens to them where the script says.

The world is a straight line that is read modulo the length of the track: 25 m, with checkpoints at 8 and 16 m. A car
with lap time T stands 1 m behind the line, crosses it T / 25 after green, and then once every T, exactly; so results
can be worked out by hand. Laps are told as the simulator tells them: a lap without all its checkpoints goes on.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, fields

import numpy as np

from donkeysim.racing.rules import decision as decide
from donkeysim.racing.rules.course import RaceCourse
from donkeysim.racing.rules.director import COUNTDOWN, OVER, RACE, Director
from donkeysim.world.ledger import (
    EVENT_CHECKPOINT,
    EVENT_CROSSING,
    EVENT_HIT,
    EVENT_LAP,
    EVENT_LEFT_ROAD,
    EVENT_MISSED_CHECKPOINT,
    Event,
    Ledger,
)
from donkeysim.world.state import HIT_CAR, HIT_NONE

LENGTH, GATES, FRAME = 25.0, (0.0, 8.0, 16.0), 0.05
COURSE = RaceCourse("script", LENGTH, GATES, ("terrain", "wall", "cone"))
WALL, CONE = 1, 2


def make_ledger(count, cars_per_world):
    shapes = {"position": (count, 3), "velocity": (count, 3), "touching": (count, 4)}
    rows = {
        field.name: np.zeros(shapes.get(field.name, count))
        for field in fields(Ledger)
        if field.name != "cars_per_world"
    }
    ledger = Ledger(cars_per_world, **rows)
    ledger.present[:] = ledger.upright[:] = 1.0
    ledger.touching[:] = HIT_NONE
    ledger.path_length[:] = LENGTH
    object.__setattr__(ledger, "on_road", np.ones(count, bool))
    return ledger


@dataclass
class Car:
    """One car of a script.

    Attributes:
        lap_time: [s]
        way: Since the line, negative before it [m].
        speed_most: A limit, by the director [m/s].
        is_held: By the director.
        moves: False: it stands, whatever its lap time.
        passed: Gates passed in this lap; -1: not in a lap yet.
        begun: When the lap began [s].
        misses: Whether it goes round the next checkpoint.
        events: What happens to it in the next frame.
    """

    lap_time: float
    way: float = -1.0
    speed_most: float = math.inf
    is_held: bool = True
    moves: bool = True
    passed: int = -1
    begun: float = 0.0
    misses: bool = False

    @property
    def speed(self):
        return 0.0 if self.is_held or not self.moves else min(LENGTH / self.lap_time, self.speed_most)


class Script:
    """Drives a director."""

    def __init__(self, book, lap_times, names=None, seed=0):
        self.book = book
        names = names or [f"car {row}" for row in range(len(lap_times))]
        count = len(lap_times)
        self.cars = [Car(lap_time) for lap_time in lap_times]
        self.names = names
        self.ledger = make_ledger(count, 1 if book.race.alone else count)
        self.director = Director(book, COURSE, dict(enumerate(names)), seed)
        self.time, self.is_green = 0.0, False
        self.plans, self.jumps = defaultdict(list), {}
        self.told = []
        self.pending = []
        self.carry_out(self.director.open())

    def plan(self, row, lap, share, act):
        """Let `act(script, row)` happen in every attempt of the race where a car has driven so much of a lap."""
        self.plans[row].append((LENGTH * (lap - 1 + share), act))

    def jump(self, row, far=0.2):
        """Let a car creep forward in the countdown, if nothing holds it, and roll back: its times stay the same."""
        self.jumps[row] = far

    def run(self, seconds=5000.0):
        """Let the race run to its end and return the result."""
        for _ in range(round(seconds / FRAME)):
            if self.director.session == OVER:
                break
            self.step()
        return self.director.result

    def run_until(self, session):
        while self.director.session != session:
            self.step()

    def step(self):
        events = []
        for row, car in enumerate(self.cars):
            events += self.move(row, car.speed * FRAME if self.is_green else 0.0)
            if self.director.session == COUNTDOWN and not car.is_held:
                self.ledger.position[row, 0] += self.jumps.pop(row, 0.0)
        for row in range(len(self.cars)):
            self.do_plans(row)
        events += self.pending
        self.pending = []
        self.time += FRAME
        self.ledger.time[:] = self.time
        self.carry_out(self.director.advance(self.ledger, sorted(events, key=lambda event: event.time)))

    def do_plans(self, row):
        if self.director.session != RACE:
            return
        for index, (where, act) in enumerate(self.plans[row]):
            if self.cars[row].way >= where and (row, index) not in self.done:
                self.done.add((row, index))
                act(self, row)

    def move(self, row, far):
        """Move a car and return the gates that it passes."""
        car, ledger, events = self.cars[row], self.ledger, []
        old, car.way = car.way, car.way + far
        for turn in range(math.floor(old / LENGTH), math.floor(car.way / LENGTH) + 1):
            for gate, place in enumerate(GATES):
                at = turn * LENGTH + place
                if old < at <= car.way:
                    events += self.pass_gate(row, gate, self.time + FRAME * (at - old) / far)
        ledger.along[row], ledger.gain[row] = car.way % LENGTH, far
        ledger.position[row, 0] = car.way
        ledger.velocity[row, 0] = far / FRAME
        is_still = far == 0.0 and self.is_green and not car.is_held
        ledger.still_time[row] = ledger.still_time[row] + FRAME if is_still else 0.0
        return events

    def pass_gate(self, row, gate, time):
        car, events = self.cars[row], []
        if gate > 0:
            if car.misses:
                car.misses = False
            elif car.passed == gate - 1:
                car.passed = gate
                events.append(Event(time, row, EVENT_CHECKPOINT, float(gate - 1)))
            return events
        if car.passed in (0, 1):
            return [Event(time, row, EVENT_MISSED_CHECKPOINT, float(car.passed))]
        if car.passed == 2:
            events.append(Event(time, row, EVENT_LAP, time - car.begun))
        car.passed, car.begun = 0, time
        return [*events, Event(time, row, EVENT_CROSSING, 0.0)]

    def carry_out(self, decisions):
        for decision in decisions:
            self.told.append(decision)
            if isinstance(decision, decide.LineUp):
                self.line_up(decision.rows)
            elif isinstance(decision, decide.Hold | decide.Release):
                for row in decision.rows:
                    self.cars[row].is_held = isinstance(decision, decide.Hold)
            elif isinstance(decision, decide.ShowFlag) and decision.flag == "green" and decision.row < 0:
                self.is_green = True
            elif isinstance(decision, decide.BeginSession) and decision.session in ("grid", "countdown"):
                self.is_green = False
            elif isinstance(decision, decide.PutOnTrack):
                car = self.cars[decision.row]
                car.way = LENGTH * math.floor(car.way / LENGTH) + decision.along
                self.begin_anew(decision.row)
            elif isinstance(decision, decide.PutOnGrid):
                self.cars[decision.row].way, self.cars[decision.row].passed = -1.0, -1
                self.begin_anew(decision.row)
            elif isinstance(decision, decide.TakeOff):
                self.ledger.present[decision.row] = 0
            elif isinstance(decision, decide.LimitSpeed):
                self.cars[decision.row].speed_most = decision.speed

    def begin_anew(self, row):
        """A car that was put somewhere drives on."""
        self.cars[row].moves = True
        for name in ("still_time", "wrong_way_time", "off_road_time"):
            getattr(self.ledger, name)[row] = 0.0
        self.ledger.on_road[row] = True

    def line_up(self, rows):
        self.done = set()
        for row, car in enumerate(self.cars):
            self.cars[row] = Car(car.lap_time)
            self.begin_anew(row)
            self.ledger.present[row] = row in rows
            self.move(row, 0.0)
            self.ledger.velocity[row] = 0.0

    def apply(self, act):
        self.carry_out(self.director.apply(act, self.ledger))


# -- what may happen --------------------------------------------------------------------------------------------------


def stop(script, row):
    """The car stands until it is put somewhere."""
    script.cars[row].moves = False


def cut(script, row):
    """The car is back on the road 2 m further on than it has driven."""
    script.cars[row].way += 2.0
    script.ledger.along[row] = script.cars[row].way % LENGTH


def leave_road(script, row):
    script.pending.append(Event(script.time, row, EVENT_LEFT_ROAD, 0.5))


def turn_round(script, row):
    """The car has gone the wrong way for longer than any book allows."""
    script.ledger.wrong_way_time[row] = 3.5


def vanish(script, row):
    """The client is gone."""
    script.ledger.present[row] = 0
    script.cars[row].moves = False


def touch(script, row, what=WALL):
    script.pending.append(Event(script.time, row, EVENT_HIT, float(what)))


def miss_checkpoint(script, row):
    script.cars[row].misses = True


def ram(victim):
    """The car drives into another from behind; both tell of it, as both are touched."""

    def act(script, row):
        place = script.ledger.position[row, 0]
        script.ledger.position[victim, 0] = place + 0.3
        script.pending += [
            Event(script.time, row, EVENT_HIT, float(HIT_CAR + victim)),
            Event(script.time, victim, EVENT_HIT, float(HIT_CAR + row)),
        ]

    return act
