"""A batch given a device is the batch given none: the same episodes, bytes and rules, and nothing leaves the device."""

import weakref
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from benchmarks.batch_memory import Roomy
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.wrappers import vector as wrappers
from packaging.version import Version
from tests.stepping import FarArray, FarDevice

import donkeysim  # noqa: F401  (registers the ids)
from batches import assert_same, draw_actions, make_theirs
from donkeysim.core.device import open_device
from donkeysim.core.errors import SpecError
from donkeysim.envs.autoreset import AutoresetMode
from donkeysim.envs.batch_env import BatchEnv
from donkeysim.envs.exchange import DeviceArray
from donkeysim.envs.track_env import TrackEnv, TrackVectorEnv
from donkeysim.world.randomization import RandomizationSpec, read_randomization
from donkeysim.world.ranges import CarRanges, DelayRanges
from donkeysim.world.specs import CameraSpec

pytestmark = pytest.mark.device

MODES = [mode.value for mode in AutoresetMode]
TRACKS = ["generated_track", "flat"]
DRAWN = RandomizationSpec(car=CarRanges(mass=(0.8, 1.2), friction=(0.6, 1.1), motor=(0.8, 1.2), steer_trim=(-0.1, 0.1)))
SETTINGS = {"observe": "vector", "time_limit": 1.5, "throttle_range": (0.0, 1.0)}


class Fence:
    """A device that refuses to bring anything to the host while a step runs."""

    def __init__(self, device):
        self.device, self.is_shut = device, False

    def __getattr__(self, name):
        if self.is_shut and name in ("download", "upload", "synchronize"):
            raise AssertionError(f"{name} was called in a step")
        return getattr(self.device, name)


def make(count=3, **options):
    return BatchEnv(count, **{"track": TRACKS, "threads": 1, **SETTINGS, **options})


def assert_told(ours, theirs):
    """Compare what the masks of a batch without `device` say is valid."""
    for name, mask in theirs.items():
        if not name.startswith("_"):
            continue
        own, other = ours[name[1:]], theirs[name[1:]]
        assert np.array_equal(ours[name], mask), name
        if isinstance(other, dict):
            assert_told(own, other)
        else:
            for car in np.flatnonzero(mask):
                part = {key: array[car] for key, array in own.items()} if isinstance(own, dict) else own[car]
                assert_same(part, other[car])


@pytest.mark.parametrize("mode", MODES)
def test_it_is_the_batch_on_threads(mode):
    options = {"autoreset_mode": mode, "stack": 2, "randomization": DRAWN, "frame_skip": 2, **SETTINGS}
    batch, threads = BatchEnv(4, TRACKS, threads=2, **options), TrackVectorEnv(4, TRACKS, threads=2, **options)
    for name in ("observation_space", "single_observation_space", "action_space", "single_action_space"):
        assert getattr(batch, name) == getattr(threads, name)
    assert batch.metadata["autoreset_mode"] is threads.metadata["autoreset_mode"]
    for own, other in zip(batch.reset(seed=5), threads.reset(seed=5), strict=True):
        (assert_told if isinstance(other, dict) else assert_same)(own, other)
    over = np.zeros(4, bool)
    begun = 0
    for actions in draw_actions(60, 4):
        *own, own_info = batch.step(actions)
        *other, other_info = threads.step(actions)
        for mine, hers in zip(own, other, strict=True):
            assert_same(mine, hers)
        assert_told(own_info, other_info)
        for name, array in threads.fleet.simulator.state._asdict().items():
            assert np.array_equal(getattr(batch.simulator.state, name), array), name
        over = other[2] | other[3]
        begun += over.sum()
        if mode == "Disabled" and over.any():
            for mine, hers in zip(*(env.reset(options={"reset_mask": over}) for env in (batch, threads)), strict=True):
                (assert_told if isinstance(hers, dict) else assert_same)(mine, hers)
    assert begun > 4
    batch.close()
    threads.close()


@pytest.mark.parametrize(("reward", "ends"), [("centre", "original"), ("original", ["hit", "tilted"])])
def test_every_reward_and_end_is_that_of_the_batch_on_threads(reward, ends):
    options = {"reward": reward, "ends": ends, "lap_limit": 1, **SETTINGS}
    batch, threads = BatchEnv(3, threads=1, **options), TrackVectorEnv(3, threads=1, **options)
    rewards = []
    for env in (batch, threads):
        env.reset(seed=2)
        rewards.append(np.array([np.array(env.step(actions)[1:4]) for actions in draw_actions(60, 3, seed=4)]))
    assert np.array_equal(*rewards)
    assert len(np.unique(rewards[0][:, 0])) > 50


