"""Visibility: which triangle is seen at each pixel, and how near it is. No colour is computed here.

Depth is 1/w (w along the optical axis), linear on the screen; coordinates are those of `outline`.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inner_pixel_kernel, span_kernel
from donkeysim.render.kernels.footprint import (
    choose_level,
    compute_gradients,
    lay_out_level,
    locate_texel,
    measure_footprint,
    measure_sides,
)
from donkeysim.render.kernels.layout import LANES, STATE_NEW
from donkeysim.render.kernels.outline import (
    face_triangles,
    list_facing,
    measure_triangles,
    sees_sphere,
    transform_vertices,
)
from donkeysim.world.scene import SHADE_CUTOUT


@span_kernel
def trace_rows(first, end, low, high, left, right, iota, begin, stop):
    """Write the first and the end column of each row [first, end) of a triangle.

    Args:
        low: First column it may have. high: End of its columns.
        left: Six numbers of the triangle, as in `measure_triangles`. right: The same.
        begin: Written, from 0 on; stop: likewise.
    """
    left0, left1, left2, left_step0, left_step1, left_step2 = left
    right0, right1, right2, right_step0, right_step1, right_step2 = right
    start = np.float32(np.int32(first))
    low_edge = np.float32(np.int32(low))
    high_edge = np.float32(np.int32(high))
    for k in range((end - first + LANES - 1) & -LANES):
        y = start + iota[k]
        x0 = max(max(left0 + left_step0 * y, left1 + left_step1 * y), left2 + left_step2 * y)
        x1 = min(min(right0 + right_step0 * y, right1 + right_step1 * y), right2 + right_step2 * y)
        begin[k] = np.int32(min(max(x0, low_edge), high_edge))
        stop[k] = np.int32(min(max(x1, low_edge), high_edge))


@span_kernel
def fill_rows(first, end, za, zb, zc, stride, number, begins, stops, depth, ident, iota):
    """Mark the pixels of a convex shape that are nearer than what is there."""
    for row in range(first, end):
        begin = np.int64(begins[row - first])
        count = np.int64(stops[row - first]) - begin
        z = zc + np.float32(np.int32(row)) * zb + np.float32(np.int32(begin)) * za
        near = depth[row * stride + begin :]
        mark = ident[row * stride + begin :]
        limit = np.float32(np.int32(count))
        for k in range((max(count, 1) + LANES - 1) & -LANES):
            x = iota[k]
            here = z + x * za
            if (x < limit) & (here > near[k]):
                near[k] = here
                mark[k] = number


@span_kernel
def fill_rows_cutout(first, end, stride, number, record, whole, begins, stops, depth, ident, texel, iota):
    """As `fill_rows`, leaving out pixels whose texel is a hole.

    Args:
        record: Floats, and `whole`: integers, of the triangle, its mip level chosen.
        texel: That level.
    """
    mask_u = np.uint32(whole[10])
    mask_v = np.uint32(whole[11])
    za, ua, va = record[0], record[3] * record[13], record[6] * record[14]
    for row in range(first, end):
        begin = np.int64(begins[row - first])
        count = np.int64(stops[row - first]) - begin
        x0 = np.float32(np.int32(begin))
        y = np.float32(np.int32(row))
        z = record[2] + y * record[1] + x0 * za
        u0 = (record[3] * x0 + record[4] * y + record[5]) * record[13]
        v0 = (record[6] * x0 + record[7] * y + record[8]) * record[14]
        near = depth[row * stride + begin :]
        mark = ident[row * stride + begin :]
        limit = np.float32(np.int32(count))
        for k in range((max(count, 1) + LANES - 1) & -LANES):
            x = iota[k]
            here = z + x * za
            w = np.float32(1.0) / here
            u = np.uint32(np.int32((u0 + ua * x) * w))
            v = np.uint32(np.int32((v0 + va * x) * w))
            solid = texel[locate_texel(u, v, mask_u, mask_v)] >= np.uint32(0x80000000)
            if (x < limit) & (here > near[k]) & solid:
                near[k] = here
                mark[k] = number


@inner_pixel_kernel
def lay_out_holes(record, whole, level_base, size_log):
    """Choose the mip level of a triangle's holes, for one texel per pixel at its middle, and write where it lies."""
    x, y = np.float32(whole[4]), np.float32(whole[5])
    near = (record[0], record[1], record[2])
    sides = measure_footprint(x, y, near, (record[3], record[4], record[5]), (record[6], record[7], record[8]))
    major, minor = measure_sides(*sides)
    texture = whole[3]
    level = choose_level(major, minor, np.float32(1.0), size_log[texture, 2])
    record[13], record[14], whole[9], whole[10], whole[11] = lay_out_level(
        level, size_log[texture, 0], size_log[texture, 1]
    )
    whole[8] = level_base[texture, level]


