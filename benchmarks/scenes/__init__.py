"""Every scene of the menu on one core: car steps with a 160x120 picture, what is drawn, loading time and memory.

Car steps are counted by processor time: one thread's, and what else a machine does changes it less. Loading uses as
many threads as there are processors and is timed by the clock.
"""

import statistics
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.lap import LapDrive
from benchmarks.measure import Figure, measure_rate
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec, SceneSpec, WorldSpec
from donkeysim.world.tracks import list_scenes, load_scene

LOADS = 3
CARS = 64
STRETCH = 20
"""Steps after which the cars are put back to where they were: their way is short, so that all of a lap is seen."""

COLUMNS = {
    "car steps": ("car steps/s", 4000.0, "at least 4,000; aim 8,000"),
    "triangles": ("drawn a picture", None, "mean of 64 cars over the lap"),
    "textured": ("pixels a picture", None, "of 19,200"),
    "first load": ("s", None, "in a process, imports included"),
    "warm load": ("s", None, "at most 1 s"),
    "memory": ("MB", None, "at most 300 MB: most in use while loading"),
}
"""Unit, least and a note of each column."""


def run() -> list[Figure]:
    """Measure every scene, each in a process of its own."""
    figures = []
    for name in list_scenes():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            row = pool.submit(measure_scene, name).result()
        for column, (value, best) in zip(COLUMNS, row, strict=True):
            unit, goal, note = COLUMNS[column]
            figures.append(Figure("scenes", f"{name}: {column}", value, best, unit, goal, note))
    return figures


def print_figures(figures: list[Figure]) -> None:
    """Print a table with a row for each scene."""
    names = list(dict.fromkeys(figure.what.split(":")[0] for figure in figures))
    value = {figure.what: figure.value for figure in figures}
    print("scene".ljust(22) + "".join(column.rjust(12) for column in COLUMNS))
    print(" " * 22 + "".join(unit.split()[0].rjust(12) for unit, _, _ in COLUMNS.values()))
    for name in names:
        print(name.ljust(22) + "".join(f"{value[f'{name}: {column}']:12,.4g}" for column in COLUMNS), flush=True)
    for column, (_, _, note) in COLUMNS.items():
        print(f"{column}: {note}")


def measure_scene(name: str) -> list[tuple[float, float]]:
    """Return (median, best) of every column."""
    first, later = load_often(name)
    drive = LapDrive(CARS, CameraSpec(), scene=name)
    moment = drive.simulator.snapshot()

    def drive_on() -> int:
        drive.simulator.restore(moment)
        return sum(drive.advance_and_draw() for _ in range(STRETCH))

    rate = measure_rate(drive_on, seconds=0.7, rounds=4, clock=time.process_time)
    triangles, textured = drive.simulator.count_rendered()
    drive.simulator.close()
    memory = measure_memory(name)
    return [
        rate,
        (triangles, triangles),
        (textured, textured),
        (first, first),
        (statistics.median(later), min(later)),
        (memory, memory),
    ]


def load_often(name: str) -> tuple[float, list[float]]:
    """Return seconds of the first load and of later ones."""
    seconds = []
    for _ in range(1 + LOADS):
        start = time.perf_counter()
        load_scene(SceneSpec(name))
        seconds.append(time.perf_counter() - start)
    return seconds[0], seconds[1:]


def measure_memory(name: str) -> float:
    """Return the most memory in use while a simulator with this scene is made [MB]."""
    tracemalloc.start()
    Simulator(WorldSpec(SceneSpec(name))).close()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most
