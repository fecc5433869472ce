"""A driver who drives as people do, to learn from: looks ahead, holds a steady thumb, wobbles, is pushed, comes back.

What it means to do (`Intent`) and what its hands do (`Control`) differ: the hands shake a little, and now and then
something pushes the car off its line for half a second. The intent is right at every moment, so a pilot that learns it
has seen how to come back from where its own small errors will take it (Laskey and others, DART, 2017).

Steering is pure pursuit of a point on the line that the camera sees, so a picture is enough to find the angle. The
throttle depends on the place alone, but for a little feedback, and never brakes: with the original's car a smooth thumb
keeps the speed by itself. `path_follower` laps faster and nearer to the line; its feedback on yaw rate, slip and a few
centimetres is not in a picture, and what learns from it is ten times as wrong about the angle.

References:
    Coulter, Implementation of the pure pursuit path tracking algorithm, CMU-RI-TR-92-01 (1992).
    Laskey, Lee, Fox, Dragan, Goldberg, DART: noise injection for robust imitation learning, CoRL (2017).
"""

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from donkeysim.core.types import FloatArray, LongArray
from donkeysim.drivers.driving_line import LineTable, count_points_per_node, find_least_radius, measure_room, plan_path
from donkeysim.drivers.lap_time import GripUse, Powertrain, SpeedPlan, find_axles, list_around, make_powertrain
from donkeysim.drivers.steering import Action
from donkeysim.world.ledger import Ledger
from donkeysim.world.path_frame import take_next
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec
from donkeysim.world.tracks.terrain.ground import sample_height

PERIOD = 0.05
"""Time between two calls of `drive` [s]."""

# Slower than the steady path follower (0.55 and 1.5 m/s): a pilot of such driving makes errors of its own, and
# needs grip and time to come back.
GRIP, TOP_SPEED = GripUse(0.45, 0.4), 1.3
"""Use of the grip in bends, and greatest speed [m/s]."""

# Full throttle gives five times as much; a gentle thumb can be learned from a picture, which does not show
# the speed. A coasting car loses a fifth of its speed a second; a share less leaves something to correct with.
GAIN_MOST, COAST_SHARE = 0.5, 0.8
"""Greatest acceleration of the plan [m/s²]; share of the losses that it slows down with, so that it never brakes."""

# About the way of a second at the greatest speed: a throttle that changes over less looks like noise to who learns.
SPEED_LENGTH = 1.4
"""Length over which speed and acceleration of the plan are averaged [m]."""

# Nearer than about two wheelbases (0.2 m each) pure pursuit swings about the line; farther it cuts corners, at 0.6 m by
# up to 4.5 cm (0.6²/8) where a bend has a radius of 1 m.
LOOK_AHEAD = 0.6
"""Distance of the point that is steered to [m]."""

SLIP_FACTOR = 1.15
"""Wheel angle per angle of the bicycle without slip, at this use of the grip."""

SPEED_FEEDBACK = 0.1
"""Throttle per missing speed [s/m]."""

CLIMB, CLIMB_FEEDBACK = 0.45, 1.0
"""Where the plan needs more throttle than this, the road climbs, and a car that is slow there is pushed by as much
throttle per missing speed [s/m]: it would stall otherwise."""

THROTTLE_MOST = 0.9
"""Greatest throttle."""

# Two frames: a command holds for one, and the car answers in the next.
REACTION = 0.1
"""How far ahead in time the throttle looks [s]."""

# A twelfth of full lock, and slow enough for the car to follow: what changes with every frame would move no car and so
# teach nothing.
SHAKE, SHAKE_TIME = 0.08, 0.4
"""Shaking of the hands: standard deviation in steer, and time over which it is like itself [s]."""

# A fifth of a drive is pushed, and between two pushes there is time to come back and to drive straight on.
PUSH_EVERY, PUSH_FRAMES = 2.5, (8, 20)
"""Mean time between pushes [s]; least and greatest length, the latter not reached [1/20 s]."""

PUSH_STEER = (0.4, 1.2)
"""Least and greatest push, in steer."""

PUSH_AHEAD = 0.35
"""A push ends when the car would be too far out after this time [s]."""

# Half a car (0.11 m over the wheels) and 3 cm.
ROOM_KEPT = 0.14
"""Too far out: less than this between the car's middle and the edge of the road [m]."""

