"""A car's wheels: suspension, tyre forces, spin; and the motion of any rigid body.

One step is: `advance_car` (forces change velocities), contacts, `move_body` (velocities change poses).
The wheel's spin is integrated linearly implicitly, with the tyre's secant slope, and the body gets the very force the
wheel felt; so the pair only ever loses energy. Slip per speed is bounded by what the body's inertia can answer within
one step, which matters below 0.1 m/s only. A standing tyre is also an elastic brush that holds: without it a car parked
on a slope would creep, as slip alone gives force only to what moves.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.kernel import inline_kernel, inner_kernel
from donkeysim.physics.kernels.ground import find_surface, sample_height
from donkeysim.physics.kernels.layout import (
    ANGULAR,
    BRAKE,
    EXTENSION,
    GRIP,
    I_IS_LEVEL,
    I_IS_UNIFORM,
    INVERSE_INERTIA,
    INVERSE_MASS,
    LOAD,
    P_ANGULAR_DRAG,
    P_BRAKE_TORQUE,
    P_CURVE,
    P_CURVE_COUNT,
    P_DAMPER,
    P_DRAG,
    P_DRIVEN,
    P_FORCE_POINT,
    P_FORWARD,
    P_GRAVITY,
    P_GRIP_MASS,
    P_RADIUS,
    P_SIDEWAYS,
    P_SLIP_DRIVEN,
    P_SLIP_FREE,
    P_SLIP_LATERAL,
    P_SPRING,
    P_STATIC_LOAD,
    P_STEERED,
    P_TARGET,
    P_TORQUE_MAX,
    P_TORQUE_SPEED,
    P_TRAVEL,
    P_WHEEL,
    P_WHEEL_DAMPING,
    P_WHEEL_INERTIA,
    POSITION,
    PUSH,
    QUATERNION,
    ROTATION,
    STEER_COS,
    STEER_SIN,
    T_FRICTION,
    T_LEVEL,
    THROTTLE,
    TURN,
    VELOCITY,
    WHEEL_ANGLE,
    WHEEL_SPEED,
)
from donkeysim.physics.kernels.tyre import divide_arctangent, divide_curve

TILT_NONE = 0.35
"""Cosine between the suspension's axis and the ground's normal below which a wheel bears nothing."""
TILT_FULL = 0.7
"""The same, from which it bears fully."""
GRIP_LENGTH = 0.0002
"""Deflection of a standing contact at which it slides [m]."""
GRIP_ROLL = 0.000004
"""Distance of rolling over which a contact forgets its deflection [m]."""
ANGULAR_MAX = 50.0
"""Greatest rate of turning of any body, as the original's engine has it [rad/s]."""


@inline_kernel
def compute_torque(param, car, speed):
    """Return the motor torque per driven wheel at full throttle [N m]: Hermite through the curve's rows, clamped."""
    share = speed / param[car, P_TORQUE_SPEED]
    last = P_CURVE + 3 * (int(param[car, P_CURVE_COUNT]) - 1)
    factor = param[car, P_CURVE + 1]
    if share >= param[car, last]:
        factor = param[car, last + 1]
    elif share > param[car, P_CURVE]:
        row = P_CURVE
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
    return factor * param[car, P_TORQUE_MAX]


