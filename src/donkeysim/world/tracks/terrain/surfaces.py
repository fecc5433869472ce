"""What ground and roads are made of: square tiles seen from above, most 3.84 m a side, that repeat without a seam."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from PIL import Image

from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import (
    GRASS_SIZE,
    AnyFloat,
    Colour,
    as_colour,
    grade_noise,
    make_grass,
    make_noise,
    make_plain,
    to_texture,
)

TEXELS = GRASS_SIZE
"""Per side of a tile as it is made."""

_SIZE = TEXELS


@lru_cache(maxsize=16)
def make_surface(name: str, size: int = _SIZE, colour: tuple[int, int, int] | None = None) -> ByteArray:
    """Return the tile of a surface.

    Args:
        name: A key of `SURFACES`.
        size: Texels per side, a power of two; fewer than 512 are averages of these, more lie smoothly between them.
        colour: sRGB that it is on average; None: its own.
    """
    tile = SURFACES[name]()
    if colour is not None:
        own = tile[..., :3].mean(axis=(0, 1))
        tile = tile.copy()
        tile[..., :3] = np.clip(tile[..., :3] * (np.asarray(colour) / np.maximum(own, 1.0)) + 0.5, 0.0, 255.0)
    step = tile.shape[0] // size
    if step > 1:
        mean = tile.reshape(size, step, size, step, 4).mean(axis=(1, 3))
        return np.asarray(mean + 0.5, np.uint8)
    return tile if size == tile.shape[0] else _enlarge(tile, size)


def _enlarge(tile: ByteArray, size: int) -> ByteArray:
    """Return a tile with more texels, which continues into itself as before."""
    rim = 2
    wider = np.pad(tile, ((rim, rim), (rim, rim), (0, 0)), mode="wrap")
    box = (rim, rim, rim + tile.shape[1], rim + tile.shape[0])
    return np.asarray(Image.fromarray(wider).resize((size, size), Image.Resampling.BICUBIC, box=box))


def _make_dry_grass() -> ByteArray:
    broad = make_noise(_SIZE, _SIZE, 1.6, 111, finest=14.0, coarsest=260.0)
    blades = make_noise(_SIZE, _SIZE, 0.35, 112, finest=1.7)
    tufts = make_noise(_SIZE, _SIZE, 1.0, 113, finest=4.0, coarsest=60.0)
    shades = ((92, 84, 44), (136, 122, 66), (164, 148, 84), (190, 174, 106), (214, 198, 140))
    colour = grade_noise(0.40 * broad + 0.34 * tufts + 0.42 * blades, *shades)
    green = np.clip(make_noise(_SIZE, _SIZE, 1.4, 114, finest=9.0, coarsest=200.0) - 0.6, 0.0, 1.2)[..., None] * 0.45
    return to_texture(colour * (1.0 - green) + as_colour((96, 122, 58)) * green)


def _make_short_grass() -> ByteArray:
    """Return a lawn cut short: yellow-green, with brown specks where the earth shows."""
    broad = make_noise(_SIZE, _SIZE, 1.5, 211, finest=12.0, coarsest=200.0)
    blades = make_noise(_SIZE, _SIZE, 0.25, 212, finest=1.4)
    tufts = make_noise(_SIZE, _SIZE, 0.9, 213, finest=3.0, coarsest=40.0)
    shades = ((26, 38, 5), (54, 64, 17), (75, 83, 28), (96, 103, 46), (126, 130, 74))
    colour = grade_noise(0.24 * broad + 0.46 * tufts + 0.72 * blades, *shades)
    bare = np.clip(make_noise(_SIZE, _SIZE, 0.7, 214, finest=2.5, coarsest=30.0) - 1.1, 0.0, 1.0)[..., None]
    return to_texture(colour * (1.0 - bare) + as_colour((98, 72, 40)) * bare)


def _make_pale_grass() -> ByteArray:
    """Return the same lawn under a glaring sun, as the original's newer builds show it."""
    lawn = _make_short_grass()[..., :3].astype(np.float32)
    return to_texture(as_colour((177, 179, 147)) + 0.72 * (lawn - lawn.mean(axis=(0, 1))))


