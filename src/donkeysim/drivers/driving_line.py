"""The lines that a driver may choose on a scene's road, with the speed along them."""

import math

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.drivers.lap_time import SPEED_MOST, GripUse, SpeedPlan, find_axles, plan_speed, sample_friction
from donkeysim.world.path_frame import close_line, find_normals, measure_length
from donkeysim.world.scene import Ground, Path
from donkeysim.world.specs import CarSpec
from donkeysim.world.tracks.paths.line import compute_racing_line
from donkeysim.world.tracks.terrain.ground import sample_height

# Half a car's length: a quarter of the tightest turn, with a radius of 0.7 m, has eleven points.
SPACING = 0.1
"""Greatest distance between the points of a line on the path [m]."""

LEAST_KNOTS = 4
"""Of a spline whose knots all have different neighbours."""

# 5 % are left for correcting: a car at full lock can only correct to one side.
EASE_RADIUS, EASE_WINDOW = 0.95, 0.5
"""A turn is eased when it is tighter than this, in units of the radius that the wheels can turn, over such a length
[m]."""

# Half a car's width, so that a car on the eased line still covers the path.
EASE_WIDTH, EASE_REACH, EASE_TAPER = 0.12, 1.5, 0.5
"""How far an eased line may leave the path, from how far before to how far behind the turn, and over what distance it
comes to that [m]."""

STALLED, RUN_UP = 0.5, 1.2
"""Where a plan falls below this speed [m/s], the motor does not get up a climb from the speed allowed, which grows by
this factor until it does."""

# Six are quick to plan, and near enough: a random search over the line for a minute finds laps that are 1.3 % shorter
# than the best of these (docs/decisions/0002).
LENGTH_WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)
"""Racing lines to try, from the smoothest to a short one [1/m²]."""


def plan_path(path: Path, ground: Ground, car: CarSpec, use: GripUse, speed_limit: float) -> SpeedPlan:
    """Return the road's smooth line along the path, eased in turns too tight for the car, and the fastest speed on it.

    Args:
        ground: Of the scene, for its friction.
        speed_limit: Never faster than this [m/s], unless the road climbs more steeply than the motor can from there:
            such a climb needs a run-up.
    """
    line = refine_line(path.middle, count_points_per_node(path), path.closed)
    if path.closed:
        line = ease_turns(line, EASE_RADIUS * find_least_radius(car))
    plan = faster = _plan_on_ground(line, path.closed, ground, car, use, speed_limit)
    least = min(STALLED, speed_limit)
    while faster.speed.min() < least and speed_limit < SPEED_MOST:
        speed_limit *= RUN_UP
        faster = _plan_on_ground(line, path.closed, ground, car, use, speed_limit)
    return faster if faster.speed.min() >= least else plan  # it is a bend, or ice, that makes the car slow


def _plan_on_ground(
    line: FloatArray, closed: bool, ground: Ground, car: CarSpec, use: GripUse, speed_limit: float
) -> SpeedPlan:
    height, friction = sample_height(ground, line), sample_friction(ground, line)
    return plan_speed(line, car, friction, use=use, speed_limit=speed_limit, closed=closed, height=height)


def find_least_radius(car: CarSpec) -> float:
    """Return the radius that the middle of the axles that do not steer can turn without slip [m]."""
    front, rear = find_axles(car)
    return (front - rear) / math.tan(min(car.steer_gain, car.steer_limit))


def ease_turns(line: FloatArray, radius: float) -> FloatArray:
    """Return a closed line that takes the turns tighter than a radius as wide as a narrow strip about them allows.

    The radius is the mean over `EASE_WINDOW`: a spline through nodes far apart bends unevenly.

    Args:
        line: Points [m], shape [point_count, 2].
        radius: [m]
    """
    step = np.roll(line, -1, axis=0) - line
    length = np.hypot(step[:, 0], step[:, 1])
    before = np.roll(step, 1, axis=0)
    turn = np.arctan2(before[:, 0] * step[:, 1] - before[:, 1] * step[:, 0], np.sum(before * step, axis=1))
    along, lap = np.cumsum(length) - length, float(length.sum())
    near = np.concatenate((along - lap, along, along + lap))
    turned = np.cumsum(np.tile(turn, 3))
    ends = (np.interp(along + side, near, turned) for side in (0.5 * EASE_WINDOW, -0.5 * EASE_WINDOW))
    tight = np.flatnonzero(np.abs(next(ends) - next(ends)) * radius > EASE_WINDOW)
    if not len(tight):
        return line
    away = np.abs(along[:, None] - along[tight])
    away = np.minimum(away, lap - away).min(axis=1)
    width = EASE_WIDTH * np.clip((EASE_REACH - away) / EASE_TAPER, 0.0, 1.0)
    return compute_racing_line(line, width, width, margin=0.0)


