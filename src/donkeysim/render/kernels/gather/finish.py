"""How pictures leave: edges softened, warped, grey, as bytes or as numbers from 0 to 1; and distances and classes."""

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel, span_kernel
from donkeysim.core.types import ByteArray, Float32Array, WordArray
from donkeysim.render.kernels.bend import find_sample, find_source
from donkeysim.render.kernels.finish import (
    bend_pixel,
    blend_pixels,
    look_up_class,
    measure_distance,
    soften_pixel,
    weigh_grey,
)
from donkeysim.render.kernels.fog import find_fog_rate
from donkeysim.render.kernels.gather.colour import find_run, measure_near, read_near, read_plane
from donkeysim.render.kernels.gather.layout import (
    PLANE_OF,
    TALLY,
    WHOLE,
    WHOLE_WIDTH,
    GatherScratch,
    GatherSizes,
    split_index,
)
from donkeysim.render.kernels.layout import CLASS_MAP, LENS, VIEW
from donkeysim.render.kernels.recolour import LOOK, lay_patches, measure_patch, recolour_pixel
from donkeysim.render.kernels.seen import has_warp
from donkeysim.render.tables import CameraTables, PictureTables
from donkeysim.world.scene import CLASS_SKY


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


@index_kernel(loose=True)
def soften_pixels(index: int, sizes: GatherSizes, scratch: GatherScratch) -> None:
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


@inner_kernel(copied=True)
def warp_pixel(column, row, strength, sizes, source):
    """Return the packed pixel that a fisheye shows; see `donkeysim.render.warp`."""
    px, py = find_source(np.int32(column), np.int32(row), sizes.width, sizes.height, strength)
    x0, y0 = np.int64(px), np.int64(py)
    x1, y1 = min(x0 + 1, sizes.width - 1), min(y0 + 1, sizes.height - 1)
    upper, lower = y0 * sizes.stride, y1 * sizes.stride
    fx, fy = px - np.float32(np.int32(x0)), py - np.float32(np.int32(y0))
    return blend_pixels(source[upper + x0], source[upper + x1], source[lower + x0], source[lower + x1], fx, fy)


@inner_kernel(copied=True)
def find_output(index, sizes, scratch):
    """Return what an index over pixels that leave stands for: camera, row, first column and pixels, 0 if not drawn."""
    runs = (sizes.columns + sizes.run - 1) // sizes.run
    rows = sizes.bottom - sizes.top
    line, place = split_index(index, runs)
    camera, row = split_index(line, rows)
    column = place * sizes.run
    pixels = min(sizes.run, sizes.columns - column) if scratch.tally[camera, TALLY.is_drawn] != 0 else 0
    return camera, sizes.top + row, column, pixels


@inner_kernel(copied=True)
def read_finish(camera, first, sizes, cameras):
    """Return how a camera's pixels leave: fisheye, whether there is one, where a lens takes them from, if grey."""
    lens = cameras.lens[first + camera]
    strength = (lens[LENS.fisheye], lens[LENS.fisheye + 1])
    return strength, has_warp(strength), cameras.source, lens[LENS.grey] != np.float32(0.0) or sizes.channels == 1


@inner_kernel(copied=True)
def finish_pixel(x, row, way, sizes, source):
    """Return a packed pixel as it leaves; `way`: as `read_finish` returned it."""
    strength, is_warped, places, is_grey = way
    if places.shape[0] > 0:
        word = bend_pixel(x, row, sizes.width, sizes.height, sizes.stride, strength, places, source)
    else:
        word = warp_pixel(x, row, strength, sizes, source) if is_warped else source[row * sizes.stride + x]
    return weigh_grey(word) if is_grey else word


@index_kernel(loose=True)
def finish_bytes(
    index: int,
    first: int,
    sizes: GatherSizes,
    cameras: CameraTables,
    scratch: GatherScratch,
    source: WordArray,
    target: ByteArray,
) -> None:
    """Write some pixels of a row as bytes.

    Args:
        index: Of the pixels.
        first: Camera of the group that row 0 of the working memory is.
        source: `GatherScratch.soft` or `colour`.
        target: Written, shape [camera_count, row_count * width * channels].
    """
    camera, row, column, pixels = find_output(index, sizes, scratch)
    way, words, out = read_finish(camera, first, sizes, cameras), source[camera], target[first + camera]
    step, low = sizes.channels, np.uint32(0xFF)
    start = ((row - sizes.top) * sizes.columns + column) * step
    for k in range(pixels):
        word = finish_pixel(column + k, row, way, sizes, words)
        for channel in range(step):
            out[start + k * step + channel] = np.uint8(np.uint32(word >> np.uint32(8 * channel)) & low)


