"""Who may meet whom, who does, and what cars have touched.

Broad phase: every chunk of steps, lists of pairs that could come near each other before the next one, from a grid of
static colliders and distances between bodies. The lists are generous, so a pair's contacts do not depend on when they
were made; their order is fixed. A car with nothing near it only looks whether its box may reach the ground.
"""

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.vector import add, dot, get_basis, get_vector, measure_length, rotate, subtract
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.boxes import collide_boxes, collide_frustum_box, collide_frustum_ground, collide_frustums
from donkeysim.physics.kernels.ground import find_friction, measure_depth, sample_ceiling
from donkeysim.physics.kernels.shape import add_contact, fill_car_box, fill_prop_frustum
from donkeysim.physics.kernels.solver import shift_apart, solve_impulses
from donkeysim.physics.kernels.vehicle import TILT_FULL
from donkeysim.world.scene import COLLIDER_BOX
from donkeysim.world.state import HIT_CAR, HIT_NONE, TOUCH_COUNT

CAR_COLLIDER, CAR_CAR, PROP_CAR, PROP_COLLIDER, PROP_PROP = 0, 1, 2, 3, 4
"""Kinds of pairs; the partner named first is body a."""

REACH = 0.5
"""Way that a body makes at most between two searches [m]."""
# Plastic on plastic, about.
CAR_FRICTION = 0.4
"""Between two cars' bodies [-]."""
# At 2 m/s a body moves 4 mm in a step; what rests comes and goes by far less than a millimetre.
CONTACT_GAP = 0.001
"""Gap at which things count as still touching [m]."""
UPRIGHT = 0.5
"""A car whose own z axis points up by more than this stands on its wheels [-]."""
# Twice the speed below which props are still (`world.STILL_SPEED`), else two that lean on each other would keep each
# other awake.
WAKE_SPEED = 0.02
"""A sleeping prop wakes when something at least this fast comes into contact [m/s]."""


@inner_kernel
def measure_reach(body, row, dt):
    """Return how far any point of a body moves in a step at most [m]."""
    speed = measure_length(get_vector(body, row, layout.VELOCITY))
    turn = measure_length(get_vector(body, row, layout.ANGULAR))
    return dt * (speed + turn * body[row, layout.RADIUS])


@inner_kernel(merged=True)
def add_pair(pair, missed, count, kind, a, b):
    """Append a pair and return the new count; a full list stays as it is, and the pair is missed."""
    if count >= len(pair):
        missed[0] += 1
        return count
    pair[count, 0] = kind
    pair[count, 1] = a
    pair[count, 2] = b
    return count + 1


@inner_kernel
def find_colliders(scratch, count, kind, row, obstacles, scene):
    """Append the static colliders near a body, in rising order, each once; return the new count."""
    body, pair, missed = scratch[layout.S_BODY], scratch[layout.S_PAIR], scratch[layout.S_MISSED]
    if obstacles.entry[scene, layout.G_COLLIDERS] == 0:
        return count
    rows, columns = obstacles.entry[scene, layout.G_ROWS], obstacles.entry[scene, layout.G_COLUMNS]
    reach = body[row, layout.RADIUS] + REACH
    x = body[row, layout.POSITION] - obstacles.number[scene, 0]
    y = body[row, layout.POSITION + 1] - obstacles.number[scene, 1]
    # Cells overlap nothing: a collider lies in every cell that its circle touches.
    left = int(min(max((x - reach) / layout.GRID_CELL, 0.0), columns))
    right = int(min(max((x + reach) / layout.GRID_CELL + 1.0, 0.0), columns))
    low = int(min(max((y - reach) / layout.GRID_CELL, 0.0), rows))
    high = int(min(max((y + reach) / layout.GRID_CELL + 1.0, 0.0), rows))
    start = count
    for line in range(low, high):
        for column in range(left, right):
            cell = obstacles.entry[scene, layout.G_CELL] + line * columns + column
            for entry in range(obstacles.cell_begin[cell], obstacles.cell_begin[cell + 1]):
                count = insert_pair(pair, missed, start, count, kind, row, obstacles.cell_collider[entry])
    return count


@inner_kernel
def insert_pair(pair, missed, start, count, kind, row, collider):
    """Insert a collider into the sorted pairs [start, count) unless it is there; return the new count."""
    # Impulses are solved in the order of this list, so it must not depend on which cell came first.
    place = count
    while place > start and pair[place - 1, 2] >= collider:
        place -= 1
    if place < count and pair[place, 2] == collider:
        return count
    if count >= len(pair):
        missed[0] += 1
        return count
    for index in range(count, place, -1):
        for column in range(3):
            pair[index, column] = pair[index - 1, column]
    pair[place, 0] = kind
    pair[place, 1] = row
    pair[place, 2] = collider
    return count + 1


