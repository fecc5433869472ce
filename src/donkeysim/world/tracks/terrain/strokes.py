"""Solid lines painted through points, wherever the path runs."""

from __future__ import annotations

import itertools
import math

import numpy as np

from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.world.scene import CLASS_LINE
from donkeysim.world.tracks.tables.road import Stroke
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame
from donkeysim.world.tracks.textures import AnyFloat, as_colour

SOFT = 1.5
"""Over how many texels paint begins and ends, as that of markings does."""

COVER = 0.96
"""Share of what lies under it that paint hides."""


def paint_stroke(stroke: Stroke, frame: AtlasFrame, atlas: ByteArray, classes: ByteArray) -> None:
    """Paint a stroke into the atlas, as far as it lies inside.

    Args:
        stroke: What and where.
        frame: Where the atlas lies.
        atlas: Written.
        classes: Of the atlas' texels; written.
    """
    corner = np.array(stroke.points + (stroke.points[:1] if stroke.closed else ()), float)
    for begin, end in itertools.pairwise(corner):
        _paint_piece(stroke, begin, end, frame, atlas, classes)


def _paint_piece(
    stroke: Stroke, begin: FloatArray, end: FloatArray, frame: AtlasFrame, atlas: ByteArray, classes: ByteArray
) -> None:
    """Paint a straight piece, round at both ends."""
    reach = 0.5 * stroke.width + SOFT * frame.texel
    low, high = np.minimum(begin, end) - reach - frame.origin, np.maximum(begin, end) + reach - frame.origin
    columns = slice(max(0, math.floor(low[0] / frame.texel)), max(0, math.ceil(high[0] / frame.texel)))
    top, bottom = frame.rows - math.ceil(high[1] / frame.texel), frame.rows - math.floor(low[1] / frame.texel)
    rows = slice(max(0, top), max(0, bottom))
    part = atlas[rows, columns, :3]
    x = frame.origin[0] + (columns.start + np.arange(part.shape[1]) + 0.5) * frame.texel
    y = frame.origin[1] + (frame.rows - rows.start - np.arange(part.shape[0]) - 0.5) * frame.texel
    away = _measure_away(x[None, :] - begin[0], y[:, None] - begin[1], end - begin)
    share = COVER * np.clip((0.5 * stroke.width - away) / (SOFT * frame.texel) + 0.5, 0.0, 1.0)[..., None]
    own = part.astype(np.float32)
    part[:] = np.clip(own + (as_colour(stroke.colour) - own) * share + 0.5, 0.0, 255.0)
    classes[rows, columns][away <= 0.5 * stroke.width] = CLASS_LINE


def _measure_away(dx: AnyFloat, dy: AnyFloat, piece: FloatArray) -> AnyFloat:
    """Return distances from a straight piece [m] of places that lie so far from its begin along x and y."""
    share = np.clip((dx * piece[0] + dy * piece[1]) / max(float(piece @ piece), 1e-12), 0.0, 1.0)
    return np.asarray(np.hypot(dx - share * piece[0], dy - share * piece[1]))
