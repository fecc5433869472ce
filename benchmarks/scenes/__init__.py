"""Loading scenes: seconds for the first and for a later load in a process, and the memory it takes."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.measure import Figure
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import list_scenes, load_scene

ROUNDS = 5
GOAL_SECONDS, GOAL_MEMORY = 1.0, 300.0


def run() -> list[Figure]:
    """Load every scene of the menu, each in a process of its own."""
    figures = []
    for name in list_scenes():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            first, later, memory = pool.submit(load_often, name).result()
        warm = statistics.median(later)
        note = f"at most {GOAL_SECONDS:g} s is asked for"
        figures += [
            Figure("scenes", f"{name}: first load in a process, imports included", first, first, "s"),
            Figure("scenes", f"{name}: later load", warm, min(later), "s", note=note),
            Figure(
                "scenes", f"{name}: most memory while loading", memory, memory, "MB", note=f"at most {GOAL_MEMORY:g} MB"
            ),
        ]
    return figures


def load_often(name: str) -> tuple[float, list[float], float]:
    """Return seconds of the first load, of later ones, and the peak memory of a first load [MB]."""
    start = time.perf_counter()
    load_scene(SceneSpec(name))
    first = time.perf_counter() - start
    later = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        load_scene(SceneSpec(name))
        later.append(time.perf_counter() - start)
    tracemalloc.start()
    load_scene(SceneSpec(name))
    return first, later, tracemalloc.get_traced_memory()[1] / 1e6
