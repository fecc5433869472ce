"""A random road that comes back to its beginning without ever touching itself.

A tree of hexagons grows cell by cell, each new one touching a single older one, so that the outline of all of them is
one closed line: it never crosses itself, and its stretches stay a cell apart. Its corners are moved a little, and a
smooth curve takes their place. What is random is drawn from `core.rng`: same seed, same road, on every machine.
"""

import math
from dataclasses import dataclass

import numpy as np

from donkeysim.core.draws import Draws
from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray

# Sides of 4.25 m give bends of 2.5 to 3 m (`RADIUS_SHARE`) at the original's default turn; at its greatest, 20 degrees,
# the width of the road bounds them.
PITCH = 4.25
"""Side of a hexagon at a turn of 1 degree a span [m]."""

PITCH_MOST = 6.0
"""The same for the calmest road [m]."""

# A fifth below what hexagons give by themselves: room for moved corners, without which all roads would look like
# honeycombs.
RADIUS_SHARE = 0.6
"""Least radius of a turn over the hexagon's side; where no corner is moved the tightest have 0.74."""

ROOM_SHARE = 0.58
"""Least half distance of two stretches over the hexagon's side; where no corner is moved it is 0.66."""

# A car (0.2 m wide) that leaves the road on the inside does not turn on the spot.
CLEARANCE = 0.3
"""Between the road's edge and the centre of the tightest turn [m]."""

SMOOTHED = 0.86
"""Length of the smooth curve over that of the hexagons' outline, about."""

EXTENT = 60.0
"""Greatest distance of two places of a road, about [m]: it fits into a square of this side, however it is turned."""

CALM = (32, 8)
"""Samples behind and ahead of the start that shall be as straight as the road has them; about 0.2 m each."""

SAMPLES = 16
"""Of a curve per corner."""

# The liveliest that fits is taken; 0 always does, so that no seed fails.
SHAKES = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
"""How far corners are moved, one after the other, until the road keeps clear of itself."""

Cell = tuple[int, int]

_NEIGHBOURS: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
_CORNERS: tuple[Cell, ...] = ((1, -1), (1, 1), (0, 2), (-1, 1), (-1, -1), (0, -2))
"""Of a hexagon about its middle, in sqrt(3)/2 and 1/2 of its side; corners k and k + 1 are shared with neighbour k."""


@dataclass(frozen=True)
class Walk:
    """What a random road shall be.

    Attributes:
        seed: Of its random numbers.
        turn: How lively it turns: change of the turn from one span to the next [degree].
        length: Of the whole road [m].
        widest: Distance from the path to the farther edge of the road [m].
    """

    seed: int
    turn: float
    length: float
    widest: float


@dataclass(frozen=True)
class _Curve:
    """A closed curve, sampled.

    Attributes:
        position: x, y [m], shape [sample_count, 2].
        yaw: [rad], shape [sample_count].
        bend: Absolute curvature [1/m], shape [sample_count].
        length: [m]
    """

    position: FloatArray
    yaw: FloatArray
    bend: FloatArray
    length: float


def draw_walk(walk: Walk, start: tuple[float, float], yaw: float) -> FloatArray:
    """Return points of the road, a fraction of a metre apart; a smooth closed curve through them is the road.

    Args:
        start: x, y of its first point [m], which lies where the road is straight.
        yaw: Of the driving direction there [rad].

    Returns:
        x, y [m], shape [point_count, 2].

    Raises:
        SceneError: So short a road of this width has no room for its turns.
    """
    side = max(min(PITCH / math.sqrt(walk.turn), PITCH_MOST), (walk.widest + CLEARANCE) / RADIUS_SHARE)
    # n hexagons in a tree have an outline of 4 n + 2 sides.
    most = max(1, round((walk.length / (SMOOTHED * side) - 2.0) / 4.0))
    for count in range(most, 0, -1):
        corners = _trace_outline(_grow_tree(Draws(walk.seed, "cells"), count, EXTENT / side - 2.0))
        if Draws(walk.seed, "direction").draw_uniform() < 0.5:
            corners = corners[::-1].copy()
        for shake in SHAKES:
            curve = _draw_curve(_shake_corners(corners, shake, Draws(walk.seed, "corners")), walk.length)
            is_gentle = curve.bend.max() * RADIUS_SHARE * side <= 1.0
            if is_gentle and _measure_room(curve, ROOM_SHARE * side) >= ROOM_SHARE * side:
                return _move_to_start(curve, start, yaw)
    raise SceneError(
        f"a random road of {walk.length:g} m has no room for a road that reaches {walk.widest:g} m from its path; "
        "give [path] a greater length.",
        "path.walk",
    )


def _draw_curve(corners: FloatArray, length: float) -> _Curve:
    """Return the uniform cubic B-spline of corners, in the size that gives it a length [m]."""
    u = np.arange(SAMPLES)[:, None, None] / SAMPLES
    p0, p1, p2, p3 = (np.roll(corners, 1 - k, axis=0) for k in range(4))
    a, b, c, d = p0 + 4.0 * p1 + p2, 3.0 * (p2 - p0), 3.0 * (p0 - 2.0 * p1 + p2), p3 - 3.0 * p2 + 3.0 * p1 - p0
    place, speed, force = (
        np.swapaxes(value, 0, 1).reshape(-1, 2) / 6.0
        for value in (a + u * (b + u * (c + u * d)), b + u * (2.0 * c + 3.0 * u * d), 2.0 * c + 6.0 * u * d)
    )
    pace = np.hypot(*speed.T)
    scale = length / (float(pace.sum()) / SAMPLES)
    bend = np.abs(speed[:, 0] * force[:, 1] - speed[:, 1] * force[:, 0]) / pace**3 / scale
    return _Curve(place * scale, np.arctan2(speed[:, 1], speed[:, 0]), bend, length)


