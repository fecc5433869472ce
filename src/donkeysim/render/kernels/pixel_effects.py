"""What a real camera does to finished pictures, pixel by pixel: the formulas of `effects` for many threads.

There rows go through working memory of one thread; here each pixel is an index, and what one stage leaves for the next
lies in tables of all pictures.
"""

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.types import ByteArray, Float32Array, IntArray, LongArray, WordArray
from donkeysim.render.kernels.effects import (
    EFFECT,
    LEAST_BLUR,
    draw_noise,
    find_band,
    make_byte,
    measure_off_middle,
    weigh_blur,
    widen_blur,
)


@index_kernel(loose=True)
def weigh_camera(
    camera: int, car: IntArray, turn: Float32Array, effect: Float32Array, weight: Float32Array, taps: LongArray
) -> None:
    """Write the weights of a camera's blur along rows and along columns, none where there is no blur.

    Args:
        car: Of each camera, shape [camera_count].
        turn: Yaw rate of each car [rad/s], shape [car_count].
        effect: Columns EFFECT, shape [camera_count, EFFECT_WIDTH].
        weight: The middle first, written, shape [camera_count, 2, BLUR_REACH + 1].
        taps: How many there are, written, shape [camera_count, 2].
    """
    along, blur = widen_blur(effect[camera], turn[car[camera]]), effect[camera, EFFECT.blur]
    taps[camera, 0] = weigh_blur(along, weight[camera, 0]) if along > LEAST_BLUR else np.int64(0)
    taps[camera, 1] = weigh_blur(blur, weight[camera, 1]) if blur > LEAST_BLUR else np.int64(0)


@index_kernel(loose=True)
def blur_pixel(
    pixel: int,
    first: int,
    sizes: tuple[int, int, int],
    weight: Float32Array,
    taps: LongArray,
    picture: ByteArray,
    soft: Float32Array,
) -> None:
    """Write what a pixel shows when its picture is blurred along its rows.

    Args:
        pixel: Of all pictures from the first one on.
        first: Camera of the first picture.
        sizes: Rows, columns, channels.
        weight, taps: As `weigh_camera` writes them.
        picture: Bytes, shape [camera_count, values].
        soft: Written, shape [at least as many pictures, values].
    """
    rows, columns, channels = sizes
    here = pixel // (rows * columns)
    place, camera = pixel - here * (rows * columns), first + here
    column = place % columns
    begin = (place - column) * channels
    for channel in range(begin, begin + channels):
        total = np.float32(picture[camera, channel + column * channels])
        if taps[camera, 0] > 0:
            total *= weight[camera, 0, 0]
        for k in range(1, taps[camera, 0]):
            # Beyond its edge the picture continues in the colour of the edge.
            before = np.float32(picture[camera, channel + max(column - k, 0) * channels])
            after = np.float32(picture[camera, channel + min(column + k, columns - 1) * channels])
            total += weight[camera, 0, k] * (before + after)
        soft[here, channel + column * channels] = total


@inner_kernel(loose=True)
def blur_column(row, rows, stride, at, count, weight, picture):
    """Return a value blurred along its column.

    Args:
        row: The value's.
        rows: How many there are.
        stride: Values from one row to the next.
        at: Place of the value.
        count: Weights, 0: it stays as it is.
        weight: The middle first.
        picture: Values of one picture.
    """
    total = np.float32(picture[at])
    if count > 0:
        total *= weight[0]
    for k in range(1, count):
        above = np.float32(picture[at - min(k, row) * stride])
        below = np.float32(picture[at + min(k, rows - 1 - row) * stride])
        total += weight[k] * (above + below)
    return total


@inner_kernel(loose=True)
def find_light(effect, number, view, row, column, columns):
    """Return the light of a pixel, of all channels, by vignette and flicker; see `effects.shade_row`."""
    lost = measure_off_middle(view[0] + row, view[1]) + measure_off_middle(column, columns)
    return find_band(effect, number, view[0] + row, view[1]) * (np.float32(1.0) - effect[EFFECT.vignette] * lost)


@index_kernel(loose=True)
def expose_pixel(
    pixel: int,
    base: int,
    first: int,
    sizes: tuple[int, int, int],
    view: tuple[int, int],
    effect: Float32Array,
    number: WordArray,
    weight: Float32Array,
    taps: LongArray,
    source: ByteArray | Float32Array,
    target: ByteArray,
) -> None:
    """Write a pixel blurred along its column, shaded, times its camera's gain, with noise.

    Args:
        pixel: Of all pictures from the first one on.
        base: Camera of the first row of `source`.
        first: Camera of the first picture.
        sizes: Rows, columns, channels.
        view: Rows cut off above, and rows that a picture would have if none were cut off.
        effect: Columns EFFECT, shape [camera_count, EFFECT_WIDTH].
        number: What each picture's noise begins with, shape [camera_count].
        weight, taps: As `weigh_camera` writes them.
        source: Pictures, or what `blur_pixel` has written, shape [row_count, values].
        target: Written, shape [camera_count, values].
    """
    rows, columns, channels = sizes
    here = pixel // (rows * columns)
    place, camera = pixel - here * (rows * columns), first + here
    row, column = place // columns, place % columns
    gain, noise = effect[camera, EFFECT.gain], effect[camera, EFFECT.noise]
    is_grey = channels == 1 or effect[camera, EFFECT.grey] != np.float32(0.0)
    stride, count = columns * channels, taps[camera, 1]
    light = find_light(effect[camera], number[camera], view, row, column, columns)
    for channel in range(channels):
        at = row * stride + column * channels + channel
        value = blur_column(row, rows, stride, at, count, weight[camera, 1], source[camera - base])
        value *= light * effect[camera, EFFECT.balance + channel] * gain
        if noise > np.float32(0.0):
            # Where the numbers lie is as in a picture of three channels; a grey one has one draw for all three.
            spot = row * columns * 3 + (column if is_grey else column * 3 + channel)
            value += noise * draw_noise(number[camera], np.uint32(spot))
        target[camera, at] = make_byte(value)


@index_kernel(loose=True)
def number_camera(camera: int, car: IntArray, number: WordArray, own: WordArray, written: WordArray) -> None:
    """Write what the noise of a camera's next picture begins with.

    Args:
        car: Of each camera, shape [camera_count].
        number: Of each car, see `vary.number_picture`, shape [car_count].
        own: By which the noise of a second camera differs from the first one's, shape [camera_count].
        written: The camera's is written, shape [camera_count].
    """
    written[camera] = np.uint32(number[car[camera]] ^ own[camera])
