"""The quasi-steady-state lap: how fast a point mass with this car's motor and grip can go along a line.

At every point the tyres give at most `friction * gravity` times their own grip in all, split between turning and
speeding or slowing (the friction circle). A forward pass limits speeding up, a backward pass slowing down.

References:
    Casanova, On minimum time vehicle manoeuvring: the theoretical optimal lap, Cranfield (2000), chapter 2.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from donkeysim.core.frames import Vector
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.world.path_frame import take_next, take_previous
from donkeysim.world.scene import Ground
from donkeysim.world.specs import CarSpec

Road = tuple[list[float], list[float], list[float], list[float]]
"""Of each point: length to the next [m], curvature without sign [1/m], grip [m/s²], weight pulling back up to the
next [m/s²]."""

_TWIST_LOSS = 2.0
"""Share of the grip that goes per slope: a road that turns on a slope is twisted, and stiff springs lift a wheel."""

# Three cells of the height field (0.2 m each).
_CREST_LENGTH = 0.6
"""Length over which heights are averaged: the facets of a height field are no crests [m]."""

SPEED_MOST = 50.0
"""Bound where neither curvature nor the motor gives one [m/s]."""


@dataclass(frozen=True)
class SpeedPlan:
    """A line and the speed along it.

    Attributes:
        point: [m, world], shape [point_count, 2].
        heading: Of the line at each point [rad], shape [point_count].
        curvature: + = to the left [1/m], shape [point_count].
        length: From each point to the next (an open line's last point: as the one before) [m], shape [point_count].
        speed: [m/s], shape [point_count].
        acceleration: Along the line, from each point to the next [m/s²], shape [point_count].
        closed: The last point is followed by point 0.
        lap_time: From point 0 to point 0, or to the end of an open line [s].
    """

    point: FloatArray
    heading: FloatArray
    curvature: FloatArray
    length: FloatArray
    speed: FloatArray
    acceleration: FloatArray
    closed: bool
    lap_time: float


@dataclass(frozen=True)
class GripUse:
    """How much of the tyres' grip a plan may use.

    Attributes:
        across: Part of it in bends, 0 to 1.
        along: Part of it for speeding and slowing, 0 to 1.
        power: How the two combine: across^power + along^power stays at 1; 2 is the friction circle, 1 never asks for
            much of both.
    """

    across: float = 1.0
    along: float = 1.0
    power: float = 2.0

    def leave(self, side: float, grip: float) -> float:
        """Return the acceleration along the line that a bend leaves [m/s²].

        Args:
            side: Acceleration to the side, without sign [m/s²].
            grip: Greatest one that the plan uses [m/s²].
        """
        rest = math.pow(max(0.0, 1.0 - math.pow(side / grip, self.power)), 1.0 / self.power)
        return rest * grip * self.along / self.across


ALL_GRIP = GripUse()


@dataclass(frozen=True)
class Powertrain:
    """What motor, brakes and losses do to a car's speed, from its `CarSpec`.

    Attributes:
        mass: [kg]
        spin_mass: Of the wheels' inertia, as felt along the road [kg].
        loss: Force per speed of wheel damping and body drag [N s/m].
        drag: The body's share of it [N s/m].
        force_most: Of all driven wheels at standstill [N].
        brake_most: Of all wheels at brake 1 [N].
        curve: Motor factor over speed as (speed [m/s], factor, slope per m/s).
        dead_zone: Throttle below which the ESC does nothing.
    """

    mass: float
    spin_mass: float
    loss: float
    drag: float
    force_most: float
    brake_most: float
    curve: tuple[Vector, ...]
    dead_zone: float = 0.0

    def find_throttle(self, share: float) -> float:
        """Return the throttle at which the motor gives a share of its torque, + = forward."""
        if share == 0.0 or self.dead_zone == 0.0:
            return share
        return math.copysign(self.dead_zone + (1.0 - self.dead_zone) * abs(share), share)

    def factor(self, speed: float) -> float:
        """Return the motor's torque factor at a speed [m/s]: cubic Hermite between the curve's rows, held outside."""
        rows = self.curve
        if speed <= rows[0][0]:
            return rows[0][1]
        if speed >= rows[-1][0]:
            return rows[-1][1]
        index = bisect_right(rows, (speed, math.inf, math.inf)) - 1
        (begin, first, rise), (end, second, fall) = rows[index], rows[index + 1]
        span = end - begin
        t = (speed - begin) / span
        u = 1.0 - t
        return (
            first * (1.0 + 2.0 * t) * u * u
            + second * (1.0 + 2.0 * u) * t * t
            + span * (rise * t * u * u - fall * t * t * u)
        )


def find_axles(car: CarSpec) -> tuple[float, float]:
    """Return where the wheels that steer and the others are along the car, x in its body frame [m]."""
    wheels = list(zip(car.wheel_position, car.wheel_steered, strict=True))
    ahead, behind = ([place[0] for place, is_steered in wheels if is_steered is kind] for kind in (True, False))
    return sum(ahead) / len(ahead), sum(behind) / len(behind)


def make_powertrain(car: CarSpec) -> Powertrain:
    """Return the motor, brakes and losses of a car as forces along the road."""
    wheels = len(car.wheel_driven)
    drag, top = car.mass * car.drag, car.torque_speed
    return Powertrain(
        mass=car.mass,
        spin_mass=wheels * car.wheel_inertia / car.wheel_radius**2,
        loss=wheels * car.wheel_damping / car.wheel_radius**2 + drag,
        drag=drag,
        force_most=sum(car.wheel_driven) * car.torque_max / car.wheel_radius,
        brake_most=wheels * car.brake_torque / car.wheel_radius,
        curve=tuple((speed * top, factor, slope / top) for speed, factor, slope in car.torque_curve),
        dead_zone=car.esc.dead_zone,
    )


def plan_speed(
    line: FloatArray,
    car: CarSpec,
    friction: FloatArray,
    *,
    use: GripUse = ALL_GRIP,
    speed_limit: float = SPEED_MOST,
    closed: bool = True,
    height: FloatArray | None = None,
) -> SpeedPlan:
    """Compute the fastest speed along a line and the time it takes.

    Uphill and downhill the weight brakes or pushes; over a crest it presses less.

    Args:
        line: Points of the line [m], shape [point_count, 2].
        friction: Of the ground under each point [-], shape [point_count].
        speed_limit: Never faster than this [m/s].
        closed: The last point is followed by point 0; otherwise the ends may have any speed.
        height: Of the ground under each point [m], shape [point_count]; none: level.
    """
    point = np.asarray(line, np.float64)
    side = np.roll(point, -1, axis=0) - point
    if not closed:
        side[-1] = side[-2]
    length = np.hypot(side[:, 0], side[:, 1])
    heading, curvature = _measure_line(side, length, closed)
    road = _make_road(length, curvature, friction, height, car, use, closed)
    speed = [min(math.sqrt(grip / max(bend, 1e-6)), speed_limit) for _, bend, grip, _ in zip(*road, strict=True)]
    steps = list(range(len(speed))) * 2 if closed else list(range(len(speed) - 1))
    train = make_powertrain(car)
    _limit_gain(speed, road, use, steps, train)
    _limit_loss(speed, road, use, steps[::-1], train)
    here = np.array(speed)
    after = take_next(here, closed)
    times = 2.0 * length / (here + after)
    return SpeedPlan(
        point=point,
        heading=heading,
        curvature=curvature,
        length=length,
        speed=here,
        acceleration=(after * after - here * here) / (2.0 * length),
        closed=closed,
        lap_time=float(np.sum(times if closed else times[:-1])),
    )


def list_around(count: int, half: int, closed: bool) -> LongArray:
    """Return the rows of the points up to `half` before and after each of a line, shape [count, 2 half + 1]."""
    rows = np.arange(count)[:, None] + np.arange(-half, half + 1)
    return rows % count if closed else np.clip(rows, 0, count - 1)


def sample_friction(ground: Ground, line: FloatArray) -> FloatArray:
    """Return the ground's friction under each point of a line, shape [point_count]."""
    rows, columns = ground.surface.shape
    column = np.floor((line[:, 0] - ground.surface_origin[0]) / ground.surface_cell).astype(np.int64)
    row = np.floor((line[:, 1] - ground.surface_origin[1]) / ground.surface_cell).astype(np.int64)
    inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    surface = ground.surface[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)]
    return np.asarray(ground.friction[np.where(inside, surface, 0)], np.float64)


