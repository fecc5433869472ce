"""Visibility: which triangle is seen at each pixel, and how near it is. No colour is computed here.

Screen coordinates are pixel indices plus one, so that cutting off the fraction of a coordinate gives the first pixel whose centre lies
beyond it. Edges are evaluated from their two end points in an order of their own, so that neighbours meet without gap or overlap.
Depth is 1/w (w along the optical axis), linear on the screen.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, pixel_kernel
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED

BASIS_COLUMNS = 32
"""Camera in a mesh's frame: rows X, Y, Z (0-8), eye (9-11), ray per column, per row, at the first pixel (12-20),
direction to the sun (21-23), paint (24-26)."""

RECORD_FLOATS = 16
"""Of a triangle that may be seen: 1/w per column, per row, at the first pixel (0-2), u/w (3-5), v/w (6-8),
red, green, blue factor (9-11), fog rate (12)."""

RECORD_INTS = 8
"""Triangle (0), draw (1), whether shading is prepared (2), texture (3), material (4), side (5)."""

NEAREST_EDGE = np.float32(-1.0e9)


@inline_kernel
def trace_edge(xa, ya, xb, yb, down_is_left, height, width, left, right):
    """Write where one edge crosses the rows into `left` or `right`."""
    if ya < yb:
        xt, yt, xe, ye, is_left = xa, ya, xb, yb, down_is_left
    else:
        xt, yt, xe, ye, is_left = xb, yb, xa, ya, not down_is_left
    limit = np.float32(height)
    first = np.int32(min(max(yt, np.float32(0.0)), limit))
    end = np.int32(min(max(ye, np.float32(0.0)), limit))
    if first < end:
        slope = (np.float64(xe) - np.float64(xt)) / (np.float64(ye) - np.float64(yt))
        start = np.float32(np.float64(xt) + (np.float64(first + 1) - np.float64(yt)) * slope)
        step = np.float32(slope)
        edge = np.float32(width)
        if is_left:
            for row in range(first, end):
                left[row] = np.int32(min(max(start + np.float32(row - first) * step, np.float32(0.0)), edge))
        else:
            for row in range(first, end):
                right[row] = np.int32(min(max(start + np.float32(row - first) * step, np.float32(0.0)), edge))


@pixel_kernel
def transform_vertices(begin, end, basis, vertex, screen):
    """Write (X/w, Y/w, X, Y, w) of vertices [begin, end) into `screen`, shape [5, vertex_limit]."""
    ex, ey, ez = basis[9], basis[10], basis[11]
    xx, xy, xz = basis[0], basis[1], basis[2]
    yx, yy, yz = basis[3], basis[4], basis[5]
    zx, zy, zz = basis[6], basis[7], basis[8]
    one = np.float32(1.0)
    for index in range(end - begin):
        px = vertex[0, begin + index] - ex
        py = vertex[1, begin + index] - ey
        pz = vertex[2, begin + index] - ez
        x = xx * px + xy * py + xz * pz
        y = yx * px + yy * py + yz * pz
        w = zx * px + zy * py + zz * pz
        inverse = one / w
        screen[0, index] = x * inverse
        screen[1, index] = y * inverse
        screen[2, index] = x
        screen[3, index] = y
        screen[4, index] = w


@pixel_kernel
def clip_near(a, b, c, near, screen, polygon):
    """Cut a triangle of transformed vertices at w = near; write corners (X/w, Y/w) into `polygon`; return their number."""
    count = 0
    previous = c
    for corner in (a, b, c):
        w0 = screen[4, previous]
        w1 = screen[4, corner]
        if (w0 >= near) != (w1 >= near):
            inside, outside = (previous, corner) if w0 >= near else (corner, previous)
            share = (screen[4, inside] - near) / (screen[4, inside] - screen[4, outside])
            polygon[0, count] = (screen[2, inside] + share * (screen[2, outside] - screen[2, inside])) / near
            polygon[1, count] = (screen[3, inside] + share * (screen[3, outside] - screen[3, inside])) / near
            count += 1
        if w1 >= near:
            polygon[0, count] = screen[0, corner]
            polygon[1, count] = screen[1, corner]
            count += 1
        previous = corner
    return count


@pixel_kernel
def fill_rows(first, end, left, right, za, zb, zc, stride, number, depth, ident):
    """Mark the pixels of a convex shape that are nearer than what is there."""
    for row in range(first, end):
        begin = left[row]
        stop = right[row]
        z = zc + np.float32(row) * zb
        base = row * stride
        for column in range(begin, stop):
            here = z + np.float32(column) * za
            if here > depth[base + column]:
                depth[base + column] = here
                ident[base + column] = number


@pixel_kernel
def fill_rows_cutout(first, end, left, right, za, zb, zc, stride, number, depth, ident, texel, shape):
    """As `fill_rows`, leaving out pixels whose texel is a hole.

    Args:
        texel: The texture's mip level.
        shape: u/w and v/w in texels of the level (per column, per row, at the first pixel), logarithm of the width,
            masks, shape [9].
    """
    shift = np.uint32(shape[6])
    mask_u = np.uint32(shape[7])
    mask_v = np.uint32(shape[8])
    for row in range(first, end):
        base = row * stride
        for column in range(left[row], right[row]):
            x = np.float32(column)
            y = np.float32(row)
            here = zc + y * zb + x * za
            if here > depth[base + column]:
                w = np.float32(256.0) / here
                u = np.uint32(np.int32((shape[0] * x + shape[1] * y + shape[2]) * w))
                v = np.uint32(np.int32((shape[3] * x + shape[4] * y + shape[5]) * w))
                at = (((v >> np.uint32(8)) & mask_v) << shift) | ((u >> np.uint32(8)) & mask_u)
                if texel[at] >= np.uint32(0x80000000):
                    depth[base + column] = here
                    ident[base + column] = number


@pixel_kernel
def prepare_cutout(record, texture, width, height, level_base, size_log, shape):
    """Choose the mip level of a cutout triangle at the middle of its rows and write `shape`; return the first texel."""
    x = np.float32(width) * np.float32(0.5)
    y = np.float32(height) * np.float32(0.5)
    q = record[0] * x + record[1] * y + record[2]
    if q <= np.float32(0.0):
        q = np.float32(1e-6)
    w = np.float32(1.0) / q
    u = (record[3] * x + record[4] * y + record[5]) * w
    v = (record[6] * x + record[7] * y + record[8]) * w
    ux = (record[3] - u * record[0]) * w
    vx = (record[6] - v * record[0]) * w
    uy = (record[4] - u * record[1]) * w
    vy = (record[7] - v * record[1]) * w
    square = max(ux * ux + vx * vx, uy * uy + vy * vy)
    level = np.int32(0)
    last = size_log[texture, 2]
    while square > np.float32(2.0) and level < last:
        square *= np.float32(0.25)
        level += np.int32(1)
    scale = np.float32(1.0) / np.float32(np.int32(1) << level)
    for index in range(6):
        shape[index] = record[3 + index] * scale
    log_u = max(size_log[texture, 0] - level, 0)
    log_v = max(size_log[texture, 1] - level, 0)
    shape[6] = np.float32(log_u)
    shape[7] = np.float32((1 << log_u) - 1)
    shape[8] = np.float32((1 << log_v) - 1)
    return level_base[texture, level]


@inline_kernel
def dot(ax, ay, az, bx, by, bz):
    """Return a·b."""
    return ax * bx + ay * by + az * bz


@pixel_kernel
def draw_cluster(
    ranges, draw, basis, near, width, height, stride, count, mesh, material_flags, material_texture, texels, scratch
):
    """Draw one cluster's triangles; return the number of records in use.

    Args:
        ranges: First and end vertex, first and end triangle.
        draw: Index of the mesh's instance in `basis` (kept in the records).
        basis: Camera in the mesh's frame, shape [BASIS_COLUMNS].
        near: Distance of the near plane along the optical axis [m].
        width: Columns; height: rows; stride: pixels from one row to the next in `depth` and `ident`.
        count: Records in use.
        mesh: (vertex, triangle_vertex, triangle_plane, triangle_material).
        texels: (pool, level_base, size_log).
        scratch: (depth, ident, screen, left, right, polygon, record_float, record_int, shape); written.
    """
    vertex, triangle_vertex, triangle_plane, triangle_material = mesh
    pool, level_base, size_log = texels
    depth, ident, screen, left, right, polygon, record_float, record_int, shape = scratch
    vertex_begin, vertex_end, triangle_begin, triangle_end = ranges
    transform_vertices(vertex_begin, vertex_end, basis, vertex, screen)
    zero = np.float32(0.0)
    far_x = np.float32(width)
    far_y = np.float32(height)
    ex, ey, ez = basis[9], basis[10], basis[11]
    for triangle in range(triangle_begin, triangle_end):
        nx = triangle_plane[triangle, 0]
        ny = triangle_plane[triangle, 1]
        nz = triangle_plane[triangle, 2]
        side = nx * ex + ny * ey + nz * ez - triangle_plane[triangle, 3]
        flags = material_flags[triangle_material[triangle]]
        if side <= zero and ((flags & SHADE_TWO_SIDED) == 0 or side == zero):
            continue
        a = triangle_vertex[triangle, 0]
        b = triangle_vertex[triangle, 1]
        c = triangle_vertex[triangle, 2]
        behind = (screen[4, a] < near) + (screen[4, b] < near) + (screen[4, c] < near)
        if behind == 3:
            continue
        corners = 3
        if behind == 0:
            polygon[0, 0], polygon[1, 0] = screen[0, a], screen[1, a]
            polygon[0, 1], polygon[1, 1] = screen[0, b], screen[1, b]
            polygon[0, 2], polygon[1, 2] = screen[0, c], screen[1, c]
        else:
            corners = clip_near(a, b, c, near, screen, polygon)
        low_x = polygon[0, 0]
        high_x = low_x
        low_y = polygon[1, 0]
        high_y = low_y
        for corner in range(1, corners):
            low_x = min(low_x, polygon[0, corner])
            high_x = max(high_x, polygon[0, corner])
            low_y = min(low_y, polygon[1, corner])
            high_y = max(high_y, polygon[1, corner])
        first = np.int32(min(max(low_y, zero), far_y))
        end = np.int32(min(max(high_y, zero), far_y))
        if first >= end or np.int32(min(max(low_x, zero), far_x)) >= np.int32(min(max(high_x, zero), far_x)):
            continue
        for row in range(first, end):
            left[row] = np.int32(0)
            right[row] = np.int32(0)
        previous = corners - 1
        for corner in range(corners):
            trace_edge(
                polygon[0, previous],
                polygon[1, previous],
                polygon[0, corner],
                polygon[1, corner],
                side > zero,
                height,
                width,
                left,
                right,
            )
            previous = corner
        over = np.float32(-1.0) / side
        za = (nx * basis[12] + ny * basis[13] + nz * basis[14]) * over
        zb = (nx * basis[15] + ny * basis[16] + nz * basis[17]) * over
        zc = (nx * basis[18] + ny * basis[19] + nz * basis[20]) * over
        record_float[count, 0] = za
        record_float[count, 1] = zb
        record_float[count, 2] = zc
        record_int[count, 0] = triangle
        record_int[count, 1] = draw
        record_int[count, 2] = 0
        record_int[count, 5] = np.int32(1) if side > zero else np.int32(-1)
        if flags & SHADE_CUTOUT:
            compute_gradients(record_float[count], triangle_plane[triangle], basis)
            texture = material_texture[triangle_material[triangle]]
            middle_x = min(max(np.float32(0.5) * (low_x + high_x), zero), far_x)
            middle_y = min(max(np.float32(0.5) * (low_y + high_y), zero), far_y)
            base = prepare_cutout(
                record_float[count],
                texture,
                middle_x * np.float32(2.0),
                middle_y * np.float32(2.0),
                level_base,
                size_log,
                shape,
            )
            fill_rows_cutout(
                first, end, left, right, za, zb, zc, stride, np.uint32(count), depth, ident, pool[base:], shape
            )
        else:
            fill_rows(first, end, left, right, za, zb, zc, stride, np.uint32(count), depth, ident)
        count += 1
    return count


@pixel_kernel
def compute_gradients(record, plane, basis):
    """Write u/w and v/w of a triangle (records 3 to 8) from its gradients in the mesh's frame."""
    for axis in range(2):
        gx = plane[4 + 4 * axis]
        gy = plane[5 + 4 * axis]
        gz = plane[6 + 4 * axis]
        at_eye = gx * basis[9] + gy * basis[10] + gz * basis[11] + plane[7 + 4 * axis]
        for term in range(3):
            ray = gx * basis[12 + 3 * term] + gy * basis[13 + 3 * term] + gz * basis[14 + 3 * term]
            record[3 + 3 * axis + term] = at_eye * record[term] + ray
