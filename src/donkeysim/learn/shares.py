"""Work on a batch shared out among threads in small parts, so that a busy machine costs its share and no more.

PyTorch's own threads divide every layer among them and wait for each other after each; where another program has one
of the cores, all wait for the thread that lost it, hundreds of times a step. Here every thread computes whole parts of
a batch alone, takes the next when it is done, and waits once a step. What comes of a part depends on nothing but the
part, and sums are made in the order of the parts: results are the same however many threads there are.

What a step makes of the gradients stands here, too: `set_gradients`, and `Adam`, without PyTorch's compiler.

References:
    Kingma and Ba 2015, Adam: a method for stochastic optimization, https://arxiv.org/abs/1412.6980.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch.optim.adam import adam

PART_SIZE = max(8, min(32, 64 // (os.cpu_count() or 1)))
"""Examples of a part, by the machine and not by its load, so that results are repeatable on it.

Fewer cost more steps of Python, more leave cores without work at the end of a batch; 128 examples are two parts or more
for each of up to eight cores.
"""

# As the paper has them, and `torch.optim.Adam`.
BETA1, BETA2 = 0.9, 0.999
"""What is kept at each step of the mean of the gradients, and of that of their squares."""

Part = TypeVar("Part")
Result = TypeVar("Result")


class PartGenerator(threading.local):
    """The random numbers of the part that a thread works on."""

    generator: torch.Generator


class Shares:
    """Threads that work on parts of batches.

    Attributes:
        draws: To be read while a part is worked on.
    """

    def __init__(self, seed: int) -> None:
        """Make it without threads; each part of a batch, by its number, has random numbers of its own."""
        self.draws = PartGenerator()
        self._seed = seed
        self._generators: list[torch.Generator] = []
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Have the threads while the block runs; as many as PyTorch would use, each computing alone.

        Where that is one, it is the thread that asks. Another would have to be waited for at each batch, and would have
        a heap of its own, see `keep_freed_memory`.
        """
        count = torch.get_num_threads()
        if count == 1:
            yield
            return
        with ThreadPoolExecutor(count, "donkeysim-shares", torch.set_num_threads, (1,)) as self._pool:
            try:
                torch.set_num_threads(1)  # for what this thread does between batches
                yield
            finally:
                torch.set_num_threads(count)
                self._pool = None

    def work(self, parts: Sequence[Part], compute: Callable[[Part], Result]) -> list[Result]:
        """Return what `compute` makes of each part of a batch, on any thread."""
        while len(self._generators) < len(parts):
            seed = (self._seed << 20) + len(self._generators)
            self._generators.append(torch.Generator().manual_seed(seed % (1 << 63)))

        def run(generator: torch.Generator, part: Part) -> Result:
            self.draws.generator = generator
            return compute(part)

        run_all = self._pool.map if self._pool is not None and len(parts) > 1 else map
        return list(run_all(run, self._generators, parts))


def sum_gradients(
    weights: Sequence[torch.Tensor], parts: Iterable[tuple[float, Sequence[torch.Tensor]]]
) -> list[torch.Tensor]:
    """Return the gradients of a batch.

    Args:
        parts: Of each part of the batch, always in the same order, its share and its gradients.
    """
    sums = [torch.zeros_like(weight) for weight in weights]  # in its order of memory, which optimizers rely on
    for share, gradients in parts:
        for total, gradient in zip(sums, gradients, strict=True):
            total.add_(gradient, alpha=share)
    return sums


def set_gradients(
    weights: Sequence[torch.Tensor], shares: Sequence[float], gradients: Sequence[Sequence[torch.Tensor]]
) -> None:
    """Give weights the gradients of a batch, for an optimizer.

    Args:
        shares: Of each part of the batch in it, in their order.
        gradients: Of each part.
    """
    for weight, gradient in zip(weights, sum_gradients(weights, zip(shares, gradients, strict=True)), strict=True):
        weight.grad = gradient


class Adam:
    """Changes weights along their gradients, as `torch.optim.Adam` does.

    To make one of those imports PyTorch's compiler, which takes a second.

    Attributes:
        weights: What `step` changes.
        learning_rate: Of the next step.
    """

    def __init__(self, weights: Sequence[torch.Tensor], learning_rate: float, eps: float = 1e-8) -> None:
        """Begin with means of zero.

        Args:
            weights: On one device; `step` changes them.
            eps: Added to the root of the mean square.
        """
        self.learning_rate = learning_rate
        self.weights, self._eps = list(weights), eps
        self._means = [torch.zeros_like(weight, requires_grad=False) for weight in weights]
        self._squares = [torch.zeros_like(weight, requires_grad=False) for weight in weights]
        self._steps = [torch.tensor(0.0) for _ in weights]

    def step(self) -> None:
        """Change all weights by the gradients that they hold."""
        gradients: list[Any] = [weight.grad for weight in self.weights]
        with torch.no_grad():
            adam(
                self.weights,
                gradients,
                self._means,
                self._squares,
                [],
                self._steps,
                amsgrad=False,
                beta1=BETA1,
                beta2=BETA2,
                lr=self.learning_rate,
                weight_decay=0.0,
                eps=self._eps,
                maximize=False,
            )

    def describe(self) -> dict[str, Any]:
        """Return its means for `restore`, in the form of `torch.optim.Adam.state_dict`."""
        means = zip(self._steps, self._means, self._squares, strict=True)
        return {
            "state": {
                index: {"step": step, "exp_avg": mean, "exp_avg_sq": square}
                for index, (step, mean, square) in enumerate(means)
            }
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from what `describe`, or `torch.optim.Adam`, returned."""
        for index, held in state["state"].items():
            self._steps[index].copy_(held["step"])
            self._means[index].copy_(held["exp_avg"])
            self._squares[index].copy_(held["exp_avg_sq"])
