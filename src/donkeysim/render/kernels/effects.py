"""What a real camera does to a finished picture: blur, shading, exposure, noise. One picture at a time, in bytes.

Noise is a function of a picture's own number and the place of the value, so it does not depend on how many pictures
there are or which thread draws them. Four random bytes add up to a value that is normal enough (Irwin–Hall). Loops run
over whole rows of values, red, green and blue one after another, so that they run on vectors.
"""

import math
from typing import NamedTuple

import numpy as np

from donkeysim.core.kernel import inner_kernel, kernel, span_kernel
from donkeysim.core.types import ByteArray, Float32Array, LongArray, WordArray
from donkeysim.core.workers import take_row

BLUR_REACH = 16
"""Farthest pixel that a blur takes in; twice the greatest standard deviation."""

# A neighbour would get e^-200 of a pixel's light.
LEAST_BLUR = np.float32(0.05)
"""A blur narrower than this changes nothing [pixel]."""

# Four bytes, each evenly 0 to 255: the root of 4 (256² - 1) / 12.
NOISE_SPREAD = np.float32(1.0 / 147.8)
"""One over the standard deviation of the sum of four random bytes."""


class EffectColumns(NamedTuple):
    """What is done to a picture."""

    blur: int = 0  # Standard deviation [pixel]
    gain: int = 1  # Of all values
    noise: int = 2  # Standard deviation [grey level]
    vignette: int = 3  # Share of the light lost in the corners
    balance: int = 4  # Gains of red, green, blue
    flicker: int = 7  # Of bands, share of the light
    bands: int = 8  # From top to bottom
    shutter: int = 9  # [s]; of a camera: columns that it turns by in that time at 1 rad/s [pixel s/rad]
    grey: int = 10  # Whether it is


EFFECT = EffectColumns()
EFFECT_WIDTH = 11


@inner_kernel(loose=True)
def draw_noise(number, place):
    """Return a number of mean 0 and standard deviation 1 for a place, hashed by MurmurHash3's finaliser (Appleby)."""
    h = np.uint32(number ^ np.uint32(place * np.uint32(0x9E3779B1)))
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    h = np.uint32(h ^ np.uint32(h >> np.uint32(16)))
    pair = np.uint32(0xFF00FF)
    total = np.uint32(np.uint32(h & pair) + np.uint32(np.uint32(h >> np.uint32(8)) & pair))
    total = np.uint32(np.uint32(total & np.uint32(0xFFFF)) + np.uint32(total >> np.uint32(16)))
    return (np.float32(np.int32(total)) - np.float32(510.0)) * NOISE_SPREAD


@inner_kernel(loose=True, merged=True)
def make_byte(value):
    """Return a value as the nearest whole number from 0 to 255."""
    return np.uint8(np.int32(min(max(value + np.float32(0.5), np.float32(0.0)), np.float32(255.0))))


@span_kernel
def load_row(count, source, target):
    """Write bytes as numbers."""
    for k in range(count):
        target[k] = np.float32(np.int32(source[k]))


@span_kernel
def weigh_row(count, weight, source, target):
    """Write a row times a weight."""
    for k in range(count):
        target[k] = weight * source[k]


@span_kernel
def add_rows(count, weight, before, after, target):
    """Add two rows times a weight."""
    for k in range(count):
        target[k] += weight * (before[k] + after[k])


@inner_kernel(loose=True)
def is_shaded(effect):
    """Return whether vignette, balance or flicker change anything."""
    one = np.float32(1.0)
    tinted = effect[EFFECT.balance] != one or effect[EFFECT.balance + 1] != one or effect[EFFECT.balance + 2] != one
    return tinted or effect[EFFECT.vignette] > np.float32(0.0) or effect[EFFECT.flicker] > np.float32(0.0)


@inner_kernel(loose=True)
def measure_off_middle(index, count):
    """Return half the square of how far a row or column is from the middle, whose edge is 1 away."""
    share = (np.float32(np.int32(index)) + np.float32(0.5)) / np.float32(np.int32(count))
    away = np.float32(2.0) * share - np.float32(1.0)
    return np.float32(0.5) * away * away


