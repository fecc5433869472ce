"""The training loop: steps over batches, validation after every epoch, early stop; on PyTorch, of a Keras model.

It is a loop of its own rather than `model.fit`, as it needs half of the time: see `torch_layers`. `Trainer` has a
model's steps, losses and optimizer, and the running mean of its weights.
"""

import ctypes
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.types import Report
from donkeysim.learn.batches import Examples, TrainingBatch, iterate_batches, split_batch
from donkeysim.learn.kinds import PilotKind
from donkeysim.learn.options import TrainingOptions
from donkeysim.learn.shares import PART_SIZE, Shares, set_gradients
from donkeysim.learn.torch_layers import has_batch_statistics, make_fast

Tensor = torch.Tensor

LEAST_SHARE = 1e-7
"""Of a class, in logarithms: Keras cuts there too."""

# A mean over about 50 steps: some epochs of a small tub, a fraction of one of a large tub.
AVERAGING = 0.98
"""After each step the averaged weights keep so much of themselves; early on less, to forget the first, random ones."""

WARM_UP_STEPS = 250
"""Steps before which training does not end early: at first the loss stands still for a hundred or more, which are
many epochs of a small tub, and a pilot of that time drives straight on."""


class Trainer:
    """Trains a model; what it validates and keeps is the running mean of the weights of the last steps.

    The mean is better than any of them: it does not depend on which examples came last.
    """

    def __init__(self, model: Any, kind: PilotKind, options: TrainingOptions) -> None:
        self._kind = kind
        self._state: list[Tensor] = [variable.value for variable in model.variables]
        self._weights: list[Tensor] = [variable.value for variable in model.trainable_variables]
        self._mean = [weight.detach().clone() for weight in self._weights]
        self._best: list[Tensor] = []
        self._device = self._weights[0].device
        self._shares = Shares(options.train_seed)
        self._network = make_fast(model, self._shares.draws) if self._device.type == "cpu" else model
        self._is_shared = self._device.type == "cpu" and not has_batch_statistics(model)
        self._optimizer = _make_optimizer(self._weights, kind, options)
        self._step_count = 0
        self._precision = choose_precision(options.train_precision, self._device)
        self._options = options

    def learn(self, batches: Iterator[TrainingBatch], report: Report, total: int) -> dict[str, float]:
        """Take a step per batch; returns the mean losses."""
        sums = _LossSums()
        done = 0
        with self._open_shares():
            for batch in batches:
                parts = self._split(batch)
                results = self._shares.work(parts, self._learn_part)
                self._step([len(part) / len(batch) for part in parts], [gradients for _, gradients in results])
                for part, (losses, _) in zip(parts, results, strict=True):
                    sums.add(losses, len(part))
                done += len(batch)
                report(done, total)
        return sums.compute_means()

    def validate(self, batches: Iterator[TrainingBatch]) -> dict[str, float]:
        """Return the mean losses of the averaged weights."""
        sums = _LossSums()
        with self.averaged(), self._open_shares():
            for batch in batches:
                parts = self._split(batch)
                for part, losses in zip(parts, self._shares.work(parts, self._validate_part), strict=True):
                    sums.add(losses, len(part))
        return sums.compute_means()

    def _split(self, batch: TrainingBatch) -> list[TrainingBatch]:
        return split_batch(batch, PART_SIZE) if self._is_shared else [batch]

    def _open_shares(self) -> AbstractContextManager[None]:
        return self._shares.opened() if self._is_shared else nullcontext()

    def _learn_part(self, part: TrainingBatch) -> tuple[dict[str, Tensor], tuple[Tensor, ...]]:
        """Return the losses of a part of a batch and the gradients of the weights."""
        losses = self._compute_losses(part, training=True)
        gradients = torch.autograd.grad(losses["loss"], self._weights)
        return {name: loss.detach() for name, loss in losses.items()}, gradients

    def _validate_part(self, part: TrainingBatch) -> dict[str, Tensor]:
        with torch.no_grad():  # which holds for this thread only
            return self._compute_losses(part, training=False)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Let the model have the averaged weights while the block runs."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def keep_best(self) -> None:
        """Note what the model holds now as its best."""
        self._best = [values.detach().clone() for values in self._state]

    def take_best(self) -> None:
        """Let the model end with its best, if any was kept."""
        with torch.no_grad():
            for values, best in zip(self._state, self._best, strict=False):
                values.copy_(best)

    def _swap(self) -> None:
        with torch.no_grad():
            for weight, mean in zip(self._weights, self._mean, strict=True):
                held = weight.clone()
                weight.copy_(mean)
                mean.copy_(held)

    def _step(self, shares: list[float], gradients: list[tuple[Tensor, ...]]) -> None:
        """Change the weights by the gradients of the parts of a batch."""
        set_gradients(self._weights, shares, gradients)
        rate = self._options.learning_rate / (1.0 + self._options.learning_rate_decay * self._step_count)
        if self._options.fall_steps:
            rate *= 1.0 - 0.9 * min(1.0, self._step_count / self._options.fall_steps)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        self._step_count += 1
        kept = min(AVERAGING, self._step_count / (10.0 + self._step_count))
        with torch.no_grad():
            for weight, mean in zip(self._weights, self._mean, strict=True):
                mean.lerp_(weight, 1.0 - kept)

    def _compute_losses(self, batch: TrainingBatch, training: bool) -> dict[str, Tensor]:
        """Return the loss of each output by its name and their weighted sum as "loss"."""
        pictures = torch.from_numpy(batch.pictures).to(self._device).float().div_(255.0)
        inputs = [pictures]
        if batch.vectors.shape[1]:
            inputs.append(torch.from_numpy(batch.vectors).to(self._device))
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._precision == "bfloat16"):
            answers = self._network(inputs, training=training)
        answers = answers if isinstance(answers, list | tuple) else [answers]
        losses = {}
        for name, answer in zip(self._kind.output_names, answers, strict=True):
            target = torch.from_numpy(batch.targets[name]).to(self._device)
            losses[name] = _compute_loss(answer.float(), target, self._kind.loss)
        return {"loss": self._kind.loss_weight * torch.stack(list(losses.values())).sum(), **losses}


