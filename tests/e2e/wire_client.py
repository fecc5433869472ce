"""A plain client for tests: sends what it is told, reads lines."""

from __future__ import annotations

import json
import socket
import struct
import time


class WireClient:
    """One connection; every line that comes is read as JSON."""

    def __init__(self, address: tuple[str, int], *, seconds: float = 120.0, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(seconds)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def send(self, *messages: dict) -> None:
        self.socket.sendall(b"".join(json.dumps(message).encode() for message in messages))

    def read(self) -> dict:
        """Return the next message; raises EOFError at the end of the connection."""
        while b"\n" not in self._rest:
            data = self.socket.recv(1 << 16)
            if not data:
                raise EOFError
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        assert line.startswith(b'{"msg_type":"'), line[:80]
        assert line.endswith(b"}"), line[-80:]
        return json.loads(line)

    def read_until(self, *kinds: str, seconds: float = 120.0) -> dict:
        """Return the next message of these kinds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            message = self.read()
            if message["msg_type"] in kinds:
                return message
        raise TimeoutError(f"no {kinds} within {seconds} s")

    def is_closed(self) -> bool:
        """Read to the end; return whether the server closed the connection."""
        try:
            while True:
                self.read()
        except (EOFError, ConnectionError):
            return True
        except TimeoutError:
            return False

    def vanish(self) -> None:
        """Close with a reset, as a killed program on a bad line would."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self) -> WireClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
