"""Paths, shortest lines and start lines of all scenes as flat tables."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from donkeysim.core.memory import remember
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.physics.kernels import layout
from donkeysim.physics.kernels.layout import ScenePaths
from donkeysim.world.path_frame import measure_length
from donkeysim.world.scene import Path, Scene

CHECKPOINT_ROOM = 0.25
"""By how much a checkpoint reaches beyond the road's edges: a car that is a little wide has passed it [m]."""

_BLOCK = 128
"""How many nodes, and how many points of the shortest line, are compared at once."""

_MATCHED: dict[int, LongArray] = {}
"""What `_match_points` returns of living scenes, by their `id`."""


def make_course(scenes: Sequence[Scene]) -> ScenePaths:
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
    return ScenePaths(
        entry=entry,
        node=np.concatenate([scene.path.position for scene in scenes]).astype(np.float64),
        node_shortest=np.concatenate(
            [remember(_MATCHED, scene, partial(_match_points, scene.path)) for scene in scenes]
        ),
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
    """Return the point of the shortest line where each node's span of it begins, shape [node_count].

    It is the nearest one, of equals the first, but no later one than a span can begin at.
    """
    if len(path.shortest) == 0:
        return np.zeros(len(path.position), np.int64)
    nodes, points = path.position[:, :2], path.shortest
    begins = np.arange(0, len(points), _BLOCK)
    boxes = np.minimum.reduceat(points, begins), np.maximum.reduceat(points, begins)
    blocks = (nodes[first : first + _BLOCK] for first in range(0, len(nodes), _BLOCK))
    nearest = np.concatenate([_find_nearest(block, points, boxes) for block in blocks])
    last = len(points) - (1 if path.closed else 2)
    matched: LongArray = np.minimum(nearest, max(last, 0)).astype(np.int64)
    return matched


def _find_nearest(nodes: FloatArray, points: FloatArray, boxes: tuple[FloatArray, FloatArray]) -> LongArray:
    """Return the index of the nearest point to each of some nodes, of equals the first, shape [len(nodes)].

    Args:
        nodes: Next to each other [m], shape [n, 2].
        points: All that there are [m], shape [point_count, 2].
        boxes: Lower and upper corners around each block of `_BLOCK` points; only those are looked into that may hold
            the nearest to one of the nodes. Rounding never makes less of the greater, so none is missed.
    """
    (low, high), least, most = boxes, nodes.min(axis=0), nodes.max(axis=0)
    gap = np.maximum(np.maximum(low - most, least - high), 0.0)
    reach = np.maximum(most - low, high - least)
    may_hold = (gap**2).sum(axis=1) <= (reach**2).sum(axis=1).min()
    index = np.flatnonzero(np.repeat(may_hold, _BLOCK)[: len(points)])
    away = nodes[:, None] - points[None, index]
    nearest: LongArray = index[np.argmin((away**2).sum(axis=2), axis=1)]
    return nearest


def _measure_line(points: FloatArray) -> FloatArray:
    points = points.reshape(-1, 2)
    return np.column_stack([points, measure_length(points)[: len(points)]])
