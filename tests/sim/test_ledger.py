"""The ledger's rows of cars on their paths: offsets, headings, lengths, widths, the path ahead; what frames add up."""

import itertools
import math

import numpy as np
import pytest

from donkeysim.core.frames import yaw_to_quaternion
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.ledger import EVENT_BACK_ON_ROAD, EVENT_LEFT_ROAD
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
        assert ledger.width_left[0] == pytest.approx(0.875, abs=0.01)


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


def roll(simulator, along, offset=0.0, yaw=0.0, speed=1.5, frames=10):
    """Put car 0 beside the path, rolling; return the ledger's gain and progress of each frame."""
    simulator.apply(commands.PutOnPath([0], [along], [offset], [yaw], [speed]))
    rows = []
    for _ in range(frames):
        simulator.step()
        rows.append((float(simulator.ledger.gain[0]), float(simulator.ledger.progress[0])))
    return np.array(rows)


def test_the_way_made_adds_up(simulator):
    gain, progress = roll(simulator, 2.0).T
    ledger = simulator.ledger
    assert gain.sum() == pytest.approx(ledger.along[0] - 2.0) == pytest.approx(ledger.driven[0])
    assert 0.5 < gain.sum() < 0.75
    assert np.array_equal(gain, progress)
    assert ledger.furthest[0] == ledger.driven[0]


def test_way_made_backwards_is_taken_off_and_made_again_is_no_progress(simulator):
    ledger = simulator.ledger
    roll(simulator, 2.0)
    furthest, simulator.state.velocity[0, :2] = float(ledger.furthest[0]), 0.0
    simulator.drive_car(0, throttle=-0.4)
    while ledger.driven[0] > 0.3:
        simulator.step()
        assert ledger.furthest[0] >= furthest > 0.4
    assert (ledger.gain[0] < 0.0, ledger.progress[0]) == (True, 0.0)
    simulator.drive_car(0, throttle=0.4)
    again = 0.0
    while ledger.driven[0] < furthest + 0.2:
        simulator.step()
        again += float(ledger.progress[0])
    assert again == pytest.approx(ledger.furthest[0] - furthest, abs=0.1)
    simulator.drive_car(0, throttle=0.0)


def test_a_way_goes_on_over_node_0_but_a_leap_counts_nothing(simulator):
    ledger, length = simulator.ledger, float(simulator.ledger.path_length[0])
    gain, _ = roll(simulator, length - 0.3).T
    assert ledger.along[0] < 1.0
    assert gain.min() > 0.0
    before = float(ledger.driven[0])
    x, y, z = simulator.scene.path.position[60]
    simulator.move_car(0, (x, y, z))
    simulator.step()
    assert ledger.driven[0] == pytest.approx(before, abs=0.1)


def test_standing_and_going_against_the_path_are_timed(simulator):
    ledger = simulator.ledger
    roll(simulator, 2.0, yaw=math.pi, frames=4)
    assert ledger.wrong_way_time[0] == pytest.approx(0.2)
    assert (ledger.still_time[0], ledger.furthest[0]) == (0.0, 0.0)
    roll(simulator, 2.0, speed=0.0, frames=4)
    assert ledger.still_time[0] == pytest.approx(0.2)
    assert ledger.wrong_way_time[0] == 0.0


def test_leaving_the_road_and_coming_back_are_told_and_timed(simulator):
    ledger, path = simulator.ledger, simulator.scene.path
    roll(simulator, 2.0, speed=0.0, frames=2)
    frame = path.frame
    told = []
    for offset, frames in ((2.0, 3), (0.0, 2)):
        position, turn = frame.place(2.0, offset)
        simulator.move_car(0, position, turn)
        for _ in range(frames):
            simulator.step()
            told += [(event.kind, event.value) for event in simulator.list_events() if event.car == 0]
        assert ledger.off_road_time[0] == pytest.approx(0.15 if offset else 0.0)
        assert ledger.on_road[0] == (offset == 0.0)
    assert told == [(EVENT_LEFT_ROAD, pytest.approx(2.0, abs=0.05)), (EVENT_BACK_ON_ROAD, pytest.approx(0.15))]
