"""Visibility: which triangle is seen at each pixel, and how near it is. No colour is computed here.

Depth is 1/w (w along the optical axis), linear on the screen; coordinates are those of `outline`.
"""

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.footprint import (
    choose_level,
    compute_gradients,
    lay_out_level,
    locate_texel,
    measure_footprint,
    measure_sides,
)
from donkeysim.render.kernels.layout import CLUSTER_RANGE, INTEGER, LANES, RECORD, SIZE_LOG, STATE_NEW, VIEW, Cluster
from donkeysim.render.kernels.outline import (
    BEHIND,
    choose_triangles,
    face_triangles,
    list_cut,
    list_whole,
    measure_triangles,
    sees_sphere,
    transform_vertices,
)
from donkeysim.render.kernels.vector import read_planes, read_vector
from donkeysim.world.scene import SHADE_CUTOUT


@span_kernel
def trace_rows(first, end, low, high, left, right, iota, begin, stop):
    """Write the first and the end column of each row [first, end) of a triangle.

    Args:
        first: Row.
        end: Row behind the last.
        low: First column it may have.
        high: End of its columns.
        left: Six numbers of the triangle, as in `measure_triangles`.
        right: The same.
        iota: 0, 1, 2 … as float32.
        begin, stop: Written, from 0 on.
    """
    left0, left1, left2, left_step0, left_step1, left_step2 = left
    right0, right1, right2, right_step0, right_step1, right_step2 = right
    start = np.float32(np.int32(first))
    low_edge = np.float32(np.int32(low))
    high_edge = np.float32(np.int32(high))
    for k in range((end - first + LANES - 1) & -LANES):
        # A table of 0, 1, 2 … instead of `k` as a float: one load per vector, no conversion.
        y = start + iota[k]
        x0 = max(max(left0 + left_step0 * y, left1 + left_step1 * y), left2 + left_step2 * y)
        x1 = min(min(right0 + right_step0 * y, right1 + right_step1 * y), right2 + right_step2 * y)
        begin[k] = np.int32(min(max(x0, low_edge), high_edge))
        stop[k] = np.int32(min(max(x1, low_edge), high_edge))


@span_kernel
def keep_nearer(here, there):
    """Return the greater of two 1/w, not below 0."""
    # Of their bits, which are in the same order. Where it is left to "if", LLVM does not store what was just loaded:
    # it stores the rest of a vector through a mask, which takes AMD's processors a dozen cycles.
    return np.int32(max(np.float32(here).view(np.int32), np.float32(there).view(np.int32))).view(np.float32)


@span_kernel
def fill_rows(first, end, plane, stride, number, begins, stops, depth, ident, iota):
    """Mark the pixels of a convex shape that are nearer than what is there; `plane`: 1/w, as in a record."""
    za, zb, zc = plane
    for row in range(first, end):
        begin = np.int64(begins[row - first])
        count = np.int64(stops[row - first]) - begin
        z = zc + np.float32(np.int32(row)) * zb + np.float32(np.int32(begin)) * za
        near = depth[row * stride + begin :]
        mark = ident[row * stride + begin :]
        limit = np.float32(np.int32(count))
        # Whole lanes, and at least one: most rows of most triangles are shorter, and then need no loop. Here what lies
        # beyond the end must stay, so the end is part of the comparison.
        for k in range((max(count, 1) + LANES - 1) & -LANES):
            x = iota[k]
            here = z + x * za
            there, marked = near[k], mark[k]
            is_nearer = (x < limit) & (here > there)
            near[k] = keep_nearer(here if is_nearer else np.float32(0.0), there)
            mark[k] = number if is_nearer else marked


