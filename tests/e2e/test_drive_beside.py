"""`donkey_sim --drive` serves the control page of a car in its own scene; both end together, however they end."""

import json
import os
import re
import signal
import socket

import psutil
import pytest
from websockets.sync.client import connect

from donkeysim.core.image import decode_picture
from e2e.simulator_process import SimulatorProcess, find_port
from waiting import PATIENCE, wait_until


def wait_for_page(process):
    find = lambda: re.search(r"go to (http://localhost:\d+)", "\n".join(process.lines))  # noqa: E731
    return wait_until(find, lambda: f"there is no control page: {process.lines}", seconds=60.0)[1]


@pytest.fixture
def driven(tmp_path):
    environment = dict(os.environ, WEB_CONTROL_PORT=str(find_port()))
    words = ("--scene", "generated_track", "--page-port", "0", "--drive", str(tmp_path / "car"))
    with SimulatorProcess(*words, page=True, environment=environment) as process:
        yield process, wait_for_page(process)


def list_family(process):
    parent = psutil.Process(process.process.pid)
    return [parent, *parent.children(recursive=True)]


def ask_cars(process):
    with connect(
        process.page_address.replace("http", "ws") + "/state", origin=process.page_address, open_timeout=PATIENCE
    ) as socket:
        socket.send('{"car":1}')
        return json.loads(socket.recv())


def list_names(process):
    return [car["name"] for car in ask_cars(process)["cars"]]


def read_speed(process):
    readings = ask_cars(process)["readings"]
    return readings["telemetry"]["speed"] if readings and readings["telemetry"] else 0.0


def test_a_car_is_driven_in_the_running_scene_and_ends_with_the_simulator(driven, tmp_path):
    process, page = driven
    assert (tmp_path / "car" / "manage.py").is_file()
    with connect(
        page.replace("http", "ws") + "/wsDrive?reports=1", origin=page, open_timeout=PATIENCE, close_timeout=0
    ) as control:
        assert json.loads(control.recv())["about"]["watching"] == f"{process.page_address}/?car=car"
        control.send('{"angle": 0.0, "throttle": 0.6, "drive_mode": "user", "recording": true}')
        wait_until(lambda: read_speed(process) > 0.3, "the car does not drive")
    # Steering does not wait for the plate of the car's name, so a car may drive before it has one.
    wait_until(lambda: list_names(process) == ["car"], lambda: f"the cars are {list_names(process)}")
    assert ask_cars(process)["control"] == f"{page}/drive"
    with connect(page.replace("http", "ws") + "/picture", origin=page, open_timeout=PATIENCE) as views:
        views.send('{"view": "seat", "width": 640, "height": 480}')
        assert decode_picture(views.recv()).shape == (480, 640, 3), "as the simulator draws it for its own page"
    family = list_family(process)
    assert len(family) >= 2
    assert process.interrupt() == 0
    assert not psutil.wait_procs(family, timeout=10)[1]
    assert (tmp_path / "car" / "data" / "manifest.json").is_file()
    process._reader.join(5)
    assert re.search(r"closed the tub .* with \d+ records", "\n".join(process.lines))


def test_both_end_in_a_sentence_when_the_control_pages_port_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        environment = dict(os.environ, WEB_CONTROL_PORT=str(port))
        with SimulatorProcess("--no-page", "--drive", str(tmp_path / "car"), environment=environment) as process:
            assert process.wait(60.0) == 1
            process._reader.join(5)
    *_, why, end = process.lines
    assert re.match(rf"manage\.py: port {port} .*is in use; stop the program that uses it", why)
    assert end == "donkey_sim: the car's program has ended with exit code 1, so the simulator ends too."


def test_a_car_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path):
    (tmp_path / "car").write_text("in the way")
    with SimulatorProcess("--drive", str(tmp_path / "car")) as process:
        assert process.wait(60.0) == 1
        process._reader.join(5)
    assert process.lines[-1].startswith("donkey_sim: cannot make the folder")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so")
def test_no_drive_outlives_a_killed_simulator(driven):
    process, _ = driven
    family = list_family(process)
    process.process.kill()
    assert not psutil.wait_procs(family, timeout=15)[1]
