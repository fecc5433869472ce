"""Batches of worlds: each runs as it would alone, begins where it is told, and its way along the path is counted."""

import math

import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.reset import Start, read_start
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import CameraSpec, LidarSpec, SceneSpec

TRACKS = ("generated_track", "flat", "generated_track")


def make(worlds, tracks=("generated_track",), **options):
    fleet = Fleet(Experiment(tuple(SceneSpec(name) for name in tracks)), worlds, **options)
    fleet.open(None)
    return fleet


def drive_recorded(fleet, rows, seeds, steps):
    """Drive worlds with actions that depend on their seed only, new episodes now and then; return what happened."""
    for row, seed in zip(rows, seeds, strict=True):
        fleet.seed(row, seed)
    fleet.begin(range(fleet.world_count), at_random=True)
    seen = {seed: [] for seed in seeds}
    for index in range(steps):
        steer, throttle = np.zeros((2, fleet.world_count))
        for row, seed in zip(rows, seeds, strict=True):
            steer[row] = 0.6 * math.sin(0.07 * index * seed)
            throttle[row] = 0.15 + 0.05 * seed
        step = fleet.advance(steer, throttle)
        fleet.simulator.render()
        for row, seed in zip(rows, seeds, strict=True):
            parts = [array[row].tobytes() for array in vars(step).values() if isinstance(array, np.ndarray)]
            parts.append(fleet.simulator.get_picture(row).tobytes())
            parts.append(repr(fleet.simulator.scan_lidar(row)).encode())
            seen[seed].append(hash(b"".join(parts)))
            if (index + seed) % 25 == 0:
                fleet.begin([row], at_random=True)
    return seen


@pytest.mark.parametrize("steps", [60, pytest.param(1000, marks=pytest.mark.soak)])
def test_three_worlds_are_the_same_in_any_batch_order_and_thread_count(steps):
    arrangements = [(3, (0, 1, 2), 1), (7, (6, 3, 1), 1), (7, (2, 6, 4), 2), (64, (63, 0, 31), 2)]
    results = []
    for worlds, rows, threads in arrangements:
        fleet = Fleet(Experiment(), worlds, worker_count=threads, look_ahead=(0.5, 1.0))
        fleet.open(CameraSpec(width=32, height=24), LidarSpec(sweep_increment=0.5))
        results.append(drive_recorded(fleet, rows, (1, 2, 3), steps))
        fleet.close()
    alone = {}
    for seed in (1, 2, 3):
        fleet = Fleet(Experiment(), 1, look_ahead=(0.5, 1.0))
        fleet.open(CameraSpec(width=32, height=24), LidarSpec(sweep_increment=0.5))
        alone |= drive_recorded(fleet, (0,), (seed,), steps)
    results.append(alone)
    assert results[0][1] != results[0][2]
    for other in results[1:]:
        assert other == results[0]


@pytest.mark.parametrize("steps", [100, pytest.param(500, marks=pytest.mark.soak)])
def test_a_snapshot_goes_on_as_it_did(steps):
    fleet = make(3, TRACKS)
    fleet.begin(range(3), at_random=True)
    push = np.full(3, 0.3)
    for _ in range(30):
        fleet.advance(0.1 * push, push)
    moment = fleet.snapshot()
    hashes = []
    for _ in range(2):
        last = [fleet.advance(0.1 * push, push) for _ in range(steps)][-1]
        hashes.append((fleet.simulator.sum_up(), last.driven.tobytes(), last.time.tobytes()))
        fleet.restore(moment)
    assert hashes[0] == hashes[1]


def test_laps_and_way_are_counted_along_the_path():
    fleet = make(1)
    simulator = fleet.simulator
    follower = PathFollower(simulator.scene, simulator.car_spec, "fast")
    step = fleet.begin([0])
    length = float(step.path_length[0])
    line = simulator.scene.path.frame.locate(*simulator.scene.start.line[0].mean(axis=0)).along
    run_up = float(line - step.along[0]) % length
    assert step.driven[0] == 0.0
    total, steps = 0.0, 0
    while step.laps[0] < 2:
        step = fleet.advance(*(np.array([asked]) for asked in follower.drive(simulator.ledger, 0)))
        total += step.progress[0]
        steps += 1
        assert steps < 2000
    assert total == pytest.approx(step.furthest[0])
    assert 0.0 <= step.furthest[0] - run_up - 2.0 * length < 0.3, "laps count from the start line"
    assert step.time[0] == pytest.approx(steps / 20.0)
    assert step.lap[0] == 3
    assert 0.4 * step.time[0] < step.lap_time[0] < 0.6 * step.time[0]


def test_a_leap_across_the_track_is_no_way_made():
    fleet = make(1)
    fleet.begin([0])
    fleet.advance(np.zeros(1), np.zeros(1))
    fleet.simulator.move_car(0, fleet.simulator.scene.path.position[60].tolist())
    step = fleet.advance(np.zeros(1), np.zeros(1))
    assert step.gain[0] == 0.0
    assert step.furthest[0] < 0.1


def test_ground_driven_again_is_no_progress():
    fleet = make(1)
    fleet.begin([0])
    furthest, sums = [], []
    for throttle in (0.4, -1.0, 0.4):
        steps = [fleet.advance(np.zeros(1), np.full(1, throttle)).progress[0] for _ in range(60)]
        sums.append(sum(steps))
        furthest.append(fleet.step.furthest[0])
        assert min(steps) >= 0.0
    assert sum(sums) == pytest.approx(fleet.step.furthest[0])
    assert furthest[1] < furthest[0] + 1.0
    assert sums[2] == pytest.approx(max(0.0, fleet.step.driven[0] - furthest[1]))


def test_a_car_that_goes_backwards_is_on_the_wrong_way():
    fleet = make(1)
    fleet.begin([0], {0: Start(5.0, yaw=math.pi)})
    for _ in range(40):
        step = fleet.advance(np.zeros(1), np.full(1, 0.2))
    assert step.wrong_way_time[0] > 1.0
    assert step.gain[0] < 0.0
    assert step.progress[0] == 0.0


def test_cars_begin_where_they_are_told():
    fleet = make(2)
    step = fleet.begin([0, 1], {1: Start(7.0, 0.1, -0.2)})
    assert step.along[1] == pytest.approx(7.0, abs=0.05)
    assert step.offset[1] == pytest.approx(0.1, abs=0.01)
    assert step.heading_error[1] == pytest.approx(-0.2, abs=0.06)
    assert np.array_equal(step.position[0], fleet.simulator.scene.start.position[0])
    length = float(step.path_length[0])
    assert fleet.begin([0], {0: Start(7.0 - length)}).along[0] == pytest.approx(7.0, abs=0.05)


def test_a_placed_car_stands_and_does_not_jump():
    fleet = make(8)
    for row in range(8):
        fleet.seed(row, row)
    step = fleet.begin(range(8), at_random=True)
    places = step.along.copy()
    assert len(set(places.round(3))) == 8
    for _ in range(20):
        step = fleet.advance(np.zeros(8), np.zeros(8))
    assert np.abs(step.driven).max() < 0.02
    assert step.upright.min() > 0.99


@pytest.mark.parametrize("options", [{"speed": 1}, {"s": "here"}, {"yaw": math.nan}, {"offset": None}])
def test_a_start_that_is_none_is_refused(options):
    with pytest.raises(SpecError, match="reset"):
        read_start(options)


def test_no_options_are_no_start():
    assert read_start(None) is None
    assert read_start({"s": 3}) == Start(3.0)
