"""Environments work in processes of their own, forked and spawned, also after this one has stepped some in threads."""

import copy
import functools
import multiprocessing
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import donkeysim  # noqa: F401  (registers the ids)
from batches import assert_same, draw_actions
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.track_env import TrackEnv, TrackVectorEnv


class Slalom(DonkeyEnv):
    """One of somebody's own, with other arguments."""

    def __init__(self, most):
        super().__init__("warehouse", {"max_cte": most})


@pytest.mark.parametrize("make", [functools.partial(Slalom, 3.0), functools.partial(TrackEnv, "flat", time_limit=0.5)])
def test_a_copy_is_made_anew_as_the_first_was(make):
    """Libraries that make batches of one environment pickle it; programs that plan copy it."""
    first = make()
    first.reset(seed=4)
    for copied in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert type(copied) is type(first)
        assert np.array_equal(copied.reset(seed=4)[0], first.reset(seed=4)[0])
        assert copied.step((0.1, 0.5))[1] == first.step((0.1, 0.5))[1]
        copied.close()
    first.close()


def test_a_copy_is_as_the_first_was_made_whatever_became_of_its_conf():
    """Programs change one dict for one environment after the other."""
    conf = {"max_cte": 5.0, "cam_config": {"fov": 70}, "body_rgb": [1, 2, 3], "own": multiprocessing.Lock()}
    first = DonkeyEnv("flat", conf=conf)
    made = first.conf
    conf["max_cte"], conf["cam_config"]["fov"], conf["body_rgb"][0] = 1.0, 60, 200
    assert copy.deepcopy(first).conf == made


KNOWN = multiprocessing.get_all_start_methods()
CONTEXTS = [
    pytest.param(name, marks=[pytest.mark.soak] if name == "spawn" and "fork" in KNOWN else [])
    for name in ("fork", "spawn")
    if name in KNOWN
]
SETTINGS = {"observe": ("grey", "depth", "segmentation", "vector"), "time_limit": 0.5}
MAKERS = [
    functools.partial(gymnasium.make, "donkeysim:donkeysim/GeneratedTrack-v0", **SETTINGS),
    functools.partial(TrackEnv, "flat", **SETTINGS),
]


@pytest.fixture(scope="module", autouse=True)
def batch():
    """A batch of this process, whose threads run."""
    batch = TrackVectorEnv(4, threads=2)
    batch.reset(seed=0)
    for actions in draw_actions(3, 4):
        batch.step(actions)
    yield batch
    batch.step(np.zeros((4, 2)))
    batch.close()


@pytest.mark.parametrize("context", CONTEXTS)
def test_gymnasium_s_batch_of_processes_is_as_one_in_this_process(context):
    apart, here = AsyncVectorEnv(MAKERS, context=context), SyncVectorEnv(MAKERS)
    try:
        assert_same(apart.reset(seed=1)[0], here.reset(seed=1)[0])
        for actions in draw_actions(25, 2):
            for own, other in zip(apart.step(actions)[:4], here.step(actions)[:4], strict=True):
                assert_same(own, other)
    finally:
        apart.close()
        here.close()


@pytest.mark.parametrize("context", CONTEXTS)
def test_stable_baselines_batch_of_processes_is_as_one_in_this_process(context):
    apart, here = SubprocVecEnv(MAKERS, start_method=context), DummyVecEnv(MAKERS)
    try:
        for env in (apart, here):
            env.seed(1)
        assert_same(dict(apart.reset()), dict(here.reset()))
        for actions in draw_actions(25, 2):
            (seen, reward, done, _), (expected, rewards, dones, _) = apart.step(actions), here.step(actions)
            assert_same(dict(seen), dict(expected))
            assert np.array_equal(reward.astype(np.float32), rewards)
            assert np.array_equal(done, dones)
    finally:
        apart.close()
        here.close()


@pytest.mark.skipif("fork" not in KNOWN, reason="this system does not fork")
def test_a_batch_goes_on_in_a_forked_child(batch):
    queue = multiprocessing.get_context("fork").Queue()

    def go_on():
        queue.put(batch.step(np.full((4, 2), 0.5))[1])

    child = multiprocessing.get_context("fork").Process(target=go_on)
    child.start()
    theirs = queue.get(timeout=30)
    child.join(30)
    assert child.exitcode == 0
    assert np.array_equal(theirs, batch.step(np.full((4, 2), 0.5))[1])
