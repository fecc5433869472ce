"""`model.fit` of Keras on a saved model, on whatever KERAS_BACKEND names; the last line is a rate per round, as JSON.

`python keras_fit.py MODEL BATCH_SIZE STEPS ROUNDS`; needs Keras and its backend, and nothing of donkeysim.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial

import keras
import numpy as np


def _mark(marks: list[float], *_: object, **__: object) -> None:
    """Note the time at the end of a step."""
    marks.append(time.perf_counter())


def main() -> None:
    """Train for some rounds and print the images per second of each."""
    batch_size, step_count, round_count = map(int, sys.argv[2:])
    model = keras.models.load_model(sys.argv[1], compile=False)
    model.compile(optimizer="adam", loss="mse")
    random = np.random.default_rng(0)
    pictures = random.random((batch_size * step_count, 120, 160, 3), dtype=np.float32)
    answers = random.uniform(-1, 1, (batch_size * step_count, 2)).astype(np.float32)
    rates = []
    for _ in range(round_count):
        marks: list[float] = []
        clock = keras.callbacks.LambdaCallback(on_train_batch_end=partial(_mark, marks))
        targets = [answers[:, :1], answers[:, 1:]]
        model.fit(pictures, targets, batch_size=batch_size, verbose=0, callbacks=[clock])
        rates.append(batch_size * (step_count - 1) / (marks[-1] - marks[0]))
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
