"""Which parts of a picture move a pilot's answer: cover each part in turn and see how far the answer moves.

It asks only for answers, so it works for every pilot, whatever file and library it comes from.

References:
    Zeiler, Fergus: Visualizing and Understanding Convolutional Networks, 2014, section 4.2 (occlusion).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image, ImageFilter

from donkeysim.core.types import ByteArray, FloatArray

ROW_COUNT, COLUMN_COUNT = 9, 12
"""Covered places in a picture; each asks the pilot once."""

_COVER = 2.0  # size of a cover in places, so that they overlap
_BLUR = 12.0  # [pixel]


def find_saliency(picture: ByteArray, answer: Callable[[ByteArray], Sequence[float]]) -> FloatArray:
    """Return how much each pixel matters, 0 to 1, shape [height, width].

    Args:
        picture: uint8, shape [height, width, 3 or 1].
        answer: What the pilot says to a picture: angle and throttle; must not remember earlier ones.
    """
    height, width = picture.shape[:2]
    covered = _blur(picture)
    whole = np.array(answer(picture)[:2])
    moved = np.zeros((ROW_COUNT, COLUMN_COUNT))
    for row, column in np.ndindex(moved.shape):
        rows = _span(row, ROW_COUNT, height)
        columns = _span(column, COLUMN_COUNT, width)
        changed = picture.copy()
        changed[rows, columns] = covered[rows, columns]
        moved[row, column] = np.abs(np.array(answer(changed)[:2]) - whole).sum()
    largest = moved.max()
    grid = Image.fromarray((moved / largest if largest > 0 else moved).astype(np.float32))
    smooth = np.asarray(grid.resize((width, height), Image.Resampling.BICUBIC), np.float64)
    return np.clip(smooth, 0.0, 1.0)


def paint_saliency(picture: ByteArray, saliency: FloatArray) -> ByteArray:
    """Return the picture [height, width, 3] with what matters glowing red and the rest a little darker."""
    weight = saliency[:, :, np.newaxis]
    glow = np.array([255.0, 40.0, 0.0])
    mixed = picture * (0.75 + 0.25 * weight) * (1 - 0.55 * weight) + glow * 0.55 * weight
    return mixed.clip(0, 255).astype(np.uint8)


def _span(place: int, count: int, length: int) -> slice:
    """Return the pixels that the cover at one of `count` places along a side of `length` pixels hides."""
    size = length / count
    middle = (place + 0.5) * size
    return slice(max(0, round(middle - size * _COVER / 2)), min(length, round(middle + size * _COVER / 2)))


def _blur(picture: ByteArray) -> ByteArray:
    grey = picture.shape[2] == 1
    image = Image.fromarray(picture[:, :, 0] if grey else picture)
    blurred = np.asarray(image.filter(ImageFilter.GaussianBlur(_BLUR)))
    return blurred[:, :, np.newaxis] if grey else blurred
