"""Impulses at contacts: no approach, Coulomb friction, no bounce; and shifts that take overlaps away.

Sequential impulses. A contact with a gap lets its bodies approach just so far that the gap closes within the step, so
nothing overlaps in the first place. What overlap is left is taken away by shifting bodies, not by velocities, so it
adds no kinetic energy.
"""

import math

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.vector import ZERO, add_scaled, cross, dot, get_axis, get_vector, scale, set_vector, subtract
from donkeysim.physics.kernels import layout

# Impulses pass through one contact a round: a car on four corners against a wall settles in a few, a stack of boxes
# needs as many rounds as it is high.
ITERATIONS = 12
"""Rounds over all contacts."""
# Some overlap has to stay, or resting contacts would come and go with every step; 0.2 mm are not seen.
SLOP = 0.0002
"""Overlap that is left alone [m]."""
# Nine tenths are gone after ten steps, 20 ms. All at once, two contacts of a body would each move it by the whole and
# shake it.
SHIFT_SHARE = 0.2
"""Share of the remaining overlap taken away per step."""


@inner_kernel
def write_arm(body, row, contact, index, base, partner):
    """Write the arm x direction of a body and the turn it causes; return the direction's inverse mass for that body.

    Args:
        body: Read.
        row: Of the body.
        contact: Written.
        index: Row of the contact.
        base: First column of the direction.
        partner: 0 for body a, 1 for body b.
    """
    arm = subtract(get_vector(contact, index, layout.C_POINT), get_vector(body, row, layout.POSITION))
    lever = cross(arm, get_vector(contact, index, base + layout.R_DIRECTION))
    turn = ZERO
    for axis in range(3):
        own = get_axis(body, row, layout.ROTATION, axis)
        turn = add_scaled(turn, body[row, layout.INVERSE_INERTIA + axis] * dot(own, lever), own)
    set_vector(contact, index, base + layout.R_ARM + layout.R_PARTNER * partner, lever)
    set_vector(contact, index, base + layout.R_TURN + layout.R_PARTNER * partner, turn)
    return body[row, layout.INVERSE_MASS] + lever[0] * turn[0] + lever[1] * turn[1] + lever[2] * turn[2]


@inner_kernel(merged=True)
def prepare_contact(body, contact, link, index):
    """Write the three directions of a contact with their masses; impulses start at 0."""
    normal = get_vector(contact, index, layout.C_NORMAL)
    x, y, z = normal
    # Across the one of two axes that the normal cannot be parallel to.
    if abs(z) < 0.7:
        tangent = scale((-y, x, 0.0), 1.0 / math.sqrt(x * x + y * y))
    else:
        tangent = scale((z, 0.0, -x), 1.0 / math.sqrt(x * x + z * z))
    first, width = layout.C_ROWS, layout.C_ROW_WIDTH
    set_vector(contact, index, first + layout.R_DIRECTION, normal)
    set_vector(contact, index, first + width + layout.R_DIRECTION, tangent)
    set_vector(contact, index, first + 2 * width + layout.R_DIRECTION, cross(normal, tangent))
    for direction in range(3):
        base = first + width * direction
        total = write_arm(body, link[index, 0], contact, index, base, 0)
        if link[index, 1] >= 0:
            total += write_arm(body, link[index, 1], contact, index, base, 1)
        contact[index, base + layout.R_MASS] = 1.0 / total
        # Contacts are not recognised from one step to the next, so there is no earlier impulse to begin with.
        contact[index, base + layout.R_IMPULSE] = 0.0


@inner_kernel
def measure_speed(body, contact, link, index, base):
    """Return the speed of a against b along one direction of a contact [m/s]."""
    speed = 0.0
    for partner in range(2):
        row = link[index, partner]
        if row >= 0:
            sign = 1.0 - 2.0 * partner
            arm = base + layout.R_ARM + layout.R_PARTNER * partner
            for axis in range(3):
                speed += sign * (
                    contact[index, base + layout.R_DIRECTION + axis] * body[row, layout.VELOCITY + axis]
                    + contact[index, arm + axis] * body[row, layout.ANGULAR + axis]
                )
    return speed


