"""The light that reaches the ground, baked: shadows of everything that stands still, and a soft mottle."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import shapely
from PIL import Image, ImageDraw, ImageFilter

from donkeysim.core.types import BoolArray, ByteArray
from donkeysim.world.tracks.structures.structure import Footprint, Shadow
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame
from donkeysim.world.tracks.textures import AnyFloat, as_colour, make_noise

STEP = 8
"""Texels per side of a square that the light is computed for."""

GAMMA = 2.2
"""sRGB values are light to the power of one over this, about."""

BAND = 16
"""Rows of such squares that a thread lights at a time."""


def cast_light(
    atlas: ByteArray,
    frame: AtlasFrame,
    shadows: Sequence[Shadow | Footprint],
    sun: tuple[float, float, float],
    on_road: BoolArray,
    lamp: tuple[float, ...] = (),
) -> None:
    """Multiply the atlas by the light that falls on it; along its border all of it does.

    Light is enlarged across once for a row of squares, and downwards as it is laid on: bilinear, in whole numbers.

    Args:
        atlas: Changed.
        frame: Where it lies.
        shadows: What darkens the ground.
        sun: Unit vector towards the sun.
        on_road: Which texels are road, shape [rows, columns]: it shows less of the mottle.
        lamp: x, y and height of the only lamp [m]; none: light falls evenly.
    """
    light = _paint_light(frame, shadows, sun, on_road, lamp)
    part = Image.frombuffer("RGBX", (light.shape[1], len(light)), light.tobytes(), "raw", "RGBX", 0, 1)
    wide = np.asarray(part.resize((frame.columns, len(light)), Image.Resampling.BILINEAR)).reshape(len(light), -1)
    padded = np.concatenate((wide[:1], wide, wide[-1:])).astype(np.uint16)
    texel = atlas.reshape(frame.rows, -1)

    def work(first: int) -> None:
        for row in range(first, min(first + BAND, len(padded) - 1)):
            _light_rows(texel, STEP * row - STEP // 2, padded[row], padded[row + 1])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(work, range(0, len(padded) - 1, BAND)):
            pass


def _fall_off(frame: AtlasFrame, lamp: tuple[float, ...]) -> AnyFloat:
    """Return how much darker than under a lamp squares of `STEP` texels look, 1 = as bright, shape [rows, columns]."""
    x, y = _find_squares(frame)
    high = lamp[2] ** 2
    lit = high / (high + (x[None, :] - lamp[0]) ** 2 + (y[:, None] - lamp[1]) ** 2)
    return np.asarray(lit ** (2.0 / GAMMA))


def _find_squares(frame: AtlasFrame) -> tuple[AnyFloat, AnyFloat]:
    """Return x of the columns and y of the rows of squares of `STEP` texels [m]."""
    cell = frame.texel * STEP
    x = frame.origin[0] + (np.arange(frame.columns // STEP) + 0.5) * cell
    y = frame.origin[1] + (np.arange(frame.rows // STEP, 0, -1) - 0.5) * cell
    return x, y


def _light_rows(texel: ByteArray, first: int, above: np.ndarray, below: np.ndarray) -> None:
    """Multiply the texels between the middles of two rows of squares by their light, those that there are.

    Args:
        texel: Channels of the atlas, row by row; changed.
        first: Row of the uppermost.
        above: Light of the upper row of squares, of every channel, 128 = all.
        below: Of the lower one.
    """
    rows = slice(max(first, 0), min(first + STEP, len(texel)))
    down = (2 * np.arange(rows.start - first, rows.stop - first, dtype=np.uint16) + 1)[:, None]
    falling = above * (2 * STEP - down)
    falling += below * down
    falling += STEP
    falling >>= (2 * STEP).bit_length() - 1
    falling *= texel[rows]
    falling >>= 7
    texel[rows] = np.minimum(falling, 255, out=falling)


def _paint_light(
    frame: AtlasFrame,
    shadows: Sequence[Shadow | Footprint],
    sun: tuple[float, float, float],
    on_road: BoolArray,
    lamp: tuple[float, ...],
) -> ByteArray:
    """Return the share of light for squares of `STEP` texels, 128 = all, alpha 128, shape [rows, columns, 4]."""
    x, y = _find_squares(frame)
    rows, columns = len(y), len(x)
    shade = np.zeros((rows, columns), np.float32)
    for shadow in shadows:
        if isinstance(shadow, Shadow):
            _add_shadow(shade, shadow, sun, x, y)
        else:
            _add_footprint(shade, shadow, sun, x, y)
    shade = np.minimum(shade, 0.52)
    mottle = make_noise(rows, columns, 1.5, 73, finest=3.0, coarsest=rows / 2)
    edge = np.minimum(np.minimum(x - x[0], x[-1] - x)[None, :], np.minimum(y[0] - y, y - y[-1])[:, None])
    strength = np.where(on_road[STEP // 2 :: STEP, STEP // 2 :: STEP], np.float32(0.02), np.float32(0.085))
    mottle = 1.0 + mottle * strength * np.clip(edge / 1.5, 0.0, 1.0)
    fade = np.clip(edge / 0.4, 0.0, 1.0)
    light = np.full((rows, columns, 4), 128.0, np.float32)
    if lamp:
        mottle = _fall_off(frame, lamp)
    light[..., :3] *= mottle[..., None] * (1.0 - (shade * fade)[..., None] * as_colour((1.0, 0.94, 0.80)))
    return np.asarray(np.clip(light + 0.5, 0.0, 255.0), np.uint8)


def _add_shadow(shade: AnyFloat, shadow: Shadow, sun: tuple[float, float, float], x: AnyFloat, y: AnyFloat) -> None:
    """Add the contact darkening at the foot and the cast shadow down the sun, combined as light passing both."""
    slope = math.hypot(sun[0], sun[1]) / sun[2]
    down = np.array([-sun[0], -sun[1]]) / max(1e-9, math.hypot(sun[0], sun[1]))
    cast = np.array(shadow.position) + down * slope * shadow.height
    stretch = math.hypot(1.0, slope)
    for centre, radius, length, darkness in (
        (np.array(shadow.position), 0.9 * shadow.radius, 0.9 * shadow.radius, 0.55 * shadow.darkness),
        (cast, shadow.radius, shadow.radius * stretch, shadow.darkness),
    ):
        reach = 1.4 * max(radius, length)
        columns = slice(*np.searchsorted(x, (centre[0] - reach, centre[0] + reach)))
        rows = slice(
            len(y) - np.searchsorted(y[::-1], centre[1] + reach), len(y) - np.searchsorted(y[::-1], centre[1] - reach)
        )
        dx, dy = x[None, columns] - centre[0], y[rows, None] - centre[1]
        along, across = dx * down[0] + dy * down[1], dy * down[0] - dx * down[1]
        distance = np.sqrt((along / length) ** 2 + (across / radius) ** 2)
        fall = np.clip((1.3 - distance) / 0.8, 0.0, 1.0)
        spot = darkness * fall * fall * (3.0 - 2.0 * fall)
        part = shade[rows, columns]
        shade[rows, columns] = 1.0 - (1.0 - part) * (1.0 - spot)


def _add_footprint(
    shade: AnyFloat, footprint: Footprint, sun: tuple[float, float, float], x: AnyFloat, y: AnyFloat
) -> None:
    """Add the darkening around a base with corners and the shadow it casts, with soft edges; the darker one counts."""
    corner = np.array(footprint.outline)
    throw = -np.array(sun[:2]) / sun[2] * footprint.height
    cell = float(x[1] - x[0])
    for points, darkness in (
        (corner, 0.55 * footprint.darkness),
        (np.concatenate((corner, corner + throw)), footprint.darkness),
    ):
        low, high = points.min(axis=0) - 4.0 * cell, points.max(axis=0) + 4.0 * cell
        columns = slice(*np.searchsorted(x, (low[0], high[0])))
        rows = slice(len(y) - np.searchsorted(y[::-1], high[1]), len(y) - np.searchsorted(y[::-1], low[1]))
        part = shade[rows, columns]
        if not part.size:
            continue
        at = np.column_stack((points[:, 0] - x[columns][0], y[rows][0] - points[:, 1])) / cell * 4.0 + 1.5
        mask = Image.new("L", (part.shape[1] * 4, part.shape[0] * 4))
        outline = shapely.MultiPoint(at).convex_hull.buffer(1.0).exterior.coords
        ImageDraw.Draw(mask).polygon([(float(px), float(py)) for px, py in outline], fill=255)
        soft = mask.filter(ImageFilter.GaussianBlur(3.0)).reduce(4)
        part[:] = np.maximum(part, darkness / 255.0 * np.asarray(soft, np.float32))
