"""Steps whole worlds: copies cars and props into the scratch table, steps them there, writes them back."""

from donkeysim.core.kernel import index_kernel, inner_kernel
from donkeysim.core.types import FloatArray, IntArray, LongArray
from donkeysim.core.vector import ZERO, add, dot, get_vector, measure_length, scale, set_vector, subtract
from donkeysim.physics.kernels.actuators import work_actuators
from donkeysim.physics.kernels.contact import REACH, list_pairs, may_reach_ground, resolve_contacts
from donkeysim.physics.kernels.exchange import (
    FAR,
    find_centre,
    load_car,
    load_prop,
    measure_body_velocity,
    store_car,
    store_prop,
    take_orders,
)
from donkeysim.physics.kernels.ground import sample_height
from donkeysim.physics.kernels.laps import follow_lap, note_event
from donkeysim.physics.kernels.layout import (
    ANGULAR,
    BODY_VELOCITY,
    GRIP,
    LOAD,
    N_CLOSED,
    N_NODE,
    N_NODE_COUNT,
    ORIGIN_X,
    ORIGIN_Y,
    P_GRAVITY,
    P_HAS_ACTUATORS,
    POSITION,
    PROP_BASE,
    PROP_HEIGHT,
    QUATERNION,
    RADIUS,
    S_BODY,
    S_MISSED,
    TURN,
    VELOCITY,
    WHEEL_ANGLE,
    WHEEL_SPEED,
    EventTable,
    Obstacles,
    Orders,
    ScenePaths,
    SceneProps,
    StepScratch,
    Terrain,
)
from donkeysim.physics.kernels.ledger import Book, write_row
from donkeysim.physics.kernels.progress import count_nodes, find_segment, follow_active, follow_node, observe_progress
from donkeysim.physics.kernels.vehicle import advance_car, move_body, rotate_frame, turn_body
from donkeysim.world.ledger import EVENT_HIT, EVENT_RESCUED
from donkeysim.world.state import FAULT_RESCUED, HIT_NONE, NODE_UNKNOWN, Control, State

# A frame at 20 Hz: searched for once, with room for what a car can reach in 50 ms.
CHUNK_STEPS = 24
"""Steps between two searches for things that a car might reach."""
# 120 times a second, in which a fast car (5 m/s) makes 4 cm of a node's 25.
NODE_STEPS = 4
"""Steps between two updates of a car's path node; counted on the world's clock, so calls of any length agree."""
# Ten times a second, as all of the path is looked through.
LOST_STEPS = 48
"""The same for the search of the whole path when a car is far from it."""
# Fifteen times what the motor can: physics has gone wrong there, and at 0.4 m a step cars pass through walls.
SPEED_MAX = 200.0
"""A car faster than this is put back [m/s]."""
# As that of the original's car.
PROP_DRAG = 0.05
"""Resistance of the air to props [1/s]."""
PROP_ANGULAR_DRAG = 1.0
"""Resistance to their turning, so that what rolls comes to rest [1/s]."""
# 2.5 mm in the time of `STILL_STEPS`: what falls over slowly, as a cone on its edge, is faster for most of it.
STILL_SPEED = 0.01
"""A prop slower than this is still [m/s]."""
STILL_TURN = 0.1
"""A prop that turns less than this is still [rad/s]."""
# A quarter of a second: longer than a bouncing prop stands at the top of a bounce that could be seen.
STILL_STEPS = 120
"""Steps for which a prop must be still to fall asleep."""
DEEP = 0.5
"""A car this far below the ground is put back [m]."""


@inner_kernel
def advance_prop(body, row, gravity, dt):
    """Change a prop's velocities by one step of gravity and the resistance of air and rolling."""
    x, y, z = get_vector(body, row, VELOCITY)
    set_vector(body, row, VELOCITY, scale((x, y, z - dt * gravity), 1.0 - dt * PROP_DRAG))
    turn_body(body, row, ZERO, 1.0 - dt * PROP_ANGULAR_DRAG, dt)


