"""Settings, seeds and `conf` of a wrong type or out of all limits are refused in one sentence, never by a traceback."""

import math

import gymnasium
import numpy as np
import pytest

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.core.errors import SpecError
from donkeysim.envs.batch_env import BatchEnv
from donkeysim.envs.conf import read_conf
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.envs.track_settings import read_settings
from donkeysim.world.specs import LidarSpec, SceneSpec

ID = "donkeysim/GeneratedTrack-v0"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lidar": None}, "lidar is None; it takes a LidarSpec."),
        ({"camera": {"width": 64}}, "camera is {'width': 64}; it takes a CameraSpec or None."),
        ({"challenges": None}, "challenges is None; it takes a ChallengeSpec."),
        ({"challenges": {"cones": 3}}, "challenges is {'cones': 3}; it takes a ChallengeSpec."),
        ({"throttle_range": 0.5}, "throttle_range is 0.5; it takes two numbers."),
        ({"throttle_range": (0, 0.5, 1)}, "throttle_range is (0, 0.5, 1); it takes two numbers."),
        ({"camera_spread": 0.1}, "camera_spread is 0.1; it takes two numbers."),
        ({"steer_limit": "1"}, "steer_limit is '1'; it takes a number."),
        ({"steer_limit": math.nan}, "steer_limit is nan; it takes a number above 0, up to 1."),
        ({"time_limit": "60"}, "time_limit is '60'; it takes a number or None."),
        ({"lap_limit": 1.5}, "lap_limit is 1.5; it takes a whole number or None."),
        ({"observe": None}, "observe is None; it takes a text or a list of texts."),
        ({"ends": None}, "ends is None; it takes a text or a list of texts or functions."),
        ({"ends": 5}, "ends is 5; it takes a text or a list of texts or functions."),
        ({"reward": ["progress"]}, "reward is ['progress']; it takes a text or a function."),
        ({"look": None}, "look is None; it takes a text or a list of texts."),
        ({"look": ["", 3]}, "look is ['', 3]; it takes a text or a list of texts."),
        ({"folders": None}, "folders is None; it takes a list of texts."),
        ({"folders": "tracks"}, "folders is 'tracks'; it takes a list of texts, as ['tracks']."),
        ({"car": None}, "car is None; it takes a text."),
        ({"log": 5}, "log is 5; it takes a text or None."),
        ({"road": "x"}, "road is 'x'; it takes a RoadSpec or None."),
        ({"starts_at_random": "no"}, "starts_at_random is 'no'; it takes True or False."),
        ({"track": None}, "track is None; it takes a text, a SceneSpec or a list of texts or SceneSpecs."),
        (
            {"track": ["flat", 3]},
            "track is ['flat', 3]; it takes a text, a SceneSpec or a list of texts or SceneSpecs.",
        ),
    ],
)
def test_a_setting_of_another_type_is_refused_by_the_name_of_the_setting(settings, sentence):
    with pytest.raises(SpecError) as told:
        gymnasium.make(ID, **settings)
    assert str(told.value) == sentence


def test_a_library_that_tries_a_keyword_sees_that_there_is_none():
    """TorchRL's GymEnv tries `frameskip`, and does without where this error says so."""
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'frameskip'.*did you mean 'frame_skip'\?"):
        gymnasium.make(ID, frameskip=1)
    torchrl = pytest.importorskip("torchrl.envs", reason="needs the extra rl")
    if gymnasium.__version__.startswith("1.0."):
        pytest.skip("TorchRL refuses Gymnasium 1.0")
    env = torchrl.GymEnv(ID, observe="vector")
    assert env.rollout(2)["next", "reward"].shape == (2, 1)
    env.close()


def test_settings_of_a_track_that_says_all_itself_are_looked_at_too():
    with pytest.raises(SpecError, match=r"^folders is 'tracks'"):
        read_settings({"folders": "tracks"}, SceneSpec("flat"))


def test_what_means_the_same_is_taken(tmp_path):
    given = {"folders": [tmp_path], "throttle_range": np.array([0.0, 0.5]), "ends": {"hit": 1}.keys(), "time_limit": 60}
    chosen = read_settings({**given, "log": tmp_path / "log", "stack": np.int64(2)}, ["flat"])
    assert (chosen.throttle_range, chosen.ends, chosen.time_limit, chosen.stack) == ((0.0, 0.5), ("hit",), 60.0, 2)
    assert chosen.experiment.scene.folders == (str(tmp_path),)
    assert chosen.experiment.log == str(tmp_path / "log")


@pytest.mark.parametrize("threads", ["x", 1.5, 0])
def test_threads_that_are_no_number_are_refused(threads):
    sentence = f"threads is {threads!r}; it takes a whole number, 1 or more, or None for one per core."
    for make in (TrackVectorEnv, BatchEnv):
        with pytest.raises(SpecError) as told:
            make(1, "flat", observe="vector", threads=threads)
        assert str(told.value) == sentence


def test_a_device_that_is_none_is_refused():
    with pytest.raises(SpecError, match=r"^the device is '5'; it takes 'cpu', 'cuda' or"):
        BatchEnv(1, "flat", observe="vector", device=5)


