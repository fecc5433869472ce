"""Stable-Baselines3 learns from batches of cars as from single ones, and nothing it keeps changes afterwards."""

import gymnasium
import numpy as np
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from batches import assert_same, draw_actions, list_arrays
from donkeysim.core.errors import SpecError
from donkeysim.envs.sb3_vec_env import DonkeyVecEnv, make_sb3_vec_env
from donkeysim.envs.track_env import TrackEnv, TrackVectorEnv

SETTINGS = {"observe": "vector", "time_limit": 1.0, "throttle_range": (0.0, 1.0)}


def make(count=3, **settings):
    return make_sb3_vec_env("donkeysim/GeneratedTrack-v0", count, threads=1, **{**SETTINGS, **settings})


@pytest.mark.parametrize("name", ["donkey-generated-track-v0", "donkeysim/GeneratedTrack-v0"])
def test_its_checker_is_content(name):
    env = gymnasium.make(name, disable_env_checker=True)
    check_env(env.unwrapped, warn=False)
    env.close()


@pytest.mark.parametrize("observe", ["vector", ("grey", "vector")])
def test_a_batch_is_as_single_cars_in_its_own_batch(observe):
    ours = make(observe=observe)
    theirs = DummyVecEnv([lambda: Monitor(TrackEnv(**{**SETTINGS, "observe": observe}))] * 3)
    assert ours.observation_space == theirs.observation_space
    ours.seed(4)
    theirs.seed(4)
    assert_same(ours.reset(), dict(expected) if isinstance(expected := theirs.reset(), dict) else expected)
    ends = 0
    for actions in draw_actions(60, 3):
        seen, reward, done, told = ours.step(actions)
        expected, rewards, dones, infos = theirs.step(actions)
        assert_same(seen, dict(expected) if isinstance(expected, dict) else expected)
        assert_same(reward, rewards)
        assert_same(done, dones)
        for own, other in zip(told, infos, strict=True):
            assert set(own) == set(other)
            assert own["TimeLimit.truncated"] == other["TimeLimit.truncated"]
            assert own["driven"] == other["driven"]
            if "episode" in other:
                assert own["episode"]["l"] == other["episode"]["l"]
                assert own["episode"]["r"] == pytest.approx(other["episode"]["r"], abs=1e-5)
                assert_same(own["terminal_observation"], other["terminal_observation"])
        ends += done.sum()
        for own, other in zip(ours.reset_infos, theirs.reset_infos, strict=True):
            assert own["along"] == other["along"]
    assert ends > 2
    ours.close()
    theirs.close()


class Keeper(BaseCallback):
    """Copies what the algorithm is given, when it is given."""

    def _on_training_start(self):
        self.seen = [np.copy(self.model._last_obs)]
        self.rewards = []

    def _on_step(self):
        self.seen.append(np.copy(self.locals["new_obs"]))
        self.rewards.append(np.copy(self.locals["rewards"]))
        return True


def test_a_rollout_buffer_holds_what_was_seen_when_it_was_seen():
    env = make(4, time_limit=0.5)
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=3, device="cpu")
    keeper = Keeper()
    model.learn(128, callback=keeper)
    buffer = model.rollout_buffer
    assert np.array_equal(buffer.swap_and_flatten(np.stack(keeper.seen[:-1])), buffer.observations)
    assert len(model.ep_info_buffer) >= 8
    assert all(episode["l"] <= 10 for episode in model.ep_info_buffer)
    rewards, lengths = evaluate_policy(model, env, n_eval_episodes=4, return_episode_rewards=True)
    assert len(rewards) == 4
    assert max(lengths) <= 10
    env.close()


def test_nothing_it_hands_out_changes_afterwards():
    env = make(2, observe=("grey", "vector"), time_limit=0.3)
    kept = [env.reset()]
    then = [np.copy(array) for array in list_arrays(kept)]
    for actions in draw_actions(15, 2):
        kept.append(env.step(actions))
        then.extend(np.copy(array) for array in list_arrays([kept[-1]]))
    assert all(np.array_equal(array, copy) for array, copy in zip(list_arrays(kept), then, strict=True))
    env.close()


def test_seeds_and_options_hold_for_one_reset():
    env = make()
    env.seed(8)
    first = env.reset()
    assert not np.array_equal(env.reset(), first)
    env.seed(8)
    env.set_options([{"s": 3.0}, {}, {"s": 3.0}])
    second = env.reset()
    assert np.array_equal(second[0], second[2])
    assert np.array_equal(second[1], first[1])
    assert [info["along"] for info in env.reset_infos] == pytest.approx(
        [3.0, env.reset_infos[1]["along"], 3.0], abs=0.1
    )
    env.close()


def test_attributes_and_methods_are_those_of_the_batch():
    env = make(3, render_mode="rgb_array")
    env.reset()
    assert env.get_attr("render_mode", [0, 2]) == ["rgb_array"] * 2
    env.set_attr("nickname", "Ada", 1)
    assert env.get_attr("nickname", 1) == ["Ada"]
    assert not env.has_attr("nickname")
    with pytest.raises(SpecError, match="belongs to the whole batch"):
        env.set_attr("num_envs", 4)
    assert len(env.env_method("render")[2]) == 3
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gymnasium.Wrapper, 0) == [False]
    assert env.render().shape[2] == 3
    env.close()


def test_a_batch_that_it_cannot_learn_from_is_refused():
    with pytest.raises(SpecError, match="SameStep"):
        DonkeyVecEnv(TrackVectorEnv(2, observe="vector"))
    with pytest.raises(SpecError, match="copy=True"):
        DonkeyVecEnv(TrackVectorEnv(2, observe="vector", autoreset_mode="SameStep", copy=False))
    with pytest.raises(SpecError, match="leave it out"):
        make(copy=False)
    with pytest.raises(SpecError, match="not one of this simulator's"):
        make_sb3_vec_env("CartPole-v1", 2)
