"""The part of a car whose simulator is another program, against a server that speaks as the original does."""

import socket
import sys
import threading
import time
import urllib.request

import pytest

from donkeysim.car.config import make_default_config
from donkeysim.core.errors import SceneError, SimulatorError
from donkeysim.drive.control_page import ControlPage
from donkeysim.drive.look import Look
from donkeysim.drive.simulated_car import make_simulated_car
from donkeysim.drive.vehicle import PartError, Vehicle
from e2e.simulator_process import find_port
from stand_ins.original_server import OriginalServer
from waiting import wait_until, watch_stay


@pytest.fixture
def server():
    with OriginalServer() as server:
        yield server


@pytest.fixture
def make_car(server):
    running = []

    def make(**values):
        changes = {"DONKEY_SIM_PATH": "remote", "SIM_PORT": server.port, **values}
        car = make_simulated_car(make_default_config(changes=changes))
        thread = threading.Thread(target=car.update)
        thread.start()
        running.append((car, thread))
        assert wait_until(lambda: car.run_threaded(0.0, 0.0))
        return car

    yield make
    for car, thread in running:
        car.halt()
        car.shutdown()
        thread.join(20.0)
        assert not thread.is_alive()


def test_what_the_simulator_tells_is_sensed(make_car):
    image, telemetry, lap_times = make_car().run_threaded(0.0, 0.0)
    assert image.shape == (120, 160, 3)
    assert (telemetry.speed, lap_times) == (1.5, ())


def test_the_newest_controls_arrive_as_texts_with_right_positive(make_car, server):
    car = make_car()
    car.run_threaded(0.25, -0.5)
    assert wait_until(lambda: server.control.get("steering") == "0.25")
    assert (server.control["throttle"], server.control["brake"]) == ("-0.5", "0")
    assert wait_until(lambda: car.run_threaded(0.25, -0.5)[1].steering_angle == 0.25)


def test_a_car_that_brakes_says_so_until_it_gets_a_throttle(make_car, server):
    car = make_car()
    car.is_braking = True
    car.run_threaded(0.0, 0.0)
    assert wait_until(lambda: server.control.get("brake") == "1")
    car.run_threaded(0.0, 0.3)
    assert wait_until(lambda: (server.control["throttle"], server.control["brake"]) == ("0.3", "0"))


def test_record_channels_are_those_of_the_telemetry(make_car):
    outputs = make_car(SIM_RECORD_LOCATION=True, SIM_RECORD_VELOCITY=True).run_threaded(0.0, 0.0)
    assert outputs[3:] == (0.25, 0.25, 0.25, 1.5, -1.25, 0.25, 0.25, 0.25)


def test_latency_holds_back_pictures_and_readings(make_car):
    late = make_car(SIM_ARTIFICIAL_LATENCY=500)
    first = late.run_threaded(0.0, 0.0)[1].time
    began = time.monotonic()
    assert wait_until(lambda: late.run_threaded(0.0, 0.0)[1].time > first + 0.1)
    assert time.monotonic() - began > 0.4


def test_halting_brakes_and_nothing_drives_on_after_it(make_car, server):
    car = make_car()
    car.run_threaded(0.0, 1.0)
    assert wait_until(lambda: server.control["throttle"] == "1")
    car.halt()
    assert wait_until(lambda: server.control["brake"] == "1")
    count = len(server.messages)
    car.run_threaded(0.0, 1.0)
    watch_stay(lambda: len(server.messages) <= count, 0.2)


def test_nothing_is_said_to_a_simulator_that_has_no_car_yet(server):
    car = make_simulated_car(make_default_config(changes={"DONKEY_SIM_PATH": "remote", "SIM_PORT": server.port}))
    car.halt()
    car.shutdown()
    server.close()  # it has taken in all that was said
    assert server.of_kind("control") == []


