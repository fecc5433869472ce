"""Races: PettingZoo is content, a seed gives the same race, and all that happens in one is counted."""

import importlib
import pickle
import sys

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils import parallel_to_aec

from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.racing.env import parallel_env
from donkeysim.world.specs import CameraSpec


def let_followers_race(env, styles, steps=4000):
    """Drive every car by a follower until the race is over; return what was told, step by step."""
    simulator = env.fleet.simulator
    drivers = {style: PathFollower(simulator.scene, simulator.car_spec, style) for style in set(styles)}
    history = []
    for _ in range(steps):
        actions = {}
        for name in env.agents:
            car = env.possible_agents.index(name)
            steer, throttle, brake = drivers[styles[car]].drive(simulator.ledger, car)
            actions[name] = [-steer, throttle - brake]
        history.append(env.step(actions))
        if not env.agents:
            return history
    raise AssertionError("the race does not end")


@pytest.mark.parametrize("observe", ["vector", ("lidar", "grey")])
def test_pettingzoo_is_content(observe):
    settings = {"observe": observe, "time_limit": 4.0, "camera": CameraSpec(width=32, height=24)}
    parallel_api_test(parallel_env(**settings), num_cycles=100)
    parallel_seed_test(lambda: parallel_env(**settings), num_cycles=30)
    if isinstance(observe, str):  # of dicts it warns
        api_test(parallel_to_aec(parallel_env(**settings)), num_cycles=50)


def test_a_copy_is_made_anew_as_the_first_was():
    """SuperSuit, by which Stable-Baselines3 learns in PettingZoo's environments, pickles one to make many."""
    first = parallel_env(cars=["anna", "bert"], observe="vector", threads=1)
    first.reset(seed=3)
    copied = pickle.loads(pickle.dumps(first))
    assert copied.possible_agents == ["anna", "bert"]
    for name, seen in copied.reset(seed=4)[0].items():
        assert np.array_equal(seen, first.reset(seed=4)[0][name])


def test_a_seed_gives_the_same_race_on_any_number_of_threads_and_another_one_another_grid():
    races = []
    for seed, threads in ((5, 1), (6, 1), (5, 2)):
        settings = {"observe": ("camera", "lidar"), "camera": CameraSpec(width=32, height=24), "time_limit": 3.0}
        env = parallel_env(**settings, threads=threads)
        seen, infos = env.reset(seed=seed)
        rng = np.random.default_rng(1)
        told = [repr(infos), repr(seen)]
        while env.agents:
            seen, *rest = env.step({name: rng.uniform(-0.3, 0.6, 2) for name in env.agents})
            told += [repr(rest), *(array.tobytes() for own in seen.values() for array in own.values())]
        races.append(told)
        env.close()
    assert races[0] == races[2]
    assert races[0][0] != races[1][0]


def test_four_followers_race_two_laps_and_everything_is_counted():
    env = parallel_env(cars=4, lap_count=2, observe="vector", throttle_range=(-1.0, 1.0), grid="in_order")
    _, infos = env.reset(seed=3)
    length = float(env.fleet.step.path_length[0])
    assert [infos[name]["place"] for name in env.possible_agents] == [1, 2, 3, 4]
    assert all(-2.0 < info["way"] < 0.0 for info in infos.values())
    history = let_followers_race(env, ("steady", "steady", "fast", "fast"))
    last = {name: told[4][name] for told in history for name in told[4]}
    assert all(info["finished"] for info in last.values()), last
    assert sorted(info["place"] for info in last.values()) == [1, 2, 3, 4]
    assert {last["car_2"]["place"], last["car_3"]["place"]} == {1, 2}
    told = [infos for *_, infos in history]
    for name, info in last.items():
        begun = next(infos[name]["time"] for infos in told if infos[name]["way"] >= 0.0)
        assert info["laps"] == len(info["lap_times"]) == 2
        assert sum(info["lap_times"]) == pytest.approx(info["time"] - begun, abs=0.1), "from the start line"
        assert 2.0 * length <= info["way"] < 2.0 * length + 0.3
    finishes = [info["time"] for info in sorted(last.values(), key=lambda info: info["place"])]
    assert finishes == sorted(finishes)
    terminated = {name: told[2][name] for told in history for name in told[2]}
    assert all(terminated.values())
    gone = next(told for told in history if not told[4].keys() >= {"car_2"} or not told[4].keys() >= {"car_3"})
    assert len(gone[0]) == len(gone[1]) == 3
    env.close()


