"""A triangle's record: its edges, how it runs over its texture, its light."""

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.render.kernels.fog import find_fog_rate, pack_colour
from donkeysim.render.kernels.footprint import choose_level, lay_gradient, measure_footprint, measure_sides
from donkeysim.render.kernels.gather.layout import (
    EDGE_WIDTH,
    MOST_COLUMNS,
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
from donkeysim.render.kernels.gather.listing import (
    BOX_MARGIN,
    bound_triangle,
    cut_bounds,
    find_draw,
    project_triangle,
    read_normal,
)
from donkeysim.render.kernels.layout import BASIS, CLUSTER_RANGE, LIGHT, PLANE, SIZE_LOG, SMALL_SIDE
from donkeysim.render.kernels.outline import face_triangle
from donkeysim.render.kernels.shade import SHADE_NO_FOG, is_flat, mix_flat, weigh_light
from donkeysim.render.kernels.vector import read_vector
from donkeysim.render.tables import PictureTables
from donkeysim.world.scene import SHADE_CUTOUT


@inner_kernel(copied=True)
def lay_edge(start, end, side):
    """Return an edge's function per column, per row and at the first pixel; neighbours get the same, negated."""
    (xa, ya, wa), (xb, yb, wb) = start, end
    # From the same end, whichever comes first: what lies on the edge to a bit belongs to both neighbours.
    swap = xa > xb or (xa == xb and (ya > yb or (ya == yb and wa > wb)))
    px, py, pw = (xb, yb, wb) if swap else (xa, ya, wa)
    qx, qy, qw = (xa, ya, wa) if swap else (xb, yb, wb)
    way = -side if swap else side
    a, b, c = way * (py * qw - pw * qy), way * (pw * qx - px * qw), way * (px * qy - py * qx)
    # Corners are pixel indices plus one.
    return a, b, a + b + c


@inner_kernel(copied=True)
def write_edges(corners, side, near, edge):
    """Write the edges of a triangle; `side`: 1 when its front is seen, else -1."""
    one, two, three = corners
    # A front's corners run so that it lies where its edges' functions are negative.
    edges = (lay_edge(one, two, -side), lay_edge(two, three, -side), lay_edge(three, one, -side))
    for k in range(3):
        a, b, c = edges[k]
        edge[4 * k], edge[4 * k + 1], edge[4 * k + 2], edge[4 * k + 3] = a, b, c, near[k]


@inner_kernel(copied=True)
def pack_shape(size, hole, flat, flags, is_cut, columns):
    """Return a number of WHOLE.shape."""
    return (
        size[SIZE_LOG.width] << SHAPE.width
        | size[SIZE_LOG.height] << SHAPE.height
        | size[SIZE_LOG.last] << SHAPE.last
        | hole << SHAPE.hole
        | (1 << SHAPE.flat if flat else 0)
        | (1 << SHAPE.sky if flags & SHADE_NO_FOG else 0)
        | (1 << SHAPE.holed if flags & SHADE_CUTOUT else 0)
        | (1 << SHAPE.special if is_cut or flags & SHADE_CUTOUT else 0)
        | min(columns, MOST_COLUMNS) << SHAPE.columns
    )


@inner_kernel(copied=True)
def write_blank(camera, record, tables, scratch):
    """Write what is seen where no triangle is: fog. Nothing shows it, as the sky is all around."""
    light, whole = scratch.light[camera], scratch.whole[camera, record * WHOLE_WIDTH :]
    for column in range(EDGE_WIDTH):
        scratch.edge[camera, record * EDGE_WIDTH + column] = np.float32(0.0)
    for column in range(PLANE_OF_WIDTH):
        scratch.plane[camera, record * PLANE_OF_WIDTH + column] = np.float32(0.0)
    whole[WHOLE.texture], whole[WHOLE.shape] = 0, 1 << SHAPE.flat
    whole[WHOLE.triangle] = tables.cluster_range[scratch.cluster[camera, 0], CLUSTER_RANGE.triangle]
    whole[WHOLE.colour] = np.int32(pack_colour(light[LIGHT.haze], light[LIGHT.haze + 1], light[LIGHT.haze + 2]))


@inner_kernel(copied=True)
def choose_hole_level(middle, near, across, down, last):
    """Return the mip level of a triangle's holes, for one texel per pixel at its middle."""
    major, minor = measure_sides(*measure_footprint(middle[0], middle[1], near, across, down))
    return choose_level(major, minor, np.float32(1.0), last)


@index_kernel(loose=True)
def set_up_triangle(index: int, sizes: GatherSizes, tables: PictureTables, scratch: GatherScratch) -> None:
    """Write a triangle's record."""
    camera, record = split_index(index, scratch.whole.shape[1] // WHOLE_WIDTH)
    if record >= scratch.tally[camera, TALLY.records]:
        if record == scratch.tally[camera, TALLY.records] and scratch.tally[camera, TALLY.is_drawn] != 0:
            write_blank(camera, record, tables, scratch)
        return
    source = np.int64(scratch.whole[camera, record * WHOLE_WIDTH + WHOLE.texture])
    draw, near_plane = find_draw(camera, source >> 6, scratch)
    basis, view = scratch.basis[camera, draw], scratch.camera_view[camera]
    ranges = tables.cluster_range[scratch.cluster[camera, source >> 6]]
    triangle = np.int64(ranges[CLUSTER_RANGE.triangle]) + (source & 63)
    eye = read_vector(basis, BASIS.eye)
    rays = (
        read_vector(basis, BASIS.ray_column),
        read_vector(basis, BASIS.ray_row),
        read_vector(basis, BASIS.ray_first),
    )
    normal, offset = read_normal(triangle, tables)
    distance, near = face_triangle(normal, offset, eye, rays)
    side = np.float32(1.0) if distance > np.float32(0.0) else np.float32(-1.0)
    corners = project_triangle(triangle, np.int64(ranges[CLUSTER_RANGE.vertex]), eye, basis, tables)
    write_edges(corners, side, near, scratch.edge[camera, record * EDGE_WIDTH :])
    bounds = bound_triangle(corners, near_plane)
    low_x, end_x, low_y, end_y = cut_bounds(bounds, BOX_MARGIN, view)
    scratch.box[camera, 2 * record] = np.uint32(low_x | end_x << 16)
    scratch.box[camera, 2 * record + 1] = np.uint32(low_y | end_y << 16)
    low_x, end_x, low_y, end_y = cut_bounds(bounds, np.float32(0.0), view)
    is_cut = min(min(corners[0][2], corners[1][2]), corners[2][2]) < near_plane
    seen = ((low_x, end_x, low_y, end_y), is_cut, side, near)
    write_surface(camera, record, triangle, seen, basis, sizes.quality, tables, scratch)


@inner_kernel(copied=True)
def write_surface(camera, record, triangle, seen, basis, quality, tables, scratch):
    """Write how a triangle runs over its texture, and its light.

    Args:
        camera: Whose record it is.
        seen: Its bounds, whether the near plane cuts it, 1 when its front is seen, else -1, and its 1/w.
        basis: Camera in its mesh's frame.
        quality: `SHARP` or not.
        tables: PictureTables.
        scratch: GatherScratch; written.
    """
    (low_x, end_x, low_y, end_y), is_cut, side, near = seen
    light = scratch.light[camera]
    material = tables.triangle_material[triangle]
    flags, colour = tables.material_flags[material], tables.material_colour[material]
    texture, row = tables.material_texture[material], tables.triangle_plane[triangle]
    size = tables.size_log[texture]
    plane, whole = scratch.plane[camera, record * PLANE_OF_WIDTH :], scratch.whole[camera, record * WHOLE_WIDTH :]
    across, down = lay_gradient(row, PLANE.u, basis, near), lay_gradient(row, PLANE.v, basis, near)
    for term in range(3):
        plane[PLANE_OF.u + term], plane[PLANE_OF.v + term] = across[term], down[term]
        plane[PLANE_OF.factor + term] = weigh_light(term, row, side, flags, colour, basis, light)
    fog_rate = find_fog_rate(tables.material_segment[material], light)
    plane[PLANE_OF.fog] = fog_rate
    spot_x, spot_y, extent = (low_x + end_x) >> 1, (low_y + end_y) >> 1, max(end_y - low_y, end_x - low_x)
    middle = np.float32(spot_x), np.float32(spot_y)
    last, hole = size[SIZE_LOG.last], np.int32(0)
    if flags & SHADE_CUTOUT:
        hole = choose_hole_level(middle, near, across, down, last)
    flat = is_flat(extent, last, quality)
    whole[WHOLE.texture], whole[WHOLE.triangle] = texture, triangle
    whole[WHOLE.shape] = pack_shape(size, hole, flat, flags, is_cut, end_x - low_x)
    small = 1 << SPOT.small if extent < SMALL_SIDE else 0
    whole[WHOLE.colour] = spot_x << SPOT.column | spot_y << SPOT.row | small
    if flat:
        inverse = near[0] * middle[0] + near[1] * middle[1] + near[2]
        factor, mean = read_vector(plane, PLANE_OF.factor), read_vector(tables.triangle_mean[triangle], 0)
        whole[WHOLE.colour] = np.int32(mix_flat(inverse, fog_rate, factor, mean, light))
