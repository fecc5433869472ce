"""Programs written for the original's environment run with their import replaced, by today's rules and the old ones.

They are ours, in the manner of the original's examples: the first drives at random, the others reward in their own
way, learn with a library, learn by themselves from stacked grey pictures, and send their car elsewhere.
"""

import logging
import math
import socket
import sys

import gymnasium
import numpy as np
import pytest

from donkeysim.core.errors import SimulatorError, SpecError
from donkeysim.envs import donkey_env, gym
from donkeysim.envs.conf import read_conf
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.registration import SCENE_BY_ID
from stand_ins.original_server import OriginalServer
from waiting import wait_until

CONF = {
    "host": "127.0.0.1",
    "body_style": "donkey",
    "body_rgb": (128, 128, 128),
    "car_name": "me",
    "font_size": 100,
    "racer_name": "test",
    "country": "USA",
    "bio": "I am test client",
    "start_delay": 1,
    "max_cte": 5,
}
"""As the original's examples have it, but for the port."""

HERE = {key: value for key, value in CONF.items() if key != "host"}


@pytest.fixture
def server():
    with OriginalServer() as server:
        yield server


# ---- a simulator that was started by hand ------------------------------------------------------------------------


@pytest.mark.original("gym-donkeycar", '`exe_path` as `"remote"`, `"sim_path"`', "connects to the simulator that runs")
@pytest.mark.parametrize(
    "word", ["sim_path", "manual", "path to sim", "remote", "none", "/path/to/donkey_sim", "<path>"]
)
def test_a_path_that_is_a_word_connects_to_the_simulator_that_runs(server, caplog, word):
    env = gym.make("donkey-generated-track-v0", conf={**CONF, "exe_path": word, "port": server.port})
    assert env.reset().shape == (120, 160, 3)
    env.close()
    told = f"exe_path {word!r} is no program: connecting to a simulator that runs already, at 127.0.0.1:{server.port}."
    assert (told in caplog.messages) == (word != "remote")


def test_without_a_port_the_usual_one_is_meant():
    assert read_conf({"exe_path": "sim_path"}).address == ("127.0.0.1", 9091)
    assert read_conf({"exe_path": "manual", "host": "10.0.0.2"}).address == ("10.0.0.2", 9091)


@pytest.mark.original(
    "gym-donkeycar", "`exe_path` of a program that is not there", "connects to the simulator that runs, if one does"
)
def test_where_no_program_is_the_simulator_that_runs_is_meant(server, caplog):
    path = "../gym-donkeycar/donkey_sim.exe"
    env = gym.make("donkey-generated-track-v0", conf={**CONF, "exe_path": path, "port": server.port})
    assert env.reset().shape == (120, 160, 3)
    env.close()
    assert (
        f"there is no {path}: connecting to a simulator that runs already, at 127.0.0.1:{server.port}." in caplog.text
    )


def test_a_path_of_a_program_that_is_not_there_is_told_where_nobody_listens(tmp_path):
    with socket.socket() as bound:  # and nobody listens there
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    conf = {"exe_path": str(tmp_path / "donkey_sim.x86_64"), "port": port}
    with pytest.raises(SimulatorError, match="there is no simulator at"):
        DonkeyEnv(conf=conf)


@pytest.mark.parametrize("where", ["conf", "kwargs"])
def test_a_program_may_ask_for_no_window(where):
    asked = {**HERE, "headless": True}
    env = gym.make("donkey-generated-track-v0", **({"conf": asked} if where == "conf" else asked))
    assert env.reset().shape == (120, 160, 3)
    env.close()


def test_a_grey_picture_may_have_three_channels():
    """`img_d` 1 beside a `cam_resolution` of three channels, which some programs always give."""
    conf = {**HERE, "cam_resolution": (60, 80, 3), "cam_config": {"img_w": 80, "img_h": 60, "img_d": 1}}
    env = DonkeyEnv(conf=conf)
    picture, _ = env.reset()
    assert picture.shape == env.observation_space.shape == (60, 80, 3)
    assert (picture == picture[:, :, :1]).all()
    env.viewer.set_cam_config(fov=100)
    wider = env.step((0.0, 0.1))[0]
    assert (wider.std(axis=2) == 0.0).all(), "still grey"
    assert (wider != picture).any()
    env.viewer.set_cam_config(img_d=3)
    assert (env.step((0.0, 0.1))[0].std(axis=2) > 0.0).any(), "in colour"
    env.viewer.set_cam_config(img_d=1)
    assert (env.step((0.0, 0.1))[0].std(axis=2) == 0.0).all()
    env.close()
    batch = gymnasium.make_vec("donkey-generated-track-v0", num_envs=2, conf=conf)
    pictures, _ = batch.reset()
    assert pictures.shape == (2, 60, 80, 3)
    assert (pictures.std(axis=3) == 0.0).all()
    batch.close()


