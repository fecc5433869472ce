"""Walls, boards and what else stands beside the road, as panels: pictures that stand upright along lines.

Seen from the road, points of what stands there (`mapping.points`) lie in rows along it. On each side, the rows are
traced like lines on the floor, and painted by the pictures that show them best.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter, gaussian_filter1d
from scipy.spatial import cKDTree

from donkeysim.calibration.motion import FloorCamera
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray, LongArray
from donkeysim.mapping.floor import PaintedFloor
from donkeysim.mapping.points import find_points
from donkeysim.mapping.raster import import_cv2
from donkeysim.mapping.road import Road, find_normals, trace

NEAREST, FARTHEST = 0.5, 40.0
"""From the road's border, and from its line, in heights of the camera: what stands between is looked for."""

RATIO = 1.06
"""Of how far away two neighbouring columns are in which points are counted."""

LEAST_POINTS = 0.08
"""Points of a station and a column, in the weighted mean around it, that are a row."""

FEWEST_POINTS = 20
"""Fewer are no row: those that are mistaken lie together, too."""

SHORTEST, GAP = 12, 8
"""Stations of a row, and of a gap in it that is none [`road.STEP`]."""

REACHED, MARGIN = 0.95, 0.3
"""Share of a row's points above which a panel ends, and by how much, in heights of the camera."""

TEXELS_PER_HEIGHT = 12
"""Texels of a panel's picture in a height of the camera."""

MOST_TEXELS = 4096
"""Along a panel."""

VIEWS, BEST = 24, 7
"""How many pictures show a piece of a panel; of each texel, the first of them that show it count."""

PIECE = 32
"""Texels along a panel that the same pictures show; halves of two pieces are blended."""

_ALONG, _ACROSS = 4.0, 0.8  # Over which stations and columns points are counted together
_CLEAREST = 4.0  # More points, in `LEAST_POINTS`, are no clearer row
_WORTH = 5.0  # What `LEAST_POINTS` are worth beside a row that goes one column aside
_THICK = 3.0  # Columns around a row whose points are its own
_WIDE = 30  # Stations to either side that say how high a row is
_OFF = 0.2  # By which a panel may leave its row, in heights of the camera
_APART = 4.0  # Points of a row farther apart, in heights of the camera, belong to two
_BLURRED = 0.02  # A turn from picture to picture that makes a picture half as good [rad]


class Panel(NamedTuple):
    """A picture that stands along a line, its front to the left as the line runs.

    Attributes:
        points: x, y [m], shape [count, 2].
        height: [m]
        picture: Seen from its front, shape [rows, columns, 4]; its right edge stands at the first point.
    """

    points: FloatArray
    height: float
    picture: ByteArray


class _Row(NamedTuple):
    """Where a panel stands, and how high up each place of it reaches [m]."""

    points: FloatArray
    top: FloatArray


def stand_panels(
    pictures: Sequence[ByteArray],
    poses: FloatArray,
    camera: FloorCamera,
    own: BoolArray,
    floor: PaintedFloor,
    road: Road,
    report: Callable[[float], None],
) -> list[Panel]:
    """Return what stands beside the road; on Ctrl-C those that are painted.

    Args:
        pictures: Of the drive, shape [height, width, 1 or 3] each.
        poses: Where they were taken, shape [picture_count, 3].
        camera: That took them.
        own: Where they show the car.
        floor: Tells their light and the lens's vignette.
        report: Called with the share that is done.
    """
    panels: list[Panel] = []
    with suppress(KeyboardInterrupt):
        points = find_points(pictures, poses, camera, own, lambda share: report(0.5 * share))
        painter, rows = _Painter(pictures, poses, camera, own, floor), find_rows(points, road, camera.mount.height)
        for row in rows:
            panels.append(painter.paint(row))
            report(0.5 + 0.5 * len(panels) / len(rows))
    return panels


def find_rows(points: FloatArray, road: Road, height: float) -> list[_Row]:
    """Return the rows in which points stand beside the road."""
    normal = find_normals(road.line)
    station = cKDTree(road.line).query(points[:, :2])[1]
    aside = np.einsum("ni,ni->n", points[:, :2] - road.line[station], normal[station])
    found = []
    for sign, half in ((1.0, road.left), (-1.0, road.right)):
        here = (sign * aside > half[station] + NEAREST * height) & (sign * aside < FARTHEST * height)
        stations, distance = station[here], sign * aside[here]
        for at, far, top in _find_side(stations, distance, points[here, 2], len(road.line), height):
            found += _split(road.line[at] + sign * far[:, None] * normal[at], top, road, height, sign)
    return found