def test_a_world_is_in_any_batch_as_alone():
    batch, alone = make(5, randomization=DRAWN), make(1, track="flat", randomization=DRAWN)
    assert np.array_equal(batch.reset(seed=[9, 8, 7, 6, 5])[0][3], alone.reset(seed=6)[0][0])
    for actions in draw_actions(50, 5):
        many, one = batch.step(actions), alone.step(actions[3:4])
        assert all(np.array_equal(own[3], other[0]) for own, other in zip(many[:4], one[:4], strict=True))


@pytest.mark.parametrize("mode", MODES)
def test_nothing_leaves_the_device_in_a_step(mode):
    fence = Fence(open_device("cpu", 2))
    options = {"stack": 2, "randomization": DRAWN, "autoreset_mode": mode}
    if mode == "Disabled":
        options |= {"ends": (), "time_limit": None}
    batch, twin = make(4, device=fence, threads=None, copy=False, **options), make(4, **options)
    batch.reset(seed=1)
    twin.reset(seed=1)
    for actions in draw_actions(45, 4):
        fence.is_shut = True
        ours = batch.step(actions)
        fence.is_shut = False
        theirs = twin.step(actions)
        assert all(np.array_equal(own, other) for own, other in zip(ours[:4], theirs[:4], strict=True))


def test_a_device_whose_memory_the_host_cannot_read_does_the_same():
    def read(array):
        return array.array.far if isinstance(array, DeviceArray) else array

    far, near = (make(device=device, threads=None, randomization=DRAWN) for device in (FarDevice(), "cpu"))
    assert np.array_equal(read(far.reset(seed=3)[0]), near.reset(seed=3)[0])
    for actions in draw_actions(32, 3):
        ours, theirs = far.step(actions), near.step(actions)
        assert all(np.array_equal(read(own), other) for own, other in zip(ours[:4], theirs[:4], strict=True))
        assert np.array_equal(read(ours[4]["position"]), theirs[4]["position"])


def test_torch_drives_and_sees_without_a_copy():
    torch = pytest.importorskip("torch")
    batch, twin = make(4, convert=torch.from_dlpack), make(4)
    seen = batch.reset(seed=3)[0]
    assert np.array_equal(seen.numpy(), twin.reset(seed=3)[0])
    for actions in draw_actions(10, 4):
        own, reward, terminated, truncated, info = batch.step(torch.from_numpy(actions))
        theirs = twin.step(actions)
        assert own is seen
        assert own.data_ptr() == batch._observer.seen["vector"].ctypes.data
        assert np.array_equal(own.numpy(), theirs[0])
        assert reward.tolist() == theirs[1].tolist()
        assert terminated.dtype == truncated.dtype == torch.bool
        assert info["position"].shape == (4, 3)


def test_who_copies_what_is_lent_sees_every_step():
    env, theirs = make(convert=lambda lent: np.array(lent, copy=True)), make()
    env.reset(seed=1), theirs.reset(seed=1)
    for actions in draw_actions(5, 3):
        own, other = env.step(actions), theirs.step(actions)
        for mine, hers in zip(own[:4], other[:4], strict=True):
            assert np.array_equal(mine, hers)
        assert np.array_equal(own[4]["driven"], other[4]["driven"])
    env.close()
    theirs.close()


def test_a_copy_is_the_callers_own_and_a_loan_the_next_step_s():
    copied, lent = make(2), make(2, copy=False)
    first, shown = copied.reset(seed=1)[0], lent.reset(seed=1)[0]
    before = first.copy()
    assert copied.step(np.ones((2, 2)))[0] is not first
    assert lent.step(np.ones((2, 2)))[0] is shown
    assert np.array_equal(first, before)
    assert not np.array_equal(shown, before)


