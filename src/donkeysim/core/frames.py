"""Axes and units: the only place where the original's world meets ours.

Ours (world and body): metres, seconds, radians, right-handed, x forward, y left, z up, yaw counter-clockwise.
The original's: left-handed, x right, y up, z forward, degrees, and a length unit U that is 1/8 m of the RC car's
world; its telemetry since v22.05 divides positions, speeds and accelerations by 8 (so they are metres, on the
original's axes), while cte, node positions, `set_position`, lidar and sensor offsets stay in U.

Vectors map as (x, y, z) = (z_u, -x_u, y_u); rotations as pseudo-vectors of that reflection.

References:
    Unity manual, "Rotation and orientation in Unity" (axes; Euler order z, x, y).
"""

import math

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

UNITS_PER_METRE = 8.0
"""The original's length units U in one metre of the RC car's world."""


def length_from_units(value: float) -> float:
    """Return metres for a length in U."""
    return value / UNITS_PER_METRE


def length_to_units(value: float) -> float:
    """Return U for a length in metres."""
    return value * UNITS_PER_METRE


def vector_to_unity(vector: Vector) -> Vector:
    """Return our vector (x forward, y left, z up) on the original's axes (x right, y up, z forward), same unit."""
    return (-vector[1], vector[2], vector[0])


def vector_from_unity(vector: Vector) -> Vector:
    """Return a vector given on the original's axes on ours, same unit."""
    return (vector[2], -vector[0], vector[1])


def position_to_units(position: Vector) -> Vector:
    """Return our position [m] as the original's raw position [U], on its axes."""
    x, y, z = vector_to_unity(position)
    return (x * UNITS_PER_METRE, y * UNITS_PER_METRE, z * UNITS_PER_METRE)


def position_from_units(position: Vector) -> Vector:
    """Return the original's raw position [U] as ours [m]."""
    x, y, z = vector_from_unity(position)
    return (x / UNITS_PER_METRE, y / UNITS_PER_METRE, z / UNITS_PER_METRE)


def rate_to_unity(rate: Vector) -> Vector:
    """Return our angular velocity [rad/s] on the original's axes (a pseudo-vector: the handedness flips it)."""
    return (rate[1], -rate[2], -rate[0])


def quaternion_to_unity(quaternion: Quaternion) -> Quaternion:
    """Return our rotation (w, x, y, z) as the original's (x, y, z, w)."""
    w, x, y, z = quaternion
    return (y, -z, -x, w)


def quaternion_from_unity(quaternion: Quaternion) -> Quaternion:
    """Return the original's rotation (x, y, z, w) as ours (w, x, y, z)."""
    x, y, z, w = quaternion
    return (w, -z, x, -y)


def euler_to_unity(quaternion: Quaternion) -> Vector:
    """Return the original's Euler angles of our rotation (w, x, y, z): (pitch, yaw, roll), degrees in [0, 360).

    Pitch is positive nose down, yaw clockwise seen from above with 0 along the world's forward axis, roll positive
    when the right side is up. At pitch ±90° roll is 0.
    """
    x, y, z, w = quaternion_to_unity(quaternion)
    sine = max(-1.0, min(1.0, 2.0 * (w * x - y * z)))
    pitch = math.asin(sine)
    if abs(sine) < 0.9999999:
        yaw = math.atan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))
        roll = math.atan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z))
    else:
        yaw = math.atan2(-2.0 * (x * z - w * y), 1.0 - 2.0 * (y * y + z * z))
        roll = 0.0
    return (_wrap_degrees(pitch), _wrap_degrees(yaw), _wrap_degrees(roll))


def steer_from_wire(steering: float) -> float:
    """Return our steer (+ = left) for the original's steering (+ = right), both in [-1, 1]."""
    return -steering


def steer_to_wire(steer: float) -> float:
    """Return the original's steering (+ = right) for our steer (+ = left)."""
    return 0.0 - steer


def cte_to_units(cte: float) -> float:
    """Return the original's cte [U, + = right of the path] for ours [m, + = left of the path]."""
    return 0.0 - cte * UNITS_PER_METRE


def view_rotation_from_degrees(rot_x: float, rot_y: float, rot_z: float) -> Vector:
    """Return (roll, pitch, yaw) [rad, ours: right-handed about x, y, z] of a sensor turned by the original's degrees.

    The original turns about its own axes: `rot_x` down, `rot_y` to the right, `rot_z` counter-clockwise seen from
    behind; order z, x, y. Ours is roll about x first, then pitch about y (+ = down), then yaw about z (+ = left).
    """
    return (-math.radians(rot_z), math.radians(rot_x), -math.radians(rot_y))


def yaw_to_quaternion(yaw: float) -> Quaternion:
    """Return the rotation (w, x, y, z) about z by `yaw` [rad]."""
    return (math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw))


def _wrap_degrees(angle: float) -> float:
    degrees = math.degrees(angle) % 360.0
    return 0.0 if degrees >= 360.0 else degrees
