"""Lines around a road: the shortest one inside its edges, and one to race on.

A road is given by its path and the distances to its edges. Every node spans a gate, the straight cross section from the
right edge to the left one; a line is one point on each gate. World frame, metres.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from donkeysim.core.errors import ShapeError
from donkeysim.core.types import FloatArray
from donkeysim.world.path_frame import take_previous

_LAPS = 5
"""Laps of a closed road that the string is pulled over; the middle one no longer feels the ends."""

_LONG = 800
"""Gates of a lap so long that some gates before and behind it are enough."""

_LEAD = 300
"""So many."""

# 2 % short of each other, so that their order stays clear.
_CROSSING_SHARE = 0.98
"""Gates that would cross inside the road end at this share of the distance to their crossing."""

_STEPS_MOST = 60
"""Newton steps of the racing line; a loop of 300 nodes takes about 20."""

_GAIN_LEAST = 1e-6
"""Share of the cost that a step of the racing line must save for another one to be worth it."""

BoolArray: TypeAlias = npt.NDArray[np.bool_]

Bands: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""A symmetric matrix on a ring: its diagonal and the next two."""

Curve: TypeAlias = Callable[..., FloatArray]
"""Called with parameters, shape [n], and the order of a derivative: x, y, shape [n, 2]."""

LEAD = 32
"""Points of a closed path that a rounded curve is laid through before its first and behind its last, so that both ends
meet in everything."""

LEAST_POINTS = 5
"""Of a curve that can be rounded."""


def compute_shortest_line(
    position: FloatArray, width_left: FloatArray, width_right: FloatArray, closed: bool
) -> FloatArray:
    """Compute the shortest line that passes all gates in order.

    It is exact for the road whose edges are straight between the nodes: the line a taut string takes.

    Args:
        position: Nodes of the path [m], shape [node_count, 2] or more columns, of which x and y are read.
        width_left: Distance from the path to the left edge [m], shape [node_count].
        width_right: The same on the right.
        closed: The last node is followed by node 0. Otherwise the line runs from the first node to the last.

    Returns:
        One point per gate, beginning at node 0 [m], shape [node_count, 2].

    Raises:
        ShapeError: Fewer than 3 nodes, or widths that are not one per node.

    References:
        Lee, Preparata, Euclidean shortest paths in the presence of rectilinear barriers, Networks 14 (1984): the
        funnel.
    """
    right, left = _make_gates(position, width_left, width_right, closed)
    if not closed:
        ends = np.asarray(position, np.float64)[[0, -1], :2]
        return _cut_at_gates(_pull_taut(right, left, ends[0], ends[1]), right, left)
    node_count = len(right)
    first = _LAPS // 2 * node_count if node_count < _LONG else _LEAD
    index = np.arange(-first, node_count + first + 1) % node_count
    right, left = right[index], left[index]
    ends = 0.5 * (right[[0, -1]] + left[[0, -1]])
    line = _cut_at_gates(_pull_taut(right, left, ends[0], ends[1]), right, left)
    return line[first : first + node_count]


def compute_racing_line(
    position: FloatArray, width_left: FloatArray, width_right: FloatArray, margin: float, length_weight: float = 0.0
) -> FloatArray:
    """Compute a smooth closed line of least squared curvature inside the road.

    Args:
        position: Nodes of the closed path [m], evenly spaced, shape [node_count, 2] or more columns.
        width_left: Distance from the path to the left edge [m], shape [node_count].
        width_right: The same on the right.
        margin: Distance kept from both edges, half a car's width or more [m]; the road's middle where it is narrower.
        length_weight: 0 for least curvature only; larger values trade curvature for a shorter line [1/m²]: what is
            least is the integral of curvature² + `length_weight` over the line.

    Returns:
        One point per gate, beginning at node 0 [m], shape [node_count, 2].

    Raises:
        ShapeError: Fewer than 3 nodes, or widths that are not one per node.

    References:
        Heilmeier et al., Minimum curvature trajectory planning, Vehicle System Dynamics 58 (2020).
    """
    right, left = _make_gates(position, width_left, width_right, closed=True)
    across = left - right
    low = np.minimum(margin / np.maximum(np.hypot(*across.T), 1e-9), 0.5)
    share = np.full(len(right), 0.5)
    cost, slope = _measure_bending(right + share[:, None] * across, length_weight)
    damping = 1e-3
    for _ in range(_STEPS_MOST):
        gradient = np.einsum("ij,ij->i", slope, across)
        held = ((share <= low) & (gradient > 0.0)) | ((share >= 1.0 - low) & (gradient < 0.0))
        hessian = _approximate_hessian(right + share[:, None] * across, across, length_weight)
        trial = np.clip(share + _solve_free(hessian, gradient, held, damping), low, 1.0 - low)
        trial_cost, trial_slope = _measure_bending(right + trial[:, None] * across, length_weight)
        if trial_cost >= cost:
            damping *= 10.0
            continue
        gain = (cost - trial_cost) / cost
        share, cost, slope = trial, trial_cost, trial_slope
        damping *= 0.2
        if gain < _GAIN_LEAST:
            break
    return np.asarray(right + share[:, None] * across)