def test_who_is_hit_is_named():
    env = parallel_env(cars=["anna", "bert"], observe="vector", ends=(), throttle_range=(-1.0, 1.0), grid="in_order")
    env.reset(seed=1)
    x, y, z = env.fleet.simulator.ledger.position[1].tolist()
    env.fleet.simulator.place_car(0, (x + 0.5, y, z), (1.0, 0.0, 0.0, 0.0))
    hits = set()
    for _ in range(40):
        infos = env.step({"anna": [0.0, 0.0], "bert": [0.0, 1.0]})[4]
        hits |= {(name, infos[name]["hit"]) for name in infos}
    assert hits == {("anna", "none"), ("bert", "none"), ("anna", "bert"), ("bert", "anna")}
    env.close()


def test_the_race_ends_with_the_first_one_and_the_others_are_cut_off():
    env = parallel_env(
        cars=2, lap_count=1, finish="first", observe="vector", throttle_range=(-1.0, 1.0), reward="progress"
    )
    env.reset(seed=1)
    history = let_followers_race(env, ("fast", "steady"))
    _, rewards, terminated, truncated, infos = history[-1]
    assert terminated == {"car_0": True, "car_1": False}
    assert truncated == {"car_0": False, "car_1": True}
    assert (infos["car_0"]["place"], infos["car_1"]["place"]) == (1, 2)
    assert rewards["car_0"] > 0.0
    with pytest.raises(ResetNeeded):
        env.step({})
    env.close()


def test_a_car_that_is_out_leaves_the_road_and_comes_back_in_the_next_race():
    env = parallel_env(cars=2, observe="vector", ends=["standstill"], grid="in_order", render_mode="rgb_array")
    env.reset(seed=1)
    while len(env.agents) == 2:
        told = env.step({"car_0": [0.0, -1.0], "car_1": [0.0, 0.0]})
    assert told[2] == {"car_0": True, "car_1": False}
    assert env.fleet.simulator.list_cars() == [1]
    assert set(env.step({"car_1": [0.0, 0.0]})[0]) == {"car_1"}
    assert env.render().shape == (360, 640, 3)
    seen, _ = env.reset()
    assert set(seen) == {"car_0", "car_1"}
    assert env.fleet.simulator.list_cars() == [0, 1]
    env.close()


def test_places_gained_pay():
    env = parallel_env(cars=2, observe="vector", ends=(), throttle_range=(-1.0, 1.0), grid="in_order")
    env.reset(seed=1)
    changes = []
    for _ in range(60):
        _, rewards, _, _, infos = env.step({"car_0": [0.0, 0.0], "car_1": [0.0, 0.6]})
        changes.append((rewards["car_0"], rewards["car_1"], infos["car_1"]["place"]))
    passed = next(index for index, change in enumerate(changes) if change[2] == 1)
    assert changes[passed][0] == pytest.approx(-5.0, abs=0.1)
    assert 5.0 < changes[passed][1] < 7.0
    assert changes[passed - 1][1] < 2.0
    env.close()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"track": "flat"}, "closed circuit"),
        ({"cars": 0}, "whole number"),
        ({"cars": ["a", "a"]}, "differ"),
        ({"cars": 99}, "room for 72"),
        ({"finish": "frist"}, "did you mean 'first'"),
        ({"grid": "drawm"}, "did you mean 'drawn'"),
        ({"reward": "overtakes"}, "did you mean 'overtake'"),
        ({"lap_count": 0}, "lap_count"),
        ({"render_mode": "rgb_arry"}, "rgb_array"),
    ],
)
def test_what_makes_no_race_is_told_in_a_sentence(settings, text):
    with pytest.raises(SpecError, match=text):
        parallel_env(**settings)


def test_a_missing_pettingzoo_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "donkeysim.racing.env")
    with pytest.raises(DonkeySimError, match=r'install it .*pip install ".*\[race\]"'):
        importlib.import_module("donkeysim.racing.env")


def test_actions_that_are_none_are_told_in_a_sentence():
    env = parallel_env(cars=2, observe="vector")
    with pytest.raises(ResetNeeded):
        env.step({})
    env.reset(seed=1)
    for actions, text in [
        ({"car_0": [0.0, 0.0]}, "no action for car_1"),
        ({"car_0": [0.0, 0.0], "car_1": [0.0, 0.0], "car_9": [0, 0]}, "unknown car 'car_9'"),
        ({"car_0": [0.0, 0.0], "car_1": None}, "not"),
        ({"car_0": [0.0, 0.0], "car_1": [0.0, np.nan]}, "finite"),
    ]:
        with pytest.raises(SpecError, match=text):
            env.step(actions)
    env.close()
