"""From packed pixels to the picture that leaves: smaller, warped, grey, RGB bytes; and depth and classes."""

import math

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.bend import find_bent, find_sample, find_source
from donkeysim.render.kernels.footprint import compute_gradients
from donkeysim.render.kernels.layout import CLASS_MAP, INTEGER, LANES, SIZE_LOG, STATE_FLAT
from donkeysim.render.kernels.vector import read_planes
from donkeysim.world.scene import CLASS_SKY


@inner_kernel(loose=True, merged=True)
def halve_picture(width, first, end, stride, colour):
    """Average blocks of 2x2 pixels in place; `width`, `first` and `end` are as afterwards, the stride stays."""
    low = np.uint32(0xFF)
    # Red and blue together, 16 bits apart, so that sums of four do not meet; 2 in each rounds a half up.
    pair = np.uint32(0xFF00FF)
    two = np.uint32(0x20002)
    for row in range(first, end):
        upper = 2 * row * stride
        lower = upper + stride
        for column in range(width):
            a = colour[upper + 2 * column]
            b = colour[upper + 2 * column + 1]
            c = colour[lower + 2 * column]
            d = colour[lower + 2 * column + 1]
            rb = np.uint32((a & pair) + (b & pair)) + np.uint32((c & pair) + (d & pair)) + two
            g = (
                ((a >> np.uint32(8)) & low)
                + ((b >> np.uint32(8)) & low)
                + ((c >> np.uint32(8)) & low)
                + ((d >> np.uint32(8)) & low)
            )
            g = (np.uint32(g) + np.uint32(2)) >> np.uint32(2)
            colour[row * stride + column] = np.uint32(
                ((np.uint32(rb) >> np.uint32(2)) & pair) | (np.uint32(g) << np.uint32(8))
            )


@span_kernel
def average_up(a, b):
    """Return the means of the four bytes of two words, halves rounded up."""
    # a + b = 2 (a | b) - (a ^ b): the mean without a ninth bit, all four bytes at once.
    return np.uint32(np.uint32(a | b) - np.uint32(np.uint32(np.uint32(a ^ b) & np.uint32(0xFEFEFEFE)) >> np.uint32(1)))


@span_kernel
def average_down(a, b):
    """Return the means of the four bytes of two words, halves rounded down."""
    return np.uint32(np.uint32(a & b) + np.uint32(np.uint32(np.uint32(a ^ b) & np.uint32(0xFEFEFEFE)) >> np.uint32(1)))


@span_kernel
def soften_pixel(colour, left, right, above, below):
    """Return a packed pixel of which half is the mean of its four neighbours."""
    # Up, down, up: roundings that would all go one way would lighten the picture.
    return average_up(colour, average_down(average_up(left, right), average_up(above, below)))


@span_kernel
def soften_row(
    count, left, middle, right, above, below, colour_left, colour, colour_right, colour_above, colour_below, target
):
    """Write a row with its edges softened; see `soften_edges`.

    Args:
        count: Pixels.
        left: Triangles seen at the pixels one column before, and likewise `middle`, `right`, `above`, `below`.
        colour_left: Packed pixels there, and likewise `colour`, `colour_right`, `colour_above`, `colour_below`.
        target: Written.
    """
    for k in range((count + LANES - 1) & -LANES):
        c = colour[k]
        soft = soften_pixel(c, colour_left[k], colour_right[k], colour_above[k], colour_below[k])
        here = middle[k]
        is_edge = (here != left[k]) | (here != right[k]) | (here != above[k]) | (here != below[k])
        target[k] = soft if is_edge else c


