"""A car's wheels: suspension, tyre forces, spin; and the motion of any rigid body.

One step is: `advance_car` (forces change velocities), contacts, `move_body` (velocities change poses).
The wheel's spin is integrated linearly implicitly, with the tyre's secant slope, and the body gets the very force the
wheel felt; so the pair only ever loses energy. Slip per speed is bounded by what the body's inertia can answer within
one step, which matters below 0.1 m/s only. A standing tyre is also an elastic brush that holds: without it a car parked
on a slope would creep, as slip alone gives force only to what moves.
"""

import math

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.vector import (
    ZERO,
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    get_basis,
    get_quaternion,
    get_vector,
    measure_length,
    multiply_quaternions,
    rotate,
    rotate_back,
    scale,
    set_quaternion,
    set_vector,
    solve_rows,
    subtract,
)
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.ground import find_friction, sample_height

ORIGIN_SLOPE = 1.0
"""Slope of a friction curve at the origin, in extremum values per extremum slip (not published; 1 to 2 is usual)."""

# At 70° and 46° (`TILT_FULL`) between a wheel and the ground: a wheel on a wall's edge must not lift the car with its
# spring's whole force, and no road is as steep.
TILT_NONE = 0.35
"""Cosine between the suspension's axis and the ground's normal below which a wheel bears nothing."""
TILT_FULL = 0.7
"""The same, from which it bears fully."""
# A standing car on a slope gives by a fifth of a millimetre at most.
GRIP_LENGTH = 0.0002
"""Deflection of a standing contact at which it slides [m]."""
GRIP_ROLL = 0.000004
"""Distance of rolling over which a contact forgets its deflection [m]."""
ANGULAR_MAX = 50.0
"""Greatest rate of turning of any body, as the original's engine has it [rad/s]."""


@inner_kernel
def divide_curve(slip, curve, lift):
    """Return a friction curve over its slip, curve(s) / s [-].

    Two cubic pieces, flat at the extremum (slip 1) and from the asymptote on.

    Args:
        slip: In extremum slips, at least 0.
        curve: Its value at the extremum, the slip from which it is constant, in extremum slips, and its value there.
        lift: By how much its slope at the origin is greater than `ORIGIN_SLOPE`.
    """
    value, asymptote, asymptote_value = curve
    # Divided by hand here, so that a tyre without slip needs no case of its own.
    if slip < 1.0:
        rest = 1.0 - slip
        share = ORIGIN_SLOPE * rest * rest + slip * (3.0 - 2.0 * slip)
        if lift != 0.0:
            share += lift * rest * rest
        return value * share
    t = min((slip - 1.0) / (asymptote - 1.0), 1.0)
    return (value + (asymptote_value - value) * t * t * (3.0 - 2.0 * t)) / slip


@inner_kernel
def divide_arctangent(x):
    """Return atan(x) / x."""
    # The next term of the series, x**4 / 5, is below the rounding of 1 there.
    if abs(x) < 1e-4:
        return 1.0 - x * x / 3.0
    return math.atan(x) / x


@inner_kernel(merged=True)
def compute_factor(param, car, speed):
    """Return the share of its greatest torque that the motor has at a speed: Hermite through the curve, clamped."""
    share = speed / param[car, layout.P_TORQUE_SPEED]
    last = layout.P_CURVE + 3 * (int(param[car, layout.P_CURVE_COUNT]) - 1)
    factor = param[car, layout.P_CURVE + 1]
    if share >= param[car, last]:
        factor = param[car, last + 1]
    elif share > param[car, layout.P_CURVE]:
        row = layout.P_CURVE
        while share > param[car, row + 3]:
            row += 3
        width = param[car, row + 3] - param[car, row]
        t = (share - param[car, row]) / width
        rest = 1.0 - t
        factor = (
            rest * rest * (1.0 + 2.0 * t) * param[car, row + 1]
            + t * t * (3.0 - 2.0 * t) * param[car, row + 4]
            + width * t * rest * (rest * param[car, row + 2] - t * param[car, row + 5])
        )
    return factor


@inner_kernel(merged=True)
def compute_torque(param, car, speed):
    """Return the motor torque per driven wheel at full throttle [N m]."""
    return compute_factor(param, car, speed) * param[car, layout.P_TORQUE_MAX]


@inner_kernel(merged=True)
def compute_suspension(param, car, wheel, extension, rate):
    """Return the suspension's force along its axis [N], never negative; `rate` [m/s] is that of the extension."""
    spring = param[car, layout.P_SPRING] * (param[car, layout.P_TARGET] - extension)
    return max(param[car, layout.P_STATIC_LOAD + wheel] + spring - param[car, layout.P_DAMPER] * rate, 0.0)