def _find_side(
    station: LongArray, distance: FloatArray, z: FloatArray, count: int, height: float
) -> list[tuple[LongArray, FloatArray, FloatArray]]:
    """Return stations, distances and heights of the clearest row of a side, in pieces."""
    column = np.log(distance / height) / np.log(RATIO)
    columns = int(np.log(FARTHEST) / np.log(RATIO)) + 2
    low = np.clip(np.rint(column).astype(int), 0, columns - 1)
    number, where = np.zeros((2, count, columns))
    np.add.at(number, (station, low), 1.0)
    np.add.at(where, (station, low), column)
    number, where = (gaussian_filter(part, (_ALONG, _ACROSS), mode=("wrap", "constant")) for part in (number, where))
    row = trace(_WORTH * np.minimum(number / LEAST_POINTS, _CLEAREST))
    at = np.arange(count)
    beside = np.clip(row[:, None] + (-1, 0, 1), 0, columns - 1)
    clear = number[at, row] > LEAST_POINTS
    mean = where[at[:, None], beside].sum(axis=1) / np.maximum(number[at[:, None], beside].sum(axis=1), 1e-9)
    pieces = []
    for piece in _find_runs(clear):
        known, order = clear[piece], np.arange(len(piece))
        far = gaussian_filter1d(np.interp(order, order[known], mean[piece][known]), _ALONG, mode="nearest")
        row_column = np.full(count, np.nan)
        row_column[piece] = far
        own = np.abs(column - row_column[station]) < _THICK
        if own.sum() < FEWEST_POINTS:
            continue
        top = [_find_top(station[own], z[own], number, count) for number in piece[::GAP]]
        high = gaussian_filter1d(np.interp(order, order[::GAP], top), GAP, mode="nearest")
        pieces.append((piece, height * RATIO**far, high + MARGIN * height))
    return pieces


