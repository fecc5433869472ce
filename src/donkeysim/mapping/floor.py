"""The floor as one picture, and what is above it: all pictures of a drive where they were taken, in one light."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import NamedTuple

import numpy as np
from scipy.ndimage import distance_transform_edt

from donkeysim.calibration.motion import FloorCamera
from donkeysim.core.files import hold_interrupts
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray, LongArray
from donkeysim.mapping.raster import BirdsEye, Canvas, Reach, import_cv2

CELLS_PER_HEIGHT = 24
"""Cells of the picture in a height of the camera: 7.5 mm of one 18 cm above the floor, as scenes have."""

REACH = Reach(far=7.0, wide=6.0, coarsest=0.6, sharp=0.06)
"""Of what is painted: farther than where pictures are laid on each other, and near floor counts more."""

STRANGE = 25.0
"""Colours that differ so much from the mean of all pictures count half: people, shadows that pass [grey level]."""

AROUND = 9
"""Side of the square of cells whose contrast says how much a picture may differ."""

LEAST_SEEN = 0.05
"""Cells with less weight were not seen."""

DARKEST = 8.0
"""Darker floor does not show the light [grey level]."""

FIT_EVERY, COARSE = 3, slice(None, None, 2)
"""One of how many pictures measures the light, and which rows and columns of it."""

COLUMNS = 1024
"""Of the picture of what is above the floor, once round; half as many rows from the zenith to the nadir."""

LOWEST = -0.1
"""What is seen lower is floor, wherever it was driven [rad]."""

MOST_PICTURES = 300
"""How many are enough: each shows a third of what is around."""

FADE = 0.5
"""So far from what was seen it is the mean colour of the highest, or lowest, that was [rad]."""

_STEP = 2.0 * np.pi / COLUMNS
_PASSES = 3
_CORNERS = (0.3, 1.5)  # No lens leaves less, or more, of the light than in the middle of its pictures


class PaintedFloor(NamedTuple):
    """What was seen of the floor.

    Attributes:
        colour: sRGB, 0 to 255, shape [rows, columns, 3].
        weight: How well it was seen, shape [rows, columns].
        axes: From columns and rows to x and y, see `raster.make_axes`.
        gain: By how much each picture is brighter than the floor, shape [picture_count, 3].
        vignette: By how much each pixel is brighter than the middle, shape [height, width].
    """

    colour: Float32Array
    weight: Float32Array
    axes: FloatArray
    gain: Float32Array
    vignette: Float32Array

    @property
    def seen(self) -> BoolArray:
        """Where it was seen at all."""
        return np.asarray(self.weight > LEAST_SEEN)


def paint_floor(
    pictures: Sequence[ByteArray],
    poses: FloatArray,
    chosen: LongArray,
    camera: FloorCamera,
    own: BoolArray,
    report: Callable[[float], None],
) -> PaintedFloor:
    """Return the floor that pictures show.

    First as they are; then the light of each picture, and of each place in the picture, is that with which they agree;
    at last what agrees with no other picture counts little. On Ctrl-C it is what the pass before painted.

    Args:
        pictures: Shape [height, width, 1 or 3] each.
        poses: Where they were taken, shape [picture_count, 3].
        chosen: Numbers of those that are painted.
        camera: That took them.
        own: Where they show the car.
        report: Called with the share that is done.
    """
    view = BirdsEye(camera, own, camera.mount.height / CELLS_PER_HEIGHT, REACH)
    reach = (REACH.far + 2.0) * camera.mount.height
    low, high = poses[:, :2].min(axis=0) - reach, poses[:, :2].max(axis=0) + reach
    light, some = _Light(view, pictures[0].shape[:2], len(poses)), chosen[::FIT_EVERY]
    mean: Canvas | None = None
    for turn in range(_PASSES):
        is_last = turn == _PASSES - 1
        canvas = Canvas(view.cell, low, high, channels=3)
        try:
            with hold_interrupts() if mean is None else nullcontext():
                for number in (chosen if is_last else some).tolist():
                    pose, seen = poses[number], light.even(number, pictures[number])
                    weight = _weigh(view, mean, pose, seen) if is_last and mean is not None else view.weight
                    canvas.paint(view, pose, seen, weight)
                    report((turn + (number + 1) / len(poses)) / _PASSES)
            if not is_last:
                light.fit(canvas, pictures, poses, some)
        except KeyboardInterrupt:
            mean = mean or canvas
            break
        mean = canvas
    assert mean is not None
    colour, _ = mean.find_mean(LEAST_SEEN)
    return PaintedFloor(colour, mean.weight, mean.axes, light.gain, light.vignette)


def _weigh(view: BirdsEye, mean: Canvas, pose: FloatArray, seen: Float32Array) -> Float32Array:
    """Return what a picture counts: less where it differs from the mean of all.

    Near a line or an edge it may differ by as much as the mean itself does there, which is less sharp.
    """
    cv2 = import_cv2()
    shown, known = mean.look(view, pose)
    around = np.ones((AROUND, AROUND), np.uint8)
    spread = _take_greatest(cv2.dilate(shown, around) - cv2.erode(shown, around))
    off = _take_greatest(np.abs(seen - shown)) * known
    return np.asarray(view.weight / (1.0 + (off / (STRANGE + spread)) ** 2), np.float32)


def _take_greatest(colour: Float32Array) -> Float32Array:
    """Return the greatest of the three channels; NumPy's own `max` along so short an axis takes ten times as long."""
    return np.asarray(np.maximum(np.maximum(colour[..., 0], colour[..., 1]), colour[..., 2]))


