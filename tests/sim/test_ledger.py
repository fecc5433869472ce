"""The ledger's rows of cars on their paths: offsets, headings, lengths, widths, the path ahead; what frames add up."""

import itertools
import math

import numpy as np
import pytest

from donkeysim.core.frames import yaw_to_quaternion
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

DISTANCES = (0.0, 0.3, 1.0, 4.0, 30.0)


@pytest.fixture(scope="module")
def simulator():
    places = (SceneSpec("generated_track"), SceneSpec("flat"))
    made = Simulator(WorldSpec(scene=places[0], more_scenes=places[1:], world_count=2), look_ahead=DISTANCES)
    made.add_car(0)
    made.add_car(1)
    return made


def put(simulator, car, position, yaw):
    simulator.place_car(car, position, yaw_to_quaternion(yaw))
    return simulator.ledger


def walk(path, along):
    """The point `along` metres after node 0 by the definition: whole segments, then a share of one."""
    nodes = [*path.position[:, :2], path.position[0, :2]]
    lengths = [math.dist(a, b) for a, b in itertools.pairwise(nodes)]
    along %= sum(lengths)
    for index, length in enumerate(lengths):
        if along <= length:
            return nodes[index] + (nodes[index + 1] - nodes[index]) * along / length
        along -= length
    raise AssertionError


def test_a_car_beside_the_path_reads_its_offset_heading_and_length(simulator):
    path = simulator.scene.path
    for node in (0, 1, 30, 77, 107):
        here, there = path.position[node], path.position[(node + 1) % len(path.position)]
        step = there - here
        yaw = math.atan2(step[1], step[0])
        middle = here + 0.5 * step
        aside = 0.1 * np.array([-math.sin(yaw), math.cos(yaw), 0.0])
        ledger = put(simulator, 0, tuple(middle + aside), yaw + 0.2)
        assert ledger.offset[0] == pytest.approx(0.1, abs=1e-6)
        askew = 15.0 if node == 107 else 0.0
        assert ledger.heading_error[0] == pytest.approx(0.2, abs=0.06 + math.radians(askew)), "a mean over neighbours"
        before = sum(
            math.dist(a, b) for a, b in zip(path.position[:node, :2], path.position[1 : node + 1, :2], strict=True)
        )
        assert ledger.along[0] == pytest.approx(before + 0.5 * math.hypot(step[0], step[1]), abs=1e-6)
        assert ledger.upright[0] == pytest.approx(1.0)
        assert ledger.width_left[0] == pytest.approx(0.925, abs=0.01)


def test_points_ahead_are_where_one_gets_by_walking_along_the_path(simulator):
    path = simulator.scene.path
    for node in (0, 50, 106):
        x, y, z = path.position[node]
        yaw = 1.3
        ledger = put(simulator, 0, (x, y, z), yaw)
        for point, distance in zip(ledger.ahead[0], DISTANCES, strict=True):
            there = walk(path, ledger.along[0] + distance) - (x, y)
            turned = (
                there[0] * math.cos(yaw) + there[1] * math.sin(yaw),
                there[1] * math.cos(yaw) - there[0] * math.sin(yaw),
            )
            assert point == pytest.approx(turned, abs=1e-6)


def test_an_open_path_ends_where_it_ends(simulator):
    path = simulator.scenes[1].path
    x, y, z = path.position[-2]
    ledger = put(simulator, 1, (x, y, z), 0.0)
    left = math.dist(path.position[-1, :2], (x, y))
    assert ledger.ahead[1, -1] == pytest.approx((left, 0.0))
    assert ledger.path_length[1] == pytest.approx(100.0)
    assert ledger.width_right[1] == 50.0


def test_speeds_are_along_and_across_the_nose(simulator):
    simulator.state.velocity[1] = (-0.5, 2.0, 0.0)
    simulator.state.angular_velocity[1] = (0.0, 0.0, 0.7)
    simulator.move_car(1, (50.0, 3.0, 0.07), yaw_to_quaternion(math.pi / 2))
    ledger = simulator.ledger
    assert ledger.forward_speed[1] == pytest.approx(2.0)
    assert ledger.left_speed[1] == pytest.approx(0.5)
    assert ledger.yaw_rate[1] == 0.7
    assert ledger.heading_error[1] == pytest.approx(math.pi / 2)


def test_a_car_on_its_roof_is_not_upright(simulator):
    simulator.place_car(1, (50.0, 3.0, 0.07), (0.0, 1.0, 0.0, 0.0))
    assert simulator.ledger.upright[1] == pytest.approx(-1.0)
