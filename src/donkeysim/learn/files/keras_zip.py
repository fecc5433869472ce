"""`.keras` files, a zip of description and weights: written by Keras 3, read from Keras 3 and TensorFlow 2.15."""

from __future__ import annotations

import io
import itertools
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from donkeysim.core.errors import PilotError
from donkeysim.core.extras import import_extra
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.h5 import check_heaps
from donkeysim.learn.files.header import HEADER_KEY, PilotHeader, read_header, write_header
from donkeysim.learn.files.layer_config import read_gates, read_model_config
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.files.parts import check_own_data, read_part, read_weight

_HEADER_NAME = f"{HEADER_KEY}.json"


def write_keras(model: Any, path: Path, header: PilotHeader) -> None:
    """Write a `keras.Model`; the file at `path` is overwritten."""
    model.save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(_HEADER_NAME, write_header(header))


def read_keras(path: Path) -> tuple[Network, PilotHeader | None]:
    """Return the network in a `.keras` file, and its header if it is ours.

    Raises:
        PilotError: Not such a file, or layers that pilots cannot have.
    """
    h5py = import_extra("h5py", "reading and writing .h5 and .keras needs h5py")
    try:
        with zipfile.ZipFile(path) as archive:
            text = read_part(archive, _HEADER_NAME) if _HEADER_NAME in archive.namelist() else None
            header = read_header(text)
            network = read_model_config(json.loads(read_part(archive, "config.json")))
            version = str(json.loads(read_part(archive, "metadata.json"))["keras_version"])
            weights = read_part(archive, "model.weights.h5")
        check_heaps(weights)
        with h5py.File(io.BytesIO(weights), "r") as file:
            check_own_data(file)
            return read_gates(_read_weights(network, file["layers"]), version), header
    except PilotError as error:
        raise PilotError(f"{path}: {error}") from error
    except (OSError, AttributeError, KeyError, ValueError, TypeError, RuntimeError, zipfile.BadZipFile) as error:
        raise PilotError(f"{path} is not a .keras file, or is broken: {error}.") from error


def _read_weights(network: Network, group: Any) -> Network:
    """Layers lie under their class in small letters and a number, counted in the order of the description."""
    counts: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)

    def find_weights(layer: Layer) -> tuple[Float32Array, ...]:
        stem = _name_group(layer)
        number = next(counts[stem])
        return _read_layer(group, f"{stem}_{number}" if number else stem)

    return network.fill(find_weights)


def _read_layer(group: Any, name: str) -> tuple[Float32Array, ...]:
    if name not in group:
        return ()
    own = group[name]
    holder = next((own[part] for part in ("layer", "cell") if part in own), own)
    variables = holder.get("vars", {})
    return tuple(read_weight(variables[key]) for key in sorted(variables, key=int))


def _name_group(layer: Layer) -> str:
    words = re.sub(r"\W+", "", layer.class_name)
    words = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", words)
    return re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
