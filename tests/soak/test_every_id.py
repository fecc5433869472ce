"""Every id: its scene is there; the checkers of Gymnasium, Stable-Baselines3 and PettingZoo are content."""

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test
from stable_baselines3.common.env_checker import check_env as check_env_sb3

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.envs.registration import SCENE_BY_ID, TRACK_BY_ID
from donkeysim.racing.env import parallel_env

IDS = {**SCENE_BY_ID, **TRACK_BY_ID}


@pytest.mark.soak
@pytest.mark.parametrize("name", IDS)
def test_the_checkers_are_content(name):
    env = gymnasium.make(name, disable_env_checker=True).unwrapped
    check_env(env, skip_render_check=True)
    check_env_sb3(env, warn=False)
    env.close()


@pytest.mark.soak
@pytest.mark.parametrize("track", SCENE_BY_ID.values())
def test_pettingzoo_is_content_with_a_race(track):
    parallel_api_test(parallel_env(track=track, observe="vector", time_limit=3.0), num_cycles=50)
