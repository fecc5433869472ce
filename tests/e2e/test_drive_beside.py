"""`donkey_sim --drive` serves the control page of a car in its own scene; both end together, however they end."""

import json
import os
import re
import signal
import socket
import threading
import time

import psutil
import pytest
from websockets.sync.client import connect

from e2e.simulator_process import SimulatorProcess


def find_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for_page(process):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for line in process.lines:
            page = re.search(r"go to (http://localhost:\d+)", line)
            if page:
                return page[1]
        time.sleep(0.1)
    raise AssertionError(f"there is no control page: {process.lines}")


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
    with connect(process.page_address.replace("http", "ws") + "/state", origin=process.page_address) as socket:
        socket.send('{"car":1}')
        return json.loads(socket.recv())


def test_a_car_is_driven_in_the_running_scene_and_ends_with_the_simulator(driven, tmp_path):
    process, page = driven
    assert (tmp_path / "car" / "manage.py").is_file()
    ended = threading.Event()
    with connect(page.replace("http", "ws") + "/wsDrive?reports=1", origin=page) as control:
        assert json.loads(control.recv())["about"]["watching"] == process.page_address
        control.send('{"angle": 0.0, "throttle": 0.6, "drive_mode": "user", "recording": true}')
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            state = ask_cars(process)
            if state["readings"] and state["readings"]["telemetry"]["speed"] > 0.3:
                break
            ended.wait(0.1)
    assert [car["name"] for car in state["cars"]] == ["car"]
    assert state["readings"]["telemetry"]["speed"] > 0.3
    family = list_family(process)
    assert len(family) >= 3
    assert process.interrupt() == 0
    assert not psutil.wait_procs(family, timeout=10)[1]
    assert (tmp_path / "car" / "data" / "manifest.json").is_file()
    process._reader.join(5)
    assert re.search(r"closed the tub .* with \d+ records", "\n".join(process.lines))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so")
def test_no_drive_outlives_a_killed_simulator(driven):
    process, _ = driven
    family = list_family(process)
    process.process.kill()
    assert not psutil.wait_procs(family, timeout=15)[1]
