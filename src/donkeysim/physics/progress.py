"""Paths, shortest lines and start lines of all scenes as flat tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray, LongArray
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import Course
from donkeysim.world.path_frame import measure_length
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
    points = points.reshape(-1, 2)
    return np.column_stack([points, measure_length(points)[: len(points)]])