def _find_top(station: LongArray, z: FloatArray, at: int, count: int) -> float:
    """Return how high the points of a row reach around a station [m]."""
    around = np.abs((station - at + count // 2) % count - count // 2) <= _WIDE
    return float(np.quantile(z[around], REACHED)) if around.any() else 0.0


def _find_runs(clear: BoolArray) -> list[LongArray]:
    """Return the stations of each run, short gaps included, of a closed line."""
    at = np.flatnonzero(clear)
    if not len(at):
        return []
    gap = np.diff(np.r_[at, at[0] + len(clear)])
    wide = np.flatnonzero(gap > GAP)
    if not len(wide):
        return [np.r_[np.arange(at[0], len(clear)), np.arange(at[0] + 1)]]
    runs = []
    for end, after in zip(wide, np.roll(wide, -1), strict=True):
        first, last = int(at[(end + 1) % len(at)]), int(at[after])
        run = np.arange(first, last + 1 if last >= first else last + 1 + len(clear)) % len(clear)
        runs.append(run)
    return [run for run in runs if len(run) >= SHORTEST]


def _split(place: FloatArray, top: FloatArray, road: Road, height: float, sign: float) -> list[_Row]:
    """Return a row in pieces that run on and leave the road free, so that their front is the road's side."""
    away, nearest = cKDTree(road.line).query(place)
    clear = away > np.maximum(road.left, road.right)[nearest] + NEAREST * height
    gap = np.hypot(*np.diff(place, axis=0).T) > _APART * height
    cut = np.flatnonzero(gap | np.diff(clear)) + 1
    order = -1 if sign > 0.0 else 1
    return [
        _Row(part[::order], high[::order])
        for part, high, free in zip(*(np.split(one, cut) for one in (place, top, clear)), strict=True)
        if len(part) >= SHORTEST and free[0]
    ]


class _Painter:
    """Paints panels by the pictures of a drive."""

    def __init__(
        self, pictures: Sequence[ByteArray], poses: FloatArray, camera: FloorCamera, own: BoolArray, floor: PaintedFloor
    ) -> None:
        self._pictures, self._camera, self._own, self._floor = pictures, camera, own, floor
        self._yaw = poses[:, 2]
        self._ahead = np.column_stack([np.cos(self._yaw), np.sin(self._yaw)])
        self._eye = poses[:, :2] + camera.ahead * self._ahead
        turn = np.abs(np.gradient(np.unwrap(self._yaw)))
        self._blur = 1.0 + turn / _BLURRED

    def paint(self, row: _Row) -> Panel:
        """Return a panel as the pictures show it."""
        cv2, height = import_cv2(), self._camera.mount.height
        line = cv2.approxPolyDP(row.points.astype(np.float32), _OFF * height, False).reshape(-1, 2).astype(float)
        along = np.r_[0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T))]
        columns = int(np.clip(along[-1] / height * TEXELS_PER_HEIGHT, 2, MOST_TEXELS))
        at = (np.arange(columns) + 0.5) * along[-1] / columns
        place = np.column_stack([np.interp(at, along, part) for part in line.T])
        ahead = np.diff(line, axis=0)[np.clip(np.searchsorted(along, at) - 1, 0, len(line) - 2)]
        normal = np.column_stack([-ahead[:, 1], ahead[:, 0]]) / np.hypot(*ahead.T)[:, None]
        top = np.interp(at / along[-1], np.linspace(0.0, 1.0, len(row.top)), row.top)
        z = (np.arange(max(2, round(top.max() / height * TEXELS_PER_HEIGHT))) + 0.5) * height / TEXELS_PER_HEIGHT
        colour, weight = np.zeros((len(z), columns, 3), np.float32), np.zeros((len(z), columns), np.float32)
        for begin in range(-PIECE // 2, columns, PIECE // 2):
            piece = slice(max(0, begin), begin + PIECE)
            share = 1.0 - np.abs(np.arange(columns)[piece] - begin - 0.5 * (PIECE - 1)) / (0.5 * PIECE)
            seen = self._look(place[piece], normal[piece].mean(axis=0), z)
            weighed = np.isfinite(seen[..., 0]) * share.astype(np.float32)
            colour[:, piece] += np.nan_to_num(seen) * weighed[..., None]
            weight[:, piece] += weighed
        shown = (weight > 0.0) & (z[:, None] < top)
        colour /= np.maximum(weight, 1e-6)[..., None]
        if shown.any():  # or what is drawn smaller would blend in black
            colour = colour[tuple(distance_transform_edt(~shown, return_distances=False, return_indices=True))]
        picture = np.dstack([np.clip(colour + 0.5, 0.0, 255.0), 255.0 * shown]).astype(np.uint8)
        return Panel(line, len(z) * height / TEXELS_PER_HEIGHT, np.ascontiguousarray(picture[::-1, ::-1]))

    def _look(self, place: FloatArray, normal: FloatArray, z: FloatArray) -> Float32Array:
        """Return the colours of upright lines at places, shape [height_count, place_count, 3]; not numbers: unseen."""
        cv2, camera = import_cv2(), self._camera
        rows, columns = self._own.shape
        seen = []
        for number in self._choose(place.mean(axis=0), normal):
            away = place - self._eye[number]
            along = away @ self._ahead[number]
            left = self._ahead[number, 0] * away[:, 1] - self._ahead[number, 1] * away[:, 0]
            ray = np.stack(np.broadcast_arrays(along, left, z[:, None] - camera.mount.height), axis=-1)
            pixel = np.nan_to_num(camera.find_pixels(ray.reshape(-1, 3)), nan=-9.0).reshape(*ray.shape[:2], 2)
            inside = ((pixel > 1.0) & (pixel < np.array([columns, rows]) - 2.0)).all(axis=-1)
            column, row = np.clip(np.rint(pixel), 0, np.array([columns, rows]) - 1).astype(int).transpose(2, 0, 1)
            picture = np.broadcast_to(self._pictures[number], (rows, columns, 3)).astype(np.float32)
            colour = cv2.remap(picture, pixel.astype(np.float32), None, cv2.INTER_LINEAR)
            colour /= self._floor.vignette[row, column][..., None] * self._floor.gain[number]
            colour[~inside | self._own[row, column]] = np.nan
            seen.append(colour)
        if not seen:
            return np.full((len(z), len(place), 3), np.nan, np.float32)
        views = np.stack(seen)
        views[np.cumsum(np.isfinite(views[..., :1]), axis=0).repeat(3, axis=-1) > BEST] = np.nan
        return _take_median(views)

    def _choose(self, place: FloatArray, normal: FloatArray) -> list[int]:
        """Return the numbers of pictures that show a place of a panel, the best first: near, from its front, sharp."""
        away = place - self._eye
        far = np.hypot(*away.T)
        front = -(away @ normal) / far
        ahead = np.einsum("ni,ni->n", away, self._ahead) / far
        shows = (ahead > np.cos(0.47 * self._camera.lens.fov)) & (front > 0.2)
        cost = np.where(shows, far / np.maximum(front, 0.2) * self._blur, np.inf)
        order = np.argsort(cost)[: int(shows.sum())]
        picked = np.unique((np.geomspace(1.0, max(1.0, len(order)), VIEWS) - 1.0).astype(int))
        return [int(number) for number in order[picked[picked < len(order)]]]


def _take_median(views: Float32Array) -> Float32Array:
    """Return the median of those that are numbers, along the first axis; of none: not a number."""
    views = np.sort(views, axis=0)  # not numbers are last
    count = np.isfinite(views).sum(axis=0, keepdims=True)
    low, high = (np.take_along_axis(views, at, axis=0) for at in (np.maximum(count - 1, 0) // 2, count // 2))
    return np.asarray(0.5 * (low + high)[0], np.float32)