class _Light:
    """How bright each picture is, and each place in the pictures."""

    def __init__(self, view: BirdsEye, size: tuple[int, ...], count: int) -> None:
        self._view = view
        self.gain = np.ones((count, 3), np.float32)
        row, column = np.indices(size, np.float32)
        middle = 0.5 * (np.array(size) - 1.0)
        self._away = (((row - middle[0]) ** 2 + (column - middle[1]) ** 2) / (middle**2).sum()).astype(np.float32)
        self.vignette = np.ones(size, np.float32)

    def even(self, number: int, picture: ByteArray) -> Float32Array:
        """Return a picture as seen from above in the common light, shape [*view.shape, 3]."""
        colour = np.broadcast_to(picture, (*picture.shape[:2], 3)) / self.vignette[..., None]
        return np.asarray(self._view.take(colour.astype(np.float32)) / self.gain[number], np.float32)

    def fit(self, mean: Canvas, pictures: Sequence[ByteArray], poses: FloatArray, chosen: LongArray) -> None:
        """Take the light with which chosen pictures agree with their mean; the mean of all gains stays 1."""
        bright, shown = np.zeros((2, *self._view.seen[COARSE, COARSE].shape))
        gain = np.ones_like(self.gain)
        for number in chosen.tolist():
            floor, known = mean.look(self._view, poses[number])
            floor, known = floor[COARSE, COARSE], known[COARSE, COARSE]
            known = known & (_take_greatest(-floor) < -DARKEST)
            seen = self.even(number, pictures[number])[COARSE, COARSE]
            if known.any():
                gain[number] = np.median(seen[known] / floor[known], axis=0)
                bright[known] += (seen[known] / gain[number]).mean(axis=1)
                shown[known] += floor[known].mean(axis=1)
        gain /= np.exp(np.log(gain[chosen]).mean(axis=0))
        for channel in range(3):
            gain[:, channel] = np.interp(np.arange(len(gain)), chosen, gain[chosen, channel])
        self.gain *= gain
        self._fit_vignette(bright, shown)

    def _fit_vignette(self, bright: FloatArray, shown: FloatArray) -> None:
        """Take the even function of the distance from the middle, of fourth order, that explains what is brighter."""
        lit = shown > 0.0
        if not lit.any():
            return
        column, row = np.rint(self._view.places[COARSE, COARSE][lit]).astype(int).T
        away = self._away[row, column]
        terms, root = np.stack([np.ones_like(away), away, away**2], axis=1), np.sqrt(shown[lit])
        share, *_ = np.linalg.lstsq(terms * root[:, None], bright[lit] / shown[lit] * root, rcond=None)
        fitted = share[0] + share[1] * self._away + share[2] * self._away**2
        self.vignette *= np.clip(fitted / max(share[0], 0.1), *_CORNERS).astype(np.float32)


