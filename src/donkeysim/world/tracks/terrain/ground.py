"""The ground as physics knows it: heights and surfaces; and where a point lies along the path."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import Float32Array, FloatArray, LongArray
from donkeysim.core.workers import work_through
from donkeysim.world.scene import Ground
from donkeysim.world.tracks.paths.path import SAMPLE_SPACING, CentreLine
from donkeysim.world.tracks.terrain.elevation import Box, raise_ground
from donkeysim.world.tracks.track_file import TrackFile

SURFACE_CELL = 0.0125
"""Of the surface map [m]."""

# 16 MB, for places of up to 51 m in the finest cells.
SURFACE_CELLS_MOST = 4096
"""Per side of the surface map; larger places get coarser cells."""

BLOCK = 8
"""Cells per side that share one search for the nearest place on the path."""

# Ten arrays of 64,000 float32 fit into a processor's cache of some megabytes.
CHUNK = 64_000
"""Cells worked on at a time, so that intermediate arrays stay small."""


@dataclass(frozen=True)
class RoadPlace:
    """Where points lie along and beside the path.

    Attributes:
        along: Distance along the path [m], shape [point_count].
        lateral: Signed distance from it [m], + = left, shape [point_count].
        left: Distance from the path to the road's left edge there [m], shape [point_count].
        right: The same on the right.
    """

    along: Float32Array
    lateral: Float32Array
    left: Float32Array
    right: Float32Array

    @property
    def beside(self) -> Float32Array:
        """How far outside the road's nearest edge [m], negative on the road, shape [point_count]."""
        return np.asarray(np.maximum(self.lateral - self.left, -self.right - self.lateral), np.float32)

    def take(self, index: LongArray) -> RoadPlace:
        """Return some of the points."""
        return RoadPlace(self.along[index], self.lateral[index], self.left[index], self.right[index])


