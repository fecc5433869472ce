"""Heights of the ground: the path's own elevation, and hills beside it, as a field of square cells."""

import math
from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray, LongArray
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.textures import make_noise
from donkeysim.world.tracks.track_file import TrackFile

# A wheelbase: a car feels hills, and not the facets, which its springs could not follow either.
HEIGHT_CELL = 0.2
"""Of the height field where the place allows it [m]."""

# 100,000 heights, of which the mesh draws a fifth as triangles where it is hilly (docs/decisions/0003).
HEIGHT_CELLS_MOST = 320
"""Per side of the height field; larger places get coarser cells."""

BLOCK = 16
"""Cells of a block, which the mesh begins with; both sides of the field are whole blocks."""

COARSER = 4
"""How many cells apart a thin plate is found; whole blocks have whole numbers of them."""

NEIGHBOURS = 48
"""Samples of the path that a point's height is a mean of."""

Box = tuple[float, float, float, float]


def raise_ground(track: TrackFile, line: CentreLine, box: Box) -> tuple[tuple[float, float], float, FloatArray]:
    """Return origin [m], cell [m] and heights [m] of the height field: 1 x 1 on level ground.

    The road takes the elevation of its path. Beside it heights of the stretches near by are weighted by the inverse
    sixth power of their distance and fade over `blend` to the open ground's, which is level or passes through known
    points; hills rise as the elevation fades; along the field's border all is level. A banked road rises from the path
    to each edge and stays so beside it.

    Args:
        track: Elevation, blend and hills.
        box: Least x, least y, greatest x, greatest y that the field covers [m].
    """
    table = track.ground
    if not table.elevation and not table.hills and not table.points and line.height is None:
        return box[:2], 1.0, np.full((1, 1), table.height)
    origin, cell, (columns, rows) = frame_field(box)
    x, y = (np.asarray(low + np.arange(count + 1) * cell) for low, count in zip(origin, (columns, rows), strict=True))
    away, mean = _find_path_height(track, line, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    beside = (away - line.widest).reshape(rows + 1, columns + 1)
    edge = np.minimum(np.minimum(x - x[0], x[-1] - x)[None, :], np.minimum(y - y[0], y[-1] - y)[:, None])
    inside = _ease(edge / min(2.0, 0.25 * float(max(x[-1] - x[0], y[-1] - y[0]))))
    near = _ease(1.0 - beside / table.blend) * inside
    height: FloatArray = np.full(near.shape, table.height)
    if table.points:
        height = height + inside * (_pass_through(table.points, x, y) - height)
    height = height + near * (mean.reshape(near.shape) - height)
    if table.hills:
        height = height + table.hills * _make_hills(table.hill_size / cell, near.shape, table.seed) * inside * (
            1.0 - near
        )
    return origin, cell, height


def frame_field(box: Box) -> tuple[tuple[float, float], float, tuple[int, int]]:
    """Return origin [m], cell [m] and cells along x and y of the smallest field of whole blocks about a box."""
    extents = (box[2] - box[0], box[3] - box[1])
    cell = max(HEIGHT_CELL, max(extents) / HEIGHT_CELLS_MOST)
    columns, rows = (BLOCK * math.ceil(extent / (BLOCK * cell)) for extent in extents)
    x, y = 0.5 * (box[0] + box[2] - columns * cell), 0.5 * (box[1] + box[3] - rows * cell)
    return (x, y), cell, (columns, rows)


def _pass_through(points: Sequence[tuple[float, float, float]], x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the heights of a thin plate bent through points [m], shape [len(y), len(x)]; found on a coarser grid.

    Args:
        points: x, y and height [m].
        x: Of columns [m].
        y: Of rows [m].
    """
    from scipy.interpolate import RBFInterpolator, RectBivariateSpline

    known = np.array(points)
    coarse_x, coarse_y = (side[:: min(COARSER, (len(side) - 1) // 4)] for side in (x, y))
    at = np.stack(np.meshgrid(coarse_x, coarse_y), axis=-1).reshape(-1, 2)
    plate = RBFInterpolator(known[:, :2], known[:, 2])(at).reshape(len(coarse_y), len(coarse_x))
    return np.asarray(RectBivariateSpline(coarse_y, coarse_x, plate)(y, x))


def _find_path_height(track: TrackFile, line: CentreLine, point: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the distance of points from the path [m] and the height of the path near them [m], shape [n] each."""
    from scipy.spatial import cKDTree

    stride = 10
    sample = line.position[::stride]
    away, index = cKDTree(sample).query(point, k=min(NEIGHBOURS, len(sample)))
    height = elevate_path(track, line, line.distance[::stride])[index]
    if line.bank is not None:
        height = height + _lean(line, point, index * stride, height)
    weight = (away + 0.02) ** -6.0
    return away[:, 0], (weight * height).sum(axis=1) / weight.sum(axis=1)


def _lean(line: CentreLine, point: FloatArray, sample: LongArray, height: FloatArray) -> FloatArray:
    """Return how much higher than the path a banked road is at points beside samples of it [m], shape of `sample`.

    Args:
        point: x, y [m], shape [n, 2].
        sample: Samples near each point, shape [n, k].
        height: Of the path there [m], shape [n, k].
    """
    bank, away = line.bank, point[:, None] - line.position[sample]
    assert bank is not None, "only a banked road leans"
    aside = away[..., 1] * np.cos(line.yaw[sample]) - away[..., 0] * np.sin(line.yaw[sample])
    to_left, to_right = aside / line.width_left[sample], -aside / line.width_right[sample]
    left, right = ((bank[sample, side] - height) for side in (0, 1))
    return np.asarray(np.clip(to_left, 0.0, 1.0) * left + np.clip(to_right, 0.0, 1.0) * right)


def elevate_path(track: TrackFile, line: CentreLine, distance: FloatArray) -> FloatArray:
    """Return the height of the path at places along it [m]: a curve without overshoot through the elevation points.

    Without such points it is what the path's file says, or level.
    """
    from scipy.interpolate import PchipInterpolator

    points = track.ground.elevation
    if not points and line.height is not None:
        return np.interp(distance, line.distance, line.height, period=line.length if line.closed else None)
    if len(points) < 2:
        return np.full(len(distance), points[0].height if points else track.ground.height)
    at = np.array([point.at for point in points]) * line.length
    height = np.array([point.height for point in points])
    if line.closed:
        at = np.concatenate((at - line.length, at, at + line.length))
        height = np.tile(height, 3)
    return np.asarray(PchipInterpolator(at, height, extrapolate=False)(np.clip(distance, at[0], at[-1])))


def _make_hills(size: float, shape: tuple[int, int], seed: int) -> FloatArray:
    """Return random hills and hollows, 0 to 1, about `size` [cell] apart."""
    side = 1 << math.ceil(math.log2(max(shape)))
    noise = make_noise(side, side, 1.6, seed, finest=0.35 * size, coarsest=1.6 * size)
    return np.asarray(np.clip(0.5 + 0.25 * noise[: shape[0], : shape[1]], 0.0, 1.0), float)


def _ease(share: FloatArray) -> FloatArray:
    """Return 0 below 0, 1 above 1, smooth in between."""
    share = np.clip(share, 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)
