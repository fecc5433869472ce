"""Pictures made by computation: the same bytes on every run. All are [height, width, 4], sRGB and alpha, and tile."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from donkeysim.core.types import ByteArray, Float32Array

Colour: TypeAlias = tuple[float, float, float]
AnyFloat: TypeAlias = npt.NDArray[np.floating[Any]]

GRASS_SIZE = 512
"""Texels per side of the grass tile."""


def as_colour(colour: Colour) -> Float32Array:
    """Return a colour as an array, shape [3]."""
    return np.array(colour, np.float32)


def make_noise(
    height: int, width: int, exponent: float, seed: int, *, finest: float = 2.0, coarsest: float = 0.0
) -> Float32Array:
    """Return periodic noise of mean 0 and standard deviation 1 whose amplitude falls with frequency.

    Args:
        height: Rows.
        width: Columns.
        exponent: Amplitude goes as wavelength to this power; 0 is white, 1 cloudy, 2 smooth.
        seed: Of the random numbers.
        finest: Wavelengths below it are faded out [texel].
        coarsest: Wavelengths above it are left out [texel]; 0: none.
    """
    white = np.random.default_rng(seed).standard_normal((height, width), dtype=np.float32)
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :])
    frequency[0, 0] = 1.0
    gain = frequency**-exponent * np.exp(-((frequency * finest) ** 2))
    if coarsest > 0.0:
        gain *= 1.0 - np.exp(-((frequency * coarsest) ** 2))
    gain[0, 0] = 0.0
    noise = np.fft.irfft2(np.fft.rfft2(white) * gain, s=(height, width))
    return np.asarray(noise / noise.std(), np.float32)


def blend_colours(weight: AnyFloat, stops: tuple[tuple[float, Colour], ...]) -> Float32Array:
    """Return colours, shape [..., 3], interpolated along (value, colour) stops."""
    at = [stop for stop, _ in stops]
    return np.stack([np.interp(weight, at, [colour[c] for _, colour in stops]) for c in range(3)], axis=-1).astype(
        np.float32
    )


def grade_noise(noise: AnyFloat, *colours: Colour) -> Float32Array:
    """Return colours, shape [..., 3], of noise of about standard deviation 1: the darkest, three more, the lightest."""
    return blend_colours(noise, tuple(zip((-2.2, -0.8, 0.0, 0.9, 2.2), colours, strict=True)))


def to_texture(colour: AnyFloat) -> ByteArray:
    """Return texels for colours 0 to 255, shape [height, width, 3], or [height, width, 4] with alpha."""
    texture = np.full((*colour.shape[:2], 4), 255, np.uint8)
    texture[..., : colour.shape[2]] = np.clip(colour + 0.5, 0.0, 255.0)
    return texture


@lru_cache(maxsize=4)
def make_grass(size: int = GRASS_SIZE) -> ByteArray:
    """Return mown grass seen from above, with clover and dry patches."""
    broad = make_noise(size, size, 1.6, 11, finest=14.0, coarsest=260.0)
    blades = make_noise(size, size, 0.35, 12, finest=1.7)
    tufts = make_noise(size, size, 1.0, 13, finest=4.0, coarsest=60.0)
    shades = ((44, 74, 30), (70, 108, 42), (90, 130, 50), (116, 150, 60), (154, 172, 84))
    colour = grade_noise(0.36 * broad + 0.34 * tufts + 0.42 * blades, *shades)
    dry = np.clip(make_noise(size, size, 1.4, 14, finest=9.0, coarsest=200.0) - 0.9, 0.0, 1.5)[..., None] * 0.35
    colour = colour * (1.0 - dry) + as_colour((168, 158, 96)) * dry
    clover = np.clip(make_noise(size, size, 1.4, 15, finest=9.0, coarsest=160.0) - 1.0, 0.0, 1.0)[..., None] * 0.5
    colour = colour * (1.0 - clover) + as_colour((58, 112, 50)) * clover
    return to_texture(colour)


@lru_cache(maxsize=4)
def make_plain(size: int = 512) -> ByteArray:
    """Return a grey test floor: a grid of fine lines on quiet concrete, 16 squares a side."""
    colour = 168.0 + 5.0 * make_noise(size, size, 0.8, 21)
    square = size // 16
    index = np.arange(size)
    thin = index % square < 2
    bold = index % (4 * square) < 4
    board = ((index // square)[:, None] + (index // square)[None, :]) % 2
    colour = colour - 10.0 * board
    colour[thin, :] -= 24.0
    colour[:, thin] -= 24.0
    colour[bold, :] -= 30.0
    colour[:, bold] -= 30.0
    return to_texture(np.repeat(colour[..., None], 3, axis=2) * as_colour((0.97, 1.0, 1.03)))


def make_foliage(base: Colour, light: Colour, leaf: float, seed: int, size: int = 512) -> ByteArray:
    """Return clumps of leaves, dark below and sunlit above (v = 0 is the top of a crown).

    Args:
        base: Colour in the shade, 0 to 255.
        light: Colour in the sun.
        leaf: Size of a clump [texel].
        seed: Of the random numbers.
        size: Texels per side.
    """
    random = np.random.default_rng(seed)
    height = 1.0 - np.arange(size) / (size - 1)
    ground = (0.6 + 0.35 * height[:, None, None]) * as_colour(base)
    picture = Image.fromarray(np.broadcast_to(ground, (size, size, 3)).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    x, y, spread, tone = random.random((4, int(3.0 * size * size / (leaf * leaf))))
    mix = np.clip(0.3 + 0.5 * (tone - 0.5) + 0.75 * (0.67 - y), 0.0, 1.0)[:, None]
    colour = ((1.0 - 0.28 * y[:, None]) * (as_colour(base) * (1.0 - mix) + as_colour(light) * mix)).astype(int)
    radius = leaf * (0.35 + 0.45 * spread)
    for left, top, reach, fill in zip(
        (x * size).tolist(), (y * size).tolist(), radius.tolist(), colour.tolist(), strict=True
    ):
        for middle in (left, left - size) if left + reach > size else (left,):
            draw.ellipse((middle - reach, top - 0.7 * reach, middle + reach, top + 0.7 * reach), fill=tuple(fill))
    noise = 1.0 + 0.05 * make_noise(size, size, 0.3, seed + 1)
    return to_texture(np.asarray(picture, np.float32) * noise[..., None])


def make_bark(size: int = 128) -> ByteArray:
    """Return bark with furrows along v."""
    random = make_noise(size * 4, size, 1.0, 31, finest=2.0)[::4]
    colour = blend_colours(random, ((-2.0, (52, 38, 28)), (0.0, (92, 70, 52)), (2.0, (134, 110, 86))))
    return to_texture(colour)


def make_cone_stripes(size: int = 64) -> ByteArray:
    """Return a traffic cone unrolled: orange with two white bands, v = 0 at the tip."""
    v = np.arange(size) / size
    colour = np.tile(as_colour((242, 98, 24)), (size, size, 1))
    colour[((v > 0.22) & (v < 0.40)) | ((v > 0.58) & (v < 0.76))] = (244, 242, 238)
    colour *= (1.0 - 0.16 * np.clip(v - 0.75, 0.0, 1.0) * 4.0)[:, None, None].astype(np.float32)
    return to_texture(colour)


def make_cone_skin(size: int = 64) -> ByteArray:
    """Return a plain cone unrolled: dark red, paler towards the tip (v = 0), dusty at the foot."""
    v = (np.arange(size) + 0.5) / size
    skin = blend_colours(
        v, ((0.0, (206, 108, 106)), (0.5, (188, 98, 100)), (0.85, (170, 96, 98)), (1.0, (138, 98, 96)))
    )
    return to_texture(skin[:, None] * (1.0 + 0.03 * make_noise(size, size, 0.8, 161)[..., None]))


def make_wheel_face(size: int = 64) -> ByteArray:
    """Return a wheel seen along its axle: tyre, bright rim with five spokes, hub."""
    y, x = (np.mgrid[0:size, 0:size] + 0.5) / size * 2.0 - 1.0
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    colour = np.tile(as_colour((30, 30, 32)), (size, size, 1))
    colour[(radius > 0.70) & (radius < 0.76)] = (58, 58, 60)
    rim = radius < 0.66
    colour[rim] = (38, 40, 44)
    spoke = rim & (np.abs((angle / (2.0 * math.pi) * 5.0) % 1.0 - 0.5) < 0.06 + 0.10 * (0.7 - radius))
    colour[spoke | (rim & (radius > 0.56)) | (radius < 0.2)] = (206, 208, 212)
    colour[radius < 0.09] = (60, 60, 64)
    return to_texture(colour)


def make_banner(text: str, width: int = 512, height: int = 64) -> ByteArray:
    """Return white letters on dark cloth between two chequered ends."""
    picture = Image.new("RGB", (width, height), (26, 32, 44))
    draw = ImageDraw.Draw(picture)
    square = height // 4
    for row in range(4):
        for column in range(6):
            tone = (240, 240, 236) if (row + column) % 2 else (18, 18, 20)
            for left in (column * square, width - (column + 1) * square):
                draw.rectangle((left, row * square, left + square - 1, (row + 1) * square - 1), fill=tone)
    font = ImageFont.load_default(size=0.72 * height)
    draw.text((width / 2, height / 2), text, fill=(250, 214, 60), font=font, anchor="mm", stroke_width=1)
    return to_texture(np.asarray(picture, np.float32))
