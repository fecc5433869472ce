"""Telemetry says in the original's axes and units what the state holds."""

import math

import numpy as np

from donkeysim.sim.observe import name_hit, observe_lidar
from donkeysim.world.state import HIT_CAR, HIT_NONE


def test_lidar_rows_become_units_and_degrees_clockwise():
    rows = np.array([[1.0, 0, 0], [0.12345, 45, 2]])
    points = observe_lidar(rows, math.radians(2.0), math.radians(-1.0))
    assert [(p.d, p.rx, p.ry) for p in points] == [(8.0, 0.0, 0.0), (0.99, 90.0, -2.0)]
    assert str(points[0].ry) in ("0.0", "-0.0")


def test_a_hit_is_named_by_scene_and_by_car():
    names = ("terrain", "cone")
    assert name_hit(HIT_NONE, names, {}, 0) == "none"
    assert name_hit(1, names, {}, 0) == "cone"
    assert name_hit(HIT_CAR + 2, names, {6: "Ada"}, 4) == "Ada"
    assert name_hit(HIT_CAR + 2, names, {}, 4) == "car"