@inner_kernel(loose=True)
def soften_edges(width, first, end, stride, ident, colour, target):
    """Write a picture whose pixels beside another triangle take half of their colour from their four neighbours.

    Edges are found at pixels' middles alone; so they have some of the colour that a mean over the pixel would have.

    Args:
        width: Columns.
        first: First row; what was drawn ends before it.
        end: Row behind the last; likewise.
        stride: Pixels from one row to the next.
        ident: The record seen at each pixel.
        colour: Packed pixels.
        target: Written, packed pixels.
    """
    # The first and the last column have a neighbour on one side only; they are copied.
    for row in range(first, end):
        at = row * stride
        above = (row - 1 if row > first else row) * stride
        below = (row + 1 if row < end - 1 else row) * stride
        soften_row(
            width - 2,
            ident[at:],
            ident[at + 1 :],
            ident[at + 2 :],
            ident[above + 1 :],
            ident[below + 1 :],
            colour[at:],
            colour[at + 1 :],
            colour[at + 2 :],
            colour[above + 1 :],
            colour[below + 1 :],
            target[at + 1 :],
        )
        target[at] = colour[at]
        target[at + width - 1] = colour[at + width - 1]


@span_kernel
def blend_pixels(a, b, c, d, fx, fy):
    """Return a packed pixel between four: fx of the way from `a` to `b` and from `c` to `d`, fy from upper to lower."""
    low, half = np.uint32(0xFF), np.float32(0.5)
    packed = np.uint32(0)
    for channel in range(3):
        shift = np.uint32(8 * channel)
        ca = np.float32(np.int32((a >> shift) & low))
        cb = np.float32(np.int32((b >> shift) & low))
        cc = np.float32(np.int32((c >> shift) & low))
        cd = np.float32(np.int32((d >> shift) & low))
        upper = ca + (cb - ca) * fx
        lower = cc + (cd - cc) * fx
        value = np.uint32(np.int32(upper + (lower - upper) * fy + half))
        packed = np.uint32(packed | np.uint32(value << shift))
    return packed


@span_kernel
def warp_row(width, height, stride, row, strength, colour, target):
    """Write a row of a fisheye's picture; see `find_source`."""
    inside = np.uint32(0x3FFFFFFF)
    last_x, last_y, step = np.int32(width - 1), np.int32(height - 1), np.int32(stride)
    for column in range(width):
        px, py = find_source(np.int32(column), row, width, height, strength)
        x0, y0 = np.int32(px), np.int32(py)
        x1, y1 = np.int32(min(np.int32(x0 + np.int32(1)), last_x)), np.int32(min(np.int32(y0 + np.int32(1)), last_y))
        fx, fy = px - np.float32(x0), py - np.float32(y0)
        upper_row, lower_row = np.int32(y0 * step), np.int32(y1 * step)
        a = colour[np.uint32(np.int32(upper_row + x0)) & inside]
        b = colour[np.uint32(np.int32(upper_row + x1)) & inside]
        c = colour[np.uint32(np.int32(lower_row + x0)) & inside]
        d = colour[np.uint32(np.int32(lower_row + x1)) & inside]
        target[column] = blend_pixels(a, b, c, d, fx, fy)


@inner_kernel(loose=True, merged=True)
def bend_pixel(column, row, width, height, stride, strength, source, colour):
    """Return the packed pixel that a lens shows, black where no ray reaches; see `donkeysim.render.warp`."""
    px, py, is_seen = find_bent(column, row, width, height, strength, source)
    if not is_seen:
        return np.uint32(0)
    x0, y0 = np.int64(px), np.int64(py)
    x1, y1 = min(x0 + 1, width - 1), min(y0 + 1, height - 1)
    fx, fy = px - np.float32(np.int32(x0)), py - np.float32(np.int32(y0))
    upper, lower = y0 * stride, y1 * stride
    return blend_pixels(colour[upper + x0], colour[upper + x1], colour[lower + x0], colour[lower + x1], fx, fy)


@inner_kernel(loose=True)
def bend_picture(count, band, width, height, stride, strength, source, colour, bent):
    """Write rows of a picture through a lens, `count` pixels each, from one of `width` and `height`."""
    for row in range(band[0], band[1]):
        for column in range(count):
            word = bend_pixel(column, row, width, height, stride, strength, source, colour)
            bent[row * stride + column] = word