@dataclass(frozen=True)
class CellGrid:
    """A grid of square cells; row = y, column = x.

    Attributes:
        origin: x, y of the lower corner of cell [0, 0] [m].
        cell: Side of a cell [m].
        rows: A multiple of `BLOCK`.
        columns: A multiple of `BLOCK`.
    """

    origin: tuple[float, float]
    cell: float
    rows: int
    columns: int


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
    reach = line.widest + track.ground.margin
    low, high = line.position.min(axis=0) - reach, line.position.max(axis=0) + reach
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def paint_road_cells(line: CentreLine, grid: CellGrid, reach: float, paint: Callable[[RoadCells], None]) -> None:
    """Have the cells painted whose blocks come nearer to the path than `reach` [m], nearer still where it is narrow.

    Some ten thousand cells at a time, by as many threads as there are processors: `paint` writes to its own cells only.

    Args:
        reach: Where the road is widest [m]: elsewhere as far beside its edges.
        paint: Called with cells and where they lie.
    """
    block_shape = (grid.rows // BLOCK, grid.columns // BLOCK)
    nearest = _find_nearest(line, grid.origin, grid.cell * BLOCK, block_shape, reach + grid.cell * BLOCK).ravel()
    blocks = np.nonzero(nearest >= 0)[0]
    inside = np.arange(BLOCK)
    samples = LineSamples.take(line)
    middle = (np.column_stack(np.divmod(blocks, block_shape[1])[::-1]) + 0.5) * (BLOCK * grid.cell) + grid.origin
    beside = locate_points(line, middle, nearest[blocks], samples).beside
    blocks = blocks[beside < reach - line.widest + grid.cell * BLOCK]

    def work(part: LongArray) -> None:
        block_row, block_column = np.divmod(part, block_shape[1])
        row = np.repeat(block_row[:, None] * BLOCK + inside, BLOCK, axis=1).ravel()
        column = np.tile(block_column[:, None] * BLOCK + inside, (1, BLOCK)).ravel()
        point = np.column_stack((grid.origin[0] + (column + 0.5) * grid.cell, grid.origin[1] + (row + 0.5) * grid.cell))
        paint(RoadCells(row, column, locate_points(line, point, np.repeat(nearest[part], BLOCK * BLOCK), samples)))

    parts = np.array_split(blocks, max(1, len(blocks) * BLOCK * BLOCK // CHUNK))
    work_through(work, parts)


def _find_nearest(
    line: CentreLine, origin: tuple[float, float], cell: float, shape: tuple[int, int], reach: float
) -> LongArray:
    """Return the sample of the path nearest to the centre of each cell, -1 beyond `reach` [m], shape [rows, columns].

    Every few centimetres the path stamps its number on the cells around, where it is the nearest so far.
    """
    x = origin[0] + (np.arange(shape[1]) + 0.5) * cell
    y = origin[1] + (np.arange(shape[0]) + 0.5) * cell
    best = np.full(shape, reach * reach)
    nearest = np.full(shape, -1, np.int64)
    taken = np.arange(0, len(line.distance), max(1, round(0.5 * cell / SAMPLE_SPACING)))
    point = line.position[taken, :2]
    first_row, end_row = (np.searchsorted(y, point[:, 1] + side).tolist() for side in (-reach, reach))
    first_column, end_column = (np.searchsorted(x, point[:, 0] + side).tolist() for side in (-reach, reach))
    for index, (sample, (px, py)) in enumerate(zip(taken.tolist(), point.tolist(), strict=True)):
        rows = slice(first_row[index], end_row[index])
        columns = slice(first_column[index], end_column[index])
        away = (x[None, columns] - px) ** 2 + (y[rows, None] - py) ** 2
        closest = best[rows, columns]
        nearer = away < closest
        closest[nearer] = away[nearer]
        nearest[rows, columns][nearer] = sample
    return nearest


@dataclass(frozen=True)
class LineSamples:
    """Samples of a path as `locate_points` reads them, shape [sample_count] each."""

    cosine: Float32Array
    sine: Float32Array
    curvature: Float32Array
    distance: Float32Array
    left: Float32Array
    right: Float32Array

    @classmethod
    def take(cls, line: CentreLine) -> LineSamples:
        """Return those of a path."""
        arrays = (np.cos(line.yaw), np.sin(line.yaw), line.curvature, line.distance, line.width_left, line.width_right)
        return cls(*(np.asarray(array, np.float32) for array in arrays))


def locate_points(line: CentreLine, point: FloatArray, index: LongArray, samples: LineSamples) -> RoadPlace:
    """Return where points lie along and beside the path: exact on straights and arcs.

    Args:
        point: x, y [m], shape [point_count, 2].
        index: A sample of the path near the place nearest to each; its circle of curvature gives the rest.
    """
    cosine, sine, curvature = samples.cosine[index], samples.sine[index], samples.curvature[index]
    dx, dy = (np.asarray(point[:, axis] - line.position[index, axis], np.float32) for axis in (0, 1))
    ahead, left = dx * cosine + dy * sine, dy * cosine - dx * sine
    across, turned = 1.0 - curvature * left, curvature * ahead
    lateral = (2.0 * left - curvature * (ahead * ahead + left * left)) / (1.0 + np.hypot(across, turned))
    bent = np.abs(turned) > 1e-4
    rest = np.where(bent, np.arctan2(turned, across) / np.where(bent, curvature, 1.0), ahead / np.maximum(across, 0.05))
    along = samples.distance[index] + rest
    count = len(samples.distance)
    beside = (along * np.float32(count / line.length) + 0.5).astype(
        np.int32
    )  # samples lie evenly, to a few centimetres
    beside = beside % count if line.closed else np.clip(beside, 0, count - 1)
    return RoadPlace(along, lateral, samples.left[beside], samples.right[beside])


def build_ground(track: TrackFile, line: CentreLine) -> Ground:
    """Return heights and surfaces: surface 0 is the open ground, 1 the road."""
    box = find_box(line, track)
    surface, surface_cell = np.zeros((1, 1), np.uint8), SURFACE_CELL
    if not track.ground.drivable:
        while max(box[2] - box[0], box[3] - box[1]) > SURFACE_CELLS_MOST * surface_cell:
            surface_cell *= 2.0
        rows, columns = (math.ceil((box[i + 2] - box[i]) / surface_cell / BLOCK) * BLOCK for i in (1, 0))
        surface = np.zeros((rows, columns), np.uint8)

        def mark(cells: RoadCells) -> None:
            surface[cells.row, cells.column] = cells.place.beside <= 0.0

        paint_road_cells(line, CellGrid(box[:2], surface_cell, rows, columns), line.widest, mark)
    origin, cell, height = raise_ground(track, line, box)
    return Ground(
        height_origin=origin,
        height_cell=cell,
        height=height,
        surface_origin=box[:2],
        surface_cell=surface_cell,
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
