"""The `hard_sigmoid` of Keras 2 as that of Keras 3: one name for clip(x / 5 + 1/2) before and clip(x / 6 + 1/2) now.

The gates of an LSTM had it up to Keras 2.2 and TensorFlow 1. A `Network` means the one of Keras 3: gates whose weights
are 6/5 as large say there what they said before, with no rounding beyond that of float32.
"""

from __future__ import annotations

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.network import Layer, Network

_FACTOR = 6.0 / 5.0


def read_gates(network: Network, keras_version: str) -> Network:
    """Return a network, with weights, as it came from a file of a version of Keras ("2.2.4-tf"), in Keras 3's terms.

    Raises:
        PilotError: It has hard_sigmoid elsewhere than at the gates of an LSTM.
    """
    return network if keras_version.startswith("3.") else _scale(network, _FACTOR)


def write_gates(network: Network) -> Network:
    """Return a network as a file of Keras 2 must have it.

    Raises:
        PilotError: It has hard_sigmoid elsewhere than at the gates of an LSTM.
    """
    return _scale(network, 1.0 / _FACTOR)


def _scale(network: Network, factor: float) -> Network:
    return network.fill(lambda layer: _scale_layer(layer, factor))


def _scale_layer(layer: Layer, factor: float) -> tuple[Float32Array, ...]:
    settings = (layer.inner or layer).settings
    if "hard_sigmoid" not in settings.values():
        return layer.weights
    if layer.class_name != "LSTM" or settings.get("activation") == "hard_sigmoid":
        raise PilotError(
            f"the layer {layer.name!r} has the activation hard_sigmoid, which Keras 2 and 3 compute differently; only "
            "the gates of an LSTM can have it (recurrent_activation)."
        )
    return tuple(_scale_gates(weight, factor) for weight in layer.weights)


def _scale_gates(weight: Float32Array, factor: float) -> Float32Array:
    """Scale the gates in a weight, shape [..., 4 * units]: in, forget and out, but not the cell's input, the third."""
    factors = np.array([factor, factor, 1.0, factor], dtype=np.float32)[:, np.newaxis]
    gates: Float32Array = weight.reshape(*weight.shape[:-1], 4, -1) * factors
    return gates.reshape(weight.shape)
