"""A client that looks through a camera of 3840x2160 leaves the others their beat, on a real server."""

import base64
import json
import socket
import threading
import time

import pytest

from donkeysim.core.image import decode_picture
from e2e.simulator_process import SimulatorProcess
from e2e.wire_client import WireClient

pytestmark = pytest.mark.soak

LARGE = {"msg_type": "cam_config", "img_w": "3840", "img_h": "2160"}


def count_telemetries(connection, seconds, counts):
    end, rest = time.monotonic() + seconds, b""
    while time.monotonic() < end:
        *lines, rest = (rest + connection.recv(1 << 16)).split(b"\n")
        counts += [json.loads(line)["time"] for line in lines if line.startswith(b'{"msg_type":"telemetry"')]


def test_a_client_with_a_large_camera_gets_its_pictures_and_another_keeps_its_rate():
    with SimulatorProcess("--scene", "generated_track") as simulator, WireClient(simulator.address) as large:
        large.read_until("telemetry")
        large.send(LARGE)
        times, errors = [], []
        with socket.create_connection(simulator.address) as connection:
            counter = threading.Thread(target=count_telemetries, args=(connection, 5.0, times))
            counter.start()
            pictures = []
            while counter.is_alive():
                message = large.read_until("telemetry", "error")
                (pictures if message["msg_type"] == "telemetry" else errors).append(message)
            counter.join()
        beats = (times[-1] - times[0]) / 0.05
        assert len(times) - 1 >= 0.9 * beats, "nearly none is missing, also where this machine is busy"
        assert len(times) == pytest.approx(100, abs=10)
        shapes = {decode_picture(base64.b64decode(message["image"])).shape for message in pictures[-2:]}
        assert shapes == {(2160, 3840, 3)}
        assert len(pictures) < len(times)
        assert simulator.interrupt() == 0
    assert [error["error"].partition(" takes")[0] for error in errors] == ["cam_config: a picture of 3840x2160"]