def test_pictures_have_the_size_that_the_camera_was_given_as_in_the_original(caplog):
    """`test_cam_config.py` of the original gives `img_w` the height: its pictures follow the camera's own fields."""
    cam = (64, 96, 3)
    env = DonkeyEnv(conf={**HERE, "cam_resolution": cam, "img_w": cam[0], "img_h": cam[1], "img_d": cam[2]})
    assert env.reset()[0].shape == env.observation_space.shape == env.viewer.get_sensor_size() == (96, 64, 3)
    assert "cam_resolution (64, 96, 3) is not the camera's img_h and img_w: pictures are (96, 64, 3)." in caplog.text
    env.viewer.set_cam_config(fov=70, img_w=80)  # a side alone keeps both, as on the wire
    assert env.step((0.0, 0.1))[0].shape == env.observation_space.shape == (96, 64, 3)
    env.viewer.set_cam_config(img_w=80, img_h=96)
    assert env.step((0.0, 0.1))[0].shape == env.observation_space.shape == (96, 80, 3)
    env.viewer.handler.queue_message({"msg_type": "cam_config", "img_w": 80, "img_h": "48", "img_d": "1"})
    assert env.step((0.0, 0.1))[0].shape == env.viewer.get_sensor_size() == env.observation_space.shape == (48, 80, 3)
    env.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (32,))
    env.viewer.set_cam_config(img_w=80, img_h=64)
    assert env.reset()[0].shape == (64, 80, 3)
    assert env.observation_space.shape == (32,), "one of its own stays"
    env.close()


def test_a_simulator_elsewhere_is_asked_for_the_size_that_the_camera_was_given(server):
    env = DonkeyEnv(conf={**CONF, "port": server.port})
    env.viewer.set_cam_config(img_w=64, img_h=48)
    assert env.reset()[0].shape == env.observation_space.shape == (48, 64, 3)
    env.viewer.set_cam_config(fov=60)
    assert wait_until(lambda: [one["img_w"] for one in server.of_kind("cam_config")] == ["160", "64", "64"])
    env.close()


def test_a_throttle_may_be_always_the_same():
    env = DonkeyEnv(conf={**HERE, "throttle_min": 0.25, "throttle_max": 0.25})
    env.action_space.seed(1)
    env.reset()
    action = env.action_space.sample()
    assert action[1] == 0.25
    assert not env.step(action)[2]
    env.close()


def test_what_the_old_make_takes_beside_a_conf_may_be_anything_of_a_conf(caplog):
    env = gym.make("donkey-generated-track-v0", exe_path="", cam_config={"fov": 70}, max_cte=3, run="a")
    assert (env.conf.max_cte, env.conf.messages[-1]["fov"]) == (3.0, "70")
    assert "conf has no keys 'run'" in caplog.text
    env.close()
    for slip, meant in (
        ("maxcte", "max_cte"),
        ("max_episode_step", "max_episode_steps"),
        ("rendermode", "render_mode"),
        ("confs", "conf"),
    ):
        with pytest.raises(SpecError, match=f"did you mean '{meant}'"):
            gym.make("donkey-generated-track-v0", **{slip: 3})


@pytest.mark.parametrize("most", [sys.maxsize, math.inf])
def test_no_end_at_all_is_a_path_without_a_limit(most):
    env = DonkeyEnv(conf={**HERE, "max_cte": most})
    env.reset()
    assert env.step((0.0, 0.5))[1] > 0.0


