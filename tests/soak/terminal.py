"""Somebody at a terminal, who types what a document says and presses Ctrl-C where a program runs on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

RUNS_ON = (
    (
        re.compile(r"make run|donkey_sim\b|donkey sim(?! --install)|donkey race host(?!.* --races)"),
        re.compile(r"(?s)listens on.*Watch it at (http\S+)"),
    ),
    (
        re.compile(r"python manage\.py drive|donkey drive"),
        re.compile(r"(?s)go to (http\S+) to drive.*Starting vehicle"),
    ),
    (re.compile(r"donkey tubclean|.*donkey tracks preview"), re.compile(r"Open (http\S+) ")),
    (re.compile(r"donkey replay .*--watch"), re.compile(r"(?s)Open (http\S+) .*is ready")),
)
"""Commands that run until Ctrl-C, and what they print when they are up, with the address of a page."""


class Answer(NamedTuple):
    """What came of one command."""

    command: str
    code: int
    text: str
    seconds: float
    page: str = ""
    """What its page began with."""


class Terminal:
    """A shell whose folder and variables stay from line to line, as in a terminal.

    Attributes:
        folder: Where the next line is typed.
        variables: Of the environment.
    """

    def __init__(self, folder: Path, variables: dict[str, str], notes: Path) -> None:
        self.folder = folder
        self.variables = variables
        self._notes = notes

    def type(self, command: str, limit: float = 600.0) -> Answer:
        """Run one line; a program that runs on is waited for until it is up, looked at, and ended by Ctrl-C."""
        begin = time.monotonic()
        sign = next((shown for pattern, shown in RUNS_ON if pattern.match(command)), None)
        with Running(self._remember(command), self.folder, self.variables) as running:
            page = ""
            if sign is not None:
                address = running.wait_for(sign, limit)
                page = read_page(address[1]) if address else ""
                running.interrupt()
            code = running.wait(60.0 if sign else limit)
        self._recall()
        return Answer(command, code, running.text, round(time.monotonic() - begin, 1), page)

    def start(self, command: str, sign: str) -> Running:
        """Start a program beside what is typed next, and wait until it is up."""
        running = Running(command, self.folder, self.variables)
        running.wait_for(re.compile(sign), 120.0)
        return running

    def _remember(self, command: str) -> str:
        for note in self._notes.iterdir():
            note.unlink()
        folder, variables = self._notes / "folder", self._notes / "variables"
        remember = f"code=$?\npwd > '{folder}'\nenv -0 > '{variables}'\nexit $code"
        return f"trap : INT  # the shell itself stays\n{command}\n{remember}"

    def _recall(self) -> None:
        folder, variables = self._notes / "folder", self._notes / "variables"
        if folder.exists():
            self.folder = Path(folder.read_text().strip())
            pairs = [pair.partition("=") for pair in variables.read_text().split("\0") if pair]
            self.variables = {name: value for name, _, value in pairs}


class Running:
    """A command on its way; ends with the `with` block."""

    def __init__(self, command: str, folder: Path, variables: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.text = ""
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._news:
                self.text += line
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def wait_for(self, sign: re.Pattern[str], seconds: float) -> re.Match[str] | None:
        """Return the match of what it prints, None if it ends or takes longer."""
        with self._news:
            self._news.wait_for(lambda: sign.search(self.text) or not self._reader.is_alive(), seconds)
            return sign.search(self.text)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)

    def wait(self, seconds: float) -> int:
        """Return the exit code; -9 when it took longer."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            code = self.process.wait(30)
        self._reader.join(5)
        return code

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        self._reader.join(5)
        self.process.stdout.close()


def read_page(address: str) -> str:
    """Return how a page begins."""
    with urllib.request.urlopen(address, timeout=30) as page:
        return page.read(200).decode()
