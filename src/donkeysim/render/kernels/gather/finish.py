"""How pictures leave: edges softened, warped, grey, as bytes or as numbers from 0 to 1; and distances and classes."""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import index_pixel_kernel, inline_kernel, span_kernel
from donkeysim.render.kernels.finish import (
    blend_pixels,
    find_sample,
    find_source,
    look_up_class,
    measure_distance,
    soften_pixel,
    weigh_grey,
)
from donkeysim.render.kernels.gather.colour import find_run, measure_near, read_near, read_plane
from donkeysim.render.kernels.gather.layout import PLANE_OF, WHOLE, WHOLE_WIDTH
from donkeysim.render.kernels.layout import CLASS_MAP, LENS, VIEW
from donkeysim.render.kernels.seen import has_warp


@span_kernel
def soften_run(
    count, left, middle, right, above, below, colour_left, colour, colour_right, colour_above, colour_below, target
):
    """Write pixels of a row with their edges softened; the arguments are those of `finish.soften_row`."""
    for k in range(count):
        c = colour[k]
        soft = soften_pixel(c, colour_left[k], colour_right[k], colour_above[k], colour_below[k])
        here = middle[k]
        is_edge = (here != left[k]) | (here != right[k]) | (here != above[k]) | (here != below[k])
        target[k] = soft if is_edge else c


@index_pixel_kernel
def soften_pixels(index, _room, sizes, scratch):
    """Soften the edges of some pixels of a row, as `finish.soften_edges` does."""
    camera, row, first, pixels = find_run(index, sizes, scratch)
    if pixels <= 0:
        return
    view, stride = scratch.camera_view[camera], sizes.stride
    ident, colour, target = scratch.ident[camera], scratch.colour[camera], scratch.soft[camera]
    at = row * stride
    above = (row - 1 if row > np.int64(view[VIEW.first]) else row) * stride
    below = (row + 1 if row < np.int64(view[VIEW.end]) - 1 else row) * stride
    begin, end = max(first, 1), min(first + pixels, sizes.width - 1)
    # The first and the last column have a neighbour on one side only; they are copied.
    if first < begin:
        target[at] = colour[at]
    if end < first + pixels:
        target[at + end] = colour[at + end]
    soften_run(
        end - begin,
        ident[at + begin - 1 :],
        ident[at + begin :],
        ident[at + begin + 1 :],
        ident[above + begin :],
        ident[below + begin :],
        colour[at + begin - 1 :],
        colour[at + begin :],
        colour[at + begin + 1 :],
        colour[above + begin :],
        colour[below + begin :],
        target[at + begin :],
    )


@inline_kernel
def warp_pixel(column, row, strength, sizes, source):
    """Return the packed pixel that a fisheye shows; see `donkeysim.render.lens`."""
    px, py = find_source(np.int32(column), np.int32(row), sizes.width, sizes.height, strength)
    x0, y0 = np.int64(px), np.int64(py)
    x1, y1 = min(x0 + 1, sizes.width - 1), min(y0 + 1, sizes.height - 1)
    upper, lower = y0 * sizes.stride, y1 * sizes.stride
    fx, fy = px - np.float32(np.int32(x0)), py - np.float32(np.int32(y0))
    return blend_pixels(source[upper + x0], source[upper + x1], source[lower + x0], source[lower + x1], fx, fy)


@inline_kernel
def find_output(index, sizes):
    """Return what an index over pixels that leave stands for: camera, row, first column and pixels."""
    runs = (sizes.stride + sizes.run - 1) // sizes.run
    rows = sizes.bottom - sizes.top
    line = index // runs
    camera, column = line // rows, (index - line * runs) * sizes.run
    return camera, sizes.top + line - camera * rows, column, min(sizes.run, sizes.width - column)


@index_pixel_kernel
def finish_pixels(index, _room, first, sizes, cameras, source, scale, target):
    """Write some pixels of a row as they leave.

    Args:
        index: Of the pixels.
        first: Camera of the group that row 0 of the working memory is.
        sizes: GatherSizes.
        cameras: CameraTables.
        source: `GatherScratch.soft` or `colour`.
        scale: What is written as 1.
        target: Written, shape [camera_count, row_count * width * channels].
    """
    camera, row, column, pixels = find_output(index, sizes)
    lens, words, out = cameras.lens[first + camera], source[camera], target[first + camera]
    strength, is_grey = (lens[LENS.fisheye], lens[LENS.fisheye + 1]), lens[LENS.grey] != np.float32(0.0)
    is_warped, is_grey = has_warp(strength), is_grey or sizes.channels == 1
    area = (sizes.bottom - sizes.top) * sizes.width
    step, aside = (1, area) if sizes.is_planar else (sizes.channels, 1)
    low, unit = np.uint32(0xFF), np.float32(scale)
    for k in range(pixels):
        x = column + k
        word = warp_pixel(x, row, strength, sizes, words) if is_warped else words[row * sizes.stride + x]
        word = weigh_grey(word) if is_grey else word
        at = ((row - sizes.top) * sizes.width + x) * step
        for channel in range(sizes.channels):
            value = np.uint32(word >> np.uint32(8 * channel)) & low
            out[at + channel * aside] = np.float32(np.int32(value)) / unit


@inline_kernel
def find_class(camera, record, x, y, tables, scratch):
    """Return the class of what a record shows at a pixel."""
    material = tables.triangle_material[scratch.whole[camera, record * WHOLE_WIDTH + WHOLE.triangle]]
    if tables.material_class[material, CLASS_MAP.first] < 0:
        return tables.material_segment[material]
    word, plane = np.uint32(record), scratch.plane[camera]
    near, across = read_near(word, scratch.edge[camera]), read_plane(word, PLANE_OF.u, plane)
    planes = (near, across, read_plane(word, PLANE_OF.v, plane))
    return look_up_class(tables, material, planes, np.float32(np.int32(x)), np.float32(np.int32(y)))


@index_pixel_kernel
def write_distances(index, _room, first, sizes, cameras, scratch, target):
    """Write how far along the optical axis some pixels of a row show things [m]; as `finish.write_depth`."""
    camera, row, column, pixels = find_output(index, sizes)
    lens, ident, edge = cameras.lens[first + camera], scratch.ident[camera], scratch.edge[camera]
    strength, far = (lens[LENS.fisheye], lens[LENS.fisheye + 1]), scratch.camera_view[camera, VIEW.far]
    for k in range(pixels):
        x, y = find_sample(column + k, row, sizes.width, sizes.height, 1, strength)
        record = np.uint32(ident[y * sizes.stride + x])
        inverse = measure_near(record, np.float32(np.int32(x)), np.float32(np.int32(y)), edge)
        target[first + camera, row - sizes.top, column + k] = measure_distance(inverse, far)


@index_pixel_kernel
def write_classes(index, _room, first, sizes, tables, cameras, scratch, target):
    """Write the class of what some pixels of a row show; as `finish.write_segments`."""
    camera, row, column, pixels = find_output(index, sizes)
    lens, ident = cameras.lens[first + camera], scratch.ident[camera]
    strength = (lens[LENS.fisheye], lens[LENS.fisheye + 1])
    for k in range(pixels):
        x, y = find_sample(column + k, row, sizes.width, sizes.height, 1, strength)
        record = np.int64(ident[y * sizes.stride + x])
        target[first + camera, row - sizes.top, column + k] = find_class(camera, record, x, y, tables, scratch)
