"""Ten kinds of hostile clients in one process: `python tests/soak/attackers.py PORT COUNT SECONDS [RATE [SEED]]`.

Together they send at most RATE messages a second (4,000); prints how many were sent, by kind.
"""

import contextlib
import json
import random
import selectors
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from wire.hostile import make_hostile

CONTROL = b'{"msg_type": "control", "steering": "0.1", "throttle": "0.1", "brake": "0.0"}'
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def make_garbage(source: random.Random) -> bytes:
    return source.randbytes(source.randint(20, 400))


def make_half(source: random.Random) -> bytes:
    return CONTROL[: source.randint(1, len(CONTROL) - 1)]


def make_setting(source: random.Random) -> bytes:
    size = {"img_w": str(source.randint(16, 512)), "img_h": str(source.randint(16, 512)), "img_enc": "TGA"}
    name = {"msg_type": "car_config", "car_name": f"attacker {source.random()}", "body_style": "f1"}
    return json.dumps(name if source.random() < 0.5 else {"msg_type": "cam_config"} | size).encode()


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "garbage": make_garbage,
    "mutated messages": make_hostile,
    "a flood of controls": lambda source: CONTROL,
    "halves of messages": make_half,
    "settings, never reading": make_setting,
    "HTTP": lambda source: b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    "strings of 3 MB": lambda source: b'{"msg_type":"control","steering":"' + b"1" * 3_000_000 + b'"}',
    "20,000 levels deep": lambda source: b'{"a":' * 20_000,
    "connect and vanish": lambda source: b"",
    "70,000 questions in 20 s": lambda source: b'{"msg_type":"get_protocol_version"}',
}
NEVER_READS = "settings, never reading"
VANISHES = ("connect and vanish", "HTTP", "strings of 3 MB")
"""Begin again with a new connection after each message."""


class Attacker:
    """One hostile client that connects again whenever it is sent away."""

    def __init__(self, port: int, kind: str, seed: int, selector: selectors.BaseSelector) -> None:
        self.kind = kind
        self.sent = 0
        self._port = port
        self._source = random.Random(seed)
        self._selector = selector
        self._socket: socket.socket | None = None
        self._rest = memoryview(b"")

    def act(self) -> bool:
        """Send one message, or what is left of the one before; return whether a new one was begun."""
        if self._socket is None:
            self._connect()
        elif not self._rest and self.kind in VANISHES:
            self._close(self.kind != "HTTP")
            self._connect()
        is_new = not self._rest
        if is_new:
            self.sent += 1
            self._rest = memoryview(KINDS[self.kind](self._source))
        try:
            while self._rest:
                self._rest = self._rest[self._socket.send(self._rest) :]
        except BlockingIOError:
            pass
        except OSError:
            self._close(True)
        return is_new

    def read(self) -> None:
        """Read and forget what came."""
        try:
            if self._socket is not None and not self._socket.recv(1 << 18):
                self._close(False)
        except BlockingIOError:
            pass
        except OSError:
            self._close(True)

    def _connect(self) -> None:
        self._rest = memoryview(b"")
        self._socket = socket.socket()
        if self.kind == NEVER_READS:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            self._socket.connect(("127.0.0.1", self._port))
        if self.kind != NEVER_READS:
            self._selector.register(self._socket, selectors.EVENT_READ, self)

    def _close(self, at_once: bool) -> None:
        if self._socket is None:
            return
        if self.kind != NEVER_READS:
            self._selector.unregister(self._socket)
        if at_once:
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self._socket.close()
        self._socket = None
        self._rest = memoryview(b"")


def attack(port: int, count: int, seconds: float, rate: float, seed: int) -> Counter[str]:
    """Let so many attackers loose; return the messages sent by each kind."""
    selector = selectors.DefaultSelector()
    kinds = list(KINDS)
    attackers = [Attacker(port, kinds[index % len(kinds)], seed + index, selector) for index in range(count)]
    begin = time.monotonic()
    turns = 0
    while (elapsed := time.monotonic() - begin) < seconds:
        for key, _ in selector.select(0.002):
            key.data.read()
        due = min(int(elapsed * rate) - turns, int(0.1 * rate))  # what was missed is not made up for
        for _ in range(max(due, 0)):
            attackers[turns % count].act()
            turns += 1
        turns = max(turns, int(elapsed * rate) - int(0.1 * rate))
    sent: Counter[str] = Counter()
    for attacker in attackers:
        sent[attacker.kind] += attacker.sent
    return sent


if __name__ == "__main__":
    port, count, seconds, rate, seed, *_ = [*map(float, sys.argv[1:]), *(4000.0, 0.0)[len(sys.argv) - 4 :]]
    print(json.dumps(attack(int(port), int(count), seconds, rate, int(seed))), flush=True)
