"""Vectors in kernels: what numpy and SciPy say of them, and the same bits from every back end."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.backends import BACK_ENDS, on_every_back_end

from donkeysim.core import vector

RANDOM = np.random.default_rng(4)
A, B, C = (tuple(float(x) for x in RANDOM.normal(size=3)) for _ in range(3))
TURN = Rotation.from_quat(RANDOM.normal(size=4))
TABLE = np.concatenate([[0.0, 0.0], TURN.as_matrix().ravel()])[None]
"""A row with a rotation matrix by rows from column 2 on."""


@on_every_back_end
@pytest.mark.parametrize(
    ("kernel", "arguments", "expected"),
    [
        (vector.dot, (A, B), np.dot(A, B)),
        (vector.cross, (A, B), np.cross(A, B)),
        (vector.add, (A, B), np.add(A, B)),
        (vector.subtract, (A, B), np.subtract(A, B)),
        (vector.scale, (A, 0.3), 0.3 * np.array(A)),
        (vector.divide, (A, 0.3), np.array(A) / 0.3),
        (vector.add_scaled, (A, 0.3, B), np.array(A) + 0.3 * np.array(B)),
        (vector.add_cross, (A, B, C), np.array(A) + np.cross(B, C)),
        (vector.measure_length, (A,), np.linalg.norm(A)),
        (vector.solve_rows, (A, B, C, (1.0, 2.0, 3.0)), np.linalg.solve([A, B, C], [1.0, 2.0, 3.0])),
        (vector.get_vector, (TABLE, 0, 2), TURN.as_matrix()[0]),
        (vector.get_axis, (TABLE, 0, 2, 1), TURN.as_matrix()[:, 1]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_vectors_do_what_numpy_does(build, kernel, arguments, expected):
    assert build(kernel)(*arguments) == pytest.approx(expected, rel=1e-12)


@on_every_back_end
def test_a_basis_rotates_as_its_matrix_and_back(build):
    basis = build(vector.get_basis)(TABLE, 0, 2)
    turned = build(vector.rotate)(basis, A)
    assert turned == pytest.approx(TURN.apply(A), rel=1e-12)
    assert build(vector.rotate_back)(basis, turned) == pytest.approx(A, rel=1e-12)


@on_every_back_end
def test_a_product_of_quaternions_is_one_rotation_after_another(build):
    first, second = Rotation.random(2, rng=RANDOM)
    (x1, y1, z1, w1), (x2, y2, z2, w2) = first.as_quat(), second.as_quat()
    w, x, y, z = build(vector.multiply_quaternions)((w2, x2, y2, z2), (w1, x1, y1, z1))
    assert Rotation.from_quat((x, y, z, w)).as_matrix() == pytest.approx((second * first).as_matrix(), abs=1e-12)


@on_every_back_end
def test_what_is_written_into_a_row_is_read_again_and_its_neighbours_stay(build):
    table = np.full((2, 9), 7.0)
    build(vector.set_vector)(table, 1, 1, A)
    build(vector.set_quaternion)(table, 1, 4, (*B, 2.0))
    assert build(vector.get_vector)(table, 1, 1) == A
    assert build(vector.get_quaternion)(table, 1, 4) == (*B, 2.0)
    assert table[0].tolist() == [7.0] * 9
    assert table[1, [0, 8]].tolist() == [7.0, 7.0]


@on_every_back_end
def test_dividing_rounds_once(build):
    assert build(vector.divide)((1.0, 5.0, 49.0), 49.0) == (1.0 / 49.0, 5.0 / 49.0, 1.0)


def test_every_back_end_gives_the_same_bits():
    """Sums run as written: none may be fused or reordered."""
    for kernel, arguments in (
        (vector.dot, (A, B)),
        (vector.add_cross, (A, B, C)),
        (vector.rotate, ((A, B, C), B)),
        (vector.solve_rows, (A, B, C, A)),
        (vector.multiply_quaternions, ((*A, 1.0), (*B, 2.0))),
    ):
        results = {np.array(build(kernel)(*arguments)).tobytes() for build in BACK_ENDS.values()}
        assert len(results) == 1, kernel.__name__
