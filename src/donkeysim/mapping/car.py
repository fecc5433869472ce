"""The car of a drive: how it answered to its commands, and a preset's car that answers alike.

How it turned after it was steered shows how far its wheels turn, and how late. The same commands, given to a simulated
car on an empty floor, show which motor makes that as fast, and how much later than it the real car was.
"""

import math
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import brentq

from donkeysim.calibration.response import FLOOR, LEAST_SHARE, MOST_SHARE, RATE
from donkeysim.calibration.wizard import write_car
from donkeysim.core.files import write_whole
from donkeysim.core.rotation import between
from donkeysim.core.types import FloatArray
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.viewpoint import find_pose
from donkeysim.world.specs import SceneSpec, WorldSpec, load_car

MOST_LATE = 15
"""Pictures after which a car has answered to its steering; servo and camera take two to five."""

LEAST_FOLLOWS = 0.6
"""Correlation of steering and curvature below which the steering is not that of this drive."""

_SLOW = 0.3  # Share of the median way from picture to picture below which curvature is noise
_SMOOTHING_PICTURES = 1.5  # Pictures over which way and turn are averaged for it

REPLAYED, WARM_UP = 150.0, 20.0
"""Of a drive, so much is driven again [s], after so much of it that brings the car to speed."""

# Wheels at full lock brake the simulator's car more than real ones, whose motors hold their speed; so its speed is that
# with the steering that pilots learn of hands which know little between full lock and none.
STEERING_SMOOTHING = 0.4
"""Over which time the steering is averaged for that [s], a standard deviation."""

MOTOR_TOLERANCE = 0.01
"""To which share the motor is found."""

# The first is as exact as delays are found; cars with more than the other cannot be driven.
LEAST_DELAY, MOST_DELAY = 0.01, 1.0
"""Which delays are written [s]."""

_DELAY = """# Written by donkeysim: so much later than the simulator's car does the drive's answer [s].
[delay]
action = [{late:.3f}, {late:.3f}]
"""


class Steering(NamedTuple):
    """How a car answers to its steering, as its pictures show it.

    Attributes:
        late: How many pictures later it turns: servo, tyres, and the camera's delay.
        straight: Steering with which it drives straight on.
        radius: Of its turn at full steering [m].
        correlation: Of curvature and steering.
    """

    late: float
    straight: float
    radius: float
    correlation: float


def fit_steering(poses: FloatArray, steering: FloatArray) -> Steering | None:
    """Return how a car answered to its steering; None: not as cars do.

    Args:
        poses: Where pictures were taken, shape [picture_count, 3].
        steering: Recorded with them, positive to the right, shape [picture_count or more].
    """
    steps = gaussian_filter1d(between(poses[:-1], poses[1:]), _SMOOTHING_PICTURES, axis=0)
    way, right = steps[:, 0], -steps[:, 2]
    moves = way > _SLOW * np.median(way)
    curvature, steering = right[moves] / way[moves], steering[: len(way)]
    lags = np.arange(-1, MOST_LATE + 2)  # one more on both sides, for the top of a parabola
    before = [np.interp(np.flatnonzero(moves) - lag, np.arange(len(way)), steering) for lag in lags]
    if len(curvature) < MOST_LATE or min(float(np.std(part)) for part in (*before, curvature)) < 1e-6:
        return None
    fits = np.array([np.corrcoef(part, curvature)[0, 1] for part in before])
    best = 1 + int(fits[1:-1].argmax())
    if fits[best] < LEAST_FOLLOWS:
        return None
    gain, constant = np.polyfit(before[best], curvature, 1)
    sooner, most, later = fits[best - 1 : best + 2]
    late = lags[best] + np.clip((later - sooner) / max(1e-9, 2.0 * (2.0 * most - sooner - later)), -0.5, 0.5)
    return Steering(float(late), float(-constant / gain), float(1.0 / gain), float(fits[best]))


class DriveCommands(NamedTuple):
    """What a driver did.

    Attributes:
        steering: Positive to the right, -1 to 1, shape [picture_count].
        throttle: -1 to 1, shape [picture_count].
        rate: Pictures in a second.
    """

    steering: FloatArray
    throttle: FloatArray
    rate: float


