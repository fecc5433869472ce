r"""A client that behaves on the socket exactly as the original's Gymnasium client 1.3.1 does, written anew.

One background thread receives (and answers events at once); control, reset, scene choice go through a slot of one that
the last writer wins; messages are bare JSON objects without a terminator, every value a string; lines are cut between
the first "{" and the last "}\\n".
"""

import base64
import io
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable

from PIL import Image

POLL_SECONDS = 0.001
BLOCK_BYTES = 1 << 18

Framing = Callable[[bytes], Iterable[bytes]]
"""How one message is put on the wire: the portions that are sent, one after the other."""


def send_bare(message: bytes) -> list[bytes]:
    """The original's way: the object, nothing else."""
    return [message]


def send_with_newline(message: bytes) -> list[bytes]:
    return [message + b"\n"]


def send_bytewise(message: bytes) -> list[bytes]:
    """Every byte a packet of its own."""
    return [message[index : index + 1] for index in range(len(message))]


def send_glued(message: bytes) -> list[bytes]:
    """Three in one portion; the first two ask for nothing that changes."""
    return [b'{"msg_type": "get_protocol_version"}' + message + b'{"msg_type": "get_protocol_version"}']


class GymClient:
    """One car of the simulator, driven as the original's environment drives it."""

    def __init__(
        self,
        address: tuple[str, int],
        *,
        scene: str = "generated_track",
        configuration: Iterable[dict[str, str]] = (),
        framing: Framing = send_bare,
        is_lock_step: bool = False,
    ) -> None:
        self.scene = scene
        self.configuration = list(configuration)
        self.framing = framing
        self.is_lock_step = is_lock_step
        self.is_loaded = threading.Event()
        self.telemetry: dict | None = None
        self.telemetry_count = 0
        self.lines: list[bytes] = []
        self.events: list[dict] = []
        self.errors: list[str] = []
        self.lap_times: list[float] = []
        self.aborted = False
        self._crossing: tuple[float, int] | None = None
        self._news = threading.Condition()
        self._slot: dict | None = None
        self._is_open = True
        self._socket = socket.create_connection(address, timeout=5)
        if framing is send_bytewise:  # else the system would glue the bytes together again
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    # -- what an environment calls ------------------------------------------------------------------------------------

    def wait_until_loaded(self, seconds: float = 150.0) -> None:
        assert self.is_loaded.wait(seconds), f"no car after {seconds} s; errors: {self.errors}"

    def queue(self, message: dict) -> None:
        """Put a message into the slot; what was there is lost."""
        self._slot = message

    def drive(self, steering: float, throttle: float, brake: float = 0.0) -> None:
        self.queue({"msg_type": "control", "steering": str(steering), "throttle": str(throttle), "brake": str(brake)})

    def step(self, steering: float, throttle: float, brake: float = 0.0) -> dict:
        """Drive and return the next telemetry; in lock-step that is the answer."""
        with self._news:
            count = self.telemetry_count
            self.drive(steering, throttle, brake)
            assert self._news.wait_for(lambda: self.telemetry_count > count, 20.0), f"no telemetry; {self.errors}"
            return self.telemetry

    def reset(self) -> dict:
        if self.is_lock_step:
            return self._reset_in_lock_step()
        self.drive(0, 0, 1)
        time.sleep(0.1)
        self.queue({"msg_type": "reset_car"})
        time.sleep(1.0)
        self._crossing = None
        self.lap_times.clear()
        self.drive(0, 0, 1)
        time.sleep(0.1)
        return self.observe()

    def _reset_in_lock_step(self) -> dict:
        """Reset without the original's pauses, which lock-step does not need."""
        self.send({"msg_type": "reset_car"})
        self._crossing = None
        self.lap_times.clear()
        return self.step(0, 0, 1)

    def observe(self, seconds: float = 20.0) -> dict:
        """Return the next telemetry that comes."""
        with self._news:
            count = self.telemetry_count
            assert self._news.wait_for(lambda: self.telemetry_count > count, seconds), "no telemetry comes"
            return self.telemetry

    def look(self) -> Image.Image:
        return decode_image(self.telemetry["image"])

    def send(self, message: dict) -> None:
        """Send at once, as the original does with configurations."""
        for portion in self.framing(json.dumps(message).encode()):
            self._socket.sendall(portion)

    def close(self) -> None:
        self._is_open = False
        self._thread.join(5)
        self._socket.close()

    # -- the receiving thread -----------------------------------------------------------------------------------------

    def _receive(self) -> None:
        rest = b""
        try:
            while self._is_open:
                time.sleep(POLL_SECONDS)
                readable, writable, _ = select.select([self._socket], [self._socket], [], 0)
                if readable:
                    rest = self._take(rest + self._socket.recv(BLOCK_BYTES))
                if writable and self._slot is not None:
                    message, self._slot = self._slot, None
                    self.send(message)
        except (OSError, UnicodeDecodeError):
            self.aborted = True

    def _take(self, block: bytes) -> bytes:
        block.decode("utf-8")
        start, end = block.find(b"{"), block.rfind(b"}\n")
        if start < 0 or end < start:
            return block
        for line in block[start : end + 1].split(b"\n"):
            if len(line) > 2:
                self._handle(json.loads(line), line)
        return block[end + 2 :]

    def _handle(self, message: dict, line: bytes) -> None:
        kind = message["msg_type"]
        if kind != "telemetry":
            self.events.append(message)
            self.lines.append(line)
        if kind == "scene_selection_ready":
            self.queue({"msg_type": "get_scene_names"})
        elif kind == "scene_names":
            if self.scene not in message["scene_names"]:
                raise ValueError(f"{self.scene} is not in {message['scene_names']}")
            self.queue({"msg_type": "load_scene", "scene_name": self.scene})
        elif kind in ("car_loaded", "need_car_config"):
            self._introduce()
        elif kind == "collision_with_starting_line":
            self._count_lap(message)
        elif kind == "error":
            self.errors.append(message["error"])
        elif kind == "telemetry":
            self._note(message)

    def _introduce(self) -> None:
        if self.is_lock_step:
            self.send({"msg_type": "step_mode", "step_mode": "synchronous", "time_step": "0.05"})
        else:
            self.drive(0, 0, 1)
        self.is_loaded.set()
        for message in self.configuration:
            self.send(message)
            time.sleep(0.1)

    def _count_lap(self, message: dict) -> None:
        moment, line = message["timeStamp"] + 0.0, message["starting_line_index"] + 0
        if self._crossing is not None and self._crossing[1] == line:
            self.lap_times.append(moment - self._crossing[0])
        self._crossing = (moment, line)

    def _note(self, message: dict) -> None:
        for group in (("pos_x", "pos_y", "pos_z"), ("roll", "pitch", "yaw"), ("vel_x", "vel_y", "vel_z")):
            if group[0] in message:
                assert all(isinstance(message[name], float) for name in group), group
        assert message["image"]
        with self._news:
            self.telemetry = message
            self.telemetry_count += 1
            self._news.notify_all()


def decode_image(text: str) -> Image.Image:
    """Return the picture in an `image` field."""
    return Image.open(io.BytesIO(base64.b64decode(text)))


class LaneKeeper:
    """Steers by P and D on cte, and keeps to a speed of its own."""

    def __init__(self, speed: float = 1.4, p: float = 0.35, d: float = 2.0) -> None:
        self.speed, self.p, self.d = speed, p, d
        self._last_cte: float | None = None

    def decide(self, telemetry: dict) -> tuple[float, float]:
        cte = telemetry["cte"]
        change = 0.0 if self._last_cte is None else cte - self._last_cte
        self._last_cte = cte
        steering = -(self.p * cte + self.d * change)
        throttle = max(0.0, min(1.0, 0.8 * (self.speed - telemetry["speed"])))
        return max(-1.0, min(1.0, steering)), throttle