@inner_kernel(merged=True)
def rest_prop(body, row, state, prop):
    """Let a prop fall asleep that has hardly moved for a while."""
    velocity, angular = get_vector(body, row, VELOCITY), get_vector(body, row, ANGULAR)
    if dot(velocity, velocity) < STILL_SPEED * STILL_SPEED and dot(angular, angular) < STILL_TURN * STILL_TURN:
        state.prop_still[prop] += 1
    else:
        state.prop_still[prop] = 0
    if state.prop_still[prop] >= STILL_STEPS:
        state.prop_asleep[prop] = 1
        set_vector(body, row, VELOCITY, ZERO)
        set_vector(body, row, ANGULAR, ZERO)


@inner_kernel
def needs_props(body, state, first, slots, first_prop, begin, end, props):
    """Return whether any prop of a world is awake or could be reached by a car before the next search."""
    for entry in range(begin, end):
        prop = first_prop + entry - begin
        if state.prop_asleep[prop] == 0:
            return True
        reach = 2.0 * REACH + props.number[entry, PROP_HEIGHT] + props.number[entry, PROP_BASE]
        for slot in range(slots):
            if state.present[first + slot] != 0:
                away = subtract(get_vector(body, slot, POSITION), get_vector(state.prop_position, prop, 0))
                limit = reach + body[slot, RADIUS]
                if dot(away, away) < limit * limit:
                    return True
    return False


@inner_kernel(merged=True)
def needs_contacts(body, state, first, slots, company, terrain, scene, dt):
    """Return whether a world may have any contact, or a car still has one noted from before."""
    if company > 0:
        return True
    for slot in range(slots):
        if state.present[first + slot] != 0:
            if state.touching[first + slot, 0] != HIT_NONE or may_reach_ground(body, slot, terrain, scene, dt):
                return True
    return False


@inner_kernel(merged=True)
def choose_chunk(body, state, first, slots, prop_rows, dt):
    """Return how many steps nothing moves farther than `REACH`, even when hit by the fastest; 1 to CHUNK_STEPS."""
    fastest = 0.0
    for row in range(slots + prop_rows):
        if row >= slots or state.present[first + row] != 0:
            fastest = max(fastest, measure_length(get_vector(body, row, VELOCITY)))
    # With room to spare: a hit within these steps may hand the greatest speed to anyone, and gravity adds to it.
    return int(min(max(REACH / ((2.0 * fastest + 2.0) * dt), 1.0), CHUNK_STEPS))


@inner_kernel
def is_sane(body, row):
    """Return whether a car's position and velocity are finite and within the world."""
    x, y, z = body[row, POSITION], body[row, POSITION + 1], body[row, POSITION + 2]
    square = 0.0
    for axis in range(3):
        square += body[row, VELOCITY + axis] * body[row, VELOCITY + axis]
        square += body[row, ANGULAR + axis] * body[row, ANGULAR + axis]
        square += 0.0 * body[row, WHEEL_SPEED + axis]
    square += 0.0 * body[row, WHEEL_SPEED + 3] + 0.0 * body[row, QUATERNION]
    return abs(x) < FAR and abs(y) < FAR and abs(z) < FAR and square < SPEED_MAX * SPEED_MAX


@inner_kernel
def is_buried(body, row, terrain, scene):
    """Return whether a car is so far below the ground that no contact should lift it out."""
    x, y = body[row, POSITION], body[row, POSITION + 1]
    if not (abs(x) < FAR and abs(y) < FAR):
        return False
    ground, _, _ = sample_height(terrain, scene, x, y)
    return body[row, POSITION + 2] < ground - DEEP


@inner_kernel
def rescue_car(body, row, state, car, course, scene, world, time, events):
    """Put a car back at its spawn pose, at rest, and say so in `fault` and in an event."""
    for part in range(4):
        body[row, QUATERNION + part] = state.spawn_orientation[car, part]
        body[row, TURN + part] = 1.0 if part == 0 else 0.0
        body[row, WHEEL_SPEED + part] = 0.0
        body[row, WHEEL_ANGLE + part] = 0.0
        body[row, GRIP + 2 * part] = 0.0
        body[row, GRIP + 2 * part + 1] = 0.0
        body[row, LOAD + part] = 0.0
    rotate_frame(body, row)
    for still in (VELOCITY, ANGULAR, BODY_VELOCITY):
        set_vector(body, row, still, ZERO)
    origin = get_vector(state.spawn_position, car, 0)
    set_vector(body, row, POSITION, add(origin, find_centre(body, row)))
    body[row, ORIGIN_X], body[row, ORIGIN_Y] = origin[0], origin[1]
    state.fault[car] |= FAULT_RESCUED
    note_event(events, world, car, time, EVENT_RESCUED, 0.0)
    state.node_index[car] = locate_node(course, scene, origin[0], origin[1])
    state.active_node[car] = NODE_UNKNOWN


