"""Other colours and other surfaces on a drawn picture: for each class of things a colour matrix and a pattern.

Fog is taken off before and put on again, so things change their colour as if they had been painted so. The pattern
lies on the ground, in the world's frame; a car drives over it. All of it is computed, so no picture is loaded.
"""

from typing import NamedTuple

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.fog import clear_view, find_fog_rate, pack_colour
from donkeysim.render.kernels.layout import CLASS_MAP, INTEGER, LIGHT, SIZE_LOG, VIEW
from donkeysim.render.kernels.vector import read_planes, read_vector, round_down


class LookColumns(NamedTuple):
    """How the colours of a class change."""

    matrix: int = 0  # By rows, 9 columns
    offset: int = 9  # What is added, 0 to 255, 3 columns
    is_on: int = 12  # Whether anything differs
    patches: int = 13  # Strength of the pattern
    scale: int = 14  # Patches per metre
    seed: int = 15  # A whole number below 2^24 that gives them their shape


LOOK = LookColumns()
LOOK_WIDTH = 16


@inner_kernel(loose=True)
def hash_corner(x, y, seed):
    """Return a number in [0, 1) for a corner of the pattern's grid (finaliser of MurmurHash3, Appleby)."""
    h = np.uint32(np.uint32(x) * np.uint32(0x9E3779B1)) ^ np.uint32(np.uint32(y) * np.uint32(0x85EBCA77)) ^ seed
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    h = np.uint32(h ^ np.uint32(h >> np.uint32(16)))
    return np.float32(np.int32(np.uint32(h >> np.uint32(8)))) * np.float32(1.0 / 16777216.0)


@inner_kernel(loose=True)
def sample_patches(x, y, seed):
    """Return smooth noise from -1 to 1 at a point, one patch wide 1."""
    i, j = round_down(x), round_down(y)
    fx, fy = np.float32(x - np.float32(i)), np.float32(y - np.float32(j))
    two, three = np.float32(2.0), np.float32(3.0)
    fx = fx * fx * (three - two * fx)
    fy = fy * fy * (three - two * fy)
    a = hash_corner(i, j, seed)
    b = hash_corner(np.int32(i + 1), j, seed)
    c = hash_corner(i, np.int32(j + 1), seed)
    d = hash_corner(np.int32(i + 1), np.int32(j + 1), seed)
    low = a + (b - a) * fx
    return two * (low + (c + (d - c) * fx - low) * fy) - np.float32(1.0)


@inner_kernel(loose=True, merged=True)
def lay_patches(look, y, view):
    """Return how the pattern of a class runs along a row `y` of a picture, for `measure_patch`."""
    eye, focal = read_vector(view, VIEW.eye), view[VIEW.focal]
    half = np.float32(0.5)
    below = (y + half - half * view[VIEW.rows]) / focal
    scale, strength = look[LOOK.scale], look[LOOK.patches]
    seed = np.uint32(np.int32(look[LOOK.seed]))
    right, down = read_vector(view, VIEW.right), read_vector(view, VIEW.down)
    forward = read_vector(view, VIEW.forward)
    x0 = scale * eye[0]
    y0 = scale * eye[1]
    x1, y1 = scale * (forward[0] + below * down[0]), scale * (forward[1] + below * down[1])
    x2, y2 = scale * right[0] / focal, scale * right[1] / focal
    # How many patches a pixel sees one behind the other: a flat look at the ground stretches it.
    stretch = scale / (focal * max(abs(eye[2]), np.float32(0.02)))
    return (x0, x1, x2), (y0, y1, y2), strength, stretch, seed


@inner_kernel(loose=True, merged=True)
def measure_patch(course, across, inverse):
    """Return by how much the pattern lightens a pixel.

    Args:
        course: As `lay_patches` returned it.
        across: Of the pixel, from the picture's middle [pixel].
        inverse: 1/w there.
    """
    (x0, x1, x2), (y0, y1, y2), strength, stretch, seed = course
    one = np.float32(1.0)
    w = one / max(inverse, np.float32(1e-4))
    px = x0 + w * (x1 + across * x2)
    py = y0 + w * (y1 + across * y2)
    fade = max(one - w * w * stretch, np.float32(0.0))
    value = sample_patches(px, py, seed)
    finer = sample_patches(np.float32(3.1) * px, np.float32(3.1) * py, np.uint32(seed + np.uint32(1)))
    return one + strength * fade * (np.float32(0.7) * value + np.float32(0.3) * finer)


@span_kernel
def measure_patches(count, look, first, y, view, iota, depth, factor):
    """Write by how much a surface's pattern lightens some pixels of a row; far off it fades.

    Args:
        count: Pixels.
        look: Of their class.
        first: Column of the first.
        y: Their row.
        view: Columns VIEW.
        iota: 0, 1, 2 …
        depth: 1/w of the pixels.
        factor: Written.
    """
    half = np.float32(0.5)
    course = lay_patches(look, y, view)
    begin = np.float32(np.int32(first)) + half - half * view[VIEW.columns]
    for k in range(count):
        factor[k] = measure_patch(course, iota[k] + begin, depth[k])


@span_kernel
def fill_factor(count, factor):
    """Write 1."""
    for k in range(count):
        factor[k] = np.float32(1.0)


@inner_kernel(loose=True, merged=True)
def limit_shade(value):
    """Return a colour value within 0 to 255, rounded up by a half."""
    return min(max(value + np.float32(0.5), np.float32(0.0)), np.float32(255.0))


