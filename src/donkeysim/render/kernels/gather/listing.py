"""First stages: where cameras are, which clusters of triangles they may see, and which of these triangles."""

import numpy as np

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.types import BoolArray, IntArray
from donkeysim.render.kernels.gather.layout import TALLY, WHOLE, WHOLE_WIDTH, GatherScratch, GatherSizes, split_index
from donkeysim.render.kernels.layout import BASIS, CLUSTER_RANGE, LENS, SHARP, VIEW
from donkeysim.render.kernels.outline import find_bounds, find_code, sees_sphere
from donkeysim.render.kernels.poses import place_camera
from donkeysim.render.kernels.seen import NEAR, SKY_NEAR, find_drawn_rows, list_meshes, set_light, set_view
from donkeysim.render.kernels.vector import dot, read_vector, subtract
from donkeysim.render.tables import CameraTables, PictureTables, PoseTables
from donkeysim.world.scene import SHADE_TWO_SIDED

SKY_FAR = np.float32(1e9)
"""Far plane of the sky's box [m]."""

BOX_MARGIN = np.float32(1.0 / 64.0)
"""By how much bounds are larger than needed: rounding then leaves no gap between neighbours [pixel]."""


@index_kernel(loose=True)
def list_clusters(
    index: int,
    first: int,
    sizes: GatherSizes,
    tables: PictureTables,
    poses: PoseTables,
    cameras: CameraTables,
    begins: BoolArray,
    scratch: GatherScratch,
) -> None:
    """Place a camera and list the clusters that it may see, those of the sky first: there is always room for them.

    Args:
        index: Row of the working memory.
        first: Camera of the group that row 0 is.
        begins: Whether a world's cameras are drawn, shape [world_count]; of shape [0]: all are.
    """
    row, tally = first + index, scratch.tally[index]
    is_drawn = len(begins) == 0 or begins[cameras.world[row]]
    tally[TALLY.is_drawn] = 1 if is_drawn else 0
    if not is_drawn:
        tally[TALLY.clusters], tally[TALLY.records], tally[TALLY.shadows] = 0, 0, 0
        return
    if cameras.car[row] >= 0:
        owner, mount = cameras.car, cameras.mount
        place_camera(row, poses.position, poses.orientation, owner, mount, cameras.eye, cameras.axes)
    world, lens = np.int64(cameras.world[row]), cameras.lens[row]
    light, view = scratch.light[index], scratch.camera_view[index]
    set_light(light, cameras.light[row], lens)
    strength = (lens[LENS.fisheye], lens[LENS.fisheye + 1])
    drawn = find_drawn_rows((sizes.source_top, sizes.source_bottom), sizes.height, strength, sizes.quality != SHARP)
    size = (sizes.width, sizes.height, drawn[0], drawn[1], 1)
    set_view(view, cameras.eye[row], cameras.axes[row], lens, light, size)
    pose, bases, meshes = scratch.pose[index], scratch.basis[index], scratch.draw_mesh[index]
    target, counts = (meshes, bases, pose[0], pose[1]), (sizes.cars_per_world, sizes.props_per_world, True)
    draw_count = list_meshes(world, np.int64(cameras.car[row]), view, tables, poses, target, counts)
    names, draws = scratch.cluster[index], scratch.cluster_draw[index]
    listed = np.int64(0)
    for turn in range(draw_count):
        draw = draw_count - 1 if turn == 0 else turn - 1
        near, far = (SKY_NEAR, SKY_FAR) if turn == 0 else (NEAR, view[VIEW.far])
        mesh = meshes[draw]
        for cluster in range(tables.mesh_range[mesh, 0], tables.mesh_range[mesh, 1]):
            if listed < len(names) and sees_sphere(tables.cluster_sphere[cluster], bases[draw], view, near, far):
                names[listed] = cluster
                # The sky, whose near plane is another, is known by its sign.
                draws[listed] = -1 - draw if turn == 0 else draw
                listed += 1
    tally[TALLY.clusters] = listed


@inner_kernel(copied=True)
def find_draw(camera, place, scratch):
    """Return which mesh a listed cluster is of, and its near plane [m]."""
    draw = np.int64(scratch.cluster_draw[camera, place])
    return (-1 - draw, SKY_NEAR) if draw < 0 else (draw, NEAR)


@inner_kernel(copied=True)
def read_normal(triangle, tables):
    """Return a triangle's unit normal and offset."""
    normal = tables.triangle_normal
    return (normal[0, triangle], normal[1, triangle], normal[2, triangle]), normal[3, triangle]


@inner_kernel(copied=True)
def project(vertex, eye, basis, tables):
    """Return where a vertex is on the screen: column times w, row times w, w."""
    table = tables.vertex
    point = subtract((table[0, vertex], table[1, vertex], table[2, vertex]), eye)
    to_x, to_y, to_w = read_vector(basis, BASIS.x), read_vector(basis, BASIS.y), read_vector(basis, BASIS.w)
    return dot(to_x, point), dot(to_y, point), dot(to_w, point)


