"""Which triangles of a cluster may be seen, and where their corners and edges lie on the screen.

Screen coordinates are pixel indices plus one, so that cutting off the fraction of a coordinate gives the first pixel
whose centre lies beyond it. Edges are evaluated from their two end points in an order of their own, so that neighbours
meet without gap or overlap.
"""

import numpy as np

from donkeysim.core.kernel import inner_kernel, span_kernel
from donkeysim.render.kernels.layout import BASIS, LANES, SPHERE_RADIUS, VIEW
from donkeysim.render.kernels.vector import dot, read_vector, subtract
from donkeysim.world.scene import SHADE_TWO_SIDED


@inner_kernel(loose=True)
def sees_sphere(sphere, basis, view, near, far):
    """Return whether a sphere (centre, radius; mesh frame) may be in the picture.

    Args:
        sphere: (x, y, z, radius) [m].
        basis: Camera in the mesh's frame.
        view: Columns VIEW.
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
    reach_x, reach_y = view[VIEW.reach_x] * radius, view[VIEW.reach_y] * radius
    one = np.float32(1.0)
    inside = x > -reach_x and x < (view[VIEW.columns] + one) * w + reach_x
    return inside and y > view[VIEW.first] * w - reach_y and y < (view[VIEW.end] + one) * w + reach_y


FIELD, CORNER = np.uint32(10), np.uint32(0x3FF)
"""Bits of a corner in a word that holds three of them, and what they may be: a cluster has fewer vertices."""

BEHIND = 16
"""Of a vertex's code: nearer than the near plane. Lower bits: beyond the left, right, upper, lower edge."""


@inner_kernel(loose=True, merged=True)
def find_bounds(view):
    """Return least and greatest column and row of what is drawn on the screen, for `find_code`."""
    # Half a pixel farther than any pixel's middle, so that rounding loses nothing.
    half = np.float32(0.5)
    return half, view[VIEW.columns] + half, view[VIEW.first] + half, view[VIEW.end] + half


@span_kernel
def find_code(x, y, w, bounds, near):
    """Return beyond which bounds of what is drawn a vertex lies, see `BEHIND`; x and y are columns and rows times w."""
    low_x, high_x, low_y, high_y = bounds
    none = np.int32(0)
    beside = np.int32(1) if x < low_x * w else (np.int32(2) if x > high_x * w else none)
    beyond = np.int32(4) if y < low_y * w else (np.int32(8) if y > high_y * w else none)
    return np.int32(np.int32(beside | beyond) | (np.int32(BEHIND) if w < near else none))


@span_kernel
def transform_vertices(count, basis, view, near, vertex, target, code):
    """Write where vertices are on the screen; return what all their codes and what any of them have in common.

    Args:
        count: Vertices.
        basis: Camera in the mesh's frame.
        view: Columns VIEW.
        near: Near plane [m].
        vertex: Their x, y and z.
        target: X/w, Y/w, w, X and Y; written.
        code: Beyond which bounds of what is drawn they lie, see `BEHIND`; written.
    """
    vx, vy, vz = vertex
    screen_x, screen_y, away, flat_x, flat_y = target
    eye, to_x = read_vector(basis, BASIS.eye), read_vector(basis, BASIS.x)
    to_y, to_w = read_vector(basis, BASIS.y), read_vector(basis, BASIS.w)
    # Whole vectors of lanes, here and in all loops of this kind: a rest done one by one would take as long as the
    # loop, as a cluster has few vertices. What is written behind the last is room that nobody reads.
    none = np.int32(0)
    bounds = find_bounds(view)
    every, some = np.int32(-1), none
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
        bits = find_code(x, y, w, bounds, near)
        code[index] = bits
        is_real = index < count
        every = np.int32(every & (bits if is_real else np.int32(-1)))
        some = np.int32(some | (bits if is_real else none))
    return every, some


@span_kernel
def face_triangle(normal, offset, eye, rays):
    """Return on which side of a triangle the eye is (+ = front) [m] and its 1/w per column, row, at the first pixel."""
    across, down, first = rays
    distance = dot(normal, eye) - offset
    # A ray meets the plane at w = -distance / (n·ray): 1/w is linear on the screen, whatever the near plane cuts off.
    over = np.float32(-1.0) / distance
    return distance, (dot(normal, across) * over, dot(normal, down) * over, dot(normal, first) * over)


@span_kernel
def face_triangles(count, basis, normal, side, near):
    """Write on which side of `count` triangles the eye is (+ = front) [m] and their 1/w planes on the screen."""
    nx, ny, nz, offset = normal
    za, zb, zc = near
    eye, across = read_vector(basis, BASIS.eye), read_vector(basis, BASIS.ray_column)
    down, first = read_vector(basis, BASIS.ray_row), read_vector(basis, BASIS.ray_first)
    for index in range((count + LANES - 1) & -LANES):
        n = (nx[index], ny[index], nz[index])
        side[index], (za[index], zb[index], zc[index]) = face_triangle(n, offset[index], eye, (across, down, first))


