"""Which triangles of a cluster may be seen, and where their corners and edges lie on the screen.

Screen coordinates are pixel indices plus one, so that cutting off the fraction of a coordinate gives the first pixel
whose centre lies beyond it. Edges are evaluated from their two end points in an order of their own, so that neighbours
meet without gap or overlap.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_pixel_kernel, span_kernel
from donkeysim.render.kernels.layout import BASIS, LANES, SPHERE_RADIUS
from donkeysim.render.kernels.vector import dot, read_vector, subtract
from donkeysim.world.scene import SHADE_TWO_SIDED


@inner_pixel_kernel
def sees_sphere(sphere, basis, sides, near, far):
    """Return whether a sphere (centre, radius; mesh frame) may be in the picture.

    Args:
        sphere: (x, y, z, radius) [m].
        basis: Camera in the mesh's frame.
        sides: As `View.sides`.
        near: Near plane [m].
        far: Far plane [m].
    """
    centre = subtract(sphere, read_vector(basis, BASIS.eye))
    radius = sphere[SPHERE_RADIUS]
    w = dot(read_vector(basis, BASIS.w), centre)
    if w < near - radius or w > far + radius:
        return False
    # X and Y are pixels times w: comparing them with sides times w needs no division, and holds behind the eye too.
    x = dot(read_vector(basis, BASIS.x), centre)
    y = dot(read_vector(basis, BASIS.y), centre)
    reach_x, reach_y = sides.reach_x * radius, sides.reach_y * radius
    one = np.float32(1.0)
    inside = x > -reach_x and x < (sides.columns + one) * w + reach_x
    return inside and y > sides.first * w - reach_y and y < (sides.end + one) * w + reach_y


@span_kernel
def transform_vertices(count, basis, vertex, target):
    """Write X/w, Y/w, w, X and Y of `count` vertices, given by x, y and z."""
    vx, vy, vz = vertex
    screen_x, screen_y, away, flat_x, flat_y = target
    eye, to_x = read_vector(basis, BASIS.eye), read_vector(basis, BASIS.x)
    to_y, to_w = read_vector(basis, BASIS.y), read_vector(basis, BASIS.w)
    # Whole vectors of lanes, here and in all loops of this kind: a rest done one by one would take as long as the
    # loop, as a cluster has few vertices. What is written behind the last is room that nobody reads.
    for index in range((count + LANES - 1) & -LANES):
        point = (vx[index] - eye[0], vy[index] - eye[1], vz[index] - eye[2])
        x = dot(to_x, point)
        y = dot(to_y, point)
        w = dot(to_w, point)
        inverse = np.float32(1.0) / w
        screen_x[index] = x * inverse
        screen_y[index] = y * inverse
        away[index] = w
        flat_x[index] = x
        flat_y[index] = y


@span_kernel
def face_triangles(count, basis, normal, side, near):
    """Write on which side of `count` triangles the eye is (+ = front) [m] and their 1/w planes on the screen."""
    nx, ny, nz, offset = normal
    za, zb, zc = near
    eye, across = read_vector(basis, BASIS.eye), read_vector(basis, BASIS.ray_column)
    down, first = read_vector(basis, BASIS.ray_row), read_vector(basis, BASIS.ray_first)
    for index in range((count + LANES - 1) & -LANES):
        n = (nx[index], ny[index], nz[index])
        distance = dot(n, eye) - offset[index]
        # A ray meets the plane at w = -distance / (n·ray), so 1/w is linear on the screen, whatever the near plane
        # cuts off.
        over = np.float32(-1.0) / distance
        side[index] = distance
        za[index] = dot(n, across) * over
        zb[index] = dot(n, down) * over
        zc[index] = dot(n, first) * over


@inline_kernel
def list_facing(begin, end, whole, near, side, vertex, tables, corners, vertex_count):
    """List the corners of the triangles [begin, end) that face the eye, cut at the near plane; return their number.

    Args:
        begin: First triangle of the cluster.
        end: One behind its last.
        whole: Nothing of the cluster is nearer than the near plane.
        near: Near plane [m].
        side: As `face_triangles` wrote it.
        vertex: As `transform_vertices` wrote it; cutting adds some.
        tables: (triangle_vertex, triangle_flags).
        corners: (first, second, third corner, triangle); written.
        vertex_count: Vertices in use.
    """
    triangle_vertex, triangle_flags = tables
    first, second, third, number = corners
    away = vertex[2]
    count = np.int64(0)
    for index in range(end - begin):
        triangle = begin + index
        front = side[index] > np.float32(0.0)
        two_sided = (triangle_flags[triangle] & SHADE_TWO_SIDED) != 0
        # Corners run the same way round on the screen whichever side is seen, so that edges bound left or right. All
        # are written and only the count depends on the side: about half of them face the eye, which a processor would
        # often guess wrong.
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
                vertex_count += clip_near((a, b, c), near, vertex, at)
                for other in range(at + 2, vertex_count):
                    first[count] = at
                    second[count] = other - 1
                    third[count] = other
                    number[count] = index
                    count += 1
    return count


@inline_kernel
def clip_near(corners, near, vertex, at):
    """Cut a triangle of transformed vertices at w = near; write its corners from `at` on; return their number."""
    screen_x, screen_y, away, flat_x, flat_y = vertex
    count = 0
    previous = corners[2]
    for corner in corners:
        w0 = away[previous]
        w1 = away[corner]
        if (w0 >= near) != (w1 >= near):
            # Always from the inside: the neighbour across this edge then cuts it at the very same point.
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
    # From the upper end, whichever comes first: two triangles that share the edge get the same numbers for it.
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


@inline_kernel
def write_edge(k, start, end, target):
    """Write an edge of triangle `k` into (left, left_step, right, right_step); see `measure_triangles`."""
    left, left_step, right, right_step = target
    (xa, ya), (xb, yb) = start, end
    base, step = measure_edge(xa, ya, xb, yb)
    # Corners run so that an edge that goes down bounds the left. On the other side it is put out of sight: then all
    # three count on both sides, without a branch, and one loop over rows serves every triangle.
    zero, distant = np.float32(0.0), np.float32(1e9)
    left[k] = base if ya < yb else -distant
    left_step[k] = step if ya < yb else zero
    right[k] = base if ya > yb else distant
    right_step[k] = step if ya > yb else zero


@span_kernel
def measure_triangles(count, width, height, vertex, corners, box, left, right):
    """Write bounds and edges of triangles on the screen.

    Args:
        count: Triangles.
        width: Columns.
        height: Rows.
        vertex: As `transform_vertices` wrote it.
        corners: First, second and third corner of each triangle.
        box: First and end column, first and end row; written.
        left: Column at row 0 of each of three edges where it bounds the left, far away where it does not, then columns
            per row; written.
        right: The same for the right.
    """
    screen_x, screen_y = vertex[0], vertex[1]
    first, second, third = corners[0], corners[1], corners[2]
    low_column, end_column, low_row, end_row = box
    left0, left1, left2, left_step0, left_step1, left_step2 = left
    right0, right1, right2, right_step0, right_step1, right_step2 = right
    zero = np.float32(0.0)
    for k in range((count + LANES - 1) & -LANES):
        # Unsigned and short: Numba then adds no test for indices below 0, and a gather takes 32-bit offsets. Behind
        # the last triangle stand corners of an earlier cluster, which are within the room too.
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
        write_edge(k, (xa, ya), (xb, yb), (left0, left_step0, right0, right_step0))
        write_edge(k, (xb, yb), (xc, yc), (left1, left_step1, right1, right_step1))
        write_edge(k, (xc, yc), (xa, ya), (left2, left_step2, right2, right_step2))