@inner_kernel(copied=True)
def project_triangle(triangle, first_vertex, eye, basis, tables):
    """Return the three corners of a triangle as `project` does."""
    corner = tables.triangle_vertex
    return (
        project(first_vertex + corner[0, triangle], eye, basis, tables),
        project(first_vertex + corner[1, triangle], eye, basis, tables),
        project(first_vertex + corner[2, triangle], eye, basis, tables),
    )


@inner_kernel(copied=True)
def bound_triangle(corners, near):
    """Return least and greatest column and row of a triangle, as far as it is beyond the near plane."""
    low_x, high_x, low_y, high_y = np.float32(1e9), np.float32(-1e9), np.float32(1e9), np.float32(-1e9)
    x0, y0, w0 = corners[2]
    for x1, y1, w1 in corners:
        if (w0 >= near) != (w1 >= near):
            share = (near - w0) / (w1 - w0)
            x, y = (x0 + share * (x1 - x0)) / near, (y0 + share * (y1 - y0)) / near
            low_x, high_x, low_y, high_y = min(low_x, x), max(high_x, x), min(low_y, y), max(high_y, y)
        if w1 >= near:
            over = np.float32(1.0) / w1
            x, y = x1 * over, y1 * over
            low_x, high_x, low_y, high_y = min(low_x, x), max(high_x, x), min(low_y, y), max(high_y, y)
        x0, y0, w0 = x1, y1, w1
    return low_x, high_x, low_y, high_y


@inner_kernel(copied=True)
def cut_bounds(bounds, margin, view):
    """Return first column, end, first row, end of bounds with a margin, within the picture."""
    low_x, high_x, low_y, high_y = bounds
    zero, columns, rows = np.float32(0.0), view[VIEW.columns], view[VIEW.rows]
    return (
        np.int32(min(max(low_x - margin, zero), columns)),
        np.int32(min(max(high_x + margin, zero), columns)),
        np.int32(min(max(low_y - margin, zero), rows)),
        np.int32(min(max(high_y + margin, zero), rows)),
    )


@inner_kernel(copied=True)
def may_be_seen(triangle, first_vertex, near, basis, view, tables):
    """Return whether a triangle faces the camera and may cover a pixel's middle."""
    eye = read_vector(basis, BASIS.eye)
    normal, offset = read_normal(triangle, tables)
    side = dot(normal, eye) - offset
    zero = np.float32(0.0)
    if side == zero or (side < zero and (tables.triangle_flags[triangle] & SHADE_TWO_SIDED) == 0):
        return False
    corners = project_triangle(triangle, first_vertex, eye, basis, tables)
    bounds = find_bounds(view)
    common = np.int32(-1)
    for x, y, w in corners:
        common = np.int32(common & find_code(x, y, w, bounds, near))
    if common != 0:
        return False
    low_x, end_x, low_y, end_y = cut_bounds(bound_triangle(corners, near), BOX_MARGIN, view)
    return low_x < end_x and max(low_y, np.int32(view[VIEW.first])) < min(end_y, np.int32(view[VIEW.end]))


@index_kernel(loose=True)
def cull_cluster(index: int, tables: PictureTables, scratch: GatherScratch) -> None:
    """Note which triangles of a listed cluster may be seen."""
    limit = scratch.cluster.shape[1]
    camera, place = split_index(index, limit)
    if place >= scratch.tally[camera, TALLY.clusters]:
        return
    draw, near = find_draw(camera, place, scratch)
    basis, view = scratch.basis[camera, draw], scratch.camera_view[camera]
    ranges = tables.cluster_range[scratch.cluster[camera, place]]
    first_vertex, begin = ranges[CLUSTER_RANGE.vertex], ranges[CLUSTER_RANGE.triangle]
    kept = np.int64(0)
    for triangle in range(begin, ranges[CLUSTER_RANGE.triangle_end]):
        if may_be_seen(triangle, first_vertex, near, basis, view, tables):
            kept |= np.int64(1) << np.int64(triangle - begin)
    scratch.cluster_kept[camera, place] = kept


@index_kernel(loose=True)
def number_records(index: int, first: int, scratch: GatherScratch, missed: IntArray) -> None:
    """Give each triangle of a camera that may be seen its record, in the order in which they are listed."""
    if scratch.tally[index, TALLY.is_drawn] == 0:
        return
    whole, limit = scratch.whole[index], scratch.whole.shape[1] // WHOLE_WIDTH - 1
    count = np.int64(0)
    for place in range(scratch.tally[index, TALLY.clusters]):
        kept = scratch.cluster_kept[index, place]
        triangle = np.int64(0)
        while kept != 0:
            if kept & 1:
                if count < limit:
                    whole[count * WHOLE_WIDTH + WHOLE.texture] = (place << 6) + triangle
                count += 1
            kept >>= 1
            triangle += 1
    scratch.tally[index, TALLY.records] = min(count, limit)
    missed[first + index] = max(count - limit, 0)
