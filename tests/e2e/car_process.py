"""A car folder that is driven as people do: `python manage.py drive` in a process of its own, and who drives it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from websockets.sync.client import ClientConnection, connect

from donkeysim.car.folder import create_car
from waiting import PATIENCE

DRIVE = ("manage.py", "drive")


def make_car(folder: Path, settings: str = "", part: str = "") -> Path:
    """Make a car folder; `settings` go into myconfig.py, the code `part` into the place for parts in manage.py."""
    create_car(folder, say=lambda _: None)
    with (folder / "myconfig.py").open("a", encoding="utf-8") as file:
        file.write("\nWATCH_PAGE_PORT = None\n" + settings)
    if part:
        program = (folder / "manage.py").read_text(encoding="utf-8")
        mark = "    # ADD A PART OF YOUR OWN HERE"
        assert program.count(mark) == 1
        added = "".join(f"    {line}\n" for line in part.strip().splitlines())
        (folder / "manage.py").write_text(program.replace(mark, added + mark), encoding="utf-8")
    return folder


class CarProcess:
    """A car that is driven; ends with the `with` block."""

    def __init__(
        self, folder: Path, *options: str, command: tuple[str, ...] = DRIVE, python: Path | str = sys.executable
    ) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [python, *command, *options],
            cwd=folder,
            env={**os.environ, "WEB_CONTROL_PORT": "0", "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        """Everything it has printed."""
        return "\n".join(self.lines)

    def wait_for(self, pattern: str, seconds: float = 60.0) -> re.Match[str]:
        """Return the first match of a pattern in what it prints."""
        with self._news:
            found = self._news.wait_for(lambda: re.search(pattern, self.text) or not self._is_alive(), seconds)
        match = re.search(pattern, self.text)
        assert match, f"no {pattern!r} in:\n{self.text}" if found else f"{pattern!r} takes too long:\n{self.text}"
        return match

    @contextlib.contextmanager
    def drive(self) -> Iterator[ClientConnection]:
        """Connect as a program that drives; each message is a JSON text."""
        url = self.wait_for(r"You can now go to http(://\S+) to drive your car")[1]
        with connect(f"ws{url}/wsDrive", proxy=None) as socket:
            yield socket

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self, seconds: float = 60.0) -> int:
        """Return the exit code; everything it printed has been read then."""
        code = self.process.wait(seconds)
        self._reader.join(5)
        return code

    def _is_alive(self) -> bool:
        return self._reader.is_alive()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line.rstrip())
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def __enter__(self) -> CarProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        self._reader.join(5)
        self.process.stdout.close()


def say(socket: ClientConnection, **wishes: object) -> None:
    """Send one message of the control page."""
    socket.send(json.dumps(wishes))


def wait_for_news(socket: ClientConnection, key: str, wanted: object, seconds: float = PATIENCE) -> None:
    """Wait until the car tells this, or of a number that it is at least this."""
    deadline = time.monotonic() + seconds
    while True:
        told = json.loads(socket.recv(max(0.0, deadline - time.monotonic()))).get(key)
        if told == wanted or (isinstance(told, int) and isinstance(wanted, int) and told > wanted):
            return