@span_kernel
def fill_rows_cutout(first, end, stride, number, record, integers, begins, stops, depth, ident, texel, iota):
    """As `fill_rows`, leaving out pixels whose texel is a hole.

    Args:
        first: Row.
        end: Row behind the last.
        stride: Pixels from one row to the next.
        number: The record's.
        record: Floats of the triangle, its mip level chosen.
        integers: Its whole numbers.
        begins, stops: As `trace_rows` wrote them.
        depth: Read and written.
        ident: Written.
        texel: The mip level.
        iota: 0, 1, 2 … as float32.
    """
    mask_u = np.uint32(integers[INTEGER.hole_mask_u])
    mask_v = np.uint32(integers[INTEGER.hole_mask_v])
    za = record[RECORD.near]
    ua, va = (record[RECORD.u] * record[RECORD.scale_u], record[RECORD.v] * record[RECORD.scale_v])
    for row in range(first, end):
        begin = np.int64(begins[row - first])
        count = np.int64(stops[row - first]) - begin
        x0 = np.float32(np.int32(begin))
        y = np.float32(np.int32(row))
        across, down = read_vector(record, RECORD.u), read_vector(record, RECORD.v)
        z = record[RECORD.near + 2] + y * record[RECORD.near + 1] + x0 * za
        u0 = (across[0] * x0 + across[1] * y + across[2]) * record[RECORD.scale_u]
        v0 = (down[0] * x0 + down[1] * y + down[2]) * record[RECORD.scale_v]
        near = depth[row * stride + begin :]
        mark = ident[row * stride + begin :]
        limit = np.float32(np.int32(count))
        for k in range((max(count, 1) + LANES - 1) & -LANES):
            x = iota[k]
            here = z + x * za
            w = np.float32(1.0) / here
            u = np.uint32(np.int32((u0 + ua * x) * w))
            v = np.uint32(np.int32((v0 + va * x) * w))
            # The highest bit of a packed texel is that of its alpha: at least one half is there.
            solid = texel[locate_texel(u, v, mask_u, mask_v)] >= np.uint32(0x80000000)
            there, marked = near[k], mark[k]
            is_nearer = (x < limit) & (here > there) & solid
            near[k] = keep_nearer(here if is_nearer else np.float32(0.0), there)
            mark[k] = number if is_nearer else marked


@inner_kernel(loose=True)
def lay_out_holes(record, integers, level_base, size_log):
    """Choose the mip level of a triangle's holes, for one texel per pixel at its middle, and write where it lies."""
    x, y = np.float32(integers[INTEGER.middle_x]), np.float32(integers[INTEGER.middle_y])
    near, across, down = read_planes(record)
    major, minor = measure_sides(*measure_footprint(x, y, near, across, down))
    texture = integers[INTEGER.texture]
    size = size_log[texture]
    level = choose_level(major, minor, np.float32(1.0), size[SIZE_LOG.last])
    scale_u, scale_v, shift, mask_u, mask_v = lay_out_level(level, size[SIZE_LOG.width], size[SIZE_LOG.height])
    record[RECORD.scale_u], record[RECORD.scale_v] = scale_u, scale_v
    integers[INTEGER.hole_shift], integers[INTEGER.hole_mask_u], integers[INTEGER.hole_mask_v] = (shift, mask_u, mask_v)
    integers[INTEGER.hole_level] = level_base[texture, level]


@inner_kernel(loose=True, merged=True)
def split_work(work, work_int):
    """Return a cluster's scratch by name."""
    return Cluster(
        (work[0], work[1], work[2], work[3], work[4]),
        work[5],
        (work[6], work[7], work[8]),
        (work[9], work[10], work[11], work[12], work[13], work[14]),
        (work[15], work[16], work[17], work[18], work[19], work[20]),
        work_int[0],
        work_int[1],
        work_int[2],
        work_int[3],
        (work_int[4], work_int[5], work_int[6], work_int[7]),
        work_int[8],
        work_int[9],
        work_int[10],
    )


@inner_kernel(loose=True, merged=True)
def outline_cluster(ranges, basis, view, near, rows, mesh, work):
    """List the triangles of a cluster that face the eye, with bounds and edges; return how many cover a pixel's middle.

    Args:
        ranges: Row of `cluster_range`.
        basis, view, near, mesh: As for `draw_mesh`.
        rows: Rows that triangles are cut to.
        work: Cluster; written.
    """
    vertex, triangle_vertex, normal, _, _, triangle_flags = mesh
    v0 = np.int64(ranges[CLUSTER_RANGE.vertex])
    vertex_count = np.int64(ranges[CLUSTER_RANGE.vertex_end]) - v0
    t0 = np.int64(ranges[CLUSTER_RANGE.triangle])
    t1 = np.int64(ranges[CLUSTER_RANGE.triangle_end])
    outside, behind = transform_vertices(
        vertex_count, basis, view, near, (vertex[0, v0:], vertex[1, v0:], vertex[2, v0:]), work.vertex, work.code
    )
    if outside != 0:
        return np.int64(0)
    normals = (normal[0, t0:], normal[1, t0:], normal[2, t0:], normal[3, t0:])
    face_triangles(t1 - t0, basis, normals, work.side, work.near)
    named = (triangle_vertex[0, t0:], triangle_vertex[1, t0:], triangle_vertex[2, t0:])
    choose_triangles(t1 - t0, work.side, work.code, named, triangle_flags[t0:], work.packed, work.order)
    if behind & BEHIND:
        listed = list_cut(t1 - t0, work.packed, work.order, near, work.vertex, vertex_count, work.corner, work.number)
    else:
        listed = list_whole(t1 - t0, work.packed, work.order, work.corner, work.number)
    measure_triangles(listed, view[VIEW.columns], rows, work.vertex, work.corner, work.box, work.left, work.right)
    low, high, first, end = work.box
    top, bottom = np.int32(view[VIEW.first]), np.int32(view[VIEW.end])
    kept = np.int64(0)
    for item in range(listed):
        # Written first and counted then, without a branch: most triangles far away lie between pixels' middles.
        work.order[kept] = item
        kept += np.int64((low[item] < high[item]) & (max(first[item], top) < min(end[item], bottom)))
    return kept


