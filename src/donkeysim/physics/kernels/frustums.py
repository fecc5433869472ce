"""Contacts of frustums (cones, barrels, upright cylinders) with boxes, with each other and with the ground.

A frustum is looked at as a stack of discs: of each disc the rim point nearest to the other shape counts.
"""

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.vector import (
    ZERO,
    add,
    add_scaled,
    cross,
    divide,
    dot,
    get_axis,
    get_basis,
    get_vector,
    measure_length,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.ground import measure_depth
from donkeysim.physics.kernels.shape import add_contact

# A cone of 0.1 m has one every 12 mm, so a wall's edge is missed by at most 6 mm.
DISC_COUNT = 9
"""Discs of a frustum."""


@inner_kernel(merged=True)
def find_middle(frustum, side, share):
    """Return the middle of the disc at a share of a frustum's height."""
    base, axis = get_vector(frustum, side, layout.F_BASE), get_vector(frustum, side, layout.F_AXIS)
    return add_scaled(base, share * frustum[side, layout.F_HEIGHT], axis)


@inner_kernel(merged=True)
def find_radius(frustum, side, share):
    """Return the radius of the disc at a share of a frustum's height [m]."""
    base, top = frustum[side, layout.F_RADIUS], frustum[side, layout.F_RADIUS + 1]
    return base + share * (top - base)


@inner_kernel(merged=True)
def approach_disc(away, axis, radius, slack, is_end, outward):
    """Return how a disc meets a point outside of it.

    Args:
        away: From the disc's middle to the point [m].
        axis: Unit normal of the disc.
        radius: [m]
        slack: Distance along the axis up to which the disc stands for the frustum near it [m].
        is_end: Whether the disc is the frustum's base or top.
        outward: +1 when the frustum's outside lies along +axis there, -1 along -axis.

    Returns:
        Depth [m] (-1e9: this disc has nothing to do with the point) and the direction from the disc to the point.
    """
    along = dot(away, axis)
    across = add_scaled(away, -along, axis)
    distance = measure_length(across)
    if is_end and distance < radius and along * outward > 0.0:
        return -abs(along), scale(axis, outward)
    if abs(along) > slack or distance < 1e-9:
        return -1e9, ZERO
    return radius - distance, divide(across, distance)


@inner_kernel(merged=True)
def leave_box(box, side, point):
    """Return the way out of a box for a point inside of it (box frame): depth and world direction outwards."""
    best, axis, way = 1e9, 0, 1.0
    for candidate in range(3):
        # A tuple has no place that is known only while it runs.
        q = point[0] if candidate == 0 else (point[1] if candidate == 1 else point[2])
        depth = box[side, layout.B_HALF + candidate] - abs(q)
        if depth < best:
            best, axis, way = depth, candidate, (1.0 if q >= 0.0 else -1.0)
    return best, scale(get_axis(box, side, layout.B_ROTATION, axis), way)


@inner_kernel(merged=True)
def approach_box(frustum, side, box, which, disc):
    """Return how one disc of a frustum meets a box: depth, direction from box to frustum, point."""
    share = disc / (DISC_COUNT - 1.0)
    middle, radius = find_middle(frustum, side, share), find_radius(frustum, side, share)
    axes = get_basis(box, which, layout.B_ROTATION)
    x, y, z = rotate_back(axes, subtract(middle, get_vector(box, which, layout.B_CENTRE)))
    half_x, half_y, half_z = get_vector(box, which, layout.B_HALF)
    out_x, out_y, out_z = (
        min(max(x, -half_x), half_x) - x,
        min(max(y, -half_y), half_y) - y,
        min(max(z, -half_z), half_z) - z,
    )
    if out_x == 0.0 and out_y == 0.0 and out_z == 0.0:
        # The nearest point of the box is the middle itself and gives no direction.
        depth, out = leave_box(box, which, (x, y, z))
        return depth, out, middle
    away = rotate(axes, (out_x, out_y, out_z))
    # Half the distance between discs and a little, so that every height of the frustum belongs to one.
    slack = 0.5 * frustum[side, layout.F_HEIGHT] / (DISC_COUNT - 1.0) + 1e-6
    is_end, outward = disc == 0 or disc == DISC_COUNT - 1, 1.0 if disc > 0 else -1.0
    depth, towards = approach_disc(away, get_vector(frustum, side, layout.F_AXIS), radius, slack, is_end, outward)
    return depth, scale(towards, -1.0), add(middle, away)


@inner_kernel
def collide_frustum_box(scratch, count, side, which, a, b, code_a, code_b, friction, margin):
    """Append the contacts of frustum `side` (body a) with box `which` (body b); return the new count.

    The deepest disc of the lower half and that of the upper half count.
    """
    for half in range(2):
        best, normal, point = -1e9, ZERO, ZERO
        for step in range(5):
            depth, out, place = approach_box(
                scratch[layout.S_FRUSTUM], side, scratch[layout.S_BOX], which, 4 * half + step
            )
            # Both halves hold the middle disc; it counts once.
            if depth > best and not (half == 1 and step == 0):
                best, normal, point = depth, out, place
        if best > -margin:
            if a >= 0:
                count = add_contact(scratch, count, a, b, code_a, code_b, point, normal, best, friction)
            else:
                # The solver wants the body that can move first.
                out = scale(normal, -1.0)
                count = add_contact(scratch, count, b, a, code_b, code_a, point, out, best, friction)
    return count


@inner_kernel
def collide_frustums(scratch, count, a, b, friction, margin):
    """Append the deepest contact of frustum 0 (body a) with frustum 1 (body b, or -1); return the new count."""
    frustum = scratch[layout.S_FRUSTUM]
    base, top = frustum[0, layout.F_RADIUS], frustum[0, layout.F_RADIUS + 1]
    other, height = get_vector(frustum, 1, layout.F_AXIS), frustum[1, layout.F_HEIGHT]
    best, normal, point = -1e9, ZERO, ZERO
    for disc in range(DISC_COUNT):
        share = disc / (DISC_COUNT - 1.0)
        middle = find_middle(frustum, 0, share)
        away = subtract(middle, get_vector(frustum, 1, layout.F_BASE))
        along = dot(away, other)
        if along < 0.0 or along > height:
            continue
        away = add_scaled(away, -along, other)
        distance = measure_length(away)
        # On the other's axis every direction is as near as any.
        if distance < 1e-9:
            continue
        radius = find_radius(frustum, 1, along / height)
        # Not `find_radius` of both: another order of the sum would be another last bit.
        depth = radius + base + share * (top - base) - distance
        if depth > best:
            best, normal = depth, divide(away, distance)
            point = add_scaled(middle, radius - distance, normal)
    if best > -margin:
        count = add_contact(scratch, count, a, b, -1, -1, point, normal, best, friction)
    return count


@inner_kernel
def collide_frustum_ground(scratch, count, row, terrain, scene, friction, margin):
    """Append the contacts of frustum 0 (body `row`) with the ground: lowest point and quarters of either rim."""
    frustum = scratch[layout.S_FRUSTUM]
    axis = get_vector(frustum, 0, layout.F_AXIS)
    # Down, less its part along the axis: it points to each rim's lowest point.
    down = (axis[2] * axis[0], axis[2] * axis[1], axis[2] * axis[2] - 1.0)
    length = measure_length(down)
    if length < 1e-3:
        # Upright, every point is the lowest: quarters that turn with the body keep its contacts in place.
        down, length = get_axis(scratch[layout.S_BODY], row, layout.ROTATION, 0), 1.0
    down = divide(down, length)
    aside = cross(axis, down)
    for rim in range(2):
        radius = frustum[0, layout.F_RADIUS + rim]
        middle = add_scaled(get_vector(frustum, 0, layout.F_BASE), rim * frustum[0, layout.F_HEIGHT], axis)
        for quarter in range(4):
            c = radius * (1.0 if quarter == 0 else (-1.0 if quarter == 2 else 0.0))
            s = radius * (1.0 if quarter == 1 else (-1.0 if quarter == 3 else 0.0))
            point = add_scaled(add_scaled(middle, c, down), s, aside)
            depth, normal = measure_depth(terrain, scene, point)
            if depth > -margin:
                count = add_contact(scratch, count, row, -1, -1, -1, point, normal, depth, friction)
    return count
