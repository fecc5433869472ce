"""Shadows under cars and props, as `shadow` draws them: listed for each camera, then cast on its pixels."""

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel, span_kernel
from donkeysim.render.kernels.fog import FOG_SHARE
from donkeysim.render.kernels.gather.colour import find_run, measure_near
from donkeysim.render.kernels.gather.layout import CAST, TALLY, GatherScratch, GatherSizes
from donkeysim.render.kernels.layout import LIGHT, VIEW
from donkeysim.render.kernels.shadow import darken_pixel, find_caster, lay_shadow
from donkeysim.render.kernels.vector import read_vector
from donkeysim.render.tables import CameraTables, PictureTables, PoseTables


@index_kernel(loose=True)
def list_shadows(
    index: int,
    first: int,
    sizes: GatherSizes,
    tables: PictureTables,
    poses: PoseTables,
    cameras: CameraTables,
    scratch: GatherScratch,
) -> None:
    """List the shadows that a camera may see."""
    if scratch.tally[index, TALLY.is_drawn] == 0:
        return
    world, view, listed = np.int64(cameras.world[first + index]), scratch.camera_view[index], np.int64(0)
    for thing in range(sizes.cars_per_world + sizes.props_per_world):
        counts = (sizes.cars_per_world, sizes.props_per_world)
        shown, position, extent, heading, upright = find_caster(world, thing, tables, poses, counts)
        if not shown:
            continue
        size = (sizes.width, sizes.height)
        box, eye, axes, shape, slope = lay_shadow(position, heading, extent, size, view, upright)
        if box[0] < box[1] and box[2] < box[3]:
            cast = scratch.shadow[index, listed]
            for k in range(4):
                cast[CAST.box + k] = np.float32(np.int32(box[k]))
            for k in range(3):
                cast[CAST.eye + k] = eye[k]
                for axis in range(3):
                    cast[CAST.right + 3 * k + axis] = axes[k][axis]
            for k in range(9):
                cast[CAST.shape + k] = shape[k]
            for k in range(5):
                cast[CAST.slope + k] = slope[k]
            listed += 1
    scratch.tally[index, TALLY.shadows] = listed


@inner_kernel(copied=True)
def read_shape(cast):
    """Return extent and slope of a listed shadow, as `compute_darkness` takes them."""
    low, tall, last = CAST.shape, CAST.shape + 3, CAST.shape + 6
    extent = (
        cast[low],
        cast[low + 1],
        cast[low + 2],
        cast[tall],
        cast[tall + 1],
        cast[tall + 2],
        cast[last],
        cast[last + 1],
        cast[last + 2],
    )
    at = CAST.slope
    return extent, (cast[at], cast[at + 1], cast[at + 2], cast[at + 3], cast[at + 4])


@span_kernel
def darken_run(pixels, first, y, cast, middle, over, fog_rate, records, edge, colour):
    """Darken pixels of a row by one shadow.

    Args:
        pixels: How many.
        first: Column of the first.
        y: Their row.
        cast: Columns CAST.
        middle: Half of the picture's columns, half of its rows.
        over: 1 / focal length.
        fog_rate: As in a triangle's record.
        records: Seen at each.
        edge: `GatherScratch.edge` of the camera.
        colour: Read and written.
    """
    half = np.float32(0.5)
    eye, extent_slope = read_vector(cast, CAST.eye), read_shape(cast)
    extent, slope = extent_slope
    right, down, forward = read_vector(cast, CAST.right), read_vector(cast, CAST.down), read_vector(cast, CAST.forward)
    sy = (y + half - middle[1]) * over
    rx, ry, rz = forward[0] + sy * down[0], forward[1] + sy * down[1], forward[2] + sy * down[2]
    for k in range(pixels):
        x = first + np.float32(np.int32(k))
        w = np.float32(1.0) / measure_near(np.uint32(records[k]), x, y, edge)
        sx = (x + half - middle[0]) * over
        point = (
            eye[0] + w * (rx + sx * right[0]),
            eye[1] + w * (ry + sx * right[1]),
            eye[2] + w * (rz + sx * right[2]),
        )
        colour[k] = darken_pixel(colour[k], w, point, extent, slope, fog_rate)


@index_kernel(loose=True)
def darken_pixels(index: int, sizes: GatherSizes, scratch: GatherScratch) -> None:
    """Cast a camera's shadows on some pixels of a row."""
    camera, row, first, pixels = find_run(index, sizes, scratch)
    if pixels <= 0:
        return
    view, light, edge, half = scratch.camera_view[camera], scratch.light[camera], scratch.edge[camera], np.float32(0.5)
    y = np.float32(np.int32(row))
    middle, over = (half * view[VIEW.columns], half * view[VIEW.rows]), np.float32(1.0) / view[VIEW.focal]
    for place in range(scratch.tally[camera, TALLY.shadows]):
        cast = scratch.shadow[camera, place]
        if y >= cast[CAST.box + 2] and y < cast[CAST.box + 3]:
            begin, end = max(first, np.int64(cast[CAST.box])), min(first + pixels, np.int64(cast[CAST.box + 1]))
            if begin < end:
                at = row * sizes.stride + begin
                fog_rate, x = light[LIGHT.ground] * FOG_SHARE, np.float32(np.int32(begin))
                records, colour = scratch.ident[camera, at:], scratch.colour[camera, at:]
                darken_run(end - begin, x, y, cast, middle, over, fog_rate, records, edge, colour)
