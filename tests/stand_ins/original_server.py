"""A server that speaks as the original does, its faults included: texts for numbers in, decimal commas out."""

import base64
import contextlib
import json
import re
import socket
import threading

import numpy as np

from donkeysim.core.image import encode_jpeg

SCENES = ["generated_road", "warehouse", "sparkfun_avc", "generated_track"]
CROSSINGS = {3: 1, 5: 0, 8: 1, 10: 0}
PICTURE = base64.b64encode(encode_jpeg(np.full((120, 160, 3), 90, np.uint8))).decode()


class OriginalServer:
    """One client at a time; `messages` holds what it said, `is_frozen` whether `step_mode` was among it."""

    def __init__(self, port=0, *, scenes=SCENES, running=False, comma=False, interval=0.005):
        self.messages = []
        self.is_frozen = False
        self.control = {"steering": "0", "throttle": "0", "brake": "0"}
        self._scenes, self._running, self._comma, self._interval = scenes, running, comma, interval
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        self._client = None
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._ended.is_set():
                client.close()
                return
            self._client = client
            self._serve(client)

    def _serve(self, client):
        stop = threading.Event()
        if self._running:
            self._load(client, stop)
        else:
            self.say(client, {"msg_type": "scene_selection_ready", "loaded": "1"})
        text = ""
        while True:
            try:
                data = client.recv(8142)
            except OSError:
                data = b""
            if not data:
                break
            text += data.decode()
            if not text.endswith("}"):
                continue  # the original waits for more when something stands behind the last brace
            for piece in re.findall(r"\{[^{]*\}", text):
                self._take(client, json.loads(piece), stop)
            text = ""
        stop.set()
        client.close()

    def _take(self, client, message, stop):
        assert all(isinstance(value, str) for value in message.values()), message
        self.messages.append(message)
        kind = message["msg_type"]
        if kind == "get_scene_names":
            self.say(client, {"scene_names": self._scenes, "msg_type": "scene_names"})
        elif kind == "load_scene":
            self._load(client, stop)
        elif kind == "control":
            self.control = message
        elif kind == "step_mode":
            self.is_frozen = True

    def _load(self, client, stop):
        self.say(client, {"msg_type": "car_loaded"})
        self._threads.append(threading.Thread(target=self._tell, args=(client, stop)))
        self._threads[-1].start()

    def _tell(self, client, stop):
        count = 0
        while not stop.wait(self._interval):
            if self.is_frozen:
                continue
            count += 1
            vector = {f"{group}_{axis}": 0.25 for group in ("accel", "gyro", "pos", "vel") for axis in "xyz"}
            self.say(
                client,
                {
                    "msg_type": "telemetry",
                    "steering_angle": float(self.control["steering"]),
                    "throttle": float(self.control["throttle"]),
                    "image": PICTURE,
                    "hit": "none",
                    "time": count * 0.05,
                    "speed": 1.5,
                    **vector,
                    "pitch": 0.0,
                    "yaw": 90.5,
                    "roll": 0.0,
                    "cte": -1.25,
                    "activeNode": 3,
                    "totalNodes": 9,
                },
            )
            if count in CROSSINGS:
                crossing = {"starting_line_index": CROSSINGS[count], "timeStamp": count * 2.5}
                self.say(client, {"msg_type": "collision_with_starting_line", **crossing})

    def say(self, client, message):
        text = json.dumps(message, separators=(",", ":"))
        if self._comma:
            text = re.sub(r'("\w+":-?\d+)\.(\d+)', r"\1,\2", text)
        with contextlib.suppress(OSError):
            client.sendall(text.encode() + b"\n")

    def go_to_menu(self):
        self.say(self._client, {"msg_type": "scene_selection_ready", "loaded": "1"})

    def of_kind(self, kind):
        return [message for message in self.messages if message["msg_type"] == kind]

    def close(self):
        self._ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._client is not None:
            with contextlib.suppress(OSError):
                self._client.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
