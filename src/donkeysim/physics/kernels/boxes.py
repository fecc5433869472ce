"""Contacts of boxes and frustums (cones, barrels, upright cylinders), and of frustums with the ground.

Of two boxes: separating axes, then the overlap of the touching faces, or two edges. A frustum is looked at as a stack
of discs: of each disc the rim point nearest to the other shape counts.
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
    set_vector,
    subtract,
)
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.ground import measure_depth
from donkeysim.physics.kernels.shape import add_contact

# Contacts of faces have up to four points and hold a box still, one of edges has a single point: rounding must not
# choose between them.
EDGE_PREFERENCE = 0.001
"""An axis across two edges is taken only if it parts the boxes by this much more than every face's [m]."""

# A cone of 0.1 m has one every 12 mm, so a wall's edge is missed by at most 6 mm.
DISC_COUNT = 9
"""Discs of a frustum."""


@inner_kernel
def project_axis(box, side, direction):
    """Return half the length of a box's projection on a direction."""
    total = 0.0
    for axis in range(3):
        total += box[side, layout.B_HALF + axis] * abs(dot(direction, get_axis(box, side, layout.B_ROTATION, axis)))
    return total


@inner_kernel(merged=True)
def find_axis(box, margin):
    """Return the axis that parts two boxes best.

    Returns:
        Gap along it [m] (negative: overlap; above `margin`: apart), which axis (0-2 faces of box 0, 3-5 of box 1,
        6-14 edge pairs), and its direction from box 1 to box 0.
    """
    away = subtract(get_vector(box, 0, layout.B_CENTRE), get_vector(box, 1, layout.B_CENTRE))
    best, kind, normal = -1e9, -1, ZERO
    for candidate in range(15):
        if candidate < 6:
            direction = get_axis(box, candidate // 3, layout.B_ROTATION, candidate % 3)
        else:
            edge, other = (candidate - 6) // 3, (candidate - 6) % 3
            direction = cross(get_axis(box, 0, layout.B_ROTATION, edge), get_axis(box, 1, layout.B_ROTATION, other))
            length = measure_length(direction)
            # Parallel edges span no plane; the faces' axes part such boxes.
            if length < 1e-3:
                continue
            direction = divide(direction, length)
        along = dot(away, direction)
        gap = abs(along) - project_axis(box, 0, direction) - project_axis(box, 1, direction)
        if gap > best + (EDGE_PREFERENCE if candidate >= 6 else 0.0):
            best, kind, normal = gap, candidate, scale(direction, 1.0 if along >= 0.0 else -1.0)
            if best > margin:
                return best, kind, normal
    return best, kind, normal


@inner_kernel
def cut_polygon(polygon, source, count, normal, limit):
    """Keep the part of a polygon where n·p <= limit; written to the other page. Returns its number of corners."""
    page, target, kept = polygon[source], polygon[1 - source], 0
    for corner in range(count):
        a = get_vector(page, corner, 0)
        b = get_vector(page, corner + 1 if corner + 1 < count else 0, 0)
        over_a, over_b = dot(normal, a) - limit, dot(normal, b) - limit
        # Four cuts make eight corners of four; the room for 16 can only be full by rounding.
        if over_a <= 0.0 and kept < len(target):
            set_vector(target, kept, 0, a)
            kept += 1
        if ((over_a < 0.0 and over_b > 0.0) or (over_a > 0.0 and over_b < 0.0)) and kept < len(target):
            set_vector(target, kept, 0, add_scaled(a, over_a / (over_a - over_b), subtract(b, a)))
            kept += 1
    return kept


@inner_kernel(merged=True)
def clip_face(box, polygon, reference, axis, normal):
    """Cut the face of the other box that looks at the reference face by that face's sides.

    Args:
        box: Two boxes.
        polygon: Written.
        reference: Which box has the reference face.
        axis: Of that face.
        normal: Outward normal of the reference face.

    Returns:
        Page of `polygon` and number of corners.
    """
    other = 1 - reference
    most, facing = -1e9, 0
    for candidate in range(3):
        along = abs(dot(normal, get_axis(box, other, layout.B_ROTATION, candidate)))
        if along > most:
            most, facing = along, candidate
    out = get_axis(box, other, layout.B_ROTATION, facing)
    sign = -1.0 if dot(normal, out) > 0.0 else 1.0
    middle = add_scaled(get_vector(box, other, layout.B_CENTRE), sign * box[other, layout.B_HALF + facing], out)
    u, v = (facing + 1) % 3, (facing + 2) % 3
    for corner in range(4):
        along_u = box[other, layout.B_HALF + u] if corner == 0 or corner == 3 else -box[other, layout.B_HALF + u]
        along_v = box[other, layout.B_HALF + v] if corner < 2 else -box[other, layout.B_HALF + v]
        point = add_scaled(middle, along_u, get_axis(box, other, layout.B_ROTATION, u))
        set_vector(polygon[0], corner, 0, add_scaled(point, along_v, get_axis(box, other, layout.B_ROTATION, v)))
    page, count = 0, 4
    for cut in range(4):
        side = (axis + 1 + cut // 2) % 3
        out = scale(get_axis(box, reference, layout.B_ROTATION, side), 1.0 if cut % 2 == 0 else -1.0)
        limit = dot(out, get_vector(box, reference, layout.B_CENTRE)) + box[reference, layout.B_HALF + side]
        count = cut_polygon(polygon, page, count, out, limit)
        page = 1 - page
    return page, count


@inner_kernel
def find_edge(box, side, edge, normal, way):
    """Return the middle of that of four parallel edges of a box that lies farthest along `way` (1 or -1) x `normal`."""
    middle = get_vector(box, side, layout.B_CENTRE)
    for axis in range(3):
        if axis != edge:
            out = get_axis(box, side, layout.B_ROTATION, axis)
            reach = way * box[side, layout.B_HALF + axis]
            middle = add_scaled(middle, reach if dot(normal, out) > 0.0 else -reach, out)
    return middle


@inner_kernel(merged=True)
def meet_edges(box, kind, normal):
    """Return the middle between the edges that an edge axis names; `normal` points from box 1 to box 0."""
    i, j = (kind - 6) // 3, (kind - 6) % 3
    p, q = find_edge(box, 0, i, normal, -1.0), find_edge(box, 1, j, normal, 1.0)
    u, w = get_axis(box, 0, layout.B_ROTATION, i), get_axis(box, 1, layout.B_ROTATION, j)
    away = subtract(q, p)
    b, d, e = dot(u, w), dot(u, away), dot(w, away)
    # Nearly parallel edges have no one nearest point: within the bounds any does.
    inverse = 1.0 / max(1.0 - b * b, 1e-9)
    s = min(max((d - b * e) * inverse, -box[0, layout.B_HALF + i]), box[0, layout.B_HALF + i])
    t = min(max((b * d - e) * inverse, -box[1, layout.B_HALF + j]), box[1, layout.B_HALF + j])
    return scale(add_scaled(add(add_scaled(p, s, u), q), t, w), 0.5)


@inner_kernel
def collide_boxes(scratch, count, a, b, code_a, code_b, friction, margin):
    """Append the contacts of the boxes in `scratch`, box 0 of body a and box 1 of body b; return the new count.

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
    box = scratch[layout.S_BOX]
    gap, kind, normal = find_axis(box, margin)
    if gap > margin:
        return count
    if kind >= 6:
        point = meet_edges(box, kind, normal)
        return add_contact(scratch, count, a, b, code_a, code_b, point, normal, -gap, friction)
    reference, axis = kind // 3, kind % 3
    out = scale(normal, -1.0 if reference == 0 else 1.0)
    page, corners = clip_face(box, scratch[layout.S_POLYGON], reference, axis, out)
    face = dot(out, get_vector(box, reference, layout.B_CENTRE)) + box[reference, layout.B_HALF + axis]
    for corner in range(corners):
        point = get_vector(scratch[layout.S_POLYGON][page], corner, 0)
        depth = face - out[0] * point[0] - out[1] * point[1] - out[2] * point[2]
        if depth > -margin:
            count = add_contact(scratch, count, a, b, code_a, code_b, point, normal, depth, friction)
    return count


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