PUSH_OFFSET = 0.4
"""Too far out in any case: this far from the line [m]."""

# Beyond it there is no steering left to come back with.
FULL_LOCK = 0.85
"""Nothing pushes the car near a turn that takes more than this share of what its wheels can turn."""

STEEP = 0.25
"""Nor where the road is banked by more than this rise per length: a swerve up the bank would stall the car."""

BEND_LENGTH = 0.5
"""Length over which a turn is measured [m]."""

FIRST_CALM = 1.0
"""Time before the first push [s]."""


class Intent(NamedTuple):
    """What the driver means to do."""

    steer: float
    """-1 to 1, + = left."""
    throttle: float
    """0 to 1."""


class HumanDriver:
    """Drives one car; keep one per car, call `drive` every 1/20 s. Same seed, same drive.

    Attributes:
        plan: The line and the speed along it.
    """

    def __init__(self, scene: Scene, car: CarSpec, seed: int = 0) -> None:
        self.plan, self._throttle = plan_thumb(scene, car)
        self._line = LineTable(self.plan)
        self._factor = count_points_per_node(scene.path)
        left, right = measure_room(scene.path, self.plan)
        self._room = (left.tolist(), right.tolist())
        bend = np.abs(self.plan.curvature[_window(self.plan, BEND_LENGTH)].mean(axis=1)) * find_least_radius(car)
        is_hard = (bend > FULL_LOCK) | (measure_bank(scene, self.plan) > STEEP)
        self._is_hard = is_hard[_window(self.plan, SPEED_LENGTH)].any(axis=1).tolist()
        front, rear = find_axles(car)
        self._base = front - rear
        self._gain = car.steer_gain
        self._train = make_powertrain(car)
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """Forget what was, and draw all that is random from a seed: as a new driver with the same plan."""
        self._random = np.random.default_rng(seed)
        self._shake = 0.0
        self._push, self._push_left = 0.0, 0
        self._offset = 0.0
        self._calm_left = round(FIRST_CALM / PERIOD)

    def drive(self, ledger: Ledger, car: int) -> tuple[Action, Intent]:
        """Return what the hands do now with the car of a row, and what they were meant to do."""
        x, y, _ = ledger.position[car].tolist()
        index, offset = self._line.locate(x, y, int(ledger.node_index[car]) * self._factor, 3 * self._factor)
        throttle = press_pedal(ledger, car, index, self._line, self._throttle, self._train)
        intent = Intent(self._aim(ledger, car, index), throttle)
        steer = intent.steer + self._shake_hands() + self._suffer_push(index, offset)
        return Action(max(-1.0, min(1.0, steer)), intent.throttle, 0.0), intent

    def _aim(self, ledger: Ledger, car: int, index: int) -> float:
        """Return the steer towards the line ahead."""
        x, y, _ = ledger.position[car].tolist()
        target = self._line.advance(index, LOOK_AHEAD)
        dx, dy = self._line.x[target] - x, self._line.y[target] - y
        aside = math.sin(math.atan2(dy, dx) - float(ledger.yaw[car]))
        angle = math.atan(self._base * 2.0 * aside / max(math.hypot(dx, dy), 0.5 * LOOK_AHEAD))
        return max(-1.0, min(1.0, SLIP_FACTOR * angle / self._gain))

    def _shake_hands(self) -> float:
        """Return the next value of a process that forgets itself over `SHAKE_TIME`."""
        keep = math.exp(-PERIOD / SHAKE_TIME)
        self._shake = keep * self._shake + math.sqrt(1.0 - keep * keep) * SHAKE * float(self._random.normal())
        return self._shake

    def _suffer_push(self, index: int, offset: float) -> float:
        """Return the push of this moment, in steer."""
        soon = offset + (offset - self._offset) * PUSH_AHEAD / PERIOD
        self._offset = offset
        if self._push_left > 0:
            self._push_left -= 1
            room, outwards = (self._room[0][index], soon) if self._push > 0.0 else (self._room[1][index], -soon)
            if outwards > min(PUSH_OFFSET, room - ROOM_KEPT) or self._is_hard[index]:
                self._push_left = 0
            return self._push if self._push_left > 0 else 0.0
        self._calm_left -= 1
        if self._calm_left <= 0 and not self._is_hard[index]:
            self._begin_push()
        return 0.0

    def _begin_push(self) -> None:
        side = 1.0 if self._random.random() < 0.5 else -1.0
        self._push = side * float(self._random.uniform(*PUSH_STEER))
        self._push_left = int(self._random.integers(*PUSH_FRAMES))
        self._calm_left = round(PUSH_EVERY * float(self._random.uniform(0.6, 1.4)) / PERIOD)


