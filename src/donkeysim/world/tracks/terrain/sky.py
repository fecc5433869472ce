"""Sky panoramas: u = azimuth over 2π (+ = left of +x), v from the zenith over the horizon (0.5) to the nadir."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import (
    BAND_ROWS,
    AnyFloat,
    Colour,
    as_colour,
    blend_colours,
    make_noise,
    to_texture,
)

WIDTH, HEIGHT = 2048, 1024
"""Texels of a panorama."""


Stops: TypeAlias = tuple[tuple[float, Colour], ...]
"""(elevation [rad], colour)"""

Paint: TypeAlias = Callable[[AnyFloat, AnyFloat], AnyFloat]
"""From the elevation of rows [n, 1] and a layer's top [1, m] to colours [n, m, 3]."""

Outline: TypeAlias = tuple[AnyFloat, Paint]
"""A layer's top [rad], shape [WIDTH], and its colours."""


@dataclass(frozen=True)
class HorizonLayer:
    """Something that stands at the horizon.

    Attributes:
        shape: Gives its outline and colours.
        about: What of.
        veil: Share of haze before it, 0 to 1.
        seed: Of its grain.
    """

    shape: Callable[..., Outline]
    about: tuple[Any, ...]
    veil: float
    seed: int


@dataclass(frozen=True)
class SkyStyle:
    """A kind of sky.

    Attributes:
        air: Colours above the haze.
        clouds: How much is covered: 0 none, 1 fair weather.
        layers: What stands at the horizon, farthest first.
        water: Colour below the horizon; None: that of the place's ground.
    """

    air: Stops
    clouds: float
    layers: tuple[HorizonLayer, ...]
    water: Colour | None = None


