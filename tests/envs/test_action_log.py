"""Environments keep action logs: an episode, a batch, a race; replayed in another process, filmed, and after a kill."""

import os
import subprocess
import sys

import av
import gymnasium
import numpy as np
import pytest

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.cli.donkey import run
from donkeysim.core.errors import SpecError
from donkeysim.envs.conf import read_conf
from donkeysim.racing.env import parallel_env
from donkeysim.record.replay import Replay

CAMERA = {"cam_resolution": (24, 32, 3)}


def play(path):
    replay = Replay(path)
    for _ in replay.play():
        pass
    assert replay.broken == ""
    assert replay.deviation is None
    return replay


def drive_at_random(env, steps, seed=0):
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(rng.uniform([-1.0, -0.5], [1.0, 1.0]))
        if terminated or truncated:
            env.reset()


@pytest.mark.soak
def test_episodes_are_the_same_in_another_process(tmp_path):
    path = tmp_path / "run.dlog"
    env = gymnasium.make("donkey-generated-track-v0", conf={**CAMERA, "throttle_min": -1.0, "action_log": str(path)})
    drive_at_random(env, 400)
    env.reset(seed=5, options={"s": 3.0, "offset": 0.1, "yaw": 0.2})
    env.step([0.1, 0.3])
    env.close()
    script = "import sys; from donkeysim.cli.donkey import main; main(['replay', sys.argv[1]])"
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        f"{path}: 401 steps, 20.05 s simulated; 1 car in 1 world: generated_track",
        "identical, bit for bit",
    ]
    assert done.returncode == 0


def test_a_batch_is_the_same_again(tmp_path):
    path = tmp_path / "run.dlog"
    batch = gymnasium.make_vec("donkeysim/GeneratedTrack-v0", 5, observe="vector", log=str(path), time_limit=3.0)
    rng = np.random.default_rng(2)
    batch.reset(seed=3)
    for _ in range(120):
        batch.step(rng.uniform(-1.0, 1.0, (5, 2)).astype(np.float32))
    batch.reset(seed=4, options={"reset_mask": np.array([True, False, False, True, False])})
    batch.step(np.zeros((5, 2)))
    after = batch.unwrapped.fleet.simulator.sum_up()
    batch.close()
    replay = play(path)
    assert replay.step_count == 121
    assert replay.simulator.sum_up() == after


def test_a_race_is_the_same_again(tmp_path):
    path = tmp_path / "run.dlog"
    env = parallel_env(cars=3, observe="lidar", log=path, ends=["off_road"], time_limit=6.0)
    for seed in (1, 2):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while env.agents:
            env.step({name: rng.uniform([-0.3, 0.5], [0.3, 1.0]) for name in env.agents})
    env.close()
    play(path)


def test_a_killed_program_leaves_a_log_up_to_its_last_second(tmp_path):
    path = tmp_path / "run.dlog"
    script = """
import os, signal, sys
import numpy as np
from donkeysim.record import action_log
from donkeysim.record.recorder import open_simulator
from donkeysim.world.specs import SceneSpec, WorldSpec
action_log.BLOCK_BYTES = 500
driven = open_simulator(WorldSpec(SceneSpec("flat")), log=sys.argv[1])
driven.add_car()
for index in range(200):
    driven.drive_car(0, np.sin(index))
    driven.step()
os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)])
    assert done.returncode != 0
    replay = Replay(path)
    steps = sum(1 for _ in replay.play())
    assert 100 < steps <= 200
    assert replay.deviation is None
    assert "killed" in replay.broken


def test_the_command_tells_what_is_wrong(tmp_path, capsys):
    path = tmp_path / "run.dlog"
    env = gymnasium.make("donkeysim/GeneratedTrack-v0", observe="vector", log=path, disable_env_checker=True)
    drive_at_random(env, 30)
    env.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert run(["replay", str(path)]) == 0
    assert "the log breaks off at byte" in capsys.readouterr().out
    path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    assert run(["replay", str(path)]) == 1
    assert "the log is damaged between the bytes" in capsys.readouterr().out
    path.write_bytes(b"something else")
    assert run(["replay", str(path)]) == 1
    assert capsys.readouterr().err == f"donkey replay: {path} is not an action log.\n"


def test_a_film_shows_a_picture_for_every_twentieth_of_a_second(tmp_path, capsys):
    path, film = tmp_path / "run.dlog", tmp_path / "run.mp4"
    env = gymnasium.make(
        "donkeysim/GeneratedTrack-v0", observe="vector", log=path, frame_skip=2, disable_env_checker=True
    )
    drive_at_random(env, 10)
    env.close()
    shown = []
    for view, shape in (("chase", (360, 640, 3)), ("camera", (480, 640, 3)), ("top", (360, 640, 3))):
        assert run(["replay", str(path), "--film", str(film), "--view", view]) == 0
        assert f"saved {film}: 20 pictures" in capsys.readouterr().out
        with av.open(str(film)) as container:
            pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert len(pictures) == 20
        assert pictures[0].shape == shape
        shown.append(pictures[-1].astype(float))
    assert all(picture.std() > 10 for picture in shown)
    assert np.abs(shown[0] - shown[2]).mean() > 10
    assert run(["replay", str(path), "--film", str(film), "--car", "3"]) == 1
    assert "there is no car 3" in capsys.readouterr().err


def test_a_simulator_elsewhere_keeps_no_log_here():
    with pytest.raises(SpecError, match="in this process only"):
        read_conf({"action_log": "run.dlog", "port": 9091})
    assert read_conf({"action_log": os.fspath("run.dlog")}).experiment.log == "run.dlog"