# ---- the environment's object ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: DonkeyEnv(level="warehouse"),
        lambda: DonkeyEnv("warehouse", HERE),
        lambda: DonkeyEnv("donkey-warehouse-v0", conf=HERE),
        lambda: DonkeyEnv(level="donkeysim/donkey-warehouse-v0"),
    ],
)
def test_a_level_is_a_scene_by_name_or_by_place_or_by_id(make):
    env = make()
    assert env.simulator.scene.name == "warehouse"
    env.close()


class Custom(DonkeyEnv):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, level="generated_track", **kwargs)


@pytest.fixture(scope="module")
def env():
    env = Custom(conf=HERE)
    yield env
    env.close()


@pytest.mark.original("gym-donkeycar", "`env.unwrapped.viewer` and its `handler`", "as it is")
def test_the_viewer_answers_what_the_originals_does(env):
    env.reset(seed=1)
    viewer = env.unwrapped.viewer
    assert viewer.get_sensor_size() == viewer.handler.get_sensor_size() == (120, 160, 3)
    viewer.wait_until_loaded()
    viewer.take_action((0.1, 0.5))
    for _ in range(20):
        picture, reward, done, info = viewer.observe()
    assert picture.shape == (120, 160, 3)
    assert (reward > 0.0, done, viewer.is_game_over(), env.is_game_over()) == (True, False, False, False)
    handler = viewer.handler
    assert (handler.speed, handler.cte, (handler.x, handler.y, handler.z)) == (info["speed"], info["cte"], info["pos"])
    assert handler.speed > 0.3
    handler.send_control(0.0, 0.0, 1.0)
    for _ in range(20):
        viewer.observe()
    assert handler.speed < 0.05, "a brake is a third number"
    viewer.set_car_config("f1", (1, 2, 3), "Anna", 50)
    assert env.simulator.get_body(0).name == "Anna"
    viewer.set_cam_config(fov=120)
    assert env.step((0.0, 0.1))[0].shape == (120, 160, 3)
    assert np.degrees(env.simulator.get_camera(0).fov) == pytest.approx(120)
    viewer.exit_scene()
    viewer.reset()
    assert env.step((0.0, 0.1))[1] >= 0.0


class WrittenOut(DonkeyEnv):
    """The original's class with what is overridden written out, as programs do that change a line of it."""

    def step(self, action):
        for _ in range(self.frame_skip):
            self.viewer.take_action(action)
            observation, reward, done, info = self.viewer.observe()
        return observation, reward, done, False, info

    def reset(self, *, seed=None, options=None):
        self.viewer.handler.send_control(0, 0, 1.0)
        self.viewer.reset()
        self.viewer.handler.send_control(0, 0, 1.0)
        observation, _, _, info = self.viewer.observe()
        return observation, info

    def close(self):
        if self.viewer is not None:
            self.viewer.quit()
        if self.proc is not None:
            self.proc.quit()


def test_a_class_of_ones_own_may_write_out_what_the_originals_does():
    env = WrittenOut(conf=HERE)
    for _ in range(2):
        picture, info = env.reset(seed=1)
        assert picture.shape == (120, 160, 3)
        assert info["speed"] < 1e-3
        for _ in range(10):
            *_, terminated, truncated, info = env.step((0.0, 0.5))
        assert (terminated, truncated) == (False, False)
        assert info["speed"] > 0.3
    env.close()


def test_a_car_stays_at_its_start_until_it_is_driven(env):
    """Programs look at it once more after a reset, whatever was driven with before."""
    for reset in (env.reset, env.viewer.reset):
        for _ in range(10):
            env.step((0.0, 1.0))
        reset()
        for _ in range(5):
            _, _, _, info = env.viewer.observe()
        assert info["speed"] < 1e-3


def test_a_handler_has_all_its_readings_before_the_first_step():
    handler = DonkeyEnv(conf=HERE).viewer.handler
    assert (handler.cte, handler.x, handler.speed, handler.lap_count) == (0.0, 0.0, 0.0, 0)
    assert (handler.hit, handler.lidar) == ("none", [])
    assert handler.image_array.shape == (120, 160, 3)


def test_a_handler_takes_the_originals_messages(env, caplog):
    handler = env.viewer.handler
    handler.send_car_config("bare", (9, 8, 7), "Berta", 20)
    assert env.simulator.get_body(0).name == "Berta"
    handler.blocking_send({"msg_type": "car_config", "body_style": "f1", "body_r": 1, "car_name": "Carla"})
    assert env.simulator.get_body(0).name == "Carla"
    handler.queue_message({"msg_type": "quit_app"})
    assert "quit_app is for a simulator elsewhere; it does nothing in this process." in caplog.text
    with pytest.raises(SpecError, match="unknown key in cam_config 'fovv'"):
        env.viewer.set_cam_config(fovv=33)


