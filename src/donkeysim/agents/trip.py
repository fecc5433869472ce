"""A trip: one car driven turn by turn. Simulated time passes in turns only, so that a slow thinker misses nothing."""

import math
import time
from dataclasses import dataclass

import numpy as np

from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.step import Step
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import CameraSpec
from donkeysim.world.state import HIT_NONE

FRAME = 0.05
"""Between two decisions about the throttle [s]."""

MOST_SPEED, MOST_BACK = 2.0, 0.5
"""Speeds that may be asked for, forwards and backwards [m/s]."""

# At the greatest speed a turn then makes 10 m, more than any picture shows of the road.
MOST_SECONDS = 5.0
"""Longest turn [s]."""

LOST_TIME = 2.0
"""A trip ends for a car that has been off the road for so long [s]."""

# Losses alone take 0.079 per m/s (`wheel_damping` and drag over the greatest force); the rest is for the slip of the
# tyres.
HOLD, GAIN = 0.085, 0.5
"""Throttle per speed asked for, about what the default car needs to hold it, and per missing speed [s/m]."""

STANDS = 0.03
"""A car slower than this stands [m/s]."""

# The brake of the default car gives 2.6 m/s², so it stops from 2 m/s within a second; a weaker one, or a slope, may
# need longer.
MOST_STOPPING = 3.0
"""Longest that stopping takes [s]."""

ENDINGS = ("stopped", "time is up", "lost the road", "client left")


@dataclass(frozen=True)
class Readings:
    """What is known after a turn.

    Attributes:
        seconds: Simulated, since the trip began.
        metres: Way made along the road.
        laps: Whole ones.
        speed: Along the nose [m/s].
        on_road: Whether the car is on the road.
        hits: How often it has touched something.
        turns: How many there were.
        ending: Why the trip is over, one of `ENDINGS`; empty: it is not over.
    """

    seconds: float
    metres: float
    laps: int
    speed: float
    on_road: bool
    hits: int
    turns: int
    ending: str


@dataclass(frozen=True)
class TripSummary:
    """What a trip was worth.

    Attributes:
        readings: The last ones.
        turn_time: Mean of the time that the driver thought before a turn [s].
    """

    track: str
    readings: Readings
    turn_time: float


class Trip:
    """One drive after another of one car on one track."""

    def __init__(self, experiment: Experiment, camera: CameraSpec, time_limit: float) -> None:
        """Build the track and put the car on the grid.

        Args:
            time_limit: Simulated time after which a trip is over [s].

        Raises:
            DonkeySimError: There is no such track, or a number is not possible.
        """
        if not time_limit > 0:
            raise SpecError(f"a time limit of {time_limit:g} s is not valid; it takes a number above 0.")
        self._track, self._seed, self._time_limit = experiment.scene.name, experiment.seed, time_limit
        self._fleet = Fleet(experiment, 1)
        self._fleet.open(camera)
        self.begin()

    def begin(self) -> None:
        """Begin a new trip, on the grid."""
        self._fleet.seed(0, self._seed)
        self._step: Step = self._fleet.begin([0])
        self._turns = self._hits = 0
        self._thought, self._waits_since = 0.0, time.monotonic()
        self._ending = ""

    @property
    def readings(self) -> Readings:
        """What is known now."""
        step = self._step
        return Readings(
            seconds=round(float(step.time[0]), 2),
            metres=round(float(step.furthest[0]), 2),
            laps=int(step.laps[0]),
            speed=round(float(step.forward_speed[0]), 3),
            on_road=bool(step.on_road[0]),
            hits=self._hits,
            turns=self._turns,
            ending=self._ending,
        )

    @property
    def summary(self) -> TripSummary:
        """What the trip was worth so far."""
        return TripSummary(self._track, self.readings, self._thought / max(self._turns, 1))

    def look(self) -> ByteArray:
        """Return what the camera sees now, shape [height, width, 3]; no time passes."""
        simulator = self._fleet.simulator
        simulator.render([0])
        return simulator.get_picture(0)

    def drive(self, steering: float, speed: float, seconds: float) -> Readings:
        """Drive for a while, then time stands still again.

        Args:
            steering: -1 to 1, + = right.
            speed: To reach and hold [m/s].
            seconds: For how long, in steps of 0.05 s.

        Raises:
            SpecError: A number is not possible, or the trip is over.
        """
        self._check_turn(steering, speed, seconds)
        self._begin_turn()
        for _ in range(max(1, round(seconds / FRAME))):
            if not self._ending:
                self._pass_frame(-steering, speed)
        self._waits_since = time.monotonic()
        return self.readings

    def stop(self) -> Readings:
        """Brake until the car stands, and end the trip.

        Raises:
            SpecError: It is over already.
        """
        self._require_going()
        self._begin_turn()
        for _ in range(round(MOST_STOPPING / FRAME)):
            if self._ending or abs(float(self._step.forward_speed[0])) < STANDS:
                break
            self._pass_frame(0.0, 0.0, brake=1.0)
        self._ending = self._ending or ENDINGS[0]
        return self.readings

    def leave(self) -> None:
        """End the trip because its driver is gone."""
        self._ending = self._ending or ENDINGS[3]

    def close(self) -> None:
        """Stop the simulator's threads."""
        self._fleet.close()

    def _begin_turn(self) -> None:
        self._thought += time.monotonic() - self._waits_since
        self._turns += 1

    def _pass_frame(self, steer: float, speed: float, brake: float = 0.0) -> None:
        now = float(self._step.forward_speed[0])
        throttle = 0.0 if brake else min(max(HOLD * speed + GAIN * (speed - now), -1.0), 1.0)
        step = self._fleet.advance(np.array([steer]), np.array([throttle]), np.array([brake]))
        self._step = step
        self._hits += int(step.hit[0] != HIT_NONE)
        if step.off_road_time[0] > LOST_TIME:
            self._ending = ENDINGS[2]
        elif step.time[0] >= self._time_limit:
            self._ending = ENDINGS[1]

    def _check_turn(self, steering: float, speed: float, seconds: float) -> None:
        self._require_going()
        if not (math.isfinite(steering) and -1.0 <= steering <= 1.0):
            raise SpecError(f"steering is {steering:g}; it takes -1 (left) to 1 (right).")
        if not (math.isfinite(speed) and -MOST_BACK <= speed <= MOST_SPEED):
            raise SpecError(f"speed is {speed:g}; it takes {-MOST_BACK:g} to {MOST_SPEED:g} m/s.")
        if not (math.isfinite(seconds) and FRAME <= seconds <= MOST_SECONDS):
            raise SpecError(f"seconds is {seconds:g}; it takes {FRAME:g} to {MOST_SECONDS:g}.")

    def _require_going(self) -> None:
        if self._ending:
            raise SpecError(f"the trip is over ({self._ending}); call observe to begin a new one.")
