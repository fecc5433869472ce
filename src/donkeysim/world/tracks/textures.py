"""Pictures made by computation: the same bytes on every run. All are [height, width, 4], sRGB and alpha, and tile."""

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

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


BAND_ROWS = 32
"""Rows of a picture that are worked on at a time: a few hundred kilobytes stay in the cache, whole pictures do not."""


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
    for top in range(0, len(colour), BAND_ROWS):
        band = colour[top : top + BAND_ROWS] + 0.5
        texture[top : top + BAND_ROWS, :, : colour.shape[2]] = np.clip(band, 0.0, 255.0, out=band)
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
