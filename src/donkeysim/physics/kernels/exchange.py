"""Copies cars and props between `State` and the rows of the scratch table that steps work on."""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inner_kernel
from donkeysim.physics.kernels.layout import (
    ANGULAR,
    BODY_VELOCITY,
    BRAKE,
    CENTRE,
    EXTENSION,
    FRICTION,
    GRIP,
    INVERSE_INERTIA,
    INVERSE_MASS,
    LOAD,
    ORIGIN_X,
    ORIGIN_Y,
    P_BOX_CENTRE,
    P_CENTRE,
    P_HALF_SIZE,
    P_INERTIA,
    P_MASS,
    P_STEER_GAIN,
    P_STEER_LIMIT,
    P_STEER_TRIM,
    POSITION,
    PROP_BASE,
    PROP_CENTRE,
    PROP_FRICTION,
    PROP_HEIGHT,
    PROP_INERTIA,
    PROP_MASS,
    PROP_TOP,
    PUSH,
    QUATERNION,
    RADIUS,
    ROTATION,
    SHAPE,
    STEER_COS,
    STEER_SIN,
    THROTTLE,
    TURN,
    VELOCITY,
    WHEEL_ANGLE,
    WHEEL_SPEED,
)
from donkeysim.physics.kernels.vehicle import rotate_frame

FAR = 10_000.0
"""A car beyond this distance from the world's origin is put back [m]."""


@inner_kernel
def limit_request(value, low, high):
    """Return a request within its limits; 0 for one that is not a number."""
    if not (value == value):
        return 0.0
    return min(max(value, low), high)


@inner_kernel
def set_request(body, row, state, control, car, param):
    """Copy what a car is asked to do from Control into a row of `body`, within its limits."""
    steer = limit_request(control.steer[car], -1.0, 1.0) * param[car, P_STEER_GAIN]
    if param[car, P_STEER_TRIM] != 0.0:
        steer += param[car, P_STEER_TRIM]
    steer = limit_request(steer, -param[car, P_STEER_LIMIT], param[car, P_STEER_LIMIT])
    body[row, STEER_COS] = np.cos(steer)
    body[row, STEER_SIN] = np.sin(steer)
    body[row, THROTTLE] = limit_request(control.throttle[car], -1.0, 1.0)
    body[row, BRAKE] = limit_request(control.brake[car], 0.0, 10.0)
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
        if orders.waiting[car] == 0 or orders.due[car, orders.first[car]] > clock:
            set_request(body, row, state, control, car, param)


@inner_kernel
def load_car(body, row, state, control, car, param):
    """Copy a car from State and its controls from Control into a row of `body`."""
    for axis in range(3):
        body[row, PUSH + axis] = 0.0
        body[row, VELOCITY + axis] = state.velocity[car, axis]
        body[row, ANGULAR + axis] = state.angular_velocity[car, axis]
        body[row, CENTRE + axis] = param[car, P_CENTRE + axis]
        body[row, INVERSE_INERTIA + axis] = 1.0 / param[car, P_INERTIA + axis]
        body[row, SHAPE + axis] = param[car, P_HALF_SIZE + axis]
        body[row, SHAPE + 3 + axis] = param[car, P_BOX_CENTRE + axis]
    for part in range(4):
        body[row, QUATERNION + part] = state.orientation[car, part]
        body[row, TURN + part] = state.rotation_step[car, part]
        body[row, WHEEL_SPEED + part] = state.wheel_speed[car, part]
        body[row, WHEEL_ANGLE + part] = state.wheel_angle[car, part]
        body[row, GRIP + 2 * part] = state.wheel_grip[car, part, 0]
        body[row, GRIP + 2 * part + 1] = state.wheel_grip[car, part, 1]
        body[row, EXTENSION + part] = state.wheel_extension[car, part]
        body[row, LOAD + part] = state.wheel_load[car, part]
    body[row, INVERSE_MASS] = 1.0 / param[car, P_MASS]
    reach = 0.0
    for axis in range(3):
        side = abs(param[car, P_BOX_CENTRE + axis]) + param[car, P_HALF_SIZE + axis]
        reach += side * side
    body[row, RADIUS] = np.sqrt(reach)
    set_request(body, row, state, control, car, param)
    rotate_frame(body, row)
    for axis in range(3):
        body[row, POSITION + axis] = state.position[car, axis] + turn_vector(body, row, axis, 1.0)
    body[row, ORIGIN_X] = state.position[car, 0]
    body[row, ORIGIN_Y] = state.position[car, 1]


