"""How a car turned from picture to picture, by what it saw above the floor.

A car that turns turns all that it sees, near or far; one that drives moves what is near, and nothing that lies straight
ahead. So what is seen ahead above the floor goes aside as the car turns. When a view returns, the car has turned once
all around, or twice: that shows how many pixels are a turn, with any lens.

Reference:
    Kroeger, Timofte, Dai, Van Gool, Fast optical flow using dense inverse search, ECCV (2016).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from donkeysim.calibration.motion import make_grey
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.types import BoolArray, ByteArray, Float32Array, FloatArray, LongArray
from donkeysim.mapping.raster import import_cv2

WIDTH = 160
"""Pictures are made so wide first [pixel]."""

CELL = 8
"""Side of the cells in which motion is averaged [pixel]."""

UPPER = slice(1, 7)
"""Rows of cells that lie above the floor when a camera looks ahead; where just so much is lens and sky does no harm."""

FEWEST_VIEWS = 20
"""Pictures that must show again what others did before."""

_EDGE = 20.0  # Where grey changes by less around a pixel, its motion is unknown [grey level]
_BACK = 0.5  # Motion that does not lead back is wrong [pixel]
_FEWEST = 7  # Pixels of a cell that must show a motion
_FASTEST = 25.0  # Pictures that go aside by more were not taken after each other [pixel]
_MOST_GAPS = 0.3  # Share of the pictures whose turn may be unknown
_MOST_VIEWS = 2000  # Of a longer drive, every second or third picture is compared
_LEAST_LAP = 100  # Pictures of the shortest lap
_BELOW = 2  # Rows of cells below the horizon that count as what is around
_ALIKE = 0.8  # Correlation of two views of the same
_TURNED = 0.06  # By which share of a lap's turns a view may differ from where it returns
_TOGETHER = 0.04  # Ways round that differ by a smaller share are the same


class Returns(NamedTuple):
    """Where the same is seen again.

    Attributes:
        shift: How far the view ahead goes aside in a lap, to the right where it is positive [pixel].
        begin: Numbers of pictures, shape [count].
        end: Of those that show the same a lap later, or several, shape [count].
        lap: Which of them is a lap, the one that is most alike.
    """

    shift: float
    begin: LongArray
    end: LongArray
    lap: int


def lack_camera(why: str) -> DonkeySimError:
    """Return what is raised where a drive does not show its camera; `why` is a clause."""
    return DonkeySimError(
        f"the camera of this drive cannot be found in it: {why}; or give --camera, a preset or the file of donkey "
        "calibrate."
    )


def watch(pictures: Sequence[ByteArray], report: Callable[[int], None]) -> Float32Array:
    """Return how what each picture shows moves until the next, in cells; NaN where that is unknown.

    Returns:
        Columns and rows [pixel of a picture `WIDTH` wide], shape [picture_count - 1, rows, columns, 2].
    """
    cv2 = import_cv2()
    size = measure(pictures[0])
    rows = size[1] // CELL * CELL
    flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST)
    flow.setFinestScale(0)
    row, column = np.mgrid[: size[1], :WIDTH].astype(np.float32)
    moved = np.empty((len(pictures) - 1, rows // CELL, WIDTH // CELL, 2), np.float32)
    before = make_grey(cv2, shrink(pictures[0], size))
    for number in range(len(moved)):
        after = make_grey(cv2, shrink(pictures[number + 1], size))
        there, back = flow.calc(before, after, None), flow.calc(after, before, None)
        returned = cv2.remap(
            back, column + there[..., 0], row + there[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT,
            borderValue=99.0,
        )  # fmt: skip
        slope = np.abs(cv2.Sobel(before, cv2.CV_32F, 1, 0)) + np.abs(cv2.Sobel(before, cv2.CV_32F, 0, 1))
        is_told = (slope > _EDGE) & (np.abs(there + returned).max(axis=-1) < _BACK)
        moved[number] = _average(there[:rows], is_told[:rows])
        before = after
        report(number + 1)
    return moved


def measure(picture: ByteArray) -> tuple[int, int]:
    """Return width and height of a picture that is made `WIDTH` wide [pixel]."""
    return WIDTH, round(picture.shape[0] * WIDTH / picture.shape[1])


def shrink(picture: ByteArray, size: tuple[int, int]) -> ByteArray:
    """Return a picture of a size [pixel]; grey ones keep their channel."""
    cv2 = import_cv2()
    return (
        picture
        if picture.shape[1::-1] == size
        else cv2.resize(picture, size, interpolation=cv2.INTER_AREA).reshape(size[1], size[0], -1)
    )


def _average(motion: Float32Array, is_told: BoolArray) -> Float32Array:
    """Return the mean motion in cells; not numbers where too few pixels show any."""
    rows, columns = (side // CELL for side in is_told.shape)
    count = is_told.reshape(rows, CELL, columns, CELL).sum(axis=(1, 3))
    total = np.where(is_told[..., None], motion, 0.0).reshape(rows, CELL, columns, CELL, 2).sum(axis=(1, 3))
    mean = total / np.maximum(count, 1)[..., None]
    return np.where((count >= _FEWEST)[..., None], mean, np.nan).astype(np.float32)


def find_shifts(moved: Float32Array, horizon: float | None = None) -> FloatArray:
    """Return how far the view ahead goes aside from each picture to the next [pixel], shape [picture_count - 1].

    Args:
        moved: What each picture shows moves so, in cells, as `watch` gives it.
        horizon: Its row [pixel]; None: nobody knows, and what lies in `UPPER` rows of cells is taken.

    Raises:
        DonkeySimError: Too few pictures show any.
    """
    middle = moved.shape[2] // 2
    rows = UPPER if horizon is None else slice(0, max(1, int((horizon + 0.5) / CELL)))
    ahead = moved[:, rows, middle - 1 : middle + 1, 0].reshape(len(moved), -1)
    is_told = np.isfinite(ahead).any(axis=1)
    shift = np.full(len(moved), np.nan)
    shift[is_told] = np.nanmedian(ahead[is_told], axis=1)
    is_told &= np.abs(np.nan_to_num(shift)) < _FASTEST
    if is_told.mean() < 1.0 - _MOST_GAPS:
        raise lack_camera("too little is seen ahead above the floor")
    numbers = np.arange(len(moved))
    shifts: FloatArray = np.interp(numbers, numbers[is_told], shift[is_told])
    return shifts


def find_returns(pictures: Sequence[ByteArray], shifts: FloatArray, horizon: float) -> Returns:
    """Return where views return after the turns of a lap, or of several.

    Args:
        pictures: In driving order.
        shifts: How far the view goes aside between them, see `find_shifts`.
        horizon: Its row [pixel of a picture `WIDTH` wide].

    Raises:
        DonkeySimError: No view returns, or those that do show no turn.
    """
    every = -(-len(pictures) // _MOST_VIEWS)
    likeness = _compare_views(pictures[::every], horizon)
    facing = np.concatenate([[0.0], np.cumsum(shifts)])[::every]
    apart = -(-_LEAST_LAP // every)
    begin = np.arange(max(0, len(likeness) - apart))
    end = np.array([first + apart + int(likeness[first, first + apart :].argmax()) for first in begin], int)
    alike = likeness[begin, end]
    begin, end, alike = (each[alike > _ALIKE] for each in (begin, end, alike))
    shift = facing[end] - facing[begin]
    near = np.abs(shift[:, None] - shift) < _TOGETHER * np.abs(shift)[:, None]
    many = near.sum(axis=1)
    if len(shift) < FEWEST_VIEWS or many.max() < FEWEST_VIEWS // 2:
        raise lack_camera("no view returns; drive one and a half laps or more in one direction")
    often = np.flatnonzero(many >= 0.5 * many.max())
    once = often[np.abs(shift[often]).argmin()]  # others are two laps or more
    lap = float(np.median(shift[near[once]]))
    laps = shift / lap
    kept = (np.abs(laps - np.rint(laps)) < _TURNED) & (np.rint(laps) >= 1)
    best = np.where(kept & near[once], alike, -1.0)[kept].argmax()
    return Returns(lap, begin[kept] * every, end[kept] * every, int(best))


def _compare_views(pictures: Sequence[ByteArray], horizon: float) -> Float32Array:
    """Return how much what pictures show down to a little below the horizon is alike, each with each, -1 to 1."""
    cv2 = import_cv2()
    size = measure(pictures[0])
    upper = max(2 * CELL, int(horizon) + _BELOW * CELL)
    grey = [cv2.GaussianBlur(make_grey(cv2, shrink(picture, size))[:upper], (0, 0), 2.0) for picture in pictures]
    small = [cv2.resize(each, (40, 18), interpolation=cv2.INTER_AREA).ravel() for each in grey]
    view = np.array(small, np.float32)
    view -= view.mean(axis=0)
    view -= view.mean(axis=1, keepdims=True)
    view /= np.linalg.norm(view, axis=1, keepdims=True) + 1e-6
    return np.asarray(view @ view.T, np.float32)
