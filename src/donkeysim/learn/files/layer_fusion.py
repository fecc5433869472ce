"""Layers that need not be apart once a network is trained, drawn together: it rounds less then, and runs faster."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.learn.files.layer_shapes import fold_normalization
from donkeysim.learn.files.network import Layer, Network

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
    except PilotError:  # over another axis; who writes the layer says so
        return None
    moved = (bias[0] if bias else np.zeros(count, dtype=np.float32)) * factor + shift
    return replace(before, settings={**before.settings, "use_bias": True}, weights=(kernel * factor, moved))