@inner_kernel(loose=True)
def find_band(effect, number, row, rows):
    """Return the light of a row under lamps that flicker; where bands lie follows from the picture's number."""
    along = np.float32(np.int32(row)) / np.float32(np.int32(rows))
    start = np.float32(np.int32(np.uint32(number >> np.uint32(8)))) * np.float32(1.0 / (1 << 24))
    turn = np.float32(2.0 * math.pi) * (effect[EFFECT.bands] * along + start)
    return np.float32(1.0) + effect[EFFECT.flicker] * np.float32(math.sin(turn))


@inner_kernel(loose=True)
def widen_blur(effect, turn):
    """Return the standard deviation of the blur along rows: that of the lens, and of a camera that turns [pixel].

    Args:
        effect: Columns EFFECT of a camera.
        turn: Its car's yaw rate [rad/s].
    """
    # A point that moves evenly along a line of length 1 has the variance 1/12.
    moved = effect[EFFECT.shutter] * turn
    return np.float32(math.sqrt(effect[EFFECT.blur] * effect[EFFECT.blur] + moved * moved * np.float32(1.0 / 12.0)))


@span_kernel
def shade_row(count, light, band, tint, edge, values):
    """Multiply a row's values by `light` times their tint less `band` times what is lost towards the sides."""
    for k in range(count):
        values[k] *= light * tint[k] - band * edge[k]


@inner_kernel(loose=True)
def write_shades(effect, shade):
    """Write what `shade_row` needs of each value of a row: its tint, and what of that is lost towards the sides."""
    width = shade.shape[1] // 3
    for k in range(width):
        lost = effect[EFFECT.vignette] * measure_off_middle(k, width)
        for channel in range(3):
            tint = effect[EFFECT.balance + channel]
            shade[0, 3 * k + channel], shade[1, 3 * k + channel] = tint, tint * lost


@span_kernel
def expose_row(count, gain, source, target):
    """Write values times a gain as bytes."""
    for k in range(count):
        target[k] = make_byte(source[k] * gain)


@span_kernel
def roughen_row(count, gain, noise, number, place, source, target):
    """Write values times a gain, with noise, as bytes; `place` is that of the first."""
    for k in range(count):
        target[k] = make_byte(source[k] * gain + noise * draw_noise(number, np.uint32(place + np.uint32(k))))


@span_kernel
def roughen_grey(count, gain, noise, number, place, source, target):
    """Write pixels, whose channels are alike, times a gain, with noise, as bytes."""
    # One draw for all three channels: a grey picture stays grey.
    for k in range(count):
        value = make_byte(source[3 * k] * gain + noise * draw_noise(number, np.uint32(place + np.uint32(k))))
        target[3 * k] = value
        target[3 * k + 1] = value
        target[3 * k + 2] = value


@inner_kernel(loose=True)
def weigh_blur(sigma, weight):
    """Write the weights of a Gaussian blur [pixel], the middle first; return how many there are."""
    reach = min(np.int64(math.ceil(np.float32(2.5) * sigma)), BLUR_REACH)
    total = np.float32(0.0)
    for k in range(reach + 1):
        share = np.float32(np.int32(k)) / sigma
        weight[k] = math.exp(np.float32(-0.5) * share * share)
        total += weight[k] if k == 0 else np.float32(2.0) * weight[k]
    for k in range(reach + 1):
        weight[k] /= total
    return reach + 1


@inner_kernel(loose=True)
def blur_row(width, weight, taps, wide, target):
    """Blur a row along itself.

    Args:
        width: Values.
        weight: As `weigh_blur`.
        taps: How many weights.
        wide: The row's values behind room for `BLUR_REACH` pixels, and more room; the room is written.
        target: Written.
    """
    # Beyond its edge the picture continues in the colour of the edge: written out once, and all taps are whole rows.
    first = 3 * BLUR_REACH
    for k in range(1, taps):
        for channel in range(3):
            wide[first - 3 * k + channel] = wide[first + channel]
            wide[first + width + 3 * (k - 1) + channel] = wide[first + width - 3 + channel]
    weigh_row(width, weight[0], wide[first:], target)
    for k in range(1, taps):
        add_rows(width, weight[k], wide[first - 3 * k :], wide[first + 3 * k :], target)


