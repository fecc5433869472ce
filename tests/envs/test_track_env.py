"""Our own family: one car is a batch of one, episodes begin and end as asked."""

import math
import threading

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import donkeysim  # noqa: F401  (registers the ids)
from batches import assert_same
from donkeysim.core.errors import DonkeySimError, SceneError, SpecError
from donkeysim.envs.built_in import BuiltInCar
from donkeysim.envs.conf import read_conf
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.envs.track_settings import read_settings
from donkeysim.world.scene import CLASS_ROAD, CLASS_SKY
from donkeysim.world.specs import CameraSpec

ID = "donkeysim/GeneratedTrack-v0"


@pytest.mark.parametrize("observe", ["camera", "grey", "lidar", "depth", ("camera", "segmentation", "vector")])
def test_the_checker_of_gymnasium_is_content(observe):
    env = gymnasium.make(ID, observe=observe, disable_env_checker=True)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def pick_row(seen, row):
    return {name: array[row] for name, array in seen.items()} if isinstance(seen, dict) else seen[row]


def test_two_cameras_look_each_its_own_way():
    behind = CameraSpec(width=64, height=48, rotation=(0.0, 0.0, math.pi))
    env = gymnasium.make(ID, observe=("camera", "camera_b"), camera_b=behind, disable_env_checker=True)
    seen = env.reset(seed=1)[0]
    assert seen["camera"].shape == (120, 160, 3)
    only = gymnasium.make(ID, camera=behind, disable_env_checker=True)
    assert np.array_equal(only.reset(seed=1)[0], seen["camera_b"])
    env.close()
    only.close()


def test_a_camera_that_is_a_band_gives_its_rows_and_spaces_of_their_shape():
    observe = ("grey", "depth", "segmentation")
    whole, band = CameraSpec(width=32, height=24), CameraSpec(width=32, height=24, crop_top=9, crop_bottom=2)
    envs = [gymnasium.make(ID, observe=observe, stack=2, camera=camera) for camera in (whole, band)]
    seen, rows = (env.reset(seed=1)[0] for env in envs)
    assert {name: space.shape for name, space in envs[1].observation_space.items()} == dict.fromkeys(
        observe, (13, 32, 2)
    )
    for name in observe:
        assert np.array_equal(rows[name], seen[name][9:22])
    for env in envs:
        env.close()


def test_distances_and_classes_are_those_of_the_picture_beside_them():
    together = gymnasium.make(ID, observe=("camera", "depth", "segmentation"), disable_env_checker=True)
    apart = {name: gymnasium.make(ID, observe=name, disable_env_checker=True) for name in ("camera", "depth")}
    apart["segmentation"] = gymnasium.make(ID, observe="segmentation", disable_env_checker=True)
    beside = gymnasium.make(ID, observe=("grey", "depth"), disable_env_checker=True)
    seen, other = together.reset(seed=4)[0], beside.reset(seed=4)[0]
    for name, env in apart.items():
        assert np.array_equal(env.reset(seed=4)[0], seen[name])
    assert np.array_equal(other["depth"], seen["depth"])
    depth, classes = seen["depth"][..., 0], seen["segmentation"][..., 0]
    assert (depth[classes == CLASS_SKY] == 100.0).all()
    assert 0.05 < depth[classes == CLASS_ROAD].min() < 0.5
    assert np.isin(classes, range(6)).all()
    simulator = together.unwrapped.fleet.simulator
    simulator.configure_camera(0, CameraSpec(depth=True, segment=True))
    simulator.render()
    assert np.array_equal(np.minimum(simulator.get_depth(0), 100.0), depth)
    assert np.array_equal(simulator.get_segments(0), classes)
    assert np.array_equal(simulator.get_picture(0), seen["camera"])
    for env in (together, beside, *apart.values()):
        env.close()


