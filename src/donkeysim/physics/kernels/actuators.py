"""Servo, ESC and battery: what stands between what a car is asked to do and what its wheels do.

Only cars that have any of them come here; to all others what is asked happens at once.
"""

import math

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.vector import get_vector, measure_length
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.vehicle import compute_factor
from donkeysim.world.state import CHARGE, ESC_PHASE

FORWARD, BRAKING, ARMED = 0.0, 1.0, 2.0
"""Phases of an ESC: backward throttle will brake; it brakes; it was let go after braking, and will turn backwards."""

STANDING = 0.05
"""Speed of the wheels below which an ESC takes the motor to stand [m/s]."""


@inner_kernel
def limit_request(value, low, high):
    """Return a request within its limits; 0 for one that is not a number."""
    if not (value == value):
        return 0.0
    return min(max(value, low), high)


@inner_kernel
def find_wheel_angle(control, car, param):
    """Return the angle that the steered wheels are asked to have, + = left [rad]."""
    steer = limit_request(control.steer[car], -1.0, 1.0) * param[car, layout.P_STEER_GAIN]
    # Adding 0.0 would turn a steer of -0.0 into 0.0, and so the bytes of cars without a trim.
    if param[car, layout.P_STEER_TRIM] != 0.0:
        steer += param[car, layout.P_STEER_TRIM]
    return limit_request(steer, -param[car, layout.P_STEER_LIMIT], param[car, layout.P_STEER_LIMIT])


@inner_kernel
def work_actuators(body, row, state, control, car, param, dt):
    """Let a car's servo, ESC and battery do for one step what is asked now."""
    turn_servo(body, row, state, find_wheel_angle(control, car, param), car, param, dt)
    shaft, angle = measure_shaft(body, row, car, param)
    motor, brake = switch_esc(state, control, car, param, shaft)
    motor *= find_smoothness(car, param, shaft, angle)
    body[row, layout.BRAKE] = max(brake, limit_request(control.brake[car], 0.0, 10.0))
    body[row, layout.THROTTLE], body[row, layout.SPEED_SCALE] = motor, 1.0
    if param[car, layout.P_CAPACITY] > 0.0:
        feed_motor(body, row, state, car, param, motor, dt)


@inner_kernel
def turn_servo(body, row, state, wanted, car, param, dt):
    """Move the steered wheels towards an angle [rad]."""
    speed, away = param[car, layout.P_SERVO_SPEED], wanted - state.steer_angle[car]
    if abs(away) > param[car, layout.P_SERVO_BAND]:
        if speed > 0.0 and abs(away) > dt * speed:
            wanted = state.steer_angle[car] + math.copysign(dt * speed, away)
        state.steer_angle[car] = wanted
    body[row, layout.STEER_COS] = math.cos(state.steer_angle[car])
    body[row, layout.STEER_SIN] = math.sin(state.steer_angle[car])


@inner_kernel
def measure_shaft(body, row, car, param):
    """Return speed at the rims [m/s] and angle [rad] of the shaft that the motor turns: means of the driven wheels."""
    speed, angle, driven = 0.0, 0.0, 0.0
    for wheel in range(4):
        share = param[car, layout.P_DRIVEN + wheel]
        driven += share
        speed += share * body[row, layout.WHEEL_SPEED + wheel]
        angle += share * body[row, layout.WHEEL_ANGLE + wheel]
    driven = max(driven, 1.0)
    return speed * param[car, layout.P_RADIUS] / driven, angle / driven


@inner_kernel
def switch_esc(state, control, car, param, shaft):
    """Return motor (-1 to 1) and brake as the ESC makes them of the throttle; its phase changes."""
    asked, zone = limit_request(control.throttle[car], -1.0, 1.0), param[car, layout.P_DEAD_ZONE]
    size = max(abs(asked) - zone, 0.0) / (1.0 - zone)
    if param[car, layout.P_DOUBLE_TAP] == 0.0:
        return math.copysign(size, asked), 0.0
    phase = state.powertrain[car, ESC_PHASE]
    if size == 0.0:
        if phase == BRAKING:
            state.powertrain[car, ESC_PHASE] = ARMED
        return 0.0, 0.0
    if asked > 0.0:
        state.powertrain[car, ESC_PHASE] = FORWARD
        return size, 0.0
    if phase == ARMED and shaft < STANDING:
        return -size, 0.0
    state.powertrain[car, ESC_PHASE] = BRAKING
    return 0.0, size * param[car, layout.P_ESC_BRAKE]


@inner_kernel
def find_smoothness(car, param, shaft, angle):
    """Return the share of its torque that a motor has at this speed and angle of its shaft."""
    speed, smooth = abs(shaft), param[car, layout.P_COGGING_SPEED]
    if param[car, layout.P_COGGING] == 0.0 or speed >= smooth:
        return 1.0
    dip = 0.5 - 0.5 * math.cos(param[car, layout.P_COGGING_COUNT] * angle)
    return 1.0 - param[car, layout.P_COGGING] * (1.0 - speed / smooth) * dip


@inner_kernel
def feed_motor(body, row, state, car, param, motor, dt):
    """Lower the motor's torque, and the speeds of its curve, as the battery's voltage sags; take the charge from it."""
    used = min(param[car, layout.P_CHARGE_MISSING] + state.powertrain[car, CHARGE], param[car, layout.P_CAPACITY])
    speed = measure_length(get_vector(body, row, layout.VELOCITY))
    load = abs(motor * compute_factor(param, car, speed))
    fall = param[car, layout.P_BATTERY_FALL] * used / param[car, layout.P_CAPACITY]
    voltage = 1.0 - fall - param[car, layout.P_BATTERY_SAG] * load
    state.powertrain[car, CHARGE] += dt * param[car, layout.P_CURRENT] * load
    body[row, layout.THROTTLE], body[row, layout.SPEED_SCALE] = motor * voltage, 1.0 / voltage
