"""Contacts between two boxes: separating axes, then the overlap of the touching faces, or two edges."""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_kernel
from donkeysim.physics.kernels.shape import add_contact

EDGE_PREFERENCE = 0.001
"""An axis across two edges is taken only if it parts the boxes by this much more than every face's [m]."""


@inner_kernel
def project_axis(box, side, x, y, z):
    """Return half the length of a box's projection on a direction."""
    total = 0.0
    for axis in range(3):
        total += box[side, axis] * abs(x * box[side, 6 + axis] + y * box[side, 9 + axis] + z * box[side, 12 + axis])
    return total


@inline_kernel
def find_axis(box, margin):
    """Return the axis that parts two boxes best.

    Returns:
        Gap along it [m] (negative: overlap; above `margin`: apart), which axis (0-2 faces of box 0, 3-5 of box 1,
        6-14 edge pairs), and its direction (x, y, z) from box 1 to box 0.
    """
    dx, dy, dz = box[0, 3] - box[1, 3], box[0, 4] - box[1, 4], box[0, 5] - box[1, 5]
    best, kind, bx, by, bz = -1e9, -1, 0.0, 0.0, 0.0
    for candidate in range(15):
        if candidate < 6:
            side, axis = candidate // 3, candidate % 3
            x, y, z = box[side, 6 + axis], box[side, 9 + axis], box[side, 12 + axis]
        else:
            i, j = (candidate - 6) // 3, (candidate - 6) % 3
            ax, ay, az = box[0, 6 + i], box[0, 9 + i], box[0, 12 + i]
            ex, ey, ez = box[1, 6 + j], box[1, 9 + j], box[1, 12 + j]
            x, y, z = ay * ez - az * ey, az * ex - ax * ez, ax * ey - ay * ex
            length = np.sqrt(x * x + y * y + z * z)
            if length < 1e-3:
                continue
            x, y, z = x / length, y / length, z / length
        along = dx * x + dy * y + dz * z
        gap = abs(along) - project_axis(box, 0, x, y, z) - project_axis(box, 1, x, y, z)
        if gap > best + (EDGE_PREFERENCE if candidate >= 6 else 0.0):
            sign = 1.0 if along >= 0.0 else -1.0
            best, kind, bx, by, bz = gap, candidate, sign * x, sign * y, sign * z
            if best > margin:
                return best, kind, bx, by, bz
    return best, kind, bx, by, bz


@inner_kernel
def cut_polygon(polygon, source, count, nx, ny, nz, limit):
    """Keep the part of a polygon where n·p <= limit; written to the other page. Returns its number of corners."""
    kept = 0
    for corner in range(count):
        following = corner + 1 if corner + 1 < count else 0
        ax, ay, az = polygon[source, corner, 0], polygon[source, corner, 1], polygon[source, corner, 2]
        bx, by, bz = polygon[source, following, 0], polygon[source, following, 1], polygon[source, following, 2]
        over_a = nx * ax + ny * ay + nz * az - limit
        over_b = nx * bx + ny * by + nz * bz - limit
        if over_a <= 0.0 and kept < 16:
            polygon[1 - source, kept, 0], polygon[1 - source, kept, 1], polygon[1 - source, kept, 2] = ax, ay, az
            kept += 1
        if ((over_a < 0.0 and over_b > 0.0) or (over_a > 0.0 and over_b < 0.0)) and kept < 16:
            t = over_a / (over_a - over_b)
            polygon[1 - source, kept, 0] = ax + t * (bx - ax)
            polygon[1 - source, kept, 1] = ay + t * (by - ay)
            polygon[1 - source, kept, 2] = az + t * (bz - az)
            kept += 1
    return kept


