"""Vectors of three floats as tuples, and rows of tables that hold them: the vocabulary of strict kernels.

A basis is a tuple of three axes; the basis of a body is the columns of its rotation matrix. Tables hold that matrix by
rows, nine columns wide. Every sum runs from left to right as written: another order would change the last bits of every
drive, and recorded drives would no longer be repeated.
"""

import math
from typing import TypeAlias

from donkeysim.core.frames import Quaternion, Vector
from donkeysim.core.kernel import inner_kernel
from donkeysim.core.types import FloatArray

Basis: TypeAlias = tuple[Vector, Vector, Vector]

ZERO = (0.0, 0.0, 0.0)


@inner_kernel
def get_vector(table: FloatArray, row: int, column: int) -> Vector:
    """Return the three numbers of a row that begin at a column."""
    return table[row, column], table[row, column + 1], table[row, column + 2]


@inner_kernel
def set_vector(table: FloatArray, row: int, column: int, vector: Vector) -> None:
    """Write three numbers into a row, beginning at a column."""
    table[row, column], table[row, column + 1], table[row, column + 2] = vector


@inner_kernel
def get_quaternion(table: FloatArray, row: int, column: int) -> Quaternion:
    """Return the (w, x, y, z) of a row that begins at a column."""
    return table[row, column], table[row, column + 1], table[row, column + 2], table[row, column + 3]


@inner_kernel
def set_quaternion(table: FloatArray, row: int, column: int, quaternion: Quaternion) -> None:
    """Write (w, x, y, z) into a row, beginning at a column."""
    table[row, column], table[row, column + 1], table[row, column + 2], table[row, column + 3] = quaternion


@inner_kernel
def get_axis(table: FloatArray, row: int, column: int, axis: int) -> Vector:
    """Return one axis of the matrix that begins at a column."""
    return table[row, column + axis], table[row, column + 3 + axis], table[row, column + 6 + axis]


@inner_kernel
def get_basis(table: FloatArray, row: int, column: int) -> Basis:
    """Return the three axes of the matrix that begins at a column."""
    return get_axis(table, row, column, 0), get_axis(table, row, column, 1), get_axis(table, row, column, 2)


@inner_kernel
def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner_kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner_kernel
def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inner_kernel
def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inner_kernel
def scale(a: Vector, factor: float) -> Vector:
    """Return a times a number."""
    return a[0] * factor, a[1] * factor, a[2] * factor


@inner_kernel
def divide(a: Vector, divisor: float) -> Vector:
    """Return a by a number; not its product with the reciprocal, which rounds twice."""
    return a[0] / divisor, a[1] / divisor, a[2] / divisor


@inner_kernel
def add_scaled(a: Vector, factor: float, b: Vector) -> Vector:
    """Return a + factor b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@inner_kernel
def add_cross(a: Vector, b: Vector, c: Vector) -> Vector:
    """Return a + b x c: the velocity of a point at arm c, or a torque with that of a force c at arm b added."""
    return a[0] + b[1] * c[2] - b[2] * c[1], a[1] + b[2] * c[0] - b[0] * c[2], a[2] + b[0] * c[1] - b[1] * c[0]


@inner_kernel
def measure_length(a: Vector) -> float:
    """Return the length of a vector."""
    return math.sqrt(dot(a, a))


@inner_kernel
def rotate(basis: Basis, a: Vector) -> Vector:
    """Return a vector given along the axes of a basis in the frame that those axes are given in."""
    return add_scaled(add_scaled(scale(basis[0], a[0]), a[1], basis[1]), a[2], basis[2])


@inner_kernel
def rotate_back(basis: Basis, a: Vector) -> Vector:
    """Return the components of a vector along the axes of a basis."""
    return dot(basis[0], a), dot(basis[1], a), dot(basis[2], a)


@inner_kernel
def solve_rows(a: Vector, b: Vector, c: Vector, right: Vector) -> Vector:
    """Return the x with a·x, b·x, c·x = right, by Cramer's rule."""
    first = cross(b, c)
    return scale(rotate((first, cross(c, a), cross(a, b)), right), 1.0 / dot(a, first))


@inner_kernel
def multiply_quaternions(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the rotation b followed by the rotation a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )
