"""Our own server as the simulator of an environment and of a drive: running, started by its path, anew, killed."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import psutil
import pytest

from donkeysim.car.config import make_default_config
from donkeysim.core.errors import SceneError, SimulatorError
from donkeysim.drive.simulated_car import make_simulated_car
from donkeysim.envs.donkey_env import DonkeyEnv
from e2e.simulator_process import SimulatorProcess, find_port
from e2e.wire_client import WireClient
from sim.test_change_scene import RING
from waiting import wait_until, watch_stay

POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in executables are shell scripts")


@pytest.fixture
def executable(tmp_path):
    path = tmp_path / "donkey_sim.x86_64"
    path.write_text(
        f'#!/bin/sh\necho $$ > {tmp_path}/pid\n"{sys.executable}" -m donkeysim.cli.donkey_sim --no-page "$@"\n'
    )
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def simulator():
    with SimulatorProcess() as process:
        yield process


def drive_remotely(simulator, step_count):
    env = DonkeyEnv(conf={"port": simulator.address[1]})
    records = []
    for episode in range(2):
        env.reset()
        for index in range(step_count):
            observation, *_, info = env.step([0.3 * np.sin(index / 4), 0.5])
            records.append((episode, observation.tobytes(), info["pos"]))
        time_passed = env.telemetry.time
    env.close()
    return records, time_passed


def test_two_environments_of_one_program_do_not_wait_for_each_other(simulator):
    """As one that learns and one that judges it; in lock-step each would wait ten seconds for the other's control."""
    one, other = (DonkeyEnv(conf={"port": simulator.address[1]}) for _ in range(2))
    begun = time.monotonic()
    for env in (one, other, one):
        env.reset()
        for _ in range(5):
            env.step([0.0, 0.3])
    assert time.monotonic() - begun < 9.0
    assert not one.car.is_led
    other.close()
    assert wait_until(lambda: one.reset() and one.car.is_led), "alone again, it drives in lock-step"
    one.step([0.0, 0.3])
    one.close()


def test_environments_of_two_programs_do_not_wait_for_each_other(simulator):
    """As those of `SubprocVecEnv`: when one begins an episode in the midst of a step, the others rest."""
    with WireClient(simulator.address) as other:
        env = DonkeyEnv(conf={"port": simulator.address[1]})
        other.read_until("car_loaded")
        begun = time.monotonic()
        for _ in range(3):
            other.send({"msg_type": "control", "throttle": "0.1"})
            env.reset()
            env.step([0.0, 0.3])
        assert time.monotonic() - begun < 9.0
        assert not env.car.is_led
    assert wait_until(lambda: env.reset() and env.car.is_led), "alone again, it drives in lock-step"
    env.close()


def test_who_comes_while_an_environment_is_led_is_not_led_with_it_for_longer_than_an_episode(simulator):
    env = DonkeyEnv(conf={"port": simulator.address[1]})
    env.reset()
    assert env.car.is_led
    with WireClient(simulator.address) as other:
        other.read_until("car_loaded")
        env.reset()
        assert not env.car.is_led
        assert [other.read_until("telemetry") for _ in range(3)], "time goes by without its controls"
    env.close()


def test_lock_step_is_as_repeatable_as_the_built_in_simulator(simulator):
    records, _ = drive_remotely(simulator, 20)
    first, second = records[:20], records[20:]
    assert [record[1:] for record in first] == [record[1:] for record in second]


def test_lock_step_lets_pass_exactly_what_was_asked_for(simulator):
    env = DonkeyEnv(conf={"port": simulator.address[1], "frame_skip": 2})
    env.reset()
    begin = env.telemetry.time
    for _ in range(10):
        env.step([0.0, 0.5])
    assert env.telemetry.time - begin == pytest.approx(1.0)
    env.close()


def test_an_episode_begins_after_the_scene_was_left_and_loaded_anew(simulator):
    """As programs begin that want to make sure that no track is loaded."""
    env = DonkeyEnv(conf={"port": simulator.address[1]})
    env.viewer.exit_scene()
    env.reset()
    assert env.step((0.0, 0.5))[0].shape == (120, 160, 3)
    env.close()


def test_another_scene_than_the_running_one_is_refused(simulator):
    env = DonkeyEnv(conf={"port": simulator.address[1]})
    with pytest.raises(SceneError, match="runs generated_track, not warehouse"):
        DonkeyEnv("warehouse", conf={"port": simulator.address[1]})
    env.close()


@pytest.mark.soak
def test_a_road_is_made_anew_at_the_server(tmp_path):
    (tmp_path / "ring.toml").write_text(RING)
    with SimulatorProcess("--tracks", str(tmp_path)) as simulator:
        env = DonkeyEnv("ring", conf={"port": simulator.address[1], "road_style": 1, "rand_seed": 3})
        for seed in (4, 5):
            env.regen_road(rand_seed=seed)
            env.reset()
            env.step([0.0, 0.5])
            assert abs(env.telemetry.cte) < 1.0
        env.close()


def test_a_road_that_is_not_generated_is_refused(simulator):
    env = DonkeyEnv(conf={"port": simulator.address[1]})
    with pytest.raises(SceneError, match="not a generated one"):
        env.regen_road(rand_seed=4)
    env.reset()
    env.close()


@pytest.mark.soak
def test_a_drive_goes_on_after_the_simulator_was_started_anew(caplog):
    port = find_port()
    changes = {"DONKEY_SIM_PATH": "remote", "SIM_PORT": port, "SIM_RECORD_LOCATION": True}
    with SimulatorProcess("--port", str(port)):
        car = make_simulated_car(make_default_config(changes=changes))
        assert car.threaded
        thread = threading.Thread(target=car.update)
        thread.start()
        start = wait_until(lambda: car.run_threaded(0.0, 0.0))[3]
        assert wait_until(
            lambda: abs(car.run_threaded(0.0, 0.5)[3] - start) > 0.2 or car.run_threaded(0.0, 0.5)[6] > 0.5
        )
    with SimulatorProcess("--port", str(port)):
        assert wait_until(lambda: "Connected to the simulator" in caplog.text)
        assert wait_until(lambda: car.run_threaded(0.0, 0.5)[6] > 0.5)
        moved = car.run_threaded(0.0, 0.0, True)[1].reset_count
        assert wait_until(lambda: car.run_threaded(0.0, 0.0)[1].reset_count > moved)
        car.halt()
        car.shutdown()
        thread.join(20.0)
        assert not thread.is_alive()


def tell(address, *messages):
    """Say something to a simulator as another client, and wait until it has read it."""
    with WireClient(address) as client:
        client.read_until("scene_selection_ready", "scene_loaded")
        client.send(*messages, {"msg_type": "get_protocol_version"})
        client.read_until("protocol_version")


@pytest.mark.soak
def test_a_drive_goes_where_it_is_sent_and_follows_whoever_changes_the_place():
    with SimulatorProcess("--scene", "generated_track") as simulator:
        car = make_simulated_car(
            make_default_config(changes={"DONKEY_SIM_PATH": "remote", "SIM_PORT": simulator.address[1]})
        )
        thread = threading.Thread(target=car.update)
        thread.start()
        assert wait_until(lambda: "warren" in car.places)
        car.go_to("warren")
        nodes = {car.run_threaded(0.0, 0.0)[1].totalNodes}
        assert wait_until(lambda: car.place == "warren" and car.run_threaded(0.0, 0.0)[1].totalNodes not in nodes)
        tell(simulator.address, {"msg_type": "exit_scene"})
        assert wait_until(lambda: car.place == "")
        watch_stay(lambda: car.place == "", 1.0)
        tell(simulator.address, {"msg_type": "load_scene", "scene_name": "waveshare"})
        assert wait_until(lambda: car.place == "waveshare")
        assert wait_until(lambda: car.run_threaded(0.0, 0.6)[1].speed > 0.2)
        tell(simulator.address, {"msg_type": "exit_scene"})
        assert wait_until(lambda: car.place == "")
        car.go_to("warren")
        assert wait_until(lambda: car.place == "warren")
        car.halt()
        car.shutdown()
        thread.join(20.0)
        assert not thread.is_alive()


@POSIX_ONLY
def test_an_executable_is_started_waited_for_and_ended(executable, tmp_path):
    port = find_port()
    env = DonkeyEnv("waveshare", conf={"exe_path": str(executable), "port": port})
    env.reset()
    env.step([0.0, 0.5])
    launched = psutil.Process(int((tmp_path / "pid").read_text()))
    family = [launched, *launched.children(recursive=True)]
    assert len(family) >= 2
    env.close()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive


PROGRAM = """
import sys
from donkeysim.envs.donkey_env import DonkeyEnv
env = DonkeyEnv("waveshare", conf={"exe_path": sys.argv[1], "port": int(sys.argv[2])})
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.soak
@POSIX_ONLY
def test_no_simulator_outlives_a_killed_program(executable, tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(executable), str(find_port())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "ready\n"
        launched = psutil.Process(int((tmp_path / "pid").read_text()))
        family = [launched, *launched.children(recursive=True)]
        program.send_signal(signal.SIGKILL)
        program.wait(10)
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive


@POSIX_ONLY
def test_an_executable_that_ends_shows_its_last_lines(tmp_path):
    path = tmp_path / "broken"
    path.write_text("#!/bin/sh\necho no graphics card >&2\nexit 3\n")
    path.chmod(0o755)
    with pytest.raises(SimulatorError, match=r"exit code 3:\n +no graphics card"):
        DonkeyEnv(conf={"exe_path": str(path), "port": find_port()})


@POSIX_ONLY
def test_a_file_that_is_no_program_is_told_apart(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with pytest.raises(SimulatorError, match=r"chmod \+x"):
        DonkeyEnv(conf={"exe_path": str(path)})
    path.chmod(0o755)
    with pytest.raises(SimulatorError, match=r"cannot be started|exit code"):
        DonkeyEnv(conf={"exe_path": str(path), "port": find_port()})
    with pytest.raises(SimulatorError, match="no simulator at"):
        DonkeyEnv(conf={"exe_path": os.fspath(tmp_path / "missing")})


@POSIX_ONLY
def test_a_port_in_use_is_told_before_anything_starts(executable, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(SimulatorError, match="in use"):
        DonkeyEnv(conf={"exe_path": str(executable), "port": listener.getsockname()[1]})
    assert not (tmp_path / "pid").exists()
