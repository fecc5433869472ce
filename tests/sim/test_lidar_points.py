"""The lidar as clients see it."""

import math

import pytest

from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import LidarSpec, SceneSpec, WorldSpec


@pytest.fixture(scope="module")
def simulator():
    simulator = Simulator(WorldSpec(scene=SceneSpec("flat"), cars_per_world=3))
    simulator.add_car()
    return simulator


def test_a_car_without_a_lidar_scans_nothing(simulator):
    assert simulator.scan_lidar(0) is None


def test_points_are_in_units_and_degrees_and_leave_the_tilt_of_all_levels_out(simulator):
    lidar = LidarSpec(
        noise=0.0, angle_down=math.radians(30.0), angle_delta=math.radians(15.0), level_count=2, position=(0, 0, 0.4)
    )
    simulator.configure_lidar(0, lidar)
    points = simulator.scan_lidar(0)
    assert len(points) == 360
    assert {point.ry for point in points} == {0.0, 15.0}
    assert [point.rx for point in points[:3]] == [0.0, 2.0, 4.0]
    height = 8.0 * (float(simulator.state.position[0, 2]) + 0.4 - float(simulator.scene.ground.height[0, 0]))
    assert points[0].d == pytest.approx(height / math.sin(math.radians(30.0)), abs=0.006)
    assert points[-1].d == pytest.approx(height / math.sin(math.radians(45.0)), abs=0.006)
    assert all(point.d == round(point.d, 2) for point in points)


def test_nothing_within_range_is_an_empty_list(simulator):
    simulator.configure_lidar(0, LidarSpec(angle_down=math.radians(-45.0)))
    assert simulator.scan_lidar(0) == []


def test_the_default_lidar_sees_a_car_ahead(simulator):
    other = simulator.add_car()
    x, y, z = simulator.state.position[0].tolist()
    simulator.move_car(other, (x + 1.0, y, z))
    simulator.configure_lidar(0, LidarSpec(noise=0.0))
    ahead = [point for point in simulator.scan_lidar(0) if point.rx == 0.0]
    assert len(ahead) == 1
    assert 6.0 < ahead[0].d < 7.0


def test_the_same_seed_gives_the_same_noise(simulator):
    simulator.configure_lidar(0, LidarSpec(angle_down=0.5))
    points = simulator.scan_lidar(0)
    assert points == simulator.scan_lidar(0)
    other = Simulator(WorldSpec(scene=SceneSpec("flat"), cars_per_world=3, seed=1), scene=simulator.scene)
    other.add_car()
    other.configure_lidar(0, LidarSpec(angle_down=0.5))
    assert [point.d for point in points] != [point.d for point in other.scan_lidar(0)]