@inline_kernel
def compute_suspension(param, car, wheel, extension, rate):
    """Return the suspension's force along its axis [N], never negative; `rate` [m/s] is that of the extension."""
    force = param[car, P_STATIC_LOAD + wheel] + param[car, P_SPRING] * (param[car, P_TARGET] - extension)
    return max(force - param[car, P_DAMPER] * rate, 0.0)


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
        load: Normal force times the ground's friction [N].
        forward: Velocity of the body at the contact along the wheel [m/s].
        lateral: The same to its left.
        dt: [s]
    """
    radius = param[car, P_RADIUS]
    inertia = param[car, P_WHEEL_INERTIA]
    damping = param[car, P_WHEEL_DAMPING]
    spin = body[row, WHEEL_SPEED + wheel]
    stiffness, hold, force_lateral = 0.0, 0.0, 0.0
    if load > 0.0:
        rim = spin * radius
        speed = max(abs(rim), abs(forward))
        if torque != 0.0 or brake > 0.0:
            reference = speed + param[car, P_SLIP_DRIVEN]
        else:
            reference = max(speed, param[car, P_SLIP_FREE])
        grip_x = body[row, GRIP + 2 * wheel] / GRIP_LENGTH
        grip_y = body[row, GRIP + 2 * wheel + 1] / GRIP_LENGTH
        rate_most = param[car, P_GRIP_MASS] / (dt * load)
        rate_x = min(param[car, P_FORWARD] / reference, rate_most)
        base = abs(forward) + param[car, P_SLIP_LATERAL]
        rate_y = min(param[car, P_SIDEWAYS] * divide_arctangent(lateral / base) / base, rate_most)
        slip_x = rate_x * (rim - forward)
        slip_y = -rate_y * lateral
        slide = np.sqrt(slip_x * slip_x + slip_y * slip_y)
        slip_x += grip_x
        slip_y += grip_y
        slip = np.sqrt(slip_x * slip_x + slip_y * slip_y)
        # What the brush adds never carries a tyre over its peak: only sliding does.
        share = max(min(slip, 1.0), slide)
        load *= share / slip if slip > share else 1.0
        gain_x = load * divide_curve(
            share, param[car, P_FORWARD + 1], param[car, P_FORWARD + 2], param[car, P_FORWARD + 3]
        )
        gain_y = load * divide_curve(
            share, param[car, P_SIDEWAYS + 1], param[car, P_SIDEWAYS + 2], param[car, P_SIDEWAYS + 3]
        )
        stiffness = gain_x * rate_x
        hold = gain_x * grip_x
        force_lateral = gain_y * slip_y
    mass = inertia + dt * (damping + radius * radius * stiffness)
    spin = (inertia * spin + dt * (torque + radius * (stiffness * forward - hold))) / mass
    stop = dt * brake / mass
    spin = max(spin - stop, 0.0) if spin > 0.0 else min(spin + stop, 0.0)
    slide = radius * spin - forward
    body[row, WHEEL_SPEED + wheel] = spin
    body[row, WHEEL_ANGLE + wheel] += dt * spin
    memory = 1.0 / (1.0 + dt * abs(spin) * radius / GRIP_ROLL) if load > 0.0 else 0.0
    grip_x = (body[row, GRIP + 2 * wheel] + dt * slide) * memory
    grip_y = (body[row, GRIP + 2 * wheel + 1] - dt * lateral) * memory
    size = np.sqrt(grip_x * grip_x + grip_y * grip_y)
    shrink = GRIP_LENGTH / size if size > GRIP_LENGTH else 1.0
    body[row, GRIP + 2 * wheel] = grip_x * shrink
    body[row, GRIP + 2 * wheel + 1] = grip_y * shrink
    return stiffness * slide + hold, force_lateral


@inline_kernel
def find_wheel_ground(terrain, scene, x, y, z, up_x, up_y, up_z, reach):
    """Return where a ray from (x, y, z) against the suspension's axis meets the ground.

    The ground is taken as the plane that touches it where the ray is `reach` long.

    Returns:
        Distance [m], the ground's normal (x, y, z), and its cosine with the axis.
    """
    if terrain.index[scene, I_IS_LEVEL] != 0:
        return (z - terrain.number[scene, T_LEVEL]) / max(up_z, 0.1), 0.0, 0.0, 1.0, up_z
    px = x - reach * up_x
    py = y - reach * up_y
    height, slope_x, slope_y = sample_height(terrain, scene, px, py)
    drop = z - height - slope_x * (x - px) - slope_y * (y - py)
    steep = up_z - slope_x * up_x - slope_y * up_y
    scale = 1.0 / np.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    cosine = steep * scale
    return drop * scale / max(cosine, 0.1), -slope_x * scale, -slope_y * scale, scale, cosine


@inner_kernel
def advance_car(body, row, param, car, terrain, scene, dt):
    """Change a car's velocities by one step of gravity, drag, suspension and tyres; contacts come after.

    More than 80 lines, as every part of a wheel would hand a dozen numbers on to the next.

    Args:
        body: Written: velocities, wheels, grip, load, extension.
        row: Of the car in `body`.
        param: Car parameters.
        car: Row of the car in `param`.
        terrain: Ground.
        scene: Row of the scene in `terrain`.
        dt: [s]
    """
    r00, r01, r02 = body[row, ROTATION], body[row, ROTATION + 1], body[row, ROTATION + 2]
    r10, r11, r12 = body[row, ROTATION + 3], body[row, ROTATION + 4], body[row, ROTATION + 5]
    r20, r21, r22 = body[row, ROTATION + 6], body[row, ROTATION + 7], body[row, ROTATION + 8]
    vx, vy, vz = body[row, VELOCITY], body[row, VELOCITY + 1], body[row, VELOCITY + 2]
    wx, wy, wz = body[row, ANGULAR], body[row, ANGULAR + 1], body[row, ANGULAR + 2]
    motor = body[row, THROTTLE]
    if motor != 0.0:
        motor *= compute_torque(param, car, np.sqrt(vx * vx + vy * vy + vz * vz))
    brake = body[row, BRAKE] * param[car, P_BRAKE_TORQUE]
    radius, travel = param[car, P_RADIUS], param[car, P_TRAVEL]
    fx, fy, fz, tx, ty, tz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for wheel in range(4):
        lx, ly, lz = (
            param[car, P_WHEEL + 3 * wheel],
            param[car, P_WHEEL + 3 * wheel + 1],
            param[car, P_WHEEL + 3 * wheel + 2],
        )
        cx = r00 * lx + r01 * ly + r02 * lz
        cy = r10 * lx + r11 * ly + r12 * lz
        cz = r20 * lx + r21 * ly + r22 * lz
        reach, nx, ny, nz, cosine = find_wheel_ground(
            terrain,
            scene,
            body[row, POSITION] + cx,
            body[row, POSITION + 1] + cy,
            body[row, POSITION + 2] + cz,
            r02,
            r12,
            r22,
            radius + param[car, P_TARGET],
        )
        extension = reach - radius
        torque = motor * param[car, P_DRIVEN + wheel]
        load, along, aside = 0.0, 0.0, 0.0
        if extension < travel and cosine > TILT_NONE:
            cx -= reach * r02
            cy -= reach * r12
            cz -= reach * r22
            rate = (
                (vx + wy * cz - wz * cy) * nx + (vy + wz * cx - wx * cz) * ny + (vz + wx * cy - wy * cx) * nz
            ) / cosine
            load = compute_suspension(param, car, wheel, extension, rate) / cosine
            if cosine < TILT_FULL:
                # The bearing share changes with the tilt, and so does the spring's energy: this torque pays for it.
                load *= (cosine - TILT_NONE) / (TILT_FULL - TILT_NONE)
                force = compute_suspension(param, car, wheel, extension, 0.0)
                pay = 0.5 * force * force / (param[car, P_SPRING] * (TILT_FULL - TILT_NONE))
                tx, ty, tz = (
                    tx - pay * (r12 * nz - r22 * ny),
                    ty - pay * (r22 * nx - r02 * nz),
                    tz - pay * (r02 * ny - r12 * nx),
                )
        else:
            extension = travel
        body[row, EXTENSION + wheel] = max(extension, 0.0)
        body[row, LOAD + wheel] = load
        if load > 0.0:
            cx += param[car, P_FORCE_POINT] * nx
            cy += param[car, P_FORCE_POINT] * ny
            cz += param[car, P_FORCE_POINT] * nz
            hx, hy, hz = r00, r10, r20
            if param[car, P_STEERED + wheel] != 0.0:
                turn, sine = body[row, STEER_COS], body[row, STEER_SIN]
                hx, hy, hz = turn * r00 + sine * r01, turn * r10 + sine * r11, turn * r20 + sine * r21
            dot = hx * nx + hy * ny + hz * nz
            hx, hy, hz = hx - dot * nx, hy - dot * ny, hz - dot * nz
            scale = 1.0 / np.sqrt(hx * hx + hy * hy + hz * hz)
            hx, hy, hz = hx * scale, hy * scale, hz * scale
            sx, sy, sz = ny * hz - nz * hy, nz * hx - nx * hz, nx * hy - ny * hx
            px, py, pz = vx + wy * cz - wz * cy, vy + wz * cx - wx * cz, vz + wx * cy - wy * cx
            friction = terrain.number[scene, T_FRICTION]
            if terrain.index[scene, I_IS_UNIFORM] == 0:
                friction = terrain.friction[
                    find_surface(terrain, scene, body[row, POSITION] + cx, body[row, POSITION + 1] + cy)
                ]
            along, aside = turn_wheel(
                body,
                row,
                wheel,
                param,
                car,
                torque,
                brake,
                load * friction,
                px * hx + py * hy + pz * hz,
                px * sx + py * sy + pz * sz,
                dt,
            )
            qx = load * nx + along * hx + aside * sx
            qy = load * ny + along * hy + aside * sy
            qz = load * nz + along * hz + aside * sz
            fx, fy, fz = fx + qx, fy + qy, fz + qz
            tx, ty, tz = tx + cy * qz - cz * qy, ty + cz * qx - cx * qz, tz + cx * qy - cy * qx
        else:
            turn_wheel(body, row, wheel, param, car, torque, brake, 0.0, 0.0, 0.0, dt)
    keep = 1.0 - dt * param[car, P_DRAG]
    step = dt * body[row, INVERSE_MASS]
    body[row, VELOCITY] = (vx + step * fx) * keep
    body[row, VELOCITY + 1] = (vy + step * fy) * keep
    body[row, VELOCITY + 2] = (vz + step * fz - dt * param[car, P_GRAVITY]) * keep
    turn_body(body, row, tx, ty, tz, 1.0 - dt * param[car, P_ANGULAR_DRAG], dt)


@inner_kernel
def turn_body(body, row, tx, ty, tz, keep, dt):
    """Change a body's angular velocity by a torque [N m, world frame] and by its own gyroscopic one.

    The latter is solved implicitly about the body's axes (one Newton step), so that spinning never gains energy.
    """
    r00, r01, r02 = body[row, ROTATION], body[row, ROTATION + 1], body[row, ROTATION + 2]
    r10, r11, r12 = body[row, ROTATION + 3], body[row, ROTATION + 4], body[row, ROTATION + 5]
    r20, r21, r22 = body[row, ROTATION + 6], body[row, ROTATION + 7], body[row, ROTATION + 8]
    wx, wy, wz = body[row, ANGULAR], body[row, ANGULAR + 1], body[row, ANGULAR + 2]
    ix, iy, iz = body[row, INVERSE_INERTIA], body[row, INVERSE_INERTIA + 1], body[row, INVERSE_INERTIA + 2]
    ax = r00 * wx + r10 * wy + r20 * wz
    ay = r01 * wx + r11 * wy + r21 * wz
    az = r02 * wx + r12 * wy + r22 * wz
    jx, jy, jz = 1.0 / ix, 1.0 / iy, 1.0 / iz
    # Residual dt ω × Iω and its Jacobian I + dt (ω× I - (Iω)×), solved by Cramer's rule.
    ex = dt * ay * az * (jz - jy)
    ey = dt * az * ax * (jx - jz)
    ez = dt * ax * ay * (jy - jx)
    m01, m02 = dt * az * (jz - jy), dt * ay * (jz - jy)
    m10, m12 = dt * az * (jx - jz), dt * ax * (jx - jz)
    m20, m21 = dt * ay * (jy - jx), dt * ax * (jy - jx)
    c0 = jy * jz - m12 * m21
    c1 = m12 * m20 - m10 * jz
    c2 = m10 * m21 - jy * m20
    inverse = 1.0 / (jx * c0 + m01 * c1 + m02 * c2)
    bx = ax - inverse * (c0 * ex + (m02 * m21 - m01 * jz) * ey + (m01 * m12 - m02 * jy) * ez)
    by = ay - inverse * (c1 * ex + (jx * jz - m02 * m20) * ey + (m02 * m10 - jx * m12) * ez)
    bz = az - inverse * (c2 * ex + (m01 * m20 - jx * m21) * ey + (jx * jy - m01 * m10) * ez)
    bx = (bx + dt * ix * (r00 * tx + r10 * ty + r20 * tz)) * keep
    by = (by + dt * iy * (r01 * tx + r11 * ty + r21 * tz)) * keep
    bz = (bz + dt * iz * (r02 * tx + r12 * ty + r22 * tz)) * keep
    square = bx * bx + by * by + bz * bz
    if square > ANGULAR_MAX * ANGULAR_MAX:
        shrink = ANGULAR_MAX / np.sqrt(square)
        bx, by, bz = bx * shrink, by * shrink, bz * shrink
    body[row, ANGULAR] = r00 * bx + r01 * by + r02 * bz
    body[row, ANGULAR + 1] = r10 * bx + r11 * by + r12 * bz
    body[row, ANGULAR + 2] = r20 * bx + r21 * by + r22 * bz


@inner_kernel
def move_body(body, row, dt):
    """Change a body's pose by one step of its velocities and by its `PUSH`; remember the rotation in `TURN`."""
    for axis in range(3):
        body[row, POSITION + axis] += dt * body[row, VELOCITY + axis] + body[row, PUSH + axis]
        body[row, PUSH + axis] = 0.0
    hx, hy, hz = 0.5 * dt * body[row, ANGULAR], 0.5 * dt * body[row, ANGULAR + 1], 0.5 * dt * body[row, ANGULAR + 2]
    # exp of half the rotation: the angle is below 0.06 rad, so short series are exact to rounding.
    a = hx * hx + hy * hy + hz * hz
    cosine = 1.0 - a * (0.5 - a * (1.0 / 24.0 - a * (1.0 / 720.0 - a / 40320.0)))
    sinc = 1.0 - a * (1.0 / 6.0 - a * (1.0 / 120.0 - a / 5040.0))
    hx, hy, hz = sinc * hx, sinc * hy, sinc * hz
    w, x, y, z = body[row, QUATERNION], body[row, QUATERNION + 1], body[row, QUATERNION + 2], body[row, QUATERNION + 3]
    nw = cosine * w - hx * x - hy * y - hz * z
    nx = cosine * x + hx * w + hy * z - hz * y
    ny = cosine * y - hx * z + hy * w + hz * x
    nz = cosine * z + hx * y - hy * x + hz * w
    scale = 1.0 / np.sqrt(nw * nw + nx * nx + ny * ny + nz * nz)
    body[row, QUATERNION] = nw * scale
    body[row, QUATERNION + 1] = nx * scale
    body[row, QUATERNION + 2] = ny * scale
    body[row, QUATERNION + 3] = nz * scale
    body[row, TURN], body[row, TURN + 1], body[row, TURN + 2], body[row, TURN + 3] = cosine, hx, hy, hz
    rotate_frame(body, row)


@inner_kernel
def rotate_frame(body, row):
    """Write a body's rotation matrix from its quaternion."""
    w, x, y, z = body[row, QUATERNION], body[row, QUATERNION + 1], body[row, QUATERNION + 2], body[row, QUATERNION + 3]
    body[row, ROTATION] = 1.0 - 2.0 * (y * y + z * z)
    body[row, ROTATION + 1] = 2.0 * (x * y - w * z)
    body[row, ROTATION + 2] = 2.0 * (x * z + w * y)
    body[row, ROTATION + 3] = 2.0 * (x * y + w * z)
    body[row, ROTATION + 4] = 1.0 - 2.0 * (x * x + z * z)
    body[row, ROTATION + 5] = 2.0 * (y * z - w * x)
    body[row, ROTATION + 6] = 2.0 * (x * z - w * y)
    body[row, ROTATION + 7] = 2.0 * (y * z + w * x)
    body[row, ROTATION + 8] = 1.0 - 2.0 * (x * x + y * y)
