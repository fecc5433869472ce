"""Action logs: steps of environments with and without one, its size with random actions, and replaying it."""

import tempfile
import time
from pathlib import Path

import gymnasium
import numpy as np

import donkeysim  # noqa: F401  (registers the ids)
from benchmarks.measure import Figure, measure_rate
from donkeysim.record.replay import Replay

ID = "donkeysim/GeneratedTrack-v0"
ROUND = {1: 300, 64: 30}
"""Steps in one go, by number of cars."""


def run() -> list[Figure]:
    """Measure one car and 64, on one thread, without a camera."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for cars in ROUND:
            path = Path(folder) / f"{cars}.dlog"
            plain, logged = _measure_steps(cars, None), _measure_steps(cars, path)
            name = f"{cars} car{'s' * (cars > 1)}"
            cost = f"+{1e3 * (1.0 / logged[1] - 1.0 / plain[1]):.3f} ms per step"
            figures.append(Figure("action_log", f"steps without a log, {name}", *plain, "steps/s"))
            figures.append(Figure("action_log", f"steps with a log, {name}", *logged, "steps/s", None, cost))
            steps, seconds = _replay(path)
            rate, size = steps / seconds, path.stat().st_size / steps / cars
            figures.append(Figure("action_log", f"steps replayed and checked, {name}", rate, rate, "steps/s"))
            figures.append(Figure("action_log", f"size with random actions, {name}", size, size, "bytes/step/car"))
    return figures


def _replay(path: Path) -> tuple[int, float]:
    """Return how many steps a log has and how long they take [s]."""
    replay, begin = Replay(path), time.perf_counter()
    steps = sum(1 for _ in replay.play())
    if replay.broken or replay.deviation is not None:
        raise AssertionError(f"the log does not replay: {replay.broken or replay.deviation}")
    return steps, time.perf_counter() - begin


def _measure_steps(cars: int, log: Path | None) -> tuple[float, float]:
    batch = gymnasium.make_vec(ID, cars, observe="vector", threads=1, log=log)
    rng = np.random.default_rng(0)
    batch.reset(seed=1)

    def drive() -> int:
        for action in rng.uniform(-1.0, 1.0, (ROUND[cars], cars, 2)).astype(np.float32):
            batch.step(action)
        return ROUND[cars]

    rates = measure_rate(drive)
    batch.close()
    return rates