@inner_kernel(loose=True)
def warp_picture(width, height, band, stride, strength, colour, warped):
    """Write rows of a picture's fisheye warp; see `donkeysim.render.warp`. Rows of `warped` are `stride` apart too."""
    for row in range(band[0], band[1]):
        warp_row(width, height, stride, row, strength, colour, warped[row * stride :])


@span_kernel
def join_pixels(count, source, target):
    """Write packed pixels as bytes, `count` times four pixels as three words, lowest byte first."""
    for k in range(count):
        a = source[4 * k]
        b = source[4 * k + 1]
        c = source[4 * k + 2]
        d = source[4 * k + 3]
        target[3 * k] = np.uint32(a | np.uint32(b << np.uint32(24)))
        target[3 * k + 1] = np.uint32(np.uint32(b >> np.uint32(8)) | np.uint32(c << np.uint32(16)))
        target[3 * k + 2] = np.uint32(np.uint32(c >> np.uint32(16)) | np.uint32(d << np.uint32(8)))


@span_kernel
def weigh_grey(c):
    """Return a packed pixel with its luma, cut off to a whole number, in all three channels."""
    low = np.uint32(0xFF)
    luma = np.uint32(np.uint32(2126) * np.uint32(c & low))
    luma = np.uint32(luma + np.uint32(np.uint32(7152) * np.uint32(np.uint32(c >> np.uint32(8)) & low)))
    luma = np.uint32(luma + np.uint32(np.uint32(722) * np.uint32(np.uint32(c >> np.uint32(16)) & low)))
    # In float, as whole numbers of 32 bits are not divided on vectors; a half more than the sum, and every quotient
    # is cut off to what a whole division gives.
    whole = np.uint32(np.int32((np.float32(np.int32(luma)) + np.float32(0.5)) * np.float32(1e-4)))
    return np.uint32(whole * np.uint32(0x10101))


@span_kernel
def make_grey(count, colour):
    """Put the luma of some pixels, cut off to a whole number, into all three channels."""
    for k in range((count + LANES - 1) & -LANES):
        colour[k] = weigh_grey(colour[k])


@span_kernel
def join_greys(count, source, target):
    """Write grey pixels as bytes, `count` times four pixels as a word."""
    low = np.uint32(0xFF)
    for k in range(count):
        a, b = np.uint32(source[4 * k] & low), np.uint32(source[4 * k + 1] & low)
        c, d = np.uint32(source[4 * k + 2] & low), np.uint32(source[4 * k + 3] & low)
        upper = np.uint32(np.uint32(c << np.uint32(16)) | np.uint32(d << np.uint32(24)))
        target[k] = np.uint32(np.uint32(a | np.uint32(b << np.uint32(8))) | upper)


@inner_kernel(loose=True, merged=True)
def write_grey(width, band, stride, colour, words, picture):
    """Write the first channel of packed pixels as bytes; see `write_rgb`."""
    top, bottom = band
    for row in range(bottom - top):
        if width % 4 == 0:
            join_greys(width >> 2, colour[(top + row) * stride :], words[row * (width >> 2) :])
        else:
            for column in range(width):
                picture[row, column, 0] = np.uint8(colour[(top + row) * stride + column] & np.uint32(0xFF))


@inner_kernel(loose=True, merged=True)
def write_rgb(width, band, stride, colour, words, picture):
    """Write packed pixels as bytes.

    Args:
        width: Columns.
        band: First row and end of those that are written.
        stride: Pixels from one row of `colour` to the next.
        colour: Packed pixels.
        words: The memory of `picture` as 32-bit words, used when a row is a whole number of them; written.
        picture: Written, shape [row_count, width, 3].
    """
    top, bottom = band
    low = np.uint32(0xFF)
    # Four pixels are three words: a quarter of the stores, and no bytes one by one.
    if width % 4 == 0:
        for row in range(bottom - top):
            join_pixels(width >> 2, colour[(top + row) * stride :], words[row * (width >> 2) * 3 :])
        return
    for row in range(bottom - top):
        for column in range(width):
            c = colour[(top + row) * stride + column]
            picture[row, column, 0] = np.uint8(c & low)
            picture[row, column, 1] = np.uint8((c >> np.uint32(8)) & low)
            picture[row, column, 2] = np.uint8((c >> np.uint32(16)) & low)