@inner_kernel(merged=True)
def are_near(body, a, b):
    """Return whether two bodies could meet before the next search."""
    away = subtract(get_vector(body, a, layout.POSITION), get_vector(body, b, layout.POSITION))
    limit = body[a, layout.RADIUS] + body[b, layout.RADIUS] + 2.0 * REACH
    return dot(away, away) < limit * limit


@inner_kernel
def list_pairs(scratch, present, first, slots, prop_rows, obstacles, scene):
    """List the pairs that could meet before the next search; `prop_rows` props lie in `body` after the cars."""
    body, pair, missed, count = scratch[layout.S_BODY], scratch[layout.S_PAIR], scratch[layout.S_MISSED], 0
    for slot in range(slots):
        if present[first + slot] != 0:
            count = find_colliders(scratch, count, CAR_COLLIDER, slot, obstacles, scene)
            for other in range(slot + 1, slots):
                if present[first + other] != 0 and are_near(body, slot, other):
                    count = add_pair(pair, missed, count, CAR_CAR, slot, other)
            for prop in range(slots, slots + prop_rows):
                if are_near(body, slot, prop):
                    count = add_pair(pair, missed, count, PROP_CAR, prop, slot)
    for prop in range(slots, slots + prop_rows):
        count = find_colliders(scratch, count, PROP_COLLIDER, prop, obstacles, scene)
        for other in range(prop + 1, slots + prop_rows):
            if are_near(body, prop, other):
                count = add_pair(pair, missed, count, PROP_PROP, prop, other)
    return count


@inner_kernel
def measure_fall(body, row, terrain, scene, dt):
    """Return how far any point of a car nears the ground in a step at most [m]."""
    if terrain.entry[scene, layout.I_IS_LEVEL] == 0:
        return measure_reach(body, row, dt)
    # A level ground is not neared by driving: most cars on it need no look at their corners.
    turn = measure_length(get_vector(body, row, layout.ANGULAR))
    return dt * (abs(body[row, layout.VELOCITY + 2]) + turn * body[row, layout.RADIUS])


@inner_kernel
def may_reach_ground(body, row, terrain, scene, dt):
    """Return whether a car's box may touch the ground within a step, or a wheel its stop."""
    margin = CONTACT_GAP + measure_fall(body, row, terrain, scene, dt)
    lowest = body[row, layout.POSITION + 2]
    for axis in range(3):
        side = body[row, layout.ROTATION + 6 + axis]
        lowest += side * body[row, layout.SHAPE + 3 + axis] - abs(side) * body[row, layout.SHAPE + axis]
    if body[row, layout.ROTATION + 8] < TILT_FULL:
        # A tilted car's wheels bear little or nothing, so their extension does not show how near the ground is.
        lowest = body[row, layout.POSITION + 2] - body[row, layout.RADIUS]
    for wheel in range(4):
        if body[row, layout.EXTENSION + wheel] < margin:
            return True
    return lowest < sample_ceiling(terrain, scene, body[row, layout.POSITION], body[row, layout.POSITION + 1]) + margin


@inner_kernel
def collide_car_ground(scratch, count, row, param, car, terrain, scene, dt):
    """Append the contacts with the ground of a car's box and of its wheels' lowest points at full compression.

    The latter are the suspension's stop. They are no touch, and without friction while the car stands on its wheels:
    there the tyres have it.
    """
    body, box = scratch[layout.S_BODY], scratch[layout.S_BOX]
    if not may_reach_ground(body, row, terrain, scene, dt):
        return count
    margin = CONTACT_GAP + measure_fall(body, row, terrain, scene, dt)
    fill_car_box(box, 0, body, row)
    axes, half = get_basis(body, row, layout.ROTATION), get_vector(body, row, layout.SHAPE)
    for corner in range(12):
        if corner < 8:
            middle, code = get_vector(box, 0, layout.B_CENTRE), 0
            arm = (
                half[0] if corner & 1 else -half[0],
                half[1] if corner & 2 else -half[1],
                half[2] if corner & 4 else -half[2],
            )
        else:
            middle, code = get_vector(body, row, layout.POSITION), -1
            x, y, z = get_vector(param, car, layout.P_WHEEL + 3 * (corner - 8))
            arm = (x, y, z - param[car, layout.P_RADIUS])
        point = add(middle, rotate(axes, arm))
        depth, normal = measure_depth(terrain, scene, point)
        if depth > -margin:
            friction = find_friction(terrain, scene, point[0], point[1])
            if corner >= 8 and axes[2][2] > UPRIGHT:
                friction = 0.0
            count = add_contact(scratch, count, row, -1, code, -1, point, normal, depth, friction)
    return count


