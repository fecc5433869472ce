"""Colour of pixels from the record that each shows, by the formulas of `shade`; each pixel has a mip level."""

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel, span_kernel
from donkeysim.render.kernels.fog import clear_view
from donkeysim.render.kernels.footprint import (
    choose_level,
    find_place,
    lay_out_level,
    locate_texel,
    measure_footprint,
    measure_sides,
)
from donkeysim.render.kernels.gather.layout import (
    EDGE,
    EDGE_WIDTH,
    PLANE_OF,
    PLANE_OF_WIDTH,
    SHAPE,
    SPOT,
    TALLY,
    WHOLE,
    WHOLE_WIDTH,
    GatherScratch,
    GatherSizes,
    split_index,
)
from donkeysim.render.kernels.layout import LIGHT, VIEW
from donkeysim.render.kernels.shade import add_texels, mix_colour
from donkeysim.render.kernels.spans import spread_texels
from donkeysim.render.kernels.vector import read_vector
from donkeysim.render.tables import PictureTables


@span_kernel
def find_column(record, width, column):
    """Return where a column of a record lies in a camera's row; 32 bits, so that vectors are gathered."""
    return np.uint32(np.uint32(np.uint32(record * np.uint32(width)) & np.uint32(0x3FFFFFFF)) + np.uint32(column))


@span_kernel
def read_near(record, edge):
    """Return 1/w of a record per column, per row, at the first pixel."""
    at = find_column(record, EDGE_WIDTH, EDGE.near)
    return edge[at], edge[np.uint32(at + np.uint32(4))], edge[np.uint32(at + np.uint32(8))]


@span_kernel
def read_plane(record, column, plane):
    """Return three neighbouring columns PLANE_OF of a record."""
    at = find_column(record, PLANE_OF_WIDTH, column)
    return plane[at], plane[np.uint32(at + np.uint32(1))], plane[np.uint32(at + np.uint32(2))]


@span_kernel
def measure_near(record, x, y, edge):
    """Return 1/w of a record at a pixel."""
    across, down, first = read_near(record, edge)
    return across * x + down * y + first


@span_kernel
def is_sky(shape):
    """Return whether a triangle is of the sky, which no fog hides."""
    return np.int32(np.int32(shape >> np.int32(SHAPE.sky)) & np.int32(1)) != np.int32(0)


@span_kernel
def find_spot(x, y, near, shape, spot):
    """Return the column and the row at which a pixel's mip level is chosen, as `spans.list_run` chooses them.

    The middle of a small triangle; of a large one the middle column where depth hardly changes along a row, else the
    pixel itself, as what is seen beside it is not known here.
    """
    mask, bits = np.int32(0x7FFF), np.int32(spot)
    is_small = np.int32(bits >> np.int32(SPOT.small)) != np.int32(0)
    columns = np.float32(np.int32(shape >> np.int32(SHAPE.columns)))
    is_even = abs(near[0]) * columns <= np.float32(0.125) * (near[0] * x + near[1] * y + near[2])
    column = np.float32(np.int32(bits & mask))
    row = np.float32(np.int32(np.int32(bits >> np.int32(SPOT.row)) & mask))
    return (column if is_small | is_even else x), (row if is_small else y)


