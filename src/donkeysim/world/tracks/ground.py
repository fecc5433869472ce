"""The ground as physics knows it: heights and surfaces; and where a point lies along the path."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from donkeysim.core.types import Float32Array, FloatArray, LongArray
from donkeysim.world.scene import Ground
from donkeysim.world.tracks.path import SAMPLE_SPACING, CentreLine
from donkeysim.world.tracks.track_file import TrackFile

SURFACE_CELL = 0.0125
"""Of the surface map [m]."""

BLOCK = 8
"""Cells per side that share one search for the nearest place on the path."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class RoadPlace:
    """Where points lie along and beside the path.

    Attributes:
        along: Distance along the path [m], shape [point_count].
        lateral: Signed distance from it [m], + = left, shape [point_count].
    """

    along: Float32Array
    lateral: Float32Array


@dataclass(frozen=True)
class RoadCells:
    """Cells of a grid near the path; row = y, column = x.

    Attributes:
        row: Shape [cell_count].
        column: Shape [cell_count].
        place: Of the cells' centres.
    """

    row: LongArray
    column: LongArray
    place: RoadPlace


def find_box(line: CentreLine, track: TrackFile) -> Box:
    """Return least x, least y, greatest x, greatest y of the detailed ground [m]."""
    reach = max(track.road.width_left, track.road.width_right) + track.ground.margin
    low, high = line.position.min(axis=0) - reach, line.position.max(axis=0) + reach
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def find_road_cells(
    line: CentreLine, origin: tuple[float, float], cell: float, rows: int, columns: int, reach: float
) -> RoadCells:
    """Return the cells of a grid whose blocks come nearer to the path than `reach` [m].

    Args:
        line: The path.
        origin: x, y of the lower corner of cell [0, 0] [m].
        cell: Cell size [m].
        rows: A multiple of `BLOCK`.
        columns: A multiple of `BLOCK`.
        reach: [m]
    """
    x = origin[0] + (np.arange(columns // BLOCK) + 0.5) * cell * BLOCK
    y = origin[1] + (np.arange(rows // BLOCK) + 0.5) * cell * BLOCK
    stride = max(1, round(0.02 / SAMPLE_SPACING))
    tree = cKDTree(line.position[::stride])
    centre = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    limit = reach + cell * BLOCK
    distance, nearest = tree.query(centre, distance_upper_bound=limit)
    block = np.nonzero(distance < limit)[0]
    block_row, block_column = np.divmod(block, columns // BLOCK)
    inside = np.arange(BLOCK)
    row = np.repeat(block_row[:, None] * BLOCK + inside, BLOCK, axis=1).ravel()
    column = np.tile(block_column[:, None] * BLOCK + inside, (1, BLOCK)).ravel()
    point = np.column_stack((origin[0] + (column + 0.5) * cell, origin[1] + (row + 0.5) * cell))
    return RoadCells(row, column, locate_points(line, point, np.repeat(nearest[block] * stride, BLOCK * BLOCK)))


def locate_points(line: CentreLine, point: FloatArray, index: LongArray) -> RoadPlace:
    """Return where points lie along and beside the path: exact on straights and arcs.

    Args:
        line: The path.
        point: x, y [m], shape [point_count, 2].
        index: A sample of the path near the place nearest to each; its circle of curvature gives the rest.
    """

    def pick(values: FloatArray) -> Float32Array:
        return np.asarray(values, np.float32)[index]

    cosine, sine, curvature = pick(np.cos(line.yaw)), pick(np.sin(line.yaw)), pick(line.curvature)
    dx, dy = (np.asarray(point[:, axis] - line.position[index, axis], np.float32) for axis in (0, 1))
    ahead, left = dx * cosine + dy * sine, dy * cosine - dx * sine
    across, turned = 1.0 - curvature * left, curvature * ahead
    lateral = (2.0 * left - curvature * (ahead * ahead + left * left)) / (1.0 + np.hypot(across, turned))
    bent = np.abs(turned) > 1e-4
    rest = np.where(bent, np.arctan2(turned, across) / np.where(bent, curvature, 1.0), ahead / np.maximum(across, 0.05))
    return RoadPlace(pick(line.distance) + rest, lateral)


def build_ground(track: TrackFile, line: CentreLine) -> Ground:
    """Return heights and surfaces: surface 0 is the open ground, 1 the road."""
    box = find_box(line, track)
    surface = np.zeros((1, 1), np.uint8)
    if not track.ground.drivable:
        rows, columns = (math.ceil((box[i + 2] - box[i]) / SURFACE_CELL / BLOCK) * BLOCK for i in (1, 0))
        surface = np.zeros((rows, columns), np.uint8)
        reach = max(track.road.width_left, track.road.width_right)
        cells = find_road_cells(line, box[:2], SURFACE_CELL, rows, columns, reach)
        lateral = cells.place.lateral
        on_road = (lateral <= track.road.width_left) & (lateral >= -track.road.width_right)
        surface[cells.row[on_road], cells.column[on_road]] = 1
    return Ground(
        height_origin=box[:2],
        height_cell=1.0,
        height=np.full((1, 1), track.ground.height),
        surface_origin=box[:2],
        surface_cell=SURFACE_CELL,
        surface=surface,
        friction=np.array([track.ground.friction, track.road.friction]),
        drivable=np.array([int(track.ground.drivable), 1], np.uint8),
    )


def sample_height(ground: Ground, point: FloatArray) -> FloatArray:
    """Return the height of the ground under points x, y [m], shape [n, 2]: bilinear, border values outside."""
    rows, columns = ground.height.shape
    x = np.clip((point[:, 0] - ground.height_origin[0]) / ground.height_cell, 0.0, columns - 1.0)
    y = np.clip((point[:, 1] - ground.height_origin[1]) / ground.height_cell, 0.0, rows - 1.0)
    column, row = np.minimum(x.astype(int), max(0, columns - 2)), np.minimum(y.astype(int), max(0, rows - 2))
    right, up = np.minimum(column + 1, columns - 1), np.minimum(row + 1, rows - 1)
    fx, fy = x - column, y - row
    low = ground.height[row, column] * (1.0 - fx) + ground.height[row, right] * fx
    high = ground.height[up, column] * (1.0 - fx) + ground.height[up, right] * fx
    return np.asarray(low * (1.0 - fy) + high * fy)
