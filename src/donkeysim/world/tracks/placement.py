"""Where the things of a track stand: at places, in rows along the path, scattered beside the road."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.world.tracks.clearance import measure_gap
from donkeysim.world.tracks.path import CentreLine
from donkeysim.world.tracks.props import PROP_KINDS, PropKind
from donkeysim.world.tracks.tables.props import PropTable
from donkeysim.world.tracks.track_file import TrackFile

TRIES = 60
"""Random places tried for each scattered thing before the track is called too full."""


@dataclass(frozen=True)
class Placement:
    """One thing.

    Attributes:
        kind: What, as `PROP_KINDS` names it.
        variant: Which of the kind's meshes.
        position: x, y of the middle of its base [m].
        yaw: [rad]
        scale: Of its size.
    """

    kind: str
    variant: int
    position: tuple[float, float]
    yaw: float
    scale: float


def place_props(track: TrackFile, line: CentreLine, source: str) -> list[Placement]:
    """Return everything that stands on a track, in the file's order.

    Raises:
        SceneError: A thing would stand on the road, or a scatter finds no more room.
    """
    placed: list[Placement] = []
    for table in track.props:
        if table.scatter:
            placed += _scatter(table, line, placed, source)
        else:
            placed += _line_up(table, line)
    gaps = measure_gap(np.array([item.position for item in placed]).reshape(-1, 2), line)
    for item, gap in zip(placed, gaps, strict=True):
        if gap < PROP_KINDS[item.kind].radius * item.scale:
            x, y = item.position
            raise SceneError(f"{source}: a {item.kind} at ({x:.2f}, {y:.2f}) stands on the road; move it off.")
    return placed


def _line_up(table: PropTable, line: CentreLine) -> list[Placement]:
    if table.places:
        return [Placement(table.kind, n, place, 0.0, 1.0) for n, place in enumerate(table.places)]
    at = np.arange(table.first, line.length + table.first - 0.5 * table.every, table.every)
    position, yaw = line.offset(at if line.closed else at[at <= line.length], table.offset)
    return [
        Placement(table.kind, n, (float(x), float(y)), float(turn), 1.0)
        for n, ((x, y), turn) in enumerate(zip(position, yaw, strict=True))
    ]


def _scatter(table: PropTable, line: CentreLine, before: list[Placement], source: str) -> list[Placement]:
    random = np.random.default_rng(table.seed)
    reach = table.far + line.widest
    low, high = line.position.min(axis=0) - reach, line.position.max(axis=0) + reach
    kind = PROP_KINDS[table.kind]
    candidates = random.uniform(low, high, (TRIES * table.scatter, 2))
    gap = measure_gap(candidates, line)
    taken = [placement.position for placement in before]
    placed: list[Placement] = []
    for x, y in candidates[(gap >= table.near) & (gap <= table.far)]:
        if all(math.hypot(x - other[0], y - other[1]) >= table.spacing for other in taken):
            placed.append(_vary(table.kind, kind, len(placed), (float(x), float(y)), random))
            taken.append((x, y))
        if len(placed) == table.scatter:
            return placed
    raise SceneError(
        f"{source}: there is room for {len(placed)} of {table.scatter} of {table.kind!r}; "
        "lower scatter or spacing, or raise far."
    )


def _vary(
    name: str, kind: PropKind, index: int, position: tuple[float, float], random: np.random.Generator
) -> Placement:
    scale = 1.0 + kind.spread * float(random.uniform(-1.0, 1.0))
    return Placement(name, index % kind.variants, position, float(random.uniform(0.0, 2.0 * math.pi)), scale)