@span_kernel
def choose_triangles(count, side, code, triangle_vertex, flags, packed, kind):
    """Write the corners of triangles, and which of them may be seen: 0 none, 1 as it is, 2 cut at the near plane.

    Args:
        count: Triangles.
        side: As `face_triangles` wrote it.
        code: As `transform_vertices` wrote it.
        triangle_vertex: First, second and third corners, from the first triangle on.
        flags: SHADE_*, likewise.
        packed: Written, three corners in one word.
        kind: Written.
    """
    one, two, three = triangle_vertex
    zero, none = np.float32(0.0), np.int32(0)
    for index in range((count + LANES - 1) & -LANES):
        # Corners run the same way round on the screen whichever side is seen, so that edges bound left or right.
        front = side[index] > zero
        a = np.uint32(one[index])
        b = np.uint32(two[index] if front else three[index])
        c = np.uint32(three[index] if front else two[index])
        packed[index] = np.int32(np.uint32(a | np.uint32(np.uint32(b << FIELD) | np.uint32(c << np.uint32(2 * FIELD)))))
        two_sided = (flags[index] & np.int32(SHADE_TWO_SIDED)) != none
        faces = front | (two_sided & (side[index] != zero))
        ca, cb, cc = code[np.uint32(a & CORNER)], code[np.uint32(b & CORNER)], code[np.uint32(c & CORNER)]
        inside = np.int32(np.int32(ca & cb) & cc) == none
        near = np.int32(np.int32(np.int32(ca | cb) | cc) & np.int32(BEHIND)) != none
        kind[index] = (np.int32(2) if near else np.int32(1)) if faces & inside else none


@span_kernel
def list_whole(count, packed, kind, corners, number):
    """List the triangles that may be seen, of a cluster that the near plane does not cut; return their number."""
    listed = np.uint32(0)
    for index in range(count):
        # All are written and only the count depends on the kind: a processor would often guess it wrong.
        corners[listed] = packed[index]
        number[listed] = np.int32(index)
        listed = np.uint32(listed + np.uint32(kind[index]))
    return np.int64(listed)


@inner_kernel(loose=True, merged=True)
def list_cut(count, packed, kind, near, vertex, vertex_count, corners, number):
    """List the triangles that may be seen, cut at the near plane; return their number.

    Args:
        count: Triangles of the cluster.
        packed, kind: As `choose_triangles` wrote them.
        near: Near plane [m].
        vertex: As `transform_vertices` wrote it; cutting adds some.
        vertex_count: Vertices in use.
        corners: Written, packed.
        number: Written, which triangle of the cluster it is.
    """
    listed = np.int64(0)
    for index in range(count):
        if kind[index] == 1:
            corners[listed] = packed[index]
            number[listed] = index
            listed += 1
        elif kind[index] == 2:
            word = np.uint32(packed[index])
            a, b = np.int64(word & CORNER), np.int64((word >> FIELD) & CORNER)
            at = vertex_count
            vertex_count += clip_near((a, b, np.int64(word >> np.uint32(2 * FIELD))), near, vertex, at)
            for other in range(at + 2, vertex_count):
                corners[listed] = at | (other - 1) << np.int64(FIELD) | other << np.int64(2 * FIELD)
                number[listed] = index
                listed += 1
    return listed


@inner_kernel(loose=True, merged=True)
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


@inner_kernel(loose=True)
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


@inner_kernel(loose=True, merged=True)
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
def measure_triangles(count, width, height, vertex, corner, box, left, right):
    """Write bounds and edges of triangles on the screen.

    Args:
        count: Triangles.
        width: Columns.
        height: Rows.
        vertex: As `transform_vertices` wrote it.
        corner: The three corners of each triangle, packed.
        box: First and end column, first and end row; written.
        left: Column at row 0 of each of three edges where it bounds the left, far away where it does not, then columns
            per row; written.
        right: The same for the right.
    """
    screen_x, screen_y = vertex[0], vertex[1]
    low_column, end_column, low_row, end_row = box
    left0, left1, left2, left_step0, left_step1, left_step2 = left
    right0, right1, right2, right_step0, right_step1, right_step2 = right
    zero = np.float32(0.0)
    for k in range((count + LANES - 1) & -LANES):
        # Unsigned and short: Numba then adds no test for indices below 0, and a gather takes 32-bit offsets. Behind
        # the last triangle stand corners of an earlier cluster, which are within the room too.
        word = np.uint32(corner[k])
        a = np.uint32(word & CORNER)
        b = np.uint32(np.uint32(word >> FIELD) & CORNER)
        c = np.uint32(np.uint32(word >> np.uint32(2 * FIELD)) & CORNER)
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
