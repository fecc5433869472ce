"""The floor as one picture: all pictures of a drive laid where they were taken, in one light."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

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
"""Darker floor does not tell the light [grey level]."""

FIT_EVERY, COARSE = 3, slice(None, None, 2)
"""Of so many pictures one tells the light, and of it these rows and columns."""

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
        told = shown > 0.0
        if not told.any():
            return
        column, row = np.rint(self._view.places[COARSE, COARSE][told]).astype(int).T
        away = self._away[row, column]
        terms, root = np.stack([np.ones_like(away), away, away**2], axis=1), np.sqrt(shown[told])
        share, *_ = np.linalg.lstsq(terms * root[:, None], bright[told] / shown[told] * root, rcond=None)
        fitted = share[0] + share[1] * self._away + share[2] * self._away**2
        self.vignette *= np.clip(fitted / max(share[0], 0.1), *_CORNERS).astype(np.float32)