@inner_kernel
def locate_node(course, scene, x, y):
    """Return the path node behind a point, looked for along the whole path."""
    begin, count = course.entry[scene, N_NODE], course.entry[scene, N_NODE_COUNT]
    return find_segment(course.node, begin, count, course.entry[scene, N_CLOSED], x, y)


@inner_kernel
def track_car(body, row, state, car, course, scene, world, step, dt, events):
    """Update a car's lap and, now and then, its path node; `step` is the clock after the move."""
    x, y, _ = subtract(get_vector(body, row, POSITION), find_centre(body, row))
    old_x, old_y = body[row, ORIGIN_X], body[row, ORIGIN_Y]
    body[row, ORIGIN_X] = x
    body[row, ORIGIN_Y] = y
    if step % NODE_STEPS == 0:
        old = state.node_index[car]
        new = follow_node(course, scene, int(old), x, y, step % LOST_STEPS == 0)
        state.node_index[car] = new
        state.lap_nodes[car] += count_nodes(course, scene, int(old), new)
    follow_lap(state, car, course, scene, world, old_x, old_y, x, y, step, dt, events)


@inner_kernel(merged=True)
def watch_hits(state, first, slots, events):
    """Put aside what the cars of a world have hit, to see what they hit in a step."""
    for car in range(first, first + slots):
        events.hit_before[car] = state.hit[car]
        state.hit[car] = HIT_NONE


@inner_kernel(merged=True)
def note_hits(state, first, slots, world, time, events):
    """Note what the cars of a world have hit since `watch_hits`."""
    for car in range(first, first + slots):
        if state.hit[car] == HIT_NONE:
            state.hit[car] = events.hit_before[car]
        else:
            note_event(events, world, car, time, EVENT_HIT, state.hit[car])


@inner_kernel(merged=True)
def step_world(world, step_count, dt, scene, slots, prop_slots, state, control, param, orders, tables, scratch, events):
    """Advance the cars and props of one world, loaded in `scratch`, by `step_count` steps."""
    terrain, course, obstacles, props = tables
    body = scratch[S_BODY]
    first, first_prop = world * slots, world * prop_slots
    begin, end = int(props.begin[scene]), int(props.begin[scene + 1])
    gravity = param[first, P_GRAVITY]
    clock = state.step_index[world]
    prop_rows, chunk, pair_count = 0, 0, 0
    for step in range(step_count):
        clock += 1
        if chunk == 0:
            if prop_rows == 0 and needs_props(body, state, first, slots, first_prop, begin, end, props):
                prop_rows = end - begin
                for prop in range(prop_rows):
                    load_prop(body, slots + prop, state, first_prop + prop, props, begin + prop)
            pair_count = list_pairs(scratch, state.present, first, slots, prop_rows, obstacles, scene)
            chunk = choose_chunk(body, state, first, slots, prop_rows, dt)
        chunk -= 1
        for slot in range(slots):
            if state.present[first + slot] != 0:
                if orders.waiting[first + slot] > 0:
                    take_orders(body, slot, state, control, first + slot, param, orders, clock - 1)
                if step == step_count - 1:
                    set_vector(body, slot, BODY_VELOCITY, measure_body_velocity(body, slot))
                if param[first + slot, P_HAS_ACTUATORS] != 0.0:
                    work_actuators(body, slot, state, control, first + slot, param, dt)
                advance_car(body, slot, param, first + slot, terrain, scene, dt)
        for prop in range(prop_rows):
            if state.prop_asleep[first_prop + prop] == 0:
                advance_prop(body, slots + prop, gravity, dt)
        if needs_contacts(body, state, first, slots, pair_count + prop_rows, terrain, scene, dt):
            watch_hits(state, first, slots, events)
            resolve_contacts(
                scratch, pair_count, state, first, slots, first_prop, prop_rows, begin, param, tables, scene, dt
            )
            note_hits(state, first, slots, world, clock * dt, events)
        for slot in range(slots):
            car = first + slot
            if state.present[car] != 0:
                move_body(body, slot, dt)
                if not is_sane(body, slot):
                    rescue_car(body, slot, state, car, course, scene, world, clock * dt, events)
                    chunk = 0
                track_car(body, slot, state, car, course, scene, world, clock, dt, events)
        for prop in range(prop_rows):
            if state.prop_asleep[first_prop + prop] == 0:
                move_body(body, slots + prop, dt)
                rest_prop(body, slots + prop, state, first_prop + prop)
    state.step_index[world] = clock
    for prop in range(prop_rows):
        store_prop(body, slots + prop, state, first_prop + prop)