@inner_kernel(loose=True, merged=True)
def measure_distance(inverse, far):
    """Return a distance along the optical axis [m] of which `inverse` is 1/w; infinite beyond `far`."""
    return np.float32(1.0) / inverse if inverse * far > np.float32(1.0) else np.float32(np.inf)


@inner_kernel(loose=True)
def write_depth(drawn, band, stride, factor, way, far, depth, target):
    """Write distances along the optical axis [m], infinite beyond `far`; arguments as `write_segments`."""
    for row in range(band[0], band[1]):
        for column in range(target.shape[1]):
            x, y = find_sample(column, row, drawn[0], drawn[1], factor, way[0], way[1])
            inverse = depth[y * stride + x] if x >= 0 else np.float32(0.0)
            target[row - band[0], column] = measure_distance(inverse, far)


@inner_kernel(loose=True)
def prepare_classes(tables, scratch):
    """Give texture gradients to the records of one colour whose material has a class map: shading needed none."""
    for number in range(scratch.drawn[0]):
        integers = scratch.record_int[number]
        if integers[INTEGER.state] == STATE_FLAT:
            triangle = integers[INTEGER.triangle]
            if tables.material_class[tables.triangle_material[triangle], CLASS_MAP.first] >= 0:
                basis = scratch.basis[integers[INTEGER.draw]]
                compute_gradients(scratch.record_float[number], tables.triangle_plane[triangle], basis)


@inner_kernel(loose=True, merged=True)
def look_up_class(tables, material, planes, x, y):
    """Return what the class map of a material says for a pixel (x, y); `planes`: 1/w, u/w and v/w of its triangle."""
    layout = tables.material_class[material]
    first, wide, high = layout[CLASS_MAP.first], layout[CLASS_MAP.width], layout[CLASS_MAP.height]
    size = tables.size_log[tables.material_texture[material]]
    near, across, down = planes
    w = np.float32(1.0) / (near[0] * x + near[1] * y + near[2])
    u = (across[0] * x + across[1] * y + across[2]) * w / np.float32(np.int32(1 << size[SIZE_LOG.width]))
    v = (down[0] * x + down[1] * y + down[2]) * w / np.float32(np.int32(1 << size[SIZE_LOG.height]))
    column = np.int64(math.floor(u * np.float32(np.int32(1 << wide)))) & ((1 << wide) - 1)
    row = np.int64(math.floor(v * np.float32(np.int32(1 << high)))) & ((1 << high) - 1)
    return tables.class_cell[first + (row << wide) + column]


@inner_kernel(loose=True)
def write_segments(drawn, band, stride, factor, way, tables, scratch, target):
    """Write the class of what is seen at each pixel.

    Args:
        drawn: Width and height of what was drawn [pixel].
        band: First row and end of those that are written.
        stride: Samples from one row to the next.
        factor: Samples per pixel and axis.
        way: Strength of the fisheye in x and y, and where a lens takes pixels from.
        tables: PictureTables.
        scratch: Scratch, `prepare_classes` done.
        target: Written, shape [row_count, width].
    """
    for row in range(band[0], band[1]):
        for column in range(target.shape[1]):
            x, y = find_sample(column, row, drawn[0], drawn[1], factor, way[0], way[1])
            if x < 0:
                target[row - band[0], column] = CLASS_SKY
                continue
            number = scratch.ident[y * stride + x]
            material = tables.triangle_material[scratch.record_int[number, INTEGER.triangle]]
            if tables.material_class[material, CLASS_MAP.first] >= 0:
                planes = read_planes(scratch.record_float[number])
                sample_x, sample_y = np.float32(np.int32(x)), np.float32(np.int32(y))
                target[row - band[0], column] = look_up_class(tables, material, planes, sample_x, sample_y)
            else:
                target[row - band[0], column] = tables.material_segment[material]
