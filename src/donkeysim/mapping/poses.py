"""Poses on a plane: x, y [m] and yaw [rad], + = left, shape [..., 3]; a motion is a pose seen from where it begins."""

import numpy as np

from donkeysim.core.types import FloatArray


def compose(pose: FloatArray, motion: FloatArray) -> FloatArray:
    """Return where a motion leads from a pose."""
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    x, y, turn = np.moveaxis(motion, -1, 0)
    return np.stack([pose[..., 0] + c * x - s * y, pose[..., 1] + s * x + c * y, pose[..., 2] + turn], axis=-1)


def between(begin: FloatArray, end: FloatArray) -> FloatArray:
    """Return the motion from one pose to another; it turns by half a turn at most."""
    c, s = np.cos(begin[..., 2]), np.sin(begin[..., 2])
    x, y = end[..., 0] - begin[..., 0], end[..., 1] - begin[..., 1]
    return np.stack([c * x + s * y, c * y - s * x, wrap(end[..., 2] - begin[..., 2])], axis=-1)


def wrap(angle: FloatArray) -> FloatArray:
    """Return angles as they are between half a turn to the right and half a turn to the left [rad]."""
    wrapped: FloatArray = (angle + np.pi) % (2.0 * np.pi) - np.pi
    return wrapped


def make_matrix(pose: FloatArray) -> FloatArray:
    """Return what takes x, y, 1 as a car sees them to where they are, shape [3, 3]."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0.0, 0.0, 1.0]])


def read_matrix(matrix: FloatArray) -> FloatArray:
    """Return the pose that `make_matrix` made a matrix of; of another one the nearest, shape [3]."""
    return np.array([matrix[0, 2], matrix[1, 2], np.arctan2(matrix[1, 0], matrix[0, 0])])
