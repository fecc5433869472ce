"""Which triangles of a cluster may be seen, and where their corners and edges lie on the screen.

Screen coordinates are pixel indices plus one, so that cutting off the fraction of a coordinate gives the first pixel
whose centre lies beyond it. Edges are evaluated from their two end points in an order of their own, so that neighbours
meet without gap or overlap.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel, span_kernel
from donkeysim.render.kernels.layout import LANES
from donkeysim.world.scene import SHADE_TWO_SIDED


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
