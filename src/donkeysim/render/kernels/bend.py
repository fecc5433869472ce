"""Where a lens takes a pixel from: a fisheye by its formula, see `donkeysim.render.warp`; a real one by a table."""

import numpy as np

from donkeysim.core.kernel import inner_kernel


@inner_kernel(loose=True, merged=True)
def find_source(column, row, width, height, strength):
    """Return where a fisheye takes a pixel from: column and row, not whole; see `donkeysim.render.warp`."""
    return bend_place(np.float32(column), np.float32(row), width, height, strength)


@inner_kernel(loose=True, merged=True)
def find_bent(column, row, width, height, strength, source):
    """Return where a lens, and a fisheye before it, take a pixel from, as `find_source`; and whether from anywhere."""
    px, py = source[row, column, 0], source[row, column, 1]
    is_seen = px >= np.float32(0.0)
    if strength[0] != np.float32(0.0) or strength[1] != np.float32(0.0):
        px, py = bend_place(px, py, width, height, strength)
    return px, py, is_seen


@inner_kernel(loose=True, merged=True)
def bend_place(column, row, width, height, strength):
    """Return what `find_source` does, of a place between pixels."""
    strength_x, strength_y = strength
    one = np.float32(1.0)
    half = np.float32(0.5)
    y = (row + half) / np.float32(height) * np.float32(2.0) - one
    x = (column + half) / np.float32(width) * np.float32(2.0) - one
    from_x = x - np.float32(2.0) * (one - y * y) * strength_y * x
    from_y = y - np.float32(2.0) * (one - x * x) * strength_x * y
    px = min(max((from_x + one) * half * np.float32(width) - half, np.float32(0.0)), np.float32(width - 1))
    py = min(max((from_y + one) * half * np.float32(height) - half, np.float32(0.0)), np.float32(height - 1))
    return px, py


@inner_kernel(loose=True, merged=True)
def find_source_rows(band, height, strength_x):
    """Return first row and end of those that a fisheye takes a band of rows from; see `find_source`."""
    one, half = np.float32(1.0), np.float32(0.5)
    low, high = np.float32(2.0), np.float32(-2.0)
    # Linear in the row, and between what it is at the middle column and at the edges: so its ends are at the ends.
    for row in (band[0], band[1] - 1):
        y = (np.float32(np.int32(row)) + half) / np.float32(np.int32(height)) * np.float32(2.0) - one
        middle = y - np.float32(2.0) * strength_x * y
        low, high = min(low, min(y, middle)), max(high, max(y, middle))
    scale = half * np.float32(np.int32(height))
    last = np.float32(np.int32(height - 1))
    first = np.int64(min(max((low + one) * scale - half, np.float32(0.0)), last))
    end = np.int64(min(max((high + one) * scale - half, np.float32(0.0)), last))
    # One more on both sides, as rows are blended, and for what rounding may differ by.
    return max(first - 1, 0), min(end + 3, height)


@inner_kernel(loose=True, merged=True)
def find_sample(column, row, width, height, factor, strength, source):
    """Return column and row of the sample nearest to what a pixel shows: its own, or where a lens takes it from.

    Column -1: nowhere. `width` and `height` are of what was drawn; `source`: see `CameraTables`.
    """
    if source.shape[0] > 0:
        px, py, is_seen = find_bent(column, row, width, height, strength, source)
        if not is_seen:
            return np.int64(-1), np.int64(-1)
        return np.int64(px + np.float32(0.5)) * factor, np.int64(py + np.float32(0.5)) * factor
    if strength[0] == np.float32(0.0) and strength[1] == np.float32(0.0):
        return column * factor, row * factor
    px, py = find_source(column, row, width, height, strength)
    half = np.float32(0.5)
    return np.int64(px + half) * factor, np.int64(py + half) * factor
