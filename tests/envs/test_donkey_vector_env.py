"""The original's ids in batches: every car is as a single environment of the same conf."""

import gymnasium
import numpy as np
import pytest

from batches import assert_same, assert_same_info, draw_actions, make_theirs
from donkeysim.core.errors import SceneError, SpecError
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.donkey_vector_env import DonkeyVectorEnv
from donkeysim.envs.registration import SCENE_BY_ID

ID = "donkey-generated-track-v0"
SMALL = {"cam_resolution": (24, 32, 3)}
FULL = {
    "max_cte": 3.0,
    "frame_skip": 3,
    "cam_config": {"img_w": 40, "img_h": 32, "img_d": 1, "fov": 100, "offset_x": 0.2},
    "cam_config_b": {"img_w": 32, "img_h": 24, "rot_y": 90},
    "lidar_config": {"deg_per_sweep_inc": 20, "deg_ang_delta": -1, "num_sweeps_levels": 2},
    "body_style": "car01",
    "body_rgb": (255, 0, 0),
    "steer_limit": 0.8,
    "throttle_min": -0.5,
}


def assert_same_steps(own, other):
    """Compare what a step returns; rewards may differ in the last digits."""
    (seen, reward, *flags, info), (seen_alone, reward_alone, *flags_alone, info_alone) = own, other
    assert_same(seen, seen_alone)
    assert reward == pytest.approx(reward_alone, abs=1e-9)
    for mine, hers in zip(flags, flags_alone, strict=True):
        assert_same(mine, hers)
    assert_same_info(info, info_alone)


@pytest.mark.parametrize("conf", [SMALL | {"max_cte": 2.0}, FULL])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_batch_is_as_single_environments(mode, conf):
    batch = gymnasium.make_vec(ID, 3, "vector_entry_point", conf=conf, autoreset_mode=mode, threads=2)
    theirs = make_theirs([lambda: DonkeyEnv(conf=conf)] * 3, mode)
    assert batch.observation_space == theirs.observation_space
    assert batch.action_space == theirs.action_space
    seen, info = batch.reset(seed=3)
    expected, expected_info = theirs.reset(seed=3)
    assert_same(seen, expected)
    assert_same_info(info, expected_info)
    ends = 0
    for actions in draw_actions(60, 3):
        outcome = theirs.step(actions)
        assert_same_steps(batch.step(actions), outcome)
        over = outcome[2]
        ends += over.sum()
        if mode == "Disabled" and over.any():
            seen, info = batch.reset(options={"reset_mask": over})
            expected, expected_info = theirs.reset(options={"reset_mask": over})
            assert_same(seen, expected)
            assert_same_info(info, expected_info)
    assert ends > 1
    batch.close()
    theirs.close()


def test_laps_and_times_are_those_of_a_car_alone():
    batch, alone = DonkeyVectorEnv(2, conf=SMALL, threads=1), DonkeyEnv(conf=SMALL)
    batch.reset(seed=0, options={"s": 20.0})
    alone.reset(seed=0, options={"s": 20.0})
    simulator = alone.simulator
    follower = PathFollower(simulator.scene, simulator.car_spec, "fast")
    counts = []
    for _ in range(600):
        steer, throttle, brake = follower.drive(simulator.ledger, 0)
        action = [-steer, throttle, brake]
        own = batch.step([action, [0.0, 0.0, 1.0]])[4]
        info = alone.step(action)[4]
        assert own["lap_count"][0] == info["lap_count"]
        assert own["last_lap_time"][0] == info["last_lap_time"]
        assert tuple(own["pos"][0]) == info["pos"]
        counts.append(info["lap_count"])
        if counts[-1] == 1:
            break
    assert counts[-1] == 1
    assert info["last_lap_time"] > 5.0
    assert own["speed"][1] < 1e-3
    batch.close()
    alone.close()


def test_hits_are_told_by_name():
    batch, alone = DonkeyVectorEnv(2, conf=SMALL | {"max_cte": 1000.0}, threads=1), None
    start = {"s": 2.93, "yaw": -1.57}  # across the road, to the first cone
    batch.reset(seed=0, options=start)
    alone = DonkeyEnv(conf=SMALL | {"max_cte": 1000.0})
    alone.reset(seed=0, options=start)
    for _ in range(400):
        info = batch.step(np.tile(np.float32([0.0, 1.0]), (2, 1)))[4]
        hit = alone.step([0.0, 1.0])[4]["hit"]
        assert info["hit"].tolist() == [hit, hit]
        if hit != "none":
            break
    assert hit != "none"
    batch.close()
    alone.close()


@pytest.mark.parametrize("place", [{"host": "127.0.0.1"}, {"port": 9091}, {"exe_path": "/opt/donkey_sim"}])
def test_a_simulator_elsewhere_is_refused(place):
    with pytest.raises(SpecError, match="leave these keys out"):
        gymnasium.make_vec(ID, 2, conf=place)


def test_what_is_not_possible_is_refused():
    with pytest.raises(SpecError, match="max_cte"):
        DonkeyVectorEnv(2, conf={"max_ctee": 2})
    with pytest.raises(SpecError, match="num_envs"):
        DonkeyVectorEnv(0)
    with pytest.raises(SceneError):
        DonkeyVectorEnv(2, "atlantis")
    batch = DonkeyVectorEnv(2, conf=SMALL)
    batch.reset(seed=0)
    with pytest.raises(SpecError, match="steering and throttle"):
        batch.step(np.zeros((2, 4)))


def test_every_id_of_the_original_has_a_batch():
    for name in SCENE_BY_ID:
        assert gymnasium.spec(name).vector_entry_point == gymnasium.spec(f"donkeysim/{name}").vector_entry_point
        assert "DonkeyVectorEnv" in gymnasium.spec(name).vector_entry_point
