"""Telemetry says in the original's axes and units what the state holds."""

import math

import numpy as np

from donkeysim.sim.observe import name_hit, observe_lidar
from donkeysim.world.state import HIT_CAR, HIT_NONE


def test_lidar_rows_become_units_and_degrees_clockwise():
    rows = np.array([[1.0, 0, 0], [0.12345, 45, 2]])
    points = observe_lidar(rows, math.radians(2.0), math.radians(-1.0))
    assert [(p.d, p.rx, p.ry) for p in points] == [(8.0, 0.0, 0.0), (0.99, 90.0, -2.0)]


def test_whole_degrees_are_whole_numbers_as_the_original_writes_them():
    """A node of ROS 2 takes `rx // increment` and `ry // delta` for indices, which a number with a point is not."""
    rows = np.array([[1.0, 0, 0], [1.0, 45, 2], [1.0, 1, 0]])
    angles = [(p.rx, p.ry) for p in observe_lidar(rows, math.radians(2.0), math.radians(-1.0))]
    assert repr(angles) == "[(0, 0), (90, -2), (2, 0)]"
    finer = [p.rx for p in observe_lidar(rows, math.radians(0.5), math.radians(-1.0))]
    assert repr(finer) == "[0, 22.5, 0.5]"


def test_a_hit_is_named_by_scene_and_by_car():
    names = ("terrain", "cone")
    assert name_hit(HIT_NONE, names, {}, 0) == "none"
    assert name_hit(1, names, {}, 0) == "cone"
    assert name_hit(HIT_CAR + 2, names, {6: "Ada"}, 4) == "Ada"
    assert name_hit(HIT_CAR + 2, names, {}, 4) == "car"
