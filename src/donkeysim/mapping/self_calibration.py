"""The camera of a drive, from nothing but the drive: lens, pitch and roll; how high it is stays unknown.

What a turn moves in the picture, in each place above the floor, is the lens: a lens of 60° moves what is at the side
more than what is ahead, a fisheye less. How far that is in a turn of 2π is known (`turns`). Where driving moves nothing
up or down is the horizon. What flow leaves open is judged by the floor: of all such cameras, the drive's pictures, seen
from above, are most alike with the right one, and turn as the view ahead does.

Reference:
    Ramalingam, Sturm, Lodha, Generic self-calibration of central cameras, Computer Vision and Image Understanding 114
    (2010), for lenses from the flow of rotations.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from donkeysim.calibration.camera import Mount
from donkeysim.calibration.motion import FloorCamera, find_own_body, scale_lens
from donkeysim.core.rotation import between
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray
from donkeysim.mapping.odometry import FloorPictures, Turning, follow
from donkeysim.mapping.raster import FEWEST_CELLS
from donkeysim.mapping.turns import CELL, Returns, find_returns, find_shifts, lack_camera, measure, shrink, watch
from donkeysim.world.lens import LensSpec

HEIGHT = 0.18
"""Of a camera of which nothing shows how high it is [m]."""

MOST_AROUND = 2
"""Turns in a lap: a track that crosses itself may have two."""

WORST_FIT = 0.08
"""Of what a turn moves, by how much a lens may miss it in the mean, as a share."""

LEAST_CORRELATION = 0.5
"""With the right camera, pictures of any floor that can be followed are more alike."""

MOST_OFF = 0.2
"""By what share the scale may differ from that of the view ahead, which is not infinitely far away."""

TRIED = 300
"""Pictures by which the horizon is judged; the scale takes a lap."""

SURE, UNSURE = (0.028, 0.006, 0.006), (0.028, 0.02, 0.02)
"""How well the motion is known, see `Turning.spread`: with the right camera, and while it is looked for."""

_LEVER = 0.6  # How far a camera is before where its car does not slip, in its heights: 0.55 to 0.71 in four drives
_SLIP = 0.75  # A lens that is too long by a share makes the floor turn less by so much of it
_STEPS = (2.0, 1.0)  # Rows by which horizon and centre are moved, round by round [pixel]
_FARTHEST_STEPS = 3
_BENDS = (-0.15, 0.15)  # First coefficients with which a lens is looked for: of a fisheye, and of one that is none
_HELD = 0.02  # As good as fixed [pixel]
_FARTHEST_OFF = 0.08  # No lens's centre is farther from its picture's, as a share of its height
_OFF_CENTRE, _BEND = 4.0, 0.08  # What lenses have: their centre [pixel], the second coefficient
_ROOM = np.array([0.7, 0.6, 0.6, 0.4, 0.15])  # How far values of `_make_camera` may be from those it begins with


class _Fields(NamedTuple):
    """What moves where.

    Attributes:
        place: Middles of cells above the floor [pixel], shape [count, 2].
        turned: What a turn of the view by a pixel ahead moves there [pixel], shape [count, 2].
        size: Of the pictures [pixel].
        horizon: The row in which driving moves nothing up or down [pixel].
    """

    place: FloatArray
    turned: FloatArray
    size: tuple[int, int]
    horizon: float


class _Trial(NamedTuple):
    """What the floor says of a camera.

    Attributes:
        correlation: How much pictures are alike.
        turned: How far the floor turns when the view ahead turns by 1.
    """

    camera: FloorCamera
    correlation: float
    turned: float


def find_camera(
    pictures: Sequence[ByteArray], report: Callable[[float], None]
) -> tuple[FloorCamera, FloatArray, Returns]:
    """Return the camera of a drive, `HEIGHT` above the floor, and what is above the floor shows of the motion.

    Args:
        pictures: Of a lap and a half or more, in driving order.
        report: Called with the share that is done.

    Returns:
        The camera; how far the car turned from picture to picture [rad], shape [picture_count - 1]; where views return.

    Raises:
        DonkeySimError: The drive does not show it; the text says why.
    """
    moved = watch(pictures, lambda count: report(0.5 * count / len(pictures)))
    size = measure(pictures[0])
    shifts = find_shifts(moved, _find_fields(moved, find_shifts(moved), size).horizon)
    fields = _find_fields(moved, shifts, size)
    returns = find_returns(pictures, shifts, fields.horizon)
    around = min(range(1, MOST_AROUND + 1), key=lambda count: _fit(fields, _divide(returns, count), fields.horizon)[1])
    pixels = _divide(returns, around)
    if _fit(fields, pixels, fields.horizon)[1] > WORST_FIT:
        raise lack_camera("what it sees above the floor moves as with no lens, being too near or too blurred")
    turns = shifts / pixels
    lap = slice(int(returns.begin[returns.lap]), int(returns.end[returns.lap]))
    judge = _Judge(pictures[lap.start : lap.stop + 1], turns[lap], fields, pixels)
    best = judge.search(lambda share: report(0.5 + 0.5 * share))
    if best.correlation < LEAST_CORRELATION:
        raise lack_camera("with none that was tried its pictures show the same floor again and again")
    first = pictures[0].shape
    return replace(best.camera, lens=scale_lens(best.camera.lens, (first[1], first[0]))), turns, returns


def find_turns(
    pictures: Sequence[ByteArray], camera: FloorCamera, report: Callable[[float], None]
) -> tuple[FloatArray, Returns]:
    """Return the motion that what is above the floor shows, seen by a known camera, as `find_camera` does.

    Raises:
        DonkeySimError: Too little is seen ahead above the floor, or no view returns.
    """
    size = measure(pictures[0])
    small = replace(camera, lens=scale_lens(camera.lens, size))
    horizon = small.find_pixels(np.array([[1.0, 0.0, 0.0]]))[0, 1]
    shifts = find_shifts(watch(pictures, lambda count: report(count / len(pictures))), horizon)
    middle = np.array([[0.5 * (size[0] - 1), 0.5 * horizon]])
    return shifts / _turn(small, middle)[0, 0], find_returns(pictures, shifts, horizon)


def keep_from_slipping(camera: FloorCamera) -> FloorCamera:
    """Return a camera whose poses are of where its car does not slip aside, behind the middle between the axles."""
    return replace(camera, ahead=_LEVER * camera.mount.height)


def _divide(returns: Returns, around: int) -> float:
    """Return how many pixels what is ahead goes aside in a turn of 1, with `around` turns in a lap."""
    return abs(returns.shift) / (2.0 * math.pi * around)


def _find_fields(moved: Float32Array, shifts: FloatArray, size: tuple[int, int]) -> _Fields:
    """Return what turning and driving move where, by the regression of all motion on the shift of the view ahead.

    Raises:
        DonkeySimError: The horizon is not in the picture.
    """
    rows, columns = moved.shape[1:3]
    row, column = np.mgrid[:rows, :columns]
    turned, driven = np.full((rows, columns, 2), np.nan), np.full((rows, columns, 2), np.nan)
    for place in zip(row.ravel().tolist(), column.ravel().tolist(), strict=True):
        motion = moved[:, *place]
        is_told = np.isfinite(motion[:, 0])
        if is_told.sum() > 60:
            for axis in (0, 1):
                turned[*place, axis], driven[*place, axis] = _regress(shifts[is_told], motion[is_told, axis])
    middle = columns // 2
    up = np.median(np.nan_to_num(driven[:, middle - 3 : middle + 3, 1]), axis=1)
    below = np.flatnonzero((up[:-1] < 0.0) & (up[1:] >= 0.0))
    if len(below) == 0:
        raise lack_camera("the horizon is not in its pictures")
    first = int(below[0])
    horizon = CELL * (first + 0.5 + up[first] / (up[first] - up[first + 1])) - 0.5
    used = (row <= first) & (column > 0) & (column < columns - 1) & np.isfinite(turned).all(axis=2)
    place = CELL * (np.stack([column, row], axis=-1)[used] + 0.5) - 0.5
    return _Fields(place, turned[used], size, float(horizon))


def _regress(shift: FloatArray, motion: FloatArray) -> tuple[float, float]:
    """Return slope and value at 0 of the line that most motions lie near (Cauchy)."""
    off = np.zeros(len(shift))
    for _ in range(15):
        weight = 1.0 / np.hypot(1.0, off / (1.5 * float(np.median(np.abs(off))) + 1e-6))
        slope, at_zero = np.polyfit(shift, motion, 1, w=weight).tolist()
        off = motion - slope * shift - at_zero
    return slope, at_zero


def _fit(fields: _Fields, pixels: float, horizon: float, lower: float | None = None) -> tuple[FloorCamera, float]:
    """Return the camera that moves most like the field of turns, and by what share that misses it in the mean.

    Args:
        fields: What a turn moves.
        pixels: How far what is ahead goes aside in a turn of 1.
        horizon: The row in which it is [pixel].
        lower: How far the lens's centre is below the middle of the picture [pixel]; None: that is looked for, too.
    """
    goal = fields.turned * pixels
    spread = _OFF_CENTRE if lower is None else _HELD

    def miss(values: FloatArray) -> FloatArray:
        field = (goal - _turn(_make_camera(values, fields.size, horizon), fields.place)) / (0.03 * pixels)
        held = values[2] / _BEND, (values[4] - (lower or 0.0)) / spread
        missed: FloatArray = np.nan_to_num(np.concatenate([field.ravel(), held]), nan=1e3, posinf=1e3, neginf=-1e3)
        return missed

    room = _ROOM * (1.0, 1.0, 1.0, 1.0, fields.size[1])
    found = []
    for bend in _BENDS:
        start = np.array([math.log(pixels), bend, 0.0, 0.0, lower or 0.0])
        how = {"bounds": (start - room, start + room), "x_scale": room / 5.0, "diff_step": 1e-3, "loss": "soft_l1"}
        found.append(least_squares(miss, start, **how))
    best = min(found, key=lambda one: float(one.cost))
    left = float(np.abs(best.fun[: goal.size]).mean()) * 0.03
    return _make_camera(best.x, fields.size, horizon), left


def _make_camera(values: FloatArray, size: tuple[int, int], horizon: float) -> FloorCamera:
    """Return the camera that has the horizon in a row.

    Args:
        values: Logarithm of the focal length, two coefficients, roll, and how far below the middle its centre is.
        size: Of its pictures [pixel].
        horizon: The row, in the middle column [pixel].
    """
    longer, first, second, roll, lower = values.tolist()
    focal, middle = math.exp(longer), (0.5 * (size[0] - 1), 0.5 * (size[1] - 1))
    lens = LensSpec("equidistant", size, (focal, focal), (middle[0], middle[1] + lower), (first, second, 0.0, 0.0))
    ahead, _, up = FloorCamera(lens, Mount(HEIGHT, 0.0, 0.0), 0.0).find_rays(np.array([[middle[0], horizon]]))[0]
    return keep_from_slipping(FloorCamera(lens, Mount(HEIGHT, math.atan2(up, ahead), roll), 0.0))


def _turn(camera: FloorCamera, place: FloatArray) -> FloatArray:
    """Return how far pixels move in a turn of 1 to the left, shape [count, 2]."""
    rays, step = camera.find_rays(place), 0.01
    before, after = (camera.find_pixels(_rotate(rays, angle)) for angle in (-step, step))
    turned: FloatArray = (after - before) / (2.0 * step)
    return turned


def _rotate(rays: FloatArray, angle: float) -> FloatArray:
    """Return what a car that has turned by an angle to the left sees of rays."""
    c, s = math.cos(angle), math.sin(angle)
    return np.column_stack([c * rays[:, 0] + s * rays[:, 1], c * rays[:, 1] - s * rays[:, 0], rays[:, 2]])


class _Judge:
    """Tries cameras on the floor of a lap."""

    def __init__(self, pictures: Sequence[ByteArray], turns: FloatArray, fields: _Fields, pixels: float) -> None:
        self._pictures = [shrink(picture, fields.size) for picture in pictures]
        self._own: BoolArray = find_own_body(self._pictures)
        self._turns, self._fields, self._pixels = turns, fields, pixels

    def search(self, report: Callable[[float], None]) -> _Trial:
        """Return the best camera.

        By turns, the scale by how far the floor turns; the horizon and the lens's centre by how alike the floor is.

        Raises:
            DonkeySimError: No scale near that of the view ahead makes the floor turn as far.
        """
        middle = 0.5 * (self._fields.size[1] - 1)
        rows = np.array([self._fields.horizon, 0.0])
        rows[1] = _fit(self._fields, self._pixels, rows[0])[0].lens.centre[1] - middle
        scale = 1.0
        for turn, step in enumerate(_STEPS):
            scale *= 1.0 + (self._try(rows, scale, len(self._pictures)).turned - 1.0) / _SLIP
            if abs(scale - 1.0) > MOST_OFF:
                raise lack_camera("the floor turns otherwise than what is above it")
            for axis in (0, 1):
                rows = self._climb(rows, axis, step, scale)
                report((turn + 0.5 * (axis + 1)) / len(_STEPS))
        return self._try(rows, scale, TRIED)

    def _climb(self, rows: FloatArray, axis: int, step: float, scale: float) -> FloatArray:
        """Return rows of which one is moved to where pictures are most alike, by a parabola through the best three."""
        move = step * np.eye(2)[axis]
        heights = {0: self._try(rows, scale, TRIED).correlation}
        for side in (-1, 1):
            for far in range(side, side * (_FARTHEST_STEPS + 1), side):
                heights[far] = self._try(rows + far * move, scale, TRIED).correlation
                if heights[far] < heights[far - side]:
                    break
        top = max(heights, key=lambda far: heights[far])
        more = 0.0
        if top - 1 in heights and top + 1 in heights:
            low, high = heights[top - 1], heights[top + 1]
            more = 0.5 * (low - high) / min(-1e-9, low - 2.0 * heights[top] + high)
        moved: FloatArray = rows + (top + more) * move
        most = _FARTHEST_OFF * self._fields.size[1]
        moved[1] = np.clip(moved[1], -most, most)
        return moved

    def _try(self, rows: FloatArray, scale: float, count: int) -> _Trial:
        """Return what the first pictures say of a camera with the horizon, and the lens's centre, in these rows."""
        camera, _ = _fit(self._fields, self._pixels * scale, float(rows[0]), float(rows[1]))
        floor = FloorPictures(self._pictures[:count], camera, self._own)
        if floor.view.seen.sum() < FEWEST_CELLS:
            return _Trial(camera, 0.0, 1.0)
        track = follow(floor, _ignore, Turning(self._turns, UNSURE))
        if len(track.poses) < len(floor):
            raise KeyboardInterrupt  # `follow` only ends early
        steps, known = between(track.poses[:-1], track.poses[1:]), track.correlation[1:] > 0.0
        turns = self._turns[: len(steps)][known]
        return _Trial(camera, float(track.correlation.mean()), _find_share(steps[known, 2], turns))


def _find_share(turned: FloatArray, turns: FloatArray) -> float:
    """Return the weighted median of how far the floor turned for how far the view did; few pictures are mistaken."""
    weight = np.abs(turns)
    share = turned / np.where(weight > 1e-6, turns, 1.0)
    order = np.argsort(share)
    middle = np.searchsorted(np.cumsum(weight[order]), 0.5 * weight.sum())
    return float(share[order[min(int(middle), len(order) - 1)]])


def _ignore(count: int) -> None:
    """Report nothing."""
