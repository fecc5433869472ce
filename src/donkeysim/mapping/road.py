"""The road of a drive: the line that was driven round, and the lines on the floor on both sides of it."""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from donkeysim.calibration.lane_lines import find_contrast
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.rotation import wrap_angles
from donkeysim.core.types import BoolArray, ByteArray, FloatArray, LongArray
from donkeysim.mapping.floor import PaintedFloor
from donkeysim.mapping.raster import import_cv2

STEP = 0.28
"""Distance of the points of the line, in heights of the camera: 5 cm of one 18 cm above the floor."""

LEAST_LAP = 15.0
"""Way that a lap takes at least, in heights of the camera."""

NEAR, ALIKE = 2.5, 0.8
"""A car that comes by so near [heights of the camera] and turned so little [rad] drives the same stretch again."""

SMOOTH = 4.0
"""Over how many points the line is smoothed: hands tremble, roads do not."""

BESIDE = 6.0
"""How far to either side lines are looked for, in heights of the camera."""

STRIP_CELL = 0.055
"""Cell of the unrolled road across, in heights of the camera: 1 cm of one 18 cm above the floor."""

CLEAR = 10.0
"""Contrast of a line with the floor on both its sides [grey level]."""

SOLID = 0.45
"""Share of the lap in which a border is seen."""

MOST_LINES = 6
"""How many lines are looked for, the clearest first."""

# White tape beside white tape; yellow beside white is a middle line, and differs by 0.2.
SAME_HUE = 0.12
"""The two borders of a road differ by less, in shares of their brightness."""

LEAST_BESIDE = 0.8
"""A line nearer to the driven one, in heights of the camera, is not beside the car, but under it."""

ABOUT_AS_CLEAR = 0.08
"""Of lines that are seen in about so large a share of the lap, the outer ones are the borders."""

LEAST_ROOM = 1.7
"""Beside the driven line, from the nearer border, in heights of the camera: 30 cm of one 18 cm above the floor."""

NO_LINE = 1.2
"""Where there are no lines: how far the road reaches beyond where the car drove, in heights of the camera."""


class Road(NamedTuple):
    """A road.

    Attributes:
        line: x, y of the line that is driven, points in driving order [m], shape [count, 2].
        left: From there to its left border [m], shape [count].
        right: To its right border.
        lap_count: How many times it was driven, parts included.
        has_lines: Whether its borders are lines on the floor; otherwise they are where the car drove, and some room.
    """

    line: FloatArray
    left: FloatArray
    right: FloatArray
    lap_count: float
    has_lines: bool


class PaintedLine(NamedTuple):
    """A line on the floor along the road.

    Attributes:
        side: How far left of the driven line it is [m], shape [count].
        share: In which share of the lap it is seen.
        colour: Its median, shape [3].
    """

    side: FloatArray
    share: float
    colour: FloatArray


def find_road(poses: FloatArray, floor: PaintedFloor, height: float) -> Road:
    """Return the road that was driven.

    Args:
        poses: Of the pictures, shape [picture_count, 3].
        floor: What they show.
        height: Of the camera [m].

    Raises:
        DonkeySimError: No lap was driven.
    """
    driven, reach, laps = find_driven_line(poses, height)
    borders = _choose_borders(find_lines(driven, floor, height), LEAST_BESIDE * height)
    if borders is None:
        room = NO_LINE * height
        left, right = reach[:, 0] + room, reach[:, 1] - room
    else:
        left, right = borders[0].side, borders[1].side
    left, right = (gaussian_filter1d(side, SMOOTH, mode="wrap") for side in (left, right))
    middle, half = 0.5 * (left + right), 0.5 * (left - right)
    # A driver who kept to the right keeps doing so, as far as there is room for a car that learns.
    most = max(0.0, float(np.median(half)) - LEAST_ROOM * height)
    aside = float(np.clip(np.median(middle), -most, most))
    line = _smooth(driven + (middle - aside)[:, None] * find_normals(driven))
    return Road(line, half + aside, half - aside, laps, borders is not None)


