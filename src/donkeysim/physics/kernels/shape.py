"""Shapes of bodies and obstacles, and the list of contacts."""

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.vector import add_scaled, get_axis, get_vector, set_vector
from donkeysim.physics.kernels import layout


@inner_kernel
def fill_car_box(box, side, body, row):
    """Write a car's box into row `side` of `box`."""
    centre = get_vector(body, row, layout.POSITION)
    for axis in range(3):
        centre = add_scaled(centre, body[row, layout.SHAPE + 3 + axis], get_axis(body, row, layout.ROTATION, axis))
    set_vector(box, side, layout.B_HALF, get_vector(body, row, layout.SHAPE))
    set_vector(box, side, layout.B_CENTRE, centre)
    for entry in range(9):
        box[side, layout.B_ROTATION + entry] = body[row, layout.ROTATION + entry]


@inner_kernel
def fill_prop_frustum(frustum, side, body, row):
    """Write a prop's frustum into row `side` of `frustum`."""
    up = get_axis(body, row, layout.ROTATION, 2)
    base = add_scaled(get_vector(body, row, layout.POSITION), -body[row, layout.SHAPE + 3], up)
    set_vector(frustum, side, layout.F_BASE, base)
    set_vector(frustum, side, layout.F_AXIS, up)
    frustum[side, layout.F_HEIGHT] = body[row, layout.SHAPE + 2]
    frustum[side, layout.F_RADIUS] = body[row, layout.SHAPE]
    frustum[side, layout.F_RADIUS + 1] = body[row, layout.SHAPE + 1]


@inner_kernel
def add_contact(scratch, count, a, b, code_a, code_b, point, normal, depth, friction):
    """Append a contact and return the new count; a full list stays as it is, and the contact is missed.

    Args:
        scratch: Contacts and links are written.
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
    contact, link = scratch[layout.S_CONTACT], scratch[layout.S_LINK]
    if count >= len(contact):
        scratch[layout.S_MISSED][0] += 1
        return count
    set_vector(contact, count, layout.C_POINT, point)
    set_vector(contact, count, layout.C_NORMAL, normal)
    contact[count, layout.C_DEPTH] = depth
    contact[count, layout.C_FRICTION] = friction
    link[count, 0] = a
    link[count, 1] = b
    link[count, 2] = code_a
    link[count, 3] = code_b
    return count + 1
