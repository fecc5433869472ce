"""Other colours and other surfaces on a drawn picture: for each class of things a colour matrix and a pattern.

Fog is taken off before and put on again, so things change their colour as if they had been painted so. The pattern
lies on the ground, in the world's frame; a car drives over it. All of it is computed, so no picture is loaded.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel
from donkeysim.render.kernels.shade import FOG_POWER, clear_view, pack_colour
from donkeysim.world.scene import CLASS_SKY

LOOK_MATRIX, LOOK_OFFSET, LOOK_IS_ON, LOOK_PATCHES, LOOK_SCALE, LOOK_SEED = 0, 9, 12, 13, 14, 15
"""Columns of a class's look: colour matrix by rows (9), what is added, 0 to 255 (3), whether anything differs,
strength of the pattern, patches per metre, and a whole number below 2^24 that gives them their shape."""
LOOK_WIDTH = 16


@inner_pixel_kernel
def hash_corner(x, y, seed):
    """Return a number in [0, 1) for a corner of the pattern's grid (finaliser of MurmurHash3, Appleby)."""
    h = np.uint32(np.uint32(x) * np.uint32(0x9E3779B1)) ^ np.uint32(np.uint32(y) * np.uint32(0x85EBCA77)) ^ seed
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    h = np.uint32(h ^ np.uint32(h >> np.uint32(16)))
    return np.float32(np.int32(np.uint32(h >> np.uint32(8)))) * np.float32(1.0 / 16777216.0)


@inner_pixel_kernel
def sample_patches(x, y, seed):
    """Return smooth noise from -1 to 1 at a point, one patch wide 1."""
    column, row = np.floor(x), np.floor(y)
    i, j = np.int32(column), np.int32(row)
    fx, fy = np.float32(x - column), np.float32(y - row)
    two, three = np.float32(2.0), np.float32(3.0)
    fx = fx * fx * (three - two * fx)
    fy = fy * fy * (three - two * fy)
    a = hash_corner(i, j, seed)
    b = hash_corner(np.int32(i + 1), j, seed)
    c = hash_corner(i, np.int32(j + 1), seed)
    d = hash_corner(np.int32(i + 1), np.int32(j + 1), seed)
    low = a + (b - a) * fx
    return two * (low + (c + (d - c) * fx - low) * fy) - np.float32(1.0)


@inner_pixel_kernel
def measure_patches(look, x, y, w, camera):
    """Return the factor of a surface's pattern where the pixel (x, y) sees it, at depth w [m]; far off it fades."""
    eye, axes, focal, sides, _, _ = camera
    half = np.float32(0.5)
    across = (x + half - half * sides[0]) / focal
    below = (y + half - half * sides[1]) / focal
    px = eye[0] + w * (axes[6] + across * axes[0] + below * axes[3])
    py = eye[1] + w * (axes[7] + across * axes[1] + below * axes[4])
    scale = look[LOOK_SCALE]
    seed = np.uint32(np.int32(look[LOOK_SEED]))
    # How many patches a pixel sees one behind the other: a flat look at the ground stretches it.
    seen = w * w * scale / (focal * max(abs(eye[2]), np.float32(0.02)))
    fade = max(np.float32(1.0) - seen, np.float32(0.0))
    value = sample_patches(px * scale, py * scale, seed)
    finer = sample_patches(np.float32(3.1) * px * scale, np.float32(3.1) * py * scale, np.uint32(seed + np.uint32(1)))
    return np.float32(1.0) + look[LOOK_PATCHES] * fade * (np.float32(0.7) * value + np.float32(0.3) * finer)


@inline_kernel
def limit_shade(value):
    """Return a colour value within 0 to 255."""
    return min(max(value, np.float32(0.0)), np.float32(255.0))


@inner_pixel_kernel
def recolour_pixels(size, looks, light, camera, classes, depth, colour):
    """Change the colours of all pixels by the look of what they show.

    Args:
        size: Columns, rows, pixels from one row to the next.
        looks: Of each class, shape [class_count, LOOK_WIDTH].
        light: Haze in columns 6 to 8, fog density in column 9.
        camera: Eye, axes, focal length, sides, far plane, sun.
        classes: Of each pixel, shape [height, width].
        depth: 1/w of each pixel. colour: Packed; written.
    """
    width, height, stride = size
    low = np.uint32(0xFF)
    one = np.float32(1.0)
    rate = light[9] * np.float32(1.0 / FOG_POWER)
    for row in range(height):
        for column in range(width):
            kind = classes[row, column]
            look = looks[kind]
            if look[LOOK_IS_ON] == np.float32(0.0):
                continue
            at = row * stride + column
            word = colour[at]
            w = one / max(depth[at], np.float32(1e-9))
            clear = one if kind == CLASS_SKY else clear_view(rate, w)
            haze = one - clear
            r = np.float32(np.int32(word & low)) - haze * light[6]
            g = np.float32(np.int32((word >> np.uint32(8)) & low)) - haze * light[7]
            b = np.float32(np.int32((word >> np.uint32(16)) & low)) - haze * light[8]
            shade = one
            if look[LOOK_PATCHES] > np.float32(0.0):
                shade = measure_patches(look, np.float32(column), np.float32(row), w, camera)
            red = (look[0] * r + look[1] * g + look[2] * b + look[9] * clear) * shade + haze * light[6]
            green = (look[3] * r + look[4] * g + look[5] * b + look[10] * clear) * shade + haze * light[7]
            blue = (look[6] * r + look[7] * g + look[8] * b + look[11] * clear) * shade + haze * light[8]
            half = np.float32(0.5)
            colour[at] = pack_colour(limit_shade(red + half), limit_shade(green + half), limit_shade(blue + half))