def test_gymnasium_makes_it_when_a_device_is_given():
    batch = gymnasium.make_vec("donkeysim/GeneratedTrack-v0", num_envs=2, device="cpu", observe="vector")
    assert isinstance(batch.unwrapped, TrackVectorEnv)
    batch.reset(seed=1)
    seen, reward, *_ = batch.step(batch.action_space.sample())
    assert seen in batch.observation_space
    assert reward.shape == (2,)
    batch.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_gymnasium_s_own_batch_of_the_same_cars_does_the_same(mode):
    tracks = ["generated_track", "flat", "generated_track"]
    ours = BatchEnv(3, tracks, threads=1, autoreset_mode=mode, **SETTINGS)
    theirs = make_theirs([lambda track=track: TrackEnv(track, **SETTINGS) for track in tracks], mode)
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"]
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    assert data_equivalence(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    over = 0
    for actions in draw_actions(90, 3):
        own, other = ours.step(actions), theirs.step(actions)
        assert data_equivalence(own[:4], other[:4])
        assert set(own[4]) >= set(other[4])
        over += (own[2] | own[3]).sum()
    assert over > 3
    ours.close()
    theirs.close()


@pytest.mark.skipif(Version(gymnasium.__version__) < Version("1.2"), reason="its wrappers do not take one another")
def test_gymnasium_s_wrappers_take_it():
    env = wrappers.RecordEpisodeStatistics(make(2, observe=("vector", "grey"), camera=CameraSpec(width=32, height=24)))
    listed = wrappers.DictInfoToList(env)
    seen, info = listed.reset(seed=1)
    assert env.observation_space.contains(seen)
    assert [set(one) for one in info] == [set(info[0])] * 2
    lengths = []
    for actions in draw_actions(80, 2):
        seen, reward, terminated, truncated, info = listed.step(actions)
        assert env.observation_space.contains(seen)
        assert (reward.dtype, terminated.dtype, truncated.dtype) == (np.float64, bool, bool)
        lengths += [one["episode"]["l"] for one in info if "episode" in one]
    assert lengths
    assert all(1 < length <= 31 for length in lengths)
    listed.close()


def test_episodes_begin_where_they_are_told():
    batch = make(2, starts_at_random=False)
    grid = batch.reset(seed=0)[1]["along"]
    told = batch.reset(options={"s": 1.0, "offset": 0.05, "yaw": 0.1})[1]
    assert np.allclose(told["along"], 1.0, atol=0.05)
    assert np.allclose(told["heading_error"], 0.1, atol=0.05)
    again = batch.reset(seed=0, options={"reset_mask": np.array([False, True])})[1]
    assert again["along"][1] == grid[1]
    assert again["along"][0] == told["along"][0]
    assert again["_along"].tolist() == [False, True]


def test_an_episode_must_have_begun():
    batch = make(2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        batch.step(np.zeros((2, 2)))
    with pytest.raises(gymnasium.error.ResetNeeded, match="all of them first"):
        batch.reset(options={"reset_mask": np.array([True, False])})


@pytest.mark.parametrize("actions", [np.zeros((2, 3)), np.zeros((3, 2)), [[0.0, np.nan]] * 2, "left", None])
def test_actions_that_are_none_are_refused(actions):
    batch = make(2)
    batch.reset(seed=0)
    with pytest.raises(SpecError, match="steering and throttle"):
        batch.step(actions)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"reward": lambda step: step.progress}, "the reward is a function.*name one of progress.*or give `convert`"),
        ({"reward": "progres"}, "did you mean 'progress'"),
        ({"ends": ["hit", lambda step: step.hit]}, "an end is a function"),
        ({"observe": ("vector", "lidar")}, "'lidar' is not observed on a GPU; observe some of camera"),
        ({"observe": "rivals"}, "or use device='cpu'"),
        ({"log": "run.dlog"}, "log is 'run.dlog'"),
        ({"randomization": {"delay": {"action": [0.0, 0.1]}}}, "delay.action is not drawn on a GPU"),
        ({"randomization": {"picture": {"jpeg_quality": [20, 90]}}}, "jpeg_quality is not drawn"),
        ({"render_mode": "rgb_array"}, "takes None"),
        ({"copy": True}, "copy is True; on a GPU"),
        ({"camera": CameraSpec(supersample=2)}, "2 samples per pixel"),
        ({"autoreset_mode": "NextSep"}, "did you mean 'NextStep'"),
        ({"device": "abacus"}, "the device is 'abacus'"),
        ({"num_envs": 0}, "num_envs is 0"),
        ({"devise": "cpu"}, "did you mean 'device'"),
    ],
)
def test_what_a_gpu_does_not_do_is_refused_with_what_does(settings, told):
    with pytest.raises(SpecError, match=told):
        BatchEnv(**{"device": FarDevice(), **settings})


class Own(np.ndarray):
    """Arrays of a library that reads the memory of a device."""

    @staticmethod
    def take(lent):
        return lent.array.far.view(Own)


