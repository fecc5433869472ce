"""What is seen above the floor, as one picture all around: walls, trees, lamps, sky, as if they were far away."""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import distance_transform_edt

from donkeysim.calibration.motion import FloorCamera
from donkeysim.core.types import BoolArray, ByteArray, FloatArray
from donkeysim.mapping.floor import PaintedFloor
from donkeysim.mapping.raster import import_cv2

COLUMNS = 1024
"""Of the picture, once round; half as many rows from the zenith to the nadir."""

LOWEST = -0.1
"""What is seen lower is floor, wherever it was driven [rad]."""

MOST_PICTURES = 300
"""So many are enough: each shows a third of what is around."""

FADE = 0.5
"""So far from what was seen it is the mean colour of the highest, or lowest, that was [rad]."""

_STEP = 2.0 * np.pi / COLUMNS


def paint_ring(
    pictures: Sequence[ByteArray], yaw: FloatArray, camera: FloorCamera, own: BoolArray, floor: PaintedFloor
) -> ByteArray:
    """Return what is all around, azimuth from +x to the left, zenith to nadir, shape [COLUMNS / 2, COLUMNS, 3].

    It is the mean of what pictures show in a direction, so what is near is smeared.

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
    for number in range(0, len(yaw), max(1, len(yaw) // MOST_PICTURES)):
        colour = np.broadcast_to(pictures[number], (*own.shape, 3)) / (floor.vignette[..., None] * floor.gain[number])
        seen = cv2.remap(colour.astype(np.float32), places, None, cv2.INTER_LINEAR)
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
