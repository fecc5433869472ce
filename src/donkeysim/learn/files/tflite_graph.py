"""A TFLite graph as plain data while it is built: tensors, operations, and which tensors are its ends.

One example at a time: the first axis of a tensor is 1, or the pictures of a sequence.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NOTHING = -1
"""In place of an input that an operation can do without."""

NO_ACTIVATION, RELU, RELU6 = 0, 1, 3
"""What an operation can do to its own output, as numbered in the format."""


@dataclass(frozen=True)
class Quantization:
    """How integers stand for numbers: number = scale * (integer - zero_point).

    Attributes:
        scale: One number, or one for each index along `axis`.
        zero_point: As many.
        axis: Where there are several.
    """

    scale: Array
    zero_point: Array
    axis: int = 0

    def encode(self, values: Array, dtype: type[np.signedinteger[Any]], least: int | None = None) -> Array:
        """Return numbers as integers of a type, cut at its ends; `least` where that is not the least it has."""
        shape = [1] * values.ndim
        if self.scale.size > 1:
            shape[self.axis] = -1
        ends = np.iinfo(dtype)
        whole = np.rint(values / self.scale.reshape(shape)) + self.zero_point.reshape(shape)
        integers: Array = np.clip(whole, ends.min if least is None else least, ends.max).astype(dtype)
        return integers


@dataclass(frozen=True)
class GraphTensor:
    """A value in the graph; `constant` where it is known already."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    constant: Array | None = None
    quantization: Quantization | None = None


@dataclass(frozen=True)
class Operation:
    """One step; operators and options are named in `tflite_file.OPERATORS`."""

    operator: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, int | float] = field(default_factory=dict)


class TfliteGraph:
    """Tensors and operations, each behind those that it needs.

    Attributes:
        tensors: Others name them by their index.
        operations: In the order in which they run.
        inputs: Tensors by the names that programs know them by.
        outputs: The same.
    """

    def __init__(self) -> None:
        self.tensors: list[GraphTensor] = []
        self.operations: list[Operation] = []
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, int] = {}

    def append(self, tensor: GraphTensor) -> int:
        """Add a tensor; returns its index."""
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def add_input(self, name: str, shape: tuple[int, ...]) -> int:
        """Add an input, float32; the original looks for its tensor by this name."""
        self.inputs[name] = self.append(GraphTensor(f"serving_default_{name}:0", shape, np.dtype(np.float32)))
        return self.inputs[name]

    def add_constant(self, value: Any, dtype: Any = np.float32) -> int:
        """Add a constant; returns its index."""
        array = np.ascontiguousarray(value, dtype=dtype)
        return self.append(GraphTensor(f"constant_{len(self.tensors)}", array.shape, array.dtype, array))

    def add(self, operator: str, inputs: Sequence[int], shape: Sequence[int], **options: int | float) -> int:
        """Add an operation with one output, float32, of a shape; returns the index of that."""
        return self.add_many(operator, inputs, [shape], **options)[0]

    def add_many(
        self, operator: str, inputs: Sequence[int], shapes: Sequence[Sequence[int]], **options: int | float
    ) -> list[int]:
        """Add an operation with an output of each shape; returns their indexes."""
        stem, dtype = f"{operator.lower()}_{len(self.tensors)}", np.dtype(np.float32)
        made = [GraphTensor(f"{stem}:{number}", tuple(shape), dtype) for number, shape in enumerate(shapes)]
        outputs = [self.append(tensor) for tensor in made]
        self.operations.append(Operation(operator, tuple(inputs), tuple(outputs), options))
        return outputs

    def get_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        return self.tensors[index].shape

    def reshape(self, index: int, shape: Sequence[int]) -> int:
        """Return the tensor in another shape of as many numbers."""
        if self.get_shape(index) == tuple(shape):
            return index
        assert math.prod(self.get_shape(index)) == math.prod(shape)
        return self.add("RESHAPE", [index, self.add_constant(shape, np.int32)], shape)

    def cut(self, index: int, begin: Sequence[int], end: Sequence[int], step: Sequence[int] | None = None) -> int:
        """Return the part of a tensor between two corners, every `step`th along each axis."""
        steps = step or [1] * len(begin)
        shape = [-(-(last - first) // each) for first, last, each in zip(begin, end, steps, strict=True)]
        if tuple(shape) == self.get_shape(index):
            return index
        numbers = (self.add_constant(row, np.int32) for row in (begin, end, steps))
        return self.add("STRIDED_SLICE", [index, *numbers], shape)

    def pad(self, index: int, edges: Sequence[tuple[int, ...]]) -> int:
        """Return the tensor with zeros before and behind each axis."""
        if not any(map(any, edges)):
            return index
        sizes = zip(self.get_shape(index), edges, strict=True)
        shape = [size + sum(edge) for size, edge in sizes]
        return self.add("PAD", [index, self.add_constant(edges, np.int32)], shape)

    def join(self, indexes: Sequence[int], axis: int) -> int:
        """Return tensors side by side along an axis."""
        if len(indexes) == 1:
            return indexes[0]
        shape = list(self.get_shape(indexes[0]))
        shape[axis] = sum(self.get_shape(index)[axis] for index in indexes)
        return self.add("CONCATENATION", indexes, shape, axis=axis)

    def multiply(self, index: int, kernel: Array, bias: Sequence[Array], activation: int = NO_ACTIVATION) -> int:
        """Return the product of rows and a matrix [width, unit]; the bias is one array, or none."""
        inputs = [index, self.add_constant(kernel.T), self.add_constant(bias[0]) if bias else NOTHING]
        return self.add("FULLY_CONNECTED", inputs, (self.get_shape(index)[0], kernel.shape[1]), activation=activation)

    def combine(self, operator: str, one: int, other: int) -> int:
        """Return the sum or the product of two tensors, of which one may be repeated along an axis."""
        shape = np.broadcast_shapes(self.get_shape(one), self.get_shape(other))
        return self.add(operator, [one, other], shape, activation=NO_ACTIVATION)