@pytest.mark.parametrize(
    ("seed", "sentence"),
    [
        (1.5, "the seed is 1.5; it takes a whole number, 0 or more, or None."),
        (-1, "the seed is -1; it takes a whole number, 0 or more, or None."),
        ("7", "the seed is '7'; it takes a whole number, 0 or more, or None."),
    ],
)
def test_a_seed_that_is_no_whole_number_is_refused_and_the_episode_goes_on(seed, sentence):
    envs = [gymnasium.make(ID, observe="vector").unwrapped, DonkeyEnv("flat"), TrackVectorEnv(2, observe="vector")]
    for env in envs:
        action = [[0.0, 0.5]] * 2 if env is envs[2] else [0.0, 0.5]
        env.reset(seed=np.int64(3))
        with pytest.raises(SpecError) as told:
            env.reset(seed=seed)
        assert str(told.value) == sentence
        env.step(action)
        env.close()


@pytest.mark.parametrize(
    ("seeds", "sentence"),
    [
        ([1, "a", 2], "the seed is 'a'; it takes a whole number, 0 or more, or None."),
        ([1.5, 2, 3], "the seed is 1.5; it takes a whole number, 0 or more, or None."),
        ([1, 2], "2 seeds were given for 3 environments; give one for each."),
    ],
)
def test_seeds_of_a_batch_are_whole_numbers_one_for_each(seeds, sentence):
    batch = TrackVectorEnv(3, "flat", observe="vector")
    with pytest.raises(SpecError) as told:
        batch.reset(seed=seeds)
    assert str(told.value) == sentence
    batch.reset(seed=np.array([1, 2, 3]))
    batch.close()


@pytest.mark.parametrize("key", ["frame_skip", "port", "max_cte"])
def test_a_number_beyond_all_others_is_refused_with_its_key(key):
    with pytest.raises(SpecError, match=f"^{key} is 1000"):
        DonkeyEnv(conf={key: 10**400})


@pytest.mark.parametrize("given", ["False", "0", "no", 2, 0.5, [1]])
def test_a_switch_takes_no_text_which_would_always_be_on(given):
    for conf in ({"real_time": given}, {"challenges": {"ghosts": given}}, {"challenges": {"light": given}}):
        with pytest.raises(SpecError) as told:
            read_conf(conf)
        key = next(iter(conf.get("challenges", conf)))
        assert str(told.value) == f"{key} is {given!r}; it takes True or False."


def test_a_switch_may_be_a_number_that_means_the_same():
    for given, is_on in ((True, True), (1, True), (np.True_, True), (0, False), (np.int64(0), False), (None, False)):
        assert read_conf({"real_time": given}).real_time is is_on


@pytest.mark.parametrize(
    "slip",
    [
        *("fob", "fo", "fvo", "fovs", "cat", "bi", "bios", "nose", "hots", "prot", "loook", "maxcte", "MAX_CTE"),
        *("max_ct", "throttle_mon", "trottle_mx", "camera_", "frame-skip", "cam_conf", "realTime", "img_hh"),
    ],
)
def test_a_slip_in_a_key_is_refused_however_short_the_key(slip):
    with pytest.raises(SpecError, match=f"^unknown key in conf '{slip}'|old name"):
        read_conf({slip: 1})


def test_keys_that_programs_have_themselves_are_no_slips():
    own = ("throttle", "steering", "max_steps", "track_name", "frames", "seed", "log", "env_name", "n_envs", "img_size")
    assert read_conf(dict.fromkeys(own, 1)) == read_conf({})


@pytest.mark.parametrize("sides", [(math.inf, 160, 3), (math.nan, 160, 3), (120.5, 160, 3), 120, (120, None, 3)])
def test_sides_that_are_no_whole_numbers_are_refused(sides):
    with pytest.raises(SpecError) as told:
        DonkeyEnv(conf={"cam_resolution": sides})
    assert str(told.value) == f"cam_resolution is {sides!r}; it takes (height, width, channels), as (120, 160, 3)."


@pytest.mark.parametrize("key", ["img_h", "img_w", "img_d"])
@pytest.mark.parametrize("given", ["high", "120.5", 120.5, math.inf, ""])
def test_a_side_of_the_camera_that_is_no_whole_number_is_refused_with_its_own_key(key, given):
    for conf in ({key: given}, {"cam_config": {key: given}}, {key: given, "cam_resolution": (120, 160, 3)}):
        with pytest.raises(SpecError, match=f"^cam_config: {key} is '{given}', but must be"):
            read_conf(conf)


def test_sides_are_read_as_the_wire_reads_them():
    assert read_conf({"img_h": "120.0", "img_w": " 64 ", "img_d": "1"}).cam_resolution == (120, 64, 1)
    assert read_conf({"img_h": 0, "img_w": None}).cam_resolution == (120, 160, 3)
    assert read_conf({"cam_resolution": np.array([60, 80, 3]), "img_w": "80.0"}).cam_resolution == (60, 80, 3)


def test_distances_of_a_lidar_at_its_limits_stay_within_their_space():
    lidar = LidarSpec(sweep_increment=math.radians(90.0), max_range=0.0125, noise=125.0)
    env = gymnasium.make(ID, observe="lidar", lidar=lidar)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    env.close()
