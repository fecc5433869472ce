"""What a browser gets of a car that drives, and what that costs the car's client and the simulator; needs Chromium."""

from __future__ import annotations

import contextlib
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

from playwright.sync_api import sync_playwright

from benchmarks.measure import Figure
from benchmarks.program import Client

SECONDS = 10.0
"""Of a round [s]."""

VIEWS = ("Chase", "Top")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic"]


def run() -> list[Figure]:
    """Measure a client at 20 Hz alone, then while somebody watches its car from behind and from above."""
    with start_simulator() as (program, port, address), sync_playwright() as playwright:
        client = DrivingClient(port)
        client.measure(1.0)
        figures = [*client.describe("nobody watches", program)]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for view in VIEWS:
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            counter = PictureCounter(page)
            page.goto(address)
            page.get_by_role("button", name=view, exact=True).click()
            page.wait_for_timeout(3000)
            counter.begin()
            figures += client.describe(view, program, lambda seconds: page.wait_for_timeout(1000.0 * seconds))
            figures += counter.describe(view)
            page.close()
        browser.close()
    return figures


class PictureCounter:
    """Counts pictures that arrive at a page, and how many differ from the one before."""

    def __init__(self, page) -> None:
        self.begin()
        page.on("websocket", lambda socket: socket.on("framereceived", self._note))

    def begin(self) -> None:
        """Count anew."""
        self._began, self._times, self._changes, self._last = time.perf_counter(), [], 0, {}

    def _note(self, payload) -> None:
        # The inset is 160x120: its files are small.
        if isinstance(payload, bytes) and len(payload) > 12_000:
            self._times.append(time.perf_counter())
            self._changes += payload != self._last
            self._last = payload

    def describe(self, view: str) -> list[Figure]:
        """Return how many came."""
        rate = len(self._times) / (time.perf_counter() - self._began)
        new = self._changes / (time.perf_counter() - self._began)
        return [Figure("watching", f"{view}: different pictures", new, new, "1/s", 28.0, f"{rate:.1f} came")]


class DrivingClient:
    """A client that keeps to the path on a thread of its own, and when it heard."""

    def __init__(self, port: int) -> None:
        self._client = Client(port)
        self._client.wait_for("car_loaded")
        self._heard: list[float] = []
        threading.Thread(target=self._drive, daemon=True).start()

    def _drive(self) -> None:
        before = 0.0
        while True:
            message = self._client.wait_for("telemetry")
            self._heard.append(time.perf_counter())
            cte = message["cte"]
            steering = -0.35 * cte - 2.5 * (cte - before)
            before = cte
            throttle = max(0.0, 0.8 * (1.4 - message["speed"]))
            self._client.send(msg_type="control", steering=str(steering), throttle=str(throttle), brake="0")

    def measure(self, seconds: float, wait=time.sleep) -> list[float]:
        """Return the times between telemetries [s]."""
        self._heard.clear()
        wait(seconds)
        heard = list(self._heard)
        return [after - before for before, after in zip(heard, heard[1:], strict=False)]

    def describe(self, what: str, program, wait=time.sleep) -> Iterator[Figure]:
        """Return the beat as the client hears it, and what the simulator worked meanwhile."""
        before = read_processor_time(program.pid)
        gaps = [1000.0 * gap for gap in self.measure(SECONDS, wait)]
        work = (read_processor_time(program.pid) - before) / SECONDS
        gaps.sort()
        middle, late = statistics.median(gaps), gaps[int(0.99 * len(gaps))]
        yield Figure(
            "watching",
            f"{what}: time between telemetries",
            middle,
            gaps[0],
            "ms",
            None,
            f"99 % {late:.1f}, longest {gaps[-1]:.1f}, {len(gaps)} came",
        )
        yield Figure("watching", f"{what}: share of a core", 100 * work, 100 * work, "%")


def read_processor_time(process: int) -> float:
    """Return what a process has worked [s]; on Linux."""
    fields = open(f"/proc/{process}/stat", encoding="ascii").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100.0


@contextlib.contextmanager
def start_simulator():
    """Run `donkey_sim` with a page; yields its process, port and the page's address."""
    words = ["-m", "donkeysim.cli.donkey_sim", "--scene", "generated_track", "--port", "0", "--page-port", "0"]
    program = subprocess.Popen([sys.executable, "-u", *words], stdout=subprocess.PIPE, text=True)
    found = []
    for line in program.stdout:
        found += re.findall(r"(?:on [\d.]+:|http://[\d.]+:)(\d+)", line)
        if len(found) == 2:
            break
    threading.Thread(target=program.stdout.read, daemon=True).start()
    try:
        yield program, int(found[0]), f"http://127.0.0.1:{found[1]}"
    finally:
        program.terminate()
        program.wait(20)
