"""A `Network` as the bytes of an ONNX file that takes pictures as a camera gives them.

Opset 13 and IR version 8, which onnxruntime 1.17 and older read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from donkeysim.core.extras import import_extra
from donkeysim.learn.files.header import HEADER_KEY, PilotHeader, write_header
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.files.onnx_graph import OnnxGraph, Tensor
from donkeysim.learn.files.onnx_layers import add_layer

OPSET = 13
IR_VERSION = 8


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
    tensors[names[0]] = _scale_picture(graph, tensors[names[0]])
    for layer in network.layers:
        if layer.class_name != "InputLayer":
            tensors[layer.name] = _add_layer(graph, layer, [tensors[source] for source in layer.sources])
    outputs = [_add_output(graph, name, tensors[name]) for name in network.outputs]
    return _serialize(graph, network.name, inputs, outputs, header)


def _declare(graph: OnnxGraph, name: str, shape: tuple[int, ...], is_picture: bool) -> Any:
    kinds = graph.onnx.TensorProto
    kind = kinds.UINT8 if is_picture else kinds.FLOAT
    return graph.onnx.helper.make_tensor_value_info(name, kind, ["batch", *shape])


def _scale_picture(graph: OnnxGraph, picture: Tensor) -> Tensor:
    """From bytes to [0, 1]."""
    as_float = graph.node("Cast", [picture.name], to=graph.onnx.TensorProto.FLOAT)
    return replace(picture, name=graph.node("Mul", [as_float, graph.constant(np.float32(1.0 / 255.0))]))


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
