"""The same batch twice is the same bytes; a world in a crowd is itself alone; arrays are lent; memory stays flat."""

import time

import numpy as np
import pytest

from batches import draw_actions
from donkeysim.envs.batch_env import BatchEnv
from donkeysim.envs.exchange import DeviceArray
from donkeysim.world.specs import CameraSpec

pytestmark = pytest.mark.device

STEPS = 8

SETTINGS = {
    "observe": ("camera", "vector"),
    "camera": CameraSpec(width=64, height=48),
    "time_limit": 0.3,  # episodes end and begin
    "randomization": {"car": {"mass": [0.8, 1.2]}, "ground": {"hue": [-1.0, 1.0]}, "picture": {"noise": [1.0, 9.0]}},
}

MOST_GROWTH = 64.0
"""Of memory in the soak test, once all has been allocated [MB]."""


def make(bench, count):
    return BatchEnv(count, ["generated_track", "flat"], device=bench.device, **SETTINGS)


def run(bench, env, actions, seeds):
    """Return all that a batch says in some steps."""
    told = [bench.fetch(env.reset(seed=seeds)[0])]
    for chosen in actions:
        told += bench.fetch(env.step(bench.device.upload(chosen))[:4])
    return told


def assert_same(ours, theirs):
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(ours, list):
        for own, other in zip(ours, theirs, strict=True):
            assert_same(own, other)
    else:
        assert np.array_equal(ours, theirs)


def pick(told, rows):
    """Return what was told of some worlds."""
    if isinstance(told, dict):
        return {name: pick(part, rows) for name, part in told.items()}
    return [pick(part, rows) for part in told] if isinstance(told, list) else told[rows]


def test_the_same_batch_twice_is_the_same_bytes(bench):
    actions = draw_actions(STEPS, bench.worlds)
    seeds = list(range(bench.worlds))
    first, second = (run(bench, make(bench, bench.worlds), actions, seeds) for _ in range(2))
    assert_same(first, second)
    assert np.concatenate(first[4::4]).any()  # episodes were cut
    assert not np.array_equal(first[0]["camera"][0], first[0]["camera"][2])


def test_a_world_in_a_crowd_is_itself_alone(bench):
    actions, seeds = draw_actions(STEPS, bench.crowd), [7 * world for world in range(bench.crowd)]
    crowd = run(bench, make(bench, bench.crowd), actions, seeds)
    for world in (0, 2 * (bench.crowd // 4), 2 * ((bench.crowd - 1) // 2)):  # of the first track
        alone = run(bench, make(bench, 1), actions[:, world : world + 1], [seeds[world]])
        assert_same(pick(crowd, slice(world, world + 1)), alone)


def test_torch_and_the_batch_share_one_memory(bench):
    torch = pytest.importorskip("torch")
    if bench.is_gpu and not torch.cuda.is_available():
        pytest.skip("this PyTorch knows no GPU; install one that does.")
    array = bench.device.zeros((3, 5), np.float32)
    taken = torch.from_dlpack(DeviceArray(array, bench.device))
    pointer = array.__cuda_array_interface__["data"][0] if bench.is_gpu else array.ctypes.data
    assert taken.data_ptr() == pointer
    taken[1, 2] = 4.0
    if bench.is_gpu:
        torch.cuda.synchronize()
    assert bench.fetch(array)[1, 2] == 4.0
    env = BatchEnv(2, device=bench.device, convert=torch.from_dlpack, **SETTINGS)
    seen, _ = env.reset(seed=1)
    place = "cuda" if bench.is_gpu else "cpu"
    next_seen, reward, *_ = env.step(torch.zeros(2, 2, device=place))
    assert next_seen["camera"].data_ptr() == seen["camera"].data_ptr()
    assert seen["camera"].device.type == reward.device.type == place


def test_memory_stays_flat(bench):
    env, actions = make(bench, bench.worlds), draw_actions(STEPS, bench.worlds)
    env.reset(seed=0)
    given = [bench.device.upload(chosen) for chosen in actions]
    for chosen in 2 * given:
        env.step(chosen)
    bench.device.synchronize()
    before, end, steps = bench.measure_memory(), time.perf_counter() + bench.seconds, 0
    while time.perf_counter() < end:
        for chosen in given:
            env.step(chosen)
        bench.device.synchronize()
        steps += len(given)
    assert bench.measure_memory() - before < MOST_GROWTH
    assert steps >= 2 * STEPS
