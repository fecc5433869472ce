"""An ONNX graph while it is built: nodes, constants, and tensors that know the shape that Keras would give them.

Convolutions and poolings run channels first, so a tensor also remembers which way round it lies, and whether the
pictures of a sequence are folded into the batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError

_ACTIVATIONS = ("relu", "tanh", "sigmoid", "softmax", "softplus", "elu", "selu")
"""Names of Keras; those of ONNX have a capital."""


@dataclass(frozen=True)
class Tensor:
    """A value in the graph."""

    name: str
    shape: tuple[int, ...]
    """As Keras has it, channels last, without the batch; of one picture when folded."""
    channels_first: bool = False
    fold: int = 0
    """Pictures per sequence that are folded into the batch; 0: none."""


class OnnxGraph:
    """Nodes and constants, and the operations that every layer needs."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        """The module."""
        self.built: list[Any] = []
        """Nodes, each behind those that it needs."""
        self.constants: list[Any] = []
        self._name_count = 0

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node with one output; returns the name of that."""
        return self.nodes(operator, inputs, 1, **attributes)[0]

    def nodes(self, operator: str, inputs: Sequence[str], output_count: int, **attributes: Any) -> list[str]:
        """Add a node; returns the names of its outputs."""
        outputs = [self._make_name(operator) for _ in range(output_count)]
        self.built.append(self.onnx.helper.make_node(operator, list(inputs), outputs, **attributes))
        return outputs

    def constant(self, value: Any) -> str:
        """Add a constant (float32 or int64); returns its name."""
        name = self._make_name("constant")
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _make_name(self, stem: str) -> str:
        self._name_count += 1
        return f"{stem}:{self._name_count}"

    def put_channels_first(self, tensor: Tensor) -> Tensor:
        """Return the tensor with the channels behind the batch."""
        if tensor.channels_first:
            return tensor
        rank = len(tensor.shape) + 1
        name = self.node("Transpose", [tensor.name], perm=[0, rank - 1, *range(1, rank - 1)])
        return replace(tensor, name=name, channels_first=True)

    def put_channels_last(self, tensor: Tensor) -> Tensor:
        """Return the tensor as Keras has it."""
        if not tensor.channels_first:
            return tensor
        rank = len(tensor.shape) + 1
        name = self.node("Transpose", [tensor.name], perm=[0, *range(2, rank), 1])
        return replace(tensor, name=name, channels_first=False)

    def fold(self, tensor: Tensor) -> Tensor:
        """Return a sequence [batch, sequence, …] as pictures [batch * sequence, …]."""
        if tensor.fold:
            return tensor
        plain = self.put_channels_last(tensor)
        return Tensor(self.reshape(plain.name, plain.shape[1:]), plain.shape[1:], fold=plain.shape[0])

    def unfold(self, tensor: Tensor) -> Tensor:
        """Return folded pictures as a sequence again."""
        if not tensor.fold:
            return tensor
        plain = self.put_channels_last(tensor)
        shape = (plain.fold, *plain.shape)
        return Tensor(self.reshape(plain.name, shape), shape)

    def reshape(self, name: str, shape: tuple[int, ...]) -> str:
        """Add a node that gives rows of a shape, batch first."""
        return self.node("Reshape", [name, self.constant(np.array([-1, *shape], dtype=np.int64))])

    def scale(self, tensor: Tensor, factor: Any, shift: Any) -> Tensor:
        """Return the tensor times a factor, plus a shift."""
        scaled = self.node("Mul", [tensor.name, self.constant(factor)])
        return replace(tensor, name=self.node("Add", [scaled, self.constant(shift)]))

    def activate(self, tensor: Tensor, activation: str | None) -> Tensor:
        """Return the tensor behind an activation of Keras; None and "linear" change nothing."""
        if activation is None or activation == "linear":
            return tensor
        if activation not in _ACTIVATIONS:
            raise PilotError(
                f"the activation {activation!r} cannot be written; these can: linear, {', '.join(_ACTIVATIONS)}."
            )
        if activation == "softmax":
            tensor = self.put_channels_last(tensor)
            return replace(tensor, name=self.node("Softmax", [tensor.name], axis=-1))
        return replace(tensor, name=self.node(activation.capitalize(), [tensor.name]))