def plan_fastest(path: Path, ground: Ground, car: CarSpec, use: GripUse, margin: float) -> SpeedPlan:
    """Return the quickest of several racing lines with the fastest speed along it; on an open path, the path.

    With all the grip and half a car's width as margin, its `lap_time` is the quasi-steady-state minimum.

    Args:
        ground: Of the scene, for its friction.
        margin: Kept from both edges of the road [m].
    """
    node, factor = path.middle, count_points_per_node(path)
    lines = [node]
    if path.closed:
        lines = [
            compute_racing_line(node, path.width_left, path.width_right, margin, weight) for weight in LENGTH_WEIGHTS
        ]
    fine = (refine_line(line, factor, path.closed) for line in lines)
    plans = [_plan_on_ground(line, path.closed, ground, car, use, SPEED_MOST) for line in fine]
    return min(plans, key=lambda plan: plan.lap_time)


def count_points_per_node(path: Path) -> int:
    """Return how many points of a refined line belong to each node of the path."""
    step = np.diff(path.middle, axis=0)
    return max(1, math.ceil(float(np.median(np.hypot(step[:, 0], step[:, 1]))) / SPACING - 1e-9))


def refine_line(node: FloatArray, factor: int, closed: bool) -> FloatArray:
    """Return points of a smooth curve through nodes.

    Args:
        node: [m], shape [node_count, 2].
        factor: Points per node; every `factor`-th point is a node.
        closed: The last node is followed by node 0.
    """
    knots = close_line(node, closed)
    along = measure_length(knots)
    index = np.arange(factor * (len(knots) - 1) + (0 if closed else 1)) / factor
    place = np.interp(index, np.arange(len(knots)), along)
    if len(knots) < LEAST_KNOTS:
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(along, knots, bc_type="periodic" if closed else "natural")(place))
    return _interpolate(along, knots, closed, place)


def _interpolate(along: FloatArray, knots: FloatArray, closed: bool, place: FloatArray) -> FloatArray:
    """Return the cubic spline through knots at some places, to the bit what SciPy's is.

    SciPy's module of splines brings 30 MB with it, more than all else that a car which drives by itself takes.

    Args:
        along: Of each knot, rising [m], shape [knot_count].
        knots: [m], shape [knot_count, 2]; closed: the last is the first.
        closed: The spline is periodic; otherwise it is straight at its ends.
        place: Between the first and the last of `along` [m], shape [n].
    """
    step = np.diff(along)[:, None]
    slope = np.diff(knots, axis=0) / step
    tangent = _find_tangents(step[:, 0], slope, knots, closed)
    bend = (tangent[:-1] + tangent[1:] - 2 * slope) / step
    row = np.clip(np.searchsorted(along, place, side="right") - 1, 0, len(step) - 1)
    past = (place - along[row])[:, None]
    square = past * past
    curve: FloatArray = knots[row] + tangent[row] * past
    curve += ((slope - tangent[:-1]) / step - bend)[row] * square
    curve += (bend / step)[row] * (square * past)
    return curve