def test_a_lidar_is_turned_on_by_its_message_as_by_a_conf():
    env = DonkeyEnv(conf=HERE)
    env.reset()
    assert env.step((0.0, 0.0))[4]["lidar"] == []
    handler = env.viewer.handler
    handler.send_lidar_config(deg_per_sweep_inc=10, num_sweeps_levels=2)
    assert env.step((0.0, 0.0))[4]["lidar"].shape == handler.lidar.shape == (72,)
    handler.blocking_send({"msg_type": "lidar_config", "degPerSweepInc": "5", "numSweepsLevels": "0"})  # 0 keeps it
    assert env.step((0.0, 0.0))[4]["lidar"].shape == (144,)
    with pytest.raises(SpecError, match="'degPerSweepInc' in lidar_config is an old name"):
        handler.send_lidar_config(degPerSweepInc=5)
    env.close()


def test_rewards_and_ends_may_be_given_to_the_handler_itself(env):
    env.reset(seed=1)
    handler = env.viewer.handler
    was = handler.calc_reward, handler.determine_episode_over
    handler.set_reward_fn(lambda handler, done: handler.max_cte + done)
    handler.set_episode_over_fn(lambda handler: setattr(handler, "over", True))
    assert env.step((0.0, 0.1))[1:3] == (handler.max_cte + 1, True)
    handler.calc_reward, handler.determine_episode_over = was


def test_either_camera_is_changed_by_its_own_message(env):
    env.viewer.set_cam_config(msg_type="cam_config_b", img_w=64, img_h=48, img_d=3, fov=33)
    kinds = [message["msg_type"] for message in env.conf.messages]
    assert kinds.count("cam_config") == kinds.count("cam_config_b") == 1
    assert np.degrees(env.simulator.get_camera(0).fov) != pytest.approx(33)


def test_a_message_to_a_simulator_elsewhere_is_sent_as_it_is(server):
    env = DonkeyEnv(conf={**CONF, "port": server.port})
    env.viewer.handler.blocking_send({"msg_type": "set_position", "pos_x": 1})
    assert wait_until(lambda: server.of_kind("set_position") == [{"msg_type": "set_position", "pos_x": "1"}])
    env.close()


@pytest.mark.original("gym-donkeycar", "`handler.fns`, `handler.client`, `env.proc`, `supply_defaults`", "as it is")
def test_functions_of_ones_own_hear_what_a_simulator_elsewhere_says(server, caplog):
    env = DonkeyEnv(conf={**CONF, "port": server.port})
    handler, heard = env.viewer.handler, []
    assert handler.client is env.viewer.client
    assert handler.client.is_connected()
    assert env.proc is None
    before = handler.fns["telemetry"]

    def hear(message):
        before(message)
        heard.append(message)
        raise ValueError("a slip of the program's")

    handler.fns["telemetry"] = hear
    env.reset()
    for _ in range(3):
        env.step((0.0, 0.5))
    assert len(heard) >= 3
    assert float(heard[-1]["speed"]) >= 0.0
    assert "the function of handler.fns for 'telemetry' has failed." in caplog.text
    handler.client.send_now({"msg_type": "set_position", "pos_x": 2})
    assert wait_until(lambda: server.of_kind("set_position") == [{"msg_type": "set_position", "pos_x": "2"}])
    handler.client.stop()
    assert not handler.client.is_connected()


def test_the_path_is_asked_of_the_simulator_here_as_of_one_elsewhere(env, caplog):
    handler, heard = env.viewer.handler, []
    handler.fns["node_position"] = heard.append
    for index in (0, 1, 10_000):
        handler.queue_message({"msg_type": "node_position", "index": index})
    assert [message["index"] for message in heard] == [0, 1]
    place = env.simulator.scene.path.position[1]
    assert (heard[1]["pos_x"], heard[1]["pos_z"]) == pytest.approx((8.0 * -place[1], 8.0 * place[0]), abs=1e-3)
    assert "index 10000 is not a node of this path" in caplog.text
    assert handler.client.is_connected()


