"""Copies cars and props between `State` and the rows of the scratch table that steps work on."""

import math

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.vector import (
    ZERO,
    add,
    divide,
    get_basis,
    get_quaternion,
    get_vector,
    measure_length,
    rotate,
    rotate_back,
    set_quaternion,
    set_vector,
    subtract,
)
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.actuators import find_wheel_angle, limit_request
from donkeysim.physics.kernels.vehicle import rotate_frame

# 80 km of the original's world: whoever gets there fell off it.
FAR = 10_000.0
"""A car beyond this distance from the world's origin is put back [m]."""


@inner_kernel
def set_request(body, row, state, control, car, param):
    """Copy what a car is asked to do from Control into a row of `body`, within its limits.

    A car with actuators continues with what they did last; see `work_actuators`.
    """
    steer = state.steer_angle[car]
    if param[car, layout.P_HAS_ACTUATORS] == 0.0:
        steer = find_wheel_angle(control, car, param)
    body[row, layout.STEER_COS] = math.cos(steer)
    body[row, layout.STEER_SIN] = math.sin(steer)
    body[row, layout.THROTTLE] = limit_request(control.throttle[car], -1.0, 1.0)
    body[row, layout.BRAKE] = limit_request(control.brake[car], 0.0, 10.0)
    body[row, layout.SPEED_SCALE] = 1.0
    state.steer_angle[car] = steer


@inner_kernel
def take_orders(body, row, state, control, car, param, orders, clock):
    """Let a car do what has become due; `control` becomes what it does."""
    length = orders.due.shape[1]
    while orders.waiting[car] > 0 and orders.due[car, orders.first[car]] <= clock:
        place = orders.first[car]
        control.steer[car] = orders.value[car, place, 0]
        control.throttle[car] = orders.value[car, place, 1]
        control.brake[car] = orders.value[car, place, 2]
        orders.first[car] = (place + 1) % length
        orders.waiting[car] -= 1
        # Of several due at once only the last is done: sine and cosine of the others would be lost work.
        if orders.waiting[car] == 0 or orders.due[car, orders.first[car]] > clock:
            set_request(body, row, state, control, car, param)


@inner_kernel
def find_centre(body, row):
    """Return the vector from a body's origin to its centre of mass [m, world frame]."""
    return rotate(get_basis(body, row, layout.ROTATION), get_vector(body, row, layout.CENTRE))


@inner_kernel
def measure_body_velocity(body, row):
    """Return a body's velocity in its own frame [m/s]."""
    return rotate_back(get_basis(body, row, layout.ROTATION), get_vector(body, row, layout.VELOCITY))


@inner_kernel
def load_car(body, row, state, control, car, param):
    """Copy a car from State and its controls from Control into a row of `body`."""
    half, middle = get_vector(param, car, layout.P_HALF_SIZE), get_vector(param, car, layout.P_BOX_CENTRE)
    set_vector(body, row, layout.PUSH, ZERO)
    set_vector(body, row, layout.VELOCITY, get_vector(state.velocity, car, 0))
    set_vector(body, row, layout.ANGULAR, get_vector(state.angular_velocity, car, 0))
    set_vector(body, row, layout.CENTRE, get_vector(param, car, layout.P_CENTRE))
    set_vector(body, row, layout.SHAPE, half)
    set_vector(body, row, layout.SHAPE + 3, middle)
    for axis in range(3):
        body[row, layout.INVERSE_INERTIA + axis] = 1.0 / param[car, layout.P_INERTIA + axis]
    body[row, layout.INVERSE_MASS] = 1.0 / param[car, layout.P_MASS]
    body[row, layout.RADIUS] = measure_length(add((abs(middle[0]), abs(middle[1]), abs(middle[2])), half))
    set_quaternion(body, row, layout.QUATERNION, get_quaternion(state.orientation, car, 0))
    set_quaternion(body, row, layout.TURN, get_quaternion(state.rotation_step, car, 0))
    for wheel in range(4):
        body[row, layout.WHEEL_SPEED + wheel] = state.wheel_speed[car, wheel]
        body[row, layout.WHEEL_ANGLE + wheel] = state.wheel_angle[car, wheel]
        body[row, layout.GRIP + 2 * wheel] = state.wheel_grip[car, wheel, 0]
        body[row, layout.GRIP + 2 * wheel + 1] = state.wheel_grip[car, wheel, 1]
        body[row, layout.EXTENSION + wheel] = state.wheel_extension[car, wheel]
        body[row, layout.LOAD + wheel] = state.wheel_load[car, wheel]
    set_request(body, row, state, control, car, param)
    rotate_frame(body, row)
    set_vector(body, row, layout.POSITION, add(get_vector(state.position, car, 0), find_centre(body, row)))
    body[row, layout.ORIGIN_X] = state.position[car, 0]
    body[row, layout.ORIGIN_Y] = state.position[car, 1]


