"""Visibility: which triangle is seen at each pixel, and how near it is. No colour is computed here.

Screen coordinates are pixel indices plus one, so that cutting off the fraction of a coordinate gives the first pixel
whose centre lies beyond it. Edges are evaluated from their two end points in an order of their own, so that neighbours
meet without gap or overlap. Depth is 1/w (w along the optical axis), linear on the screen.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel, span_kernel
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED

BASIS_COLUMNS = 32
"""Camera in a mesh's frame: rows X, Y, Z (0-8), eye (9-11), ray per column, per row, at the first pixel (12-20),
direction to the sun (21-23), paint (24-26)."""

RECORD_FLOATS = 16
"""Of a triangle that may be seen: 1/w per column, per row, at the first pixel (0-2), u/w (3-5), v/w (6-8) in texels,
red, green, blue factor (9-11), fog rate (12), scales of u and v at the chosen mip level (13, 14)."""

RECORD_INTS = 20
"""Triangle (0), draw (1), `STATE_*` (2), texture (3), middle column and row (4, 5), side (6), longer side of its
bounds (7), first texel (8), logarithm of the width (9), masks of u and v (10, 11), steps to the other texels of
a pixel (12-15), packed colour (16)."""

STATE_NEW, STATE_FLAT, STATE_SMALL, STATE_LARGE, STATE_PLAIN = range(5)
"""How a record is coloured: not known yet; one colour; one mip level; a mip level per block; the sky."""

SMALL_SIDE = 40
"""Triangles with fewer columns and rows than this have one mip level and one amount of fog."""

TINY_SIDE = 5
"""Those with fewer than this have one colour, the mean of their part of the texture."""

TINY_SIDE_FAST = 12
"""The same for the quality `fast`."""

WORK_FLOATS = 21
"""Rows of a cluster's float scratch: see `draw_mesh`."""

WORK_INTS = 11
"""Rows of its integer scratch."""

LANES = 8
"""Row loops run over multiples of this many pixels; rows are padded accordingly."""


@span_kernel
def transform_vertices(count, basis, vx, vy, vz, screen_x, screen_y, away, flat_x, flat_y):
    """Write X/w, Y/w, w, X and Y of `count` vertices."""
    ex, ey, ez = basis[9], basis[10], basis[11]
    xx, xy, xz = basis[0], basis[1], basis[2]
    yx, yy, yz = basis[3], basis[4], basis[5]
    zx, zy, zz = basis[6], basis[7], basis[8]
    for index in range((count + LANES - 1) & -LANES):
        px = vx[index] - ex
        py = vy[index] - ey
        pz = vz[index] - ez
        x = xx * px + xy * py + xz * pz
        y = yx * px + yy * py + yz * pz
        w = zx * px + zy * py + zz * pz
        inverse = np.float32(1.0) / w
        screen_x[index] = x * inverse
        screen_y[index] = y * inverse
        away[index] = w
        flat_x[index] = x
        flat_y[index] = y


@span_kernel
def face_triangles(count, basis, nx, ny, nz, offset, side, za, zb, zc):
    """Write on which side of `count` triangles the eye is (+ = front) [m] and their 1/w planes on the screen."""
    ex, ey, ez = basis[9], basis[10], basis[11]
    ax, ay, az = basis[12], basis[13], basis[14]
    bx, by, bz = basis[15], basis[16], basis[17]
    cx, cy, cz = basis[18], basis[19], basis[20]
    for index in range((count + LANES - 1) & -LANES):
        x, y, z = nx[index], ny[index], nz[index]
        distance = x * ex + y * ey + z * ez - offset[index]
        over = np.float32(-1.0) / distance
        side[index] = distance
        za[index] = (x * ax + y * ay + z * az) * over
        zb[index] = (x * bx + y * by + z * bz) * over
        zc[index] = (x * cx + y * cy + z * cz) * over


@inline_kernel
def list_facing(begin, end, whole, near, side, away, flat_x, flat_y, screen_x, screen_y, tables, corners, vertex_count):
    """List the corners of the triangles [begin, end) that face the eye, cut at the near plane; return their number.

    Args:
        whole: Nothing of the cluster is nearer than the near plane.
        near: Near plane [m].
        tables: (triangle_vertex, triangle_flags).
        corners: (first, second, third corner, triangle); written.
        vertex_count: Vertices in use; cutting adds some.
    """
    triangle_vertex, triangle_flags = tables
    first, second, third, number = corners
    count = np.int64(0)
    for index in range(end - begin):
        triangle = begin + index
        front = side[index] > np.float32(0.0)
        two_sided = (triangle_flags[triangle] & SHADE_TWO_SIDED) != 0
        a = triangle_vertex[0, triangle]
        b = triangle_vertex[1 if front else 2, triangle]
        c = triangle_vertex[2 if front else 1, triangle]
        first[count] = a
        second[count] = b
        third[count] = c
        number[count] = index
        kept = front | (two_sided & (side[index] != np.float32(0.0)))
        if whole:
            count += np.int64(kept)
        elif kept:
            behind = np.int64(away[a] < near) + np.int64(away[b] < near) + np.int64(away[c] < near)
            if behind == 0:
                count += 1
            elif behind < 3:
                at = vertex_count
                vertex_count += clip_near(a, b, c, near, away, flat_x, flat_y, screen_x, screen_y, at)
                for other in range(at + 2, vertex_count):
                    first[count] = at
                    second[count] = other - 1
                    third[count] = other
                    number[count] = index
                    count += 1
    return count


@inline_kernel
def clip_near(a, b, c, near, away, flat_x, flat_y, screen_x, screen_y, at):
    """Cut a triangle of transformed vertices at w = near; write its corners from `at` on; return their number."""
    count = 0
    previous = c
    for corner in (a, b, c):
        w0 = away[previous]
        w1 = away[corner]
        if (w0 >= near) != (w1 >= near):
            inside, outside = (previous, corner) if w0 >= near else (corner, previous)
            share = (away[inside] - near) / (away[inside] - away[outside])
            screen_x[at + count] = (flat_x[inside] + share * (flat_x[outside] - flat_x[inside])) / near
            screen_y[at + count] = (flat_y[inside] + share * (flat_y[outside] - flat_y[inside])) / near
            count += 1
        if w1 >= near:
            screen_x[at + count] = screen_x[corner]
            screen_y[at + count] = screen_y[corner]
            count += 1
        previous = corner
    return count


@inner_pixel_kernel
def measure_edge(xa, ya, xb, yb):
    """Return (column at row 0, columns per row) of an edge; the same whichever end comes first; 0, 0 when level."""
    down = ya < yb
    xt = xa if down else xb
    yt = ya if down else yb
    xe = xb if down else xa
    ye = yb if down else ya
    height = ye - yt
    level = height == np.float32(0.0)
    slope = (xe - xt) / (np.float32(1.0) if level else height)
    slope = np.float32(0.0) if level else slope
    return xt + (np.float32(1.0) - yt) * slope, slope


@span_kernel
def measure_triangles(count, width, height, screen_x, screen_y, first, second, third, box, left, right):
    """Write bounds and edges of triangles on the screen.

    Args:
        count: Triangles. width: Columns. height: Rows.
        screen_x: Of vertices, with screen_y.
        first: Corners of triangles, with second and third.
        box: First and end column, first and end row; written.
        left: (column at row 0, columns per row) of each of three edges where it bounds the left, far away where it does
            not; written. right: The same for the right.
    """
    low_column, end_column, low_row, end_row = box
    left0, left1, left2, left_step0, left_step1, left_step2 = left
    right0, right1, right2, right_step0, right_step1, right_step2 = right
    zero = np.float32(0.0)
    distant = np.float32(1e9)
    for k in range((count + LANES - 1) & -LANES):
        a = np.uint32(np.uint32(first[k]) & np.uint32(0xFFFF))
        b = np.uint32(np.uint32(second[k]) & np.uint32(0xFFFF))
        c = np.uint32(np.uint32(third[k]) & np.uint32(0xFFFF))
        xa, ya = screen_x[a], screen_y[a]
        xb, yb = screen_x[b], screen_y[b]
        xc, yc = screen_x[c], screen_y[c]
        low_column[k] = np.int32(min(max(min(min(xa, xb), xc), zero), width))
        end_column[k] = np.int32(min(max(max(max(xa, xb), xc), zero), width))
        low_row[k] = np.int32(min(max(min(min(ya, yb), yc), zero), height))
        end_row[k] = np.int32(min(max(max(max(ya, yb), yc), zero), height))
        base, step = measure_edge(xa, ya, xb, yb)
        left0[k] = base if ya < yb else -distant
        left_step0[k] = step if ya < yb else zero
        right0[k] = base if ya > yb else distant
        right_step0[k] = step if ya > yb else zero
        base, step = measure_edge(xb, yb, xc, yc)
        left1[k] = base if yb < yc else -distant
        left_step1[k] = step if yb < yc else zero
        right1[k] = base if yb > yc else distant
        right_step1[k] = step if yb > yc else zero
        base, step = measure_edge(xc, yc, xa, ya)
        left2[k] = base if yc < ya else -distant
        left_step2[k] = step if yc < ya else zero
        right2[k] = base if yc > ya else distant
        right_step2[k] = step if yc > ya else zero


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


@inline_kernel
def fill_rows_cutout(first, end, stride, number, record, whole, begins, stops, depth, ident, texel):
    """As `fill_rows`, leaving out pixels whose texel is a hole.

    Args:
        record: Floats, and `whole`: integers, of the triangle, its mip level chosen.
        texel: That level.
    """
    mask_u = np.uint32(whole[10])
    mask_v = np.uint32(whole[11])
    for row in range(first, end):
        base = row * stride
        y = np.float32(np.int32(row))
        for column in range(begins[row - first], stops[row - first]):
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

    Returns the square of the footprint's longer side [texel²].

    The four texels of `default` sit on a rotated grid over the pixel's footprint, so the level's texels may be half as
    large as the footprint is narrow or a quarter of what it is long. Where texels are larger than pixels the grid
    grows up to twice its size, so that edges of texels are smooth.
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
            spread /= np.float32(np.sqrt(max(major, np.float32(0.25))))
        whole[12] = np.int32((-np.float32(3.0) * ux - uy) * spread * across_scale)
        whole[13] = np.int32((-np.float32(3.0) * vx - vy) * spread * down_scale)
        whole[14] = np.int32((ux - np.float32(3.0) * uy) * spread * across_scale)
        whole[15] = np.int32((vx - np.float32(3.0) * vy) * spread * down_scale)
    return major


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
                choose_level(record, whole, True, np.float32(whole[4]), np.float32(whole[5]), level_base, size_log)
                fill_rows_cutout(
                    first, end, stride, number, record, whole, begins, stops, depth, ident, texel[whole[8] :]
                )
            else:
                fill_rows(
                    first, end, record[0], record[1], record[2], stride, number, begins, stops, depth, ident, iota
                )
            count += 1
    return count
