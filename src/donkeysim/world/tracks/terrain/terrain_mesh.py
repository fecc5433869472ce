"""A height field as few triangles: halved where it bends, whole where it is flat.

The triangles are right-angled and each is halved at the middle of its longest side (Evans, Kirkpatrick, Townsend,
"Right-triangulated irregular networks", Algorithmica 30, 2001). A middle is taken by both triangles at that side or by
none, so that no gap opens.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray, LongArray


def triangulate_field(height: FloatArray, tolerance: FloatArray, block: int) -> tuple[LongArray, LongArray]:
    """Return the vertices used, as rows and columns of the field, and triangles of them, counter-clockwise from above.

    Args:
        height: [m], shape [rows + 1, columns + 1], both multiples of `block`.
        tolerance: How far the triangles may lie off each point [m], same shape.
        block: Cells per side of the squares that are halved, a power of two.

    Returns:
        Vertices (row, column), shape [vertex_count, 2], and triangles, shape [triangle_count, 3].
    """
    needed = find_needed(height, tolerance, block)
    triangles = _list_blocks(height.shape, block)
    done = []
    while len(triangles):
        first, second = triangles[:, 0], triangles[:, 1]
        middle = (first + second) // 2
        long = np.abs(first - second).max(axis=1) > 1
        split = long & needed[middle[:, 0], middle[:, 1]]
        done.append(triangles[~split])
        apex, first, second, middle = triangles[split, 2], first[split], second[split], middle[split]
        triangles = np.concatenate((np.stack((apex, first, middle), 1), np.stack((second, apex, middle), 1)))
    corner = np.concatenate(done)
    columns = height.shape[1]
    number = corner[:, :, 0] * columns + corner[:, :, 1]
    used, index = np.unique(number, return_inverse=True)
    return np.column_stack(np.divmod(used, columns)), index.reshape(-1, 3)


def find_needed(height: FloatArray, tolerance: FloatArray, block: int) -> BoolArray:
    """Return which points must be vertices, so that every point lies within its tolerance, same shape as `height`.

    A point is needed when it is too far off the middle of the side that it halves, or when one further down is.
    """
    error = np.zeros_like(height)
    rows, columns = (np.arange(side) for side in height.shape)
    half = 1
    while 2 * half <= block:
        step = 2 * half
        whole, middle = (rows[::step], columns[::step]), (rows[half::step], columns[half::step])
        diagonals = [(a, b) for a in (-half // 2, half // 2) for b in (-half // 2, half // 2)] if half > 1 else []
        sides = [(half, 0), (-half, 0), (0, half), (0, -half)]
        # The sides of squares of `step` cells, whose halves are the diagonals of smaller squares; then the diagonals.
        for at, reach in (((whole[0], middle[1]), (0, half)), ((middle[0], whole[1]), (half, 0))):
            own = _measure_bend(height, tolerance, at, reach)
            error[np.ix_(*at)] = np.maximum(own, _gather_worst(error, at, diagonals))
        rising = (np.arange(len(middle[0]))[:, None] + np.arange(len(middle[1]))) % 2 == 0
        across = [_measure_bend(height, tolerance, middle, reach) for reach in ((half, half), (half, -half))]
        error[np.ix_(*middle)] = np.maximum(np.where(rising, *across), _gather_worst(error, middle, sides))
        half = step
    return np.asarray(error > 1.0)


def _measure_bend(
    height: FloatArray, tolerance: FloatArray, at: tuple[LongArray, LongArray], reach: tuple[int, int]
) -> FloatArray:
    """Return how far points lie off the mean of the two that lie `reach` rows and columns away [tolerance]."""
    one, two = (np.ix_(at[0] + sign * reach[0], at[1] + sign * reach[1]) for sign in (-1, 1))
    here = np.ix_(*at)
    return np.asarray(np.abs(height[here] - 0.5 * (height[one] + height[two])) / tolerance[here])


def _gather_worst(
    error: FloatArray, at: tuple[LongArray, LongArray], offsets: list[tuple[int, int]]
) -> FloatArray | float:
    """Return the greatest error of the points that lie `offsets` rows and columns away, 0 beyond the field."""
    worst: FloatArray | float = 0.0
    for row, column in offsets:
        r, c = at[0] + row, at[1] + column
        inside = ((r >= 0) & (r < error.shape[0]))[:, None] & ((c >= 0) & (c < error.shape[1]))
        found = error[np.ix_(np.clip(r, 0, error.shape[0] - 1), np.clip(c, 0, error.shape[1] - 1))]
        worst = np.maximum(worst, np.where(inside, found, 0.0))
    return worst


def _list_blocks(shape: tuple[int, ...], block: int) -> LongArray:
    """Return the two triangles of each block: ends of the diagonal, then the right angle, shape [n, 3, 2]."""
    row, column = np.meshgrid(np.arange(0, shape[0] - 1, block), np.arange(0, shape[1] - 1, block), indexing="ij")
    low = np.stack((row.ravel(), column.ravel()), 1)
    odd = ((low // block).sum(axis=1) % 2)[:, None]
    right, up, far = (low + np.array(step) for step in ((0, block), (block, 0), (block, block)))
    first, second = np.where(odd, right, low), np.where(odd, up, far)
    return np.concatenate(
        (np.stack((first, second, np.where(odd, low, up)), 1), np.stack((second, first, np.where(odd, far, right)), 1))
    )