def find_driven_line(poses: FloatArray, height: float) -> tuple[FloatArray, FloatArray, float]:
    """Return the mean line of all laps, shape [count, 2], how far they reach left and right of it, and how many.

    Raises:
        DonkeySimError: No lap was driven.
    """
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(poses[:, :2], axis=0).T))])
    begin, end = _find_lap(poses, way, height)
    lap = poses[begin : end + 1, :2] - np.linspace(0.0, 1.0, end + 1 - begin)[:, None] * (poses[end] - poses[begin])[:2]
    line = _smooth(resample(lap, STEP * height))
    side = np.zeros((len(line), 2))
    for _ in range(2):  # the mean of all laps, then how far they reach beside it
        total, count = np.zeros(len(line)), np.zeros(len(line))
        side = np.zeros((len(line), 2))
        nearest, left = _locate(line, poses, height)
        seen = nearest >= 0
        np.add.at(total, nearest[seen], left[seen])
        np.add.at(count, nearest[seen], 1.0)
        np.maximum.at(side[:, 0], nearest[seen], left[seen])
        np.minimum.at(side[:, 1], nearest[seen], left[seen])
        mean = np.interp(np.arange(len(line)), np.flatnonzero(count), total[count > 0] / count[count > 0])
        line = resample(_smooth(line + mean[:, None] * find_normals(line)), STEP * height)
        side = np.column_stack(
            [np.interp(np.linspace(0, 1, len(line)), np.linspace(0, 1, len(side)), one) for one in side.T]
        )
    length = float(np.hypot(*np.diff(np.vstack([line, line[:1]]), axis=0).T).sum())
    return line, side, float(way[-1]) / length


def _find_lap(poses: FloatArray, way: FloatArray, height: float) -> tuple[int, int]:
    """Return two pictures between which the car drove round once, where it came by nearest."""
    best: tuple[float, int, int] | None = None
    for begin in range(0, len(poses), 5):
        later = np.searchsorted(way, way[begin] + LEAST_LAP * height)
        away = np.hypot(*(poses[later:, :2] - poses[begin, :2]).T)
        back = (away < NEAR * height) & (np.abs(wrap_angles(poses[later:, 2] - poses[begin, 2])) < ALIKE)
        if not back.any():
            continue
        first = int(np.flatnonzero(back)[0])
        passing = away[first : first + max(1, int(np.argmin(back[first:]) or len(back) - first))]
        nearest = first + int(passing.argmin())
        if best is None or away[nearest] < best[0]:
            best = (float(away[nearest]), begin, int(later) + nearest)
    if best is None:
        raise DonkeySimError(
            "the drive comes by no place a second time in the same direction, so there is no lap: "
            "record one and a half laps or more without lifting the car."
        )
    return best[1], best[2]


