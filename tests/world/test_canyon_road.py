"""canyon_road against what recordings of the original's mountain_track say."""

import csv

import numpy as np
import pytest
from shapely import LineString, Point, STRtree, affinity, box

from donkeysim.core.frames import position_to_units
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.terrain.ground import sample_height

U = 8.0
HALF_CAR = 0.086
"""Half the width of a car [m]: so far a wall stands from where its middle can go."""
WALLS = {"nurbsToPoly1", "nurbsToPoly2", "nurbsToPoly3"}
NODES_IN_UNITS = {0: (53.674, 50.298), 100: (-10.830, 59.668), 249: (53.656, 52.280)}
"""The original's x and z of some nodes [U]."""


@pytest.fixture(scope="module")
def scene():
    return load_scene(SceneSpec("canyon_road"))


@pytest.fixture(scope="module")
def recorded():
    """Columns of the package's list."""
    file = find_track(SceneSpec("canyon_road")).parent / "lines" / "canyon_road.csv"
    rows = csv.DictReader(line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    table = [{name: float(value) for name, value in row.items()} for row in rows]
    return {name: np.array([row[name] for row in table]) for name in table[0]}


@pytest.fixture(scope="module")
def walls(scene):
    """Outlines of all walls, seen from above."""
    rows = zip(
        scene.colliders.centre, scene.colliders.half_size, scene.colliders.yaw, scene.colliders.name, strict=True
    )
    outlines = []
    for centre, half, yaw, name in rows:
        if scene.hit_names[name] in WALLS:
            block = affinity.rotate(box(-half[0], -half[1], half[0], half[1]), yaw, (0, 0), use_radians=True)
            outlines.append(affinity.translate(block, *centre[:2]))
    return outlines


def test_nodes_are_the_recorded_ones(scene, recorded):
    assert scene.path.position[:, :2] == pytest.approx(np.column_stack((recorded["x_m"], recorded["y_m"])), abs=1e-9)
    assert np.linalg.norm(scene.path.middle - scene.path.position[:, :2], axis=1).max() < 0.01
    for node, place in NODES_IN_UNITS.items():
        x, _, z = position_to_units(tuple(scene.path.position[node]))
        assert (x, z) == pytest.approx(place, abs=0.003)


def test_a_client_is_told_the_recorded_start():
    simulator = Simulator(WorldSpec(SceneSpec("canyon_road")))
    simulator.add_car()
    seen = simulator.observe_telemetry(0)
    simulator.close()
    assert (seen.totalNodes, seen.activeNode) in ((250, 249), (250, 0))  # the nearest in space: heights decide
    assert seen.cte == pytest.approx(4.36, abs=0.02)
    assert seen.yaw == pytest.approx(180.0, abs=1e-3)
    assert (seen.pos_x, seen.pos_z) == pytest.approx((49.31 / U, 51.17 / U), abs=1e-3)
    assert seen.pos_y == pytest.approx(5.22 / U, abs=0.002)


def test_the_ground_is_as_high_as_recorded_but_for_single_points_far_too_low(scene, recorded):
    ground = sample_height(scene.ground, scene.path.position[:, :2])
    assert ground == pytest.approx(recorded["z_m"], abs=0.01)
    away = ground - recorded["z_measured_m"]
    assert np.median(np.abs(away)) < 0.01
    assert np.mean(np.abs(away) < 0.1) > 0.93
    assert away.max() > 0.3
    assert away.min() > -0.12, "nothing is cut off that stands above"


def test_no_slope_is_steeper_than_the_recorded(scene):
    node = np.vstack((scene.path.position, scene.path.position[:1]))
    step = np.diff(node, axis=0)
    slope = step[:, 2] / np.hypot(step[:, 0], step[:, 1])
    assert np.abs(slope).max() < 0.31
    assert np.ptp(node[:, 2]) == pytest.approx(0.78, abs=0.02)


@pytest.mark.parametrize(("side", "name"), [(1.0, "left"), (-1.0, "right")])
def test_a_cars_middle_reaches_as_far_as_recorded(scene, recorded, walls, side, name):
    """A ray from each node across the road meets a wall half a car's width beyond the recorded reach."""
    middle = scene.path.middle
    ahead = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    left = np.column_stack((-ahead[:, 1], ahead[:, 0])) / np.linalg.norm(ahead, axis=1)[:, None]
    tree, free = STRtree(walls), []
    for place, across in zip(middle, side * left, strict=True):
        ray = LineString([place, place + 3.0 * across])
        met = [walls[index] for index in tree.query(ray, predicate="intersects")]
        assert met, f"no wall at {place}"
        free.append(
            min(
                wall.distance(Point(place))
                if wall.contains(Point(place))
                else wall.intersection(ray).distance(Point(place))
                for wall in met
            )
            - HALF_CAR
        )
    assert np.array(free) == pytest.approx(recorded[f"w_{name}_m"], abs=0.06)
    assert np.median(np.abs(np.array(free) - recorded[f"w_{name}_measured_m"])) < 0.04


def test_walls_have_the_originals_names(scene):
    assert set(scene.hit_names) >= WALLS
    assert "cliff" not in scene.hit_names


def test_a_car_that_runs_into_a_wall_is_told_its_name():
    simulator = Simulator(WorldSpec(SceneSpec("canyon_road")))
    car = simulator.add_car()
    simulator.control.brake[car], simulator.control.throttle[car] = 0.0, 0.4
    simulator.control.steer[car] = -1.0
    told = set()
    for _ in range(200):
        simulator.step(24)
        told.add(simulator.observe_telemetry(car).hit)
    simulator.close()
    assert "nurbsToPoly2" in told
