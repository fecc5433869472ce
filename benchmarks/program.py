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
        has_page: Whether it serves the watching page, on a free port.

    Attributes:
        port: Where it listens.
        page: Address of its page; "" without one.
        seconds_to_listen: From the start to the line that names the port.
    """

    def __init__(self, *options: str, cache: Path | None = None, has_page: bool = False) -> None:
        self.started = time.perf_counter()
        environment = dict(os.environ)
        if cache is not None:
            environment["DONKEYSIM_KERNEL_CACHE"] = str(cache)
        page = ("--page-port", "0") if has_page else ("--no-page",)
        command = [sys.executable, "-m", "donkeysim.cli.donkey_sim", "--port", "0", *page, *options]
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.port = int(self._read_until(r"listens on 127\.0\.0\.1:(\d+)"))
        self.seconds_to_listen = time.perf_counter() - self.started
        self.page = self._read_until(r"Watch it at (http://\S+)") if has_page else ""

    def _read_until(self, pattern: str) -> str:
        """Return what the group of a pattern matches in the first line that has it."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(pattern, line):
                return found[1]
        raise RuntimeError(f"donkey_sim ended with {self._process.wait()} before it said {pattern!r}")

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
