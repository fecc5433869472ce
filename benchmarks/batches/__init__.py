"""Batches of worlds: how long it takes to make them, reset all cars, put all somewhere, go back to a moment."""

import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks.measure import Figure
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import Scene
from donkeysim.world.specs import SceneSpec, WorldSpec

ROUNDS = 7

LARGEST = 4096
"""Worlds that the limits are for; fewer have their share."""

LIMITS = {"made, cars on the grid": 5000.0, "all reset": 20.0, "all put on the path at random": 20.0}
"""At most so long for `LARGEST` worlds [ms]."""


def run() -> list[Figure]:
    """Measure 256 and 4,096 worlds of one car on generated_track."""
    scene = open_batch(1).scene  # compiles, and builds the track
    return [figure for count in (256, LARGEST) for figure in measure_batch(count, scene)]


def open_batch(world_count: int, scene: Scene | None = None) -> Simulator:
    """Return a simulator of so many worlds with one car each; of a track that is built already, if one is given."""
    simulator = Simulator(WorldSpec(scene=SceneSpec("generated_track"), world_count=world_count), scene=scene)
    simulator.compile()
    simulator.apply(commands.Join(range(world_count), [None]))
    return simulator


def measure_batch(world_count: int, scene: Scene) -> list[Figure]:
    """Return the figures of a batch."""
    begun = time.perf_counter()
    simulator = open_batch(world_count, scene)
    made = 1000.0 * (time.perf_counter() - begun)
    rows, random = list(range(world_count)), np.random.default_rng(1)
    length = float(simulator.ledger.path_length[0])
    moment = simulator.snapshot()

    def put() -> None:
        along, offset, yaw = random.uniform(-0.1, 0.1, (3, world_count))
        simulator.apply(commands.PutOnPath(rows, (along + 0.1) * 5.0 * length, offset, yaw))

    works: dict[str, Callable[[], object]] = {
        "all reset": lambda: simulator.apply(commands.Reset(rows)),
        "all put on the path at random": put,
        "all back at a moment": lambda: simulator.apply(commands.Restore(moment)),
        "every second world back at a moment": lambda: simulator.apply(commands.Restore(moment, rows[::2])),
    }
    times = {"made, cars on the grid": (made, made)} | {name: time_work(work) for name, work in works.items()}
    return [
        Figure("batches", f"{world_count:,} worlds {name}", *pair, "ms", None, describe_limit(name, world_count))
        for name, pair in times.items()
    ]


def time_work(work: Callable[[], object]) -> tuple[float, float]:
    """Return how long a piece of work takes, median and best of some rounds [ms]."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append(1000.0 * (time.perf_counter() - begun))
    return statistics.median(times), min(times)


def describe_limit(name: str, world_count: int) -> str:
    """Return the limit of a figure in words, "" where there is none."""
    return f"at most {LIMITS[name] * world_count / LARGEST:g}" if name in LIMITS else ""
