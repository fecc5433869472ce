"""Paths, shortest lines and start lines of all scenes as flat tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray, LongArray
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import Course
from donkeysim.world.scene import Path, Scene


def make_course(scenes: Sequence[Scene]) -> Course:
    """Return the paths of these scenes, one after another."""
    index = np.zeros((len(scenes), layout.COURSE_INDICES), np.int64)
    node_count = point_count = line_count = 0
    for row, scene in enumerate(scenes):
        path, line = scene.path, scene.start.line
        index[row] = (
            node_count,
            len(path.position),
            path.closed,
            point_count,
            len(path.shortest),
            line_count,
            len(line),
        )
        node_count += len(path.position)
        point_count += len(path.shortest)
        line_count += len(line)
    return Course(
        index=index,
        node=np.concatenate([scene.path.position[:, :2] for scene in scenes]).astype(np.float64),
        node_shortest=np.concatenate([_match_points(scene.path) for scene in scenes]),
        shortest=np.concatenate([_measure_line(scene.path.shortest) for scene in scenes]),
        line=np.concatenate([scene.start.line.reshape(-1, 4) for scene in scenes]).astype(np.float64),
    )


def _match_points(path: Path) -> LongArray:
    if len(path.shortest) == 0:
        return np.zeros(len(path.position), np.int64)
    away = path.position[:, None, :2] - path.shortest[None, :, :]
    nearest = np.argmin((away**2).sum(axis=2), axis=1)
    last = len(path.shortest) - (1 if path.closed else 2)
    matched: LongArray = np.minimum(nearest, max(last, 0)).astype(np.int64)
    return matched


def _measure_line(points: FloatArray) -> FloatArray:
    step = np.hypot(*np.diff(points, axis=0).T) if len(points) > 1 else np.zeros(0)
    length = np.concatenate([[0.0], np.cumsum(step)])[: len(points)]
    return np.column_stack([points.reshape(-1, 2), length])


def find_node(course: Course, scene: int, x: float, y: float) -> int:
    """Return the path node behind a point, looked for along the whole path.

    Args:
        course: Of all scenes.
        scene: Row of the scene.
        x: [m]
        y: [m]
    """
    begin, count, closed = course.index[scene, : layout.N_CLOSED + 1]
    node = course.node[begin : begin + count]
    step = (np.roll(node, -1, axis=0) - node)[: count if closed else count - 1]
    away = np.array([x, y]) - node[: len(step)]
    share = (away * step).sum(axis=1) / np.maximum((step**2).sum(axis=1), 1e-18)
    low, high = np.zeros(len(step)), np.ones(len(step))
    if not closed:
        low[0], high[-1] = -np.inf, np.inf
    share = np.clip(share, low, high)
    return int(np.argmin(((away - share[:, None] * step) ** 2).sum(axis=1)))
