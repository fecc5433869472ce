"""Telemetry says in the original's axes and units what the state holds."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from donkeysim.sim.observe import name_hit, observe_lidar, rotate_to_body
from donkeysim.world.state import HIT_CAR, HIT_NONE

parts = st.floats(-1, 1)


@given(parts, parts, parts, parts, parts, parts, parts)
def test_rotating_to_the_body_is_the_inverse_rotation(w, x, y, z, a, b, c):
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if norm < 0.1:
        return
    w, x, y, z = w / norm, x / norm, y / norm, z / norm
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    assert np.allclose(rotate_to_body((w, x, y, z), (a, b, c)), matrix.T @ (a, b, c), atol=1e-12)


def test_lidar_rows_become_units_and_degrees_clockwise():
    rows = np.array([[1.0, 0, 0], [0.12345, 45, 2]])
    points = observe_lidar(rows, math.radians(2.0), math.radians(-1.0))
    assert [(p.d, p.rx, p.ry) for p in points] == [(8.0, 0.0, 0.0), (0.99, 90.0, -2.0)]
    assert str(points[0].ry) in ("0.0", "-0.0")


def test_a_hit_is_named_by_scene_and_by_car():
    class Place:
        hit_names = ("terrain", "cone")

    assert name_hit(HIT_NONE, Place, {}, 0) == "none"
    assert name_hit(1, Place, {}, 0) == "cone"
    assert name_hit(HIT_CAR + 2, Place, {6: "Ada"}, 4) == "Ada"
    assert name_hit(HIT_CAR + 2, Place, {}, 4) == "car"
