"""The environment for LeRobot's tools: what they read of it, and that its actions are those of datasets."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from donkeysim.tub.formats.lerobot_features import TASK


@pytest.fixture(scope="module")
def env():
    made = gymnasium.make("donkeysim/LeRobot-v0", laps=1, time_limit=30.0, disable_env_checker=True)
    yield made
    made.close()


def test_it_keeps_to_gymnasiums_rules(env):
    check_env(env.unwrapped, skip_render_check=True)


def test_it_has_what_lerobots_tools_ask_for(env):
    assert env.get_wrapper_attr("_max_episode_steps") == 600
    assert env.unwrapped.task_description == TASK
    assert env.metadata["render_fps"] == 20


def test_it_observes_what_a_dataset_calls_picture_and_state(env):
    seen, info = env.reset(seed=1)
    assert (seen["pixels"].shape, seen["pixels"].dtype) == ((120, 160, 3), np.uint8)
    assert (seen["agent_pos"].tolist(), info["is_success"]) == ([0.0, 0.0], False)
    seen, _, terminated, truncated, info = env.step(np.array([3.0, 0.5]))  # beyond its range, as policies may answer
    assert seen["agent_pos"].tolist() == [1.0, 0.5]
    assert (terminated, truncated, info["is_success"]) == (False, False, False)


def test_throttle_is_that_of_a_tub(env):
    def drive(throttle):
        env.reset(seed=1)
        return [env.step([0.0, throttle])[-1]["speed"] for _ in range(10)][-1]

    assert drive(0.0) < 0.05 < drive(0.2) < drive(0.4)
