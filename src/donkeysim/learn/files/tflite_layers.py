"""What each class of layers is in TFLite: a function that adds its operations to a graph.

A sequence lies along the first axis, where a batch would be: what is done to each of its pictures is done to a batch of
them. Only operations are used that every TFLite interpreter has, in numbers and in integers: a convolution in
time is one in the plane over the channels of several pictures.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.learn.files.layer_shapes import (
    check_interpolation,
    check_padding,
    fold_normalization,
    join_ways,
    make_resizing,
    read_scaling,
    resolve_shape,
    shrink_axes,
    spread,
    spread_edges,
    take_normalization,
    take_weights,
    widen_layer,
)
from donkeysim.learn.files.network import RECURRENT, Layer
from donkeysim.learn.files.tflite_graph import NO_ACTIVATION, RELU, TfliteGraph
from donkeysim.learn.files.tflite_recurrence import run_recurrence

_PADDINGS = {"same": 0, "valid": 1}

_FUSED = {None: NO_ACTIVATION, "linear": NO_ACTIVATION, "relu": RELU}
"""Activations that convolutions and sums have of their own."""

_OPERATORS = {"tanh": "TANH", "sigmoid": "LOGISTIC", "softmax": "SOFTMAX", "elu": "ELU", "relu": "RELU"}


def add_layer(graph: TfliteGraph, layer: Layer, sources: list[int], keeps_rows: bool = False) -> int:
    """Add a layer behind the tensors that it takes; returns its output.

    Args:
        layer: What `TimeDistributed` holds stands for it.
        keeps_rows: It is done to every picture of a sequence on its own.

    Raises:
        PilotError: A class or a setting that this cannot write, or weights that do not fit.
    """
    try:
        if keeps_rows and layer.class_name in ("Flatten", "Reshape", "BatchNormalization", "LayerNormalization"):
            return _add_to_rows(graph, layer, sources[0])
        if keeps_rows and (layer.class_name in RECURRENT or layer.class_name.endswith("1D")):
            raise PilotError(
                f"the layer {layer.name!r} is done to a sequence of sequences, which .tflite files here cannot hold; "
                "write the pilot as .onnx."
            )
        return _ADDERS[layer.class_name](graph, layer, sources)
    except (IndexError, KeyError, TypeError, ValueError, AssertionError) as error:
        raise PilotError(f"the layer {layer.name!r} does not fit the one before it ({error}).") from error


def _add_to_rows(graph: TfliteGraph, layer: Layer, source: int) -> int:
    """Add a layer that is done to each row on its own."""
    rows, *shape = graph.get_shape(source)
    if layer.class_name == "LayerNormalization":
        return _add_layer_normalization(graph, layer, [source], keeps_rows=True)
    if layer.class_name == "BatchNormalization":
        return _scale(graph, source, *fold_normalization(layer, tuple(shape)))
    count = math.prod(shape)
    return graph.reshape(source, (rows, *((count,) if layer.class_name == "Flatten" else resolve_shape(layer, count))))


def _activate(graph: TfliteGraph, index: int, layer: Layer) -> int:
    """Return the tensor behind an activation that no operation has of its own."""
    activation = layer.settings.get("activation")
    if activation in _FUSED:
        return index
    if activation not in _OPERATORS:
        raise PilotError(
            f"the layer {layer.name!r} has the activation {activation!r}, which .tflite files here cannot hold; "
            f"these can: linear, {', '.join(_OPERATORS)}."
        )
    options = {"beta": 1.0} if activation == "softmax" else {}
    return graph.add(_OPERATORS[activation], [index], graph.get_shape(index), **options)


def _add_plane(
    graph: TfliteGraph, layer: Layer, source: int, kernel: Any, bias: list[Any], is_deep: bool = False
) -> int:
    """Add a convolution of pictures.

    Args:
        layer: For strides, dilation, padding and activation; of the last two axes where it has three.
        source: Shape [row, height, width, channel].
        kernel: Shape [filter, height, width, channel]; of each channel alone, [1, height, width, filter].
        bias: One array, or none.
        is_deep: It is of each channel alone.
    """
    settings, padding = layer.settings, check_padding(layer)
    strides, dilation = (spread(settings.get(key, 1), 2)[-2:] for key in ("strides", "dilation_rate"))
    reach = tuple((width - 1) * step + 1 for width, step in zip(kernel.shape[1:3], dilation, strict=True))
    rows, *sizes, channels = graph.get_shape(source)
    filters = kernel.shape[3 if is_deep else 0]
    shape = (rows, *shrink_axes(tuple(sizes), reach, strides, padding), filters)
    weights = [graph.add_constant(values) for values in (kernel, *(bias or [np.zeros(filters)]))]
    made = graph.add(
        "DEPTHWISE_CONV_2D" if is_deep else "CONV_2D",
        [source, *weights],
        shape,
        padding=_PADDINGS[padding],
        stride_h=strides[0],
        stride_w=strides[1],
        dilation_h=dilation[0],
        dilation_w=dilation[1],
        activation=_FUSED.get(settings.get("activation"), NO_ACTIVATION),
        **({"depth_multiplier": filters // channels} if is_deep else {}),
    )
    return _activate(graph, made, layer)


def _take_kernel(graph: TfliteGraph, layer: Layer, source: int, rank: int, groups: int = 1) -> list[Any]:
    """Return kernel and bias of a convolution."""
    size, filters = spread(layer.settings["kernel_size"], rank), int(layer.settings["filters"])
    return list(take_weights(layer, (*size, graph.get_shape(source)[-1] // groups, filters), (filters,)))


def _add_convolution(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    groups, (source,) = int(layer.settings.get("groups", 1)), sources
    kernel, *bias = _take_kernel(graph, layer, source, 2, groups)
    rows, height, width, channels = graph.get_shape(source)
    if groups == channels > 1:
        return _add_plane(graph, layer, source, kernel.transpose(2, 0, 1, 3), bias, is_deep=True)
    plain, made, each = replace(layer, settings={**layer.settings, "activation": "linear"}), [], channels // groups
    for number, part in enumerate(np.split(kernel, groups, axis=3)):
        seen = graph.cut(source, [0, 0, 0, number * each], [rows, height, width, (number + 1) * each])
        own = [np.split(values, groups)[number] for values in bias]
        made.append(_add_plane(graph, layer if groups == 1 else plain, seen, part.transpose(3, 0, 1, 2), own))
    if groups == 1:
        return made[0]
    return _add_activation(graph, layer, [graph.join(made, 3)])


def _add_convolution_in_time(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    """Each picture of the output sees the channels of several pictures, side by side."""
    if int(layer.settings.get("groups", 1)) != 1:
        raise PilotError(f"the layer {layer.name!r} has groups, which .tflite files here cannot hold; leave them out.")
    x, (kernel, *bias) = sources[0], _take_kernel(graph, layer, sources[0], 3)
    length, filters = kernel.shape[0], kernel.shape[-1]
    stride, dilation = (spread(layer.settings.get(key, 1), 3)[0] for key in ("strides", "dilation_rate"))
    reach = (length - 1) * dilation + 1
    (count,) = shrink_axes(graph.get_shape(x)[:1], (reach,), (stride,), check_padding(layer))
    missing = (count - 1) * stride + reach - graph.get_shape(x)[0]
    if check_padding(layer) == "same":
        missing = max(missing, 0)
        x = graph.pad(x, [(missing // 2, missing - missing // 2), (0, 0), (0, 0), (0, 0)])
    _, height, width, channels = graph.get_shape(x)
    looks = []
    for first in range(0, reach, dilation):
        end = first + (count - 1) * stride + 1
        looks.append(graph.cut(x, [first, 0, 0, 0], [end, height, width, channels], [stride, 1, 1, 1]))
    flat = kernel.transpose(4, 1, 2, 0, 3).reshape(filters, *kernel.shape[1:3], length * channels)
    return _add_plane(graph, layer, graph.join(looks, 3), flat, bias)


def _add_pooling(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    operator = "AVERAGE_POOL_2D" if layer.class_name.startswith("Average") else "MAX_POOL_2D"
    rank = 3 if layer.class_name.endswith("3D") else 2
    size = spread(layer.settings.get("pool_size", 2), rank)
    strides = spread(layer.settings.get("strides") or size, rank)
    x = _pool(graph, layer, operator, sources[0], (size[-2:], strides[-2:]))
    if rank == 2 or size[0] == strides[0] == 1:
        return x
    rows, height, width, channels = graph.get_shape(x)
    turned = graph.reshape(x, (1, rows, height * width, channels))  # time as the height of one picture
    pooled = _pool(graph, layer, operator, turned, ((size[0], 1), (strides[0], 1)))
    return graph.reshape(pooled, (graph.get_shape(pooled)[1], height, width, channels))


def _pool(
    graph: TfliteGraph, layer: Layer, operator: str, source: int, window: tuple[tuple[int, ...], tuple[int, ...]]
) -> int:
    """Add a pooling of pictures; the window is its height and width, and how far it moves."""
    padding, (size, strides) = check_padding(layer), window
    rows, *sizes, channels = graph.get_shape(source)
    return graph.add(
        operator,
        [source],
        (rows, *shrink_axes(tuple(sizes), size, strides, padding), channels),
        padding=_PADDINGS[padding],
        stride_h=strides[0],
        stride_w=strides[1],
        filter_height=size[0],
        filter_width=size[1],
    )


def _add_global_pooling(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    rows, *sizes, channels = graph.get_shape(sources[0])
    if layer.class_name.startswith("GlobalMax"):
        most = _pool(graph, layer, "MAX_POOL_2D", sources[0], (tuple(sizes), (1, 1)))
        return graph.reshape(most, (rows, channels))
    axes = graph.add_constant([1, 2], np.int32)
    return graph.add("MEAN", [sources[0], axes], (rows, channels), keep_dims=False)


def _add_dense(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    *places, width = graph.get_shape(sources[0])
    units = int(layer.settings["units"])
    kernel, *bias = take_weights(layer, (width, units), (units,))
    flat = graph.reshape(sources[0], (math.prod(places), width))
    made = graph.multiply(flat, kernel, bias, _FUSED.get(layer.settings.get("activation"), NO_ACTIVATION))
    return _activate(graph, graph.reshape(made, (*places, units)), layer)


def _add_layer_normalization(graph: TfliteGraph, layer: Layer, sources: list[int], keeps_rows: bool = False) -> int:
    shape = graph.get_shape(sources[0])
    count, factor, shift = take_normalization(layer, shape[1:] if keeps_rows else _drop_batch(shape))
    width = math.prod(shape[len(shape) - count :])
    means = np.full((width, 1), 1.0 / width, dtype=np.float32)
    rows = graph.reshape(sources[0], (math.prod(shape) // width, width))
    centred = graph.combine("ADD", rows, graph.multiply(rows, -means, []))
    epsilon = np.array([layer.settings.get("epsilon", 1e-3)], dtype=np.float32)
    variance = graph.multiply(graph.combine("MUL", centred, centred), means, [epsilon])
    even = graph.combine("MUL", centred, graph.add("RSQRT", [variance], graph.get_shape(variance)))
    return _scale(graph, graph.reshape(even, shape), factor, shift)


def _add_wide(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    """Add a layer of rows as one of pictures that are one pixel wide."""
    (length, depth), wide = graph.get_shape(sources[0]), widen_layer(layer)
    made = _ADDERS[wide.class_name](graph, wide, [graph.reshape(sources[0], (1, length, 1, depth))])
    shape = graph.get_shape(made)
    return graph.reshape(made, (shape[1], shape[3])) if len(shape) == 4 else made


def _add_permutation(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    shape, axes = graph.get_shape(sources[0]), spread(layer.settings["dims"], 1)
    axes = tuple(axis - 1 for axis in axes) if len(axes) == len(shape) else (0, *axes)
    if sorted(axes) != list(range(len(shape))):
        raise ValueError(f"it turns the axes {axes} of {len(shape)}")
    turned = [sources[0], graph.add_constant(axes, np.int32)]
    return graph.add("TRANSPOSE", turned, tuple(shape[axis] for axis in axes))


def _add_recurrence(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    made = run_recurrence(graph, layer, sources[0])
    for join in join_ways(layer):
        made = [_ADDERS[join.class_name](graph, join, made)]
    return made[0]


def _add_activation(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    if layer.settings.get("activation") == "relu":
        return graph.add("RELU", sources, graph.get_shape(sources[0]))
    return _activate(graph, sources[0], layer)


def _add_concatenation(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    shape, axis = graph.get_shape(sources[0]), int(layer.settings.get("axis", -1))
    if axis not in (-1, len(_drop_batch(shape))):
        raise PilotError(f"the layer {layer.name!r} joins along axis {axis}; only the last one can be written.")
    return graph.join(sources, len(shape) - 1)


def _drop_batch(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape as Keras has it, without the batch; that of a sequence has none here."""
    return shape[1:] if shape[0] == 1 else shape


