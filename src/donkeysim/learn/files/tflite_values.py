"""What flows through a TFLite graph in float32, tensor by tensor, computed by PyTorch; and the same graph in 8-bit
integers that must hold it, by TensorFlow's published rules for them.

Weights of a convolution have a scale for each filter, other weights and all other tensors one; weights and biases are
symmetric, biases 32 bits wide. Inputs and outputs stay float32, so that cars drive with such a file as with any other.

https://ai.google.dev/edge/litert/conversion/tensorflow/quantization/quantization_spec
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from donkeysim.core.types import Float32Array
from donkeysim.learn.files.tflite_graph import (
    NOTHING,
    RELU,
    RELU6,
    Array,
    GraphTensor,
    Operation,
    Quantization,
    TfliteGraph,
)

Tensor = torch.Tensor

Ranges = dict[int, tuple[float, float]]
"""The least and the greatest number that each tensor held."""

LEAST_SPAN = 1e-6
"""Between the ends of what a tensor held; one that was always 0 has a scale nevertheless."""

_ALIKE = (
    *("RESHAPE", "STRIDED_SLICE", "SPLIT", "PAD", "CONCATENATION", "TRANSPOSE", "MAX_POOL_2D", "AVERAGE_POOL_2D"),
    *("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"),
)
"""Operations whose inputs and outputs must have one scale."""

_FIXED = {"LOGISTIC": (1 / 256, -128), "SOFTMAX": (1 / 256, -128), "TANH": (1 / 128, 0)}
"""Scale and zero point of what these say, whatever they say."""

_WEIGHED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


_FILTER_AXES = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3}
"""Axis of the weights along which each has its own scale; elsewhere all have one."""


class GraphRunner:
    """Runs a graph and notes how far its numbers reach.

    Attributes:
        ranges: Of all examples so far.
    """

    def __init__(self, graph: TfliteGraph) -> None:
        self._graph = graph
        self.ranges: Ranges = {}
        constants = ((index, tensor.constant) for index, tensor in enumerate(graph.tensors))
        self._constants = {index: torch.from_numpy(array) for index, array in constants if array is not None}

    def run(self, inputs: Mapping[str, Float32Array]) -> dict[str, Float32Array]:
        """Return the outputs for one example; `inputs`: by name, each with the shape of its tensor."""
        values = dict(self._constants)
        with torch.no_grad():
            for name, index in self._graph.inputs.items():
                self._note(values, index, torch.from_numpy(np.asarray(inputs[name], dtype=np.float32)))
            for operation in self._graph.operations:
                given = [values[index] for index in operation.inputs if index != NOTHING]
                made = _COMPUTE[operation.operator](operation, given)
                for index, value in zip(operation.outputs, made if isinstance(made, tuple) else (made,), strict=True):
                    shape = self._graph.get_shape(index)
                    self._note(values, index, _activate(value, operation).reshape(shape))
        return {name: values[index].numpy() for name, index in self._graph.outputs.items()}

    def _note(self, values: dict[int, Tensor], index: int, value: Tensor) -> None:
        values[index] = value
        least, most = self.ranges.get(index, (0.0, 0.0))
        self.ranges[index] = min(least, float(value.min())), max(most, float(value.max()))


def _activate(value: Tensor, operation: Operation) -> Tensor:
    chosen = operation.options.get("activation", 0)
    if chosen == RELU:
        return value.relu()
    return value.clamp(0.0, 6.0) if chosen == RELU6 else value


def _convolve(operation: Operation, given: list[Tensor]) -> Tensor:
    source, kernel, bias = given
    options = operation.options
    steps = int(options["stride_h"]), int(options["stride_w"])
    spaces = int(options["dilation_h"]), int(options["dilation_w"])
    reach = tuple((size - 1) * space + 1 for size, space in zip(kernel.shape[1:3], spaces, strict=True))
    padded = _pad_plane(operation, source.permute(0, 3, 1, 2), reach, steps, 0.0)
    is_deep = operation.operator == "DEPTHWISE_CONV_2D"
    weights, groups = kernel.permute(*((3, 0) if is_deep else (0, 3)), 1, 2), source.shape[3] if is_deep else 1
    return functional.conv2d(padded, weights, bias, steps, 0, spaces, groups).permute(0, 2, 3, 1)


def _pad_plane(
    operation: Operation, source: Tensor, reach: tuple[int, ...], steps: tuple[int, ...], value: float
) -> Tensor:
    """Return pictures, channels first, with what the padding "same" adds; the larger half comes behind."""
    if operation.options["padding"]:
        return source
    edges: list[int] = []
    for size, wide, step in reversed(list(zip(source.shape[2:], reach, steps, strict=True))):
        missing = max((-(-size // step) - 1) * step + wide - size, 0)
        edges += [missing // 2, missing - missing // 2]
    return functional.pad(source, edges, value=value)


def _pool(operation: Operation, given: list[Tensor], is_mean: bool = False) -> Tensor:
    options = operation.options
    size = int(options["filter_height"]), int(options["filter_width"])
    steps = int(options["stride_h"]), int(options["stride_w"])
    source = given[0].permute(0, 3, 1, 2)
    if not is_mean:
        padded = _pad_plane(operation, source, size, steps, float("-inf"))
        return functional.max_pool2d(padded, size, steps).permute(0, 2, 3, 1)
    sums, counts = (
        functional.avg_pool2d(_pad_plane(operation, values, size, steps, 0.0), size, steps)
        for values in (source, torch.ones_like(source))
    )
    return (sums / counts).permute(0, 2, 3, 1)


def _resize(given: list[Tensor], mode: str) -> Tensor:
    source = given[0].permute(0, 3, 1, 2)
    return functional.interpolate(source, tuple(given[1].tolist()), mode=mode).permute(0, 2, 3, 1)


def _cut(_operation: Operation, given: list[Tensor]) -> Tensor:
    source, *corners = given
    rows = zip(*(row.tolist() for row in corners), strict=True)
    return source[tuple(slice(*row) for row in rows)]


_COMPUTE: dict[str, Callable[[Operation, list[Tensor]], Any]] = {
    "ADD": lambda _, given: given[0] + given[1],
    "AVERAGE_POOL_2D": lambda operation, given: _pool(operation, given, is_mean=True),
    "CONCATENATION": lambda operation, given: torch.cat(given, int(operation.options["axis"])),
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D"), _convolve),
    "FULLY_CONNECTED": lambda _, given: functional.linear(*given),
    "LOGISTIC": lambda _, given: given[0].sigmoid(),
    "MAX_POOL_2D": _pool,
    "MUL": lambda _, given: given[0] * given[1],
    "RELU": lambda _, given: given[0].relu(),
    "RESHAPE": lambda _, given: given[0],
    "RESIZE_BILINEAR": lambda _, given: _resize(given, "bilinear"),
    "RESIZE_NEAREST_NEIGHBOR": lambda _, given: _resize(given, "nearest-exact"),
    "SOFTMAX": lambda _, given: given[0].softmax(-1),
    "TANH": lambda _, given: given[0].tanh(),
    "PAD": lambda _, given: functional.pad(given[0], [size for row in reversed(given[1].tolist()) for size in row]),
    "MEAN": lambda _, given: given[0].mean((1, 2)),
    "STRIDED_SLICE": _cut,
    "TRANSPOSE": lambda _, given: given[0].permute(given[1].tolist()),
    "SPLIT": lambda operation, given: given[1].chunk(int(operation.options["num_splits"]), 1),
    "ELU": lambda _, given: functional.elu(given[0]),
}


def quantize_graph(graph: TfliteGraph, ranges: Ranges) -> TfliteGraph:
    """Return a graph in integers.

    Args:
        graph: In float32.
        ranges: What its tensors held, as `tflite_values.GraphRunner` noted it; that of a picture is [0, 1].
    """
    picture = next(iter(graph.inputs.values()))
    return _Quantizer(graph, {**ranges, picture: (0.0, 1.0)}).convert()


class _Quantizer:
    """Writes one graph anew."""

    def __init__(self, graph: TfliteGraph, ranges: Ranges) -> None:
        self._old, self._new = graph, TfliteGraph()
        self._groups = _group_alike(graph)
        self._scales: dict[int, Quantization] = {}
        for group in {id(members): members for members in self._groups.values()}.values():
            reach = [ranges[index] for index in group]
            scale = _make_scale(min(least for least, _ in reach), max(most for _, most in reach))
            self._scales.update(dict.fromkeys(group, scale))
        self._now: dict[int, int] = {}

    def convert(self) -> TfliteGraph:
        """Return the graph in integers."""
        old, new = self._old, self._new
        for name, index in old.inputs.items():
            new.inputs[name] = new.append(old.tensors[index])
            self._now[index] = self._append(index, self._scales[index])
            new.operations.append(Operation("QUANTIZE", (new.inputs[name],), (self._now[index],)))
        for operation in old.operations:
            self._convert_operation(operation)
        for name, index in old.outputs.items():
            new.outputs[name] = new.append(replace(old.tensors[index], name=f"said_{name}"))
            new.operations.append(Operation("DEQUANTIZE", (self._now[index],), (new.outputs[name],)))
        return new

    def _append(self, index: int, scale: Quantization) -> int:
        """Add a tensor as integers of a scale."""
        tensor = self._old.tensors[index]
        name = f"{tensor.name}_int8_{len(self._new.tensors)}"
        return self._new.append(GraphTensor(name, tensor.shape, np.dtype(np.int8), None, scale))

    def _convert_operation(self, operation: Operation) -> None:
        first = operation.outputs[0]
        fixed = _FIXED.get(operation.operator)
        scale = self._scales[first] if fixed is None else _make_quantization(*fixed)
        inputs = self._convert_inputs(operation)
        outputs = tuple(self._append(index, scale) for index in operation.outputs)
        self._new.operations.append(replace(operation, inputs=inputs, outputs=outputs))
        self._now.update(zip(operation.outputs, outputs, strict=True))
        if fixed is not None and len(self._groups[first]) > 1:  # what comes next wants the scale of its neighbours
            self._now[first] = self._append(first, self._scales[first])
            self._new.operations.append(Operation("QUANTIZE", outputs, (self._now[first],)))

    def _convert_inputs(self, operation: Operation) -> tuple[int, ...]:
        if operation.operator in _WEIGHED:
            source, kernel, bias = operation.inputs
            return (self._now[source], *self._convert_weights(operation, kernel, bias))
        return tuple(
            self._now[index] if self._old.tensors[index].constant is None else self._convert_constant(index)
            for index in operation.inputs
        )

    def _convert_weights(self, operation: Operation, kernel: int, bias: int) -> tuple[int, int]:
        """Add kernel and bias of a convolution or a product; the bias has the scale of their sums."""
        weights = self._get_constant(kernel)
        own = _FILTER_AXES.get(operation.operator)
        axes = None if own is None else tuple(axis for axis in range(weights.ndim) if axis != own)
        reach = np.maximum(np.atleast_1d(np.abs(weights).max(axis=axes)), LEAST_SPAN)
        scale = Quantization((reach / 127.0).astype(np.float32), np.zeros(len(reach), dtype=np.int64), own or 0)
        if kernel not in self._now:
            self._now[kernel] = self._add_constant(kernel, scale.encode(weights, np.int8, -127), scale)
        if bias == NOTHING:
            return self._now[kernel], NOTHING
        source = self._new.tensors[self._now[operation.inputs[0]]].quantization
        assert source is not None
        summed = Quantization((scale.scale * source.scale).astype(np.float32), scale.zero_point)
        return self._now[kernel], self._add_constant(bias, summed.encode(self._get_constant(bias), np.int32), summed)

    def _convert_constant(self, index: int) -> int:
        """Add a constant: numbers as integers, sizes and places as they are."""
        if index not in self._now:
            values = self._get_constant(index)
            if values.dtype != np.float32:
                self._now[index] = self._new.append(self._old.tensors[index])
            else:
                scale = _make_scale(float(values.min()), float(values.max()))
                self._now[index] = self._add_constant(index, scale.encode(values, np.int8), scale)
        return self._now[index]

    def _add_constant(self, index: int, values: Array, scale: Quantization) -> int:
        name = f"{self._old.tensors[index].name}_{len(self._new.tensors)}"
        return self._new.append(GraphTensor(name, values.shape, values.dtype, values, scale))

    def _get_constant(self, index: int) -> Array:
        values = self._old.tensors[index].constant
        assert values is not None
        return values


def _group_alike(graph: TfliteGraph) -> dict[int, set[int]]:
    """Return for each tensor those that must have its scale, itself among them."""
    groups = {index: {index} for index, tensor in enumerate(graph.tensors) if tensor.constant is None}
    for operation in graph.operations:
        if operation.operator not in _ALIKE:
            continue
        ends = [index for index in (*operation.inputs, *operation.outputs) if index in groups]
        together = set().union(*(groups[index] for index in ends))
        groups.update(dict.fromkeys(together, together))
    return groups


def _make_scale(least: float, most: float) -> Quantization:
    """Return how 8-bit integers hold the numbers between two, and 0 exactly."""
    least, most = min(least, 0.0), max(most, 0.0)
    scale = max(most - least, LEAST_SPAN) / 255.0
    return _make_quantization(scale, int(np.clip(np.rint(-128 - least / scale), -128, 127)))


def _make_quantization(scale: float, zero_point: int) -> Quantization:
    return Quantization(np.array([scale], dtype=np.float32), np.array([zero_point], dtype=np.int64))
