"""A `Network` as the bytes of a `.tflite` file, as the original's cars drive with it: pictures in [0, 1], float32."""

from __future__ import annotations

from dataclasses import replace

from donkeysim.learn.files.header import HEADER_KEY, PilotHeader, write_header
from donkeysim.learn.files.layer_fusion import fuse_layers
from donkeysim.learn.files.network import Network
from donkeysim.learn.files.tflite_file import write_tflite
from donkeysim.learn.files.tflite_graph import Graph
from donkeysim.learn.files.tflite_layers import add_layer


def make_tflite(network: Network, header: PilotHeader | None) -> bytes:
    """Return the bytes of a `.tflite` file in float32.

    It takes one picture, or one sequence of them, at a time. Inputs and outputs have the names of their layers.

    Raises:
        PilotError: A layer or a setting that this cannot write.
    """
    return pack_graph(make_graph(network), network.name, header)


def pack_graph(graph: Graph, name: str, header: PilotHeader | None) -> bytes:
    """Return a graph with what it says about itself as the bytes of a file."""
    return write_tflite(graph, name, {} if header is None else {HEADER_KEY: write_header(header)})


def make_graph(network: Network) -> Graph:
    """Return a network as operations of TFLite, the picture first.

    Raises:
        PilotError: A layer or a setting that this cannot write.
    """
    network, graph = fuse_layers(network), Graph()
    tensors: dict[str, int] = {}
    for name in sorted(network.inputs, key=lambda name: -len(network.find(name).settings["shape"])):
        shape = tuple(network.find(name).settings["shape"])
        given = graph.add_input(name, (1, *shape))
        tensors[name] = graph.reshape(given, shape) if len(shape) == 4 else given  # a sequence of pictures
    for layer in network.layers:
        if layer.class_name != "InputLayer":
            inner = layer.inner and replace(layer.inner, weights=layer.weights)
            sources = [tensors[source] for source in layer.sources]
            tensors[layer.name] = add_layer(graph, inner or layer, sources, keeps_rows=inner is not None)
    for name in network.outputs:
        shape = graph.get_shape(tensors[name])
        graph.outputs[name] = graph.reshape(tensors[name], shape if shape[0] == 1 else (1, *shape))
    return graph
