"""What a preset's car does with steering and throttle, and which scales make it do what another car did."""

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.types import FloatArray
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CarSpec, SceneSpec, WorldSpec

FLOOR = Path(__file__).parent / "floor.toml"

RATE = 20
"""Frames in a second."""

# Closer together where cars drive most, near straight ahead and slow; faster ones slide in turns and drop out.
STEERS = (0.0, 0.08, 0.2, 0.4, 0.6, 0.8, 1.0)
# Closer together where speeds are low, as drives to calibrate by are slow.
THROTTLES = (0.06, 0.08, 0.1, 0.13, 0.17, 0.22, 0.3, 0.4)
"""What is tried on the preset's car."""

# Long enough to get near the final speed; the rows on the way there show what gaining speed takes.
TRIED_SECONDS = 9
"""For how long each is held [s]; what happens in each second but the first is a row."""

# Below it, curvature (yaw rate over speed) is noise.
LEAST_SPEED = 0.1
"""Slower cars stand [m/s]."""

# About 0.15 of real gravity, which tyres hold on most floors: there slip grows in proportion to the force.
MOST_PULL = 1.5
"""Faster in a turn, cars slide; such drives say nothing of scales [m/s²]."""

MOST_SLIDE = 0.1
"""Wheel angles that differ by more from what the curve needs without slip are those of a car that slides, a share."""

# With the camera that took the pictures it is below 0.5; with a focal length 20 % off, or turned by 5°, about 2.
LARGE_GAP = 1.4
"""A drive whose points of the floor go farther astray is doubtful, in a picture of 640 columns [pixel]."""

# Servo and motor need a few tenths of a second to get where they were sent; what is left is long enough for a mean.
STEADY_SECONDS, SETTLED_AFTER = 1.5, 0.7
"""A control must be held for so long, and what follows its beginning by less than the second is left out [s]."""

LEAST_GAIN, MOST_GAIN = math.radians(3.0), math.radians(60.0)
"""By how much steering 1 turns the wheels of any car [rad]."""

LEAST_SHARE, MOST_SHARE = 0.05, 20.0
"""Torques of other cars, as shares of the preset's."""

MOST_SPREAD = 0.3
"""What is less certain says nothing, a standard error as a share."""

# Joysticks and recorded bytes tremble by one or two hundredths.
HELD = 0.03
"""Controls that change by less are held."""


@dataclass(frozen=True)
class MeasuredDrive:
    """A drive, frame by frame.

    Attributes:
        time: Of each frame [s].
        steering: As recorded, positive to the right, -1 to 1.
        throttle: As recorded, -1 to 1.
        speed: Forward, of the middle between the axles [m/s]; not a number: unknown.
        yaw_rate: To the left [rad/s].
        gap: How far points of the floor went from where the moves take them, in the median, in a picture of 640 columns
            [pixel].
    """

    time: FloatArray
    steering: FloatArray
    throttle: FloatArray
    speed: FloatArray
    yaw_rate: FloatArray
    gap: float = 0.0

    def list_doubts(self) -> list[str]:
        """Return what makes it doubtful, sentences."""
        if self.gap <= LARGE_GAP:
            return []
        return [
            f"points of the floor move {self.gap:.1f} pixels (of 640) otherwise than this lens and mounting have it; "
            "did another camera take the drive, was this one turned since, or does the car bounce?"
        ]


@dataclass(frozen=True)
class Steady:
    """Stretches of a drive in which steering and throttle were held: means, a value for each, as in `MeasuredDrive`."""

    steering: FloatArray
    throttle: FloatArray
    speed: FloatArray
    yaw_rate: FloatArray
    gain: FloatArray
    """By how much the speed grows [m/s²]."""
    seconds: FloatArray


@dataclass(frozen=True)
class Scales:
    """Which scales make the preset's car do what was seen.

    Attributes:
        steer_gain: Wheel angle at steering 1 [rad].
        steer_spread: Standard error of it, as a share.
        trim: Wheel angle at steering 0, to the left [rad].
        torque_max: Motor torque per driven wheel at throttle 1 [N m]; None: the drive does not show it.
        torque_spread: Standard error of it, as a share.
        used: Stretches that it follows from.
    """

    steer_gain: float
    steer_spread: float
    trim: float
    torque_max: float | None
    torque_spread: float
    used: int