def test_a_car_here_is_put_elsewhere_as_by_a_server(env, caplog):
    """Programs begin their episodes at a node of the path, in the original's raw units."""
    env.reset(seed=1)
    handler, nodes = env.viewer.handler, []
    handler.fns["node_position"] = nodes.append
    handler.blocking_send({"msg_type": "node_position", "index": "40"})
    place = {key: str(value) for key, value in nodes[0].items() if key[:3] == "pos" or key[0] == "Q"}
    handler.blocking_send({"msg_type": "set_position", **place})
    info = env.step((0.0, 0.0))[4]
    assert info["pos"] == pytest.approx([float(place[f"pos_{axis}"]) / 8.0 for axis in "xyz"], abs=2e-3)
    assert info["car"][2] == pytest.approx(2.0 * math.degrees(math.atan2(nodes[0]["Qy"], nodes[0]["Qw"])) % 360, abs=1)
    handler.blocking_send({"msg_type": "set_position", "pos_x": "1"})
    assert "set_position: pos_y is missing" in caplog.text
    assert env.reset()[1]["pos"] != pytest.approx(info["pos"], abs=0.1)


def test_a_start_line_is_told_as_the_originals_handler_does(env):
    env.reset(seed=1)
    handler = env.viewer.handler
    assert (handler.starting_line_index, handler.dq, handler.missed_checkpoint) == (-1, False, False)


def test_defaults_are_written_into_what_a_class_of_ones_own_reads(caplog):
    caplog.set_level(logging.WARNING, "donkeysim")  # which a conf changes, put back at the end
    conf = {"max_cte": 3.0}
    donkey_env.supply_defaults(conf)
    assert (conf["max_cte"], conf["cam_resolution"], conf["frame_skip"]) == (3.0, (120, 160, 3), 1)
    assert not read_conf(conf).is_remote
    assert read_conf({**conf, "port": 9091}).is_remote


def test_without_a_viewer_or_with_one_episodes_are_the_same(env):
    def drive():
        env.reset(seed=3)
        stepped = [env.step((0.2, 0.6)) for _ in range(30)]
        return [(step[1], step[2], step[4]["cte"]) for step in stepped]

    plain = drive()
    assert env.viewer
    assert drive() == plain


@pytest.mark.original("gym-donkeycar", "`set_reward_fn`, `set_episode_over_fn`", "as it is")
def test_rewards_and_ends_of_ones_own_are_functions_of_the_handler(env):
    def reward(self, done):
        return -7.0 if done else self.speed - abs(self.cte) / self.max_cte

    def end(self):
        self.over = self.speed > 0.8 or self.hit != "none"

    env.set_reward_fn(reward)
    env.set_episode_over_fn(end)
    env.reset(seed=2)
    rewards, terminated = [], False
    while not terminated:
        _, value, terminated, _, info = env.step((0.0, 1.0))
        rewards.append((value, info))
    assert rewards[-1][0] == -7.0
    assert rewards[-1][1]["speed"] > 0.8
    value, info = rewards[-2]
    assert value == pytest.approx(info["speed"] - abs(info["cte"]) / 5.0)
    env.reset()
    assert not env.step((0.0, 0.1))[2]


def test_a_car_elsewhere_has_the_same_viewer(server):
    env = DonkeyEnv(conf={**CONF, "port": server.port})
    env.reset()
    env.viewer.take_action((0.25, 0.5))
    assert env.viewer.observe()[0].shape == (120, 160, 3)
    assert wait_until(lambda: (server.control["steering"], server.control["throttle"]) == ("0.25", "0.5"))
    env.viewer.set_car_config("f1", (1, 2, 3), "Anna")
    env.viewer.exit_scene()
    assert wait_until(lambda: server.of_kind("exit_scene"))
    assert server.of_kind("car_config")[-1]["car_name"] == "Anna"
    env.viewer.quit()


