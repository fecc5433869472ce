"""24 cars race at 20 Hz and five people watch: pictures or moments of each a second, the race's own beat, memory kept.

Pictures of 640x360 are drawn here; browsers that draw by themselves are told where everything is, moment by moment.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import threading
import time
import tracemalloc
from dataclasses import replace
from typing import Any

from benchmarks.measure import Figure
from donkeysim.racing.rules.rule_book import Race, load_rule_book
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.race_run import RaceRun
from donkeysim.racing.run.racer import DRIVERS, DriverRacer
from donkeysim.racing.show.race_view import RaceView, TimeLine
from donkeysim.racing.show.recording import RaceRecording
from donkeysim.racing.show.timing import CarLook, Timing
from donkeysim.watch.live_interpolator import LiveInterpolator
from donkeysim.watch.spectator import create_app
from donkeysim.watch.watchable import CarRow
from donkeysim.web.serving import PageServer, bind_port

CARS, BEAT, SECONDS = 24, 0.05, 20.0
SIZE = {"width": 640, "height": 360}
LATE = 0.005
"""A frame that begins later than this is late [s]."""

GROUPS: dict[str, list[dict[str, Any]]] = {
    "nobody": [],
    "five watch the same car": [{"view": "chase", "car": 3, **SIZE}] * 5,
    "five watch the cameras beside the track": [{"view": "tv", "car": -1, **SIZE}] * 5,
    "five watch five views": [
        {"view": "chase", "car": 3, **SIZE},
        {"view": "seat", "car": 5, **SIZE},
        {"view": "top", "car": 7, **SIZE},
        {"view": "tv", "car": -1, **SIZE},
        {"view": "tv", "car": 11, **SIZE},
    ],
    "five whose browsers draw": [{"at": None}] * 5,
    "five whose browsers draw the past": [{"at": 5.0}] * 5,
    "five watch five cars in the past": [{"view": "chase", "car": 2 * row, "at": 5.0, **SIZE} for row in range(5)],
}


def run() -> list[Figure]:
    """Measure one race after another group of viewers."""
    figures = [measure_memory()]
    for name, questions in GROUPS.items():
        figures += asyncio.run(measure_group(name, questions))
    return figures


def plan_race(seconds: float) -> tuple[RacePlan, list[DriverRacer]]:
    """Return a race of 24 that lasts some seconds, and its drivers."""
    book = load_rule_book("virtual_race_league")
    race = Race(laps=0, limit=seconds, order="distance")
    start = replace(book.start, grid="entry", settle=0.0, countdown=0.5)
    book = replace(book, cars=CARS, qualifying=None, practice=0.0, race=race, start=start)
    plan = RacePlan("generated_track", "", book, tuple(f"car {row}" for row in range(CARS)))
    return plan, [DriverRacer(DRIVERS[row % len(DRIVERS)]) for row in range(CARS)]


class LiveRace:
    """A race in real time on a thread of its own, and what the page asks of it."""

    scene_name, is_loading, loading_stage, has_pace_car = "generated_track", False, "", None

    def __init__(self, seconds: float) -> None:
        plan, racers = plan_race(seconds)
        self.run = RaceRun(plan, racers)
        self.interpolator, self.recording, self.timing = LiveInterpolator(), RaceRecording(), Timing()
        self.looks = {row: CarLook(row, (200, 10 * row, 0)) for row in range(CARS)}
        self.rows = {row: row for row in range(CARS)}
        self.late: list[float] = []
        self.worked: list[float] = []
        self.recording.broadcast.prepare(self.run.simulator)
        self.interpolator.broadcast = self.recording.broadcast
        self.thread = threading.Thread(target=self.drive)

    def drive(self) -> None:
        """Race at 20 Hz, and note when each frame began and what it took."""
        self.run.begin()
        waiting, due = threading.Event(), time.perf_counter()
        while not self.run.is_over:
            due += BEAT
            waiting.wait(max(0.0, due - time.perf_counter()))
            self.late.append(time.perf_counter() - due)
            begun = time.thread_time()
            self.pass_frame()
            self.interpolator.note(self.run.simulator, BEAT, lambda: self.rows)
            self.worked.append(time.thread_time() - begun)

    def pass_frame(self) -> None:
        """Let a frame pass, and keep it."""
        director, simulator = self.run.director, self.run.simulator
        self.run.pass_frame()
        self.timing.note(director, simulator.ledger, self.run.events)
        self.recording.note(simulator, self.rows, self.timing.draw(director, self.looks))

    def scene_names(self) -> tuple[str, ...]:
        return ()

    def outline(self) -> None:
        return None

    def time_line(self) -> TimeLine | None:
        return self.recording.time_line()

    def joining(self) -> None:
        return None

    async def show_race(self, at: float | None) -> RaceView | None:
        return self.recording.find_view(at)

    async def list_cars(self, at: float | None = None) -> list[CarRow]:
        return self.recording.list_cars(at)

    async def take_moment(self, at: float | None = None) -> bytes:
        if at is not None:
            return self.recording.take_moment(at)
        self.interpolator.want()
        while not self.interpolator.is_live:
            await asyncio.sleep(BEAT)
        return self.interpolator.take_moment()

    async def take_picture(self, view: str, car_id: int, width: int, height: int, at: float | None = None) -> bytes:
        if at is not None:
            return await asyncio.to_thread(self.recording.take_picture, view, car_id, width, height, at)
        self.interpolator.want()
        while not self.interpolator.is_live:
            await asyncio.sleep(BEAT)
        return await asyncio.to_thread(self.interpolator.take_picture, view, car_id, width, height)


async def measure_group(name: str, questions: list[dict[str, Any]]) -> list[Figure]:
    """Return what viewers get and how steadily the race goes on meanwhile."""
    live = LiveRace(SECONDS + 10.0)
    page = PageServer(create_app(live, wire_port=None, races=live), bind_port(0))  # type: ignore[arg-type]
    await page.start()
    live.thread.start()
    await asyncio.sleep(6.0)
    live.late.clear()
    live.worked.clear()
    began = time.process_time()
    command = [sys.executable, "-m", "benchmarks.race_watching.viewers", page.address, str(SECONDS)]
    answer = await asyncio.to_thread(
        subprocess.run, [*command, json.dumps(questions)], capture_output=True, text=True, check=True
    )
    share = (time.process_time() - began) / SECONDS
    late, worked = sorted(live.late[: round(SECONDS / BEAT)]), statistics.median(live.worked)
    live.thread.join()
    await page.stop()
    got = json.loads(answer.stdout)
    figures = [
        Figure("race_watching", f"{name}: share of a core", 100.0 * share, 100.0 * share, "%"),
        Figure("race_watching", f"{name}: the race's own work in a beat", 1e3 * worked, 1e3 * worked, "ms"),
        Figure(
            "race_watching",
            f"{name}: a beat is late, 99 %",
            1e3 * late[int(0.99 * len(late))],
            1e3 * late[-1],
            "ms",
            note=f"longest {1e3 * late[-1]:.1f}; {sum(value > LATE for value in late)} of {len(late)} over 5 ms",
        ),
    ]
    if got:
        rates = sorted(changes / SECONDS for _, changes, _ in got)
        waits = ", ".join(f"{1e3 * wait:.0f}" for _, _, wait in got)
        what, least = ("pictures", 28.0) if "view" in questions[0] else ("moments", 19.0)
        note = f"most {rates[-1]:.1f}; one takes {waits} ms"
        figures.append(
            Figure("race_watching", f"{name}: new {what}, the least of five", rates[0], rates[-1], "1/s", least, note)
        )
    return figures


def measure_memory() -> Figure:
    """Return what a minute of the race keeps."""
    live = LiveRace(60.0)
    live.run.begin()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    while not live.run.is_over:
        live.pass_frame()
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    frames = round((live.recording.time_line() or TimeLine(0.0, 1.0, False)).end / BEAT)
    value = kept / frames
    note = f"{1e-6 * value * 12_000:.0f} MB for ten minutes"
    return Figure("race_watching", "kept of a frame of 24 cars", 1e-3 * value, 1e-3 * value, "kB", None, note, 25.0)