@dataclass(frozen=True)
class Response:
    """What the preset's car does: fitted functions of speed and curvature.

    Attributes:
        angle: Terms of the wheel angle, see `_list_angle_terms`.
        throttle: Terms of the throttle, see `_list_throttle_terms`.
    """

    car: CarSpec
    angle: FloatArray
    throttle: FloatArray

    def find_angle(self, speed: FloatArray, curvature: FloatArray, gain: FloatArray) -> FloatArray:
        """Return at which wheel angle the car drives a curvature [1/m, + = left] at a speed that grows [m/s²] [rad]."""
        found: FloatArray = _list_angle_terms(self.car, speed, curvature, gain) @ self.angle
        return found

    def find_throttle(self, speed: FloatArray, curvature: FloatArray, gain: FloatArray) -> FloatArray:
        """Return which throttle keeps a speed, or makes it grow [m/s²]."""
        found: FloatArray = _list_throttle_terms(speed, curvature, gain) @ self.throttle
        return found


def measure_response(car: str) -> Response:
    """Return what a preset's car does on an empty floor."""
    steer, throttle = (grid.ravel() for grid in np.meshgrid(STEERS, THROTTLES))
    simulator = Simulator(WorldSpec(SceneSpec(str(FLOOR)), car=car, world_count=len(steer)))
    try:
        rows = simulator.apply(commands.Join(list(range(len(steer))), []))
        for row, one_steer, one_throttle in zip(rows, steer, throttle, strict=True):
            simulator.drive_car(row, float(one_steer), float(one_throttle), 0.0)
        seen = np.zeros((2, TRIED_SECONDS, RATE, len(steer)))
        for second in range(TRIED_SECONDS):
            for frame in range(RATE):
                simulator.step()
                seen[:, second, frame] = simulator.ledger.forward_speed, simulator.ledger.yaw_rate
        spec = simulator.car_spec
    finally:
        simulator.close()
    speed, yaw_rate = (values[1:].mean(axis=1).ravel() for values in seen)
    gain = ((seen[0, 1:, -1] - seen[0, 1:, 0]) * RATE / (RATE - 1)).ravel()
    steer, throttle = np.tile(steer, TRIED_SECONDS - 1), np.tile(throttle, TRIED_SECONDS - 1)
    curvature = yaw_rate / np.maximum(speed, LEAST_SPEED)
    slides = (
        np.abs(_find_ideal(spec, curvature) - steer * spec.steer_gain) > MOST_SLIDE * (steer + 0.02) * spec.steer_gain
    )
    kept = (speed > LEAST_SPEED) & (np.abs(speed * yaw_rate) < MOST_PULL) & ~slides
    speed, curvature, gain, steer, throttle = (values[kept] for values in (speed, curvature, gain, steer, throttle))
    angle = np.linalg.lstsq(_list_angle_terms(spec, speed, curvature, gain), steer * spec.steer_gain, rcond=None)[0]
    keeps = np.linalg.lstsq(_list_throttle_terms(speed, curvature, gain), throttle, rcond=None)[0]
    return Response(spec, angle, keeps)


def find_steady(drive: MeasuredDrive) -> Steady:
    """Return the stretches of a drive in which steering and throttle were held and that were seen.

    Raises:
        DonkeySimError: There are none.
    """
    changes = (np.abs(np.diff(drive.steering)) > HELD) | (np.abs(np.diff(drive.throttle)) > HELD)
    ends = [0, *(np.flatnonzero(changes) + 1), len(drive.time)]
    found = []
    for first, end in pairwise(ends):
        span = slice(first + int(np.searchsorted(drive.time[first:end], drive.time[first] + SETTLED_AFTER)), end)
        seen = np.isfinite(drive.speed[span]) & np.isfinite(drive.yaw_rate[span])
        if drive.time[end - 1] - drive.time[first] < STEADY_SECONDS or seen.mean() < 0.5:
            continue
        columns = (drive.steering, drive.throttle, drive.speed, drive.yaw_rate)
        gain = np.polyfit(drive.time[span][seen], drive.speed[span][seen], 1)[0]
        seconds = drive.time[end - 1] - drive.time[span][0]
        found.append((*(column[span][seen].mean() for column in columns), gain, seconds))
    if not found:
        raise DonkeySimError(
            f"in no stretch of the drive steering and throttle were held for {STEADY_SECONDS:g} s; "
            "hold each steering for three seconds or more, at one slow throttle."
        )
    return Steady(*np.array(found).T)