def test_a_program_that_changes_the_scene_by_the_handler_gets_there(server, caplog):
    """It sets `SceneToLoad`, clears `loaded`, leaves the scene and waits; `reset` then begins in the new one."""
    env = DonkeyEnv(conf={**CONF, "port": server.port})
    env.reset()
    handler = env.viewer.handler
    assert handler.SceneToLoad == "generated_track"
    handler.SceneToLoad, handler.loaded = "warehouse", False
    env.viewer.exit_scene()
    assert wait_until(lambda: server.of_kind("exit_scene"))
    server.go_to_menu()
    assert wait_until(lambda: handler.loaded)
    assert server.of_kind("load_scene")[-1]["scene_name"] == "warehouse"
    env.reset()
    handler.send_load_scene("donkey-warren-track-v0")  # of some programs, an id; the original knows no such scene
    assert "donkey-warren-track-v0 is no scene" in caplog.text
    assert env.step((0.0, 0.5))[0].shape == (120, 160, 3)
    env.close()


def test_a_handler_s_functions_are_called_as_the_original_s(env):
    handler = env.viewer.handler
    assert env.frame_skip == 1
    names = ("telemetry", "recv_scene_names", "car_loaded", "abort", "DQ", "collision_with_starting_line")
    for name in names:
        assert getattr(handler, f"on_{name}")({}) is None


# ---- the old rules -----------------------------------------------------------------------------------------------


@pytest.mark.original("gym-donkeycar", "programs for `gym` before 0.26", "run with `from donkeysim.envs import gym`")
def test_a_program_that_drives_at_random_by_the_old_rules():
    env = gym.make("donkey-generated-track-v0", conf=HERE)
    env.seed(5)
    obv = env.reset()
    assert obv.shape == env.observation_space.shape == (120, 160, 3)
    for _ in range(30):
        obv, reward, done, info = env.step(env.action_space.sample())
        assert (type(reward), type(done)) == (float, bool)
        assert "cte" in info
        if done:
            obv = env.reset()
    env.render(mode="rgb_array")
    env.unwrapped.viewer.exit_scene()
    env.close()


class SafeEnv(gym.OldDonkeyEnv):
    """The original's class with an end of its own."""

    def step(self, action):
        picture, reward, done, info = super().step(action)
        return picture, reward, done or info["speed"] > 0.5, info


@pytest.mark.original(
    "gym-donkeycar", "classes derived from `DonkeyEnv` by the old rules", "with `gym.OldDonkeyEnv` as their base"
)
def test_a_class_of_ones_own_by_the_old_rules():
    env = SafeEnv("mini_monaco", HERE)
    assert env.reset().shape == (120, 160, 3)
    done = False
    while not done:
        _, _, done, info = env.step((0.0, 1.0))
    assert 0.5 < info["speed"] < 1.0
    env.close()


@pytest.mark.original("gym-donkeycar", "`step` and `viewer.observe()` before the first `reset`", "by the old rules too")
@pytest.mark.parametrize(
    "make",
    [
        lambda: gym.make("donkey-generated-track-v0", conf=HERE),
        lambda: gym.make("donkey-generated-track-v0", conf=HERE, max_episode_steps=99),
        lambda: gym.OldDonkeyEnv("generated_track", HERE),
        lambda: SafeEnv("generated_track", HERE),
    ],
)
def test_a_car_is_there_before_the_first_reset(make):
    """Programs look at a picture, or step once, where they are made, to learn its size."""
    env = make()
    picture, _, done, info = env.step([0, 0])
    assert (picture.shape, done, info["speed"] < 1e-3) == ((120, 160, 3), False, True)
    env.close()
    env = make()
    env.viewer.take_action([0.0, 1.0])
    for _ in range(10):
        picture, _, done, info = env.viewer.observe()
    assert (picture.shape, done, info["speed"] > 0.3) == ((120, 160, 3), False, True)
    if env.spec is None or env.spec.max_episode_steps is None:
        assert env.step([0, 1.0])[3]["speed"] > info["speed"], "it goes on with what has begun"
    env.close()


def test_an_end_is_not_stepped_over_by_the_old_rules():
    env = gym.make("donkeysim/GeneratedTrack-v0")
    while not env.step(np.float32([1.0, 1.0]))[2]:
        pass
    with pytest.raises(gymnasium.error.ResetNeeded, match="the episode is over"):
        env.step(np.float32([1.0, 1.0]))
    env.close()