def _solve_free(hessian: Bands, gradient: FloatArray, held: BoolArray, damping: float) -> FloatArray:
    """Return the Levenberg–Marquardt step of the variables that are not held at a bound, 0 for the others.

    Numbered 0, n - 1, 1, n - 2, ... a ring whose members know two neighbours on each side is a matrix of four diagonals
    on each side, which is solved at once and without threads.
    """
    from scipy.linalg import solveh_banded  # a sixth of all that a simulator imports, and only racing lines need it

    count = len(gradient)
    order = np.empty(count, np.int64)
    order[0::2], order[1::2] = np.arange((count + 1) // 2), count - 1 - np.arange(count // 2)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    free = np.where(held, 0.0, 1.0)
    bands = np.zeros((5, count))
    for distance, band in enumerate(hessian):
        other = np.roll(place, -distance)
        entry = band * free * np.roll(free, -distance)
        np.add.at(bands, (np.abs(place - other), np.minimum(place, other)), entry)
    bands[0] += damping * float(hessian[0].mean()) + (1.0 - free)[order]
    step = solveh_banded(bands, -(gradient * free)[order], lower=True)
    return np.asarray(step[place])


def _approximate_hessian(point: FloatArray, across: FloatArray, length_weight: float) -> Bands:
    """Return the Gauss-Newton Hessian of `_measure_bending` by the shares, lengths taken as constant.

    Returns:
        The entries (i, i), (i, i + 1) and (i, i + 2), round the ring, shape [node_count] each.
    """
    side = np.roll(point, -1, axis=0) - point
    length = np.hypot(side[:, 0], side[:, 1])
    normal = np.column_stack([-side[:, 1], side[:, 0]]) / (length * length)[:, None]
    own = -np.einsum("ij,ij->i", normal, across)
    other = np.einsum("ij,ij->i", normal, np.roll(across, -1, axis=0))
    scale = 1.0 / np.sqrt(0.5 * (length + np.roll(length, 1)))
    first, second, third = -np.roll(own, 1) * scale, (own - np.roll(other, 1)) * scale, other * scale
    weight = length_weight * length
    return (
        2.0 * (np.roll(third, 1) ** 2 + second**2 + np.roll(first, -1) ** 2)
        + weight * own**2
        + np.roll(weight * other**2, 1),
        2.0 * (second * third + np.roll(first * second, -1)) + weight * own * other,
        2.0 * np.roll(first * third, -1),
    )


def _measure_bending(point: FloatArray, length_weight: float) -> tuple[float, FloatArray]:
    """Return the integral of curvature² + `length_weight` along a closed polygon, and its gradient by the points.

    The curvature at a point is its turning angle over the mean length of the two sides.
    """
    side = np.roll(point, -1, axis=0) - point
    length = np.hypot(side[:, 0], side[:, 1])
    before, length_before = np.roll(side, 1, axis=0), np.roll(length, 1)
    angle = np.arctan2(
        before[:, 0] * side[:, 1] - before[:, 1] * side[:, 0], before[:, 0] * side[:, 0] + before[:, 1] * side[:, 1]
    )
    mean = 0.5 * (length + length_before)
    cost = float(np.sum(angle * angle / mean) + length_weight * np.sum(length))
    by_angle = 2.0 * angle / mean
    by_mean = -((angle / mean) ** 2)
    by_length = 0.5 * (by_mean + np.roll(by_mean, -1)) + length_weight
    by_heading = by_angle - np.roll(by_angle, -1)
    normal = np.column_stack([-side[:, 1], side[:, 0]]) / (length * length)[:, None]
    by_side = by_length[:, None] * side / length[:, None] + by_heading[:, None] * normal
    return cost, np.roll(by_side, 1, axis=0) - by_side


def _make_gates(
    position: FloatArray, width_left: FloatArray, width_right: FloatArray, closed: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the right and left ends of the gates, shape [node_count, 2] each, kept from crossing their neighbours."""
    node = np.asarray(position, np.float64)[:, :2]
    widths = (np.asarray(width_left, np.float64), np.asarray(width_right, np.float64))
    if len(node) < 3 or any(width.shape != (len(node),) for width in widths):
        raise ShapeError(
            f"a road of {len(node)} nodes with widths of shapes {widths[0].shape} and {widths[1].shape} is not "
            "possible; it takes at least 3 nodes and one width per node on each side."
        )
    normal = _compute_normals(node, closed)
    left = node + normal * _limit_width(node, normal, widths[0], closed)[:, None]
    right = node - normal * _limit_width(node, -normal, widths[1], closed)[:, None]
    return right, left


def _compute_normals(node: FloatArray, closed: bool) -> FloatArray:
    """Return the unit normals to the left, halving the angle between the neighbouring sides, shape [node_count, 2]."""
    side = np.roll(node, -1, axis=0) - node
    side /= np.maximum(np.hypot(side[:, 0], side[:, 1]), 1e-12)[:, None]
    before = take_previous(side, closed)
    if not closed:
        side[-1] = before[-1]
    tangent = side + before
    tangent /= np.maximum(np.hypot(tangent[:, 0], tangent[:, 1]), 1e-12)[:, None]
    return np.column_stack([-tangent[:, 1], tangent[:, 0]])


def _limit_width(node: FloatArray, direction: FloatArray, width: FloatArray, closed: bool) -> FloatArray:
    """Return the widths, cut where a gate would cross the next one on this side (a bend tighter than the road)."""
    step = np.roll(node, -1, axis=0) - node
    follower = np.roll(direction, -1, axis=0)
    cross = direction[:, 0] * follower[:, 1] - direction[:, 1] * follower[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = (step[:, 0] * follower[:, 1] - step[:, 1] * follower[:, 0]) / cross
        other = (step[:, 0] * direction[:, 1] - step[:, 1] * direction[:, 0]) / cross
    crossing = (np.abs(cross) > 1e-9) & (own > 0.0) & (other > 0.0)
    if not closed:
        crossing[-1] = False
    own = np.where(crossing, own, np.inf)
    other = np.where(crossing, other, np.inf)
    limit = _CROSSING_SHARE * np.minimum(own, np.roll(other, 1))
    return np.minimum(width, limit)


def _pull_taut(
    right: FloatArray, left: FloatArray, start: FloatArray, end: FloatArray
) -> list[tuple[int, float, float]]:
    """Return the corners (gate index, x, y) of the shortest line from `start` through all gates to `end`.

    A funnel with its apex at the last sure corner narrows from gate to gate; when its sides cross, the side that was
    crossed holds the next corner.
    """
    # Lists of numbers, not of pairs: ten thousands of small lists would call the garbage collector.
    rights_x, rights_y = np.vstack((right, end)).T.tolist()
    lefts_x, lefts_y = np.vstack((left, end)).T.tolist()
    last = len(rights_x) - 1
    apex_x, apex_y = start.tolist()
    corners = [(0, apex_x, apex_y)]
    right_gate = left_gate = gate = 0
    right_x, right_y = left_x, left_y = apex_x, apex_y
    while gate < last:
        gate += 1
        x, y = rights_x[gate], rights_y[gate]
        if _turn(apex_x, apex_y, right_x, right_y, x, y) >= 0.0:
            if (right_x == apex_x and right_y == apex_y) or _turn(apex_x, apex_y, left_x, left_y, x, y) < 0.0:
                right_x, right_y, right_gate = x, y, gate
            else:
                apex_x, apex_y, gate = left_x, left_y, left_gate
                corners.append((gate, apex_x, apex_y))
                right_x, right_y = left_x, left_y = apex_x, apex_y
                right_gate = left_gate = gate
                continue
        x, y = lefts_x[gate], lefts_y[gate]
        if _turn(apex_x, apex_y, left_x, left_y, x, y) <= 0.0:
            if (left_x == apex_x and left_y == apex_y) or _turn(apex_x, apex_y, right_x, right_y, x, y) > 0.0:
                left_x, left_y, left_gate = x, y, gate
            else:
                apex_x, apex_y, gate = right_x, right_y, right_gate
                corners.append((gate, apex_x, apex_y))
                right_x, right_y = left_x, left_y = apex_x, apex_y
                right_gate = left_gate = gate
    corners.append((last, *end.tolist()))
    return corners


def _turn(x0: float, y0: float, x1: float, y1: float, x2: float, y2: float) -> float:
    """Return twice the signed area of a triangle, + when its corners run counter-clockwise."""
    return (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)


def _cut_at_gates(corners: list[tuple[int, float, float]], right: FloatArray, left: FloatArray) -> FloatArray:
    """Return where the line through `corners` crosses every gate, shape [gate_count, 2]."""
    gates = np.array([corner[0] for corner in corners])
    points = np.array([corner[1:] for corner in corners])
    gate = np.arange(len(right))
    side = np.clip(np.searchsorted(gates, gate, side="right") - 1, 0, len(gates) - 2)
    begin, along = points[side], points[side + 1] - points[side]
    across = left - right
    cross = along[:, 0] * across[:, 1] - along[:, 1] * across[:, 0]
    offset = right - begin
    share = (offset[:, 0] * along[:, 1] - offset[:, 1] * along[:, 0]) / np.where(np.abs(cross) > 1e-15, cross, 1.0)
    line = right + np.clip(share, 0.0, 1.0)[:, None] * across
    corner = gates[side] == gate
    line[corner] = begin[corner]
    line[gates[-1] == gate] = points[-1]
    return np.asarray(line)


def fit_curve(parameter: FloatArray, point: FloatArray, closed: bool, smooth: float) -> Curve:
    """Return a twice differentiable curve through points, or near them.

    A rounded one lies a little beside points where the path bends sharply, and hardly at all elsewhere: it is the
    smoothing spline, of least squared distances from the points and squared second derivative, whose curvature behind a
    right-angled corner is 1 / `smooth`.

    Args:
        parameter: Of each point and, closed, of the first one again, growing from 0 about as the path's length [m].
        point: x, y [m], shape [point_count, 2].
        closed: The last point is followed by the first.
        smooth: Radius that a right-angled corner is rounded to, about [m]; 0: the curve passes through the points.

    References:
        Reinsch, Smoothing by spline functions, Numerische Mathematik 10 (1967).
    """
    from scipy.interpolate import CubicSpline, make_smoothing_spline

    knots = np.vstack((point, point[:1])) if closed else point
    if smooth <= 0.0 or len(point) < LEAST_POINTS:
        curve: Curve = CubicSpline(parameter, knots, bc_type="periodic" if closed else "natural")
        return curve
    spacing = parameter[-1] / (len(parameter) - 1)
    at = parameter
    if closed:
        index = np.arange(-LEAD, len(point) + LEAD + 1)
        at = parameter[index % len(point)] + index // len(point) * parameter[-1]
        knots = point[index % len(point)]
    axes = [make_smoothing_spline(at, knots[:, axis], lam=smooth**4 / spacing) for axis in (0, 1)]

    def evaluate(place: FloatArray, order: int = 0) -> FloatArray:
        return np.stack([axis(place, order) for axis in axes], axis=-1)

    return evaluate


def join_heights(parameter: FloatArray, height: FloatArray, closed: bool, place: FloatArray) -> FloatArray:
    """Return heights at some places, on a curve without overshoot through the points'.

    Args:
        parameter: As of `fit_curve`.
        height: Of each point [m], shape [point_count] or [point_count, k].
        closed: The last point is followed by the first.
        place: Parameters, shape [n].
    """
    from scipy.interpolate import PchipInterpolator

    if closed:
        lap, last = parameter[-1], parameter[:-1]
        parameter, height = np.concatenate((last - lap, last, last + lap)), np.concatenate((height, height, height))
    return np.asarray(PchipInterpolator(parameter, height)(place))
