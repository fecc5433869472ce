"""What a browser gets of a car that drives, and what that costs the car's client and the simulator; needs Chromium."""

import contextlib
import functools
import itertools
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Page, WebSocket, sync_playwright

from benchmarks.measure import Figure
from benchmarks.program import Client
from donkeysim.sim.simulator import Simulator
from donkeysim.watch.live_interpolator import LiveInterpolator
from donkeysim.world.specs import SceneSpec, WorldSpec

MILLISECONDS = 10_000
"""Of a round."""

VIEWS = ("Chase", "Top")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic"]
INSET_BYTES = 12_000
"""The small picture of the car's camera is a smaller file, the view a larger one."""


def run() -> list[Figure]:
    """Measure a client at 20 Hz alone, then while somebody watches its car from behind and from above."""
    with start_simulator() as (program, port, address), sync_playwright() as playwright:
        client = DrivingClient(port)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.wait_for_timeout(2000)
        figures = client.describe("nobody watches", program.pid, page.wait_for_timeout)
        counter = PictureCounter(page)
        page.goto(address)
        for view in VIEWS:
            page.get_by_role("button", name=view, exact=True).click()
            page.wait_for_timeout(3000)
            counter.begin()
            figures += client.describe(view, program.pid, page.wait_for_timeout)
            figures.append(counter.describe(view))
        browser.close()
    return [*measure_film(), *figures]


def measure_film() -> list[Figure]:
    """Return what the simulation's thread does for watchers after each moment, and what a picture takes beside it."""
    simulator, interpolator = Simulator(WorldSpec(SceneSpec("generated_track"), cars_per_world=65)), LiveInterpolator()
    simulator.add_car()
    simulator.step()
    note = functools.partial(interpolator.note, simulator, 0.05, lambda: {1: 0})
    alone = measure_seconds(note)
    interpolator.want()
    kept = measure_seconds(note)
    picture = measure_seconds(lambda: interpolator.take_picture("chase", 1, 960, 540), 20)
    figures = (("a moment that nobody watches", 1e6 * alone, "us"), ("a moment that is kept", 1e6 * kept, "us"))
    figures += (("a picture of 960x540 as JPEG", 1e3 * picture, "ms"),)
    return [Figure("watching", what, value, value, unit) for what, value, unit in figures]


def measure_seconds(work: Callable[[], object], count: int = 300) -> float:
    """Return the median of a call's processor time [s]."""
    taken = []
    for _ in range(count):
        began = time.thread_time()
        work()
        taken.append(time.thread_time() - began)
    return statistics.median(taken)


class PictureCounter:
    """Counts pictures that arrive at a page, and how many differ from the one before."""

    def __init__(self, page: Page) -> None:
        self.begin()
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._note)

    def begin(self) -> None:
        """Count anew."""
        self._began, self._count, self._changes, self._last = time.perf_counter(), 0, 0, b""

    def _note(self, payload: bytes | str) -> None:
        if isinstance(payload, bytes) and len(payload) > INSET_BYTES:
            self._count += 1
            self._changes += payload != self._last
            self._last = payload

    def describe(self, view: str) -> Figure:
        """Return how many came."""
        seconds = time.perf_counter() - self._began
        new, note = self._changes / seconds, f"{self._count / seconds:.1f} came"
        return Figure("watching", f"{view}: different pictures", new, new, "1/s", 28.0, note)


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
            try:
                message = self._client.wait_for("telemetry")
            except ConnectionError:
                return
            self._heard.append(time.perf_counter())
            cte = message["cte"]
            steering = -0.35 * cte - 2.5 * (cte - before)
            before = cte
            throttle = max(0.0, 0.8 * (1.4 - message["speed"]))
            self._client.send(msg_type="control", steering=str(steering), throttle=str(throttle), brake="0")

    def describe(self, what: str, process: int, wait: Callable[[float], object]) -> list[Figure]:
        """Return the beat as the client hears it in a round, and what the simulator works meanwhile."""
        before = read_processor_time(process)
        self._heard.clear()
        wait(MILLISECONDS)
        gaps = sorted(1000.0 * (after - before) for before, after in itertools.pairwise(list(self._heard)))
        share = (read_processor_time(process) - before) / (MILLISECONDS / 1e5)
        note = f"99 % {gaps[int(0.99 * len(gaps))]:.1f}, longest {gaps[-1]:.1f}, {len(gaps)} came"
        figure = functools.partial(Figure, "watching")
        return [
            figure(f"{what}: time between telemetries", statistics.median(gaps), gaps[0], "ms", None, note),
            figure(f"{what}: share of a core", share, share, "%"),
        ]


def read_processor_time(process: int) -> float:
    """Return what a process has worked [s]; on Linux."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100.0


@contextlib.contextmanager
def start_simulator() -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """Run `donkey_sim` with a page; yields its process, port and the page's address."""
    words = ["-m", "donkeysim.cli.donkey_sim", "--scene", "generated_track", "--port", "0", "--page-port", "0"]
    program = subprocess.Popen([sys.executable, "-u", *words], stdout=subprocess.PIPE, text=True)
    found: list[str] = []
    assert program.stdout is not None
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
