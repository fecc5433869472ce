"""Smooth curves through the points of a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from donkeysim.core.types import FloatArray

Curve: TypeAlias = Callable[..., FloatArray]
"""Called with parameters, shape [n], and the order of a derivative: x, y, shape [n, 2]."""

LEAD = 32
"""Points of a closed path that a rounded curve is laid through before its first and behind its last, so that both ends
meet in everything."""

LEAST_POINTS = 5
"""Of a curve that can be rounded."""


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
