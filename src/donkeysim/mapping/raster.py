"""The floor in square cells: the grid, what a car sees of it from above, canvases that gather what it saw, alignment.

Row 0 of a raster is farthest ahead (greatest x), column 0 farthest left (greatest y), as in a map with x upwards. One
raster lies on another one by the motion with which they correlate best.

Reference:
    Evangelidis, Psarakis, Parametric image alignment using enhanced correlation coefficient maximization, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 30 (2008): it is blind to brightness and contrast.
"""

from typing import Any, NamedTuple

import numpy as np

from donkeysim.calibration.motion import FloorCamera
from donkeysim.core.errors import import_extra
from donkeysim.core.rotation import make_matrix, read_matrix
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray

FEWEST_CELLS = 200
"""Rasters that share fewer cells are not compared."""

# With 25 the tracks of simulated drives trembled along lines that say nothing of the way along them, with 400 they
# swung through tight bends.
ALIKE = 100.0
"""How many neighbouring cells say about what one says: they are blurred alike."""

_ROUNDS, _PRECISION = 40, 1e-5


class Reach(NamedTuple):
    """How much of the floor is used, in heights of the camera.

    Attributes:
        far: How far ahead.
        wide: How far to either side.
        coarsest: Floor of which a pixel covers more along the view is left out.
        sharp: Floor of which it covers as much counts in full; less where it covers more.
    """

    far: float
    wide: float
    coarsest: float
    sharp: float


LEAST_WEIGHT = 0.3
"""Cells that were seen with less say nothing; a picture from near counts 1."""


def import_cv2() -> Any:
    """Return OpenCV.

    Raises:
        ExtraError: It is not installed.
    """
    return import_extra("cv2", "making a place of a drive needs OpenCV")


def make_axes(cell: float, top: float, left: float) -> FloatArray:
    """Return what takes column, row, 1 of a raster to x, y, 1 [m], shape [3, 3].

    Args:
        cell: Side of a cell [m].
        top: x of the middle of row 0 [m].
        left: y of the middle of column 0 [m].
    """
    return np.array([[0.0, -cell, top], [-cell, 0.0, left], [0.0, 0.0, 1.0]])


class BirdsEye:
    """What a camera sees of the floor, drawn as seen from above.

    Attributes:
        camera: Whose view it is.
        cell: [m]
        axes: From columns and rows to the floor before the car, see `make_axes`.
        shape: Rows and columns.
        seen: Which cells the camera sees well enough, shape `shape`.
        weight: How much they count, 0 to 1, shape `shape`.
        places: The pixel that shows each cell, shape [*shape, 2].
    """

    def __init__(self, camera: FloorCamera, own: BoolArray, cell: float, reach: Reach) -> None:
        """Find the pixels.

        Args:
            camera: Of the drive's own pictures.
            own: Where they show the car itself, shape [height, width].
            reach: How much of the floor it shows.
        """
        height = camera.mount.height
        self.camera, self.cell = camera, cell
        self.shape = (round(reach.far * height / cell), 2 * round(reach.wide * height / cell))
        top, left = camera.ahead + (self.shape[0] - 0.5) * cell, 0.5 * (self.shape[1] - 1) * cell
        self.axes = make_axes(cell, top, left)
        x, y = np.meshgrid(top - np.arange(self.shape[0]) * cell, left - np.arange(self.shape[1]) * cell, indexing="ij")
        floor = np.column_stack([x.ravel(), y.ravel()])
        pixel = camera.find_places(floor)
        step = 0.01 * height
        stride = np.linalg.norm(camera.find_places(floor + np.array([step, 0.0])) - pixel, axis=1)
        covered = step / np.maximum(stride, 1e-9)
        column, row = np.clip(np.rint(np.nan_to_num(pixel, nan=-9.0)).astype(int), 0, np.array(own.shape[::-1]) - 1).T
        inside = np.logical_and.reduce((pixel > 1.0) & (pixel < np.array(own.shape[::-1]) - 2.0), axis=1)
        seen = (
            inside
            & ~own[row, column]
            & (floor[:, 0] > camera.ahead + 0.1 * height)
            & (covered < reach.coarsest * height)
        )
        self.seen: BoolArray = seen.reshape(self.shape)
        self.weight: Float32Array = (
            self.seen * np.minimum(1.0, (reach.sharp * height / covered.reshape(self.shape)) ** 2)
        ).astype(np.float32)
        self.places: Float32Array = np.nan_to_num(pixel, nan=-9.0).astype(np.float32).reshape(*self.shape, 2)
        self._cv2 = import_cv2()

    def take(self, picture: Float32Array | ByteArray) -> Float32Array:
        """Return a picture as seen from above, shape [*shape] or [*shape, channel_count]."""
        cv2 = self._cv2
        taken: Float32Array = cv2.remap(picture, self.places, None, cv2.INTER_LINEAR)
        return taken


