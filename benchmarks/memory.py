"""Memory of `make run`: the most that all its processes take together, on a first run and with everything compiled.

Somebody watches on the page of the simulator, and the control page's film is read. What processes share is counted once
(proportional set sizes); other programs that use the same libraries at that time take a part of them away. Linux only.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from websockets.sync.client import connect

from benchmarks.first_picture import LONGEST, NOT_A_USERS, wait_for_picture
from benchmarks.measure import Figure

AT_MOST = 450.0
"""What is asked for [MB]."""

INTERVAL = 0.05
"""Between two looks at all processes [s]."""

WATCHED = 8.0
"""How long a drive goes on after its first picture [s]."""

ADDRESSES = {"watching": r"Watch it at (http://\S+)", "control": r"go to (http://\S+) to drive"}

Sizes = dict[str, float]
"""MB of each process, by its name and number."""


def run() -> list[Figure]:
    """Run with empty caches and with those that this filled; print what each process took at the highest moment."""
    if not is_measurable():
        sys.exit("memory: only Linux tells what processes share (/proc/PID/smaps_rollup); nothing was measured.")
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first run", "warm"):
            sizes = measure_peak(Path(folder))
            total = sum(sizes.values())
            print(f"{name}: " + ", ".join(f"{process} {size:.0f} MB" for process, size in sizes.items()))
            figures.append(Figure("memory", f"make run, {name}: all processes", total, total, "MB", most=AT_MOST))
    return figures


def is_measurable() -> bool:
    """Return whether this system tells what processes share."""
    return Path("/proc/self/smaps_rollup").exists()


def measure_peak(folder: Path, watched: float = WATCHED) -> Sizes:
    """Return what each process of a drive took when all together took most.

    Args:
        folder: For kernels, translated modules and the car; what is there from a former run is used.
        watched: How long it goes on after its first picture [s].
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(NOT_A_USERS)}
    caches = {"DONKEYSIM_KERNEL_CACHE": str(folder / "kernels"), "PYTHONPYCACHEPREFIX": str(folder / "modules")}
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUNBUFFERED": "1", "WEB_CONTROL_PORT": "0"}
    options = ["--scene", "generated_track", "--pace-car", "--drive", str(folder / "mycar")]
    process = subprocess.Popen(
        [sys.executable, "-m", "donkeysim.cli.donkey_sim", *options, "--port", "0", "--page-port", "0"],
        env=inherited | caches | paths,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    most: Sizes = {}
    has_ended = threading.Event()
    watcher = threading.Thread(target=_note_most, args=(process.pid, most, has_ended))
    watcher.start()
    try:
        address = _read_addresses(process)
        wait_for_picture(address["control"], time.perf_counter())
        _watch(address["watching"], time.perf_counter() + watched)
    finally:
        has_ended.set()
        watcher.join()
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=30)
    return most


def _note_most(root: int, most: Sizes, has_ended: threading.Event) -> None:
    """Keep in `most` what processes took when all together took most."""
    while not has_ended.wait(INTERVAL):
        sizes = _read_sizes(root)
        if sum(sizes.values()) > sum(most.values()):
            most.clear()
            most.update(sizes)


def _read_sizes(root: int) -> Sizes:
    """Return what a process and all that it started take now."""
    sizes: Sizes = {}
    waiting = [root]
    while waiting:
        process = waiting.pop()
        here = Path(f"/proc/{process}")
        try:
            for task in (here / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
            words = (here / "cmdline").read_bytes().decode().split("\0")
            lines = (here / "smaps_rollup").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        modules = [word.rpartition(".")[2] for before, word in itertools.pairwise(words) if before == "-m"]
        kilobytes = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        sizes[f"{' of '.join(modules)} ({process})"] = kilobytes * 1024 / 1e6
    return sizes


def _read_addresses(process: subprocess.Popen[str]) -> dict[str, str]:
    """Return where the pages are, as soon as it has said so."""
    assert process.stdout is not None
    found: dict[str, str] = {}
    for line in process.stdout:
        found |= {name: match[1] for name, pattern in ADDRESSES.items() if (match := re.search(pattern, line))}
        if len(found) == len(ADDRESSES):
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return found
    raise RuntimeError("the program ended before it named its pages")


def _watch(page: str, until: float) -> None:
    """Watch a car from behind in a large window, as the page does."""
    address = page.replace("http", "ws", 1)
    with (
        connect(f"{address}/state", origin=page) as state,  # type: ignore[arg-type]
        connect(f"{address}/picture", origin=page) as pictures,  # type: ignore[arg-type]
        urllib.request.urlopen(page, timeout=LONGEST) as start,
    ):
        start.read()
        while time.perf_counter() < until:
            state.send("{}")
            cars = json.loads(state.recv())["cars"]
            if cars:
                pictures.send(json.dumps({"view": "chase", "car": cars[0]["id"], "width": 1280, "height": 720}))
                pictures.recv()