def fit_scales(response: Response, drive: MeasuredDrive) -> Scales:
    """Return which scales make the preset's car do what a drive shows.

    Raises:
        DonkeySimError: It shows too little, or a steering that no car has.
    """
    steady = find_steady(drive)
    moving = steady.speed > LEAST_SPEED
    calm = moving & (np.abs(steady.speed * steady.yaw_rate) < MOST_PULL)
    if len({round(float(value), 1) for value in steady.steering[calm]}) < 2:
        raise DonkeySimError("the drive holds one steering only; hold several, to the left and to the right.")
    curvature = steady.yaw_rate[calm] / steady.speed[calm]
    angle = response.find_angle(steady.speed[calm], curvature, steady.gain[calm])
    terms = np.column_stack([-steady.steering[calm], np.ones(calm.sum())])
    (gain, trim), gain_spread = _fit_line(terms, angle, steady.seconds[calm])
    needed = response.find_throttle(steady.speed[calm], curvature, steady.gain[calm])
    (share,), share_spread = _fit_line(steady.throttle[calm][:, None], needed, steady.seconds[calm])
    if not (LEAST_GAIN <= gain <= MOST_GAIN and gain_spread <= MOST_SPREAD):
        raise DonkeySimError(
            f"by the drive, steering 1 would turn the wheels by {math.degrees(gain):.1f}° ± {gain_spread:.0%} (+ = to "
            "the right), which no car does or is too uncertain; hold each steering for longer, slowly, on a floor "
            "with a pattern, and give the lens and the mounting of the camera that took the pictures."
        )
    is_sound = LEAST_SHARE <= share <= MOST_SHARE and share_spread <= MOST_SPREAD
    torque = response.car.torque_max * share if is_sound else None
    return Scales(gain, gain_spread, trim, torque, share_spread, int(calm.sum()))


def _fit_line(terms: FloatArray, values: FloatArray, weights: FloatArray) -> tuple[tuple[float, ...], float]:
    """Return the factors of terms whose sum is nearest to values, and the first one's standard error as a share."""
    root = np.sqrt(weights)
    found = np.linalg.lstsq(terms * root[:, None], values * root, rcond=None)[0]
    rest = (values - terms @ found) * root
    spare = max(len(values) - len(found), 1)
    spread = math.sqrt(float(rest @ rest) / spare * np.linalg.pinv((terms * weights[:, None]).T @ terms)[0, 0])
    return tuple(float(factor) for factor in found), spread / max(abs(float(found[0])), 1e-12)


def _list_angle_terms(car: CarSpec, speed: FloatArray, curvature: FloatArray, gain: FloatArray) -> FloatArray:
    """Return terms that the wheel angle is a sum of: the angle without slip, and what slip and gaining speed add."""
    # A polynomial fitted to the simulated car, not a model of tyres. Slip angles grow with the lateral force (`pull`)
    # and, near the limit, faster than it (its cube); they differ with the angle of the front wheels, with speed
    # through drag, and with turning both ways; gaining speed moves load to the rear wheels. All terms are odd in
    # curvature, as cars steer alike to both sides.
    ideal = _find_ideal(car, curvature)
    pull, square = speed**2 * curvature, speed**2
    bends = [ideal, ideal**3, pull, pull**3, pull * ideal**2, pull * square, curvature * np.abs(pull)]
    return np.column_stack([*bends, pull * gain])


def _find_ideal(car: CarSpec, curvature: FloatArray) -> FloatArray:
    """Return the wheel angle of a car that does not slip."""
    angle: FloatArray = np.arctan((car.wheel_position[0][0] - car.wheel_position[2][0]) * curvature)
    return angle


def _list_throttle_terms(speed: FloatArray, curvature: FloatArray, gain: FloatArray) -> FloatArray:
    """Return terms that the throttle is a sum of: against drag, to gain speed, and against what turning costs."""
    # Again fitted: a threshold and drag of up to the third power keep a speed, gaining needs torque that falls with
    # speed, and turning costs what the front wheels' slip pushes back, even in curvature.
    pull = speed * speed * curvature
    terms = [np.ones_like(speed), speed, speed**2, speed**3, gain, gain * speed, curvature**2, curvature**2 * speed]
    return np.column_stack([*terms, pull**2, pull * curvature])