def _find_tangents(step: FloatArray, slope: FloatArray, knots: FloatArray, closed: bool) -> FloatArray:
    """Return the derivatives at knots that make second derivatives meet, shape [knot_count, 2].

    Round a ring the unknown of the last knot but one is found at the end: the others depend on it linearly.
    """
    from scipy.linalg import solve_banded  # Numba has loaded it

    before, after = np.roll(step, 1), step
    bands = np.zeros((3, len(step)))
    bands[0, 1:], bands[1], bands[2, :-1] = before[:-1], 2 * (before + after), after[1:]
    wanted = 3 * (after[:, None] * np.roll(slope, 1, axis=0) + before[:, None] * slope)
    if not closed:
        last = 3 * (knots[-1:] - knots[-2:-1])
        bands = np.hstack((bands, [[step[-2]], [2 * step[-1]], [0.0]]))
        bands[1, 0], bands[0, 1], bands[2, -2] = 2 * step[0], step[0], step[-1]
        wanted[0] = 3 * (knots[1] - knots[0])
        return np.asarray(solve_banded((1, 1), bands, np.vstack((wanted, last))))
    pull = np.zeros_like(wanted[:-1])
    pull[0], pull[-1] = -step[0], -step[-3]
    free = solve_banded((1, 1), bands[:, :-1], wanted[:-1])
    share = solve_banded((1, 1), bands[:, :-1], pull)
    over = wanted[-1] - step[-2] * free[0] - step[-1] * free[-1]
    hinge = over / (2 * (step[-1] + step[-2]) + step[-2] * share[0] + step[-1] * share[-1])
    ring = free + hinge * share
    return np.vstack((ring, hinge, ring[:1]))


def measure_room(path: Path, plan: SpeedPlan) -> tuple[FloatArray, FloatArray]:
    """Return the distances from a plan's points to the road's edges, left and right [m], shape [point_count] each."""
    node = path.middle
    factor = count_points_per_node(path)
    middle = refine_line(node, factor, path.closed)
    aside = np.einsum("ij,ij->i", plan.point - middle, find_normals(middle, path.closed))
    at, where = np.arange(len(middle)) / factor, np.arange(len(node))
    period = float(len(node)) if path.closed else None
    left = np.interp(at, where, path.width_left, period=period)
    right = np.interp(at, where, path.width_right, period=period)
    return left - aside, right + aside


class LineTable:
    """Lists of a plan's points, with ways to find them.

    Attributes:
        x: [m]
        y: [m]
        heading: [rad]
        curvature: + = to the left [1/m].
        speed: [m/s]
        acceleration: [m/s²]
        length: To the next point [m].
        closed: The last point is followed by point 0.
        spacing: Mean of `length` [m].
    """

    def __init__(self, plan: SpeedPlan) -> None:
        self.x: list[float] = plan.point[:, 0].tolist()
        self.y: list[float] = plan.point[:, 1].tolist()
        self.heading: list[float] = plan.heading.tolist()
        self.curvature: list[float] = plan.curvature.tolist()
        self.speed: list[float] = plan.speed.tolist()
        self.acceleration: list[float] = plan.acceleration.tolist()
        self.length: list[float] = plan.length.tolist()
        self.closed = plan.closed
        self.count = len(self.x)
        self.spacing = float(plan.length.mean())

    def locate(self, x: float, y: float, index: int, window: int) -> tuple[int, float]:
        """Return the nearest point within `window` of `index`, and how far left of the line (x, y) is [m]."""
        best, nearest = math.inf, index
        for candidate in range(index - window, index + window + 1):
            row = candidate % self.count if self.closed else max(0, min(self.count - 1, candidate))
            dx, dy = x - self.x[row], y - self.y[row]
            square = dx * dx + dy * dy
            if square < best:
                best, nearest = square, row
        heading = self.heading[nearest]
        offset = (y - self.y[nearest]) * math.cos(heading) - (x - self.x[nearest]) * math.sin(heading)
        return nearest, offset

    def advance(self, index: int, distance: float) -> int:
        """Return the point about `distance` [m] after a point."""
        # Of paths recorded by hand some points all but coincide: they say nothing about how far the next ones are.
        step = index + round(distance / max(self.length[index], 0.5 * self.spacing))
        return step % self.count if self.closed else min(self.count - 1, step)

    def count_points(self, index: int, other: int) -> int:
        """Return how many points `other` is ahead of `index`, negative behind, the short way round."""
        ahead = other - index
        if self.closed:
            ahead = (ahead + self.count // 2) % self.count - self.count // 2
        return ahead