def paint_ring(
    pictures: Sequence[ByteArray], yaw: FloatArray, camera: FloorCamera, own: BoolArray, floor: PaintedFloor
) -> ByteArray:
    """Return what is all around, azimuth from +x to the left, zenith to nadir, shape [COLUMNS / 2, COLUMNS, 3].

    It is the mean of what pictures show in a direction, so what is near is smeared; on Ctrl-C of those until then.

    Args:
        pictures: Shape [height, width, 1 or 3] each.
        yaw: Of the car, in each [rad].
        camera: That took them.
        own: Where they show the car.
        floor: Tells their light and the lens's vignette.
    """
    cv2 = import_cv2()
    places, shown, top = _look_around(camera, own)
    total, count = np.zeros((COLUMNS // 2, COLUMNS, 3)), np.zeros((COLUMNS // 2, COLUMNS))
    rows, columns = slice(top, top + len(shown)), np.arange(shown.shape[1]) - shown.shape[1] // 2
    with suppress(KeyboardInterrupt):
        for number in range(0, len(yaw), max(1, len(yaw) // MOST_PICTURES)):
            light = floor.vignette[..., None] * floor.gain[number]
            even = (np.broadcast_to(pictures[number], (*own.shape, 3)) / light).astype(np.float32)
            seen = cv2.remap(even, places, None, cv2.INTER_LINEAR)
            around = (columns + int(np.floor(yaw[number] / _STEP))) % COLUMNS
            total[rows, around] += seen * shown[..., None]
            count[rows, around] += shown
    return _fill(total, count)


def _look_around(camera: FloorCamera, own: BoolArray) -> tuple[FloatArray, BoolArray, int]:
    """Return the pixel in each direction before the car, half a turn wide, where there is one, and the first row."""
    rise = 0.5 * np.pi - (np.arange(COLUMNS // 2) + 0.5) * _STEP
    rise = rise[rise > LOWEST]
    aside = np.arange(-COLUMNS // 4 + 1, COLUMNS // 4) * _STEP
    level = np.cos(rise)[:, None]
    rays = np.stack(np.broadcast_arrays(level * np.cos(aside), level * np.sin(aside), np.sin(rise)[:, None]), axis=-1)
    places = np.nan_to_num(camera.find_pixels(rays.reshape(-1, 3)), nan=-9.0)
    places = places.reshape(*rays.shape[:2], 2).astype(np.float32)
    height, width = own.shape
    column, row = np.clip(np.rint(places), 0, np.array([width, height]) - 1).astype(int).transpose(2, 0, 1)
    inside = ((places > 1.0) & (places < np.array([width, height]) - 2.0)).all(axis=-1)
    shown = inside & ~own[row, column]
    top = int(np.argmax(shown.any(axis=1)))
    return places[top:], shown[top:], top


def _fill(total: FloatArray, count: FloatArray) -> ByteArray:
    """Return the mean colours, and what comes nearest where nothing was seen."""
    known = count > 0.0
    if not known.any():
        return np.full(total.shape, 128, np.uint8)
    colour = total / np.maximum(count, 1.0)[..., None]
    column = np.flatnonzero(known.any(axis=0))
    rows = known.argmax(axis=0), len(known) - 1 - known[::-1].argmax(axis=0)
    far = np.repeat([colour[row[column], column].mean(axis=0) for row in rows], len(known) // 2, axis=0)[:, None]
    wrapped = np.pad(~known, ((0, 0), (COLUMNS // 2, COLUMNS // 2)), mode="wrap")
    away, (row, beside) = distance_transform_edt(wrapped, return_indices=True)
    middle = slice(COLUMNS // 2, 3 * COLUMNS // 2)
    nearest = colour[row[:, middle], (beside[:, middle] - COLUMNS // 2) % COLUMNS]
    share = np.clip(away[:, middle] * _STEP / FADE, 0.0, 1.0)[..., None]
    return np.asarray(np.clip(nearest + (far - nearest) * share + 0.5, 0.0, 255.0), np.uint8)