@span_kernel
def lay_out_pixel(record, x, y, share, edge, plane, whole):
    """Return how a pixel lies on its triangle's texture.

    Args:
        x: Column.
        y: Row.
        share: As for `choose_level`; of the sky, which is shown as it is where texels are no larger than pixels, 1.
        edge: `GatherScratch.edge` of the camera.
        plane: `GatherScratch.plane`.
        whole: `GatherScratch.whole`.

    Returns:
        w; u and v in fixed point of the mip level, and their masks; scales from texels to these; level and texture;
        the footprint and the square of its longer side; whether it is a texel of the sky; the shape's bits.
    """
    near, across, down = (
        read_near(record, edge),
        read_plane(record, PLANE_OF.u, plane),
        read_plane(record, PLANE_OF.v, plane),
    )
    w, u, v = find_place(x, y, near, across, down)
    at, four = find_column(record, WHOLE_WIDTH, 0), np.int32(15)
    texture, shape = whole[at], whole[np.uint32(at + np.uint32(WHOLE.shape))]
    level_x, level_y = find_spot(x, y, near, shape, whole[np.uint32(at + np.uint32(WHOLE.colour))])
    steps = measure_footprint(level_x, level_y, near, across, down)
    major, minor = measure_sides(steps[0], steps[1], steps[2], steps[3])
    is_plain = is_sky(shape) & (major >= np.float32(1.0))
    last = np.int32(np.int32(shape >> np.int32(SHAPE.last)) & four)
    level = choose_level(major, minor, np.float32(1.0) if is_plain else share, last)
    wide, high = np.int32(shape & four), np.int32(np.int32(shape >> np.int32(SHAPE.height)) & four)
    scale_u, scale_v, _, mask_u, mask_v = lay_out_level(level, wide, high)
    spot = np.uint32(np.int32(u * scale_u)), np.uint32(np.int32(v * scale_v)), np.uint32(mask_u), np.uint32(mask_v)
    return w, spot, (scale_u, scale_v), (texture, level), (steps, major), is_plain, shape


@span_kernel
def fetch(base, spot, aside_u, aside_v, texel):
    """Return a texel some way from a pixel's middle."""
    u, v, mask_u, mask_v = spot
    place = locate_texel(np.uint32(u + aside_u), np.uint32(v + aside_v), mask_u, mask_v)
    return texel[np.uint32(np.uint32(base + place) & np.uint32(0x3FFFFFFF))]


@span_kernel
def choose_colour(mixed, plain, is_plain, shape, record, whole):
    """Return a pixel's colour: its triangle's if that has one, a texel of the sky as it is, else the mixed one."""
    single = np.uint32(whole[find_column(record, WHOLE_WIDTH, WHOLE.colour)])
    is_single = np.int32(np.int32(shape >> np.int32(SHAPE.flat)) & np.int32(1)) != np.int32(0)
    seen = np.uint32(plain & np.uint32(0xFFFFFF)) if is_plain else mixed
    return single if is_single else seen


@span_kernel
def shade_four(pixels, first, y, haze, records, edge, plane, whole, level_base, texel, target):
    """Colour pixels of a row from four texels each.

    Args:
        pixels: How many.
        first: Column of the first.
        y: Their row.
        haze: Colour of the fog.
        records: Seen at each.
        edge: `GatherScratch.edge` of the camera.
        plane: `GatherScratch.plane`.
        whole: `GatherScratch.whole`.
        level_base, texel: As `PictureTables`.
        target: Written.
    """
    quarter = np.float32(0.25)
    for k in range(pixels):
        record, x = np.uint32(records[k]), first + np.float32(np.int32(k))
        w, spot, scale, place, footprint, is_plain, shape = lay_out_pixel(record, x, y, quarter, edge, plane, whole)
        (ux, vx, uy, vy), major = footprint
        base = np.uint32(level_base[np.uint32(place[0]), np.uint32(place[1])])
        u1, v1, u2, v2 = spread_texels(ux, vx, uy, vy, major)
        none = np.float32(0.0)
        scale_u, scale_v = none if is_plain else scale[0], none if is_plain else scale[1]
        u1, v1 = np.uint32(np.int32(u1 * scale_u)), np.uint32(np.int32(v1 * scale_v))
        u2, v2 = np.uint32(np.int32(u2 * scale_u)), np.uint32(np.int32(v2 * scale_v))
        zero = np.uint32(0)
        c1, c2 = fetch(base, spot, u1, v1, texel), fetch(base, spot, u2, v2, texel)
        c3 = fetch(base, spot, np.uint32(zero - u1), np.uint32(zero - v1), texel)
        c4 = fetch(base, spot, np.uint32(zero - u2), np.uint32(zero - v2), texel)
        even, odd = add_texels(c1, c2, c3, c4)
        red, green, blue = read_plane(record, PLANE_OF.factor, plane)
        clear = clear_view(plane[find_column(record, PLANE_OF_WIDTH, PLANE_OF.fog)], w)
        mixed = mix_colour(even, odd, (red * quarter, green * quarter, blue * quarter), haze, clear)
        target[k] = choose_colour(mixed, c1, is_plain, shape, record, whole)


