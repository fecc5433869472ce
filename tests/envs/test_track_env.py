"""Our own family: one car is a batch of one, episodes begin and end as asked."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import donkeysim  # noqa: F401  (registers the ids)

ID = "donkeysim/GeneratedTrack-v0"


@pytest.mark.parametrize("observe", ["camera", "grey", "lidar", "vector", ("camera", "vector")])
def test_the_checker_of_gymnasium_is_content(observe):
    env = gymnasium.make(ID, observe=observe, disable_env_checker=True)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("observe", ["grey", "vector"])
def test_a_car_alone_is_as_it_is_in_a_batch(observe):
    actions = np.random.default_rng(3).uniform(-0.5, 0.5, (80, 2))
    batch = gymnasium.make_vec(ID, num_envs=3, observe=observe, stack=2, autoreset_mode="Disabled", time_limit=4.0)
    seen, _ = batch.reset(seed=10)
    alone = gymnasium.make(ID, observe=observe, stack=2, time_limit=4.0, disable_env_checker=True)
    own, _ = alone.reset(seed=12)
    assert np.array_equal(own, seen[2])
    for action in actions:
        own, reward, terminated, truncated, info = alone.step(action)
        seen, rewards, ends, cuts, infos = batch.step(np.tile(action, (3, 1)))
        assert np.array_equal(own, seen[2])
        assert (reward, terminated, truncated) == (rewards[2], ends[2], cuts[2])
        assert info["driven"] == infos["driven"][2]
        if terminated or truncated:
            own, _ = alone.reset()
        over = ends | cuts
        if over.any():
            seen, _ = batch.reset(options={"reset_mask": over})
            assert np.array_equal(own, seen[2]) or not over[2]
    batch.close()
    alone.close()
