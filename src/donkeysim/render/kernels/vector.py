"""Vectors of three numbers as tuples: a table's columns are read into one, and products are written once.

They are copied into their callers, so that in pictures products and sums may fuse; those of `core.vector` never do.
"""

import numpy as np

from donkeysim.core.kernel import inner_kernel
from donkeysim.render.kernels.layout import RECORD


@inner_kernel(copied=True)
def round_down(value):
    """Return the greatest 32-bit whole number that a number is not below."""
    # `math.floor` gives 64 bits, for which there are no vectors; compilers for GPUs have no `np.floor` of a number.
    whole = np.int32(value)
    return np.int32(whole - np.int32(1)) if value < np.float32(whole) else whole


@inner_kernel(copied=True)
def read_vector(row, column):
    """Return three neighbouring columns of a row."""
    return row[column], row[column + 1], row[column + 2]


@inner_kernel(copied=True)
def read_planes(record):
    """Return 1/w, u/w and v/w of a triangle's record, each per column, per row and at the first pixel."""
    return read_vector(record, RECORD.near), read_vector(record, RECORD.u), read_vector(record, RECORD.v)


@inner_kernel(copied=True)
def read_column(row, column):
    """Return a column of a rotation whose rows lie side by side in a row of a table; `column`: that of its first."""
    return row[column], row[column + 3], row[column + 6]


@inner_kernel(copied=True)
def dot(a, b):
    """Return the product of two vectors, summed from x to z."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner_kernel(copied=True)
def subtract(a, b):
    """Return the vector from `b` to `a`."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inner_kernel(copied=True)
def make_rows(quaternion):
    """Return the three rows of the rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