def _measure_line(side: FloatArray, length: FloatArray, closed: bool) -> tuple[FloatArray, FloatArray]:
    """Return heading [rad] and curvature [1/m] at the points of a polygon from its sides."""
    before, length_before = take_previous(side, closed), take_previous(length, closed)
    cross = before[:, 0] * side[:, 1] - before[:, 1] * side[:, 0]
    angle = np.arctan2(cross, before[:, 0] * side[:, 0] + before[:, 1] * side[:, 1])
    tangent = side / length[:, None] + before / length_before[:, None]
    return np.arctan2(tangent[:, 1], tangent[:, 0]), 2.0 * angle / (length + length_before)


def _make_road(
    length: FloatArray,
    curvature: FloatArray,
    friction: FloatArray,
    height: FloatArray | None,
    car: CarSpec,
    use: GripUse,
    closed: bool,
) -> Road:
    """Return what limits the speed at each point; a crest counts as a bend, since the car presses less on it."""
    peak = car.grip_gain * min(car.sideways.extremum_value, car.forward.extremum_value)
    grip = np.asarray(friction, np.float64) * car.gravity * peak
    slope, crest = _measure_height(height, length, closed)
    grip = grip * use.across * (1.0 - np.minimum(_TWIST_LOSS * np.abs(slope), 0.5))
    bend = np.abs(curvature) + grip / car.gravity * crest
    return length.tolist(), bend.tolist(), grip.tolist(), (car.gravity * slope).tolist()


