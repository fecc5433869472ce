"""Steering along a planned line: what the line asks of the front wheels, and feedback on what the car does instead.

The feedforward inverts the bicycle model with the tyres' friction curve along the plan: side forces from the plan's
accelerations, slip angles from the forces, wheel angle and attitude from the slip angles. The feedback is a linear
quadratic regulator on the same model, for the rate at which a driver is asked. Near the limit a car answers to its
wheels with a lag that geometry alone knows nothing of.

References:
    Rajamani, Vehicle Dynamics and Control, 2nd ed., sections 2.5 (error dynamics) and 3.2 (feedforward).
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from donkeysim.core.rotation import wrap_angle
from donkeysim.core.types import FloatArray
from donkeysim.drivers.lap_time import SpeedPlan, find_axles, list_around
from donkeysim.world.path_frame import take_next, take_previous
from donkeysim.world.specs import CarSpec

PERIOD = 0.05
"""Time for which a command holds, at the longest [s]."""

SPEEDS = tuple(0.4 + 0.4 * step for step in range(14))
"""Speeds for which gains are made [m/s]."""

STIFFNESS_SHARE = 0.7
"""Share of the tyres' stiffness at no slip that the feedback counts on; less is there near the limit."""

# 0.35 m off the line costs as much as 1 rad of yaw, and 0.2 m as much as full lock (0.28 rad, with `ANGLE_WEIGHT`).
WEIGHTS = (8.0, 0.0, 1.0, 0.0)
"""Cost of distance² [1/m²], its rate², yaw error² [1/rad²], its rate²."""

ANGLE_WEIGHT = 4.0
"""Cost of wheel angle² [1/rad²]."""

# A little more than a wheelbase: front and rear axle cannot feel more than their mean.
SMOOTHING = 0.25
"""Length over which the plan's accelerations are averaged [m]."""


@dataclass(frozen=True)
class Bicycle:
    """A car seen from above as one front and one rear wheel.

    Attributes:
        mass: [kg]
        inertia: About the vertical axis [kg m²].
        front: From the centre of mass to the front axle [m].
        rear: To the rear axle [m], positive.
        stiffness: Side force per load and slip angle, at no slip [1/rad].
        slip_speed: Low-speed constant of the slip angle [m/s].
        gravity: [m/s²]
    """

    mass: float
    inertia: float
    front: float
    rear: float
    stiffness: float
    slip_speed: float
    gravity: float

    @property
    def base(self) -> float:
        """Wheelbase [m]."""
        return self.front + self.rear


@dataclass(frozen=True)
class Attitude:
    """How a car stands and steers when it drives a plan exactly; shape [point_count] each.

    Attributes:
        angle: Of the front wheels, + = left [rad].
        yaw: Of the body [rad].
        yaw_rate: [rad/s]
    """

    angle: FloatArray
    yaw: FloatArray
    yaw_rate: FloatArray


def make_bicycle(car: CarSpec) -> Bicycle:
    """Return the bicycle of a car."""
    front, rear = find_axles(car)
    length, width, _ = car.chassis_size
    curve = car.sideways
    gain = curve.stiffness * (car.load_share + car.load_rest)
    return Bicycle(
        mass=car.mass,
        inertia=car.mass * (length**2 + width**2) / 12.0 if car.inertia is None else car.inertia[2],
        front=front - car.centre_of_mass[0],
        rear=car.centre_of_mass[0] - rear,
        stiffness=curve.origin_slope * gain * curve.extremum_value / curve.extremum_slip,
        slip_speed=car.slip_speed_lateral,
        gravity=car.gravity,
    )


def plan_attitude(plan: SpeedPlan, car: CarSpec, friction: FloatArray) -> Attitude:
    """Return wheel angle and attitude along a plan.

    Args:
        friction: Of the ground under each point, shape [point_count].
    """
    bicycle = make_bicycle(car)
    speed, time = plan.speed, 2.0 * plan.length / (plan.speed + np.roll(plan.speed, -1))
    bend = _smooth(plan.curvature, plan.length, plan.closed)
    side = speed * speed * bend
    along = _smooth(plan.acceleration, plan.length, plan.closed)
    grip = friction * car.gravity
    heading = np.unwrap(plan.heading)
    drift = bicycle.rear * bend - _find_slip(side / grip, along / grip, speed, car)
    rate = speed * bend - _differ(drift, time, plan.closed)
    turning = _smooth(_differ(rate, time, plan.closed), plan.length, plan.closed) * bicycle.inertia / bicycle.mass
    front = _find_slip((side + turning / bicycle.rear) / grip, along / grip, speed, car)
    rear = _find_slip((side - turning / bicycle.front) / grip, along / grip, speed, car)
    drift = bicycle.rear * rate / speed - rear
    angle = front + drift + bicycle.front * rate / speed
    return Attitude(angle=angle, yaw=heading - drift, yaw_rate=rate)


@functools.cache  # all drivers of cars of a kind share them
def make_gains(bicycle: Bicycle) -> tuple[tuple[float, float, float, float], ...]:
    """Return the feedback gains for each of `SPEEDS`: wheel angle per distance [rad/m], its rate [rad s/m], yaw error
    [-] and its rate [s].
    """
    gains = []
    for speed in SPEEDS:
        move, push = _linearise(bicycle, speed)
        gains.append(_solve_regulator(move, push))
    return tuple(gains)


