"""A `Network` as the bytes of a `.tflite` file, as the original's cars drive with it: pictures in [0, 1], float32."""

from collections import Counter
from dataclasses import replace

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.learn.files.header import HEADER_KEY, PilotHeader, write_header
from donkeysim.learn.files.layer_shapes import fold_normalization, spread
from donkeysim.learn.files.network import Layer, Network, count_axes
from donkeysim.learn.files.tflite_file import write_tflite
from donkeysim.learn.files.tflite_graph import TfliteGraph
from donkeysim.learn.files.tflite_layers import add_layer


def make_tflite(network: Network, header: PilotHeader | None) -> bytes:
    """Return the bytes of a `.tflite` file in float32.

    It takes one picture, or one sequence of them, at a time. Inputs and outputs have the names of their layers;
    programs take outputs in the order of their names, so where that is not theirs, numbers stand before these.

    Raises:
        PilotError: A layer or a setting that this cannot write.
    """
    return pack_graph(make_graph(network), network.name, header)


def pack_graph(graph: TfliteGraph, name: str, header: PilotHeader | None) -> bytes:
    """Return a graph with what it says about itself as the bytes of a file."""
    return write_tflite(graph, name, {} if header is None else {HEADER_KEY: write_header(header)})


def make_graph(network: Network) -> TfliteGraph:
    """Return a network as operations of TFLite, the picture first.

    Raises:
        PilotError: A layer or a setting that this cannot write.
    """
    network, graph = fuse_layers(network), TfliteGraph()
    axes = count_axes(network)
    tensors: dict[str, int] = {}
    for name in sorted(network.inputs, key=lambda name: -len(network.find(name).settings["shape"])):
        shape = tuple(network.find(name).settings["shape"])
        given = graph.add_input(name, (1, *shape))
        tensors[name] = graph.reshape(given, shape) if len(shape) == 4 else given  # a sequence of pictures
    for layer in network.layers:
        if layer.class_name != "InputLayer":
            sources, count = [tensors[source] for source in layer.sources], axes[layer.sources[0]]
            if layer.class_name in ("Concatenate", "BatchNormalization", "LayerNormalization"):
                # The axis before the last looks like the last where there is one row only.
                last = max(spread(layer.settings.get("axis", -1), 1))
                if last not in (-1, count):
                    text = f"the layer {layer.name!r} goes along axis {last}; only the last one can be written."
                    raise PilotError(text)
            if layer.inner is None:
                tensors[layer.name] = add_layer(graph, layer, sources)
            else:
                inner = replace(layer.inner, weights=layer.weights)
                tensors[layer.name] = _add_to_each(graph, inner, sources[0], count)
    is_sorted = list(network.outputs) == sorted(network.outputs)
    for number, name in enumerate(network.outputs):
        shape = graph.get_shape(tensors[name])
        graph.outputs[name if is_sorted else f"{number:02}_{name}"] = graph.reshape(
            tensors[name], shape if shape[0] == 1 else (1, *shape)
        )
    return graph


def _add_to_each(graph: TfliteGraph, layer: Layer, source: int, count: int) -> int:
    """Add what `TimeDistributed` holds behind a tensor of `count` axes, without the batch."""
    if count == 3 and layer.class_name in ("Flatten", "Reshape", "Permute"):  # the rows of a picture are the sequence
        source = graph.reshape(source, graph.get_shape(source)[1:])
    made = add_layer(graph, layer, [source], keeps_rows=True)
    shape = graph.get_shape(made)
    return graph.reshape(made, (1, *shape)) if len(shape) == 3 else made  # a picture again


_RANKS = {"Dense": 1, "Conv2D": 3, "Conv3D": 4}
"""Axes of what these give, without the batch."""


def fuse_layers(network: Network) -> Network:
    """Return a network that says the same, with batch normalisations and activations in the layers before them.

    Outputs keep their layers, and so their names.
    """
    users = Counter(source for layer in network.layers for source in layer.sources)
    users.update(2 * network.outputs)
    fused: dict[str, Layer] = {}
    place: dict[str, str] = {}
    for layer in network.layers:
        sources = tuple(place[source] for source in layer.sources)
        before = fused.get(sources[0]) if len(sources) == 1 else None
        together = None
        if before is not None and layer.name not in network.outputs and users[layer.sources[0]] == 1:
            together = _fuse(before, layer)
        if before is not None and together is not None:
            fused[before.name] = together
            place[layer.name] = before.name
        else:
            fused[layer.name] = replace(layer, sources=sources)
            place[layer.name] = layer.name
    return replace(network, layers=tuple(fused.values()))


def _fuse(before: Layer, layer: Layer) -> Layer | None:
    """Return two layers as one; None where they must stay two."""
    if layer.class_name in ("Dropout", "SpatialDropout2D"):
        return before
    if before.class_name not in _RANKS or before.settings.get("activation", "linear") != "linear":
        return None
    if layer.class_name == "Activation":
        return replace(before, settings={**before.settings, "activation": layer.settings["activation"]})
    if layer.class_name != "BatchNormalization" or not before.weights:
        return None
    kernel, *bias = before.weights
    count = kernel.shape[-1]
    try:
        factor, shift = fold_normalization(layer, (*[0] * (_RANKS[before.class_name] - 1), count))
    except PilotError:  # over another axis; whatever writes the layer says so
        return None
    moved = (bias[0] if bias else np.zeros(count, dtype=np.float32)) * factor + shift
    return replace(before, settings={**before.settings, "use_bias": True}, weights=(kernel * factor, moved))
