"""What programs do with the handler of a car in this process, as they do with one of a simulator elsewhere."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from donkeysim.envs.donkey_env import DonkeyEnv


@pytest.fixture(scope="module")
def env():
    env = DonkeyEnv("generated_track", {"cam_config_b": {"fov": 60}, "lidar_config": {"deg_per_sweep_inc": 4.0}})
    yield env
    env.close()


def test_functions_of_ones_own_hear_telemetry_here_too(env):
    """Programs hang themselves before the original's function for what `info` does not tell, such as `activeNode`."""
    handler, heard = env.viewer.handler, []
    before = handler.on_telemetry

    def hear(message):
        heard.append((message, handler.x))
        before(message)

    handler.fns["telemetry"] = hear
    picture, _ = env.reset(seed=1)
    for _ in range(3):
        picture, _, _, _, info = env.step((0.1, 0.5))
    handler.fns["telemetry"] = before
    env.step((0.1, 0.5))
    assert len(heard) == 4
    message, x = heard[-1]
    assert (message["msg_type"], message["totalNodes"], message["activeNode"]) == ("telemetry", 108, 0)
    assert (message["pos_x"], message["cte"]) == pytest.approx((info["pos"][0], info["cte"]))
    assert x == info["pos"][0], "the handler has taken it in"
    for name in ("image", "image_b"):
        shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(message[name]))))
        assert shown.shape == (120, 160, 3)
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(message["image"]))))
    assert np.abs(shown.astype(int) - picture).mean() < 8.0, "as a JPEG"
    assert isinstance(message["lidar"], list)


def test_the_scene_changes_here_as_in_a_simulator_elsewhere(env, caplog):
    handler, loaded = env.viewer.handler, []
    default = handler.fns["car_loaded"]
    handler.fns["car_loaded"] = lambda message: (loaded.append(message["scene_name"]), default(message))
    start = env.reset(seed=1)[1]["pos"]
    handler.loaded, handler.SceneToLoad = False, "warehouse"
    env.viewer.exit_scene()
    assert (handler.loaded, env.simulator.scene.name) == (True, "warehouse")
    assert env.reset()[1]["pos"] != pytest.approx(start, abs=0.1)
    assert not env.step((0.0, 0.3))[2]
    handler.send_load_scene("generated_track")
    assert (loaded, handler.SceneToLoad) == (["warehouse", "generated_track"], "generated_track")
    assert env.reset()[1]["pos"] == pytest.approx(start)
    for name in ("donkey-warren-track-v0", "nowhere"):
        handler.send_load_scene(name)
        assert f"{name} is no scene" in caplog.text
    assert env.simulator.scene.name == "generated_track"
    handler.fns["car_loaded"] = default


def test_a_scene_that_conf_does_not_fit_is_told_and_the_car_drives_on(caplog):
    env = DonkeyEnv("generated_track", {"look": "meadow"})
    env.reset()
    env.viewer.handler.send_load_scene("warehouse")
    assert "it has no looks, so no 'meadow'" in caplog.text
    assert env.viewer.handler.SceneToLoad == env.simulator.scene.name == "generated_track"
    assert env.step((0.0, 0.3))[1] >= 0.0
    env.close()


def test_a_scene_that_runs_is_there_at_once(env, monkeypatch):
    """Programs ask for it again, to have its cones elsewhere, and wait for `loaded`."""
    env.reset()
    handler, made = env.viewer.handler, []
    monkeypatch.setattr(env.car, "prepare_place", made.append)
    handler.loaded = False
    handler.send_exit_scene()
    assert (handler.loaded, made) == (True, [])
    assert env.step((0.0, 0.3))[1] >= 0.0


def test_a_function_for_telemetry_may_reset_the_car(env, caplog):
    """As in a simulator elsewhere, where its reset is told by a later message."""
    handler, heard = env.viewer.handler, []
    env.reset()

    def hear(message):
        heard.append(message["msg_type"])
        handler.send_reset_car()

    handler.fns["telemetry"] = hear
    env.step((0.1, 0.5))
    env.step((0.1, 0.5))
    handler.fns["telemetry"] = handler.on_telemetry
    assert heard == ["telemetry"] * 2
    assert "has failed" not in caplog.text


def test_messages_drive_the_car_and_change_its_road_as_functions_do(caplog):
    env = DonkeyEnv("generated_road")
    env.reset()
    handler, before = env.viewer.handler, env.simulator.scene.path.position.copy()
    handler.queue_message({"msg_type": "control", "steering": "0.1", "throttle": "0.5", "brake": "0.25"})
    assert env.controls == (0.1, 0.5, 0.25)
    handler.queue_message({"msg_type": "control", "steering": -0.2, "throttle": 0.5})
    assert env.controls == (-0.2, 0.5, 0.0)
    handler.queue_message({"msg_type": "control", "steering": "left", "throttle": "1"})
    assert env.controls == (-0.2, 0.5, 0.0)
    assert "steering is 'left'" in caplog.text
    handler.queue_message({"msg_type": "regen_road", "road_style": "0", "rand_seed": "5", "turn_increment": "0"})
    assert not np.array_equal(env.simulator.scene.path.position, before)
    handler.queue_message({"msg_type": "pause"})
    assert "pause is for a simulator elsewhere" in caplog.text
    env.close()


def test_a_closed_environment_ends_the_loops_of_programs():
    """They go on `while not client.aborted`."""
    env = DonkeyEnv("flat")
    client = env.viewer.client
    assert (client.is_connected(), client.aborted) == (True, False)
    env.close()
    assert (client.is_connected(), client.aborted) == (False, True)