@pytest.mark.original("gym-donkeycar", "classes of one place, as `MiniMonacoEnv`", "as they are")
def test_a_class_of_one_place():
    env = donkey_env.MiniMonacoEnv(conf=HERE)
    assert env.simulator.scene.name == "mini_monaco"
    assert (env.VAL_PER_PIXEL, type(env).__name__) == (255, "MiniMonacoEnv")
    assert isinstance(env, donkey_env.MiniMonacoEnv), "there is one such class"
    env.close()
    assert sorted(donkey_env.SCENE_BY_CLASS.values()) == sorted(SCENE_BY_ID.values())
    assert {"DonkeyEnv", *donkey_env.SCENE_BY_CLASS} <= set(donkey_env.__all__), "as of `import *`"
    with pytest.raises(ImportError, match="LunaEnv"):
        from donkeysim.envs.donkey_env import LunaEnv  # noqa: F401


class GreyStack(gym.ObservationWrapper):
    """Four grey pictures of quarter size, the newest last."""

    def __init__(self, env):
        super().__init__(env)
        self.frames = np.zeros((4, 30, 40), np.float32)
        self.observation_space = gym.spaces.Box(0.0, 1.0, self.frames.shape, np.float32)

    def observation(self, observation):
        grey = observation[::4, ::4].mean(axis=2, dtype=np.float32) / 255.0
        self.frames = np.concatenate([self.frames[1:], grey[None]])
        return self.frames


class Forward(gym.ActionWrapper):
    """Fifteen ways to steer at one throttle."""

    def __init__(self, env):
        super().__init__(env)
        self.action_space = gym.spaces.Discrete(15)

    def action(self, action):
        return np.array([np.linspace(-1.0, 1.0, 15)[action], 0.4])


class Tenth(gym.RewardWrapper):
    def reward(self, reward):
        return 0.1 * reward


def test_a_program_that_learns_by_itself_from_stacked_pictures():
    env = Tenth(Forward(GreyStack(gym.make("donkey-generated-track-v0", conf=HERE))))
    rng, weights = np.random.default_rng(0), np.zeros((15, 4 * 30 * 40), np.float32)
    rewards = []
    for _ in range(2):
        state, done, steps = env.reset(), False, 0
        while not done and steps < 40:
            values = weights @ state.ravel()
            action = env.action_space.sample() if rng.random() < 0.5 else int(values.argmax())
            following, reward, done, info = env.step(action)
            goal = reward if done else reward + 0.9 * (weights @ following.ravel()).max()
            weights[action] += 1e-4 * (goal - values[action]) * state.ravel()
            state, steps = following, steps + 1
            rewards.append((reward, info["forward_vel"], info["cte"]))
    assert state.shape == (4, 30, 40)
    reward, speed, cte = rewards[20]
    assert reward == pytest.approx(0.1 * (1.0 - abs(cte) / 5.0) * speed)
    assert env.viewer.get_sensor_size() == (120, 160, 3), "asked through wrappers"
    assert env.unwrapped.viewer is env.viewer
    env.close()


def test_what_else_the_old_module_has_is_there(tmp_path):
    assert gym.__version__ < "0.26"
    assert issubclass(gym.spaces.Box, gym.Space)
    assert gym.core.Wrapper is gym.Wrapper
    gym.logger.set_level(40)
    env = gym.make("donkey-warehouse-v0", max_cte=3, disable_env_checker=True)
    assert env.unwrapped.conf.max_cte == 3.0
    own = gym.make("donkeysim/Warehouse-v0", camera="wide")
    assert own.spec.kwargs["camera"] == "wide", "environments of our own have no conf"
    own.close()
    stacked = gym.wrappers.FrameStack(gym.wrappers.GrayScaleObservation(env), 4)
    assert np.shape(stacked.reset()) == (4, 120, 160)
    assert len(stacked.step((0.0, 0.3))) == 4
    env.close()


def test_a_library_s_wrapper_passes_on_what_is_asked_of_the_environment():
    env = gym.make("donkey-generated-track-v0", conf=HERE)
    limited = gym.wrappers.TimeLimit(gym.wrappers.GrayScaleObservation(env), 5)
    limited.reset()
    assert limited.viewer is limited.unwrapped.viewer is env.viewer
    limited.set_reward_fn(lambda handler, done: 7.0 + done)
    steps = [limited.step((0.0, 0.1)) for _ in range(5)]
    assert [reward for _, reward, _, _ in steps] == [7.0] * 5
    assert [done for *_, done, _ in steps] == [False] * 4 + [True]
    assert gym.modernise(env).viewer is env.viewer
    limited.close()


