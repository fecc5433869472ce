"""Contacts of frustums (cones, barrels, upright cylinders) with boxes, with each other and with the ground.

A frustum is looked at as a stack of discs: of each disc the rim point nearest to the other shape counts.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_kernel
from donkeysim.physics.kernels.ground import sample_height
from donkeysim.physics.kernels.layout import ROTATION
from donkeysim.physics.kernels.shape import add_contact

DISC_COUNT = 9
"""Discs of a frustum."""


@inline_kernel
def approach_disc(away, axis, radius, slack, is_end, outward):
    """Return how a disc meets a point outside of it.

    Args:
        away: From the disc's middle to the point (x, y, z) [m].
        axis: Unit normal of the disc.
        radius: [m]
        slack: Distance along the axis up to which the disc stands for the frustum near it [m].
        is_end: Whether the disc is the frustum's base or top.
        outward: +1 when the frustum's outside lies along +axis there, -1 along -axis.

    Returns:
        Depth [m] (-1e9: this disc has nothing to do with the point) and the direction from the disc to the point.
    """
    along = away[0] * axis[0] + away[1] * axis[1] + away[2] * axis[2]
    x, y, z = away[0] - along * axis[0], away[1] - along * axis[1], away[2] - along * axis[2]
    distance = np.sqrt(x * x + y * y + z * z)
    if is_end and distance < radius and along * outward > 0.0:
        return -abs(along), outward * axis[0], outward * axis[1], outward * axis[2]
    if abs(along) > slack or distance < 1e-9:
        return -1e9, 0.0, 0.0, 0.0
    return radius - distance, x / distance, y / distance, z / distance


@inline_kernel
def leave_box(box, side, qx, qy, qz):
    """Return the way out of a box for a point inside of it (box frame): depth and world direction outwards."""
    best, axis, way = 1e9, 0, 1.0
    for candidate in range(3):
        q = qx if candidate == 0 else (qy if candidate == 1 else qz)
        depth = box[side, candidate] - abs(q)
        if depth < best:
            best, axis, way = depth, candidate, (1.0 if q >= 0.0 else -1.0)
    return best, way * box[side, 6 + axis], way * box[side, 9 + axis], way * box[side, 12 + axis]


@inline_kernel
def approach_box(frustum, side, box, which, disc):
    """Return how one disc of a frustum meets a box: depth, direction from box to frustum, point, as 7 numbers."""
    share = disc / (DISC_COUNT - 1.0)
    height = frustum[side, 6]
    ax, ay, az = frustum[side, 3], frustum[side, 4], frustum[side, 5]
    radius = frustum[side, 7] + share * (frustum[side, 8] - frustum[side, 7])
    px = frustum[side, 0] + share * height * ax
    py = frustum[side, 1] + share * height * ay
    pz = frustum[side, 2] + share * height * az
    dx, dy, dz = px - box[which, 3], py - box[which, 4], pz - box[which, 5]
    qx = dx * box[which, 6] + dy * box[which, 9] + dz * box[which, 12]
    qy = dx * box[which, 7] + dy * box[which, 10] + dz * box[which, 13]
    qz = dx * box[which, 8] + dy * box[which, 11] + dz * box[which, 14]
    ex = min(max(qx, -box[which, 0]), box[which, 0]) - qx
    ey = min(max(qy, -box[which, 1]), box[which, 1]) - qy
    ez = min(max(qz, -box[which, 2]), box[which, 2]) - qz
    if ex == 0.0 and ey == 0.0 and ez == 0.0:
        depth, nx, ny, nz = leave_box(box, which, qx, qy, qz)
        return depth, nx, ny, nz, px, py, pz
    wx = box[which, 6] * ex + box[which, 7] * ey + box[which, 8] * ez
    wy = box[which, 9] * ex + box[which, 10] * ey + box[which, 11] * ez
    wz = box[which, 12] * ex + box[which, 13] * ey + box[which, 14] * ez
    slack = 0.5 * height / (DISC_COUNT - 1.0) + 1e-6
    is_end = disc == 0 or disc == DISC_COUNT - 1
    depth, nx, ny, nz = approach_disc((wx, wy, wz), (ax, ay, az), radius, slack, is_end, 1.0 if disc > 0 else -1.0)
    return depth, -nx, -ny, -nz, px + wx, py + wy, pz + wz


@inner_kernel
def collide_frustum_box(scratch, count, side, which, a, b, code_a, code_b, friction, margin):
    """Append the contacts of frustum `side` (body a) with box `which` (body b); return the new count.

    The deepest disc of the lower half and that of the upper half count.
    """
    for half in range(2):
        best = -1e9
        nx, ny, nz, px, py, pz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for step in range(5):
            depth, x, y, z, qx, qy, qz = approach_box(scratch.frustum, side, scratch.box, which, 4 * half + step)
            if depth > best and not (half == 1 and step == 0):
                best, nx, ny, nz, px, py, pz = depth, x, y, z, qx, qy, qz
        if best > -margin:
            if a >= 0:
                count = add_contact(scratch, count, a, b, code_a, code_b, (px, py, pz), (nx, ny, nz), best, friction)
            else:
                count = add_contact(scratch, count, b, a, code_b, code_a, (px, py, pz), (-nx, -ny, -nz), best, friction)
    return count


@inner_kernel
def collide_frustums(scratch, count, a, b, friction, margin):
    """Append the deepest contact of frustum 0 (body a) with frustum 1 (body b, or -1); return the new count."""
    frustum = scratch.frustum
    best = -1e9
    nx, ny, nz, px, py, pz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for disc in range(DISC_COUNT):
        share = disc / (DISC_COUNT - 1.0)
        qx = frustum[0, 0] + share * frustum[0, 6] * frustum[0, 3]
        qy = frustum[0, 1] + share * frustum[0, 6] * frustum[0, 4]
        qz = frustum[0, 2] + share * frustum[0, 6] * frustum[0, 5]
        dx, dy, dz = qx - frustum[1, 0], qy - frustum[1, 1], qz - frustum[1, 2]
        along = dx * frustum[1, 3] + dy * frustum[1, 4] + dz * frustum[1, 5]
        if along < 0.0 or along > frustum[1, 6]:
            continue
        dx, dy, dz = dx - along * frustum[1, 3], dy - along * frustum[1, 4], dz - along * frustum[1, 5]
        distance = np.sqrt(dx * dx + dy * dy + dz * dz)
        if distance < 1e-9:
            continue
        radius = frustum[1, 7] + along / frustum[1, 6] * (frustum[1, 8] - frustum[1, 7])
        depth = radius + frustum[0, 7] + share * (frustum[0, 8] - frustum[0, 7]) - distance
        if depth > best:
            best = depth
            nx, ny, nz = dx / distance, dy / distance, dz / distance
            px, py, pz = qx - nx * (distance - radius), qy - ny * (distance - radius), qz - nz * (distance - radius)
    if best > -margin:
        count = add_contact(scratch, count, a, b, -1, -1, (px, py, pz), (nx, ny, nz), best, friction)
    return count


@inner_kernel
def collide_frustum_ground(scratch, count, row, terrain, scene, friction, margin):
    """Append the contacts of frustum 0 (body `row`) with the ground: lowest point and quarters of either rim."""
    frustum = scratch.frustum
    ax, ay, az = frustum[0, 3], frustum[0, 4], frustum[0, 5]
    ex, ey, ez = az * ax, az * ay, az * az - 1.0
    length = np.sqrt(ex * ex + ey * ey + ez * ez)
    if length < 1e-3:
        ex, ey, ez = scratch.body[row, ROTATION], scratch.body[row, ROTATION + 3], scratch.body[row, ROTATION + 6]
        length = 1.0
    ex, ey, ez = ex / length, ey / length, ez / length
    fx, fy, fz = ay * ez - az * ey, az * ex - ax * ez, ax * ey - ay * ex
    for rim in range(2):
        radius = frustum[0, 7 + rim]
        for quarter in range(4):
            c = radius * (1.0 if quarter == 0 else (-1.0 if quarter == 2 else 0.0))
            s = radius * (1.0 if quarter == 1 else (-1.0 if quarter == 3 else 0.0))
            x = frustum[0, 0] + rim * frustum[0, 6] * ax + c * ex + s * fx
            y = frustum[0, 1] + rim * frustum[0, 6] * ay + c * ey + s * fy
            z = frustum[0, 2] + rim * frustum[0, 6] * az + c * ez + s * fz
            height, slope_x, slope_y = sample_height(terrain, scene, x, y)
            scale = 1.0 / np.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
            depth = (height - z) * scale
            if depth > -margin:
                normal = (-slope_x * scale, -slope_y * scale, scale)
                count = add_contact(scratch, count, row, -1, -1, -1, (x, y, z), normal, depth, friction)
    return count