@inner_kernel
def turn_wheel(body, row, wheel, param, car, torque, brake, load, forward, lateral, dt):
    """Integrate a wheel's spin and return the tyre's force on the body, along and left of the wheel [N].

    Args:
        body: Written: wheel speed and angle, grip.
        row: Of the car in `body`.
        wheel: 0 to 3.
        param: Car parameters.
        car: Row of the car in `param`.
        torque: Of the motor [N m].
        brake: Greatest torque of the brake [N m].
        load: What the tyre grips with, times the ground's friction [N].
        forward: Velocity of the body at the contact along the wheel [m/s].
        lateral: The same to its left.
        dt: [s]
    """
    radius = param[car, layout.P_RADIUS]
    inertia = param[car, layout.P_WHEEL_INERTIA]
    damping = param[car, layout.P_WHEEL_DAMPING]
    spin = body[row, layout.WHEEL_SPEED + wheel]
    stiffness, hold, force_lateral = 0.0, 0.0, 0.0
    if load > 0.0:
        rim = spin * radius
        speed = max(abs(rim), abs(forward))
        # The original's engine has one low-speed form of slip for driven and braked wheels, one for free ones.
        if torque != 0.0 or brake > 0.0:
            reference = speed + param[car, layout.P_SLIP_DRIVEN]
        else:
            reference = max(speed, param[car, layout.P_SLIP_FREE])
        grip_x = body[row, layout.GRIP + 2 * wheel] / GRIP_LENGTH
        grip_y = body[row, layout.GRIP + 2 * wheel + 1] / GRIP_LENGTH
        # A tyre that answers faster than the body can within a step would shake it.
        rate_most = param[car, layout.P_GRIP_MASS] / (dt * load)
        rate_x = min(param[car, layout.P_FORWARD] / reference, rate_most)
        base = abs(forward) + param[car, layout.P_SLIP_LATERAL]
        sideways = layout.P_SIDEWAYS if wheel < 2 else layout.P_SIDEWAYS_REAR
        rate_y = min(param[car, sideways] * divide_arctangent(lateral / base) / base, rate_most)
        slip_x = rate_x * (rim - forward)
        slip_y = -rate_y * lateral
        slide = math.sqrt(slip_x * slip_x + slip_y * slip_y)
        slip_x += grip_x
        slip_y += grip_y
        slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
        # What the brush adds never carries a tyre over its peak: only sliding does.
        share = max(min(slip, 1.0), slide)
        load *= share / slip if slip > share else 1.0
        # Joint slip by similarity: the length of the vector of both slips goes through both curves.
        lift_x, lift_y = param[car, layout.P_FORWARD_LIFT], param[car, layout.P_SIDEWAYS_LIFT]
        gain_x = load * divide_curve(share, get_vector(param, car, layout.P_FORWARD + 1), lift_x)
        gain_y = load * divide_curve(share, get_vector(param, car, sideways + 1), lift_y)
        stiffness = gain_x * rate_x
        hold = gain_x * grip_x
        force_lateral = gain_y * slip_y
    # Implicit in the spin: wheel and tyre at standstill settle within 0.4 ms, a fifth of a step.
    mass = inertia + dt * (damping + radius * radius * stiffness)
    spin = (inertia * spin + dt * (torque + radius * (stiffness * forward - hold))) / mass
    # Dry friction: the brake may stop the wheel, never turn it back.
    stop = dt * brake / mass
    spin = max(spin - stop, 0.0) if spin > 0.0 else min(spin + stop, 0.0)
    slide = radius * spin - forward
    body[row, layout.WHEEL_SPEED + wheel] = spin
    body[row, layout.WHEEL_ANGLE + wheel] += dt * spin
    # Rolling brings undeflected rubber into the contact, so only a standing tyre keeps its deflection.
    rolled, creep = dt * abs(spin) * radius, param[car, layout.P_GRIP_CREEP]
    if creep > 0.0:
        rolled *= rolled / (rolled + dt * creep)
    memory = 1.0 / (1.0 + rolled / GRIP_ROLL) if load > 0.0 else 0.0
    grip_x = (body[row, layout.GRIP + 2 * wheel] + dt * slide) * memory
    grip_y = (body[row, layout.GRIP + 2 * wheel + 1] - dt * lateral) * memory
    size = math.sqrt(grip_x * grip_x + grip_y * grip_y)
    shrink = GRIP_LENGTH / size if size > GRIP_LENGTH else 1.0
    body[row, layout.GRIP + 2 * wheel] = grip_x * shrink
    body[row, layout.GRIP + 2 * wheel + 1] = grip_y * shrink
    return stiffness * slide + hold, force_lateral