def _add_reshape(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    """Two or four axes are those of a sequence, which lies where a batch would be."""
    shape = resolve_shape(layer, math.prod(graph.get_shape(sources[0])))
    return graph.reshape(sources[0], shape if len(shape) in (2, 4) else (1, *shape))


def _add_cropping(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    shape = graph.get_shape(sources[0])
    rank = 3 if layer.class_name.endswith("3D") else 2
    edges = [(0, 0)] * (3 - rank) + spread_edges(layer.settings["cropping"], rank) + [(0, 0)]
    ends = [size - last for size, (_, last) in zip(shape, edges, strict=True)]
    return graph.cut(sources[0], [first for first, _ in edges], ends)


def _add_resizing(graph: TfliteGraph, layer: Layer, sources: list[int]) -> int:
    rows, _, _, channels = graph.get_shape(sources[0])
    size = int(layer.settings["height"]), int(layer.settings["width"])
    operator = {"bilinear": "RESIZE_BILINEAR", "nearest": "RESIZE_NEAREST_NEIGHBOR"}[check_interpolation(layer)]
    inputs = [sources[0], graph.add_constant(size, np.int32)]
    return graph.add(operator, inputs, (rows, *size, channels), half_pixel_centers=True)


def _scale(graph: TfliteGraph, source: int, factor: Any, shift: Any) -> int:
    """Add a factor and a shift, each one number or one for each channel."""
    shape = graph.get_shape(source)
    scaled = graph.add("MUL", [source, graph.add_constant(factor)], shape, activation=NO_ACTIVATION)
    return graph.add("ADD", [scaled, graph.add_constant(shift)], shape, activation=NO_ACTIVATION)


_ADDERS: dict[str, Callable[[TfliteGraph, Layer, list[int]], int]] = {
    "Conv2D": _add_convolution,
    "Conv3D": _add_convolution_in_time,
    "Dense": _add_dense,
    **dict.fromkeys(RECURRENT, _add_recurrence),
    "BatchNormalization": lambda graph, layer, sources: _scale(
        graph, sources[0], *fold_normalization(layer, _drop_batch(graph.get_shape(sources[0])))
    ),
    "LayerNormalization": _add_layer_normalization,
    **dict.fromkeys(("Conv1D", "MaxPooling1D", "AveragePooling1D"), _add_wide),
    **dict.fromkeys(("GlobalAveragePooling1D", "GlobalMaxPooling1D"), _add_wide),
    "UpSampling2D": lambda graph, layer, sources: _add_resizing(
        graph, make_resizing(layer, *graph.get_shape(sources[0])[1:3]), sources
    ),
    "Permute": _add_permutation,
    **dict.fromkeys(("MaxPooling2D", "MaxPooling3D", "AveragePooling2D"), _add_pooling),
    **dict.fromkeys(("GlobalAveragePooling2D", "GlobalMaxPooling2D"), _add_global_pooling),
    **dict.fromkeys(("Cropping2D", "Cropping3D"), _add_cropping),
    "Resizing": _add_resizing,
    "Rescaling": lambda graph, layer, sources: _scale(
        graph, sources[0], *read_scaling(layer, graph.get_shape(sources[0]))
    ),
    "ZeroPadding2D": lambda graph, layer, sources: graph.pad(
        sources[0], [(0, 0), *spread_edges(layer.settings["padding"], 2), (0, 0)]
    ),
    "Flatten": lambda graph, _, sources: graph.reshape(sources[0], (1, math.prod(graph.get_shape(sources[0])))),
    "Activation": _add_activation,
    # Both do nothing while driving.
    **dict.fromkeys(("Dropout", "SpatialDropout2D"), lambda _graph, _layer, sources: sources[0]),
    "Concatenate": _add_concatenation,
    "Add": lambda graph, _, sources: reduce(partial(graph.combine, "ADD"), sources),
    "Multiply": lambda graph, _, sources: reduce(partial(graph.combine, "MUL"), sources),
    "Reshape": _add_reshape,
}
