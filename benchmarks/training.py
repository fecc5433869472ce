"""How fast a linear pilot learns at 160x120 on this processor, and plain Keras beside it."""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import Figure

BATCH_SIZE = 128
STEPS = 12
"""Steps of a round; the first is not counted."""
ROUNDS = 3


def run() -> list[Figure]:
    """Measure our loop, in bfloat16 too where the processor has it, then `model.fit` of Keras on the same batches."""
    from donkeysim.learn.backend import import_keras

    import_keras()
    from donkeysim.learn.trainer import has_bfloat16

    native = has_bfloat16()
    figures = [_figure("linear, float32", _measure_ours("float32"), None if native else 200.0)]
    if native:
        figures.append(_figure("linear, bfloat16", _measure_ours("bfloat16"), 350.0))
    peer = _figure("the peer: model.fit of Keras, float32", _measure_keras(), None, "channels last, jit off")
    return [*figures, peer]


def _figure(what: str, rates: list[float], goal: float | None, note: str = "") -> Figure:
    return Figure("training", what, statistics.median(rates), max(rates), "images/s", goal, note)


def _make_pictures() -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(0).integers(0, 256, (BATCH_SIZE * STEPS, 120, 160, 3), dtype=np.uint8)


def _make_answers() -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(1).uniform(-1, 1, (BATCH_SIZE * STEPS, 2)).astype(np.float32)


class _Pictures:
    """Pictures in memory, as `learn.pictures.PictureStore` holds them."""

    def __init__(self) -> None:
        self._arrays = _make_pictures()

    def take_many(self, indexes: Any) -> Any:
        return self._arrays[indexes]


def _mark(marks: list[float], *_: object, **__: object) -> None:
    """Note the time at the end of a step."""
    marks.append(time.perf_counter())


def _measure_rate(marks: list[float]) -> float:
    """Return pictures per second between the first and the last mark."""
    return BATCH_SIZE * (len(marks) - 1) / (marks[-1] - marks[0])


def _measure_ours(precision: str) -> list[float]:
    from donkeysim.learn.allocation import keep_freed_memory
    from donkeysim.learn.architectures import build_model
    from donkeysim.learn.batches import Examples, iterate_batches
    from donkeysim.learn.kinds import encode_targets, get_kind, read_spec
    from donkeysim.learn.options import TrainingOptions
    from donkeysim.learn.trainer import Trainer

    keep_freed_memory()
    kind = get_kind("linear")
    answers = _make_answers()
    count = len(answers)
    store: Any = _Pictures()
    examples = Examples(
        store,
        np.arange(count)[:, np.newaxis],
        False,
        np.zeros((count, 0), dtype=np.float32),
        encode_targets(kind, read_spec(object()), answers[:, 0].astype(float), answers[:, 1].astype(float)),
    )
    trainer = Trainer(build_model("linear", object()), kind, TrainingOptions(train_precision=precision))
    rates = []
    for epoch in range(1, ROUNDS + 1):
        marks: list[float] = []
        batches = iterate_batches(examples, BATCH_SIZE, 0, epoch)
        trainer.learn(batches, partial(_mark, marks), count)
        rates.append(_measure_rate(marks))
    return rates


def _measure_keras() -> list[float]:
    from donkeysim.learn.architectures import build_model
    from donkeysim.learn.backend import import_keras

    keras = import_keras()
    model = build_model("linear", object())
    model.compile(optimizer="adam", loss="mse")
    pictures, answers = _make_pictures().astype(np.float32) / 255.0, _make_answers()
    rates = []
    for _ in range(ROUNDS):
        marks: list[float] = []
        clock = keras.callbacks.LambdaCallback(on_train_batch_end=partial(_mark, marks))
        model.fit(pictures, [answers[:, :1], answers[:, 1:]], batch_size=BATCH_SIZE, verbose=0, callbacks=[clock])
        rates.append(_measure_rate(marks))
    return rates
