"""How fast a linear pilot learns at 160x120, alone and beside busy processes; Keras' own `fit` beside ours.

A program's fair share is what its threads, one for each core, get where all threads that want to run get the same:
beside n busy processes cores / (cores + n) of what it does alone. Ours must reach half of it. TensorFlow is taken where
the Python that TENSORFLOW_PYTHON names (this one if none) has it.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from benchmarks.measure import Figure

BATCH_SIZE = 128
STEPS = 8
"""Steps of a round; the first is not counted."""
ROUNDS = 3

BUSY_COUNTS = (0, 1, 3)
"""Processes that want a core each all the time."""

GOALS = {"float32": 200.0, "bfloat16": 350.0}
"""Alone, in images/s, where the processor has no bfloat16 and where it has."""

Rates = Callable[[], list[float]]


def run() -> list[Figure]:
    """Measure ours, in bfloat16 too where the processor has it, then `model.fit` of Keras on PyTorch and TensorFlow."""
    from donkeysim.learn.architectures import build_model
    from donkeysim.learn.backend import import_keras
    from donkeysim.learn.files.model_file import save_model

    import_keras()
    from donkeysim.learn.fit import has_bfloat16

    fastest = "bfloat16" if has_bfloat16() else "float32"
    figures = []
    for precision in dict.fromkeys(("float32", fastest)):
        goal = GOALS[precision] if precision == fastest else None
        figures += _measure_cells(f"linear, {precision}", partial(_measure_ours, precision), goal, is_ours=True)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "linear.keras"
        save_model(build_model("linear", object()), model, "linear", object())
        for backend, python in _find_peers().items():
            name = f"the peer: Keras' fit on {backend}, float32"
            figures += _measure_cells(name, partial(_measure_keras, model, backend, python))
    return figures


def _find_peers() -> dict[str, str]:
    """Return which Python runs Keras' fit on which backend."""
    python = os.environ.get("TENSORFLOW_PYTHON", sys.executable)
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}
    words = [python, "-c", "import tensorflow, keras"]
    if subprocess.run(words, env=environment, capture_output=True, check=False).returncode == 0:
        return {"torch": sys.executable, "tensorflow": python}
    print(f"TensorFlow is left out: {python} has none; TENSORFLOW_PYTHON names another Python that does.")
    return {"torch": sys.executable}


def _measure_cells(what: str, measure: Rates, goal: float | None = None, is_ours: bool = False) -> list[Figure]:
    """Return a figure for each count of busy processes."""
    cores = os.cpu_count() or 1
    figures: list[Figure] = []
    for count in BUSY_COUNTS:
        with _keep_busy(count) as busy:
            rates, elsewhere = _watch_others(measure, busy)
        rate = statistics.median(rates)
        alone = figures[0].value if figures else rate
        fair = alone * cores / (cores + count)
        note = f"{rate / alone:.0%} of alone, {rate / fair:.0%} of the fair share; " if count else ""
        note += f"other programs had {elsewhere:.0%} of the cores"
        least = 0.5 * fair if count and is_ours else goal
        name = f"{what}, {f'beside {count} busy' if count else 'alone'}"
        figures.append(Figure("training", name, rate, max(rates), "images/s", least, note))
    return figures


@contextmanager
def _keep_busy(count: int) -> Iterator[list[int]]:
    """Have so many processes compute while the block runs; gives their numbers."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _watch_others(measure: Rates, busy: list[int]) -> tuple[list[float], float]:
    """Return what is measured, and what part of the cores programs had that do not belong to it."""
    own = [psutil.Process(), *map(psutil.Process, busy)]

    def read() -> tuple[float, float]:
        all_times, mine = psutil.cpu_times(), [process.cpu_times() for process in own]
        taken = sum(times.user + times.system for times in mine) + mine[0].children_user + mine[0].children_system
        return sum(all_times) - getattr(all_times, "guest", 0.0), sum(all_times) - all_times.idle - taken

    before = read()
    rates = measure()
    total, others = (now - then for now, then in zip(read(), before, strict=True))
    return rates, max(0.0, others / total)


class _Pictures:
    """Pictures in memory, as `learn.pictures.PictureStore` holds them."""

    def __init__(self) -> None:
        self._arrays = np.random.default_rng(0).integers(0, 256, (BATCH_SIZE * STEPS, 120, 160, 3), dtype=np.uint8)

    def take_many(self, indexes: Any) -> Any:
        return self._arrays[indexes]


def _measure_ours(precision: str) -> list[float]:
    from donkeysim.learn.architectures import build_model
    from donkeysim.learn.batches import Examples, iterate_batches
    from donkeysim.learn.fit import Trainer, keep_freed_memory
    from donkeysim.learn.kinds import encode_targets, get_kind, read_spec
    from donkeysim.learn.options import TrainingOptions

    keep_freed_memory()
    kind = get_kind("linear")
    answers = np.random.default_rng(1).uniform(-1, 1, (2, BATCH_SIZE * STEPS))
    count = BATCH_SIZE * STEPS
    store: Any = _Pictures()
    vectors = np.zeros((count, 0), dtype=np.float32)
    targets = encode_targets(kind, read_spec(object()), answers[0], answers[1])
    examples = Examples(store, np.arange(count)[:, np.newaxis], False, vectors, targets)
    trainer = Trainer(build_model("linear", object()), kind, TrainingOptions(train_precision=precision))
    rates = []
    for epoch in range(1, ROUNDS + 1):
        marks: list[float] = []
        batches = iterate_batches(examples, BATCH_SIZE, 0, epoch)
        trainer.learn(batches, lambda *_, marks=marks: marks.append(perf_counter()), count)
        rates.append(BATCH_SIZE * (len(marks) - 1) / (marks[-1] - marks[0]))
    return rates


def _measure_keras(model: Path, backend: str, python: str) -> list[float]:
    script = Path(__file__).with_name("peers") / "keras_fit.py"
    words = [python, str(script), str(model), *map(str, (BATCH_SIZE, STEPS, ROUNDS))]
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    said = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    rates: list[float] = json.loads(said.splitlines()[-1])
    return rates
