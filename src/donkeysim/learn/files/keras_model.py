"""Between a `keras.Model` and the plain `Network` that the file formats share."""

from __future__ import annotations

import json
from typing import Any

from donkeysim.core.errors import PilotError
from donkeysim.learn.backend import import_keras
from donkeysim.learn.files.layer_config import read_model_config
from donkeysim.learn.files.network import Layer, Network


def describe_model(model: Any) -> Network:
    """Return a `keras.Model` as plain data, weights copied.

    Raises:
        PilotError: It has a layer that pilots' files cannot hold.
    """
    network = read_model_config(json.loads(model.to_json()))
    return network.fill(lambda layer: model.get_layer(layer.name).get_weights())


def make_model(network: Network) -> Any:
    """Return a network as a `keras.Model` that can be trained further.

    Raises:
        PilotError: The weights do not fit the layers: the file is broken.
        DonkeySimError: Keras is missing.
    """
    keras = import_keras()
    tensors: dict[str, Any] = {}
    for layer in network.layers:
        sources = [tensors[name] for name in layer.sources]
        try:
            tensors[layer.name] = _add_layer(keras, layer, sources)
        except (ValueError, TypeError) as error:
            raise PilotError(f"the layer {layer.name!r} cannot be made: {str(error).splitlines()[0]}") from error
    return keras.Model(
        inputs=[tensors[name] for name in network.inputs],
        outputs=[tensors[name] for name in network.outputs],
        name=network.name,
    )


def _add_layer(keras: Any, layer: Layer, sources: list[Any]) -> Any:
    """Make one layer, call it on its sources, fill in its weights; returns its output."""
    if layer.class_name == "InputLayer":
        return keras.layers.Input(shape=layer.settings["shape"], name=layer.name)
    made = _make_layer(keras, layer)
    output = made(sources[0] if len(sources) == 1 else sources)
    made.set_weights(list(layer.weights))
    return output


def _make_layer(keras: Any, layer: Layer) -> Any:
    if layer.inner is not None:
        return keras.layers.TimeDistributed(_make_layer(keras, layer.inner), name=layer.name)
    settings = {key: _unlist(value) for key, value in layer.settings.items()}
    if layer.class_name == "BatchNormalization" and isinstance(settings.get("axis"), tuple):
        settings["axis"] = settings["axis"][0]
    return getattr(keras.layers, layer.class_name)(name=layer.name, **settings)


def _unlist(value: Any) -> Any:
    return tuple(map(_unlist, value)) if isinstance(value, list | tuple) else value