@pytest.mark.parametrize("observe", [("grey", "depth", "segmentation"), "vector"])
def test_a_car_alone_is_as_it_is_in_a_batch(observe):
    actions = np.random.default_rng(3).uniform(-0.5, 0.5, (80, 2))
    batch = gymnasium.make_vec(ID, num_envs=3, observe=observe, stack=2, autoreset_mode="Disabled", time_limit=4.0)
    seen, _ = batch.reset(seed=10)
    alone = gymnasium.make(ID, observe=observe, stack=2, time_limit=4.0, disable_env_checker=True)
    own, _ = alone.reset(seed=12)
    assert_same(own, pick_row(seen, 2))
    for action in actions:
        own, reward, terminated, truncated, info = alone.step(action)
        seen, rewards, ends, cuts, infos = batch.step(np.tile(action, (3, 1)))
        assert_same(own, pick_row(seen, 2))
        assert (reward, terminated, truncated) == (rewards[2], ends[2], cuts[2])
        assert info["driven"] == infos["driven"][2]
        if terminated or truncated:
            own, _ = alone.reset()
        over = ends | cuts
        if over.any():
            seen, _ = batch.reset(options={"reset_mask": over})
            if over[2]:
                assert_same(own, pick_row(seen, 2))
    batch.close()
    alone.close()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"rewards": "progress"}, "did you mean 'reward'"),
        ({"observe": "lidra"}, "did you mean 'lidar'"),
        ({"observe": ()}, "nothing is observed"),
        ({"stack": 0}, "stack is 0"),
        ({"steer_limit": 2.0}, "steer_limit is 2.0"),
        ({"throttle_range": (0.5, 0.5)}, "the lower one first"),
        ({"copy": False}, "copy is for batches only"),
        ({"track": "generated_trak"}, "did you mean 'generated_track'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(settings, told):
    with pytest.raises(DonkeySimError, match=told):
        gymnasium.make(ID, **settings)


def test_an_episode_begins_where_it_is_told_and_ends_by_its_rules():
    env = gymnasium.make(ID, observe="vector", starts_at_random=False, disable_env_checker=True)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.step(np.zeros(2))
    with pytest.raises(
        SpecError, match=r"^the action is \[0\.1\]; it takes two finite numbers, steering and throttle\.$"
    ):
        env.unwrapped.step([0.1])
    _, info = env.reset(seed=1, options={"s": 6.0, "offset": -0.3})
    assert info["along"] == pytest.approx(6.0, abs=0.1)
    assert info["offset"] == pytest.approx(-0.3, abs=0.02)
    ended = False
    for _ in range(200):
        _, reward, ended, cut, info = env.step([1.0, 1.0])
        if ended:
            break
    assert ended
    assert not cut
    assert reward < 0.0
    assert not info["on_road"]
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"^the episode is over; call reset to begin another one\.$"):
        env.step([0.0, 0.0])
    env.reset()
    env.step([0.0, 0.0])
    env.close()


def test_cars_begin_lying_on_a_banked_road():
    """Put down level, a sixth of them had a corner in the road of mountain_track, and hit it at once."""
    batch = TrackVectorEnv(64, "mountain_track", observe="vector", ends=("hit",), time_limit=None)
    batch.reset(seed=3)
    begun = batch.fleet.step.upright.copy()
    for _ in range(3):
        _, _, terminated, _, _ = batch.step(np.zeros((64, 2), np.float32))
        assert not terminated.any()
    assert begun.min() < 0.96  # 16 degrees
    assert np.abs(batch.fleet.step.upright - begun).max() < 0.03
    batch.close()


def test_worlds_take_turns_through_the_looks_that_are_asked_for():
    fleet = read_settings({"look": ("", "meadow")}, ["generated_track"]).make_fleet(2)
    assert [scene.look for scene in fleet.simulator.spec.scenes] == ["", "meadow"]
    with pytest.raises(SceneError, match="none of the tracks flat offers the look 'meadow'"):
        read_settings({"look": "meadow"}, ["flat"])


def test_a_conf_and_settings_choose_the_car():
    assert BuiltInCar("flat", read_conf({"car": "original-2021"})).simulator.car_spec.name == "original-2021"
    assert read_settings({"car": "original-2021"}, ["flat"]).make_fleet(1).simulator.car_spec.name == "original-2021"
    with pytest.raises(SpecError, match="start the other with --car"):
        read_conf({"car": "original-2021", "port": 9091})
    with pytest.raises(SpecError, match="did you mean 'original-2021'"):
        BuiltInCar("flat", read_conf({"car": "original-2012"}))


def test_a_conf_chooses_a_look_of_the_simulator_in_this_process():
    assert read_conf({"look": "meadow"}).experiment.scene.look == "meadow"
    with pytest.raises(SpecError, match="start the other with --look"):
        read_conf({"look": "meadow", "host": "localhost"})


def test_a_thread_may_drive_while_another_one_resets_and_looks():
    """Before, Python itself ended with a memory fault."""
    batch = gymnasium.make_vec("donkeysim/GeneratedTrack-v0", num_envs=2, render_mode="rgb_array")
    batch.reset(seed=1)
    has_ended, step_count = threading.Event(), 0

    def drive():
        nonlocal step_count
        while not has_ended.is_set():
            batch.step(np.full((2, 2), 0.2, np.float32))
            step_count += 1

    driver = threading.Thread(target=drive)
    driver.start()
    for _ in range(60):
        assert batch.reset()[0].shape == (2, 120, 160, 3)
        assert batch.render()[1].shape == (360, 640, 3)
    has_ended.set()
    driver.join()
    assert step_count > 10
    batch.close()