@inner_kernel
def push_apart(body, contact, link, index, base, impulse):
    """Give both bodies of a contact an impulse along one direction [N s]."""
    for partner in range(2):
        row = link[index, partner]
        if row >= 0:
            amount = impulse * (1.0 - 2.0 * partner)
            direction = get_vector(contact, index, base + layout.R_DIRECTION)
            turn = get_vector(contact, index, base + layout.R_TURN + layout.R_PARTNER * partner)
            change = amount * body[row, layout.INVERSE_MASS]
            velocity, angular = get_vector(body, row, layout.VELOCITY), get_vector(body, row, layout.ANGULAR)
            set_vector(body, row, layout.VELOCITY, add_scaled(velocity, change, direction))
            set_vector(body, row, layout.ANGULAR, add_scaled(angular, amount, turn))


@inner_kernel
def solve_impulses(body, contact, link, count, dt):
    """Change velocities so that no contact approaches and friction holds or slides; impulses stay in `contact`."""
    for index in range(count):
        prepare_contact(body, contact, link, index)
    normal, width = layout.C_ROWS, layout.C_ROW_WIDTH
    first, second = normal + width, normal + 2 * width
    for _ in range(ITERATIONS):
        for index in range(count):
            # The speed that closes the gap within the step is no approach yet.
            allowed = max(-contact[index, layout.C_DEPTH], 0.0) / dt
            speed = measure_speed(body, contact, link, index, normal) + allowed
            # The sum stays positive, not each round's share: a round may take back what an earlier one gave too much.
            old = contact[index, normal + layout.R_IMPULSE]
            new = max(old - contact[index, normal + layout.R_MASS] * speed, 0.0)
            if new != old:
                contact[index, normal + layout.R_IMPULSE] = new
                push_apart(body, contact, link, index, normal, new - old)
            old_x, old_y = contact[index, first + layout.R_IMPULSE], contact[index, second + layout.R_IMPULSE]
            if new > 0.0 or old_x != 0.0 or old_y != 0.0:
                x = old_x - contact[index, first + layout.R_MASS] * measure_speed(body, contact, link, index, first)
                y = old_y - contact[index, second + layout.R_MASS] * measure_speed(body, contact, link, index, second)
                # Both tangents together: limited one by one, friction would be stronger along diagonals.
                size = math.sqrt(x * x + y * y)
                limit = contact[index, layout.C_FRICTION] * new
                if size > limit:
                    x, y = x * limit / size, y * limit / size
                contact[index, first + layout.R_IMPULSE] = x
                contact[index, second + layout.R_IMPULSE] = y
                push_apart(body, contact, link, index, first, x - old_x)
                push_apart(body, contact, link, index, second, y - old_y)


@inner_kernel
def shift_apart(body, contact, link, count):
    """Add to each body's `PUSH` what takes a share of its overlaps away, by inverse mass."""
    for index in range(count):
        a, b = link[index, 0], link[index, 1]
        overlap = contact[index, layout.C_DEPTH] - SLOP
        total = body[a, layout.INVERSE_MASS]
        for axis in range(3):
            overlap -= body[a, layout.PUSH + axis] * contact[index, layout.C_NORMAL + axis]
            if b >= 0:
                overlap += body[b, layout.PUSH + axis] * contact[index, layout.C_NORMAL + axis]
        if b >= 0:
            total += body[b, layout.INVERSE_MASS]
        if overlap > 0.0:
            # A share only: all of it at once would set what lies in a heap trembling.
            step = scale(get_vector(contact, index, layout.C_NORMAL), SHIFT_SHARE * overlap / total)
            push = add_scaled(get_vector(body, a, layout.PUSH), body[a, layout.INVERSE_MASS], step)
            set_vector(body, a, layout.PUSH, push)
            if b >= 0:
                push = add_scaled(get_vector(body, b, layout.PUSH), -body[b, layout.INVERSE_MASS], step)
                set_vector(body, b, layout.PUSH, push)