def test_a_car_that_is_dressed_anew_tells_its_simulator(make_car, server):
    car = make_car()
    car.dress(Look("Anna", "f1", (16, 96, 208)))
    assert wait_until(lambda: server.of_kind("car_config")[-1]["car_name"] == "Anna")
    message = server.of_kind("car_config")[-1]
    assert [message[key] for key in ("body_style", "body_r", "body_g", "body_b")] == ["f1", "16", "96", "208"]
    assert (car.look.car_name, car.describe_self()[0]) == ("Anna", "Anna")


def test_reset_is_asked_for_once(make_car, server):
    car = make_car()
    car.run_threaded(0.0, 0.0, True)
    assert wait_until(lambda: server.of_kind("reset_car"))
    car.run_threaded(0.0, 0.0, False)
    watch_stay(lambda: len(server.of_kind("reset_car")) == 1, 0.1)


def test_the_original_is_never_told_to_step(make_car, server):
    car = make_car()
    car.run_threaded(0.0, 0.5)
    assert wait_until(lambda: len(server.of_kind("control")) > 5)
    assert not server.is_frozen


def test_a_simulator_that_is_not_there_is_told_when_the_car_is_made():
    with OriginalServer() as server:
        port = server.port
    changes = {"DONKEY_SIM_PATH": "remote", "SIM_PORT": port}
    with pytest.raises(SimulatorError, match=f"donkey_sim --port {port}"):
        make_simulated_car(make_default_config(changes=changes))


def test_a_scene_that_is_not_there_is_told_when_the_drive_begins(server):
    changes = {"DONKEY_SIM_PATH": "remote", "SIM_PORT": server.port, "DONKEY_GYM_ENV_NAME": "donkey-warren-track-v0"}
    car = make_simulated_car(make_default_config(changes=changes))
    with pytest.raises(SceneError, match="no warren"):
        car.update()


def test_the_page_is_up_while_a_simulator_never_answers_and_the_drive_ends_in_a_sentence(monkeypatch, caplog):
    monkeypatch.setattr("donkeysim.envs.waiting.TELL_SECONDS", 0.2)
    monkeypatch.setattr("donkeysim.envs.remote.SILENCE_SECONDS", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as listener, Vehicle() as car:
        where = f"127.0.0.1:{listener.getsockname()[1]}"
        changes = {"DONKEY_SIM_PATH": "remote", "SIM_PORT": listener.getsockname()[1], "WEB_CONTROL_PORT": 0}
        config = make_default_config(changes=changes)
        page = ControlPage(config)
        car.add(make_simulated_car(config), inputs=["angle", "throttle"], outputs=["image"], threaded=True)
        car.add(page, inputs=["image"], outputs=["angle", "throttle"], threaded=True)
        seen = []
        asking = threading.Thread(target=lambda: seen.append(urllib.request.urlopen(page.url + "/drive").status))
        asking.start()
        with pytest.raises(PartError, match=f"{where} takes connections but has not said a word in 2 s"):
            car.start(rate_hz=20)
        asking.join(20.0)
    assert seen == [200]
    assert f"waiting for {where} to load generated_track ..." in caplog.messages


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in executable is a shell script")
def test_what_a_started_simulator_says_is_passed_on_while_it_loads(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("donkeysim.drive.remote_car.TELL_SECONDS", 0.1)
    caplog.set_level("INFO")
    executable = tmp_path / "donkey_sim.x86_64"
    executable.write_text("#!/bin/sh\necho compiling kernels\nsleep 0.8\necho no graphics card\nexit 3\n")
    executable.chmod(0o755)
    changes = {"DONKEY_SIM_PATH": str(executable), "SIM_PORT": find_port()}
    with pytest.raises(SimulatorError, match=r"exit code 3:\n  compiling kernels\n  no graphics card$"):
        make_simulated_car(make_default_config(changes=changes))
    assert "Waiting for the simulator; it says: compiling kernels" in caplog.messages
