"""Paths, shortest lines and start lines of all scenes as flat tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray, LongArray
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import Course
from donkeysim.world.path_frame import measure_length
from donkeysim.world.scene import Path, Scene

CHECKPOINT_ROOM = 0.25
"""By how much a checkpoint reaches beyond the road's edges: who is a little wide has passed it [m]."""


def make_course(scenes: Sequence[Scene]) -> Course:
    """Return the paths of these scenes, one after another."""
    entry = np.zeros((len(scenes), layout.COURSE_INDICES), np.int64)
    gates = [_list_gates(scene) for scene in scenes]
    node_count = point_count = gate_count = 0
    for row, scene in enumerate(scenes):
        path, start = scene.path, scene.start
        counts = (len(path.position), path.closed, point_count, len(path.shortest))
        entry[row] = (node_count, *counts, gate_count, len(gates[row]), len(start.line), len(start.checkpoint))
        node_count += len(path.position)
        point_count += len(path.shortest)
        gate_count += len(gates[row])
    return Course(
        entry=entry,
        node=np.concatenate([scene.path.position[:, :2] for scene in scenes]).astype(np.float64),
        node_shortest=np.concatenate([_match_points(scene.path) for scene in scenes]),
        shortest=np.concatenate([_measure_line(scene.path.shortest) for scene in scenes]),
        gate=np.concatenate(gates).astype(np.float64),
    )


def _list_gates(scene: Scene) -> FloatArray:
    """Return start lines, checkpoints and, of an open path with a start, its finish, shape [gate_count, 4]."""
    gates = [scene.start.line, _widen(scene.start.checkpoint)]
    if not scene.path.closed and len(scene.start.line):
        gates.append(_widen(_span_end(scene.path)))
    return np.concatenate(gates).reshape(-1, 4)


def _widen(gate: FloatArray) -> FloatArray:
    """Return gates that reach farther by `CHECKPOINT_ROOM` at both ends, shape [gate_count, 2, 2]."""
    across = gate[:, 1] - gate[:, 0]
    across *= CHECKPOINT_ROOM / np.maximum(np.hypot(*across.T), 1e-9)[:, None]
    return np.stack([gate[:, 0] - across, gate[:, 1] + across], axis=1)


def _span_end(path: Path) -> FloatArray:
    """Return the gate at the end of an open path, left end first, shape [1, 2, 2]."""
    end = path.position[-1, :2]
    x, y = end - path.position[-2, :2]
    left = np.array([-y, x]) / np.hypot(x, y)
    return np.stack([end + path.width_left[-1] * left, end - path.width_right[-1] * left])[None]


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