@inner_kernel(merged=True)
def find_wheel_ground(terrain, scene, anchor, up, reach):
    """Return where a ray from a wheel's anchor against the suspension's axis meets the ground.

    The ground is taken as the plane that touches it where the ray is `reach` long.

    Returns:
        Distance [m], the ground's normal, and its cosine with the axis.
    """
    if terrain.entry[scene, layout.I_IS_LEVEL] != 0:
        return (anchor[2] - terrain.number[scene, layout.T_LEVEL]) / max(up[2], 0.1), (0.0, 0.0, 1.0), up[2]
    x, y, _ = add_scaled(anchor, -reach, up)
    height, slope_x, slope_y = sample_height(terrain, scene, x, y)
    drop = anchor[2] - height - slope_x * (anchor[0] - x) - slope_y * (anchor[1] - y)
    steep = up[2] - slope_x * up[0] - slope_y * up[1]
    scale_normal = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    cosine = steep * scale_normal
    # A ray nearly along the ground would meet it far away: such a wheel bears nothing anyway (`TILT_NONE`).
    distance = drop * scale_normal / max(cosine, 0.1)
    return distance, (-slope_x * scale_normal, -slope_y * scale_normal, scale_normal), cosine


@inner_kernel(merged=True)
def align_wheel(body, row, param, car, wheel, axes, normal):
    """Return the directions at a wheel's contact as a basis: the ground's normal, along the wheel, to its left."""
    heading = axes[0]
    if param[car, layout.P_STEERED + wheel] != 0.0:
        heading = add(scale(axes[0], body[row, layout.STEER_COS]), scale(axes[1], body[row, layout.STEER_SIN]))
    heading = add_scaled(heading, -dot(heading, normal), normal)
    heading = scale(heading, 1.0 / measure_length(heading))
    return normal, heading, cross(normal, heading)


@inner_kernel
def advance_car(body, row, param, car, terrain, scene, dt):
    """Change a car's velocities by one step of gravity, drag, suspension and tyres; contacts come after.

    Args:
        body: Written: velocities, wheels, grip, load, extension.
        row: Of the car in `body`.
        param: Car parameters.
        car: Row of the car in `param`.
        terrain: Ground.
        scene: Row of the scene in `terrain`.
        dt: [s]
    """
    axes, position = get_basis(body, row, layout.ROTATION), get_vector(body, row, layout.POSITION)
    velocity, angular, up = get_vector(body, row, layout.VELOCITY), get_vector(body, row, layout.ANGULAR), axes[2]
    motor = body[row, layout.THROTTLE]
    if motor != 0.0:
        motor *= compute_torque(param, car, measure_length(velocity) * body[row, layout.SPEED_SCALE])
    brake = body[row, layout.BRAKE] * param[car, layout.P_BRAKE_TORQUE]
    radius, travel = param[car, layout.P_RADIUS], param[car, layout.P_TRAVEL]
    force, torque = ZERO, ZERO
    for wheel in range(4):
        arm = rotate(axes, get_vector(param, car, layout.P_WHEEL + 3 * wheel))
        anchor, ray = add(position, arm), radius + param[car, layout.P_TARGET]
        reach, normal, cosine = find_wheel_ground(terrain, scene, anchor, up, ray)
        extension, load = reach - radius, 0.0
        if extension < travel and cosine > TILT_NONE:
            arm = add_scaled(arm, -reach, up)
            # Rate and load over the cosine: so the force along the normal does exactly the spring's work.
            rate = dot(add_cross(velocity, angular, arm), normal) / cosine
            load = compute_suspension(param, car, wheel, extension, rate) / cosine
            if cosine < TILT_FULL:
                # The bearing share changes with the tilt, and so does the spring's energy: this torque pays for it.
                load *= (cosine - TILT_NONE) / (TILT_FULL - TILT_NONE)
                spring = compute_suspension(param, car, wheel, extension, 0.0)
                pay = 0.5 * spring * spring / (param[car, layout.P_SPRING] * (TILT_FULL - TILT_NONE))
                torque = add_scaled(torque, -pay, cross(up, normal))
        else:
            extension = travel
        body[row, layout.EXTENSION + wheel] = max(extension, 0.0)
        body[row, layout.LOAD + wheel] = load
        drive = motor * param[car, layout.P_DRIVEN + wheel]
        if load > 0.0:
            # Tyres act a little above the contact, as the original's do: a shorter arm, so the body rolls less.
            arm = add_scaled(arm, param[car, layout.P_FORCE_POINT], normal)
            basis = align_wheel(body, row, param, car, wheel, axes, normal)
            friction = find_friction(terrain, scene, position[0] + arm[0], position[1] + arm[1])
            _, forward, lateral = rotate_back(basis, add_cross(velocity, angular, arm))
            grip = friction * (param[car, layout.P_LOAD_SHARE] * load + param[car, layout.P_LOAD_REST + wheel])
            along, aside = turn_wheel(body, row, wheel, param, car, drive, brake, grip, forward, lateral, dt)
            push = rotate(basis, (load, along, aside))
            force, torque = add(force, push), add_cross(torque, arm, push)
        else:
            turn_wheel(body, row, wheel, param, car, drive, brake, 0.0, 0.0, 0.0, dt)
    x, y, z = add_scaled(velocity, dt * body[row, layout.INVERSE_MASS], force)
    velocity = scale((x, y, z - dt * param[car, layout.P_GRAVITY]), 1.0 - dt * param[car, layout.P_DRAG])
    set_vector(body, row, layout.VELOCITY, velocity)
    turn_body(body, row, torque, 1.0 - dt * param[car, layout.P_ANGULAR_DRAG], dt)


