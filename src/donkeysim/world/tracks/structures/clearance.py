"""Whether what stands on a track leaves its road free."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import COLLIDER_BOX, Ground
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.structures.structure import Collider, Structure
from donkeysim.world.tracks.terrain.ground import sample_height

HEADROOM = 0.5
"""What begins this far above the ground hangs over the road and is in nobody's way [m]."""

STEP = 0.05
"""Between the points of a base that are looked at [m]."""

SLACK = 0.01
"""How far a base may reach over the road's edge: straight pieces of a wall follow a curve that closely [m]."""

MOST_PAIRS = 500_000
"""Of points and colliders looked at together: some 20 MB."""

SAMPLES = 5
"""Every so many samples of the path are looked at."""


def check_clear(structures: Sequence[Structure], line: CentreLine, ground: Ground) -> None:
    """Refuse structures that stand on the road.

    Raises:
        SceneError: One sentence with the table and the place.
    """
    rows = [(structure.label, collider) for structure in structures for collider in structure.colliders]
    below = sample_height(ground, np.array([row.centre[:2] for _, row in rows]).reshape(-1, 2))
    rows = [
        (label, row)
        for (label, row), foot in zip(rows, below, strict=True)
        if row.centre[2] - row.half_size[2] < foot + HEADROOM
    ]
    if not rows:
        return
    bases = [outline_base(collider) for _, collider in rows]
    gap = measure_gap(np.concatenate(bases), line)
    owner = np.repeat(np.arange(len(bases)), [len(base) for base in bases])
    worst = int(np.argmin(gap))
    if gap[worst] < -SLACK:
        label = rows[owner[worst]][0]
        x, y = np.concatenate(bases)[worst]
        text = f"{label} at ({x:.2f}, {y:.2f}) stands on the road, {-gap[worst]:.2f} m inside its edge; move it off."
        raise SceneError(text, find_key(label))


def find_key(label: str) -> str:
    """Return the key of what a label names: "[[walls]] 2 (hay)" is the second of its tables."""
    if found := re.match(r"\[\[(\w+)\]\] (\d+)", label):
        return f"{found[1]}[{int(found[2]) - 1}]"
    return label.strip("[]") if label.startswith("[") else ""


def outline_base(collider: Collider) -> FloatArray:
    """Return points around the base of a collider, x, y [m], shape [n, 2]."""
    centre, half = np.array(collider.centre[:2]), collider.half_size
    if collider.kind != COLLIDER_BOX:
        angle = np.arange(12) * (math.pi / 6.0)
        return centre + half[0] * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    along = np.linspace(-1.0, 1.0, math.ceil(2.0 * half[0] / STEP) + 1)
    across = np.linspace(-1.0, 1.0, math.ceil(2.0 * half[1] / STEP) + 1)
    sides = [np.stack((along, np.full(len(along), side)), axis=1) for side in (-1.0, 1.0)]
    sides += [np.stack((np.full(len(across), side), across), axis=1) for side in (-1.0, 1.0)]
    point = np.concatenate(sides) * half[:2]
    cosine, sine = math.cos(collider.yaw), math.sin(collider.yaw)
    return np.asarray(centre + point @ np.array(((cosine, sine), (-sine, cosine))))


def measure_distance(point: FloatArray, colliders: Sequence[Collider]) -> FloatArray:
    """Return the distance of points from the nearest base of some colliders [m], 0 inside, shape [n].

    Args:
        point: x, y [m], shape [n, 2].
        colliders: Seen from above; none: infinitely far.
    """
    if not colliders:
        return np.full(len(point), np.inf)
    if len(point) > (most := 1 + MOST_PAIRS // len(colliders)):
        return np.concatenate((measure_distance(point[:most], colliders), measure_distance(point[most:], colliders)))
    is_box = np.array([row.kind == COLLIDER_BOX for row in colliders])
    x, y = (point[:, axis, None] - np.array([row.centre[axis] for row in colliders]) for axis in (0, 1))
    yaw, half = np.array([row.yaw for row in colliders]), np.array([row.half_size[:2] for row in colliders])
    side, radius = half * is_box[:, None], half[:, 0] * ~is_box
    ahead = np.maximum(np.abs(x * np.cos(yaw) + y * np.sin(yaw)) - side[:, 0], 0.0)
    left = np.maximum(np.abs(y * np.cos(yaw) - x * np.sin(yaw)) - side[:, 1], 0.0)
    return np.asarray(np.maximum(np.hypot(ahead, left) - radius, 0.0).min(axis=1))


def measure_gap(point: FloatArray, line: CentreLine) -> FloatArray:
    """Return the distance of points from the road's nearest edge [m], negative on the road, shape [n].

    Measured to samples of the path, each with the width of the side the point is on: never too large.

    Args:
        point: x, y [m], shape [n, 2].
        line: The path and its widths.
    """
    if not len(point):
        return np.zeros(0)
    from scipy.spatial import cKDTree

    sample, yaw = line.position[::SAMPLES], line.yaw[::SAMPLES]
    left_width, right_width = line.width_left[::SAMPLES], line.width_right[::SAMPLES]
    tree = cKDTree(sample)
    slack = line.widest - min(left_width.min(), right_width.min()) + 1e-6
    near = tree.query_ball_point(point, tree.query(point)[0] + slack, return_sorted=False)
    count = np.array([len(indices) for indices in near])
    owner, index = np.repeat(np.arange(len(point)), count), np.concatenate(near).astype(np.int64)
    dx, dy = point[owner, 0] - sample[index, 0], point[owner, 1] - sample[index, 1]
    left = dy * np.cos(yaw[index]) - dx * np.sin(yaw[index])
    width = np.where(left >= 0.0, left_width[index], right_width[index])
    return np.asarray(np.minimum.reduceat(np.hypot(dx, dy) - width, np.cumsum(count) - count))