@inline_kernel
def clip_face(box, polygon, reference, axis, nx, ny, nz):
    """Cut the face of the other box that looks at the reference face by that face's sides.

    Args:
        box: Two boxes.
        polygon: Written.
        reference: Which box has the reference face.
        axis: Of that face.
        nx: Outward normal of the reference face, x; then y and z.
        ny: See `nx`.
        nz: See `nx`.

    Returns:
        Page of `polygon` and number of corners.
    """
    other = 1 - reference
    least, facing = 1e9, 0
    for candidate in range(3):
        dot = abs(nx * box[other, 6 + candidate] + ny * box[other, 9 + candidate] + nz * box[other, 12 + candidate])
        if -dot < least:
            least, facing = -dot, candidate
    dot = nx * box[other, 6 + facing] + ny * box[other, 9 + facing] + nz * box[other, 12 + facing]
    sign = -1.0 if dot > 0.0 else 1.0
    u, v = (facing + 1) % 3, (facing + 2) % 3
    for corner in range(4):
        su = 1.0 if corner == 0 or corner == 3 else -1.0
        sv = 1.0 if corner < 2 else -1.0
        for k in range(3):
            polygon[0, corner, k] = (
                box[other, 3 + k]
                + sign * box[other, facing] * box[other, 6 + 3 * k + facing]
                + su * box[other, u] * box[other, 6 + 3 * k + u]
                + sv * box[other, v] * box[other, 6 + 3 * k + v]
            )
    page, count = 0, 4
    for turn in range(4):
        side = (axis + 1 + turn // 2) % 3
        way = 1.0 if turn % 2 == 0 else -1.0
        x, y, z = way * box[reference, 6 + side], way * box[reference, 9 + side], way * box[reference, 12 + side]
        middle = x * box[reference, 3] + y * box[reference, 4] + z * box[reference, 5]
        count = cut_polygon(polygon, page, count, x, y, z, middle + box[reference, side])
        page = 1 - page
    return page, count


@inline_kernel
def meet_edges(box, kind, nx, ny, nz):
    """Return the middle (x, y, z) between the edges that an edge axis names; it points from box 1 to box 0."""
    i, j = (kind - 6) // 3, (kind - 6) % 3
    px, py, pz = box[0, 3], box[0, 4], box[0, 5]
    qx, qy, qz = box[1, 3], box[1, 4], box[1, 5]
    for axis in range(3):
        if axis != i:
            dot = nx * box[0, 6 + axis] + ny * box[0, 9 + axis] + nz * box[0, 12 + axis]
            way = -box[0, axis] if dot > 0.0 else box[0, axis]
            px, py, pz = px + way * box[0, 6 + axis], py + way * box[0, 9 + axis], pz + way * box[0, 12 + axis]
        if axis != j:
            dot = nx * box[1, 6 + axis] + ny * box[1, 9 + axis] + nz * box[1, 12 + axis]
            way = box[1, axis] if dot > 0.0 else -box[1, axis]
            qx, qy, qz = qx + way * box[1, 6 + axis], qy + way * box[1, 9 + axis], qz + way * box[1, 12 + axis]
    ux, uy, uz = box[0, 6 + i], box[0, 9 + i], box[0, 12 + i]
    wx, wy, wz = box[1, 6 + j], box[1, 9 + j], box[1, 12 + j]
    dx, dy, dz = qx - px, qy - py, qz - pz
    b = ux * wx + uy * wy + uz * wz
    d = ux * dx + uy * dy + uz * dz
    e = wx * dx + wy * dy + wz * dz
    scale = 1.0 / max(1.0 - b * b, 1e-9)
    s = min(max((d - b * e) * scale, -box[0, i]), box[0, i])
    t = min(max((b * d - e) * scale, -box[1, j]), box[1, j])
    return 0.5 * (px + s * ux + qx + t * wx), 0.5 * (py + s * uy + qy + t * wy), 0.5 * (pz + s * uz + qz + t * wz)


@inner_kernel
def collide_boxes(scratch, count, a, b, code_a, code_b, friction, margin):
    """Append the contacts of the boxes in `scratch.box`, box 0 of body a and box 1 of body b; return the new count.

    Args:
        scratch: `box` read, `polygon` and contacts written.
        count: Contacts so far.
        a: Row of body a.
        b: Row of body b, -1 for what never moves.
        code_a: What body a touches.
        code_b: What body b touches.
        friction: [-]
        margin: Greatest gap that still gives contacts [m].
    """
    gap, kind, nx, ny, nz = find_axis(scratch.box, margin)
    if gap > margin:
        return count
    if kind >= 6:
        point = meet_edges(scratch.box, kind, nx, ny, nz)
        return add_contact(scratch, count, a, b, code_a, code_b, point, (nx, ny, nz), -gap, friction)
    reference = kind // 3
    axis = kind % 3
    way = -1.0 if reference == 0 else 1.0
    x, y, z = way * nx, way * ny, way * nz
    page, corners = clip_face(scratch.box, scratch.polygon, reference, axis, x, y, z)
    box = scratch.box
    face = x * box[reference, 3] + y * box[reference, 4] + z * box[reference, 5] + box[reference, axis]
    for corner in range(corners):
        px, py, pz = (
            scratch.polygon[page, corner, 0],
            scratch.polygon[page, corner, 1],
            scratch.polygon[page, corner, 2],
        )
        depth = face - x * px - y * py - z * pz
        if depth > -margin:
            count = add_contact(scratch, count, a, b, code_a, code_b, (px, py, pz), (nx, ny, nz), depth, friction)
    return count
