"""Clients of a race server in one process: `python tests/soak/racing_clients.py PORT TRACK COUNT HOSTILE SECONDS`.

Each drives round the track by what its telemetry says, at a pace of its own; the last HOSTILE ones do not: one drives
against everybody, one sends nonsense and asks for resets without end. Ends when the server does.
"""

import json
import math
import random
import selectors
import socket
import sys
import time

import numpy as np

from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import share_scene

LOOK_AHEAD = 0.6
GAIN = 2.0


class Driver:
    """One client."""

    def __init__(self, port, number, path, hostile=""):
        self.number, self.path, self.hostile = number, path, hostile
        self.pace = 1.0 + 0.05 * number
        self.random = random.Random(number)
        self.rest = b""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.told = {}
        self.say("cam_config", img_w="32", img_h="24", fov="0", fish_eye_x="0", fish_eye_y="0", img_d="3",
                 img_enc="JPG", offset_x="0", offset_y="0", offset_z="0", rot_x="0")  # fmt: skip
        self.say("car_config", body_style="donkey", body_r="1", body_g="2", body_b="3", car_name=f"client {number}")
        self.say("racer_info", racer_name="R", car_name=f"client {number}", bio="", country="", guid=f"guid-{number}")

    def say(self, kind, **fields):
        self.socket.sendall(json.dumps({"msg_type": kind, **fields}).encode())

    def read(self):
        """Return False at the end of the connection."""
        data = self.socket.recv(1 << 18)
        if not data:
            return False
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            kind = line[13 : line.index(b'"', 13)].decode()
            self.told[kind] = self.told.get(kind, 0) + 1
        telemetry = [line for line in lines if line.startswith(b'{"msg_type":"telemetry"')]
        if telemetry:
            self.answer(json.loads(telemetry[-1]))
        return True

    def answer(self, readings):
        if self.hostile == "nonsense":
            self.socket.sendall(self.random.randbytes(60))
            self.say("reset_car")
            self.say("exit_scene")
        x, y = readings["pos_z"], -readings["pos_x"]  # the path's axes: x forward, y left
        yaw = -math.radians(readings["yaw"])
        ahead = self.path[self.find(x, y)] - (x, y)
        turn = math.atan2(ahead[1], ahead[0]) - yaw
        turn = (turn + math.pi) % (2.0 * math.pi) - math.pi
        throttle = 0.4 * (self.pace - readings["speed"]) + 0.12
        if self.hostile == "backwards":
            turn, throttle = self.random.uniform(-1.0, 1.0), self.random.choice((-0.5, 0.8))
        steering = str(max(-1.0, min(1.0, -GAIN * turn)))
        self.say("control", steering=steering, throttle=str(max(-1.0, min(1.0, throttle))), brake="0")

    def find(self, x, y):
        """Return the node that the car steers for."""
        distance = np.hypot(*(self.path - (x, y)).T)
        step = float(np.hypot(*(self.path[1] - self.path[0])))
        return (int(distance.argmin()) + round(LOOK_AHEAD / step)) % len(self.path)


def main(port, track, count, hostile, seconds):
    path = share_scene(SceneSpec(track)).path.position[:, :2]
    kinds = ["backwards", "nonsense"][:hostile]
    drivers = [Driver(port, number, path, kind) for number, kind in enumerate([""] * (count - hostile) + kinds)]
    selector = selectors.DefaultSelector()
    for driver in drivers:
        selector.register(driver.socket, selectors.EVENT_READ, driver)
    deadline = time.monotonic() + seconds
    while drivers and time.monotonic() < deadline:
        for key, _ in selector.select(1.0):
            try:
                is_open = key.data.read()
            except OSError:
                is_open = False
            if not is_open:
                selector.unregister(key.fileobj)
                drivers.remove(key.data)
                print(json.dumps({"number": key.data.number, "told": key.data.told}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:5]), float(sys.argv[5]))
