"""Every id of the environments: its scene is there, and the checkers of Gymnasium and Stable-Baselines3 are content."""

from __future__ import annotations

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_sb3

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.envs.registration import SCENE_BY_ID, TRACK_BY_ID
from donkeysim.world.tracks import list_scenes

IDS = {**SCENE_BY_ID, **TRACK_BY_ID}


@pytest.mark.soak
@pytest.mark.parametrize("name", [name for name, scene in IDS.items() if scene in list_scenes()])
def test_the_checkers_are_content(name):
    env = gymnasium.make(name, disable_env_checker=True).unwrapped
    check_env(env, skip_render_check=True)
    check_env_sb3(env, warn=False)
    env.close()
