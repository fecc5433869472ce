"""Visibility: which triangle is seen at each pixel, and how near it is. No colour is computed here.

Screen coordinates are pixel indices plus one, so that cutting off the fraction of a coordinate gives the first pixel
whose centre lies beyond it. Edges are evaluated from their two end points in an order of their own, so that neighbours
meet without gap or overlap. Depth is 1/w (w along the optical axis), linear on the screen.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inner_pixel_kernel, span_kernel
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED

BASIS_COLUMNS = 32
"""Camera in a mesh's frame: rows X, Y, Z (0-8), eye (9-11), ray per column, per row, at the first pixel (12-20),
direction to the sun (21-23), paint (24-26)."""

RECORD_FLOATS = 16
"""Of a triangle that may be seen: 1/w per column, per row, at the first pixel (0-2), u/w (3-5), v/w (6-8) in texels,
red, green, blue factor (9-11), fog rate (12), scales of u and v at the chosen mip level (13, 14)."""

RECORD_INTS = 20
"""Triangle (0), draw (1), `STATE_*` (2), texture (3), middle column and row (4, 5), side (6), whether it is small (7),
first texel (8), logarithm of the width (9), masks of u and v (10, 11), steps to the other texels of a pixel (12-15),
packed colour (16)."""

STATE_NEW, STATE_FLAT, STATE_SMALL, STATE_LARGE = range(4)
"""How a record is coloured: not known yet; one colour; one mip level; a mip level per block."""

SMALL_SIDE = 40
"""Triangles with fewer columns and rows than this are small: one mip level, one amount of fog."""

LANES = 8
"""Row loops run over multiples of this many pixels; rows are padded accordingly."""


@span_kernel
def transform_vertices(begin, count, basis, vertex, screen):
    """Write (X/w, Y/w, X, Y, w) of vertices from `begin` into `screen`, shape [5, vertex_limit]."""
    ex, ey, ez = basis[9], basis[10], basis[11]
    xx, xy, xz = basis[0], basis[1], basis[2]
    yx, yy, yz = basis[3], basis[4], basis[5]
    zx, zy, zz = basis[6], basis[7], basis[8]
    vx = vertex[0, begin:]
    vy = vertex[1, begin:]
    vz = vertex[2, begin:]
    for index in range((count + LANES - 1) & -LANES):
        px = vx[index] - ex
        py = vy[index] - ey
        pz = vz[index] - ez
        x = xx * px + xy * py + xz * pz
        y = yx * px + yy * py + yz * pz
        w = zx * px + zy * py + zz * pz
        inverse = np.float32(1.0) / w
        screen[0, index] = x * inverse
        screen[1, index] = y * inverse
        screen[2, index] = x
        screen[3, index] = y
        screen[4, index] = w


@inner_pixel_kernel
def clip_near(a, b, c, near, screen, polygon):
    """Cut a triangle of transformed vertices at w = near; write its corners (X/w, Y/w); return their number."""
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


@inner_pixel_kernel
def trace_edges(corners, down_is_left, first, end, width, height, polygon, spans):
    """Write the first and the end column of each row of a convex polygon into `spans`, shape [2, height]."""
    for row in range(first, end):
        spans[0, row] = np.int32(0)
        spans[1, row] = np.int32(0)
    limit = np.float32(height)
    edge = np.float32(width)
    xa = polygon[0, corners - 1]
    ya = polygon[1, corners - 1]
    for corner in range(corners):
        xb = polygon[0, corner]
        yb = polygon[1, corner]
        xt, yt, xe, ye, which = xa, ya, xb, yb, 0 if down_is_left else 1
        if ya > yb:
            xt, yt, xe, ye, which = xb, yb, xa, ya, 1 - which
        begin = np.int64(min(max(yt, np.float32(0.0)), limit))
        stop = np.int64(min(max(ye, np.float32(0.0)), limit))
        if begin < stop:
            slope = (np.float64(xe) - np.float64(xt)) / (np.float64(ye) - np.float64(yt))
            start = np.float32(np.float64(xt) + (np.float64(begin + 1) - np.float64(yt)) * slope)
            step = np.float32(slope)
            for row in range(stop - begin):
                x = start + np.float32(np.int32(row)) * step
                spans[which, begin + row] = np.int32(min(max(x, np.float32(0.0)), edge))
        xa = xb
        ya = yb


@span_kernel
def fill_rows(first, end, za, zb, zc, stride, number, spans, depth, ident, iota):
    """Mark the pixels of a convex shape that are nearer than what is there."""
    for row in range(first, end):
        begin = np.int64(spans[0, row])
        count = np.int64(spans[1, row]) - begin
        if count > 0:
            z = zc + np.float32(np.int32(row)) * zb + np.float32(np.int32(begin)) * za
            near = depth[row * stride + begin :]
            mark = ident[row * stride + begin :]
            limit = np.float32(np.int32(count))
            for k in range((count + LANES - 1) & -LANES):
                x = iota[k]
                here = z + x * za
                if (x < limit) & (here > near[k]):
                    near[k] = here
                    mark[k] = number


@inner_pixel_kernel
def fill_rows_cutout(first, end, stride, number, record, whole, spans, depth, ident, texel):
    """As `fill_rows`, leaving out pixels whose texel is a hole.

    Args:
        record: Floats, and `whole`: integers, of the triangle, its mip level chosen.
        texel: That level.
    """
    shift = np.uint32(whole[9])
    mask_u = np.uint32(whole[10])
    mask_v = np.uint32(whole[11])
    for row in range(first, end):
        base = row * stride
        y = np.float32(np.int32(row))
        for column in range(spans[0, row], spans[1, row]):
            x = np.float32(np.int32(column))
            here = record[2] + y * record[1] + x * record[0]
            if here > depth[base + column]:
                w = np.float32(1.0) / here
                u = np.uint32(np.int32((record[3] * x + record[4] * y + record[5]) * w * record[13]))
                v = np.uint32(np.int32((record[6] * x + record[7] * y + record[8]) * w * record[14]))
                at = np.uint32(np.uint32(u >> np.uint32(8)) & mask_u) | np.uint32(v & mask_v)
                if texel[at] >= np.uint32(0x80000000):
                    depth[base + column] = here
                    ident[base + column] = number


@inner_pixel_kernel
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


@inner_pixel_kernel
def choose_level(record, whole, sharp, x, y, level_base, size_log):
    """Choose a triangle's mip level for the footprint of the pixel (x, y), and where its four texels lie.

    The four texels of `default` sit on a rotated grid over the pixel's footprint, so the level's texels may be half as
    large as the footprint is narrow or a quarter of what it is long. The grid never gets smaller than a texel, so that
    near surfaces are smooth instead of blocky.
    """
    w = np.float32(1.0) / max(record[0] * x + record[1] * y + record[2], np.float32(1e-9))
    u = (record[3] * x + record[4] * y + record[5]) * w
    v = (record[6] * x + record[7] * y + record[8]) * w
    ux = (record[3] - u * record[0]) * w
    vx = (record[6] - v * record[0]) * w
    uy = (record[4] - u * record[1]) * w
    vy = (record[7] - v * record[1]) * w
    across = ux * ux + vx * vx
    along = uy * uy + vy * vy
    major = max(max(across, along), np.float32(1e-8))
    minor = min(across, along)
    texture = whole[3]
    if sharp:
        square = max(minor, major * np.float32(0.25))
    else:
        square = max(minor * np.float32(0.25), major * np.float32(0.0625))
    # Half the exponent of twice the square is the nearest logarithm to base 2 of the size.
    exponent = (np.float32(square * np.float32(2.0)).view(np.int32) >> np.int32(23)) - np.int32(127)
    level = min(max(exponent >> 1, 0), np.int64(size_log[texture, 2]))
    scale = np.float32(1.0) / np.float32(np.int32(1 << level))
    shift = max(np.int64(size_log[texture, 0]) - level, 0)
    high = max(np.int64(size_log[texture, 1]) - level, 0)
    across_scale = np.float32(256.0) * scale
    down_scale = np.float32(np.int32(1 << shift)) * scale
    record[13] = across_scale
    record[14] = down_scale
    whole[8] = level_base[texture, level]
    whole[9] = shift
    whole[10] = (1 << shift) - 1
    whole[11] = ((1 << high) - 1) << shift
    if not sharp:
        spread = np.float32(0.125)
        if major < np.float32(1.0):
            spread /= np.float32(np.sqrt(major))
        whole[12] = np.int32((-np.float32(3.0) * ux - uy) * spread * across_scale)
        whole[13] = np.int32((-np.float32(3.0) * vx - vy) * spread * down_scale)
        whole[14] = np.int32((ux - np.float32(3.0) * uy) * spread * across_scale)
        whole[15] = np.int32((vx - np.float32(3.0) * vy) * spread * down_scale)


@inner_pixel_kernel
def sees_sphere(sphere, basis, sides, near, far):
    """Return whether a sphere (centre, radius; mesh frame) may be in the picture.

    Args:
        sphere: (x, y, z, radius) [m].
        basis: Camera in the mesh's frame.
        sides: Columns, rows, and how far a sphere of radius 1 m reaches beyond them [pixel · m].
        near: Near plane [m].
        far: Far plane [m].
    """
    px, py, pz = sphere[0] - basis[9], sphere[1] - basis[10], sphere[2] - basis[11]
    radius = sphere[3]
    w = basis[6] * px + basis[7] * py + basis[8] * pz
    if w < near - radius or w > far + radius:
        return False
    x = basis[0] * px + basis[1] * py + basis[2] * pz
    y = basis[3] * px + basis[4] * py + basis[5] * pz
    reach_x = radius * sides[2]
    reach_y = radius * sides[3]
    one = np.float32(1.0)
    return x > -reach_x and y > -reach_y and x < (sides[0] + one) * w + reach_x and y < (sides[1] + one) * w + reach_y


@inner_pixel_kernel
def draw_mesh(
    index, draw, basis, sides, near, far, height, stride, sharp, count, clusters, mesh, material, texels, scratch
):
    """Draw the visible clusters of a mesh; return the number of records in use.

    Args:
        index: Mesh. draw: Its instance, kept in the records.
        basis: Camera in the mesh's frame, shape [BASIS_COLUMNS].
        sides: As `sees_sphere`.
        near: Near plane [m]. far: Far plane [m].
        height: Rows to draw, from the top. stride: Pixels from one row to the next in `depth` and `ident`.
        sharp: One texel per pixel.
        count: Records in use before.
        clusters: (mesh_range, cluster_range, cluster_sphere).
        mesh: (vertex, triangle_vertex, triangle_plane, triangle_material).
        material: (flags, texture).
        texels: (texel, level_base, size_log).
        scratch: (depth, ident, screen, spans, polygon, record_float, record_int, iota); written.
    """
    mesh_range, cluster_range, cluster_sphere = clusters
    vertex, triangle_vertex, triangle_plane, triangle_material = mesh
    material_flags, material_texture = material
    texel, level_base, size_log = texels
    depth, ident, screen, spans, polygon, record_float, record_int, iota = scratch
    zero = np.float32(0.0)
    far_x = sides[0]
    far_y = np.float32(np.int32(height))
    width = np.int64(sides[0])
    ex, ey, ez = basis[9], basis[10], basis[11]
    for cluster in range(mesh_range[index, 0], mesh_range[index, 1]):
        if not sees_sphere(cluster_sphere[cluster], basis, sides, near, far):
            continue
        vertex_begin = np.int64(cluster_range[cluster, 0])
        transform_vertices(vertex_begin, np.int64(cluster_range[cluster, 1]) - vertex_begin, basis, vertex, screen)
        for triangle in range(cluster_range[cluster, 2], cluster_range[cluster, 3]):
            nx = triangle_plane[triangle, 0]
            ny = triangle_plane[triangle, 1]
            nz = triangle_plane[triangle, 2]
            side = nx * ex + ny * ey + nz * ez - triangle_plane[triangle, 3]
            flags = material_flags[triangle_material[triangle]]
            if side <= zero and ((flags & SHADE_TWO_SIDED) == 0 or side == zero):
                continue
            a = np.int64(triangle_vertex[triangle, 0])
            b = np.int64(triangle_vertex[triangle, 1])
            c = np.int64(triangle_vertex[triangle, 2])
            behind = np.int64(screen[4, a] < near) + np.int64(screen[4, b] < near) + np.int64(screen[4, c] < near)
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
            first = np.int64(min(max(low_y, zero), far_y))
            end = np.int64(min(max(high_y, zero), far_y))
            begin = np.int64(min(max(low_x, zero), far_x))
            stop = np.int64(min(max(high_x, zero), far_x))
            if first >= end or begin >= stop:
                continue
            trace_edges(corners, side > zero, first, end, width, height, polygon, spans)
            over = np.float32(-1.0) / side
            za = (nx * basis[12] + ny * basis[13] + nz * basis[14]) * over
            zb = (nx * basis[15] + ny * basis[16] + nz * basis[17]) * over
            zc = (nx * basis[18] + ny * basis[19] + nz * basis[20]) * over
            record_float[count, 0] = za
            record_float[count, 1] = zb
            record_float[count, 2] = zc
            record_int[count, 0] = triangle
            record_int[count, 1] = draw
            record_int[count, 2] = STATE_NEW
            record_int[count, 4] = (begin + stop) >> 1
            record_int[count, 5] = (first + end) >> 1
            record_int[count, 6] = np.int32(1) if side > zero else np.int32(-1)
            record_int[count, 7] = (
                np.int32(1) if end - first < SMALL_SIDE and stop - begin < SMALL_SIDE else np.int32(0)
            )
            if flags & SHADE_CUTOUT:
                record = record_float[count]
                whole = record_int[count]
                compute_gradients(record, triangle_plane[triangle], basis)
                whole[3] = material_texture[triangle_material[triangle]]
                choose_level(record, whole, True, np.float32(whole[4]), np.float32(whole[5]), level_base, size_log)
                fill_rows_cutout(
                    first, end, stride, np.uint32(count), record, whole, spans, depth, ident, texel[whole[8] :]
                )
            else:
                fill_rows(first, end, za, zb, zc, stride, np.uint32(count), spans, depth, ident, iota)
            count += 1
    return count
