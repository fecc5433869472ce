"""The light that reaches the ground, baked: shadows of everything that stands still, and a soft mottle."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import shapely
from PIL import Image, ImageDraw, ImageFilter

from donkeysim.core.types import BoolArray, ByteArray, FloatArray
from donkeysim.core.workers import work_through
from donkeysim.world.tracks.structures.structure import Footprint, Shadow
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame
from donkeysim.world.tracks.textures import AnyFloat, as_colour, make_noise

STEP, LEAFY_STEP = 8, 4
"""Texels per side of a square that the light is computed for, powers of two; fewer where leaves cast shadows."""

GAMMA = 2.2
"""sRGB values are light to the power of one over this, about."""

BAND = 16
"""Rows of such squares that a thread lights at a time."""

# Under several shadows there is still light from the sky.
DARKEST = 0.52
"""Most of the light that shadows take, but for those of leaves, which are as dark as they say."""

LEAVES = 256
"""After how many squares the pattern of leaves repeats."""


@dataclass(frozen=True)
class GroundLight:
    """The share of light that falls on the ground.

    Attributes:
        share: Of squares of `step` texels of the atlas, 128 = all, alpha 128, shape [rows, columns, 4].
        step: Texels per side of a square.
        frame: Where the atlas lies.
    """

    share: ByteArray
    step: int
    frame: AtlasFrame

    def sample(self, point: FloatArray) -> ByteArray:
        """Return the share of light at points x, y [m], shape [n, 2]; bilinear, shape [n, 4]."""
        cell, (rows, columns) = self.step * self.frame.texel, self.share.shape[:2]
        right = np.clip((point[:, 0] - self.frame.origin[0]) / cell - 0.5, 0.0, columns - 1.001)
        down = np.clip(rows - (point[:, 1] - self.frame.origin[1]) / cell - 0.5, 0.0, rows - 1.001)
        column, row = right.astype(int), down.astype(int)
        across, along = (right - column)[:, None], (down - row)[:, None]
        high, low = (
            self.share[row + down_by, column] * (1.0 - across) + self.share[row + down_by, column + 1] * across
            for down_by in (0, 1)
        )
        return np.asarray(high + (low - high) * along + 0.5, np.uint8)


def cast_light(
    frame: AtlasFrame,
    shadows: Sequence[Shadow | Footprint],
    sun: tuple[float, float, float],
    on_road: BoolArray,
    lamp: tuple[float, ...] = (),
) -> GroundLight:
    """Return the light that falls on the ground; along the atlas' border all of it does.

    Args:
        sun: Unit vector towards the sun.
        on_road: Which texels are road, shape [rows, columns]: it shows less of the mottle.
        lamp: x, y and height of the only lamp [m]; none: light falls evenly.
    """
    leafy = any(isinstance(shadow, Shadow) and shadow.holes for shadow in shadows)
    step = LEAFY_STEP if leafy else STEP
    return GroundLight(_paint_light(frame, shadows, sun, on_road, step, lamp), step, frame)


def light_texels(texels: ByteArray, light: ByteArray, step: int) -> None:
    """Multiply a picture by the light that falls on it.

    Light is enlarged across once for a row of squares, and downwards as it is laid on: bilinear, in whole numbers.

    Args:
        texels: Changed, shape [rows, columns, 4].
        light: Of squares of `step` texels, 128 = all, alpha 128, shape [rows / step, columns / step, 4].
        step: A power of two.
    """
    part = Image.frombuffer("RGBX", (light.shape[1], len(light)), light.tobytes(), "raw", "RGBX", 0, 1)
    wide = np.asarray(part.resize((texels.shape[1], len(light)), Image.Resampling.BILINEAR)).reshape(len(light), -1)
    padded = np.concatenate((wide[:1], wide, wide[-1:])).astype(np.uint16)
    texel = texels.reshape(len(texels), -1)

    def work(first: int) -> None:
        for row in range(first, min(first + BAND, len(padded) - 1)):
            rows = slice(step * row - step // 2, step * row + step // 2)
            _light_rows(texel, rows, padded[row], padded[row + 1])

    work_through(work, range(0, len(padded) - 1, BAND))


def _light_rows(texel: ByteArray, between: slice, above: np.ndarray, below: np.ndarray) -> None:
    """Multiply the texels between the middles of two rows of squares by their light, those that there are.

    Args:
        texel: Channels of the atlas, row by row; changed.
        between: Their rows, also where the atlas has none.
        above: Light of the upper row of squares, of every channel, 128 = all.
    """
    first, step = between.start, between.stop - between.start
    rows = slice(max(first, 0), min(between.stop, len(texel)))
    down = (2 * np.arange(rows.start - first, rows.stop - first, dtype=np.uint16) + 1)[:, None]
    falling = above * (2 * step - down)
    falling += below * down
    falling += step
    falling >>= (2 * step).bit_length() - 1
    falling *= texel[rows]
    falling >>= 7
    texel[rows] = np.minimum(falling, 255, out=falling)


def _paint_light(
    frame: AtlasFrame,
    shadows: Sequence[Shadow | Footprint],
    sun: tuple[float, float, float],
    on_road: BoolArray,
    step: int,
    lamp: tuple[float, ...],
) -> ByteArray:
    """Return the share of light for squares of `step` texels, 128 = all, alpha 128, shape [rows, columns, 4]."""
    rows, columns = frame.rows // step, frame.columns // step
    cell = frame.texel * step
    x = frame.origin[0] + (np.arange(columns) + 0.5) * cell
    y = frame.origin[1] + (np.arange(rows, 0, -1) - 0.5) * cell
    shade = np.zeros((rows, columns), np.float32)
    for shadow in shadows:
        if isinstance(shadow, Shadow):
            _add_shadow(shade, shadow, sun, x, y)
        else:
            _add_footprint(shade, shadow, sun, x, y)
    leafy = (shadow.darkness for shadow in shadows if isinstance(shadow, Shadow) and shadow.holes)
    shade = np.minimum(shade, max([DARKEST, *leafy]))
    mottle = make_noise(rows, columns, 1.5, 73, finest=3.0, coarsest=rows / 2)
    left, low, right, high = frame.shown
    rim = 0.5 * cell
    edge = np.minimum(np.minimum(x - left, right - x)[None, :], np.minimum(high - y, y - low)[:, None]) - rim
    strength = np.where(on_road[step // 2 :: step, step // 2 :: step], np.float32(0.02), np.float32(0.085))
    mottle = 1.0 + mottle * strength * np.clip(edge / 1.5, 0.0, 1.0)
    fade = np.clip(edge / 0.4, 0.0, 1.0)
    light = np.full((rows, columns, 4), 128.0, np.float32)
    if lamp:
        high = lamp[2] ** 2
        lit = high / (high + (x[None, :] - lamp[0]) ** 2 + (y[:, None] - lamp[1]) ** 2)
        mottle = np.asarray(lit ** (2.0 / GAMMA))  # how much darker than under the lamp it looks, 1 = as bright
    light[..., :3] *= mottle[..., None] * (1.0 - (shade * fade)[..., None] * as_colour((1.0, 0.94, 0.80)))
    return np.asarray(np.clip(light + 0.5, 0.0, 255.0), np.uint8)


def _add_shadow(shade: AnyFloat, shadow: Shadow, sun: tuple[float, float, float], x: AnyFloat, y: AnyFloat) -> None:
    """Add the contact darkening at the foot and the cast shadow down the sun, combined as light passing both."""
    slope = math.hypot(sun[0], sun[1]) / sun[2]
    down = np.array([-sun[0], -sun[1]]) / max(1e-9, math.hypot(sun[0], sun[1]))
    cast = np.array(shadow.position) + down * slope * shadow.height
    stretch = math.hypot(1.0, slope)
    under = 0.55 * shadow.darkness * (1.0 - shadow.holes)
    for centre, radius, length, darkness in (
        (np.array(shadow.position), 0.9 * shadow.radius, 0.9 * shadow.radius, under),
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
        if shadow.holes and centre is cast:
            row, column = np.arange(len(y))[rows, None] % LEAVES, np.arange(len(x))[None, columns] % LEAVES
            # A crown has a ragged rim, and more gaps towards it.
            dense = NormalDist().inv_cdf(1.0 - shadow.holes) + 0.9 * (0.7 - distance)
            hidden = np.clip(0.5 + 1.6 * (dense - make_leaves()[row, column]), 0.0, 1.0)
            spot = darkness * (hidden * np.clip((1.25 - distance) / 0.25, 0.0, 1.0))
        part = shade[rows, columns]
        shade[rows, columns] = 1.0 - (1.0 - part) * (1.0 - spot)


@lru_cache(maxsize=1)
def make_leaves() -> AnyFloat:
    """Return the pattern of leaves and gaps in crowns: mean 0, standard deviation 1, shape [LEAVES, LEAVES]."""
    return make_noise(LEAVES, LEAVES, 0.9, 75, finest=2.0, coarsest=16.0)


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