def _compute_loss(answer: Tensor, target: Tensor, loss: str) -> Tensor:
    """Mean over the batch, as Keras computes it."""
    if loss == "categorical_crossentropy":
        return -(target * answer.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE).log()).sum(dim=1).mean()
    return (answer - target).square().mean()


class _LossSums:
    """Sums of losses over batches of unequal size, kept on the device until they are asked for."""

    def __init__(self) -> None:
        self._sums: dict[str, Tensor | float] = defaultdict(float)
        self._count = 0

    def add(self, losses: dict[str, Tensor], count: int) -> None:
        for name, loss in losses.items():
            self._sums[name] = self._sums[name] + loss.detach() * count
        self._count += count

    def compute_means(self) -> dict[str, float]:
        """Return "loss", and where there are several outputs "<output>_loss", as Keras names them."""
        means = {name: float(value) / self._count for name, value in self._sums.items()}
        outputs = {f"{name}_loss": value for name, value in means.items() if name != "loss"}
        return {"loss": means["loss"], **(outputs if len(outputs) > 1 else {})}


def _make_optimizer(weights: list[Tensor], kind: PilotKind, options: TrainingOptions) -> torch.optim.Optimizer:
    """Return the optimizer with the constants that Keras gives it."""
    name = options.optimizer or kind.optimizer
    if name == "sgd":
        return torch.optim.SGD(weights, options.learning_rate)
    if name == "rmsprop":
        return torch.optim.RMSprop(weights, options.learning_rate, alpha=0.9, eps=1e-7)
    return torch.optim.Adam(weights, options.learning_rate, eps=1e-7, fused=True)


def choose_precision(asked: str, device: torch.device) -> str:
    """Return "float32" or "bfloat16"; for "auto" bfloat16 where the processor or the graphics card computes with it."""
    if asked != "auto":
        return asked
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    return "bfloat16" if device.type == "cpu" and has_bfloat16() else "float32"


def has_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 numbers in hardware."""
    checks = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, name)() for name in checks if hasattr(torch.cpu, name))


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
        return self._options.use_early_stop and self._waited >= max(1, self._options.early_stop_patience)


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
