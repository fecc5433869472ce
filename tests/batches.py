"""Actions for batches of environments, and comparisons of what they give."""

import gymnasium
import numpy as np
import pytest

from donkeysim.envs.autoreset import AutoresetMode


def make_theirs(makers, mode):
    """Return Gymnasium's own batch; 1.0 has only one mode, and no name for it."""
    if hasattr(gymnasium.vector, "AutoresetMode"):
        return gymnasium.vector.SyncVectorEnv(makers, autoreset_mode=mode)
    if mode != "NextStep":
        pytest.skip("Gymnasium 1.0 knows NextStep only")
    theirs = gymnasium.vector.SyncVectorEnv(makers)
    theirs.autoreset_mode = theirs.metadata["autoreset_mode"] = AutoresetMode.NEXT_STEP
    return theirs


def draw_actions(steps, count, seed=0):
    """Return actions that leave the road now and then."""
    rng = np.random.default_rng(seed)
    steer = np.repeat(rng.uniform(-1.0, 1.0, (steps // 10 + 1, count)), 10, axis=0)[:steps]
    return np.stack([steer, rng.uniform(0.0, 1.0, (steps, count))], axis=2).astype(np.float32)


def assert_same(ours, theirs):
    """Compare observations: arrays, or dicts of them."""
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs)
        for name in theirs:
            assert_same(ours[name], theirs[name])
    elif theirs is not None:
        assert np.array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def assert_same_info(ours, theirs):
    """Compare what the masks say is told."""
    assert set(ours) == set(theirs)
    for name, mask in theirs.items():
        if not name.startswith("_"):
            continue
        assert np.array_equal(ours[name], mask), name
        own, other = ours[name[1:]], theirs[name[1:]]
        if name == "_final_info":
            assert_same_info(own, other)
            continue
        for car in np.flatnonzero(mask):
            if name == "_final_obs":
                assert_same(own[car], other[car])
            else:
                assert np.array_equal(own[car], other[car]), name


def list_arrays(thing):
    """Return all arrays of numbers in lists and dicts."""
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, (list, tuple)) or (isinstance(thing, np.ndarray) and thing.dtype == object):
        return [array for part in thing for array in list_arrays(part)]
    return [thing] if isinstance(thing, np.ndarray) else []
