"""The original's environments: ids, spaces, `info`, reward and end of an episode, repeatable and in this process."""

import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.envs.conf import read_conf
from donkeysim.envs.donkey_env import DonkeyEnv

LIDAR = {"lidar_config": {"deg_per_sweep_inc": 10, "deg_ang_delta": -1, "num_sweeps_levels": 2}}


@pytest.fixture(scope="module")
def env():
    env = gymnasium.make("donkey-generated-track-v0").unwrapped
    yield env
    env.close()


def drive(env, step_count, seed=0):
    records = [env.reset(seed=seed)[0].tobytes()]
    for index in range(step_count):
        observation, reward, over, _, info = env.step([0.4 * np.sin(index / 4), 0.5])
        records.append((observation.tobytes(), reward, over, info["pos"], info["accel"], info["gyro"]))
    return records


@pytest.mark.original(
    "gym-donkeycar", "ids such as `donkey-generated-track-v0`", "as they are; `donkeysim/` before them is always ours"
)
@pytest.mark.parametrize("order", ["donkeysim, gymnasium", "gymnasium, donkeysim"])
def test_the_ids_are_there_whichever_is_imported_first(order):
    script = f"import {order}; print(sum('donkey-' in name for name in gymnasium.registry))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "22"


def test_importing_the_package_does_not_import_gymnasium():
    script = "import sys, donkeysim; print('gymnasium' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_gymnasium_finds_nothing_wrong():  # nor with any other id: see tests/soak/test_every_id.py
    env = gymnasium.make("donkeysim/donkey-generated-track-v0", disable_env_checker=True)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_spaces_follow_the_conf():
    env = DonkeyEnv(conf={"steer_limit": 0.5, "throttle_min": -0.2, "throttle_max": 0.8, "cam_resolution": (60, 80, 1)})
    assert np.allclose(env.action_space.low, [-0.5, -0.2])
    assert np.allclose(env.action_space.high, [0.5, 0.8])
    observation, _ = env.reset()
    assert observation.shape == env.observation_space.shape == (60, 80, 1)
    env.close()


def test_a_step_is_a_twentieth_of_a_second_times_the_frame_skip(env):
    env.reset()
    env.step([0.0, 0.3])
    assert env.telemetry.time == pytest.approx(0.05)
    skipping = DonkeyEnv(conf={"frame_skip": 4})
    skipping.reset()
    skipping.step([0.0, 0.3])
    assert skipping.telemetry.time == pytest.approx(0.2)
    skipping.close()


def test_moments_are_numbered_from_the_first_of_an_episode(env):
    for _ in range(2):
        env.reset()
        frames = [env.telemetry.frame]
        for _ in range(2):
            env.step([0.0, 0.2])
            frames.append(env.telemetry.frame)
        assert frames == [0, 1, 2]


def test_a_seeded_episode_is_repeatable_bit_for_bit(env):
    assert drive(env, 40, seed=5) == drive(env, 40, seed=5)
    other = DonkeyEnv()
    assert drive(other, 40, seed=5) == drive(env, 40, seed=5)
    other.close()


def test_an_episode_begins_where_it_is_told(env):
    assert abs(env.reset(seed=0)[1]["cte"]) < 0.5
    info = env.reset(seed=0, options={"s": 5.0, "offset": 0.25, "yaw": 0.1})[1]
    assert info["cte"] == pytest.approx(-2.0, abs=0.1)
    for _ in range(5):
        info = env.step([0.0, 0.0])[4]
    assert info["speed"] < 0.05
    with pytest.raises(SpecError, match="option of reset"):
        env.reset(options={"speed": 1.0})


def test_observations_are_copies(env):
    first, _ = env.reset()
    before = first.copy()
    for _ in range(20):
        last = env.step([0.5, 1.0])[0]
    assert np.array_equal(first, before)
    assert not np.shares_memory(first, last)


@pytest.mark.original("gym-donkeycar", "`info`", "as it is")
def test_info_holds_what_the_original_holds():
    env = DonkeyEnv(conf=LIDAR | {"cam_config_b": {"fov": 60}})
    _, info = env.reset()
    assert set(info) == {
        *("pos", "cte", "speed", "forward_vel", "hit", "gyro", "accel", "vel", "lidar", "car"),
        *("last_lap_time", "lap_count", "image_b"),
    }
    assert info["lidar"].shape == (72,)
    assert ((info["lidar"] == -1.0) | (info["lidar"] > 0.0)).all()
    assert info["image_b"].shape == (120, 160, 3)
    assert env.step([0.0, 0.5])[4]["hit"] == "none"
    env.close()


def test_the_lidar_is_an_empty_list_when_it_is_off(env):
    assert env.reset()[1]["lidar"] == []


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_leaving_the_road_on_either_side_ends_the_episode(side):
    env = DonkeyEnv(conf={"max_cte": 4.0})
    _, info = env.reset()
    for _ in range(200):
        _, reward, over, truncated, info = env.step([side, 0.4])
        assert not truncated
        if over:
            break
        expected = (1.0 - abs(info["cte"]) / 4.0) * info["forward_vel"]
        assert reward == pytest.approx(expected if info["forward_vel"] > 0.0 else info["forward_vel"])
    assert over
    assert abs(info["cte"]) > 4.0 or info["hit"] != "none"
    assert reward == -1.0
    env.close()


def test_the_reward_goes_by_this_step_s_velocity(env):
    env.reset()
    _, reward, _, _, info = env.step([0.0, 1.0])
    assert info["forward_vel"] == pytest.approx(env.telemetry.vel_z)
    assert reward > 0.0


