"""What flows through a TFLite graph in float32, tensor by tensor, computed by PyTorch: what its integers must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from donkeysim.core.types import Float32Array
from donkeysim.learn.files.tflite_graph import NOTHING, RELU, RELU6, Operation, TfliteGraph

Tensor = torch.Tensor

Ranges = dict[int, tuple[float, float]]
"""The least and the greatest number that each tensor held."""


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
        """Return the outputs for one example.

        Args:
            inputs: By name, each with the shape of its tensor.
        """
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
    return functional.conv2d(padded, kernel.permute(0, 3, 1, 2), bias, steps, 0, spaces).permute(0, 2, 3, 1)


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


def _pad(_operation: Operation, given: list[Tensor]) -> Tensor:
    edges = [size for row in reversed(given[1].tolist()) for size in row]
    return functional.pad(given[0], edges)


_COMPUTE: dict[str, Callable[[Operation, list[Tensor]], Any]] = {
    "ADD": lambda _, given: given[0] + given[1],
    "AVERAGE_POOL_2D": lambda operation, given: _pool(operation, given, is_mean=True),
    "CONCATENATION": lambda operation, given: torch.cat(given, int(operation.options["axis"])),
    "CONV_2D": _convolve,
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
    "PAD": _pad,
    "MEAN": lambda _, given: given[0].mean((1, 2)),
    "STRIDED_SLICE": _cut,
    "SPLIT": lambda operation, given: given[1].chunk(int(operation.options["num_splits"]), 1),
    "ELU": lambda _, given: functional.elu(given[0]),
}