@inner_kernel(loose=True)
def load_picture(picture, weight, taps, wide, soft):
    """Write a picture's values into `soft`, blurred along its rows when there are weights."""
    for row in range(picture.shape[0]):
        if taps == 0:
            load_row(picture.shape[1], picture[row], soft[row])
        else:
            load_row(picture.shape[1], picture[row], wide[3 * BLUR_REACH :])
            blur_row(picture.shape[1], weight, taps, wide, soft[row])


@inner_kernel(loose=True, merged=True)
def finish_picture(row, view, effect, number, turn, picture, wide, soft, weight, shade):
    """Blur, shade, expose and roughen the picture of one row; see `finish_pictures`."""
    height, width = picture.shape[1], picture.shape[2]
    blur, gain, noise = effect[row, EFFECT.blur], effect[row, EFFECT.gain], effect[row, EFFECT.noise]
    along, shaded = widen_blur(effect[row], turn[row]), is_shaded(effect[row])
    if along <= LEAST_BLUR and gain == np.float32(1.0) and noise <= np.float32(0.0) and not shaded:
        return
    taps = weigh_blur(along, weight) if along > LEAST_BLUR else np.int64(0)
    load_picture(picture[row], weight, taps, wide, soft)
    taps = weigh_blur(blur, weight) if blur > LEAST_BLUR else np.int64(0)
    if shaded:
        write_shades(effect[row], shade)
    for y in range(height):
        line = soft[y]
        if taps > 0:
            # Rows are blurred already; a row of `soft` stays as it is, for its neighbours below still need it.
            line = wide[:width]
            weigh_row(width, weight[0], soft[y], line)
            for k in range(1, taps):
                add_rows(width, weight[k], soft[max(y - k, 0)], soft[min(y + k, height - 1)], line)
        if shaded:
            band = find_band(effect[row], number[row], view[0] + y, view[1])
            light = band * (np.float32(1.0) - effect[row, EFFECT.vignette] * measure_off_middle(view[0] + y, view[1]))
            shade_row(width, light, band, shade[0], shade[1], line)
        if noise <= np.float32(0.0):
            expose_row(width, gain, line, picture[row, y])
        elif effect[row, EFFECT.grey] != np.float32(0.0):
            roughen_grey(width // 3, gain, noise, number[row], np.uint32(y * width), line, picture[row, y])
        else:
            roughen_row(width, gain, noise, number[row], np.uint32(y * width), line, picture[row, y])


@kernel(loose=True)
def finish_pictures(
    next_row: LongArray,
    end: int,
    view: tuple[int, int],
    effect: Float32Array,
    number: WordArray,
    turn: Float32Array,
    picture: ByteArray,
    wide: Float32Array,
    soft: Float32Array,
    weight: Float32Array,
    shade: Float32Array,
) -> None:
    """Blur, shade, expose and roughen the pictures [next_row[0], end), those that no other thread takes.

    Args:
        next_row: See `take_row`.
        end: One behind the last.
        view: Rows cut off above, and rows that a picture would have if none were cut off.
        effect: Columns EFFECT, shape [camera_count, EFFECT_WIDTH].
        number: Of each picture, its random numbers' start, shape [camera_count].
        turn: Yaw rate of each camera's car [rad/s], shape [camera_count].
        picture: Read and written, shape [camera_count, height, 3 * width].
        wide: Working memory, shape [3 * (width + 2 * BLUR_REACH)].
        soft: The same, shape [height, 3 * width].
        weight: Working memory, shape [BLUR_REACH + 1].
        shade: The same, shape [2, 3 * width].
    """
    while True:
        row = take_row(next_row)
        if row >= end:
            return
        finish_picture(row, view, effect, number, turn, picture, wide, soft, weight, shade)