def _measure_height(height: FloatArray | None, length: FloatArray, closed: bool) -> tuple[FloatArray, FloatArray]:
    """Return the slope from each point to the next, and how sharply the road bends downwards there [1/m]."""
    if height is None:
        return np.zeros_like(length), np.zeros_like(length)
    half = max(1, round(0.5 * _CREST_LENGTH / float(length.mean())))
    padded = np.pad(height, half, mode="wrap" if closed else "edge")
    smooth = np.convolve(padded, np.full(2 * half + 1, 1.0 / (2 * half + 1)), mode="valid")
    slope = (np.roll(smooth, -1) - smooth) / length
    if not closed:
        slope[-1] = slope[-2]
    return slope, np.maximum(0.0, (take_previous(slope, closed) - slope) / length)


def _limit_gain(speed: list[float], road: Road, use: GripUse, steps: list[int], train: Powertrain) -> None:
    """Lower the speeds that the car cannot reach from the point before; `steps` in driving order."""
    length, bend, grip, climb = road
    for here in steps:
        after = (here + 1) % len(speed)
        v = speed[here]
        share = use.leave(v * v * bend[here], grip[here])
        motor = (train.force_most * train.factor(v) - train.loss * v) / (train.mass + train.spin_mass)
        gain = min(motor, share - train.drag * v / train.mass) - climb[here]
        speed[after] = min(speed[after], math.sqrt(max(1e-6, v * v + 2.0 * gain * length[here])))


def _limit_loss(speed: list[float], road: Road, use: GripUse, steps: list[int], train: Powertrain) -> None:
    """Lower the speeds from which the car cannot slow down to the point after; `steps` against driving order."""
    length, bend, grip, climb = road
    for before in steps:
        here = (before + 1) % len(speed)
        v = speed[here]
        share = use.leave(v * v * bend[here], grip[here])
        brakes = (train.brake_most + train.loss * v) / (train.mass + train.spin_mass)
        loss = max(0.0, min(brakes, share + train.drag * v / train.mass) + climb[before])
        speed[before] = min(speed[before], math.sqrt(v * v + 2.0 * loss * length[before]))
