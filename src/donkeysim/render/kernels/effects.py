"""What a real camera does to a finished picture: blur, exposure, noise. One picture at a time, in bytes.

Noise is a function of a picture's own number and the place of the pixel, so it does not depend on how many pictures
there are or which thread draws them. Four random bytes add up to a value that is normal enough (Irwin–Hall).
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel, pixel_kernel, take_row

BLUR_REACH = 16
"""Farthest pixel that a blur takes in; twice the greatest standard deviation."""

NOISE_SPREAD = np.float32(1.0 / 147.8)
"""One over the standard deviation of the sum of four random bytes."""


@inner_pixel_kernel
def hash_place(number, place):
    """Return 32 random bits for a place of a picture (finaliser of MurmurHash3, Appleby, twice)."""
    h = np.uint32(number ^ np.uint32(np.uint32(place) * np.uint32(0x9E3779B1)))
    for _ in range(2):
        h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        h = np.uint32(h ^ np.uint32(h >> np.uint32(16)))
    return h


@inline_kernel
def draw_noise(number, place):
    """Return a number of mean 0 and standard deviation 1 for a place of a picture."""
    h = hash_place(number, place)
    low = np.uint32(0xFF)
    total = np.uint32(np.uint32(h & low) + np.uint32((h >> np.uint32(8)) & low))
    total = np.uint32(total + np.uint32(np.uint32((h >> np.uint32(16)) & low) + np.uint32(h >> np.uint32(24))))
    return (np.float32(np.int32(total)) - np.float32(510.0)) * NOISE_SPREAD


@inner_pixel_kernel
def weigh_blur(sigma, weight):
    """Write the weights of a Gaussian blur [pixel], the middle first; return how many there are."""
    reach = min(np.int64(np.ceil(np.float32(2.5) * sigma)), BLUR_REACH)
    total = np.float32(0.0)
    for k in range(reach + 1):
        share = np.float32(np.int32(k)) / sigma
        weight[k] = np.exp(np.float32(-0.5) * share * share)
        total += weight[k] if k == 0 else np.float32(2.0) * weight[k]
    for k in range(reach + 1):
        weight[k] /= total
    return reach + 1


@inner_pixel_kernel
def blur_rows(source, weight, count, target):
    """Blur along rows and write the result, columns as rows, so that a second call blurs along the columns.

    Args:
        source: Shape [height, width, 3].
        weight: As `weigh_blur`; count: how many.
        target: Written, shape [width, height, 3].
    """
    height, width = source.shape[0], source.shape[1]
    for row in range(height):
        for column in range(width):
            for channel in range(3):
                value = weight[0] * np.float32(source[row, column, channel])
                for k in range(1, count):
                    before, after = max(column - k, 0), min(column + k, width - 1)
                    value += weight[k] * (
                        np.float32(source[row, before, channel]) + np.float32(source[row, after, channel])
                    )
                target[column, row, channel] = value


@pixel_kernel
def finish_pictures(turn, end, effect, number, picture, across, along, weight):
    """Blur, expose and roughen the pictures [turn[0], end), those that no other thread takes.

    Args:
        turn: See `take_row`. end: One behind the last.
        effect: Blur [pixel], factor of all values, noise [grey level], whether grey; shape [camera_count, 4].
        number: Of each picture, its random numbers' start, shape [camera_count].
        picture: Read and written, shape [camera_count, height, width, 3].
        across: Working memory, shape [width, height, 3]. along: The same, shape [height, width, 3].
        weight: Working memory, shape [BLUR_REACH + 1].
    """
    height, width = picture.shape[1], picture.shape[2]
    while True:
        row = take_row(turn)
        if row >= end:
            return
        blur, gain, noise, is_grey = effect[row, 0], effect[row, 1], effect[row, 2], effect[row, 3]
        if blur > np.float32(0.05):
            count = weigh_blur(blur, weight)
            blur_rows(picture[row], weight, count, across)
            blur_rows(across, weight, count, along)
        elif gain != np.float32(1.0) or noise > np.float32(0.0):
            for y in range(height):
                for x in range(width):
                    for channel in range(3):
                        along[y, x, channel] = np.float32(picture[row, y, x, channel])
        else:
            continue
        for y in range(height):
            for x in range(width):
                for channel in range(3):
                    place = 3 * (y * width + x) + (0 if is_grey != np.float32(0.0) else channel)
                    value = along[y, x, channel] * gain
                    if noise > np.float32(0.0):
                        value += noise * draw_noise(number[row], place)
                    value = min(max(value + np.float32(0.5), np.float32(0.0)), np.float32(255.0))
                    picture[row, y, x, channel] = np.uint8(np.int32(value))
