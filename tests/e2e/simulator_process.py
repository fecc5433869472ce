"""Starts `donkey_sim` as people do, and reads what it prints."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
import time


def find_port() -> int:
    """Return a port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class SimulatorProcess:
    """A running `donkey_sim` on a free port; ends with the `with` block.

    Attributes:
        command: The program's module and its first words.
    """

    command: tuple[str, ...] = ("donkeysim.cli.donkey_sim",)

    def __init__(self, *arguments: str, page: bool = False, environment: dict[str, str] | None = None) -> None:
        options = ["--port", "0", *([] if page else ["--no-page"]), *arguments]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", *self.command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        self.lines: list[str] = []
        self._is_listening = threading.Event()
        self._has_page = threading.Event()
        self.address = ("127.0.0.1", 0)
        self.page_address = ""
        self.private_address = ("127.0.0.1", 0)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._is_listening.wait(60), f"donkey_sim does not listen: {self.lines}"
        assert not page or self._has_page.wait(60), f"donkey_sim shows no page: {self.lines}"

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            listening = re.search(r"listens on ([\d.]+):(\d+)", line)
            if listening:
                self.address = (listening[1], int(listening[2]))
                self._is_listening.set()
            private = re.search(r"Private API on ([\d.]+):(\d+)", line)
            if private:
                self.private_address = (private[1], int(private[2]))
            page = re.search(r"Watch it at (https?://[\d.]+:\d+)", line)
            if page:
                self.page_address = page[1]
                self._has_page.set()

    def interrupt(self) -> int:
        """Send SIGINT (Ctrl-C) and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self, seconds: float = 30.0) -> int:
        """Return the exit code."""
        return self.process.wait(seconds)

    def __enter__(self) -> SimulatorProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        self._reader.join(5)
        self.process.stdout.close()
