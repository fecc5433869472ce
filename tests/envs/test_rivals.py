"""What a car is told of the others: the nearest first, as seen from it, and none of those who are out."""

import math

import numpy as np
import pytest

from donkeysim.core.frames import yaw_to_quaternion
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.step import find_rivals
from donkeysim.racing.env import parallel_env
from donkeysim.world.experiment import Experiment


@pytest.fixture(scope="module")
def fleet():
    fleet = Fleet(Experiment().move_to("flat"), 2, cars_per_world=5)
    fleet.open(None)
    return fleet


def tell(fleet):
    fleet.begin([0, 1])
    simulator = fleet.simulator
    for car, (x, y, yaw) in enumerate(((0, 0, math.pi / 2), (0, 2, 0), (1, 0, 0), (-9, 0, 0), (0, 30, 0))):
        simulator.place_car(5 + car, (float(x), float(y), 0.0736), yaw_to_quaternion(yaw))
    simulator.state.velocity[5] = (0.0, 1.0, 0.0)
    simulator.state.velocity[6] = (0.6, 0.0, 0.0)
    return find_rivals(fleet.step, 5).reshape(10, 3, 5)


def test_the_nearest_are_told_as_seen_from_the_car(fleet):
    told = tell(fleet)
    assert told[5, 0] == pytest.approx([1, 0, -1 / 3, -1 / 3, 0], abs=1e-6)
    assert told[5, 1] == pytest.approx([1, 2 / 3, 0, -1 / 3, -0.2], abs=1e-6)
    assert told[5, 2] == pytest.approx([1, 0, 3, -1 / 3, 0], abs=1e-6)
    assert told[9, 0, 2] == pytest.approx(-5.0)


def test_who_is_out_is_not_told(fleet):
    tell(fleet)
    for car in (6, 7, 8):
        fleet.simulator.retire_car(car)
    told = find_rivals(fleet.step, 5).reshape(10, 3, 5)
    assert told[5, 0] == pytest.approx([1, 5, 0, -1 / 3, 0], abs=1e-6)
    assert not told[5, 1:].any()


def test_a_world_is_told_of_its_own_cars_only(fleet):
    told = tell(fleet)
    assert (np.hypot(told[:5, :, 1], told[:5, :, 2]) < 1.0).all()
    assert not find_rivals(fleet.step, 1).any()


def test_races_are_told():
    env = parallel_env(cars=2, observe=("vector", "rivals"), stack=2, grid="in_order")
    seen, _ = env.reset(seed=1)
    front, back = (seen[name]["rivals"][15:20] for name in env.agents)
    assert front[0] == back[0] == 1.0
    assert np.allclose(front[1:3], -back[1:3], atol=1e-5)
    assert env.observation_space("car_0")["rivals"].contains(seen["car_0"]["rivals"])
    env.close()