def test_a_reward_and_an_end_of_one_s_own_get_arrays_of_one_s_own():
    given = set()

    def reward(step):
        given.add(type(step.gain))
        return step.gain - 0.1 * abs(step.steer - step.previous_steer)

    def end(step):
        return step.driven > 0.3

    options = {"reward": reward, "ends": ["hit", end]}
    far, near = make(device=FarDevice(), threads=None, convert=Own.take, **options), make(**options)
    far.reset(seed=3), near.reset(seed=3)
    ends = 0
    for actions in draw_actions(60, 3):
        ours, theirs = far.step(actions), near.step(actions)
        for mine, hers in zip(ours[1:4], theirs[1:4], strict=True):
            assert np.array_equal(mine, hers)
        ends += int(np.asarray(ours[2]).sum())
    assert ends > 3
    assert given == {Own, np.ndarray}


class Counting(Fence):
    """A device that counts the bytes that are taken and not given back."""

    def __init__(self, device):
        super().__init__(device)
        self.taken = 0

    def upload(self, value):
        taken = self.device.upload(value)
        self._count(taken)
        return taken

    def zeros(self, shape, dtype):
        array = self.device.zeros(shape, dtype)
        self._count(array)
        return array

    empty = zeros

    def _count(self, value):
        if isinstance(value, tuple):
            for part in value:
                self._count(part)
        elif isinstance(value, FarArray):
            self.taken += value.nbytes
            weakref.finalize(value.far, self._release, value.nbytes)

    def _release(self, count):
        self.taken -= count


@pytest.mark.parametrize(("observe", "most"), [("vector", 70e3), (("grey", "depth"), 500e3)])
def test_the_memory_of_a_world_of_a_gpu_is_what_its_arrays_take(observe, most):
    options = {"observe": observe, "camera": CameraSpec(width=64, height=64), "stack": 2, "randomization": DRAWN}
    few, many = (make(count, device=Counting(FarDevice()), threads=None, **options) for count in (4, 12))
    use = [batch.measure_memory() for batch in (few, many)]
    assert use[0].scenes == pytest.approx(use[1].scenes, rel=0.01)
    grown = many.simulator.device.taken - few.simulator.device.taken
    assert use[1].total - use[0].total == pytest.approx(grown, rel=0.01)
    assert 0.4 * most < grown / 8 < most


@pytest.mark.parametrize("device", [None, Roomy], ids=["spans", "stages"])
def test_cars_see_what_they_see_on_threads(device):
    seen = ("camera", "grey", "depth", "segmentation")
    camera = CameraSpec(width=64, height=48)
    drawn = replace(read_randomization("wide"), delay=DelayRanges())
    drawn = replace(drawn, picture=replace(drawn.picture, jpeg_quality=None))
    options = {"observe": seen, "camera": camera, "camera_spread": (0.01, 0.03), "stack": 2, "randomization": drawn}
    batch = make(2, **options, **({"device": device(), "threads": None} if device else {}), time_limit=0.2)
    threads = TrackVectorEnv(2, TRACKS, threads=1, **{**SETTINGS, **options, "time_limit": 0.2})
    assert batch.observation_space == threads.observation_space
    pairs = [(batch.reset(seed=4)[0], threads.reset(seed=4)[0])]
    pairs += [(batch.step(actions)[0], threads.step(actions)[0]) for actions in draw_actions(7, 2)]
    for ours, theirs in pairs:
        for name in seen:
            apart = np.abs(ours[name].astype(float) - theirs[name])
            if device is None:
                assert not apart.any(), name
            elif name == "segmentation":
                assert (apart == 0).mean() > 0.99
            elif name == "depth":
                assert (apart > 0.01).mean() < 0.01
            else:
                assert apart.mean() < 1.5
                assert (apart > 16.0).mean() < 0.02
    assert batch.batch.report() == (0, 0)
    assert batch.measure_memory().pictures > 2 * 64 * 48 * (3 + 1 + 4 + 1) * 3


def test_the_first_batch_on_a_machine_says_that_it_compiles_and_the_next_one_nothing(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("donkeysim.sim.compile_processes.CACHE_FOLDER", tmp_path)
    told = []
    for _ in range(2):
        env = make(device=FarDevice(), threads=None)
        env.reset(seed=0)
        env.step(np.zeros((3, 2)))
        env.close()
        told.append("kernels of a batch on far:0 are compiled" in caplog.text)
        caplog.clear()
    assert told == [True, False]