def resample(line: FloatArray, step: float) -> FloatArray:
    """Return points evenly spaced along a closed line, about `step` apart."""
    closed = np.vstack([line, line[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    at = np.linspace(0.0, along[-1], max(8, round(along[-1] / step)) + 1)[:-1]
    return np.column_stack([np.interp(at, along, closed[:, axis]) for axis in (0, 1)])


def _smooth(line: FloatArray) -> FloatArray:
    """Return a closed line without what changes over a few points; what smoothing cuts off bends is given back."""
    smooth = gaussian_filter1d(line, SMOOTH, axis=0, mode="wrap")
    back: FloatArray = smooth + gaussian_filter1d(line - smooth, SMOOTH, axis=0, mode="wrap")
    return back


def find_normals(line: FloatArray) -> FloatArray:
    """Return unit vectors to the left of a closed line, shape [count, 2]."""
    ahead = np.roll(line, -1, axis=0) - np.roll(line, 1, axis=0)
    ahead /= np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
    return np.column_stack([-ahead[:, 1], ahead[:, 0]])


def _locate(line: FloatArray, poses: FloatArray, height: float) -> tuple[LongArray, FloatArray]:
    """Return the nearest point of the line to each pose, -1 where none is near, and how far left of it it is [m]."""
    normal = find_normals(line)
    heading = np.arctan2(-normal[:, 0], normal[:, 1])
    nearest, left = np.full(len(poses), -1), np.zeros(len(poses))
    for number, pose in enumerate(poses):
        away = np.hypot(*(line - pose[:2]).T) + np.where(np.abs(wrap_angles(heading - pose[2])) < ALIKE, 0.0, np.inf)
        at = int(away.argmin())
        if away[at] < 2.0 * NEAR * height:
            nearest[number], left[number] = at, float((pose[:2] - line[at]) @ normal[at])
    return nearest, left


def unroll(line: FloatArray, floor: PaintedFloor, height: float) -> tuple[ByteArray, BoolArray, FloatArray]:
    """Return the floor along a closed line, a row a point, left to right.

    Returns:
        Its colours, where it was seen, and how far left of the line each column is [m].
    """
    cv2 = import_cv2()
    side = np.arange(BESIDE * height, -BESIDE * height, -STRIP_CELL * height)
    place = line[:, None] + side[None, :, None] * find_normals(line)[:, None]
    cells = np.einsum("ij,rcj->rci", np.linalg.inv(floor.axes), np.dstack([place, np.ones(place.shape[:2])]))
    where = cells[..., :2].astype(np.float32)
    strip = cv2.remap(np.clip(floor.colour, 0, 255).astype(np.uint8), where, None, cv2.INTER_LINEAR)
    seen = cv2.remap(floor.seen.astype(np.uint8), where, None, cv2.INTER_NEAREST)
    return strip, seen > 0, side


def find_lines(line: FloatArray, floor: PaintedFloor, height: float) -> list[PaintedLine]:
    """Return the lines on the floor that go along a closed line, from left to right."""
    strip, known, side = unroll(line, floor, height)
    # What ends where nothing was seen is no line.
    seen = import_cv2().erode(known.astype(np.uint8), np.ones((1, 15), np.uint8), borderValue=0) > 0
    contrast = np.where(seen, find_contrast(strip), 0.0)
    contrast = gaussian_filter1d(contrast, 1.0, axis=0, mode="wrap")
    found = []
    gap = max(3, round(0.6 / STRIP_CELL))
    for _ in range(MOST_LINES):
        column = trace(np.minimum(contrast, 2.0 * CLEAR))
        row = np.arange(len(column))
        clear = contrast[row, column] > CLEAR
        looked = seen[row, column]
        share = float(clear.sum() / max(1, looked.sum()))
        if clear.sum() < 0.2 * len(column):
            break
        if looked.mean() > 0.5:
            found.append(PaintedLine(side[column], share, np.median(strip[row[clear], column[clear]], axis=0)))
        for away in range(-gap, gap + 1):
            contrast[row, np.clip(column + away, 0, len(side) - 1)] = 0.0
    return sorted(found, key=lambda one: -float(np.median(one.side)))


def trace(contrast: FloatArray) -> LongArray:
    """Return the column in each row along which the sum is greatest, at most one column farther in the next row.

    The rows are a closed line: it is traced twice round, and the second round counts.
    """
    twice = np.vstack([contrast, contrast])
    best, came = np.zeros(twice.shape[1]), np.zeros(twice.shape, np.int8)
    for row in range(len(twice)):
        beside = np.stack([np.r_[-np.inf, best[:-1]] - 1.0, best, np.r_[best[1:], -np.inf] - 1.0])
        came[row] = beside.argmax(axis=0) - 1
        best = beside.max(axis=0) + twice[row]
    column = np.empty(len(twice), int)
    column[-1] = int(best.argmax())
    for row in range(len(twice) - 1, 0, -1):
        column[row - 1] = column[row] + came[row, column[row]]
    half = len(contrast) // 2
    traced: LongArray = np.concatenate([column[len(contrast) : len(contrast) + half], column[half : len(contrast)]])
    return traced


def _choose_borders(lines: list[PaintedLine], least: float) -> tuple[PaintedLine, PaintedLine] | None:
    """Return a line on each side of the driven one: of one colour if there are such, the clearest, the widest apart.

    They lie at least so far beside it [m].
    """
    solid = [line for line in lines if line.share >= SOLID]
    lefts = [line for line in solid if np.median(line.side) > least]
    rights = [line for line in solid if np.median(line.side) < -least]
    pairs = [(left, right) for left in lefts for right in rights]
    alike = [pair for pair in pairs if np.abs(_find_hue(pair[0]) - _find_hue(pair[1])).max() < SAME_HUE]
    if not (chosen := alike or pairs):
        return None
    clear = max(min(left.share, right.share) for left, right in chosen) - ABOUT_AS_CLEAR
    good = [pair for pair in chosen if min(pair[0].share, pair[1].share) >= clear]
    return max(good, key=lambda pair: float(np.median(pair[0].side - pair[1].side)))


def _find_hue(line: PaintedLine) -> FloatArray:
    """Return a line's colour as shares of its mean."""
    hue: FloatArray = line.colour / max(1.0, float(line.colour.mean()))
    return hue
