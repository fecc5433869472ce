"""Seconds from `make run` in a fresh clone to the first picture on the control page, and what is said until then.

The clone is of what is committed; packages come from pip's cache if it has them, kernels are compiled anew.
"""

import os
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from benchmarks.measure import Figure

ROOT = Path(__file__).resolve().parents[1]

NOT_A_USERS = ("MAKE", "DONKEYSIM_", "PYTHON")
"""Variables that a developer's shell may have begin so; a user's has none."""

LONGEST = 300.0
"""A first start that takes longer is given up [s]."""

AT_MOST = 40.0
"""What is asked for on two cores with a warm package cache [s]."""


def run() -> list[Figure]:
    """Clone, run, wait for the picture and stop; prints each line that the user sees with its second."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "donkeysim"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        seconds = _time_first_run(clone)
    page, picture = seconds["page"], seconds["picture"]
    return [
        Figure("first_picture", "make run in a fresh clone: the control page opens", page, page, "s"),
        Figure("first_picture", "make run in a fresh clone: first picture", picture, picture, "s", most=AT_MOST),
    ]


def _time_first_run(clone: Path) -> dict[str, float]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(NOT_A_USERS)}
    started = time.perf_counter()
    process = subprocess.Popen(
        ["make", "run", "ARGS=--port 0 --page-port 0"],
        cwd=clone,
        env=inherited | {"WEB_CONTROL_PORT": "0", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    addresses: queue.SimpleQueue[str] = queue.SimpleQueue()
    reader = threading.Thread(target=_read_lines, args=(process, started, addresses), daemon=True)
    reader.start()
    try:
        address = addresses.get(timeout=LONGEST)
        if not address:
            raise RuntimeError("make run ended without a control page; what it said stands above")
        return wait_for_picture(address, started)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(30)
        reader.join(5)


def _read_lines(process: subprocess.Popen[str], started: float, addresses: queue.SimpleQueue[str]) -> None:
    """Print what the user sees; the control page's address goes into `addresses`, "" at the end."""
    assert process.stdout is not None
    for line in process.stdout:
        print(f"{time.perf_counter() - started:6.1f} s  {line.rstrip()}", flush=True)
        if found := re.search(r"go to (http://\S+) to drive", line):
            addresses.put(found[1])
    addresses.put("")


def wait_for_picture(address: str, started: float) -> dict[str, float]:
    """Return when the page answered and when its film had a second picture: the first is a grey one."""
    with urllib.request.urlopen(f"{address}/drive", timeout=LONGEST) as page:
        page.read()
    seconds = {"page": time.perf_counter() - started}
    with urllib.request.urlopen(f"{address}/video", timeout=LONGEST) as film:
        placeholder = _read_picture(film)
        while _read_picture(film) == placeholder:
            pass
    return seconds | {"picture": time.perf_counter() - started}


def _read_picture(film: object) -> bytes:
    """Return the next JPEG of a film of parts, each with its length."""
    length = 0
    while line := film.readline():  # type: ignore[attr-defined]
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        if length and line in (b"\r\n", b"\n"):
            return bytes(film.read(length))  # type: ignore[attr-defined]
    raise RuntimeError("the film ended before its first picture")
