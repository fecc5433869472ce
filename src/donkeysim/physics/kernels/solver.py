"""Impulses at contacts: no approach, Coulomb friction, no bounce; and shifts that take overlaps away.

Sequential impulses. A contact with a gap lets its bodies approach just so far that the gap closes within the step, so
nothing overlaps in the first place. What overlap is left is taken away by shifting bodies, not by velocities, so it
adds no kinetic energy.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_kernel
from donkeysim.physics.kernels.layout import (
    ANGULAR,
    C_DEPTH,
    C_FRICTION,
    C_NORMAL,
    C_POINT,
    C_ROW_WIDTH,
    C_ROWS,
    INVERSE_INERTIA,
    INVERSE_MASS,
    POSITION,
    PUSH,
    ROTATION,
    VELOCITY,
)

ITERATIONS = 12
"""Rounds over all contacts."""
SLOP = 0.0002
"""Overlap that is left alone [m]."""
SHIFT_SHARE = 0.2
"""Share of the remaining overlap taken away per step."""


@inner_kernel
def write_arm(body, row, contact, index, column, x, y, z):
    """Write the arm x direction of a body and the turn it causes; return the direction's inverse mass for that body."""
    rx = contact[index, C_POINT] - body[row, POSITION]
    ry = contact[index, C_POINT + 1] - body[row, POSITION + 1]
    rz = contact[index, C_POINT + 2] - body[row, POSITION + 2]
    cx, cy, cz = ry * z - rz * y, rz * x - rx * z, rx * y - ry * x
    contact[index, column], contact[index, column + 1], contact[index, column + 2] = cx, cy, cz
    total = body[row, INVERSE_MASS]
    tx, ty, tz = 0.0, 0.0, 0.0
    for axis in range(3):
        ux, uy, uz = body[row, ROTATION + axis], body[row, ROTATION + 3 + axis], body[row, ROTATION + 6 + axis]
        turn = body[row, INVERSE_INERTIA + axis] * (ux * cx + uy * cy + uz * cz)
        tx, ty, tz = tx + turn * ux, ty + turn * uy, tz + turn * uz
    contact[index, column + 3], contact[index, column + 4], contact[index, column + 5] = tx, ty, tz
    return total + cx * tx + cy * ty + cz * tz


@inline_kernel
def prepare_contact(body, contact, link, index):
    """Write the three directions of a contact with their masses; impulses start at 0."""
    nx, ny, nz = contact[index, C_NORMAL], contact[index, C_NORMAL + 1], contact[index, C_NORMAL + 2]
    if abs(nz) < 0.7:
        scale = 1.0 / np.sqrt(nx * nx + ny * ny)
        ux, uy, uz = -ny * scale, nx * scale, 0.0
    else:
        scale = 1.0 / np.sqrt(nx * nx + nz * nz)
        ux, uy, uz = nz * scale, 0.0, -nx * scale
    for direction in range(3):
        base = C_ROWS + C_ROW_WIDTH * direction
        x, y, z = nx, ny, nz
        if direction == 1:
            x, y, z = ux, uy, uz
        elif direction == 2:
            x, y, z = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
        contact[index, base], contact[index, base + 1], contact[index, base + 2] = x, y, z
        total = write_arm(body, link[index, 0], contact, index, base + 3, x, y, z)
        if link[index, 1] >= 0:
            total += write_arm(body, link[index, 1], contact, index, base + 9, x, y, z)
        contact[index, base + 15] = 1.0 / total
        contact[index, base + 16] = 0.0


@inner_kernel
def measure_speed(body, contact, link, index, base):
    """Return the speed of a against b along one direction of a contact [m/s]."""
    speed = 0.0
    for partner in range(2):
        row = link[index, partner]
        if row >= 0:
            sign = 1.0 - 2.0 * partner
            arm = base + 3 + 6 * partner
            for axis in range(3):
                speed += sign * (
                    contact[index, base + axis] * body[row, VELOCITY + axis]
                    + contact[index, arm + axis] * body[row, ANGULAR + axis]
                )
    return speed


@inner_kernel
def push_apart(body, contact, link, index, base, impulse):
    """Give both bodies of a contact an impulse along one direction [N s]."""
    for partner in range(2):
        row = link[index, partner]
        if row >= 0:
            amount = impulse * (1.0 - 2.0 * partner)
            turn = base + 6 + 6 * partner
            for axis in range(3):
                body[row, VELOCITY + axis] += amount * body[row, INVERSE_MASS] * contact[index, base + axis]
                body[row, ANGULAR + axis] += amount * contact[index, turn + axis]


@inner_kernel
def solve_impulses(body, contact, link, count, dt):
    """Change velocities so that no contact approaches and friction holds or slides; impulses stay in `contact`."""
    for index in range(count):
        prepare_contact(body, contact, link, index)
    first, second = C_ROWS + C_ROW_WIDTH, C_ROWS + 2 * C_ROW_WIDTH
    for _ in range(ITERATIONS):
        for index in range(count):
            allowed = max(-contact[index, C_DEPTH], 0.0) / dt
            speed = measure_speed(body, contact, link, index, C_ROWS) + allowed
            old = contact[index, C_ROWS + 16]
            new = max(old - contact[index, C_ROWS + 15] * speed, 0.0)
            if new != old:
                contact[index, C_ROWS + 16] = new
                push_apart(body, contact, link, index, C_ROWS, new - old)
            old_x, old_y = contact[index, first + 16], contact[index, second + 16]
            if new > 0.0 or old_x != 0.0 or old_y != 0.0:
                x = old_x - contact[index, first + 15] * measure_speed(body, contact, link, index, first)
                y = old_y - contact[index, second + 15] * measure_speed(body, contact, link, index, second)
                size = np.sqrt(x * x + y * y)
                limit = contact[index, C_FRICTION] * new
                if size > limit:
                    x, y = x * limit / size, y * limit / size
                contact[index, first + 16] = x
                contact[index, second + 16] = y
                push_apart(body, contact, link, index, first, x - old_x)
                push_apart(body, contact, link, index, second, y - old_y)


@inner_kernel
def shift_apart(body, contact, link, count):
    """Add to each body's `PUSH` what takes a share of its overlaps away, by inverse mass."""
    for index in range(count):
        a, b = link[index, 0], link[index, 1]
        overlap = contact[index, C_DEPTH] - SLOP
        total = body[a, INVERSE_MASS]
        for axis in range(3):
            overlap -= body[a, PUSH + axis] * contact[index, C_NORMAL + axis]
            if b >= 0:
                overlap += body[b, PUSH + axis] * contact[index, C_NORMAL + axis]
        if b >= 0:
            total += body[b, INVERSE_MASS]
        if overlap > 0.0:
            amount = SHIFT_SHARE * overlap / total
            for axis in range(3):
                step = amount * contact[index, C_NORMAL + axis]
                body[a, PUSH + axis] += step * body[a, INVERSE_MASS]
                if b >= 0:
                    body[b, PUSH + axis] -= step * body[b, INVERSE_MASS]