@inner_kernel(merged=True)
def fill_obstacle(obstacles, collider, box, frustum, side):
    """Write a static collider into row `side` of `box` or `frustum`; return whether it is a box."""
    if obstacles.kind[collider] == COLLIDER_BOX:
        for column in range(15):
            box[side, column] = obstacles.shape[collider, column]
        return True
    for column in range(9):
        frustum[side, column] = obstacles.shape[collider, column]
    return False


@inner_kernel(merged=True)
def is_clear(body, row, obstacles, collider, margin):
    """Return whether a body's bounding sphere is further than `margin` from the sides of a static box [m]."""
    shape, limit = obstacles.shape[collider], body[row, layout.RADIUS] + margin
    x, y, _ = subtract(get_vector(body, row, layout.POSITION), get_vector(obstacles.shape, collider, layout.B_CENTRE))
    # Walls turn about the vertical only, so the upper left 2 x 2 of their rotation is enough.
    for side in range(2):
        away = abs(x * shape[layout.B_ROTATION + side] + y * shape[layout.B_ROTATION + 3 + side])
        if away > shape[layout.B_HALF + side] + limit:
            return True
    return False


@inner_kernel(merged=True)
def collide_pair(scratch, count, index, slots, obstacles, props, prop_begin, dt):
    """Append the contacts of one pair; return the new count."""
    pair = scratch[layout.S_PAIR]
    body, box, frustum = scratch[layout.S_BODY], scratch[layout.S_BOX], scratch[layout.S_FRUSTUM]
    kind, a, b = pair[index, 0], pair[index, 1], pair[index, 2]
    margin = CONTACT_GAP + measure_reach(body, a, dt)
    if kind == CAR_COLLIDER or kind == PROP_COLLIDER:
        if obstacles.kind[b] == COLLIDER_BOX and is_clear(body, a, obstacles, b, margin):
            return count
        is_box = fill_obstacle(obstacles, b, box, frustum, 1)
        friction, name = obstacles.shape[b, layout.OBSTACLE_FRICTION], obstacles.name[b]
        if kind == CAR_COLLIDER:
            fill_car_box(box, 0, body, a)
            if is_box:
                return collide_boxes(scratch, count, a, -1, name, -1, friction, margin)
            return collide_frustum_box(scratch, count, 1, 0, -1, a, -1, name, friction, margin)
        fill_prop_frustum(frustum, 0, body, a)
        if is_box:
            return collide_frustum_box(scratch, count, 0, 1, a, -1, -1, -1, friction, margin)
        return collide_frustums(scratch, count, a, -1, friction, margin)
    margin += measure_reach(body, b, dt)
    limit = body[a, layout.RADIUS] + body[b, layout.RADIUS] + margin
    away = subtract(get_vector(body, a, layout.POSITION), get_vector(body, b, layout.POSITION))
    if dot(away, away) > limit * limit:
        return count
    if kind == CAR_CAR:
        fill_car_box(box, 0, body, a)
        fill_car_box(box, 1, body, b)
        return collide_boxes(scratch, count, a, b, HIT_CAR + b, HIT_CAR + a, CAR_FRICTION, margin)
    fill_prop_frustum(frustum, 0, body, a)
    if kind == PROP_CAR:
        fill_car_box(box, 1, body, b)
        name = props.name[prop_begin + a - slots]
        return collide_frustum_box(scratch, count, 0, 1, a, b, -1, name, body[a, layout.FRICTION], margin)
    fill_prop_frustum(frustum, 1, body, b)
    return collide_frustums(scratch, count, a, b, body[a, layout.FRICTION], margin)


@inner_kernel(merged=True)
def wake_props(scratch, begin, end, slots, asleep, still, first_prop, dt):
    """Wake the props of the contacts [begin, end) when a partner of theirs moves."""
    body, link = scratch[layout.S_BODY], scratch[layout.S_LINK]
    for index in range(begin, end):
        a, b = link[index, 0], link[index, 1]
        for partner in range(2):
            row = link[index, partner]
            other = b if partner == 0 else a
            if row >= slots and asleep[first_prop + row - slots] != 0 and other >= 0:
                if measure_reach(body, other, dt) > WAKE_SPEED * dt:
                    asleep[first_prop + row - slots] = 0
                    still[first_prop + row - slots] = 0