class Canvas:
    """A raster of the floor that gathers views.

    Attributes:
        axes: From columns and rows to the floor, see `make_axes`.
        total: Sums of what was seen times its weight, shape [rows, columns] or [rows, columns, channel_count].
        weight: Sums of the weights, shape [rows, columns].
    """

    def __init__(self, cell: float, low: FloatArray, high: FloatArray, channels: int = 1) -> None:
        """Begin with nothing seen from `low` to `high`, x and y [m]."""
        rows, columns = (int(np.ceil(side / cell)) + 1 for side in high - low)
        self.axes = make_axes(cell, float(high[0]), float(high[1]))
        self.total = np.zeros((rows, columns) if channels == 1 else (rows, columns, channels), np.float32)
        self.weight = np.zeros((rows, columns), np.float32)
        self._cv2 = import_cv2()

    def paint(self, view: BirdsEye, pose: FloatArray, seen: Float32Array, weight: Float32Array) -> None:
        """Add what was seen from a pose, with its weights; what lies outside is left out."""
        matrix, low, high = self._locate(view, pose)
        if (high <= low).any():
            return
        size, part = tuple((high - low).tolist()), (slice(low[1], high[1]), slice(low[0], high[0]))
        weighed = seen * (weight if seen.ndim == 2 else weight[..., None])
        self.total[part] += self._cv2.warpAffine(weighed, matrix, size)
        self.weight[part] += self._cv2.warpAffine(weight, matrix, size)

    def look(self, view: BirdsEye, pose: FloatArray) -> tuple[Float32Array, BoolArray]:
        """Return what a view from a pose would show, and where that is known."""
        matrix, low, high = self._locate(view, pose)
        if (high <= low).any():
            return np.zeros((*view.shape, *self.total.shape[2:]), np.float32), np.zeros(view.shape, bool)
        part = (slice(low[1], high[1]), slice(low[0], high[0]))
        cv2 = self._cv2
        how = {"flags": cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP}
        total = cv2.warpAffine(self.total[part], matrix, view.shape[::-1], **how)
        weight = cv2.warpAffine(self.weight[part], matrix, view.shape[::-1], **how)
        known: BoolArray = view.seen & (weight > LEAST_WEIGHT)
        scale = np.where(known, 1.0 / np.maximum(weight, LEAST_WEIGHT), 0.0).astype(np.float32)
        return total * (scale if total.ndim == 2 else scale[..., None]), known

    def find_mean(self, least: float = LEAST_WEIGHT) -> tuple[Float32Array, BoolArray]:
        """Return what was seen on average, and where it was seen with a weight above `least`."""
        known: BoolArray = self.weight > least
        scale = np.where(known, 1.0 / np.maximum(self.weight, 1e-9), 0.0).astype(np.float32)
        return self.total * (scale if self.total.ndim == 2 else scale[..., None]), known

    def _locate(self, view: BirdsEye, pose: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what takes cells of a view to those of a part of the canvas, and where the part begins and ends."""
        matrix = (np.linalg.inv(self.axes) @ make_matrix(pose) @ view.axes)[:2]
        rows, columns = view.shape
        corner = matrix @ np.array([[0, 0, columns, columns], [0, rows, 0, rows], [1, 1, 1, 1]])
        most = np.array(self.weight.shape[::-1])
        low = np.clip(np.floor(corner.min(axis=1)).astype(int) - 1, 0, most)
        high = np.clip(np.ceil(corner.max(axis=1)).astype(int) + 2, 0, most)
        matrix[:, 2] -= low
        return matrix, low, high


class Raster(NamedTuple):
    """A part of the floor.

    Attributes:
        value: What it looks like, of mean 0, shape [rows, columns].
        known: Where that is known, shape [rows, columns].
        axes: From columns and rows to x and y, see `make_axes`.
    """

    value: Float32Array
    known: BoolArray
    axes: FloatArray


class Alignment(NamedTuple):
    """How a raster lies on another one.

    Attributes:
        motion: Its frame's pose in the other one's frame, shape [3].
        correlation: Of what both show, -1 to 1.
        information: Inverse of the motion's covariance, as far as gradients and correlation show it, shape [3, 3].
    """

    motion: FloatArray
    correlation: float
    information: FloatArray


def align(raster: Raster, below: Raster, guess: FloatArray, blur: int = 5) -> Alignment | None:
    """Return how a raster lies on another one; None: they share too little, or nothing is alike.

    Args:
        raster: The upper one.
        below: The lower one.
        guess: About the motion, within a few cells.
        blur: Side of the filter [cell], odd: a larger one reaches farther.
    """
    cv2 = import_cv2()
    to_floor = np.linalg.inv(raster.axes)
    warp = np.linalg.inv(below.axes) @ make_matrix(guess) @ raster.axes
    edge = np.ones((blur, blur), np.uint8)
    upper = cv2.erode(raster.known.astype(np.uint8), edge, borderValue=0)
    lower = cv2.erode(below.known.astype(np.uint8), edge, borderValue=0)
    size = below.value.shape[::-1]
    shared = lower & cv2.warpAffine(upper, warp[:2], size, flags=cv2.INTER_NEAREST)
    if int(shared.sum()) < FEWEST_CELLS:
        return None
    stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, _ROUNDS, _PRECISION)
    start = warp[:2].astype(np.float32)
    try:
        correlation, found = cv2.findTransformECC(
            raster.value, below.value, start, cv2.MOTION_EUCLIDEAN, stop, 255 * shared, blur
        )
    except cv2.error:  # it strayed to where nothing is shared
        return None
    motion = read_matrix(below.axes @ np.vstack([found, (0.0, 0.0, 1.0)]) @ to_floor)
    return Alignment(motion, float(correlation), _weigh(below, shared > 0, motion, float(correlation)))


def _weigh(below: Raster, shared: BoolArray, motion: FloatArray, correlation: float) -> FloatArray:
    """Return the information of a motion: how much what is seen would change with it, against what is left over."""
    cv2 = import_cv2()
    cell = abs(float(below.axes[0, 1]))
    down, right = np.gradient(cv2.GaussianBlur(below.value, (0, 0), 1.0))
    row, column = np.nonzero(shared)
    x, y, _ = below.axes @ np.stack([column, row, np.ones(len(row))])
    ahead, left = -down[shared] / cell, -right[shared] / cell
    change = np.stack([ahead, left, (x - motion[0]) * left - (y - motion[1]) * ahead], axis=1)
    rest = max(1.0, float(below.value[shared].var())) * max(1e-3, 1.0 - correlation**2)
    information: FloatArray = change.T @ change / (rest * ALIKE)
    return information
