"""Poses from what is known of the motions between them: a pose graph, solved by sparse least squares.

Reference:
    Grisetti, Kümmerle, Stachniss, Burgard, A tutorial on graph-based SLAM, IEEE Intelligent Transportation Systems
    Magazine 2 (2010).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import spsolve

from donkeysim.core.rotation import between, wrap_angles
from donkeysim.core.types import BoolArray, FloatArray

SOFT = 3.0
"""Loops that miss by more standard deviations than this count less and less (Cauchy)."""

_ROUNDS, _PRECISION = 30, 1e-6


class Edge(NamedTuple):
    """A motion between two poses.

    Attributes:
        begin: Number of the pose that it begins at.
        end: Of the one where it leads.
        motion: Shape [3].
        root: Square root of its information: misses times it are in standard deviations, shape [3, 3].
        is_loop: Whether it may be wrong altogether, so that large misses count less.
    """

    begin: int
    end: int
    motion: FloatArray
    root: FloatArray
    is_loop: bool


def take_root(information: FloatArray) -> FloatArray:
    """Return the symmetric square root of an information, shape [3, 3]."""
    value, vector = np.linalg.eigh(information)
    root: FloatArray = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
    return root


def bound(information: FloatArray, least: Sequence[float]) -> FloatArray:
    """Return an information whose standard deviations are no less than `least`, x, y [m] and yaw [rad]."""
    covariance = np.linalg.inv(information + 1e-6 * np.eye(3)) + np.diag(np.square(least))
    bounded: FloatArray = np.linalg.inv(covariance)
    return bounded


def solve(poses: FloatArray, edges: Sequence[Edge]) -> tuple[FloatArray, FloatArray]:
    """Return the poses that fit the edges best, the first one kept, and how far each edge misses.

    Args:
        poses: To begin with, shape [pose_count, 3].
        edges: Between them.

    Returns:
        Poses, shape [pose_count, 3], and misses [standard deviation], shape [edge_count].
    """
    begin, end = (np.array([edge[which] for edge in edges]) for which in (0, 1))
    motion, root = np.array([edge.motion for edge in edges]), np.array([edge.root for edge in edges])
    is_loop = np.array([edge.is_loop for edge in edges])
    solved = poses.copy()
    held = diags(np.full(3 * len(poses) - 3, 1e-9))
    for _ in range(_ROUNDS):
        miss = _find_misses(solved, begin, end, motion, root)
        jacobian, rest = _linearise(solved, begin, end, root, miss, is_loop)
        moved = jacobian[:, 3:]  # without the first pose, which all others may be tied to
        normal = (moved.T @ moved + held).tocsc()
        step = spsolve(normal, -(moved.T @ rest), permc_spec="MMD_AT_PLUS_A").reshape(-1, 3)  # it is symmetric
        solved[1:] += step
        if np.abs(step).max() < _PRECISION:
            break
    return solved, np.linalg.norm(_find_misses(solved, begin, end, motion, root), axis=1)


def _find_misses(
    poses: FloatArray, begin: FloatArray, end: FloatArray, motion: FloatArray, root: FloatArray
) -> FloatArray:
    miss = between(poses[begin], poses[end]) - motion
    miss[:, 2] = wrap_angles(miss[:, 2])
    weighed: FloatArray = np.einsum("nij,nj->ni", root, miss)
    return weighed


def _linearise(
    poses: FloatArray, begin: FloatArray, end: FloatArray, root: FloatArray, miss: FloatArray, is_loop: BoolArray
) -> tuple[csc_matrix, FloatArray]:
    """Return how misses change with the poses, and the misses, both times the square root of what they count."""
    share = np.where(is_loop, 1.0 / (1.0 + (miss**2).sum(axis=1) / SOFT**2), 1.0)
    scale = np.sqrt(share)[:, None]
    first, last = poses[begin], poses[end]
    c, s = np.cos(first[:, 2]), np.sin(first[:, 2])
    x, y = last[:, 0] - first[:, 0], last[:, 1] - first[:, 1]
    zero, one = np.zeros_like(c), np.ones_like(c)
    at_begin = np.stack([-c, -s, c * y - s * x, s, -c, -c * x - s * y, zero, zero, -one], axis=1).reshape(-1, 3, 3)
    at_end = np.stack([c, s, zero, -s, c, zero, zero, zero, one], axis=1).reshape(-1, 3, 3)
    blocks = np.stack([root @ at_begin, root @ at_end], axis=1) * scale[:, :, None, None]
    count = len(begin)
    row = np.broadcast_to(3 * np.arange(count)[:, None, None, None] + np.arange(3)[:, None], blocks.shape)
    column = 3 * np.stack([begin, end], axis=1)[:, :, None, None] + np.arange(3)
    column = np.broadcast_to(column, blocks.shape)
    shape = (3 * count, 3 * len(poses))
    return csc_matrix((blocks.ravel(), (row.ravel(), column.ravel())), shape=shape), (miss * scale).ravel()