@inner_kernel
def find_code(codes, row, code):
    """Return whether a row of codes holds a code."""
    for place in range(TOUCH_COUNT):
        if codes[row, place] == code:
            return True
    return False


@inner_kernel
def note_touches(scratch, count, present, first, slots, touching, hit):
    """Write what each car touches now, and as `hit` what it did not touch before."""
    contact, link, touch = scratch[layout.S_CONTACT], scratch[layout.S_LINK], scratch[layout.S_TOUCH]
    for slot in range(slots):
        if present[first + slot] != 0 and (count > 0 or touching[first + slot, 0] != HIT_NONE):
            for place in range(TOUCH_COUNT):
                touch[slot, place] = HIT_NONE
    for index in range(count):
        depth = contact[index, layout.C_DEPTH]
        pressed = depth > 0.0 or contact[index, layout.C_ROWS + layout.R_IMPULSE] > 0.0
        # A touch begins with pressure and lasts while the gap is small, so trembling at a wall is one hit.
        near = pressed or depth > -CONTACT_GAP
        for partner in range(2):
            slot, code = link[index, partner], link[index, 2 + partner]
            if code >= 0 and slot >= 0 and slot < slots and near and not find_code(touch, slot, code):
                known = find_code(touching, first + slot, code)
                if pressed or known:
                    if not known:
                        hit[first + slot] = code
                    for place in range(TOUCH_COUNT):
                        if touch[slot, place] == HIT_NONE:
                            touch[slot, place] = code
                            break
    for slot in range(slots):
        if present[first + slot] != 0 and (count > 0 or touching[first + slot, 0] != HIT_NONE):
            for place in range(TOUCH_COUNT):
                touching[first + slot, place] = touch[slot, place]


@inner_kernel(merged=True)
def resolve_contacts(
    scratch, pair_count, state, first, slots, first_prop, prop_rows, prop_begin, param, tables, scene, dt
):
    """Find all contacts of a world and change velocities so that nothing goes through anything.

    Args:
        scratch: Bodies read and written; pairs read.
        pair_count: Of `list_pairs`.
        state: `touching`, `hit` and the sleep of props are written.
        first: First car of the world.
        slots: Cars per world.
        first_prop: First prop of the world in State.
        prop_rows: Props in `body`, after the cars; 0 when none is near or awake.
        prop_begin: First prop of the scene in the prop table.
        param: Car parameters.
        tables: Terrain, course, obstacles and props of all scenes.
        scene: Row of the scene.
        dt: [s]
    """
    terrain, _, obstacles, props = tables
    body, pair, contact = scratch[layout.S_BODY], scratch[layout.S_PAIR], scratch[layout.S_CONTACT]
    link, frustum = scratch[layout.S_LINK], scratch[layout.S_FRUSTUM]
    asleep, count = state.prop_asleep, 0
    for slot in range(slots):
        if state.present[first + slot] != 0:
            count = collide_car_ground(scratch, count, slot, param, first + slot, terrain, scene, dt)
    for index in range(pair_count):
        kind, a, b = pair[index, 0], pair[index, 1], pair[index, 2]
        resting = kind >= PROP_CAR and asleep[first_prop + a - slots] != 0
        # What sleeps neither moves nor is moved by what sleeps or stands: a heap of cones at rest costs nothing.
        if kind == PROP_COLLIDER and resting:
            continue
        if kind == PROP_PROP and resting and asleep[first_prop + b - slots] != 0:
            continue
        before = count
        count = collide_pair(scratch, count, index, slots, obstacles, props, prop_begin, dt)
        if prop_rows > 0:
            wake_props(scratch, before, count, slots, asleep, state.prop_still, first_prop, dt)
    for row in range(slots, slots + prop_rows):
        if asleep[first_prop + row - slots] == 0:
            fill_prop_frustum(frustum, 0, body, row)
            margin = CONTACT_GAP + measure_reach(body, row, dt)
            friction = body[row, layout.FRICTION]
            count = collide_frustum_ground(scratch, count, row, terrain, scene, friction, margin)
    if count > 0:
        solve_impulses(body, contact, link, count, dt)
        shift_apart(body, contact, link, count)
    note_touches(scratch, count, state.present, first, slots, state.touching, state.hit)
