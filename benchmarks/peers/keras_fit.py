"""`model.fit` of Keras on a saved model, on whatever KERAS_BACKEND names; the last line is a rate per round, as JSON.

`python keras_fit.py MODEL BATCH_SIZE STEPS ROUNDS`; needs Keras and its backend, and nothing of donkeysim.
"""

from __future__ import annotations

import json
import sys
import time

import keras
import numpy as np


class _Clock(keras.callbacks.Callback):  # type: ignore[misc]
    """Notes the time at the end of each step."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[float] = []

    def on_train_batch_end(self, *_: object) -> None:
        self.marks.append(time.perf_counter())


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
        clock = _Clock()
        targets = [answers[:, :1], answers[:, 1:]]
        model.fit(pictures, targets, batch_size=batch_size, verbose=0, callbacks=[clock])
        rates.append(batch_size * (step_count - 1) / (clock.marks[-1] - clock.marks[0]))
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