def test_a_monitor_of_then_takes_its_options(monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(gymnasium.wrappers, "RecordVideo", lambda env, *options: given.append(options) or env)
    env = gym.make("donkey-generated-track-v0", conf=HERE)
    gym.wrappers.Monitor(env, tmp_path, bool, True)
    assert given == [(tmp_path, bool)]
    silent = gym.wrappers.Monitor(env, tmp_path, video_callable=False, resume=True)
    assert silent.reset().shape == (120, 160, 3)
    assert given == [(tmp_path, bool)], "no film"
    silent.close()


def test_wrappers_take_their_arguments_of_then():
    env = gym.make("donkey-generated-track-v0", conf=HERE)
    small = gym.wrappers.ResizeObservation(gym.wrappers.GrayScaleObservation(env), 64)
    stacked = gym.wrappers.FrameStack(small, num_stack=4, lz4_compress=False)
    assert np.asarray(stacked.reset()).shape == stacked.observation_space.shape == (4, 64, 64)
    assert gym.wrappers.ResizeObservation(env, shape=(48, 64)).reset().shape == (48, 64, 3)
    assert gym.wrappers.TransformObservation(env, lambda seen: seen // 2).reset().max() < 128
    env.close()


def test_parts_of_the_old_module_are_imported_as_then():
    from donkeysim.envs.gym.envs.registration import register
    from donkeysim.envs.gym.spaces import Box
    from donkeysim.envs.gym.utils import seeding
    from donkeysim.envs.gym.wrappers import TimeLimit

    assert (register, Box) == (gym.register, gymnasium.spaces.Box)
    assert seeding.np_random(3)[1] == 3
    assert TimeLimit(Countdown(), 5).reset() == [9.0]


def test_a_class_by_todays_rules_is_registered_with_its_time_limit_too():
    """As a fork registers places of its own; programs wait for the limit."""
    gym.register(
        id="my-warehouse-v0",
        entry_point="donkeysim.envs.donkey_env:WarehouseEnv",
        kwargs={"conf": HERE},
        max_episode_steps=3,
    )
    env = gym.make("my-warehouse-v0")
    assert env.reset().shape == (120, 160, 3)
    assert [env.step((0.0, 0.1))[2] for _ in range(3)] == [False, False, True]
    assert env.unwrapped.viewer.handler.max_cte == 5.0
    env.close()


@pytest.mark.parametrize("place", ["class", "text"])
def test_an_environment_of_ones_own_is_registered_as_then(place):
    entry = Countdown if place == "class" else f"{__name__}:Countdown"
    gym.envs.registration.register(id="countdown-v0", entry_point=entry, max_episode_steps=10)
    assert gym.make("countdown-v0").reset() == [9.0]


class Countdown(gym.Env):
    """An environment of one's own."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Box(0.0, 9.0, (1,), np.float32)

    def reset(self):
        self.left = 9
        return np.array([self.left], np.float32)

    def step(self, action):
        self.left -= 1 + action
        return np.array([max(self.left, 0)], np.float32), 1.0, self.left <= 0, {}


@pytest.mark.parametrize("make", [Countdown, lambda: GreyStack(gym.make("donkey-generated-track-v0", conf=HERE))])
def test_a_program_that_learns_with_a_library_takes_it_by_todays_rules(make):
    ppo = pytest.importorskip("stable_baselines3").PPO
    env = gym.modernise(make())
    model = ppo("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=1, device="cpu")
    model.learn(16)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(np.asarray(observation))
    _, _, terminated, truncated, _ = env.step(model.predict(observation)[0])
    assert (terminated, truncated) == (False, False)
    env.close()


def test_a_time_limit_is_told_as_the_old_rules_told_it():
    env = gym.make("donkey-generated-track-v0", conf=HERE, max_episode_steps=3)
    env.reset()
    for _ in range(3):
        *_, done, info = env.step((0.0, 0.0))
    assert (done, info["TimeLimit.truncated"]) == (True, True)
    modern = gym.modernise(env)
    modern.reset()
    assert [modern.step((0.0, 0.0))[2:4] for _ in range(3)][-1] == (False, True)
    env.close()