@inner_kernel(merged=True)
def take_room(scratch, room):
    """Return the working memory of one world as a plain tuple."""
    return (
        scratch.body[room],
        scratch.pair[room],
        scratch.contact[room],
        scratch.link[room],
        scratch.touch[room],
        scratch.box[room],
        scratch.frustum[room],
        scratch.polygon[room],
        scratch.missed[room],
    )


@index_kernel
def step_one_world(
    world: int,
    room: int,
    step_count: int,
    dt: float,
    world_scene: IntArray,
    slots: int,
    prop_slots: int,
    state: State,
    control: Control,
    param: FloatArray,
    orders: Orders,
    tables: tuple[Terrain, ScenePaths, Obstacles, SceneProps],
    scratches: StepScratch,
    events: EventTable,
    book: Book,
) -> None:
    """Advance a world by `step_count` steps.

    Args:
        room: Of `scratches`.
        step_count: Steps to make.
        dt: Length of a step [s].
        slots: Cars per world.
        prop_slots: Props per world.
        state: Read and written, rows of this world only.
        control: Read; written where an order becomes due.
        param: Car parameters, one row per car.
        orders: Commands on their way.
        scratches: Of all rooms.
        events: Written, rows of this world only.
        book: Written, rows of this world only.
    """
    terrain, course = tables[0], tables[1]
    scratch = take_room(scratches, room)
    body, scene, first = scratch[S_BODY], int(world_scene[world]), world * slots
    events.noted[world] = 0
    scratch[S_MISSED][0] = 0
    for slot in range(slots):
        if state.present[first + slot] != 0:
            load_car(body, slot, state, control, first + slot, param)
            if is_buried(body, slot, terrain, scene):
                now = state.step_index[world] * dt
                rescue_car(body, slot, state, first + slot, course, scene, world, now, events)
    step_world(world, step_count, dt, scene, slots, prop_slots, state, control, param, orders, tables, scratch, events)
    for slot in range(slots):
        car = first + slot
        if state.present[car] != 0:
            if is_buried(body, slot, terrain, scene):
                rescue_car(body, slot, state, car, course, scene, world, state.step_index[world] * dt, events)
            store_car(body, slot, state, car, dt)
            observe_progress(state, car, course, terrain, scene)
            follow_active(state, car, course, scene, state.step_index[world], step_count)
            write_row(state, car, world, scene, step_count, events, book)
    events.missed[world] += scratch[S_MISSED][0]


@index_kernel
def place_one_car(
    index: int,
    rows: LongArray,
    state: State,
    world_scene: IntArray,
    slots: int,
    tables: tuple[Terrain, ScenePaths, Obstacles, SceneProps],
    events: EventTable,
    book: Book,
) -> None:
    """Write where a car, which has been put somewhere, is on its path.

    Args:
        index: Place in `rows`.
        rows: Of cars.
        state: Read and written, this car only.
        slots: Cars per world.
        events: Not written.
        book: Written, row of this car only.
    """
    terrain, course, car = tables[0], tables[1], rows[index]
    scene = int(world_scene[car // slots])
    state.node_index[car] = locate_node(course, scene, state.position[car, 0], state.position[car, 1])
    observe_progress(state, car, course, terrain, scene)
    follow_active(state, car, course, scene, 0, 0)
    write_row(state, car, car // slots, scene, 0, events, book)
