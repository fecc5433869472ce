"""The vehicle loop with all that a drive has at once: control page with film and readings, recording, and a pilot."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from benchmarks.measure import Figure
from donkeysim.car.folder import create_car
from donkeysim.learn.pilot import BUILT_IN_PILOT

LOOP_RATE = 20
"""What a new car folder asks for [Hz]."""

WARM_RECORDS, LAST_RECORD = 100, 500
"""Measured between these."""

SETTINGS = """
RECORD_DURING_AI = True
WEB_INIT_MODE = "local"
SIM_RECORD_LOCATION = True
WATCH_PAGE_PORT = 0
"""

WATCHED_PARTS = {
    "BuiltInSimulatedCar": "simulator with camera",
    "ControlPage": "control page",
    "PilotDriver": "pilot",
    "TubRecorder": "recording",
}


def run() -> list[Figure]:
    """Drive the built-in pilot for 25 s with a viewer, and read the program's own table."""
    with tempfile.TemporaryDirectory() as folder, start_drive(Path(folder)) as process:
        rate, text = follow_drive(process)
    note = f"records {WARM_RECORDS} to {LAST_RECORD}, with film, readings and recording"
    figures = [Figure("drive_loop", "loops per second", rate, rate, "Hz", LOOP_RATE * 0.995, note)]
    for part, name in WATCHED_PARTS.items():
        cells = next(line for line in text.splitlines() if line.startswith(f"| {part}")).split("|")
        least, median, most = (float(cells[column]) for column in (3, 5, 7))
        goal = ", at most 5 ms is asked for" if name == "pilot" else ""
        figures.append(Figure("drive_loop", name, median, least, "ms", note=f"99 % within {most} ms{goal}"))
    return figures


@contextmanager
def start_drive(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Drive a new car folder in a process of its own."""
    create_car(folder, say=lambda _: None)
    with (folder / "myconfig.py").open("a", encoding="utf-8") as file:
        file.write(SETTINGS)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "drive", "--model", str(BUILT_IN_PILOT)],
        cwd=folder,
        env={**os.environ, "WEB_CONTROL_PORT": "0", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def follow_drive(process: subprocess.Popen[str]) -> tuple[float, str]:
    """Watch and record until there are enough records; return the rate [Hz] and all that the program printed."""
    assert process.stdout
    lines: list[str] = []
    began = ended = 0.0
    for line in process.stdout:
        lines.append(line)
        address = re.search(r"You can now go to (http://\S+) to drive", line)
        if address:
            for watch in (watch_film, watch_readings):
                threading.Thread(target=watch, args=(address[1],), daemon=True).start()
            ask = urllib.request.Request(f"{address[1]}/drive", b'{"recording": true}')
            urllib.request.urlopen(ask, timeout=60).close()
        if line.startswith(f"recorded {WARM_RECORDS} records"):
            began = time.perf_counter()
        if line.startswith(f"recorded {LAST_RECORD} records"):
            ended = time.perf_counter()
            process.send_signal(signal.SIGINT)
    return (LAST_RECORD - WARM_RECORDS) / (ended - began), "".join(lines)


def watch_film(url: str) -> None:
    """Read the film as a browser does, until it ends."""
    with urllib.request.urlopen(f"{url}/video", timeout=60) as film:
        while film.read(4096):
            pass


def watch_readings(url: str) -> None:
    """Take the readings as the page does, until the car is gone."""
    address = url.replace("http", "ws", 1) + "/wsDrive?reports=1"
    with suppress(ConnectionClosed), connect(address, proxy=None) as socket:
        for _ in socket:
            pass
