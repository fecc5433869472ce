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
    paths, lines = [scene.path for scene in scenes], [scene.start.line for scene in scenes]
    rows = zip(paths, lines, strict=True)
    count = np.array([(len(path.position), len(path.shortest), len(line)) for path, line in rows])
    index = np.zeros((len(scenes), layout.COURSE_INDICES), np.int64)
    index[:, [layout.N_NODE, layout.N_SHORTEST, layout.N_LINE]] = np.cumsum(count, axis=0) - count
    index[:, [layout.N_NODE_COUNT, layout.N_SHORTEST_COUNT, layout.N_LINE_COUNT]] = count
    index[:, layout.N_CLOSED] = [path.closed for path in paths]
    return Course(
        index=index,
        node=np.concatenate([path.position[:, :2] for path in paths]).astype(np.float64),
        node_shortest=np.concatenate([_match_points(path) for path in paths]),
        shortest=np.concatenate([_measure_line(path.shortest) for path in paths]),
        line=np.concatenate([line.reshape(-1, 4) for line in lines]).astype(np.float64),
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