def test_positive_steering_turns_right(env):
    env.reset()
    for _ in range(20):
        env.step([1.0, 0.3])
    assert env.telemetry.gyro_y > 0.1


def test_the_view_from_behind_is_drawn_on_request():
    env = gymnasium.make("donkey-generated-track-v0", render_mode="rgb_array")
    env.reset()
    assert env.render().shape == (360, 640, 3)
    env.close()


def test_steps_take_real_time_on_request():
    """Programs by which a person drives rely on the original's pace."""
    env = DonkeyEnv(conf={"real_time": True, "frame_skip": 2})
    env.reset(seed=1)
    begun = time.monotonic()
    for _ in range(4):
        env.step((0.0, 0.3))
    assert time.monotonic() - begun > 0.35
    env.close()
    with pytest.raises(SpecError, match="real_time"):
        gymnasium.make_vec("donkey-generated-track-v0", num_envs=2, conf={"real_time": True})


@pytest.mark.original("gym-donkeycar", "a program's own keys in `conf`", "skipped, and logged")
def test_keys_of_a_program_itself_are_told_and_passed_over(caplog):
    """Programs have one dict for all they need; what resembles a key of ours is a slip and refused."""
    assert read_conf({"controller_type": "xbox", "pos_x": "0.0", "max_cte": 3}) == read_conf({"max_cte": 3})
    assert read_conf({"car_config": {"car_name": "me", "racer_name": "A", "guid": "1"}}).messages[0]["car_name"] == "me"
    assert "conf has no keys 'controller_type', 'pos_x'; they are taken for your own program's and" in caplog.text


@pytest.mark.original("gym-donkeycar", "slips in keys of `conf`", "differs: refused; the original ignores them")
@pytest.mark.parametrize(
    ("conf", "words"),
    [
        ({"max_ctee": 5}, "did you mean 'max_cte'"),
        ({"maxCte": 5}, "'max_cte' now"),
        ({"degPerSweepInc": 5}, "'deg_per_sweep_inc' now"),
        ({"cam_config": {"fow": 80}}, "'fov'"),
        ({"lidar_config": {"maxRange": 80}}, "'max_range' now"),
        ({"cam_config": 80}, "must be a dict"),
        ({"cam_resolution": (120, 160)}, "height, width, channels"),
        ({"cam_resolution": (120, 160, 3), "img_w": 8000}, "120x8000x3 is not valid"),
        ({"frame_skip": 0}, "frame_skip"),
        ({"throttle_min": 0.5, "throttle_max": 0.2}, "swap them"),
        ({"body_style": "f1", "body_rgb": 7}, "body_rgb"),
        ({"fov": "wide"}, "fov"),
        ({"log_level": "LOUD"}, "log_level"),
        ("remote", "conf is 'remote', but must be a dict"),
    ],
)
def test_an_impossible_conf_is_refused_with_what_is_possible(conf, words):
    with pytest.raises(DonkeySimError, match=words.replace("(", r"\(")):
        DonkeyEnv(conf=conf)


@pytest.mark.parametrize("action", [[0.0], [0.0, float("nan")], [0.0, 0.0, 0.0, 0.0], 0.5, None, [[0.0, 0.0]]])
def test_an_impossible_action_is_refused_with_what_was_given(env, action):
    env.reset()
    sentence = f"the action is {action}; it takes two finite numbers, steering and throttle, and the brake if you like."
    with pytest.raises(SpecError, match=f"^{re.escape(sentence)}$"):
        env.step(action)


def test_a_thread_may_drive_while_another_one_resets_configures_and_looks():
    """As programs do whose keys begin a new episode; before, Python itself ended with a memory fault."""
    env = DonkeyEnv(render_mode="rgb_array")
    env.reset(seed=1)
    has_ended = threading.Event()

    def drive():
        count = 0
        while not has_ended.is_set():
            assert env.step([0.1, 0.4])[0].shape == (120, 160, 3)
            count += 1
        return count

    with ThreadPoolExecutor(2) as pool:
        drivers = [pool.submit(drive) for _ in range(2)]
        for index in range(100):
            assert env.reset()[0].shape == (120, 160, 3)
            env.viewer.set_cam_config(fov=60 + index % 60)
            assert env.render().shape == (360, 640, 3)
        has_ended.set()
    assert all(driver.result() > 10 for driver in drivers)
    env.close()


def test_a_conf_in_the_place_of_the_scene_is_no_scene():
    with pytest.raises(DonkeySimError, match="unknown scene"):
        DonkeyEnv({"max_cte": 5})


def test_stepping_before_the_first_reset_is_refused():
    env = DonkeyEnv()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0.0, 0.0])
    env.close()


@pytest.mark.original("gym-donkeycar", "`cte`, reward and end of an episode", "as it is")
def test_cte_is_the_originals_in_info_reward_and_end(env):
    """An episode begins as after a reset; a car that is turned round leaves the active node behind until it ends."""
    _, info = env.reset(seed=1)
    assert (info["cte"], env.telemetry.activeNode) == (pytest.approx(0.0043, abs=0.001), 0)
    assert abs(env.simulator.ledger.active_offset[0]) * 8.0 == pytest.approx(abs(info["cte"]))
    env.reset(seed=1, options={"s": 1.5, "yaw": np.pi})
    node, over, told = env.telemetry.activeNode, False, []
    for _ in range(300):
        _, reward, over, _, info = env.step([-1.0, 0.3])
        told.append(abs(info["cte"]))
        if over:
            break
        assert reward == pytest.approx((1.0 - told[-1] / 8.0) * info["forward_vel"], abs=1e-6)
    assert over
    assert told[-1] > 8.0
    assert env.telemetry.activeNode in (node, node + 1)