def plan_thumb(
    scene: Scene, car: CarSpec, grip: GripUse = GRIP, top_speed: float = TOP_SPEED
) -> tuple[SpeedPlan, list[float]]:
    """Return the path with a speed that needs no brake, and the throttle that gives it at each point."""
    plan = plan_path(scene.path, scene.ground, car, grip, top_speed)
    train = make_powertrain(car)
    rows = _window(plan, SPEED_LENGTH)
    height = sample_height(scene.ground, plan.point)
    climb = take_next(height, plan.closed) - height
    pull = car.gravity * (climb / plan.length)[rows].mean(axis=1)
    speed = _calm_down(plan, train, pull)
    speed = speed[rows].mean(axis=1)
    after = take_next(speed, plan.closed)
    gain = ((after**2 - speed**2) / (2.0 * plan.length))[rows].mean(axis=1)
    force = (train.mass + train.spin_mass) * gain + train.loss * speed + train.mass * pull
    throttle: list[float] = np.clip(force / train.force_most, 0.0, THROTTLE_MOST).tolist()
    times = 2.0 * plan.length / (speed + after)
    lap_time = float(times.sum() if plan.closed else times[:-1].sum())
    return dataclasses.replace(plan, speed=speed, acceleration=gain, lap_time=lap_time), throttle


def press_pedal(
    ledger: Ledger, car: int, index: int, line: LineTable, throttle: list[float], train: Powertrain
) -> float:
    """Return the throttle of a gentle thumb.

    Args:
        car: Row of the ledger.
        index: The nearest point of the line.
        line: The plan's, with its speeds.
        throttle: That keeps the plan's speed at each point; see `plan_thumb`.
    """
    vx, vy, _ = ledger.velocity[car].tolist()
    speed = math.hypot(vx, vy)
    ahead = line.advance(index, REACTION * speed)
    planned = throttle[ahead]
    feedback = CLIMB_FEEDBACK if planned > CLIMB else SPEED_FEEDBACK
    wanted = planned + feedback * (line.speed[ahead] - speed)
    return train.find_throttle(max(0.0, min(THROTTLE_MOST, wanted)))


def measure_bank(scene: Scene, plan: SpeedPlan) -> FloatArray:
    """Return by how much the ground rises across each point of a line, per length, shape [point_count]."""
    aside = PUSH_OFFSET * np.column_stack((-np.sin(plan.heading), np.cos(plan.heading)))
    ground = scene.ground
    rise = sample_height(ground, plan.point + aside) - sample_height(ground, plan.point - aside)
    return np.asarray(np.abs(rise) / (2.0 * PUSH_OFFSET))


def _calm_down(plan: SpeedPlan, train: Powertrain, pull: FloatArray) -> FloatArray:
    """Return the plan's speed, lowered until it is reached by a gentle thumb and left by coasting [m/s].

    Args:
        train: What slows a coasting car.
        pull: By how much weight slows it along the road, + uphill [m/s²], shape [point_count].
    """
    speed, length, weight = plan.speed.tolist(), plan.length.tolist(), pull.tolist()
    count = len(speed)
    steps = list(range(count)) * 2 if plan.closed else list(range(count - 1))
    coast = COAST_SHARE * train.loss / (train.mass + train.spin_mass)
    for here in steps:
        after = (here + 1) % count
        speed[after] = min(speed[after], math.sqrt(speed[here] ** 2 + 2.0 * GAIN_MOST * length[here]))
    for here in steps[::-1]:
        after = speed[(here + 1) % count]
        slowing = max(0.0, coast * after + weight[here])
        speed[here] = min(speed[here], math.sqrt(after**2 + 2.0 * slowing * length[here]))
    return np.array(speed)


def _window(plan: SpeedPlan, length: float) -> LongArray:
    """Return the rows of the points around each point within a length [m], shape [point_count, window]."""
    half = max(1, round(0.5 * length / float(plan.length.mean())))
    return list_around(len(plan.length), half, plan.closed)