def _move_to_start(curve: _Curve, start: tuple[float, float], yaw: float) -> FloatArray:
    """Return the curve turned and moved so that its straightest place lies at the start."""
    behind, ahead = CALM
    count = len(curve.bend)
    window = (np.arange(count)[:, None] + np.arange(-behind, ahead)) % count
    first = int(curve.bend[window].max(axis=1).argmin())
    angle = yaw - curve.yaw[first]
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    points = np.roll(curve.position, -first, axis=0)
    return np.asarray((points - points[0]) @ turn.T + start)[:: SAMPLES // 4]


def _grow_tree(draws: Draws, count: int, extent: float) -> list[Cell]:
    """Return hexagons, each but the first touching exactly one of those before; more likely the latest.

    Args:
        draws: Random numbers.
        count: How many, fewer where there is no room.
        extent: Greatest distance of two middles, in sides of a hexagon.
    """
    cells: list[Cell] = [(0, 0)]
    while len(cells) < count:
        latest = draws.draw_uniform() < 0.6
        open_cells = _list_open(cells, cells[-1:], extent) if latest else []
        open_cells = open_cells or _list_open(cells, cells, extent)
        if not open_cells:
            break
        cells.append(draws.choose(open_cells))
    return cells


def _list_open(cells: list[Cell], around: list[Cell], extent: float) -> list[Cell]:
    """Return free cells beside some cells that touch one cell only and are not too far from any, in a fixed order."""
    taken = set(cells)
    limit = extent * extent / 3.0
    free = []
    for q, r in around:
        for dq, dr in _NEIGHBOURS:
            cell = (q + dq, r + dr)
            if cell in taken or sum((cell[0] + nq, cell[1] + nr) in taken for nq, nr in _NEIGHBOURS) != 1:
                continue
            if all(_square(cell[0] - q, cell[1] - r) <= limit for q, r in cells):
                free.append(cell)
    return free


def _square(q: int, r: int) -> int:
    """Return the square of the distance over so many columns and rows, in distances of neighbours."""
    return q * q + q * r + r * r


def _trace_outline(cells: list[Cell]) -> FloatArray:
    """Return the corners of the outline counter-clockwise, sides of 1, shape [corner_count, 2]."""
    taken = set(cells)
    after: dict[Cell, Cell] = {}
    for q, r in cells:
        middle = (2 * q + r, 3 * r)
        for k, (dq, dr) in enumerate(_NEIGHBOURS):
            if (q + dq, r + dr) not in taken:
                begin, end = _CORNERS[k], _CORNERS[(k + 1) % 6]
                after[middle[0] + begin[0], middle[1] + begin[1]] = (middle[0] + end[0], middle[1] + end[1])
    corner = first = min(after)
    corners = []
    while True:
        corners.append(corner)
        corner = after[corner]
        if corner == first:
            return np.array(corners, float) * (math.sqrt(0.75), 0.5)


def _shake_corners(corners: FloatArray, share: float, draws: Draws) -> FloatArray:
    """Return corners moved at random; where the outline zigzags along, some zigzag is taken out, which makes straights.

    Args:
        corners: Of the outline, sides of 1.
        share: How far they are moved, 0 to 1.
        draws: Gives as many numbers per corner whatever the share.
    """
    side = np.roll(corners, -1, axis=0) - corners
    before = np.roll(side, 1, axis=0)
    turn = np.sign(before[:, 0] * side[:, 1] - before[:, 1] * side[:, 0])
    zigzags = (turn != np.roll(turn, 1)) & (turn != np.roll(turn, -1))
    drawn = np.array([[draws.draw_uniform(-1.0, 1.0) for _ in range(3)] for _ in corners])
    calm = zigzags * (0.5 + 0.25 * drawn[:, 2])
    middle = 0.5 * (np.roll(corners, 1, axis=0) + np.roll(corners, -1, axis=0))
    return np.asarray(corners + calm[:, None] * (middle - corners) + 0.16 * share * drawn[:, :2])


def _measure_room(curve: _Curve, radius: float) -> float:
    """Return half the least distance of two stretches of a curve that are no part of one turn [m], `radius` at most.

    Args:
        radius: Places nearer along the curve than half a circle of it, and half as much again, are one turn [m].
    """
    from scipy.spatial import cKDTree

    step = np.hypot(*(np.roll(curve.position, -1, axis=0) - curve.position).T)
    along = np.cumsum(step) - step
    pairs = cKDTree(curve.position).query_pairs(2.0 * radius, output_type="ndarray")
    apart = along[pairs[:, 1]] - along[pairs[:, 0]]
    far = np.minimum(np.abs(apart), curve.length - np.abs(apart)) > 1.5 * math.pi * radius
    if not far.any():
        return radius
    return float(0.5 * np.hypot(*(curve.position[pairs[far, 0]] - curve.position[pairs[far, 1]]).T).min())
