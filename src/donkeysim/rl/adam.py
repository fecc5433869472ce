"""Adam without `torch.optim.Adam`: to make one of those imports PyTorch's compiler, which takes a second.

References:
    Kingma and Ba 2015, Adam: a method for stochastic optimization, https://arxiv.org/abs/1412.6980.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.optim.adam import adam

# As the paper has them, and `torch.optim.Adam`.
BETA1, BETA2 = 0.9, 0.999
"""What is kept at each step of the mean of the gradients, and of that of their squares."""


class Adam:
    """Changes weights along their gradients.

    Attributes:
        weights: What `step` changes.
        learning_rate: Of the next step.
    """

    def __init__(self, weights: Sequence[torch.Tensor], learning_rate: float, eps: float = 1e-8) -> None:
        """Begin with means of zero.

        Args:
            weights: On one device; `step` changes them.
            learning_rate: Of the next step.
            eps: Added to the root of the mean square.
        """
        self.learning_rate = learning_rate
        self.weights, self._eps = list(weights), eps
        self._means = [torch.zeros_like(weight, requires_grad=False) for weight in weights]
        self._squares = [torch.zeros_like(weight, requires_grad=False) for weight in weights]
        self._steps = [torch.tensor(0.0) for _ in weights]

    def step(self) -> None:
        """Change all weights by the gradients that they hold."""
        gradients = [weight.grad for weight in self.weights if weight.grad is not None]
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