@inner_pixel_kernel
def draw_mesh(
    index,
    draw,
    basis,
    sides,
    near,
    far,
    height,
    stride,
    count,
    clusters,
    mesh,
    material_texture,
    texels,
    scratch,
):
    """Draw the visible clusters of a mesh; return the number of records in use.

    Over 80 lines, as one pass over a cluster's scratch: what stands alone is in `outline`, and each further function
    would take all these arrays again.

    Args:
        index: Mesh. draw: Its instance, kept in the records.
        basis: Camera in the mesh's frame, shape [BASIS_COLUMNS].
        sides: As `sees_sphere`.
        near: Near plane [m]. far: Far plane [m].
        height: Rows to draw, from the top. stride: Pixels from one row to the next in `depth` and `ident`.
        count: Records in use before.
        clusters: (mesh_range, cluster_range, cluster_sphere).
        mesh: (vertex, triangle_vertex, triangle_normal, triangle_plane, triangle_material, triangle_flags).
        material_texture: Of every material.
        texels: (texel, level_base, size_log).
        scratch: (depth, ident, record_float, record_int, iota, work_float, work_int); written.
    """
    mesh_range, cluster_range, cluster_sphere = clusters
    vertex, triangle_vertex, normal, triangle_plane, triangle_material, triangle_flags = mesh
    texel, level_base, size_log = texels
    depth, ident, record_float, record_int, iota, work, work_int = scratch
    screen_x, screen_y, away, flat_x, flat_y = work[0], work[1], work[2], work[3], work[4]
    side, za, zb, zc = work[5], work[6], work[7], work[8]
    lefts = (work[9], work[10], work[11], work[12], work[13], work[14])
    rights = (work[15], work[16], work[17], work[18], work[19], work[20])
    corners = (work_int[0], work_int[1], work_int[2], work_int[3])
    box = (work_int[4], work_int[5], work_int[6], work_int[7])
    begins, stops, order = work_int[8], work_int[9], work_int[10]
    tables = (triangle_vertex, triangle_flags)
    rows = np.float32(np.int32(height))
    for cluster in range(mesh_range[index, 0], mesh_range[index, 1]):
        sphere = cluster_sphere[cluster]
        if not sees_sphere(sphere, basis, sides, near, far):
            continue
        v0 = np.int64(cluster_range[cluster, 0])
        vertex_count = np.int64(cluster_range[cluster, 1]) - v0
        t0 = np.int64(cluster_range[cluster, 2])
        t1 = np.int64(cluster_range[cluster, 3])
        transform_vertices(
            vertex_count,
            basis,
            vertex[0, v0:],
            vertex[1, v0:],
            vertex[2, v0:],
            screen_x,
            screen_y,
            away,
            flat_x,
            flat_y,
        )
        face_triangles(t1 - t0, basis, normal[0, t0:], normal[1, t0:], normal[2, t0:], normal[3, t0:], side, za, zb, zc)
        middle = (
            basis[6] * (sphere[0] - basis[9]) + basis[7] * (sphere[1] - basis[10]) + basis[8] * (sphere[2] - basis[11])
        )
        whole_cluster = middle - sphere[3] > near
        listed = list_facing(
            t0, t1, whole_cluster, near, side, away, flat_x, flat_y, screen_x, screen_y, tables, corners, vertex_count
        )
        measure_triangles(
            listed, sides[0], rows, screen_x, screen_y, corners[0], corners[1], corners[2], box, lefts, rights
        )
        kept = np.int64(0)
        for item in range(listed):
            order[kept] = item
            kept += np.int64((box[0][item] < box[1][item]) & (box[2][item] < box[3][item]))
        for rank in range(kept):
            item = np.int64(order[rank])
            low = np.int64(box[0][item])
            high = np.int64(box[1][item])
            first = np.int64(box[2][item])
            end = np.int64(box[3][item])
            left = (lefts[0][item], lefts[1][item], lefts[2][item], lefts[3][item], lefts[4][item], lefts[5][item])
            right = (
                rights[0][item],
                rights[1][item],
                rights[2][item],
                rights[3][item],
                rights[4][item],
                rights[5][item],
            )
            trace_rows(first, end, low, high, left, right, iota, begins, stops)
            local = np.int64(corners[3][item])
            triangle = t0 + local
            record = record_float[count]
            whole = record_int[count]
            record[0] = za[local]
            record[1] = zb[local]
            record[2] = zc[local]
            whole[0] = triangle
            whole[1] = draw
            whole[2] = STATE_NEW
            whole[4] = (low + high) >> 1
            whole[5] = (first + end) >> 1
            whole[6] = np.int32(1) if side[local] > np.float32(0.0) else np.int32(-1)
            whole[7] = max(end - first, high - low)
            number = np.uint32(count)
            if triangle_flags[triangle] & SHADE_CUTOUT:
                compute_gradients(record, triangle_plane[triangle], basis)
                whole[3] = material_texture[triangle_material[triangle]]
                lay_out_holes(record, whole, level_base, size_log)
                fill_rows_cutout(
                    first, end, stride, number, record, whole, begins, stops, depth, ident, texel[whole[8] :], iota
                )
            else:
                fill_rows(
                    first, end, record[0], record[1], record[2], stride, number, begins, stops, depth, ident, iota
                )
            count += 1
    return count
