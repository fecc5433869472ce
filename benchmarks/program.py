"""Starts `donkey_sim` as a process and talks to it, for figures that a client sees."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any


class Program:
    """A running `donkey_sim` on a free port; leaves with SIGINT.

    Args:
        options: Further options.
        cache: Kernel cache folder; None: the usual one.

    Attributes:
        port: Where it listens.
        seconds_to_listen: From the start to the line that names the port.
    """

    def __init__(self, *options: str, cache: Path | None = None) -> None:
        self.started = time.perf_counter()
        environment = dict(os.environ)
        if cache is not None:
            environment["DONKEYSIM_KERNEL_CACHE"] = str(cache)
        command = [sys.executable, "-m", "donkeysim.cli.donkey_sim", "--port", "0", "--no-page", *options]
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(r"127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                break
        else:
            raise RuntimeError(f"donkey_sim ended with {self._process.wait()} before it listened")
        self.seconds_to_listen = time.perf_counter() - self.started

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()


class Client:
    """One connection that reads a message per line.

    Args:
        port: Of the server on this machine.
    """

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines = self._socket.makefile("rb")

    def send(self, **message: str) -> None:
        """Send one message as the original's clients do: no newline, numbers as strings."""
        self._socket.sendall(json.dumps(message).encode())

    def read_line(self) -> bytes:
        """Return the next line."""
        return self._lines.readline()

    def wait_for(self, kind: str) -> dict[str, Any]:
        """Return the next message of this type."""
        wanted = f'{{"msg_type":"{kind}"'.encode()
        while line := self._lines.readline():
            if line.startswith(wanted):
                message: dict[str, Any] = json.loads(line)
                return message
        raise ConnectionError("the server closed the connection")

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()
        self._socket.close()
