"""A model that is being trained: its steps, its losses, its optimizer, and the running mean of its weights."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from donkeysim.core.types import Report
from donkeysim.learn.batches import TrainingBatch, split_batch
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