@lru_cache(maxsize=4)
def make_sky(name: str, sun_azimuth: float, sun_height: float, haze: Colour, ground: Colour) -> ByteArray:
    """Return a sky with the sun, clouds and what stands at the horizon.

    Args:
        name: A key of `SKIES`.
        sun_azimuth: [rad]
        sun_height: [rad]
        haze: Colour at the horizon, 0 to 255.
        ground: Colour of the land below the horizon.
    """
    style = SKIES[name]
    elevation = (0.5 - (np.arange(HEIGHT // 2) + 0.5) / HEIGHT) * math.pi
    sky = np.repeat(blend_colours(elevation, ((0.0, haze), *style.air))[:, None], WIDTH, axis=1)
    _add_sun(sky, elevation, sun_azimuth, sun_height)
    if style.clouds > 0.0:
        _add_clouds(sky, elevation, style.clouds)
    for layer in style.layers:
        _add_layer(sky, elevation, layer, haze)
    panorama = np.empty((HEIGHT, WIDTH, 4), np.uint8)
    panorama[: HEIGHT // 2] = to_texture(sky)
    panorama[HEIGHT // 2 :] = to_texture(_paint_ground(haze, style.water or ground))
    return panorama


@lru_cache(maxsize=2)
def make_plain_sky(haze: Colour, ground: Colour) -> ByteArray:
    """Return a cloudless sky over an empty horizon, 64 x 512."""
    elevation = (0.5 - (np.arange(256) + 0.5) / 512) * math.pi
    above = blend_colours(elevation, ((0.0, haze), *SUMMER))
    below = _paint_ground(haze, ground)[:: HEIGHT // 512, 0]
    return to_texture(np.repeat(np.concatenate((above, below))[:, None], 64, axis=1))


@lru_cache(maxsize=2)
def make_clear_sky(sun_azimuth: float, sun_height: float, below: Colour) -> ByteArray:
    """Return the original's sky: blue, white-blue in a band above a sharp horizon; neither clouds nor the sun's disc.

    Air scatters most light forwards and backwards (Rayleigh): the sky is darkest a right angle from the sun.

    Args:
        sun_azimuth: [rad]
        sun_height: [rad]
        below: Colour under the horizon, 0 to 255.
    """
    elevation = (0.5 - (np.arange(HEIGHT // 2) + 0.5) / HEIGHT) * math.pi
    azimuth = (np.arange(WIDTH) + 0.5) / WIDTH * 2.0 * math.pi
    up, aside = np.sin(elevation) * math.sin(sun_height), np.cos(elevation) * math.cos(sun_height)
    cosine = (up[:, None] + aside[:, None] * np.cos(azimuth - sun_azimuth)).astype(np.float32)
    mean = (1.0 + up * up + 0.5 * aside * aside)[:, None].astype(np.float32)
    light = ((1.0 + cosine * cosine) / mean) ** np.float32(1.0 / 2.2)
    panorama = np.empty((HEIGHT, WIDTH, 4), np.uint8)
    panorama[: HEIGHT // 2] = to_texture(light[..., None] * blend_colours(elevation, CLEAR)[:, None])
    panorama[HEIGHT // 2 :] = (*below, 255)
    return panorama


def _paint_ground(haze: Colour, ground: Colour) -> AnyFloat:
    """Return the land below the horizon: as hazy as ground is where the drawn one ends, shape [rows, 1, 3]."""
    row = as_colour(haze) * 0.87 + as_colour(ground) * 0.13
    return np.broadcast_to(row, (HEIGHT // 2, 1, 3))


def _add_sun(sky: AnyFloat, elevation: AnyFloat, sun_azimuth: float, sun_height: float) -> None:
    half = 0.5 * (elevation[::2] + elevation[1::2])[:, None]
    azimuth = (np.arange(WIDTH // 2) + 0.5) / (WIDTH // 2) * 2.0 * math.pi
    cosine = np.sin(half) * math.sin(sun_height) + np.cos(half) * math.cos(sun_height) * np.cos(azimuth - sun_azimuth)
    angle = np.arccos(np.clip(cosine, -1.0, 1.0)).astype(np.float32)
    glow = np.clip(0.5 * np.exp(-angle / 0.16) + 1.2 * np.clip((0.038 - angle) / 0.006, 0.0, 1.0), 0.0, 1.0)
    glow = np.repeat(np.repeat(glow, 2, axis=0), 2, axis=1)[..., None]
    for top in range(0, len(sky), BAND_ROWS):
        rows = slice(top, top + BAND_ROWS)
        sky[rows] += (as_colour((255, 250, 232)) - sky[rows]) * glow[rows]


def _add_clouds(sky: AnyFloat, elevation: AnyFloat, strength: float) -> None:
    height, width = HEIGHT // 2, WIDTH
    noise = make_noise(height // 2, width // 4, 1.7, 41, finest=2.0, coarsest=170.0)
    noise = np.repeat(np.repeat(noise, 2, axis=0), 4, axis=1)
    kernel_x = (noise + np.roll(noise, 1, 1) + np.roll(noise, 2, 1) + np.roll(noise, 3, 1)) * 0.25
    noise = 0.5 * (kernel_x + np.roll(kernel_x, 1, 0))
    band = np.exp(-(((elevation - 0.42) / 0.34) ** 2))[:, None]
    cover = (
        np.clip((noise + 0.55 * band - 0.75 + strength - 1.0) * 1.1, 0.0, 1.0)
        * np.clip(elevation / 0.1, 0.0, 1.0)[:, None]
    )
    cover = (cover * cover * (3.0 - 2.0 * cover))[..., None]
    lit = np.clip(0.5 + 0.9 * (noise - np.roll(noise, 14, 0)), 0.0, 1.0)[..., None]
    cloud = as_colour((206, 214, 226)) + as_colour((46, 40, 28)) * lit
    sky += (cloud - sky) * (0.92 * cover).astype(np.float32)


def _add_layer(sky: AnyFloat, elevation: AnyFloat, layer: HorizonLayer, haze: Colour) -> None:
    """Paint what rises from the horizon: hazier the farther it is, and at its foot."""
    top, colour = layer.shape(*layer.about)
    grain = make_noise(256, WIDTH, 0.8, layer.seed)[: np.count_nonzero(elevation < 0.6)]
    low = len(elevation) - len(grain)
    height = elevation[low:, None]
    paint = colour(height, top[None, :]) * (1.0 + 0.07 * grain[..., None]) * (1.0 - layer.veil)
    paint = paint + as_colour(haze) * layer.veil
    mist = 0.6 * np.exp(-elevation[low:, None, None] / 0.012)
    paint += (as_colour(haze) - paint) * mist.astype(np.float32)
    edge = np.clip((top[None, :] - height) / (math.pi / HEIGHT) + 0.5, 0.0, 1.0)[..., None]
    sky[low:] += (paint - sky[low:]) * edge.astype(np.float32)


def _ridge(seed: int, exponent: float) -> AnyFloat:
    ridge: AnyFloat = make_noise(8, WIDTH, exponent, seed, finest=4.0)[0]
    return ridge


def _even(colour: Colour) -> Paint:
    """Return a layer's colour that is the same everywhere."""
    return lambda height, top: np.broadcast_to(as_colour(colour), (*np.broadcast(height, top).shape, 3))


def _hills(low: float, swing: float, seed: int, exponent: float, colour: Colour) -> Outline:
    return low + swing * _ridge(seed, exponent), _even(colour)


def _trees(low: float, colour: Colour, seed: int) -> Outline:
    return low + 0.006 * _ridge(seed, 0.6) + 0.006 * np.abs(_ridge(seed + 1, 0.1)), _even(colour)


def _peaks(low: float, swing: float, seed: int, rock: Colour, snow_line: float) -> Outline:
    """Return steep mountains with snow above a line [rad]."""
    rough = _ridge(seed, 1.0)
    top = low + swing * (np.abs(_ridge(seed + 1, 1.2)) + 0.35 * rough - 0.3)

    def paint(height: AnyFloat, top: AnyFloat) -> AnyFloat:
        ragged = snow_line + 0.030 * np.roll(rough, 37)[None, :] + 0.4 * (top - height)
        snow = np.clip((height - ragged) / 0.012, 0.0, 1.0)[..., None]
        return np.asarray(as_colour(rock) + (as_colour((236, 240, 246)) - as_colour(rock)) * snow)

    return top, paint


def _mesas(low: float, swing: float, seed: int, rock: Colour) -> Outline:
    """Return table mountains in bands of rock."""
    broad = _ridge(seed, 0.95)
    top = low + swing * np.clip(1.6 * broad, -0.8, 0.9) + 0.1 * swing * broad

    def paint(height: AnyFloat, top: AnyFloat) -> AnyFloat:
        band = 1.0 + 0.10 * np.sin(height * 420.0 + 2.0 * broad[None, :])[..., None]
        return np.asarray(as_colour(rock) * band * np.ones_like(top)[..., None])

    return top, paint


def _skyline(low: float, high: float, pitch: int, seed: int, wall: Colour, window: Colour) -> Outline:
    """Return a row of buildings: `pitch` columns each on average, `low` to `high` [rad], with rows of windows."""
    random = np.random.default_rng(seed)
    edge = np.sort(random.choice(np.arange(0, WIDTH, 4), WIDTH // pitch, replace=False))
    index = np.searchsorted(edge, np.arange(WIDTH), side="right") % len(edge)
    top = (low + (high - low) * random.random(len(edge)) ** 2)[index]
    shade = (0.82 + 0.36 * random.random(len(edge)))[index]

    def paint(height: AnyFloat, top: AnyFloat) -> AnyFloat:
        row = np.round(height * HEIGHT / math.pi).astype(int) % 4 < 2
        lit = (row & (np.arange(WIDTH)[None, :] % 4 < 2) & (height < top - 0.006))[..., None]
        colour = as_colour(wall) * shade[None, :, None] * np.ones_like(height)[..., None]
        return np.asarray(colour + (as_colour(window) - colour) * (0.55 * lit))

    return top, paint


SUMMER: Stops = ((0.12, (168, 200, 232)), (0.45, (112, 164, 220)), (1.57, (62, 112, 188)))
"""Blue air above the haze, by elevation [rad]."""

CLEAR: Stops = tuple(
    (math.radians(degrees), colour)
    for degrees, colour in (
        (0.5, (230, 255, 255)),
        (2.0, (208, 237, 253)),
        (5.0, (171, 202, 234)),
        (10.0, (141, 171, 209)),
        (20.0, (112, 138, 178)),
        (30.0, (97, 121, 159)),
        (45.0, (86, 108, 144)),
        (60.0, (81, 103, 138)),
        (90.0, (78, 99, 133)),
    )
)
"""Mean colours of the original's sky by elevation [rad], its sun at 50 degrees: a little darker than its shader's
figures, as recorded pictures are."""

SKIES: dict[str, SkyStyle] = {
    "meadow": SkyStyle(
        SUMMER,
        1.0,
        (
            HorizonLayer(_hills, (0.115, 0.030, 51, 1.3, (120, 148, 172)), 0.45, 61),
            HorizonLayer(_hills, (0.070, 0.020, 52, 1.2, (104, 138, 112)), 0.25, 62),
            HorizonLayer(_trees, (0.034, (66, 96, 58), 53), 0.08, 63),
        ),
    ),
    "mountains": SkyStyle(
        ((0.12, (178, 206, 234)), (0.45, (98, 152, 216)), (1.57, (44, 92, 172))),
        0.75,
        (
            HorizonLayer(_peaks, (0.15, 0.13, 251, (108, 116, 134), 0.22), 0.38, 261),
            HorizonLayer(_peaks, (0.09, 0.07, 255, (88, 98, 98), 0.30), 0.20, 262),
            HorizonLayer(_trees, (0.046, (44, 72, 52), 257), 0.08, 263),
        ),
    ),
    "desert": SkyStyle(
        ((0.12, (196, 212, 228)), (0.45, (124, 172, 222)), (1.57, (66, 118, 194))),
        0.45,
        (
            HorizonLayer(_mesas, (0.080, 0.055, 351, (186, 128, 98)), 0.35, 361),
            HorizonLayer(_hills, (0.034, 0.012, 353, 1.2, (190, 154, 106)), 0.15, 362),
        ),
    ),
    "city": SkyStyle(
        ((0.12, (176, 200, 224)), (0.45, (124, 168, 214)), (1.57, (74, 122, 190))),
        1.0,
        (
            HorizonLayer(_skyline, (0.05, 0.26, 22, 451, (126, 136, 152), (92, 106, 130)), 0.45, 461),
            HorizonLayer(_skyline, (0.03, 0.15, 34, 453, (138, 130, 122), (74, 82, 96)), 0.20, 462),
            HorizonLayer(_trees, (0.020, (62, 88, 56), 455), 0.06, 463),
        ),
    ),
    "coast": SkyStyle(
        ((0.12, (184, 214, 236)), (0.45, (104, 168, 226)), (1.57, (40, 104, 190))),
        0.6,
        (
            HorizonLayer(_hills, (0.075, 0.085, 551, 1.6, (126, 140, 140)), 0.30, 561),
            HorizonLayer(_skyline, (0.004, 0.075, 18, 553, (214, 190, 160), (120, 106, 96)), 0.16, 562),
        ),
        water=(74, 128, 168),
    ),
    "hills": SkyStyle(
        ((0.14, (128, 152, 173)), (0.50, (88, 113, 153)), (1.57, (52, 76, 122))),
        0.0,
        (
            HorizonLayer(_hills, (0.064, 0.011, 651, 1.4, (104, 112, 84)), 0.25, 661),
            HorizonLayer(_hills, (0.034, 0.010, 652, 1.2, (94, 98, 60)), 0.08, 662),
        ),
    ),
}
"""Every sky that a track file may name, apart from "clear", "plain" and "none"."""
