"""The training loop: steps over batches, validation after every epoch, early stop; on PyTorch, of a Keras model.

It is a loop of its own rather than `model.fit`, as it needs half of the time: see `torch_layers`.
"""

import ctypes
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.types import Report
from donkeysim.learn.batches import Examples, iterate_batches
from donkeysim.learn.kinds import PilotKind
from donkeysim.learn.options import TrainingOptions
from donkeysim.learn.trainer import Trainer

WARM_UP_STEPS = 250
"""Steps before which training does not end early: at first the loss stands still for a hundred or more, which are
many epochs of a small tub, and a pilot of that time drives straight on."""


@dataclass(frozen=True)
class EpochResult:
    """What an epoch came to.

    Attributes:
        number: From 1.
        losses: "loss", "<output>_loss" where there are several, and the same with "val_" before it.
        is_best: No earlier epoch had a lower validation loss.
        images_per_second: Examples learnt per second, validation not counted.
        most: How many epochs there will be at most.
    """

    number: int
    losses: dict[str, float]
    is_best: bool
    images_per_second: float
    most: int = 0


@dataclass
class FitResult:
    """What a training came to."""

    epochs: list[EpochResult] = field(default_factory=list)
    was_interrupted: bool = False

    @property
    def history(self) -> dict[str, list[float]]:
        """Every loss of every epoch, as Keras gives them."""
        names = self.epochs[0].losses if self.epochs else {}
        return {name: [epoch.losses[name] for epoch in self.epochs] for name in names}


def fit(
    model: Any,
    kind: PilotKind,
    training: Examples,
    validation: Examples,
    options: TrainingOptions,
    save_best: Callable[[], None],
    report: Report,
    on_epoch: Callable[[EpochResult], None],
) -> FitResult:
    """Train a model until it gets no better, or Ctrl-C.

    Args:
        model: A `keras.Model` of `kind`; ends with the best weights.
        kind: Its loss and optimizer.
        training: Learnt from, in a new order each epoch.
        validation: Decides what is best.
        options: Of them those that say how to train.
        save_best: Called after each epoch that was the best so far, with its weights in the model.
        report: Called with examples done and to do in this epoch.
        on_epoch: Called after each epoch.
    """
    keep_freed_memory()
    result = FitResult()
    with torch.random.fork_rng(devices=[]):  # what Keras itself draws
        torch.manual_seed(options.train_seed)
        trainer = Trainer(model, kind, options)
        stopper = _Stopper(options, math.ceil(len(training) / options.batch_size))
        try:
            for number in range(1, options.max_epochs + 1):
                epoch = _run_epoch(number, trainer, stopper.best, (training, validation), options, report)
                with trainer.averaged():
                    if epoch.is_best:
                        trainer.keep_best()
                    result.epochs.append(epoch)
                    if epoch.is_best:
                        save_best()
                on_epoch(epoch)
                if stopper.is_over(epoch.losses["val_loss"]):
                    break
        except KeyboardInterrupt:
            result.was_interrupted = True
        trainer.take_best()
    return result


def _run_epoch(
    number: int,
    trainer: Trainer,
    best: float,
    examples: tuple[Examples, Examples],
    options: TrainingOptions,
    report: Report,
) -> EpochResult:
    training, validation = examples
    begun = time.perf_counter()
    batches = iterate_batches(training, options.batch_size, options.train_seed, number)
    losses = trainer.learn(batches, report, len(training))
    rate = len(training) / (time.perf_counter() - begun)
    checks = iterate_batches(validation, options.batch_size, options.train_seed, None)
    losses |= {f"val_{name}": value for name, value in trainer.validate(checks).items()}
    if not all(map(math.isfinite, losses.values())):
        raise DonkeySimError(
            f"the loss of epoch {number} is no longer a number: training has diverged. "
            f"Make LEARNING_RATE smaller than {options.learning_rate}."
        )
    return EpochResult(number, losses, losses["val_loss"] < best, rate, options.max_epochs)


class _Stopper:
    """Ends training when the validation loss has not fallen by `min_delta` for `early_stop_patience` epochs.

    Epochs of the first `WARM_UP_STEPS` do not count.
    """

    def __init__(self, options: TrainingOptions, epoch_steps: int) -> None:
        self._options = options
        self._steps_left, self._epoch_steps = WARM_UP_STEPS, epoch_steps
        self.best = math.inf
        self._mark = math.inf
        self._waited = 0

    def is_over(self, loss: float) -> bool:
        self.best = min(self.best, loss)
        self._steps_left -= self._epoch_steps
        if loss < self._mark - self._options.min_delta:
            self._mark = loss
            self._waited = 0
            return False
        self._waited += self._steps_left <= 0
        return self._options.use_early_stop and self._waited >= self._options.early_stop_patience


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8  # of mallopt(3)


def keep_freed_memory() -> None:
    """Let the C library keep large blocks that are freed, for the rest of the process; on Linux with glibc only.

    Else every step of training asks the system anew for hundreds of megabytes, and it clears each page: a fifth of the
    time. All threads share one heap, as that of another thread than the first gives large blocks back all the same;
    but where there have been more than eight threads before, as in Ray's workers, glibc makes each a heap as ever.
    Elsewhere nothing changes.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        values = {_MMAP_THRESHOLD: 1 << 30, _TRIM_THRESHOLD: (1 << 31) - 1, _MMAP_MAX: 0, _ARENA_MAX: 1}
        for option, value in values.items():
            mallopt(option, value)