def _make_aerial() -> ByteArray:
    """Return dry land as an aerial picture shows it in a glare: pale grass, green-white and brown patches, sand."""
    sand = make_noise(_SIZE, _SIZE, 1.35, 221, finest=3.0, coarsest=90.0)
    green = make_noise(_SIZE, _SIZE, 1.5, 222, finest=3.0, coarsest=140.0)
    brown = make_noise(_SIZE, _SIZE, 1.2, 224, finest=2.5, coarsest=60.0)
    grain = make_noise(_SIZE, _SIZE, 0.6, 223, finest=1.5, coarsest=30.0)
    colour = np.broadcast_to(as_colour((212, 206, 178)), (_SIZE, _SIZE, 3)).copy()
    patches = ((green, 0.35, (198, 219, 193)), (brown, 0.9, (169, 171, 164)), (sand, 1.0, (255, 255, 234)))
    for noise, over, shade in patches:
        share = np.clip((noise - over + 0.25 * grain) / 1.3, 0.0, 1.0)[..., None]
        colour += (as_colour(shade) - colour) * share
    return to_texture(colour * (1.0 + 0.015 * brown + 0.028 * grain)[..., None])


def _make_concrete() -> ByteArray:
    grain = make_noise(_SIZE, _SIZE, 0.3, 121, finest=1.6)
    cloud = make_noise(_SIZE, _SIZE, 1.4, 122, finest=6.0, coarsest=300.0)
    stain = np.clip(make_noise(_SIZE, _SIZE, 1.7, 123, finest=12.0, coarsest=260.0) - 1.1, 0.0, 1.0)
    tone = 158.0 + 3.5 * grain + 6.0 * cloud - 26.0 * stain
    near, far = _measure_joints(_SIZE // 2)
    tone = tone - 52.0 * np.clip(1.6 - near, 0.0, 1.0) - 52.0 * np.clip(1.6 - far, 0.0, 1.0)
    return to_texture(tone[..., None] * as_colour((1.0, 0.99, 0.96)))


def _make_asphalt() -> ByteArray:
    grain = make_noise(_SIZE, _SIZE, 0.3, 131, finest=1.5)
    cloud = make_noise(_SIZE, _SIZE, 1.3, 132, finest=6.0, coarsest=300.0)
    tone = 92.0 + 5.0 * grain + 5.5 * cloud
    return to_texture(tone[..., None] * as_colour((0.98, 0.99, 1.03)))


def _make_carpet() -> ByteArray:
    pile = make_noise(_SIZE, _SIZE, 0.2, 141, finest=1.4)
    worn = make_noise(_SIZE, _SIZE, 1.6, 142, finest=20.0, coarsest=300.0)
    index = np.arange(_SIZE) // 64
    turned = ((index[:, None] + index[None, :]) % 2) * 2.0 - 1.0
    tone = 1.0 + 0.060 * pile + 0.025 * worn + 0.022 * turned
    seam_row, seam_column = _measure_joints(64)
    tone = tone - 0.05 * (np.clip(1.3 - seam_row, 0.0, 1.0) + np.clip(1.3 - seam_column, 0.0, 1.0))
    return to_texture(tone[..., None] * as_colour((92, 98, 112)))


def _make_carpet_planks() -> ByteArray:
    """Return carpet in planks of 0.384 x 0.768 m, each from another part of the weave: streaks, pale blue seams."""
    random = np.random.default_rng(221)
    yarn = np.repeat(make_noise(_SIZE, _SIZE // 4, 0.45, 222, finest=1.4), 4, axis=1)
    yarn = (yarn + np.roll(yarn, 1, axis=1) + np.roll(yarn, 2, axis=1) + np.roll(yarn, 3, axis=1)) / 4.0
    weave = 0.85 * yarn + 0.45 * make_noise(_SIZE, _SIZE, 0.3, 223, finest=1.5)
    index = np.arange(_SIZE)
    down = index / (0.1 * _SIZE)
    row = down.astype(int)
    along = (index[None, :] / (0.2 * _SIZE) + 0.5 * (row[:, None] % 2)) % 5.0
    column = along.astype(int)
    shift, tone = random.integers(0, _SIZE, (10, 5)), random.normal(0.0, 5.0, (10, 5))
    picked = shift[row[:, None], column]
    grey = 140.0 + tone[row[:, None], column]
    grey += 22.0 * weave[(index[:, None] + picked) % _SIZE, (index[None, :] + 3 * picked) % _SIZE]
    seam = (random.random((2, 10, 5)) < 0.3)[:, row[:, None], column]
    near = (down - row < 0.035)[:, None] & seam[0] | (along - column < 0.017) & seam[1]
    colour = np.where(near[..., None], as_colour((158, 206, 234)), grey[..., None] * as_colour((1.04, 1.0, 0.98)))
    return to_texture(colour)


def _make_dirt() -> ByteArray:
    grain = make_noise(_SIZE, _SIZE, 0.4, 151, finest=1.5)
    clods = make_noise(_SIZE, _SIZE, 0.9, 152, finest=3.0, coarsest=60.0)
    broad = make_noise(_SIZE, _SIZE, 1.6, 153, finest=12.0, coarsest=280.0)
    shades = ((82, 60, 42), (112, 86, 60), (134, 106, 76), (154, 126, 94), (182, 158, 124))
    return to_texture(grade_noise(0.36 * grain + 0.42 * clods + 0.36 * broad, *shades))


def _make_sand() -> ByteArray:
    grain = make_noise(_SIZE, _SIZE, 0.3, 161, finest=1.5)
    ripple = make_noise(_SIZE, _SIZE, 1.2, 162, finest=5.0, coarsest=90.0)
    broad = make_noise(_SIZE, _SIZE, 1.6, 163, finest=14.0, coarsest=280.0)
    tone = 1.0 + 0.055 * grain + 0.05 * ripple + 0.04 * broad
    return to_texture(tone[..., None] * as_colour((150, 129, 96)))


def _make_wood() -> ByteArray:
    """Return floor boards 0.12 m wide along u, their ends shifted from board to board."""
    board = np.arange(_SIZE) // 16
    random = np.random.default_rng(171)
    count = _SIZE // 16
    shift = random.integers(0, _SIZE, count)[board]
    half = ((np.arange(_SIZE)[None, :] + shift[:, None]) // (_SIZE // 2)) % 2
    tone = random.normal(0.0, 1.0, (count, 2))[board[:, None], half]
    stretched = make_noise(_SIZE, _SIZE // 8, 0.8, 172, finest=1.5)
    grain = np.repeat(stretched, 8, axis=1)
    grain = 0.5 * (grain + np.roll(grain, 4, axis=1))
    level = 1.0 + 0.06 * tone + 0.05 * grain
    ends = (np.arange(_SIZE)[None, :] + shift[:, None]) % (_SIZE // 2) < 1
    level = level - 0.28 * ((np.arange(_SIZE) % 16 == 0)[:, None] | ends)
    return to_texture(level[..., None] * as_colour((176, 132, 88)))


def _make_mat() -> ByteArray:
    speck = make_noise(_SIZE, _SIZE, 0.1, 181, finest=1.4)
    broad = make_noise(_SIZE, _SIZE, 1.5, 182, finest=10.0, coarsest=260.0)
    tone = 52.0 + 2.4 * speck + 2.2 * broad
    near, far = _measure_joints(128)
    tone = tone - 16.0 * np.clip(1.4 - near, 0.0, 1.0) - 16.0 * np.clip(1.4 - far, 0.0, 1.0)
    return to_texture(tone[..., None] * as_colour((0.98, 1.0, 1.04)))


def _make_cobbles() -> ByteArray:
    """Return setts of 0.12 x 0.09 m in shifted rows."""
    row = np.arange(_SIZE)[:, None] // 16
    column = np.arange(_SIZE)[None, :] + 8 * (row % 2)
    random = np.random.default_rng(191)
    stone = random.normal(0.0, 1.0, (32, 32))[row % 32, (column // 16) % 32]
    x, y = (column % 16 - 7.5) / 7.5, (np.arange(_SIZE)[:, None] % 16 - 7.5) / 7.5
    dome = np.clip((1.0 - np.maximum(np.abs(x), np.abs(y)) ** 3.0) * 2.2, 0.0, 1.0)
    grain = make_noise(_SIZE, _SIZE, 0.3, 192, finest=1.5)
    tone = (58.0 + (62.0 + 11.0 * stone) * dome) * (1.0 + 0.045 * grain)
    return to_texture(tone[..., None] * as_colour((1.0, 0.98, 0.95)))


def _make_hall_floor() -> ByteArray:
    """Return old warm concrete with joints, stains, trails and specks; four slabs, twice as fine as others."""
    size = 2 * _SIZE
    grain = np.tile(make_noise(_SIZE, _SIZE, 0.3, 201, finest=1.6), (2, 2))
    cloud, stain, trail = (
        _widen(make_noise(256, 256, 1.4, seed, finest=3.0, coarsest=200.0), size) for seed in (202, 203, 204)
    )
    speck = np.clip(np.tile(make_noise(_SIZE, _SIZE, 0.6, 205, finest=2.5), (2, 2)) - 2.3, 0.0, 1.0)
    tone = (
        1.0
        + 0.028 * grain
        + 0.055 * cloud
        - 0.17 * np.clip(stain - 0.9, 0.0, 1.2)
        + 0.05 * np.clip(trail - 0.7, 0.0, 1.2)
    )
    away = np.abs((np.arange(size, dtype=np.float32) + 0.5) % _SIZE - 0.5 * _SIZE)
    joint = np.maximum(np.clip(2.0 - away, 0.0, 1.0)[:, None], np.clip(2.0 - away, 0.0, 1.0)[None, :])
    tone = tone - 0.30 * joint - 0.22 * speck
    warm = 1.0 - 0.03 * np.clip(stain - 0.4, 0.0, 2.0)
    return to_texture(np.stack((158.0 * tone, 146.0 * tone * (0.5 + 0.5 * warm), 125.0 * tone * warm), axis=2))


def _make_cracked_asphalt() -> ByteArray:
    """Return the olive-brown asphalt of an old lot with soft dark cracks, sealed joints and pale worn places."""
    grain = make_noise(_SIZE, _SIZE, 0.5, 211, finest=2.6)
    cloud = make_noise(_SIZE, _SIZE, 1.4, 212, finest=5.0, coarsest=260.0)
    tone = 1.0 + 0.035 * grain + 0.075 * cloud
    for seed, dark in ((213, 0.30), (214, 0.20)):
        noise = make_noise(_SIZE, _SIZE, 1.6, seed, finest=5.0, coarsest=190.0)
        slope = np.hypot(*(np.roll(noise, -1, axis=axis) - noise for axis in (0, 1)))
        away = np.abs(noise) / np.maximum(slope, 0.02)  # from the lines where it is 0, about [texel]
        broken = np.clip(0.75 + np.roll(cloud, 97 * (seed - 210), axis=1), 0.0, 1.0)
        tone = tone - dark * np.clip(1.6 - away, 0.0, 1.0) * broken
    patch = np.clip(np.roll(cloud, 200, axis=0) - 1.1, 0.0, 0.5)
    return to_texture((tone - 0.16 * patch)[..., None] * as_colour((128.0, 117.0, 95.0)))


def _widen(noise: AnyFloat, size: int) -> AnyFloat:
    """Return periodic noise at more texels, smooth between them."""
    rim = 2
    wider = Image.fromarray(np.pad(noise, rim, mode="wrap"))
    box = (rim, rim, rim + noise.shape[1], rim + noise.shape[0])
    return np.asarray(wider.resize((size, size), Image.Resampling.BICUBIC, box=box))


def _make_wood_carpet() -> ByteArray:
    """Return carpet planks like grey weathered wood, 0.24 x 0.96 m, light and dark strokes along them (u)."""
    long, wide = _SIZE // 4, _SIZE // 16
    random = np.random.default_rng(201)
    board = np.arange(_SIZE)[:, None] // wide
    shift = random.integers(0, _SIZE, 16)[board]
    plank = (np.arange(_SIZE)[None, :] + shift) // long % 4
    tone = random.normal(0.0, 1.0, (16, 4))[board, plank]
    strokes = _draw_out(make_noise(_SIZE, _SIZE // 8, 0.1, 202, finest=1.2), 8)
    streaks = _draw_out(make_noise(_SIZE, _SIZE // 16, 0.4, 203, finest=1.4), 16)
    specks = make_noise(_SIZE, _SIZE, 0.2, 204, finest=1.4)
    grain = 0.8 * strokes + 0.5 * streaks + 0.28 * specks
    level = 148.0 + 19.0 * grain - 16.0 * np.clip(-grain - 0.8, 0.0, 2.0) + 8.0 * tone
    return to_texture(np.minimum(level, 198.0)[..., None] * as_colour((1.045, 1.0, 0.955)))


def _draw_out(noise: AnyFloat, times: int) -> AnyFloat:
    """Return noise drawn out along u, smooth from one value to the next, of standard deviation 1."""
    total = np.cumsum(np.pad(np.repeat(noise, times, axis=1), ((0, 0), (0, times)), mode="wrap"), axis=1)
    smooth = (total[:, times:] - total[:, :-times]) / times
    return np.asarray(smooth / smooth.std())


def _make_dark_wood() -> ByteArray:
    """Return red-brown floor boards, each 0.12 m wide along u, worn and dull."""
    boards = _make_wood()[..., :3].astype(np.float32)
    grey = boards.mean(axis=2, keepdims=True) / boards.mean()
    dull = 1.0 + 0.10 * make_noise(_SIZE, _SIZE, 1.5, 211, finest=8.0, coarsest=260.0)[..., None]
    return to_texture(grey * grey * dull * as_colour((62.0, 40.0, 34.0)))


def _measure_joints(pitch: int) -> tuple[AnyFloat, AnyFloat]:
    """Return the distance of rows and of columns from the nearest joint [texel], shapes [size, 1] and [1, size]."""
    index = (np.arange(_SIZE, dtype=np.float32) + 0.5) % pitch
    away = np.minimum(index, pitch - index)
    return away[:, None], away[None, :]


SURFACES: dict[str, Callable[[], ByteArray]] = {
    "grass": make_grass,
    "dry_grass": _make_dry_grass,
    "short_grass": _make_short_grass,
    "pale_grass": _make_pale_grass,
    "aerial": _make_aerial,
    "concrete": _make_concrete,
    "asphalt": _make_asphalt,
    "carpet": _make_carpet,
    "carpet_planks": _make_carpet_planks,
    "dirt": _make_dirt,
    "sand": _make_sand,
    "wood": _make_wood,
    "mat": _make_mat,
    "cobbles": _make_cobbles,
    "hall_floor": _make_hall_floor,
    "cracked_asphalt": _make_cracked_asphalt,
    "wood_carpet": _make_wood_carpet,
    "dark_wood": _make_dark_wood,
    "plain": make_plain,
}
"""Every surface that a track file may name, for its ground or its road."""

SURFACE_MEAN: dict[str, Colour] = {
    "grass": (98.0, 134.0, 58.0),
    "dry_grass": (164.0, 148.0, 86.0),
    "short_grass": (75.0, 82.0, 31.0),
    "pale_grass": (177.0, 179.0, 147.0),
    "aerial": (206.0, 207.0, 182.0),
    "concrete": (156.0, 154.0, 150.0),
    "asphalt": (90.0, 91.0, 95.0),
    "carpet": (92.0, 98.0, 112.0),
    "carpet_planks": (145.0, 139.0, 136.0),
    "dirt": (134.0, 106.0, 76.0),
    "sand": (150.0, 129.0, 96.0),
    "wood": (172.0, 129.0, 86.0),
    "hall_floor": (158.0, 146.0, 125.0),
    "cracked_asphalt": (128.0, 117.0, 95.0),
    "wood_carpet": (152.0, 145.0, 138.0),
    "dark_wood": (62.0, 40.0, 34.0),
    "plain": (164.0, 166.0, 168.0),
}
"""About what colour a ground has from far away: the sky's panorama continues with it below the horizon."""