@span_kernel
def recolour_pixel(word, inverse, factor, look, rate, light):
    """Return another colour for a pixel of one class; `inverse`: 1/w there, the rest as for `recolour_run`."""
    low = np.uint32(0xFF)
    one = np.float32(1.0)
    m0, m1, m2 = read_vector(look, LOOK.matrix)
    m3, m4, m5 = read_vector(look, LOOK.matrix + 3)
    m6, m7, m8 = read_vector(look, LOOK.matrix + 6)
    more_red, more_green, more_blue = read_vector(look, LOOK.offset)
    haze_red, haze_green, haze_blue = read_vector(light, LIGHT.haze)
    clear = clear_view(rate, one / max(inverse, np.float32(1e-9)))
    haze = one - clear
    # What the thing itself shows, without the fog before it.
    r = np.float32(np.int32(word & low)) - haze * haze_red
    g = np.float32(np.int32(np.uint32(word >> np.uint32(8)) & low)) - haze * haze_green
    b = np.float32(np.int32(np.uint32(word >> np.uint32(16)) & low)) - haze * haze_blue
    red = (m0 * r + m1 * g + m2 * b + more_red * clear) * factor + haze * haze_red
    green = (m3 * r + m4 * g + m5 * b + more_green * clear) * factor + haze * haze_green
    blue = (m6 * r + m7 * g + m8 * b + more_blue * clear) * factor + haze * haze_blue
    return pack_colour(limit_shade(red), limit_shade(green), limit_shade(blue))


@span_kernel
def recolour_run(count, look, rate, light, depth, factor, colour):
    """Change the colours of pixels of one class; `rate` is that of the fog, the rest as for `recolour_pixels`."""
    for k in range(count):
        colour[k] = recolour_pixel(colour[k], depth[k], factor[k], look, rate, light)


@span_kernel
def look_up_run(count, begin, y, record, layout, cells, iota, target):
    """Write what a class map says for pixels of one triangle; the same as `look_up_class` for each.

    Args:
        count: Pixels.
        begin: Column of the first.
        y: Their row.
        record: Of the triangle.
        layout: Columns and rows of the map per texel, logarithms of its width and height to base 2.
        cells: The map.
        iota: 0, 1, 2 …
        target: Written.
    """
    scale_u, scale_v, wide, high = layout
    shift = np.uint32(wide)
    mask_u = np.uint32((np.int64(1) << wide) - 1)
    mask_v = np.uint32((np.int64(1) << high) - 1)
    near, across, down = read_planes(record)
    for k in range(count):
        x = iota[k] + begin
        w = np.float32(1.0) / (near[0] * x + near[1] * y + near[2])
        u = (across[0] * x + across[1] * y + across[2]) * w * scale_u
        v = (down[0] * x + down[1] * y + down[2]) * w * scale_v
        column = np.uint32(np.uint32(round_down(u)) & mask_u)
        line = np.uint32(np.uint32(round_down(v)) & mask_v)
        target[k] = cells[np.uint32(np.uint32(line << shift) + column) & np.uint32(0x3FFFFFFF)]


@inner_kernel(loose=True)
def classify_pixels(size, tables, scratch):
    """Write the class of every sample into `scratch.classes`, run by run of one triangle, as `write_segments` does.

    Args:
        size: Columns, first row and end of those drawn, samples from one row to the next.
        tables: PictureTables.
        scratch: Scratch, `prepare_classes` done.
    """
    width, first, last, stride = size
    for row in range(first, last):
        y = np.float32(np.int32(row))
        begin = np.int64(0)
        while begin < width:
            # Run by run: a triangle has one material, so scales and masks of its map are looked up once.
            number = scratch.ident[row * stride + begin]
            end = begin + 1
            while end < width and scratch.ident[row * stride + end] == number:
                end += 1
            material = tables.triangle_material[scratch.record_int[number, INTEGER.triangle]]
            if tables.material_class[material, CLASS_MAP.first] >= 0:
                layout = tables.material_class[material]
                wide, high = layout[CLASS_MAP.width], layout[CLASS_MAP.height]
                size = tables.size_log[tables.material_texture[material]]
                scale_u = np.float32(np.int32(1 << wide)) / np.float32(np.int32(1 << size[SIZE_LOG.width]))
                scale_v = np.float32(np.int32(1 << high)) / np.float32(np.int32(1 << size[SIZE_LOG.height]))
                look_up_run(
                    end - begin,
                    np.float32(np.int32(begin)),
                    y,
                    scratch.record_float[number],
                    (scale_u, scale_v, wide, high),
                    tables.class_cell[layout[CLASS_MAP.first] :],
                    scratch.iota,
                    scratch.classes[row, begin:],
                )
            else:
                scratch.classes[row, begin:end] = tables.material_segment[material]
            begin = end


@inner_kernel(loose=True)
def recolour_pixels(size, looks, light, view, scratch):
    """Change the colours of all pixels by the look of what they show, run by run of one class.

    Args:
        size: Columns, first row and end of those drawn, pixels from one row to the next.
        looks: Of each class, shape [class_count, LOOK_WIDTH].
        light: Columns LIGHT.
        view: Columns VIEW.
        scratch: Scratch, its classes written; `colour` is written.
    """
    width, first, last, stride = size
    classes, factor = scratch.classes, scratch.factor
    for row in range(first, last):
        begin = np.int64(0)
        while begin < width:
            kind = classes[row, begin]
            end = begin + 1
            while end < width and classes[row, end] == kind:
                end += 1
            look = looks[kind]
            if look[LOOK.is_on] != np.float32(0.0):
                at = row * stride + begin
                count = end - begin
                depth = scratch.depth[at:]
                if look[LOOK.patches] > np.float32(0.0):
                    y = np.float32(np.int32(row))
                    measure_patches(count, look, begin, y, view, scratch.iota, depth, factor)
                else:
                    fill_factor(count, factor)
                recolour_run(count, look, find_fog_rate(kind, light), light, depth, factor, scratch.colour[at:])
            begin = end