@span_kernel
def shade_one(pixels, first, y, haze, records, edge, plane, whole, level_base, texel, target):
    """Colour pixels of a row from one texel each; see `shade_four`."""
    pair, eight, one = np.uint32(0xFF00FF), np.uint32(8), np.float32(1.0)
    for k in range(pixels):
        record, x = np.uint32(records[k]), first + np.float32(np.int32(k))
        w, spot, _, place, _, _, shape = lay_out_pixel(record, x, y, one, edge, plane, whole)
        base = np.uint32(level_base[np.uint32(place[0]), np.uint32(place[1])])
        c = fetch(base, spot, np.uint32(0), np.uint32(0), texel)
        even, odd = np.uint32(c & pair), np.uint32(np.uint32(c >> eight) & pair)
        clear = clear_view(plane[find_column(record, PLANE_OF_WIDTH, PLANE_OF.fog)], w)
        mixed = mix_colour(even, odd, read_plane(record, PLANE_OF.factor, plane), haze, clear)
        target[k] = choose_colour(mixed, c, is_sky(shape), shape, record, whole)


@inner_kernel(copied=True)
def find_run(index, sizes, scratch):
    """Return what an index over pixels stands for: camera, row, first column and pixels; no pixels if it is not drawn.

    An index takes `sizes.run` pixels of a row: many where they are coloured on vectors, few on a GPU.
    """
    runs = (sizes.stride + sizes.run - 1) // sizes.run
    line, place = split_index(index, runs)
    camera, row = split_index(line, sizes.height)
    first = place * sizes.run
    view, y = scratch.camera_view[camera], np.float32(np.int32(row))
    pixels = min(sizes.run, sizes.width - first)
    is_drawn = scratch.tally[camera, TALLY.is_drawn] != 0 and y >= view[VIEW.first] and y < view[VIEW.end]
    return camera, row, first, pixels if is_drawn else 0


@inner_kernel(copied=True)
def read_pixels(camera, row, first, sizes, tables, scratch):
    """Return what `shade_four` takes from its sixth argument on, and before them column, row and haze."""
    at = row * sizes.stride + first
    return (
        np.float32(np.int32(first)),
        np.float32(np.int32(row)),
        read_vector(scratch.light[camera], LIGHT.haze),
        scratch.ident[camera, at:],
        scratch.edge[camera],
        scratch.plane[camera],
        scratch.whole[camera],
        tables.level_base,
        tables.texel,
        scratch.colour[camera, at:],
    )


@index_kernel(loose=True)
def shade_pixels(index: int, sizes: GatherSizes, tables: PictureTables, scratch: GatherScratch) -> None:
    """Colour some pixels of a row from four texels each."""
    camera, row, first, pixels = find_run(index, sizes, scratch)
    if pixels > 0:
        x, y, haze, records, edge, plane, whole, base, texel, target = read_pixels(
            camera, row, first, sizes, tables, scratch
        )
        shade_four(pixels, x, y, haze, records, edge, plane, whole, base, texel, target)


@index_kernel(loose=True)
def shade_pixels_fast(index: int, sizes: GatherSizes, tables: PictureTables, scratch: GatherScratch) -> None:
    """Colour some pixels of a row from one texel each."""
    camera, row, first, pixels = find_run(index, sizes, scratch)
    if pixels > 0:
        x, y, haze, records, edge, plane, whole, base, texel, target = read_pixels(
            camera, row, first, sizes, tables, scratch
        )
        shade_one(pixels, x, y, haze, records, edge, plane, whole, base, texel, target)
