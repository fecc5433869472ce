"""A `Network` as the bytes of an ONNX file that takes pictures as a camera gives them.

For each class of layers a function adds its nodes to a graph. Opset 13 and IR version 8, which onnxruntime 1.17 and
older read.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError, import_extra
from donkeysim.learn.files.header import HEADER_KEY, PilotHeader, write_header
from donkeysim.learn.files.layer_shapes import (
    check_padding,
    fold_normalization,
    join_ways,
    make_resizing,
    read_scaling,
    resolve_shape,
    shrink_axes,
    spread,
    spread_edges,
    take_gates,
    take_normalization,
    take_weights,
    weigh_pixels,
    widen_layer,
)
from donkeysim.learn.files.network import RECURRENT, Layer, Network, split_ways
from donkeysim.learn.files.onnx_graph import OnnxGraph, Tensor

_PADDINGS = {"valid": "VALID", "same": "SAME_UPPER"}

_GATES: dict[str, dict[str, list[Any]]] = {
    "sigmoid": {},
    "hard_sigmoid": {
        "activations": ["HardSigmoid", "Tanh", "Tanh"],
        "activation_alpha": [1.0 / 6.0],
        "activation_beta": [0.5],
    },
}
"""What the gates of an LSTM do, in ONNX."""

OPSET = 13

IR_VERSION = 8


def add_layer(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    """Add a layer behind the tensors that it takes; returns its output.

    Raises:
        PilotError: A setting that cannot be written, or weights that do not fit.
    """
    try:
        return _ADDERS[layer.class_name](graph, layer, sources)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise PilotError(f"the layer {layer.name!r} does not fit the one before it ({error}).") from error


def _add_convolution(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_first(sources[0])
    settings, rank = layer.settings, len(x.shape) - 1
    groups, filters = int(settings.get("groups", 1)), int(settings["filters"])
    size = spread(settings["kernel_size"], rank)
    kernel, *bias = take_weights(layer, (*size, x.shape[-1] // groups, filters), (filters,))
    strides = spread(settings.get("strides", 1), rank)
    dilation = spread(settings.get("dilation_rate", 1), rank)
    inputs = [x.name, *map(graph.constant, (np.moveaxis(kernel, (-1, -2), (0, 1)), *bias))]
    padding = check_padding(layer)
    reach = tuple((width - 1) * step + 1 for width, step in zip(size, dilation, strict=True))
    shape = (*shrink_axes(x.shape[:-1], reach, strides, padding), filters)
    pads: dict[str, Any] = {"auto_pad": _PADDINGS[padding]}
    if padding == "same" and max(dilation) > 1:  # onnxruntime finds edges of dense kernels only
        ends = zip(shape, strides, reach, x.shape[:-1], strict=False)
        missing = [max((count - 1) * stride + over - there, 0) for count, stride, over, there in ends]
        pads = {"pads": [edge // 2 for edge in missing] + [edge - edge // 2 for edge in missing]}
    name = graph.node(
        "Conv", inputs, kernel_shape=list(size), strides=list(strides), dilations=list(dilation), group=groups, **pads
    )
    return graph.activate(replace(x, name=name, shape=shape), settings.get("activation"))


def _add_pooling(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_first(sources[0])
    rank = len(x.shape) - 1
    size = spread(layer.settings.get("pool_size", 2), rank)
    strides = spread(layer.settings.get("strides") or size, rank)
    padding = check_padding(layer)
    operator = "AveragePool" if layer.class_name.startswith("Average") else "MaxPool"
    name = graph.node(operator, [x.name], kernel_shape=list(size), strides=list(strides), auto_pad=_PADDINGS[padding])
    return replace(x, name=name, shape=(*shrink_axes(x.shape[:-1], size, strides, padding), x.shape[-1]))


def _add_global_pooling(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_first(sources[0])
    operator = "GlobalAveragePool" if layer.class_name.startswith("GlobalAverage") else "GlobalMaxPool"
    name = graph.reshape(graph.node(operator, [x.name]), x.shape[-1:])
    return replace(x, name=name, shape=x.shape[-1:], channels_first=False)


def _add_dense(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_last(sources[0])
    units = int(layer.settings["units"])
    kernel, *bias = take_weights(layer, (x.shape[-1], units), (units,))
    if len(x.shape) == 1:
        name = graph.node("Gemm", [x.name, *map(graph.constant, (kernel, *bias))])
    else:
        name = graph.node("MatMul", [x.name, graph.constant(kernel)])
        for values in bias:
            name = graph.node("Add", [name, graph.constant(values)])
    x = replace(x, name=name, shape=(*x.shape[:-1], units))
    return graph.activate(x, layer.settings.get("activation"))


def _add_recurrence(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    adder = {"LSTM": _add_lstm, "GRU": _add_gru, "SimpleRNN": _add_simple_recurrence}[layer.class_name]
    made = [adder(graph, way, sources) for way in split_ways(layer)]
    if layer.settings.get("return_sequences", False):
        made[1:] = [_reverse(graph, tensor) for tensor in made[1:]]
    for join in join_ways(layer):
        made = [_ADDERS[join.class_name](graph, join, made)]
    return made[0]


def _reverse(graph: OnnxGraph, x: Tensor) -> Tensor:
    """Return a sequence with its last row first."""
    numbers = ([-1], [np.iinfo(np.int64).min], [1], [-1])
    inputs = [x.name, *(graph.constant(np.array(row, dtype=np.int64)) for row in numbers)]
    return replace(x, name=graph.node("Slice", inputs))


def _add_lstm(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_last(sources[0])
    units, (weights, gate) = int(layer.settings["units"]), take_gates(layer, x.shape[-1], 4)
    kernel, recurrent, *bias = map(_order_gates, weights)
    both = np.zeros((1, 8 * units), dtype=np.float32)
    both[0, : 4 * units] = bias[0] if bias else 0.0
    return _run(graph, layer, x, [kernel[None], recurrent[None], both], **_GATES[gate])


def _add_gru(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    """The gates lie as in Keras: update, reset, what is let in."""
    x = graph.put_channels_last(sources[0])
    units, (weights, gate) = int(layer.settings["units"]), take_gates(layer, x.shape[-1], 3)
    kernel, recurrent, *bias = weights
    both = np.zeros((1, 6 * units), dtype=np.float32)
    given = bias[0].ravel() if bias else both[0]
    both[0, : given.size] = given
    shared = {"linear_before_reset": int(bool(layer.settings.get("reset_after", True)))}
    kinds = {key: value[:2] for key, value in _GATES[gate].items()}
    return _run(graph, layer, x, [kernel.T[None], recurrent.T[None], both], **shared, **kinds)


def _add_simple_recurrence(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_last(sources[0])
    (kernel, recurrent, *bias), _ = take_gates(layer, x.shape[-1], 1)
    both = np.zeros((1, 2 * len(recurrent)), dtype=np.float32)
    both[0, : len(recurrent)] = bias[0] if bias else 0.0
    activations = [str(layer.settings.get("activation", "tanh")).capitalize()]
    return _run(graph, layer, x, [kernel.T[None], recurrent.T[None], both], activations=activations)


def _run(graph: OnnxGraph, layer: Layer, x: Tensor, weights: list[Any], **options: Any) -> Tensor:
    """Add a recurrence; weights: kernel, recurrent kernel and bias, as ONNX has them."""
    units, operator = int(layer.settings["units"]), layer.class_name.removeprefix("Simple")
    if layer.settings.get("go_backwards", False):
        x = _reverse(graph, x)
    time_first = graph.node("Transpose", [x.name], perm=[1, 0, 2])
    inputs = [time_first, *map(graph.constant, weights)]
    every, last = graph.nodes(operator, inputs, 2, hidden_size=units, **options)
    if layer.settings.get("return_sequences", False):
        shape = (x.shape[0], units)
        turned = graph.node("Transpose", [every], perm=[2, 0, 1, 3])
        return replace(x, name=graph.reshape(turned, shape), shape=shape)
    return replace(x, name=graph.reshape(last, (units,)), shape=(units,))


def _order_gates(weight: Any) -> Any:
    """From the order of Keras along the last axis (in, forget, cell, out) to that of ONNX along the first."""
    into, forget, cell, out = np.split(np.asarray(weight).T, 4)
    return np.concatenate([into, out, forget, cell])


def _add_layer_normalization(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_last(sources[0])
    count, factor, shift = take_normalization(layer, x.shape)
    axes = list(range(-count, 0))
    centred = graph.node("Sub", [x.name, graph.node("ReduceMean", [x.name], axes=axes)])
    variance = graph.node("ReduceMean", [graph.node("Mul", [centred, centred])], axes=axes)
    epsilon = graph.constant(np.float32(layer.settings.get("epsilon", 1e-3)))
    even = graph.node("Div", [centred, graph.node("Sqrt", [graph.node("Add", [variance, epsilon])])])
    return graph.scale(replace(x, name=even), factor, shift)


def _scale(graph: OnnxGraph, layer: Layer, sources: list[Tensor], find_scale: Callable[..., Any]) -> Tensor:
    """Multiply by a factor and add a shift, which `find_scale` finds in the layer for a shape."""
    x = graph.put_channels_last(sources[0])
    return graph.scale(x, *find_scale(layer, x.shape))


def _add_to_rows(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x, wide = graph.put_channels_last(sources[0]), widen_layer(layer)
    length, depth = x.shape
    picture = replace(x, name=graph.reshape(x.name, (length, 1, depth)), shape=(length, 1, depth))
    made = graph.put_channels_last(_ADDERS[wide.class_name](graph, wide, [picture]))
    shape = tuple(np.delete(made.shape, -2)) if len(made.shape) > 1 else made.shape
    return replace(made, name=graph.reshape(made.name, shape), shape=shape)


def _add_permutation(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_last(sources[0])
    axes = spread(layer.settings["dims"], 1)
    if sorted(axes) != list(range(1, len(x.shape) + 1)):
        raise ValueError(f"it turns the axes {axes} of {len(x.shape)}")
    name = graph.node("Transpose", [x.name], perm=[0, *axes])
    return replace(x, name=name, shape=tuple(x.shape[axis - 1] for axis in axes))


def _add_concatenation(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    tensors = [graph.put_channels_last(source) for source in sources]
    axis = int(layer.settings.get("axis", -1))
    if axis not in (-1, len(tensors[0].shape)):
        raise PilotError(f"the layer {layer.name!r} joins along axis {axis}; only the last one can be written.")
    name = graph.node("Concat", [tensor.name for tensor in tensors], axis=-1)
    shape = (*tensors[0].shape[:-1], sum(tensor.shape[-1] for tensor in tensors))
    return replace(tensors[0], name=name, shape=shape)


def _join_pairs(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    first, *others = (graph.put_channels_last(source) for source in sources)
    operator = {"Add": "Add", "Multiply": "Mul"}[layer.class_name]
    for other in others:
        rank = max(len(first.shape), len(other.shape))
        name = graph.node(operator, [_give_axes(graph, tensor, rank) for tensor in (first, other)])
        first = replace(first, name=name, shape=np.broadcast_shapes(first.shape, other.shape))
    return first


def _give_axes(graph: OnnxGraph, tensor: Tensor, rank: int) -> str:
    """Return the name of a tensor with `rank` axes, without the batch; new ones stand behind it, as in Keras."""
    missing = rank - len(tensor.shape)
    return graph.reshape(tensor.name, (*[1] * missing, *tensor.shape)) if missing else tensor.name


def _reshape(
    graph: OnnxGraph, layer: Layer, sources: list[Tensor], find_shape: Callable[[Layer, int], tuple[int, ...]]
) -> Tensor:
    x = graph.put_channels_last(sources[0])
    shape = find_shape(layer, math.prod(x.shape))
    return replace(x, name=graph.reshape(x.name, shape), shape=shape)


def _add_cropping(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_last(sources[0])
    *sizes, depth = x.shape
    edges = spread_edges(layer.settings["cropping"], len(sizes))
    starts = [start for start, _ in edges]
    ends = [size - rest for size, (_, rest) in zip(sizes, edges, strict=True)]
    numbers = (starts, ends, range(1, len(x.shape)))
    inputs = [x.name, *(graph.constant(np.array(row, dtype=np.int64)) for row in numbers)]
    left = (end - start for start, end in zip(starts, ends, strict=True))
    return replace(x, name=graph.node("Slice", inputs), shape=(*left, depth))


def _add_resizing(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    """Two products with matrices: that is exactly what TensorFlow does, whatever version of ONNX runs it."""
    x = graph.put_channels_first(sources[0])
    height, width, depth = x.shape
    size = int(layer.settings["height"]), int(layer.settings["width"])
    rows, columns = weigh_pixels(layer, height, size[0]), weigh_pixels(layer, width, size[1])
    name = graph.node("MatMul", [graph.constant(rows), x.name])
    return replace(x, name=graph.node("MatMul", [name, graph.constant(columns.T)]), shape=(*size, depth))


def _add_padding(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    x = graph.put_channels_last(sources[0])
    (top, bottom), (left, right) = spread_edges(layer.settings["padding"], 2)
    height, width, depth = x.shape
    pads = graph.constant(np.array([0, top, left, 0, 0, bottom, right, 0], dtype=np.int64))
    return replace(
        x, name=graph.node("Pad", [x.name, pads]), shape=(height + top + bottom, width + left + right, depth)
    )


_ADDERS: dict[str, Callable[[OnnxGraph, Layer, list[Tensor]], Tensor]] = {
    **dict.fromkeys(("Conv2D", "Conv3D"), _add_convolution),
    "Dense": _add_dense,
    **dict.fromkeys(RECURRENT, _add_recurrence),
    "BatchNormalization": partial(_scale, find_scale=fold_normalization),
    "LayerNormalization": _add_layer_normalization,
    **dict.fromkeys(("Conv1D", "MaxPooling1D", "AveragePooling1D"), _add_to_rows),
    **dict.fromkeys(("GlobalAveragePooling1D", "GlobalMaxPooling1D"), _add_to_rows),
    "UpSampling2D": lambda graph, layer, sources: _add_resizing(
        graph, make_resizing(layer, *sources[0].shape[:2]), sources
    ),
    "Permute": _add_permutation,
    **dict.fromkeys(("MaxPooling2D", "MaxPooling3D", "AveragePooling2D"), _add_pooling),
    **dict.fromkeys(("GlobalAveragePooling2D", "GlobalMaxPooling2D"), _add_global_pooling),
    **dict.fromkeys(("Cropping2D", "Cropping3D"), _add_cropping),
    "Resizing": _add_resizing,
    "Rescaling": partial(_scale, find_scale=read_scaling),
    "ZeroPadding2D": _add_padding,
    "Flatten": partial(_reshape, find_shape=lambda _, count: (count,)),
    "Activation": lambda graph, layer, sources: graph.activate(sources[0], layer.settings.get("activation")),
    # Both do nothing while driving.
    **dict.fromkeys(("Dropout", "SpatialDropout2D"), lambda _graph, _layer, sources: sources[0]),
    "Concatenate": _add_concatenation,
    **dict.fromkeys(("Add", "Multiply"), _join_pairs),
    "Reshape": partial(_reshape, find_shape=resolve_shape),
}


def make_onnx(network: Network, header: PilotHeader | None) -> bytes:
    """Return the bytes of an ONNX file.

    The first input is the picture, uint8, shape [batch(, sequence), height, width, channels]; further inputs and all
    outputs are float32. Names are those of the layers.

    Raises:
        PilotError: A layer or a setting that this cannot write.
        DonkeySimError: The package onnx is missing.
    """
    graph = OnnxGraph(
        import_extra("onnx", "this needs the package onnx (pilots that are .onnx files already drive without it)")
    )
    names = sorted(network.inputs, key=lambda name: -len(network.find(name).settings["shape"]))
    shapes = {name: tuple(network.find(name).settings["shape"]) for name in names}
    inputs = [_declare(graph, name, shape, is_picture=name == names[0]) for name, shape in shapes.items()]
    tensors = {name: Tensor(name, shape) for name, shape in shapes.items()}
    as_float = graph.node("Cast", [names[0]], to=graph.onnx.TensorProto.FLOAT)
    share = graph.node("Mul", [as_float, graph.constant(np.float32(1.0 / 255.0))])  # from bytes to [0, 1]
    tensors[names[0]] = replace(tensors[names[0]], name=share)
    for layer in network.layers:
        if layer.class_name != "InputLayer":
            tensors[layer.name] = _add_layer(graph, layer, [tensors[source] for source in layer.sources])
    outputs = [_add_output(graph, name, tensors[name]) for name in network.outputs]
    return _serialize(graph, network.name, inputs, outputs, header)


def _declare(graph: OnnxGraph, name: str, shape: tuple[int, ...], is_picture: bool) -> Any:
    kinds = graph.onnx.TensorProto
    kind = kinds.UINT8 if is_picture else kinds.FLOAT
    return graph.onnx.helper.make_tensor_value_info(name, kind, ["batch", *shape])


def _add_layer(graph: OnnxGraph, layer: Layer, sources: list[Tensor]) -> Tensor:
    """Add a layer; what `TimeDistributed` does to each picture is done to all of them as one batch."""
    if layer.inner is not None:
        return add_layer(graph, replace(layer.inner, weights=layer.weights), [graph.fold(sources[0])])
    return add_layer(graph, layer, [graph.unfold(source) for source in sources])


def _add_output(graph: OnnxGraph, name: str, tensor: Tensor) -> Any:
    plain = graph.unfold(graph.put_channels_last(tensor))
    graph.built.append(graph.onnx.helper.make_node("Identity", [plain.name], [name]))
    return _declare(graph, name, plain.shape, is_picture=False)


def _serialize(graph: OnnxGraph, name: str, inputs: list[Any], outputs: list[Any], header: PilotHeader | None) -> bytes:
    helper = graph.onnx.helper
    made = helper.make_graph(graph.built, name, inputs, outputs, initializer=graph.constants)
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="donkeysim")
    if header is not None:
        helper.set_model_props(model, {HEADER_KEY: write_header(header)})
    return bytes(model.SerializeToString())