class CarMatch(NamedTuple):
    """A preset's car that answers as the one of a drive did.

    Attributes:
        car_file: For `--car`.
        delay_file: For `--randomize`; None: there is no delay, or none that can be driven with.
        torque_max: Motor torque per driven wheel at throttle 1 [N m]; None: none makes it as fast, it keeps its own.
        speed: At which the drive's car drove in what was driven again, in the median [m/s].
        late: How much later than the preset's car that one turns after it is steered [s]; 0: that is not known.
    """

    car_file: Path
    delay_file: Path | None
    torque_max: float | None
    speed: float
    late: float


def match_car(stem: Path, car: str, poses: FloatArray, driven: DriveCommands, steering: Steering) -> CarMatch:
    """Write what makes a preset's car answer as that of a drive.

    Args:
        stem: Of the files, which end in `_car.toml` and, where there is a delay, `_delay.toml`.
        poses: Where the drive's pictures were taken, shape [picture_count, 3].
        driven: The commands at these pictures, and perhaps at more.
        steering: How the drive's car answered to it.
    """
    car_file, delay_file = Path(f"{stem}_car.toml"), Path(f"{stem}_delay.toml")
    front, *_, rear = load_car(car).wheel_position
    gain = math.atan2(front[0] - rear[0], steering.radius)
    count = min(len(poses), int(REPLAYED * driven.rate))
    speed = _find_speed(poses[:count], driven.rate)
    chosen = np.minimum(np.arange(int(count * RATE / driven.rate)) * driven.rate / RATE, count - 1).astype(int)
    again = DriveCommands(driven.steering[chosen], driven.throttle[chosen], RATE)
    with TemporaryDirectory() as folder:
        trial = Path(folder) / "trial.toml"
        torque = _find_torque(trial, car, gain, again, speed)
        write_car(trial, car, gain, torque)
        own = fit_steering(_replay(trial, again), again.steering)
    write_car(car_file, car, gain, torque)
    late = 0.0 if own is None else steering.late / driven.rate - own.late / RATE
    if not LEAST_DELAY <= late <= MOST_DELAY:
        return CarMatch(car_file, None, torque, speed, late)
    write_whole(delay_file, _DELAY.format(late=late).encode())
    return CarMatch(car_file, delay_file, torque, speed, late)


def _find_torque(trial: Path, car: str, gain: float, driven: DriveCommands, speed: float) -> float | None:
    """Return the motor that makes a preset's car as fast by a drive's commands [N m]; None: there is none.

    Args:
        trial: File to try cars by.
        gain: Wheel angle at steering 1 [rad].
        driven: The commands, at `RATE`.
        speed: Of the drive, in the median [m/s].
    """
    calm = driven._replace(steering=gaussian_filter1d(driven.steering, STEERING_SMOOTHING * RATE))
    usual = load_car(car).torque_max

    @cache
    def compare(logarithm: float) -> float:
        write_car(trial, car, gain, usual * math.exp(logarithm))
        return _find_speed(_replay(trial, calm), RATE) - speed

    least, most = math.log(LEAST_SHARE), math.log(MOST_SHARE)
    if not compare(least) < 0.0 < compare(most):
        return None
    return usual * math.exp(brentq(compare, least, most, xtol=MOTOR_TOLERANCE))


def _find_speed(poses: FloatArray, rate: float) -> float:
    return float(np.median(np.hypot(*np.diff(poses[:, :2], axis=0).T))) * rate


def _replay(car: Path, driven: DriveCommands) -> FloatArray:
    """Return where a car comes by commands on an empty floor, once it is at speed, shape [command_count, 3]."""
    simulator = Simulator(WorldSpec(SceneSpec(str(FLOOR)), car=str(car)))
    try:
        (row,) = simulator.apply(commands.Join([0], []))
        poses = []
        pairs = list(zip(driven.steering.tolist(), driven.throttle.tolist(), strict=True))
        warm_up = pairs[: int(WARM_UP * RATE)]
        for steering, throttle in warm_up + pairs:
            x, y, _, yaw = find_pose(simulator.ledger, row)
            poses.append((x, y, yaw))
            simulator.drive_car(row, -steering, throttle, 0.0)
            simulator.step()
    finally:
        simulator.close()
    return np.array(poses[len(warm_up) :])
