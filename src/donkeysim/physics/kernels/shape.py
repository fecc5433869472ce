"""Shapes of bodies and obstacles, and the list of contacts."""

from __future__ import annotations

from donkeysim.core.kernel import inner_kernel
from donkeysim.physics.kernels.layout import (
    C_DEPTH,
    C_FRICTION,
    C_NORMAL,
    C_POINT,
    POSITION,
    ROTATION,
    SHAPE,
)


@inner_kernel
def fill_car_box(box, side, body, row):
    """Write a car's box into row `side` of `box`: half size, centre, rotation."""
    for axis in range(3):
        box[side, axis] = body[row, SHAPE + axis]
        base = ROTATION + 3 * axis
        box[side, 3 + axis] = (
            body[row, POSITION + axis]
            + body[row, base] * body[row, SHAPE + 3]
            + body[row, base + 1] * body[row, SHAPE + 4]
            + body[row, base + 2] * body[row, SHAPE + 5]
        )
    for entry in range(9):
        box[side, 6 + entry] = body[row, ROTATION + entry]


@inner_kernel
def fill_prop_frustum(frustum, side, body, row):
    """Write a prop's frustum into row `side` of `frustum`: base, axis, height, radii."""
    for axis in range(3):
        up = body[row, ROTATION + 3 * axis + 2]
        frustum[side, axis] = body[row, POSITION + axis] - body[row, SHAPE + 3] * up
        frustum[side, 3 + axis] = up
    frustum[side, 6] = body[row, SHAPE + 2]
    frustum[side, 7] = body[row, SHAPE]
    frustum[side, 8] = body[row, SHAPE + 1]


@inner_kernel
def add_contact(scratch, count, a, b, code_a, code_b, point, normal, depth, friction):
    """Append a contact and return the new count; a full list stays as it is.

    Args:
        scratch: Written: `contact`, `link`.
        count: Contacts so far.
        a: Row of the body that `normal` points to.
        b: Row of the other body, -1 for what never moves.
        code_a: What body a has touched, as `State.hit`.
        code_b: What body b has touched.
        point: (x, y, z) [m].
        normal: Unit vector from b to a.
        depth: Of the overlap, negative for a gap [m].
        friction: [-]
    """
    if count >= len(scratch.contact):
        return count
    for axis in range(3):
        scratch.contact[count, C_POINT + axis] = point[axis]
        scratch.contact[count, C_NORMAL + axis] = normal[axis]
    scratch.contact[count, C_DEPTH] = depth
    scratch.contact[count, C_FRICTION] = friction
    scratch.link[count, 0] = a
    scratch.link[count, 1] = b
    scratch.link[count, 2] = code_a
    scratch.link[count, 3] = code_b
    return count + 1
