"""Rewards and ends: each judges what it says, by name or as a function of one's own."""

import math
from dataclasses import replace

import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.reset import Start
from donkeysim.envs.tasks import ENDS, REWARDS, make_original_reward, make_task
from donkeysim.world.experiment import Experiment


@pytest.fixture(scope="module")
def fleet():
    made = Fleet(Experiment(), 3)
    made.open(None)
    return made


@pytest.fixture
def step(fleet):
    """Three cars that have driven a while: on the path, beside the road, backwards."""
    fleet.begin(range(3), {0: Start(1.0), 1: Start(1.0, offset=-0.6), 2: Start(4.0, yaw=math.pi)})
    for _ in range(40):
        step = fleet.advance(np.zeros(3), np.full(3, 0.2))
    return step


def test_every_end_names_the_car_it_is_about(step):
    over = {name: end(step).tolist() for name, end in ENDS.items()}
    assert over["off_road"] == [False, True, False]
    assert over["wrong_way"] == [False, False, True]
    assert over["hit"] == over["tilted"] == over["standstill"] == [False, False, False]
    hit = replace(step, hit=np.array([-1, 3, -1], np.int32))
    assert ENDS["hit"](hit).tolist() == [False, True, False]
    assert ENDS["tilted"](replace(step, upright=np.array([1.0, 0.4, -1.0]))).tolist() == [False, True, True]
    far = replace(step, active_offset=np.array([0.9, -1.1, 2.1]))
    assert ENDS["original"](far).tolist() == [False, True, False]


def test_who_stands_for_long_is_told(fleet):
    fleet.begin(range(3))
    for _ in range(79):
        assert not ENDS["standstill"](fleet.advance(np.zeros(3), np.zeros(3))).any()
    for _ in range(2):
        step = fleet.advance(np.zeros(3), np.zeros(3))
    assert ENDS["standstill"](step).all()


def test_progress_pays_new_ground_and_takes_for_an_end(step):
    reward = REWARDS["progress"](replace(step, ended=np.array([False, False, True])))
    assert reward[0] == pytest.approx(10.0 * step.gain[0])
    assert reward[2] == -2.0


def test_the_original_reward_is_that_of_the_single_environment(step):
    reward = make_original_reward(8.0)(step)
    assert reward[0] == pytest.approx((1.0 - abs(step.active_offset[0]) * 8.0 / 8.0) * step.forward_speed[0])
    assert make_original_reward(4.0)(step)[1] == -1.0
    backwards = replace(step, forward_speed=np.array([-0.5, 1.0, 1.0]), hit=np.array([-1, 2, -1], np.int32))
    assert make_original_reward()(backwards)[:2].tolist() == [-0.5, -2.0]


def test_a_task_ends_and_cuts_episodes(step):
    reward, terminated, truncated = make_task(time_limit=2.0).judge(step)
    assert terminated.tolist() == [False, True, True]
    assert truncated.tolist() == [True, False, False]
    assert reward[1] < -1.0
    _, terminated, truncated = make_task(ends=(), lap_limit=2).judge(replace(step, laps=np.array([1, 2, 3], np.int32)))
    assert not terminated.any()
    assert truncated.tolist() == [False, True, True]


def test_functions_of_ones_own_do_as_well_as_names(step):
    task = make_task(lambda step: step.time * 0.0 + 7.0, [lambda step: step.offset < -0.3, "hit"])
    reward, terminated, _ = task.judge(step)
    assert reward.tolist() == [7.0] * 3
    assert terminated.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"reward": "progres"}, "did you mean 'progress'"),
        ({"ends": ["off_raod"]}, "did you mean 'off_road'"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"lap_limit": -1}, "lap_limit is -1"),
    ],
)
def test_a_task_that_is_none_is_refused(given, told):
    with pytest.raises(SpecError, match=told):
        make_task(**given)
