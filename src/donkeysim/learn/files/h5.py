"""`.h5` files in the layout of Keras 2, which the original's TensorFlow 2.15 loads; h5py alone is needed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.extras import import_extra
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.h5_texts import check_heaps
from donkeysim.learn.files.hard_sigmoid import read_gates, write_gates
from donkeysim.learn.files.header import HEADER_KEY, PilotHeader, read_header, write_header
from donkeysim.learn.files.layer_config import read_model_config, write_model_config
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.files.parts import check_own_data, read_weight

_KERAS_VERSION = "2.15.0"

_WEIGHT_NAMES = {
    "BatchNormalization": ("gamma", "beta", "moving_mean", "moving_variance"),
    "LSTM": ("lstm_cell/kernel", "lstm_cell/recurrent_kernel", "lstm_cell/bias"),
}
"""Names of weights of a class of layers; kernel and bias for all others."""


def write_h5(network: Network, path: Path, header: PilotHeader) -> None:
    """Write a network; the file at `path` is overwritten."""
    h5py = import_extra("h5py", "reading and writing .h5 and .keras needs h5py")
    content = io.BytesIO()  # HDF5 cannot say in a word why a disk does not take its bytes
    with h5py.File(content, "w") as file:
        file.attrs["keras_version"] = _KERAS_VERSION
        file.attrs["backend"] = "tensorflow"
        file.attrs["model_config"] = json.dumps(write_model_config(network))
        file.attrs[HEADER_KEY] = write_header(header)
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = np.array([layer.name.encode() for layer in network.layers])
        group.attrs["backend"] = b"tensorflow"
        group.attrs["keras_version"] = _KERAS_VERSION.encode()
        for layer in write_gates(network).layers:
            _write_weights(group.create_group(layer.name), layer)
    path.write_bytes(content.getvalue())


def _write_weights(group: Any, layer: Layer) -> None:
    class_name = layer.inner.class_name if layer.inner else layer.class_name
    stems = _WEIGHT_NAMES.get(class_name, ("kernel", "bias"))
    names = [f"{layer.name}/{stem}:0" for stem in stems[: len(layer.weights)]]
    group.attrs["weight_names"] = np.array([name.encode() for name in names], dtype="S" if names else "f8")
    for name, weight in zip(names, layer.weights, strict=True):
        group.create_dataset(name, data=np.asarray(weight, dtype=np.float32))


def read_h5(path: Path) -> tuple[Network, PilotHeader | None]:
    """Return the network in a file of Keras 2 (or 3), ours or the original's, and its header if it is ours.

    Raises:
        PilotError: Not such a file, or one that holds weights only, or layers that pilots cannot have.
    """
    h5py = import_extra("h5py", "reading and writing .h5 and .keras needs h5py")
    try:
        check_heaps(path.read_bytes())
        with h5py.File(path, "r") as file:
            check_own_data(file)
            header = read_header(file.attrs.get(HEADER_KEY))
            described = file.attrs.get("model_config")
            if described is None:
                raise PilotError("it holds no description of the network (weights only?); save the whole model as .h5.")
            group = file.get("model_weights", file)
            network = read_model_config(json.loads(described)).fill(lambda layer: _read_layer(group, layer))
            return read_gates(network, _read_text(file.attrs.get("keras_version", _KERAS_VERSION))), header
    except PilotError as error:
        raise PilotError(f"{path}: {error}") from error
    except (OSError, AttributeError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise PilotError(f"{path} is not an .h5 file of Keras, or is broken: {error}.") from error


def _read_layer(group: Any, layer: Layer) -> tuple[Float32Array, ...]:
    if layer.name not in group:
        return ()
    own = group[layer.name]
    names = own.attrs.get("weight_names", ())
    return tuple(read_weight(own[_read_text(name)]) for name in names)


def _read_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