@inner_kernel(loose=True, merged=True)
def read_edges(edges, item):
    """Return what `measure_triangles` wrote of one side of a triangle."""
    return edges[0][item], edges[1][item], edges[2][item], edges[3][item], edges[4][item], edges[5][item]


@inner_kernel(loose=True, merged=True)
def start_record(record, integers, draw, triangle, local, box, work):
    """Begin a triangle's record with all that is known before it is coloured; `box`: its bounds, `local`: its row."""
    low, high, first, end = box
    za, zb, zc = work.near
    record[RECORD.near] = za[local]
    record[RECORD.near + 1] = zb[local]
    record[RECORD.near + 2] = zc[local]
    integers[INTEGER.triangle] = triangle
    integers[INTEGER.draw] = draw
    integers[INTEGER.state] = STATE_NEW
    integers[INTEGER.middle_x] = (low + high) >> 1
    integers[INTEGER.middle_y] = (first + end) >> 1
    integers[INTEGER.side] = np.int32(1) if work.side[local] > np.float32(0.0) else np.int32(-1)
    integers[INTEGER.extent] = max(end - first, high - low)


@inner_kernel(loose=True)
def draw_mesh(
    index, draw, basis, view, near, far, height, stride, count, clusters, mesh, material_texture, texels, scratch
):
    """Draw the visible clusters of a mesh; return the number of records in use.

    Args:
        index: Mesh.
        draw: Its instance, kept in the records.
        basis: Camera in the mesh's frame, columns BASIS.
        view: Columns VIEW.
        near: Near plane [m].
        far: Far plane [m].
        height: Rows that triangles are cut to, from the top.
        stride: Pixels from one row to the next in `depth` and `ident`.
        count: Records in use before.
        clusters: (mesh_range, cluster_range, cluster_sphere).
        mesh: (vertex, triangle_vertex, triangle_normal, triangle_plane, triangle_material, triangle_flags).
        material_texture: Of every material.
        texels: (texel, level_base, size_log).
        scratch: (depth, ident, record_float, record_int, iota, work_float, work_int); written.
    """
    mesh_range, cluster_range, cluster_sphere = clusters
    triangle_plane, triangle_material, triangle_flags = mesh[3], mesh[4], mesh[5]
    texel, level_base, size_log = texels
    depth, ident, record_float, record_int, iota, work_float, work_int = scratch
    work = split_work(work_float, work_int)
    rows = np.float32(np.int32(height))
    top, bottom = np.int64(view[VIEW.first]), np.int64(view[VIEW.end])
    for cluster in range(mesh_range[index, 0], mesh_range[index, 1]):
        sphere = cluster_sphere[cluster]
        if not sees_sphere(sphere, basis, view, near, far):
            continue
        t0 = np.int64(cluster_range[cluster, CLUSTER_RANGE.triangle])
        for rank in range(outline_cluster(cluster_range[cluster], basis, view, near, rows, mesh, work)):
            item = np.int64(work.order[rank])
            low, high = np.int64(work.box[0][item]), np.int64(work.box[1][item])
            first, end = np.int64(work.box[2][item]), np.int64(work.box[3][item])
            left, right = read_edges(work.left, item), read_edges(work.right, item)
            local = np.int64(work.number[item])
            triangle = t0 + local
            record, integers = record_float[count], record_int[count]
            # By its bounds in the whole picture: a band of rows then has the bytes that the whole picture has there.
            start_record(record, integers, draw, triangle, local, (low, high, first, end), work)
            first, end = max(first, top), min(end, bottom)
            trace_rows(first, end, low, high, left, right, iota, work.begin, work.stop)
            number = np.uint32(count)
            if triangle_flags[triangle] & SHADE_CUTOUT:
                compute_gradients(record, triangle_plane[triangle], basis)
                integers[INTEGER.texture] = material_texture[triangle_material[triangle]]
                lay_out_holes(record, integers, level_base, size_log)
                level = texel[integers[INTEGER.hole_level] :]
                fill_rows_cutout(
                    first, end, stride, number, record, integers, work.begin, work.stop, depth, ident, level, iota
                )
            else:
                plane = read_vector(record, RECORD.near)
                fill_rows(first, end, plane, stride, number, work.begin, work.stop, depth, ident, iota)
            count += 1
    return count
