"""Rotations: quaternions (w, x, y, z), yaw, vectors in a body's frame and matrices. Angles in radians.

And poses on a plane: x, y [m] and yaw, + = left, shape [..., 3]; a motion is a pose seen from where it begins.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from donkeysim.core.frames import Quaternion, Vector
from donkeysim.core.frames import yaw_to_quaternion as yaw_to_quaternion
from donkeysim.core.types import FloatArray


def find_yaws(orientation: FloatArray) -> FloatArray:
    """Return the yaws of many bodies [rad], shape [...]; `orientation`: unit (w, x, y, z), shape [..., 4]."""
    w, x, y, z = np.moveaxis(orientation, -1, 0)
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def look_to_quaternion(yaw: float, pitch: float) -> Quaternion:
    """Return the rotation (w, x, y, z) of a body pitched (+ = nose down), then turned about z by `yaw` [rad]."""
    cy, sy, cp, sp = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(pitch / 2), math.sin(pitch / 2)
    return (cy * cp, -sy * sp, cy * sp, sy * cp)


def wrap_angle(angle: float) -> float:
    """Return an angle less whole turns, -π to π [rad]."""
    return math.remainder(angle, math.tau)


def wrap_angles(angle: FloatArray) -> FloatArray:
    """Return many angles less whole turns, -π to π [rad], of the same shape."""
    return np.asarray(np.arctan2(np.sin(angle), np.cos(angle)))


def rotate_to_body(orientation: Quaternion, vector: Vector) -> Vector:
    """Return a world vector in the frame of a body with this unit orientation (w, x, y, z)."""
    w, x, y, z = orientation
    vx, vy, vz = vector
    # v + 2 w (v × q) + 2 (v × q) × q, the inverse rotation.
    cx, cy, cz = vy * z - vz * y, vz * x - vx * z, vx * y - vy * x
    return (
        vx + 2.0 * (w * cx + cy * z - cz * y),
        vy + 2.0 * (w * cy + cz * x - cx * z),
        vz + 2.0 * (w * cz + cx * y - cy * x),
    )


def find_axes(orientation: Iterable[float]) -> FloatArray:
    """Return a body's x, y and z axis as the columns of a matrix, shape [3, 3], world frame.

    Args:
        orientation: Unit (w, x, y, z).
    """
    w, x, y, z = orientation
    return np.array(
        (
            (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
            (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
            (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
        )
    )


def find_matrix(roll: float, pitch: float, yaw: float) -> tuple[Vector, Vector, Vector]:
    """Return the matrix (its rows) of a rotation by roll about x, then pitch about y, then yaw about z [rad]."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def make_rotation(rotation: Sequence[float]) -> FloatArray:
    """Return the matrix (9, row by row) of a rotation by (roll, pitch, yaw) as in `find_matrix`."""
    return np.array(find_matrix(*rotation)).ravel()


def compose(pose: FloatArray, motion: FloatArray) -> FloatArray:
    """Return where a motion leads from a pose."""
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    x, y, turn = np.moveaxis(motion, -1, 0)
    return np.stack([pose[..., 0] + c * x - s * y, pose[..., 1] + s * x + c * y, pose[..., 2] + turn], axis=-1)


def between(begin: FloatArray, end: FloatArray) -> FloatArray:
    """Return the motion from one pose to another; it turns by half a turn at most."""
    c, s = np.cos(begin[..., 2]), np.sin(begin[..., 2])
    x, y = end[..., 0] - begin[..., 0], end[..., 1] - begin[..., 1]
    return np.stack([c * x + s * y, c * y - s * x, wrap_angles(end[..., 2] - begin[..., 2])], axis=-1)


def make_matrix(pose: FloatArray) -> FloatArray:
    """Return what takes x, y, 1 as a car sees them to where they are, shape [3, 3]."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0.0, 0.0, 1.0]])


def read_matrix(matrix: FloatArray) -> FloatArray:
    """Return the pose that `make_matrix` made a matrix of; of another one the nearest, shape [3]."""
    return np.array([matrix[0, 2], matrix[1, 2], np.arctan2(matrix[1, 0], matrix[0, 0])])