@inner_kernel
def turn_body(body, row, torque, keep, dt):
    """Change a body's angular velocity by a torque [N m, world frame] and by its own gyroscopic one.

    The latter is solved implicitly about the body's axes (one Newton step), so that spinning never gains energy.
    """
    axes, inverse = get_basis(body, row, layout.ROTATION), get_vector(body, row, layout.INVERSE_INERTIA)
    spin, turn = rotate_back(axes, get_vector(body, row, layout.ANGULAR)), rotate_back(axes, torque)
    x, y, z = spin
    jx, jy, jz = 1.0 / inverse[0], 1.0 / inverse[1], 1.0 / inverse[2]
    # Residual dt ω × Iω and the rows of its Jacobian I + dt (ω× I - (Iω)×).
    residual = (dt * y * z * (jz - jy), dt * z * x * (jx - jz), dt * x * y * (jy - jx))
    row_x = (jx, dt * z * (jz - jy), dt * y * (jz - jy))
    row_y = (dt * z * (jx - jz), jy, dt * x * (jx - jz))
    row_z = (dt * y * (jy - jx), dt * x * (jy - jx), jz)
    x, y, z = subtract(spin, solve_rows(row_x, row_y, row_z, residual))
    x, y, z = x + dt * inverse[0] * turn[0], y + dt * inverse[1] * turn[1], z + dt * inverse[2] * turn[2]
    spin = scale((x, y, z), keep)
    square = dot(spin, spin)
    if square > ANGULAR_MAX * ANGULAR_MAX:
        spin = scale(spin, ANGULAR_MAX / math.sqrt(square))
    set_vector(body, row, layout.ANGULAR, rotate(axes, spin))


@inner_kernel
def move_body(body, row, dt):
    """Change a body's pose by one step of its velocities and by its `PUSH`; remember the rotation in `TURN`."""
    move = add_scaled(get_vector(body, row, layout.PUSH), dt, get_vector(body, row, layout.VELOCITY))
    set_vector(body, row, layout.POSITION, add(get_vector(body, row, layout.POSITION), move))
    set_vector(body, row, layout.PUSH, ZERO)
    half = scale(get_vector(body, row, layout.ANGULAR), 0.5 * dt)
    # exp of half the rotation: the angle is below 0.06 rad, so short series are exact to rounding.
    a = dot(half, half)
    cosine = 1.0 - a * (0.5 - a * (1.0 / 24.0 - a * (1.0 / 720.0 - a / 40320.0)))
    sinc = 1.0 - a * (1.0 / 6.0 - a * (1.0 / 120.0 - a / 5040.0))
    x, y, z = scale(half, sinc)
    turn = (cosine, x, y, z)
    w, x, y, z = multiply_quaternions(turn, get_quaternion(body, row, layout.QUATERNION))
    # Rounding would let the length drift, and a matrix from a longer quaternion also stretches.
    fit = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    set_quaternion(body, row, layout.QUATERNION, (w * fit, x * fit, y * fit, z * fit))
    set_quaternion(body, row, layout.TURN, turn)
    rotate_frame(body, row)


@inner_kernel
def rotate_frame(body, row):
    """Write a body's rotation matrix from its quaternion."""
    w, x, y, z = get_quaternion(body, row, layout.QUATERNION)
    first = (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y))
    second = (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x))
    third = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))
    set_vector(body, row, layout.ROTATION, first)
    set_vector(body, row, layout.ROTATION + 3, second)
    set_vector(body, row, layout.ROTATION + 6, third)
