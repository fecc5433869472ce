"""What programs do with the handler of a car in this process, as they do with one of a simulator elsewhere."""

import base64
import io
import time

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


def test_a_scene_that_runs_is_there_at_once(env):
    """Programs ask for it again, to have its cones elsewhere, and wait for `loaded`."""
    env.reset()
    handler, begun = env.viewer.handler, time.monotonic()
    handler.loaded = False
    handler.send_exit_scene()
    assert handler.loaded
    assert time.monotonic() - begun < 0.1
    assert env.step((0.0, 0.3))[1] >= 0.0