@inner_kernel
def load_prop(body, row, state, prop, props, entry):
    """Copy a prop from State into a row of `body`; `entry` is its row in the prop table."""
    for axis in range(3):
        body[row, VELOCITY + axis] = state.prop_velocity[prop, axis]
        body[row, ANGULAR + axis] = state.prop_angular_velocity[prop, axis]
        body[row, INVERSE_INERTIA + axis] = 1.0 / props.number[entry, PROP_INERTIA + axis]
        body[row, SHAPE + axis] = props.number[entry, PROP_BASE + axis]
        body[row, CENTRE + axis] = 0.0
        body[row, PUSH + axis] = 0.0
    for part in range(4):
        body[row, QUATERNION + part] = state.prop_orientation[prop, part]
    centre = props.number[entry, PROP_CENTRE]
    body[row, SHAPE + 3] = centre
    body[row, CENTRE + 2] = centre
    body[row, INVERSE_MASS] = 1.0 / props.number[entry, PROP_MASS]
    body[row, FRICTION] = props.number[entry, PROP_FRICTION]
    base, top = props.number[entry, PROP_BASE], props.number[entry, PROP_TOP]
    over = props.number[entry, PROP_HEIGHT] - centre
    body[row, RADIUS] = np.sqrt(max(base * base + centre * centre, top * top + over * over))
    rotate_frame(body, row)
    for axis in range(3):
        body[row, POSITION + axis] = state.prop_position[prop, axis] + turn_vector(body, row, axis, 1.0)


@inner_kernel
def store_prop(body, row, state, prop):
    """Copy a prop from its row of `body` into State; one that is not finite or far away stops where it last was."""
    total = 0.0
    for column in range(POSITION, ROTATION):
        total += abs(body[row, column])
    if not total < FAR:
        state.prop_asleep[prop] = 1
        return
    for axis in range(3):
        state.prop_position[prop, axis] = body[row, POSITION + axis] - turn_vector(body, row, axis, 1.0)
        state.prop_velocity[prop, axis] = body[row, VELOCITY + axis]
        state.prop_angular_velocity[prop, axis] = body[row, ANGULAR + axis]
    for part in range(4):
        state.prop_orientation[prop, part] = body[row, QUATERNION + part]


@inner_kernel
def turn_vector(body, row, axis, sign):
    """Return one world coordinate of the vector from a body's origin to its centre of mass [m], times `sign`."""
    base = ROTATION + 3 * axis
    return sign * (
        body[row, base] * body[row, CENTRE]
        + body[row, base + 1] * body[row, CENTRE + 1]
        + body[row, base + 2] * body[row, CENTRE + 2]
    )


@inner_kernel
def store_car(body, row, state, car, dt):
    """Copy a car from its row of `body` into State."""
    for axis in range(3):
        state.position[car, axis] = body[row, POSITION + axis] - turn_vector(body, row, axis, 1.0)
        state.velocity[car, axis] = body[row, VELOCITY + axis]
        state.angular_velocity[car, axis] = body[row, ANGULAR + axis]
        after = measure_body_velocity(body, row, axis)
        state.acceleration_body[car, axis] = (after - body[row, BODY_VELOCITY + axis]) / dt
    for part in range(4):
        state.orientation[car, part] = body[row, QUATERNION + part]
        state.rotation_step[car, part] = body[row, TURN + part]
        state.wheel_speed[car, part] = body[row, WHEEL_SPEED + part]
        state.wheel_angle[car, part] = body[row, WHEEL_ANGLE + part]
        state.wheel_grip[car, part, 0] = body[row, GRIP + 2 * part]
        state.wheel_grip[car, part, 1] = body[row, GRIP + 2 * part + 1]
        state.wheel_extension[car, part] = body[row, EXTENSION + part]
        state.wheel_load[car, part] = body[row, LOAD + part]


@inner_kernel
def measure_body_velocity(body, row, axis):
    """Return one coordinate of a body's velocity in its own frame [m/s]."""
    return (
        body[row, ROTATION + axis] * body[row, VELOCITY]
        + body[row, ROTATION + 3 + axis] * body[row, VELOCITY + 1]
        + body[row, ROTATION + 6 + axis] * body[row, VELOCITY + 2]
    )
