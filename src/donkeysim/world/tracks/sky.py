"""Sky panoramas: u = azimuth over 2π (+ = left of +x), v from the zenith over the horizon (0.5) to the nadir."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import AnyFloat, Colour, as_colour, blend_colours, make_noise, to_texture

WIDTH, HEIGHT = 2048, 1024
"""Texels of a panorama."""


@lru_cache(maxsize=2)
def make_meadow_sky(sun_azimuth: float, sun_height: float, haze: Colour, ground: Colour) -> ByteArray:
    """Return a summer sky with clouds over two ranges of hills and a line of trees.

    Args:
        sun_azimuth: [rad]
        sun_height: [rad]
        haze: Colour at the horizon, 0 to 255.
        ground: Colour of the land below the horizon.
    """
    elevation = (0.5 - (np.arange(HEIGHT // 2) + 0.5) / HEIGHT) * math.pi
    sky = _paint_air(elevation, haze)
    _add_sun(sky, elevation, sun_azimuth, sun_height)
    _add_clouds(sky, elevation)
    _add_land(sky, elevation, haze)
    below = np.broadcast_to(_paint_ground(haze, ground), (HEIGHT // 2, WIDTH, 3))
    return to_texture(np.concatenate((sky, below)))


@lru_cache(maxsize=2)
def make_plain_sky(haze: Colour, ground: Colour) -> ByteArray:
    """Return a cloudless sky over an empty horizon, 64 x 512."""
    elevation = (0.5 - (np.arange(256) + 0.5) / 512) * math.pi
    above = blend_colours(elevation, _air_stops(haze))
    below = _paint_ground(haze, ground)[:: HEIGHT // 512, 0]
    return to_texture(np.repeat(np.concatenate((above, below))[:, None], 64, axis=1))


def _air_stops(haze: Colour) -> tuple[tuple[float, Colour], ...]:
    return ((0.0, haze), (0.12, (168, 200, 232)), (0.45, (112, 164, 220)), (1.57, (62, 112, 188)))


def _paint_air(elevation: AnyFloat, haze: Colour) -> AnyFloat:
    rows = blend_colours(elevation, _air_stops(haze))
    return np.repeat(rows[:, None], WIDTH, axis=1)


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
    sky += (as_colour((255, 250, 232)) - sky) * glow


def _add_clouds(sky: AnyFloat, elevation: AnyFloat) -> None:
    height, width = HEIGHT // 2, WIDTH
    noise = make_noise(height // 2, width // 4, 1.7, 41, finest=2.0, coarsest=170.0)
    noise = np.repeat(np.repeat(noise, 2, axis=0), 4, axis=1)
    kernel_x = (noise + np.roll(noise, 1, 1) + np.roll(noise, 2, 1) + np.roll(noise, 3, 1)) * 0.25
    noise = 0.5 * (kernel_x + np.roll(kernel_x, 1, 0))
    band = np.exp(-(((elevation - 0.42) / 0.34) ** 2))[:, None]
    cover = np.clip((noise + 0.55 * band - 0.75) * 1.1, 0.0, 1.0) * np.clip(elevation / 0.1, 0.0, 1.0)[:, None]
    cover = (cover * cover * (3.0 - 2.0 * cover))[..., None]
    lit = np.clip(0.5 + 0.9 * (noise - np.roll(noise, 14, 0)), 0.0, 1.0)[..., None]
    cloud = as_colour((206, 214, 226)) + as_colour((46, 40, 28)) * lit
    sky += (cloud - sky) * (0.92 * cover).astype(np.float32)


def _add_land(sky: AnyFloat, elevation: AnyFloat, haze: Colour) -> None:
    far_ridge, near_ridge = _ridge(51, 1.3), _ridge(52, 1.2)
    far, near = 0.115 + 0.030 * far_ridge, 0.070 + 0.020 * near_ridge
    trees = 0.034 + 0.006 * _ridge(53, 0.6) + 0.006 * np.abs(_ridge(54, 0.1))
    layers: tuple[tuple[AnyFloat, Colour, float, int], ...] = (
        (far, (120, 148, 172), 0.45, 61),
        (near, (104, 138, 112), 0.25, 62),
        (trees, (66, 96, 58), 0.08, 63),
    )
    for top, colour, veil, seed in layers:
        grain = make_noise(128, WIDTH, 0.8, seed)[: np.count_nonzero(elevation < 0.3)]
        low = len(elevation) - len(grain)
        paint = as_colour(colour) * (1.0 + 0.07 * grain[..., None]) * (1.0 - veil) + as_colour(haze) * veil
        mist = 0.6 * np.exp(-elevation[low:, None, None] / 0.012)
        paint += (as_colour(haze) - paint) * mist.astype(np.float32)
        edge = np.clip((top[None, :] - elevation[low:, None]) / (math.pi / HEIGHT) + 0.5, 0.0, 1.0)[..., None]
        sky[low:] += (paint - sky[low:]) * edge.astype(np.float32)


def _ridge(seed: int, exponent: float) -> AnyFloat:
    ridge: AnyFloat = make_noise(8, WIDTH, exponent, seed, finest=4.0)[0]
    return ridge
