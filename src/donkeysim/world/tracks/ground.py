"""The ground as physics knows it: heights and surfaces; and where a point lies along the path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Ground
from donkeysim.world.tracks.path import SAMPLE_SPACING, CentreLine
from donkeysim.world.tracks.track_file import TrackFile

SURFACE_CELL = 0.0125
"""Of the surface map [m]."""

BLOCK = 8
"""Cells per side that share one search for the nearest place on the path."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class RoadGrid:
    """For every cell of a grid its nearest place on the path; row = y, column = x.

    Attributes:
        along: Distance along the path [m], shape [rows, columns].
        lateral: Signed distance from it [m], + = left; `far` beyond the searched range.
    """

    along: FloatArray
    lateral: FloatArray


def find_box(line: CentreLine, track: TrackFile) -> Box:
    """Return least x, least y, greatest x, greatest y of the detailed ground [m]."""
    reach = max(track.road.width_left, track.road.width_right) + track.ground.margin
    low, high = line.position.min(axis=0) - reach, line.position.max(axis=0) + reach
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def measure_road(
    line: CentreLine, origin: tuple[float, float], cell: float, rows: int, columns: int, reach: float
) -> RoadGrid:
    """Return where the centres of grid cells lie along and beside the path.

    Exact on straights and arcs: a coarse search finds the nearest sample, its circle of curvature gives the rest.

    Args:
        line: The path.
        origin: x, y of the lower corner of cell [0, 0] [m].
        cell: Cell size [m].
        rows: A multiple of `BLOCK`.
        columns: A multiple of `BLOCK`.
        reach: Cells farther than this from the path may get any place beyond it [m].
    """
    from scipy.spatial import cKDTree

    xs = (origin[0] + (np.arange(columns) + 0.5) * cell).astype(np.float32)
    ys = (origin[1] + (np.arange(rows) + 0.5) * cell).astype(np.float32)
    stride = max(1, round(0.02 / SAMPLE_SPACING))
    tree = cKDTree(line.position[::stride])
    centres = np.stack(np.meshgrid(xs.reshape(-1, BLOCK).mean(axis=1), ys.reshape(-1, BLOCK).mean(axis=1)), axis=-1)
    _, nearest = tree.query(centres.reshape(-1, 2))
    index = (nearest * stride).reshape(centres.shape[:2])
    return _refine(line, xs, ys, index)


def _refine(line: CentreLine, xs: FloatArray, ys: FloatArray, index: FloatArray) -> RoadGrid:
    def spread(values: FloatArray) -> FloatArray:
        return np.repeat(np.repeat(values[index].astype(np.float32), BLOCK, axis=0), BLOCK, axis=1)

    cosine, sine = spread(np.cos(line.yaw)), spread(np.sin(line.yaw))
    dx, dy = xs[None, :] - spread(line.position[:, 0]), ys[:, None] - spread(line.position[:, 1])
    ahead, left = dx * cosine + dy * sine, dy * cosine - dx * sine
    curvature = spread(line.curvature)
    across, along = 1.0 - curvature * left, curvature * ahead
    root = np.sqrt(across * across + along * along)
    lateral = (2.0 * left - curvature * (ahead * ahead + left * left)) / (1.0 + root)
    turn = np.arctan2(along, across)
    rest = np.where(
        np.abs(along) > 1e-4,
        turn / np.where(curvature == 0.0, 1.0, curvature),
        ahead / np.where(across == 0.0, 1.0, across),
    )
    return RoadGrid(spread(line.distance) + rest, lateral)


def build_ground(track: TrackFile, line: CentreLine) -> Ground:
    """Return heights and surfaces: surface 0 is the open ground, 1 the road."""
    friction = np.array([track.ground.friction, track.road.friction])
    drivable = np.array([int(track.ground.drivable), 1], np.uint8)
    box = find_box(line, track)
    if track.ground.drivable and track.ground.friction == track.road.friction:
        surface, origin = np.zeros((1, 1), np.uint8), box[:2]
    else:
        origin = box[:2]
        rows, columns = (int(np.ceil((box[i + 2] - box[i]) / SURFACE_CELL / BLOCK)) * BLOCK for i in (1, 0))
        reach = max(track.road.width_left, track.road.width_right)
        grid = measure_road(line, origin, SURFACE_CELL, rows, columns, reach)
        on_road = (grid.lateral <= track.road.width_left) & (grid.lateral >= -track.road.width_right)
        surface = on_road.astype(np.uint8)
    height = np.full((1, 1), track.ground.height)
    return Ground(box[:2], 1.0, height, origin, SURFACE_CELL, surface, friction, drivable)