@inner_kernel(copied=True)
def find_class(camera, record, x, y, tables, scratch):
    """Return the class of what a record shows at a pixel."""
    material = tables.triangle_material[scratch.whole[camera, record * WHOLE_WIDTH + WHOLE.triangle]]
    if tables.material_class[material, CLASS_MAP.first] < 0:
        return tables.material_segment[material]
    word, plane = np.uint32(record), scratch.plane[camera]
    near, across = read_near(word, scratch.edge[camera]), read_plane(word, PLANE_OF.u, plane)
    planes = (near, across, read_plane(word, PLANE_OF.v, plane))
    return look_up_class(tables, material, planes, np.float32(np.int32(x)), np.float32(np.int32(y)))


@index_kernel(loose=True)
def write_distances(
    index: int, first: int, sizes: GatherSizes, cameras: CameraTables, scratch: GatherScratch, target: Float32Array
) -> None:
    """Write how far along the optical axis some pixels of a row show things [m]; as `finish.write_depth`."""
    camera, row, column, pixels = find_output(index, sizes, scratch)
    lens, ident, edge = cameras.lens[first + camera], scratch.ident[camera], scratch.edge[camera]
    strength, far = (lens[LENS.fisheye], lens[LENS.fisheye + 1]), scratch.camera_view[camera, VIEW.far]
    for k in range(pixels):
        x, y = find_sample(column + k, row, sizes.width, sizes.height, 1, strength, cameras.source)
        inverse = np.float32(0.0)
        if x >= 0:
            record = np.uint32(ident[y * sizes.stride + x])
            inverse = measure_near(record, np.float32(np.int32(x)), np.float32(np.int32(y)), edge)
        target[first + camera, row - sizes.top, column + k] = measure_distance(inverse, far)


@index_kernel(loose=True)
def write_classes(
    index: int,
    first: int,
    sizes: GatherSizes,
    tables: PictureTables,
    cameras: CameraTables,
    scratch: GatherScratch,
    target: ByteArray,
) -> None:
    """Write the class of what some pixels of a row show; as `finish.write_segments`."""
    camera, row, column, pixels = find_output(index, sizes, scratch)
    lens, ident = cameras.lens[first + camera], scratch.ident[camera]
    strength = (lens[LENS.fisheye], lens[LENS.fisheye + 1])
    for k in range(pixels):
        x, y = find_sample(column + k, row, sizes.width, sizes.height, 1, strength, cameras.source)
        seen = np.uint8(CLASS_SKY)
        if x >= 0:
            seen = find_class(camera, np.int64(ident[y * sizes.stride + x]), x, y, tables, scratch)
        target[first + camera, row - sizes.top, column + k] = seen


@index_kernel(loose=True)
def recolour_pixels(
    index: int, first: int, sizes: GatherSizes, tables: PictureTables, cameras: CameraTables, scratch: GatherScratch
) -> None:
    """Change the colours of some pixels of a row by the look of what they show."""
    camera, row, column, pixels = find_run(index, sizes, scratch)
    half, y, view = np.float32(0.5), np.float32(np.int32(row)), scratch.camera_view[camera]
    ident, colour, light = scratch.ident[camera], scratch.colour[camera], scratch.light[camera]
    for k in range(pixels):
        x, at = column + k, row * sizes.stride + column + k
        record = np.int64(ident[at])
        kind = find_class(camera, record, x, row, tables, scratch)
        look = cameras.look[first + camera, kind]
        if look[LOOK.is_on] != np.float32(0.0):
            fx, factor = np.float32(np.int32(x)), np.float32(1.0)
            inverse = measure_near(np.uint32(record), fx, y, scratch.edge[camera])
            if look[LOOK.patches] > np.float32(0.0):
                factor = measure_patch(lay_patches(look, y, view), fx + (half - half * view[VIEW.columns]), inverse)
            colour[at] = recolour_pixel(colour[at], inverse, factor, look, find_fog_rate(kind, light), light)
