"""How one raster of the floor lies on another one: the motion with which they correlate best.

Reference:
    Evangelidis, Psarakis, Parametric image alignment using enhanced correlation coefficient maximization, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 30 (2008): it is blind to brightness and contrast.
"""

from typing import NamedTuple

import numpy as np

from donkeysim.core.types import BoolArray, Float32Array, FloatArray
from donkeysim.mapping.poses import make_matrix, read_matrix
from donkeysim.mapping.raster import import_cv2

FEWEST_CELLS = 200
"""Rasters that share fewer cells are not compared."""

# With 25 the tracks of simulated drives trembled along lines that say nothing of the way along them, with 400 they
# swung through tight bends.
ALIKE = 100.0
"""So many neighbouring cells say about what one says: they are blurred alike."""

_ROUNDS, _PRECISION = 40, 1e-5


class Raster(NamedTuple):
    """A part of the floor.

    Attributes:
        value: What it looks like, of mean 0, shape [rows, columns].
        known: Where that is known, shape [rows, columns].
        axes: From columns and rows to x and y, see `raster.make_axes`.
    """

    value: Float32Array
    known: BoolArray
    axes: FloatArray


class Alignment(NamedTuple):
    """How a raster lies on another one.

    Attributes:
        motion: Its frame's pose in the other one's frame, shape [3].
        correlation: Of what both show, -1 to 1.
        information: Inverse of the motion's covariance, as far as gradients and correlation tell, shape [3, 3].
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