@inner_kernel
def load_prop(body, row, state, prop, props, entry):
    """Copy a prop from State into a row of `body`; `entry` is its row in the prop table."""
    centre, height = props.number[entry, layout.PROP_CENTRE], props.number[entry, layout.PROP_HEIGHT]
    base, top = props.number[entry, layout.PROP_BASE], props.number[entry, layout.PROP_TOP]
    set_vector(body, row, layout.PUSH, ZERO)
    set_vector(body, row, layout.VELOCITY, get_vector(state.prop_velocity, prop, 0))
    set_vector(body, row, layout.ANGULAR, get_vector(state.prop_angular_velocity, prop, 0))
    set_vector(body, row, layout.CENTRE, (0.0, 0.0, centre))
    set_vector(body, row, layout.SHAPE, (base, top, height))
    body[row, layout.SHAPE + 3] = centre
    for axis in range(3):
        body[row, layout.INVERSE_INERTIA + axis] = 1.0 / props.number[entry, layout.PROP_INERTIA + axis]
    body[row, layout.INVERSE_MASS] = 1.0 / props.number[entry, layout.PROP_MASS]
    body[row, layout.FRICTION] = props.number[entry, layout.PROP_FRICTION]
    over = height - centre
    body[row, layout.RADIUS] = math.sqrt(max(base * base + centre * centre, top * top + over * over))
    set_quaternion(body, row, layout.QUATERNION, get_quaternion(state.prop_orientation, prop, 0))
    rotate_frame(body, row)
    set_vector(body, row, layout.POSITION, add(get_vector(state.prop_position, prop, 0), find_centre(body, row)))


@inner_kernel
def store_prop(body, row, state, prop):
    """Copy a prop from its row of `body` into State; one that is not finite or far away stops where it last was."""
    total = 0.0
    for column in range(layout.POSITION, layout.ROTATION):
        total += abs(body[row, column])
    # Not `total >= FAR`: that is false of what is not a number.
    if not total < FAR:
        state.prop_asleep[prop] = 1
        return
    set_vector(state.prop_position, prop, 0, subtract(get_vector(body, row, layout.POSITION), find_centre(body, row)))
    set_vector(state.prop_velocity, prop, 0, get_vector(body, row, layout.VELOCITY))
    set_vector(state.prop_angular_velocity, prop, 0, get_vector(body, row, layout.ANGULAR))
    set_quaternion(state.prop_orientation, prop, 0, get_quaternion(body, row, layout.QUATERNION))


@inner_kernel
def store_car(body, row, state, car, dt):
    """Copy a car from its row of `body` into State."""
    set_vector(state.position, car, 0, subtract(get_vector(body, row, layout.POSITION), find_centre(body, row)))
    set_vector(state.velocity, car, 0, get_vector(body, row, layout.VELOCITY))
    set_vector(state.angular_velocity, car, 0, get_vector(body, row, layout.ANGULAR))
    change = subtract(measure_body_velocity(body, row), get_vector(body, row, layout.BODY_VELOCITY))
    set_vector(state.acceleration_body, car, 0, divide(change, dt))
    set_quaternion(state.orientation, car, 0, get_quaternion(body, row, layout.QUATERNION))
    set_quaternion(state.rotation_step, car, 0, get_quaternion(body, row, layout.TURN))
    for wheel in range(4):
        state.wheel_speed[car, wheel] = body[row, layout.WHEEL_SPEED + wheel]
        state.wheel_angle[car, wheel] = body[row, layout.WHEEL_ANGLE + wheel]
        state.wheel_grip[car, wheel, 0] = body[row, layout.GRIP + 2 * wheel]
        state.wheel_grip[car, wheel, 1] = body[row, layout.GRIP + 2 * wheel + 1]
        state.wheel_extension[car, wheel] = body[row, layout.EXTENSION + wheel]
        state.wheel_load[car, wheel] = body[row, layout.LOAD + wheel]
