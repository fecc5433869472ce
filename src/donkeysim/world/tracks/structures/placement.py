"""Where the things of a track stand: at places, in rows along the path, scattered beside its road, which stays free."""

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import COLLIDER_BOX, Ground
from donkeysim.world.tracks.model_file import TRIANGLES_MOST
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.props import PROP_KINDS
from donkeysim.world.tracks.props.kind import PropKind, keep_still
from donkeysim.world.tracks.props.own import read_own_kind
from donkeysim.world.tracks.structures.structure import Collider, Structure
from donkeysim.world.tracks.tables.props import PropTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

TRIES = 60
"""Random places tried for each scattered thing before the track is called too full."""

# Most things find a place within the first few tries: looking at all 60 would be work for nothing.
TRIED_AT_ONCE = 6
"""Of these, looked at together."""

# Things of one kind keep their spacing from each other; of others they may stand half as far, else fences would empty
# what is beside them.
CLEARANCE = 0.5
"""Distance of scattered things from what stands already and is no prop, as a share of their spacing."""

TALLEST = 3.2
"""Of what is scattered [m]: it may stand under what hangs this high above the open ground."""

# Twice as high as any car with its camera mast (0.23 m).
HEADROOM = 0.5
"""What begins this far above the ground hangs over the road and is in nobody's way [m]."""

# A post of 5 cm radius is never missed, and a wall of 10 m has 200 points.
STEP = 0.05
"""Between the points of a base that are looked at [m]."""

SLACK = 0.01
"""How far a base may reach over the road's edge: straight pieces of a wall follow a curve that closely [m]."""

MOST_PAIRS = 500_000
"""Of points and colliders looked at together: some 20 MB."""

SAMPLES = 5
"""One of this many samples of the path is looked at."""


@dataclass(frozen=True)
class Placement:
    """One thing.

    Attributes:
        kind: What.
        variant: Which of the kind's meshes.
        position: x, y of the middle of its base [m].
        yaw: [rad]
        scale: Of its size.
        label: What error texts call it: its table in the track file.
        hit: What `hit` says of it; empty: what its kind is called.
    """

    kind: PropKind
    variant: int
    position: tuple[float, float]
    yaw: float
    scale: float
    label: str = ""
    hit: str = ""


def place_props(track: TrackFile, line: CentreLine, fixed: Sequence[Structure]) -> list[Placement]:
    """Return everything that stands on a track, in the file's order.

    Args:
        fixed: What stands already; nothing is scattered into it.

    Raises:
        SceneError: A thing would stand on the road, or a scatter finds no more room.
    """
    placed: list[Placement] = []
    under = track.ground.height + TALLEST
    bases = [row for structure in fixed for row in structure.colliders if row.centre[2] - row.half_size[2] < under]
    for number, table in enumerate(track.props, start=1):
        label = f"[[props]] {number} ({table.name})"
        kind = read_own_kind(table, find_key(label)) if table.model else PROP_KINDS[table.name]
        if table.fixed:
            if kind.movable is None:
                raise SceneError(f"{label} never moves; leave fixed out.", f"{find_key(label)}.fixed")
            kind = keep_still(kind)
        if table.model:
            table = dataclasses.replace(table, scale=1.0)  # which the kind has in it
        added = _scatter(table, kind, line, placed, bases, label) if table.scatter else _line_up(table, kind, line)
        placed += [dataclasses.replace(item, label=label, hit=table.hit) for item in added]
    if (count := sum(item.kind.triangle_count for item in placed)) > TRIANGLES_MOST:
        text = f"the models of [[props]] show {count} triangles; a place may have {TRIANGLES_MOST}"
        raise SceneError(f"{text}, so simplify them or place fewer.", "props")
    moved = [item for item in placed if item.kind.movable is not None]
    gaps = measure_gap(np.array([item.position for item in moved]).reshape(-1, 2), line)
    for item, gap in zip(moved, gaps, strict=True):
        if gap < item.kind.radius * item.scale:
            x, y = item.position
            text = f"{item.label} at ({x:.2f}, {y:.2f}) stands on the road; move it off."
            raise SceneError(text, find_key(item.label))
    return placed


def _line_up(table: PropTable, kind: PropKind, line: CentreLine) -> list[Placement]:
    turn = math.radians(table.yaw)
    if table.places:
        poses = [(x, y, math.radians(rest[0] if rest else 0.0)) for x, y, *rest in table.places]
    else:
        at = _find_row(table, line)
        position, yaw = line.offset(at, table.offset)
        poses = [(float(x), float(y), float(along)) for (x, y), along in zip(position, yaw, strict=True)]
    return [
        Placement(kind, _choose_variant(table, kind, n), (x, y), yaw + turn, table.scale)
        for n, (x, y, yaw) in enumerate(poses)
    ]


def _find_row(table: PropTable, line: CentreLine) -> FloatArray:
    """Return the places of a row along the path [m]."""
    if not table.spans:
        at = np.arange(table.first, line.length + table.first - 0.5 * table.every, table.every)
        return at if line.closed else at[at <= line.length]
    parts = []
    for begin, end in table.spans:
        reach = end - begin if end > begin or not line.closed else end - begin + line.length
        parts.append(begin + table.first + np.arange(0.0, reach - table.first + 1e-9, table.every))
    return np.concatenate(parts)


def _choose_variant(table: PropTable, kind: PropKind, index: int) -> int:
    return (index if table.variant < 0 else table.variant) % kind.variants


def _scatter(
    table: PropTable, kind: PropKind, line: CentreLine, before: list[Placement], bases: Sequence[Collider], label: str
) -> list[Placement]:
    random = np.random.default_rng(table.seed)
    reach = table.far + line.widest
    low, high = line.position.min(axis=0) - reach, line.position.max(axis=0) + reach
    body = table.scale * kind.radius
    candidates = random.uniform(low, high, (TRIES * table.scatter, 2))
    taken = [placement.position for placement in before]
    placed: list[Placement] = []
    for some in np.array_split(candidates, TRIES // TRIED_AT_ONCE):
        gap = measure_gap(some, line)
        beside = (gap >= max(table.near, body)) & (gap <= table.far)
        some = some[beside]
        for x, y in some[measure_distance(some, bases) >= max(body, CLEARANCE * table.spacing)]:
            if all(math.hypot(x - other[0], y - other[1]) >= table.spacing for other in taken):
                scale = table.scale * (1.0 + kind.spread * float(random.uniform(-1.0, 1.0)))
                yaw = float(random.uniform(0.0, 2.0 * math.pi))
                variant = _choose_variant(table, kind, len(placed))
                placed.append(Placement(kind, variant, (float(x), float(y)), yaw, scale))
                taken.append((x, y))
            if len(placed) == table.scatter:
                return placed
    if table.at_most:
        return placed
    count = f"{len(placed)} of {table.scatter} of {table.name!r}"
    raise SceneError(f"there is room for {count}; lower scatter or spacing, or raise far.", find_key(label))


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
