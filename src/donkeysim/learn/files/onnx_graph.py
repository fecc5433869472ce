"""A `Network` as an ONNX graph that takes pictures as the camera gives them: uint8, height, width, channels.

Opset 13 and IR version 8, which onnxruntime 1.17 and older read. Tensors are followed with the shape that Keras would
give them; convolutions and poolings run channels first, so a tensor also remembers which way round it lies, and
whether the pictures of a sequence are folded into the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from donkeysim.core.errors import DonkeySimError, PilotError
from donkeysim.learn.files.header import HEADER_KEY, PilotHeader, write_header
from donkeysim.learn.files.network import Layer, Network

OPSET = 13
IR_VERSION = 8

_ACTIVATIONS = {
    "relu": "Relu",
    "tanh": "Tanh",
    "sigmoid": "Sigmoid",
    "softmax": "Softmax",
    "softplus": "Softplus",
    "elu": "Elu",
    "selu": "Selu",
}


@dataclass(frozen=True)
class _Tensor:
    """A value in the graph."""

    name: str
    shape: tuple[int, ...]
    """As Keras has it, channels last, without the batch; of one picture when folded."""
    channels_first: bool = False
    fold: int = 0
    """Pictures per sequence that are folded into the batch; 0: none."""


def make_onnx(network: Network, header: PilotHeader | None) -> bytes:
    """Return the bytes of an ONNX file.

    The first input is the picture or the sequence of pictures, uint8; further inputs are float32. Outputs are float32.

    Raises:
        PilotError: A layer or a setting that this cannot write.
        DonkeySimError: The package onnx is missing.
    """
    try:
        import onnx
    except ImportError as error:
        raise DonkeySimError(
            'this needs the package onnx; install it: pip install "donkeysim[learn]" '
            "(pilots that are .onnx files already drive without it)."
        ) from error
    return _GraphWriter(onnx).write(network, header)


class _GraphWriter:
    """Collects nodes and weights while it walks over the layers."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._name_count = 0

    def write(self, network: Network, header: PilotHeader | None) -> bytes:
        inputs, tensors = [], {}
        for index, name in enumerate(network.inputs):
            shape = tuple(network.find(name).settings["shape"])
            inputs.append(self._declare(name, shape, is_picture=index == 0))
            tensors[name] = self._scale_picture(name, shape) if index == 0 else _Tensor(name, shape)
        for layer in network.layers:
            if layer.class_name != "InputLayer":
                tensors[layer.name] = self._add_layer(layer, [tensors[source] for source in layer.sources])
        outputs = []
        for name in network.outputs:
            plain = self.unfold(self.put_channels_last(tensors[name]))
            self._nodes.append(self._onnx.helper.make_node("Identity", [plain.name], [name]))
            outputs.append(self._declare(name, plain.shape, is_picture=False))
        return self._serialize(network.name, inputs, outputs, header)

    def _serialize(self, name: str, inputs: list[Any], outputs: list[Any], header: PilotHeader | None) -> bytes:
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, name, inputs, outputs, initializer=self._constants)
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="donkeysim")
        if header is not None:
            helper.set_model_props(model, {HEADER_KEY: write_header(header)})
        return bytes(model.SerializeToString())

    def _declare(self, name: str, shape: tuple[int, ...], is_picture: bool) -> Any:
        kinds = self._onnx.TensorProto
        kind = kinds.UINT8 if is_picture else kinds.FLOAT
        return self._onnx.helper.make_tensor_value_info(name, kind, ["batch", *shape])

    def _scale_picture(self, name: str, shape: tuple[int, ...]) -> _Tensor:
        as_float = self.node("Cast", [name], to=self._onnx.TensorProto.FLOAT)
        scaled = self.node("Mul", [as_float, self.constant(np.float32(1.0 / 255.0))])
        return _Tensor(scaled, shape)

    def _add_layer(self, layer: Layer, sources: list[_Tensor]) -> _Tensor:
        if layer.inner is not None:
            return _add_core(self, replace(layer.inner, weights=layer.weights), [self.fold(sources[0])])
        return _add_core(self, layer, [self.unfold(source) for source in sources])

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node with one output; returns the name of that."""
        return self.nodes(operator, inputs, 1, **attributes)[0]

    def nodes(self, operator: str, inputs: Sequence[str], output_count: int, **attributes: Any) -> list[str]:
        """Add a node; returns the names of its outputs."""
        outputs = [self._make_name(operator) for _ in range(output_count)]
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), outputs, **attributes))
        return outputs

    def constant(self, value: Any) -> str:
        """Add a constant (float32 or int64); returns its name."""
        name = self._make_name("constant")
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _make_name(self, stem: str) -> str:
        self._name_count += 1
        return f"{stem}_{self._name_count}"

    def put_channels_first(self, tensor: _Tensor) -> _Tensor:
        """Return the tensor with the channels behind the batch."""
        if tensor.channels_first:
            return tensor
        rank = len(tensor.shape) + 1
        name = self.node("Transpose", [tensor.name], perm=[0, rank - 1, *range(1, rank - 1)])
        return replace(tensor, name=name, channels_first=True)

    def put_channels_last(self, tensor: _Tensor) -> _Tensor:
        """Return the tensor as Keras has it."""
        if not tensor.channels_first:
            return tensor
        rank = len(tensor.shape) + 1
        name = self.node("Transpose", [tensor.name], perm=[0, *range(2, rank), 1])
        return replace(tensor, name=name, channels_first=False)

    def fold(self, tensor: _Tensor) -> _Tensor:
        """Return a sequence [batch, sequence, …] as pictures [batch * sequence, …]."""
        if tensor.fold:
            return tensor
        plain = self.put_channels_last(tensor)
        return _Tensor(self.reshape(plain.name, plain.shape[1:]), plain.shape[1:], fold=plain.shape[0])

    def unfold(self, tensor: _Tensor) -> _Tensor:
        """Return folded pictures as a sequence again."""
        if not tensor.fold:
            return tensor
        plain = self.put_channels_last(tensor)
        shape = (plain.fold, *plain.shape)
        return _Tensor(self.reshape(plain.name, shape), shape)

    def reshape(self, name: str, shape: tuple[int, ...]) -> str:
        """Add a node that gives rows of a shape, batch first."""
        return self.node("Reshape", [name, self.constant(np.array([-1, *shape], dtype=np.int64))])

    def activate(self, tensor: _Tensor, activation: str | None) -> _Tensor:
        """Return the tensor behind an activation of Keras; None and "linear" change nothing."""
        if activation in (None, "linear"):
            return tensor
        if activation not in _ACTIVATIONS:
            raise PilotError(
                f"the activation {activation!r} cannot be written; these can: linear, {', '.join(_ACTIVATIONS)}."
            )
        if activation == "softmax":
            tensor = self.put_channels_last(tensor)
            return replace(tensor, name=self.node("Softmax", [tensor.name], axis=-1))
        return replace(tensor, name=self.node(_ACTIVATIONS[activation], [tensor.name]))


def _add_core(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    return _ADDERS[layer.class_name](graph, layer, sources)


def _add_convolution(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    x = graph.put_channels_first(sources[0])
    settings, rank = layer.settings, len(x.shape) - 1
    kernel = layer.weights[0]
    strides = _spread(settings.get("strides", 1), rank)
    dilation = _spread(settings.get("dilation_rate", 1), rank)
    moved = np.moveaxis(kernel, (-1, -2), (0, 1))
    inputs = [x.name, graph.constant(moved), *(graph.constant(bias) for bias in layer.weights[1:])]
    padding = settings.get("padding", "valid")
    name = graph.node(
        "Conv",
        inputs,
        kernel_shape=list(kernel.shape[:rank]),
        strides=list(strides),
        dilations=list(dilation),
        group=int(settings.get("groups", 1)),
        auto_pad=_name_padding(layer, padding),
    )
    reach = tuple((size - 1) * step + 1 for size, step in zip(kernel.shape[:rank], dilation, strict=True))
    shape = (*_shrink(x.shape[:-1], reach, strides, padding), kernel.shape[-1])
    return graph.activate(replace(x, name=name, shape=shape), settings.get("activation"))


def _add_pooling(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    x = graph.put_channels_first(sources[0])
    rank = len(x.shape) - 1
    size = _spread(layer.settings.get("pool_size", 2), rank)
    strides = _spread(layer.settings.get("strides") or size, rank)
    padding = layer.settings.get("padding", "valid")
    operator = "AveragePool" if layer.class_name.startswith("Average") else "MaxPool"
    name = graph.node(
        operator, [x.name], kernel_shape=list(size), strides=list(strides), auto_pad=_name_padding(layer, padding)
    )
    return replace(x, name=name, shape=(*_shrink(x.shape[:-1], size, strides, padding), x.shape[-1]))


def _add_global_average(graph: _GraphWriter, _layer: Layer, sources: list[_Tensor]) -> _Tensor:
    x = graph.put_channels_first(sources[0])
    name = graph.reshape(graph.node("GlobalAveragePool", [x.name]), x.shape[-1:])
    return replace(x, name=name, shape=x.shape[-1:], channels_first=False)


def _add_dense(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    x = graph.put_channels_last(sources[0])
    kernel, *bias = layer.weights
    if len(x.shape) == 1:
        name = graph.node("Gemm", [x.name, *map(graph.constant, (kernel, *bias))])
    else:
        name = graph.node("MatMul", [x.name, graph.constant(kernel)])
        for values in bias:
            name = graph.node("Add", [name, graph.constant(values)])
    x = replace(x, name=name, shape=(*x.shape[:-1], kernel.shape[1]))
    return graph.activate(x, layer.settings.get("activation"))


def _add_normalization(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    """Batch normalisation with its learnt mean and variance, as one product and one sum over the last axis."""
    settings = layer.settings
    x = graph.put_channels_last(sources[0])
    axes = settings.get("axis", -1)
    axis = axes[0] if isinstance(axes, list | tuple) else axes
    if axis not in (-1, len(x.shape)):
        raise PilotError(f"the layer {layer.name!r} normalises over axis {axis}; only the last one can be written.")
    weights = list(layer.weights)
    gamma = weights.pop(0) if settings.get("scale", True) else np.float32(1.0)
    beta = weights.pop(0) if settings.get("center", True) else np.float32(0.0)
    mean, variance = weights
    factor = gamma / np.sqrt(variance + np.float32(settings.get("epsilon", 1e-3)))
    scaled = graph.node("Mul", [x.name, graph.constant(factor.astype(np.float32))])
    shift = (beta - mean * factor).astype(np.float32)
    return replace(x, name=graph.node("Add", [scaled, graph.constant(shift)]))


def _add_lstm(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    settings = layer.settings
    used = (settings.get("activation", "tanh"), settings.get("recurrent_activation", "sigmoid"))
    if used != ("tanh", "sigmoid") or settings.get("go_backwards", False):
        raise PilotError(f"the LSTM {layer.name!r} is not a plain one (tanh, sigmoid, forwards); it cannot be written.")
    x = graph.put_channels_last(sources[0])
    kernel, recurrent = (_order_gates(weight)[None] for weight in layer.weights[:2])
    units = kernel.shape[1] // 4
    bias = _order_gates(layer.weights[2]) if len(layer.weights) > 2 else np.zeros(4 * units, np.float32)
    both = np.concatenate([bias, np.zeros_like(bias)])[None]
    time_first = graph.node("Transpose", [x.name], perm=[1, 0, 2])
    inputs = [time_first, *map(graph.constant, (kernel, recurrent, both))]
    every, last = graph.nodes("LSTM", inputs, 2, hidden_size=units)
    if settings.get("return_sequences", False):
        shape = (x.shape[0], units)
        turned = graph.node("Transpose", [every], perm=[2, 0, 1, 3])
        return replace(x, name=graph.reshape(turned, shape), shape=shape)
    return replace(x, name=graph.reshape(last, (units,)), shape=(units,))


def _order_gates(weight: Any) -> Any:
    """From the order of Keras along the last axis (in, forget, cell, out) to that of ONNX along the first."""
    into, forget, cell, out = np.split(np.asarray(weight).T, 4)
    return np.concatenate([into, out, forget, cell])


def _add_flatten(graph: _GraphWriter, _layer: Layer, sources: list[_Tensor]) -> _Tensor:
    x = graph.put_channels_last(sources[0])
    shape = (math.prod(x.shape),)
    return replace(x, name=graph.reshape(x.name, shape), shape=shape)


def _add_activation(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    return graph.activate(sources[0], layer.settings.get("activation"))


def _pass_on(_graph: _GraphWriter, _layer: Layer, sources: list[_Tensor]) -> _Tensor:
    """Dropout does nothing while driving."""
    return sources[0]


def _add_concatenation(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    tensors = [graph.put_channels_last(source) for source in sources]
    axis = int(layer.settings.get("axis", -1))
    if axis not in (-1, len(tensors[0].shape)):
        raise PilotError(f"the layer {layer.name!r} joins along axis {axis}; only the last one can be written.")
    name = graph.node("Concat", [tensor.name for tensor in tensors], axis=-1)
    shape = (*tensors[0].shape[:-1], sum(tensor.shape[-1] for tensor in tensors))
    return replace(tensors[0], name=name, shape=shape)


def _add_sum(graph: _GraphWriter, _layer: Layer, sources: list[_Tensor]) -> _Tensor:
    first, *others = (graph.put_channels_last(source) for source in sources)
    name = first.name
    for other in others:
        name = graph.node("Add", [name, other.name])
    return replace(first, name=name)


def _add_cropping(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    x = graph.put_channels_last(sources[0])
    (top, bottom), (left, right) = _spread_edges(layer.settings["cropping"])
    height, width, depth = x.shape
    numbers = ([top, left], [height - bottom, width - right], [1, 2])
    inputs = [x.name, *(graph.constant(np.array(row, dtype=np.int64)) for row in numbers)]
    return replace(x, name=graph.node("Slice", inputs), shape=(height - top - bottom, width - left - right, depth))


def _add_padding(graph: _GraphWriter, layer: Layer, sources: list[_Tensor]) -> _Tensor:
    x = graph.put_channels_last(sources[0])
    (top, bottom), (left, right) = _spread_edges(layer.settings["padding"])
    height, width, depth = x.shape
    pads = graph.constant(np.array([0, top, left, 0, 0, bottom, right, 0], dtype=np.int64))
    return replace(
        x, name=graph.node("Pad", [x.name, pads]), shape=(height + top + bottom, width + left + right, depth)
    )


def _spread(value: Any, rank: int) -> tuple[int, ...]:
    """One number for all axes, or one per axis, as a tuple."""
    return tuple(map(int, value)) if isinstance(value, list | tuple) else (int(value),) * rank


def _spread_edges(value: Any) -> list[tuple[int, ...]]:
    """((top, bottom), (left, right)) out of the three forms that Keras takes."""
    return [_spread(pair, 2) for pair in value] if isinstance(value, list | tuple) else [(int(value),) * 2] * 2


def _name_padding(layer: Layer, padding: str) -> str:
    names = {"valid": "VALID", "same": "SAME_UPPER"}
    if padding not in names:
        raise PilotError(f"the layer {layer.name!r} has the padding {padding!r}; only valid and same can be written.")
    return names[padding]


def _shrink(sizes: tuple[int, ...], reach: tuple[int, ...], strides: tuple[int, ...], padding: str) -> tuple[int, ...]:
    """Return what a convolution or pooling leaves of each axis."""
    if padding == "same":
        return tuple(-(-size // stride) for size, stride in zip(sizes, strides, strict=True))
    return tuple((size - over) // stride + 1 for size, over, stride in zip(sizes, reach, strides, strict=True))


_ADDERS: dict[str, Callable[[_GraphWriter, Layer, list[_Tensor]], _Tensor]] = {
    "Conv2D": _add_convolution,
    "Conv3D": _add_convolution,
    "Dense": _add_dense,
    "LSTM": _add_lstm,
    "BatchNormalization": _add_normalization,
    "MaxPooling2D": _add_pooling,
    "MaxPooling3D": _add_pooling,
    "AveragePooling2D": _add_pooling,
    "GlobalAveragePooling2D": _add_global_average,
    "Cropping2D": _add_cropping,
    "ZeroPadding2D": _add_padding,
    "Flatten": _add_flatten,
    "Activation": _add_activation,
    "Dropout": _pass_on,
    "SpatialDropout2D": _pass_on,
    "Concatenate": _add_concatenation,
    "Add": _add_sum,
}
