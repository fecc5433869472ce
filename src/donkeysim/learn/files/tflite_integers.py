"""A TFLite graph in 8-bit integers, by TensorFlow's published rules for them.

Weights of a convolution have a scale for each filter, other weights and all other tensors one; weights and biases are
symmetric, biases 32 bits wide. Inputs and outputs stay float32, so that cars drive with such a file as with any other.

https://ai.google.dev/edge/litert/conversion/tensorflow/quantization/quantization_spec
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from donkeysim.learn.files.tflite_graph import NOTHING, Array, GraphTensor, Operation, Quantization, TfliteGraph
from donkeysim.learn.files.tflite_values import Ranges

LEAST_SPAN = 1e-6
"""Between the ends of what a tensor held; one that was always 0 has a scale nevertheless."""

_ALIKE = (
    *("RESHAPE", "STRIDED_SLICE", "SPLIT", "PAD", "CONCATENATION", "MAX_POOL_2D", "AVERAGE_POOL_2D"),
    *("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"),
)
"""Operations whose inputs and outputs must have one scale."""

_FIXED = {"LOGISTIC": (1 / 256, -128), "SOFTMAX": (1 / 256, -128), "TANH": (1 / 128, 0)}
"""Scale and zero point of what these say, whatever they say."""

_WEIGHED = ("CONV_2D", "FULLY_CONNECTED")


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
        axes = tuple(range(1, weights.ndim)) if operation.operator == "CONV_2D" else None
        reach = np.maximum(np.atleast_1d(np.abs(weights).max(axis=axes)), LEAST_SPAN)
        scale = Quantization((reach / 127.0).astype(np.float32), np.zeros(len(reach), dtype=np.int64))
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