def _linearise(bicycle: Bicycle, speed: float) -> tuple[FloatArray, FloatArray]:
    """Return the error dynamics over one period: x' = move x + push angle."""
    grip = STIFFNESS_SHARE * bicycle.stiffness * bicycle.gravity * speed / (speed + bicycle.slip_speed)
    front, rear = grip * bicycle.rear / bicycle.base, grip * bicycle.front / bicycle.base
    radius = bicycle.inertia / bicycle.mass
    arm = bicycle.front * front - bicycle.rear * rear
    square = bicycle.front**2 * front + bicycle.rear**2 * rear
    rates = np.array(
        [
            [0.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, -(front + rear) / speed, front + rear, -arm / speed, front],
            [0.0, 0.0, 0.0, 1.0, 0.0],
            [0.0, -arm / (radius * speed), arm / radius, -square / (radius * speed), bicycle.front * front / radius],
            [0.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
    step = np.eye(5) + rates * (PERIOD / 256.0)
    for _ in range(8):
        step = step @ step
    return step[:4, :4], step[:4, 4]


def _solve_regulator(move: FloatArray, push: FloatArray) -> tuple[float, float, float, float]:
    """Return the gains of the discrete linear quadratic regulator, by value iteration."""
    cost = np.diag(WEIGHTS)
    value = cost.copy()
    gain = np.zeros(4)
    for _ in range(400):
        gain = (push @ value @ move) / (ANGLE_WEIGHT + push @ value @ push)
        value = cost + move.T @ value @ (move - np.outer(push, gain))
    first, second, third, fourth = gain.tolist()
    return first, second, third, fourth


def _find_slip(side: FloatArray, along: FloatArray, speed: FloatArray, car: CarSpec) -> FloatArray:
    """Return the angle [rad] at which tyres give a side force, + = force to the left.

    Args:
        side: Wanted, in units of friction times load.
        along: The force along the road that they give beside it, the same.
        speed: [m/s]
        car: For the friction curve.
    """
    curve = car.sideways
    share = np.linspace(0.0, 0.9, 91)
    value = curve.origin_slope * share * (1.0 - share) ** 2 + share**2 * (3.0 - 2.0 * share)
    total = np.hypot(side, along)
    most = curve.extremum_value * curve.stiffness * (car.load_share + car.load_rest)
    slip = curve.extremum_slip * np.interp(total / most, value, share)
    lateral = np.tan(slip * side / np.maximum(total, 1e-9))
    return np.asarray(np.arctan(lateral * (speed + car.slip_speed_lateral) / speed))


def _smooth(value: FloatArray, length: FloatArray, closed: bool) -> FloatArray:
    """Return a running mean over about `SMOOTHING` metres."""
    half = round(0.5 * SMOOTHING / float(np.median(length)))
    return np.asarray(value[list_around(len(value), half, closed)].mean(axis=1))


def _differ(value: FloatArray, time: FloatArray, closed: bool) -> FloatArray:
    """Return the derivative by time at every point, by central differences."""
    return np.asarray((take_next(value, closed) - take_previous(value, closed)) / (time + np.roll(time, 1)))


class Motion(NamedTuple):
    """What the regulator must know of a car.

    Attributes:
        offset: Left of the line [m].
        course: Direction of motion against the line's heading [rad].
        speed: [m/s]
        yaw: [rad]
        yaw_rate: [rad/s]
    """

    offset: float
    course: float
    speed: float
    yaw: float
    yaw_rate: float


class Regulator:
    """Turns a car's motion relative to a plan into a wheel angle."""

    def __init__(self, plan: SpeedPlan, car: CarSpec, friction: FloatArray) -> None:
        attitude = plan_attitude(plan, car, friction)
        self._angle: list[float] = attitude.angle.tolist()
        self._yaw: list[float] = attitude.yaw.tolist()
        self._turn: list[float] = (attitude.yaw_rate / plan.speed).tolist()
        self._gains = make_gains(make_bicycle(car))

    def find_angle(self, motion: Motion, index: int, ahead: int, approach: float) -> float:
        """Return the wheel angle, + = left, not limited [rad].

        Args:
            index: Point of the plan where the car is.
            ahead: Point where it will be in the middle of the command's time.
            approach: Greatest angle at which to come back to the line [rad].
        """
        share = (motion.speed - SPEEDS[0]) / (SPEEDS[1] - SPEEDS[0])
        row = max(0, min(len(SPEEDS) - 2, int(share)))
        share = max(0.0, min(1.0, share - row))
        low, high = self._gains[row], self._gains[row + 1]
        by_offset, by_rate, by_yaw, by_yaw_rate = (a + share * (b - a) for a, b in zip(low, high, strict=True))
        most = approach * (by_rate * motion.speed + by_yaw) / by_offset
        return (
            self._angle[ahead]
            - by_offset * max(-most, min(most, motion.offset))
            - by_rate * motion.speed * math.sin(motion.course)
            - by_yaw * wrap_angle(motion.yaw - self._yaw[index])
            - by_yaw_rate * (motion.yaw_rate - motion.speed * self._turn[index])
        )


class Action(NamedTuple):
    """What a driver asks its car for; it holds until the next."""

    steer: float
    """-1 to 1, + = left."""
    throttle: float
    """-1 to 1."""
    brake: float
    """0 to 1."""
