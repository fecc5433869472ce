"""`.h5` files in the layout of Keras 2, which the original's TensorFlow 2.15 loads, and `.keras` files.

The latter are a zip of description and weights: written by Keras 3, read from Keras 3 and TensorFlow 2. h5py alone is
needed.

h5py writes an attribute of the file itself into the root group's object header, and its text into a global heap: a
collection of objects, each with its size. Where such a size is damaged, HDF5 steps on by nothing for ever, and not even
Ctrl-C ends it; so whoever opens a file with h5py calls `check_heaps` first: a damaged pilot is then one sentence
instead of a process that has to be killed. `read_root_text` spares the shelf of pilots, which asks every file for its
places, the import of h5py. Known is what h5py writes by default (superblock 0, object header 1).
"""

import io
import itertools
import json
import re
import struct
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from donkeysim.core.errors import PilotError, import_extra
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.header import (
    HEADER_KEY,
    PART_MOST,
    PilotHeader,
    check_own_data,
    read_header,
    read_part,
    read_weight,
    write_header,
)
from donkeysim.learn.files.layer_config import MODELS, get_name, read_gates, read_model_config, write_gates
from donkeysim.learn.files.network import Layer, Network, split_ways

_KERAS_VERSION = "2.15.0"

_WEIGHT_NAMES = {
    "BatchNormalization": ("gamma", "beta", "moving_mean", "moving_variance"),
    "LayerNormalization": ("gamma", "beta"),
    "LSTM": ("lstm_cell/kernel", "lstm_cell/recurrent_kernel", "lstm_cell/bias"),
    "SimpleRNN": ("simple_rnn_cell/kernel", "simple_rnn_cell/recurrent_kernel", "simple_rnn_cell/bias"),
    "GRU": ("gru_cell/kernel", "gru_cell/recurrent_kernel", "gru_cell/bias"),
}
"""Names of weights of a class of layers; kernel and bias for all others."""

_SIGNATURE = b"\x89HDF\r\n\x1a\n\x00"
"""With the superblock's version."""

_HEAP = b"GCOL\x01\x00\x00\x00"

_HEAP_HEAD = 16
"""Of a collection, and of each of its objects [byte]."""

_ATTRIBUTE, _CONTINUATION = 0x0C, 0x10
"""Types of messages in an object header."""

_TEXT, _VARIABLE = 3, 9
"""Classes of datatypes."""

_MOST_BLOCKS = 64
"""Of an object header."""

_HEADER_NAME = f"{HEADER_KEY}.json"


def write_h5(network: Network, path: Path, header: PilotHeader) -> None:
    """Write a network; the file at `path` is overwritten."""
    h5py = import_extra("h5py", "reading and writing .h5 and .keras needs h5py")
    content = io.BytesIO()  # HDF5 cannot say in a word why a disk does not take its bytes
    with h5py.File(content, "w") as file:
        file.attrs["keras_version"] = _KERAS_VERSION
        file.attrs["backend"] = "tensorflow"
        file.attrs["model_config"] = json.dumps(_write_model_config(network))
        file.attrs[HEADER_KEY] = write_header(header)
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = np.array([layer.name.encode() for layer in network.layers])
        group.attrs["backend"] = b"tensorflow"
        group.attrs["keras_version"] = _KERAS_VERSION.encode()
        for layer in write_gates(network).layers:
            _write_weights(group.create_group(layer.name), layer)
    path.write_bytes(content.getvalue())


def _write_model_config(network: Network) -> dict[str, Any]:
    """Return a network's description in the form of Keras 2.15."""
    return {
        "class_name": "Functional",
        "config": {
            "name": network.name,
            "trainable": True,
            "layers": [_describe_layer(layer) for layer in network.layers],
            "input_layers": [[name, 0, 0] for name in network.inputs],
            "output_layers": [[name, 0, 0] for name in network.outputs],
        },
    }


def _describe_layer(layer: Layer) -> dict[str, Any]:
    nodes = [[[source, 0, 0, {}] for source in layer.sources]] if layer.sources else []
    return {**_describe_class(layer), "name": layer.name, "inbound_nodes": nodes}


def _describe_class(layer: Layer) -> dict[str, Any]:
    config: dict[str, Any] = {"name": layer.name, "trainable": True, "dtype": "float32"}
    if "merge_mode" in layer.settings:
        held = replace(split_ways(layer)[0], name=f"{layer.name}_held")
        config |= {"layer": _describe_class(held), "merge_mode": layer.settings["merge_mode"]}
        return {"class_name": "Bidirectional", "config": config}
    if layer.class_name == "InputLayer":
        config = {"batch_input_shape": [None, *layer.settings["shape"]], "dtype": "float32", "sparse": False}
        config |= {"ragged": False, "name": layer.name}
    elif layer.inner is not None:
        config["layer"] = _describe_class(layer.inner)
    else:
        config |= {key: _unpack(value) for key, value in layer.settings.items()}
    return {"class_name": layer.class_name, "config": config}


def _unpack(value: Any) -> Any:
    return [_unpack(item) for item in value] if isinstance(value, list | tuple) else value


def _write_weights(group: Any, layer: Layer) -> None:
    class_name = layer.inner.class_name if layer.inner else layer.class_name
    stems = _WEIGHT_NAMES.get(class_name, ("kernel", "bias"))
    ways = ("forward_", "backward_") if "merge_mode" in (layer.inner or layer).settings else ("",)
    stems = tuple(f"{way}{stem}" for way in ways for stem in stems[: len(layer.weights) // len(ways)])
    names = [f"{layer.name}/{stem}:0" for stem in stems]
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
            version = _read_text(file.attrs.get("keras_version", _KERAS_VERSION))
            return read_gates(network, version, header is not None), header
    except PilotError as error:
        raise PilotError(f"{path}: {error}") from error
    except (OSError, AttributeError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise PilotError(f"{path} is not an .h5 file of Keras, or is broken: {error}.") from error


def _read_layer(group: Any, layer: Layer) -> tuple[Float32Array, ...]:
    holder = layer.path[0][1] if layer.path else layer.name
    if holder not in group:
        return ()
    own = group[holder]
    names = [_read_text(name) for name in own.attrs.get("weight_names", ())]
    if len(layer.path) > 1:
        inner, last = "/".join(name for _, name in layer.path[1:]), layer.path[-1][1]
        with_models = [name for name in names if name.startswith(f"{inner}/")]
        found = with_models or [name for name in names if f"/{last}/" in f"/{name}"]  # Keras 2 leaves them out
        names = [name for name in found if f"/{name}".rpartition("/")[0].endswith(f"/{last}")] or found
    return tuple(read_weight(own[name]) for name in names)


def _read_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def read_root_text(file: BinaryIO, key: str) -> bytes | None:
    """Return an attribute of the file itself; None where it has no such text, or is laid out in another way.

    Raises:
        ValueError: The file is broken.
    """
    head = _read_at(file, 0, 96)
    if not head.startswith(_SIGNATURE) or head[13:15] != b"\x08\x08":
        return None
    (root,) = struct.unpack_from("<Q", head, 64)
    for kind, content in _iterate_messages(file, root):
        if kind == _ATTRIBUTE:
            name, text = _read_attribute(file, content)
            if name == key.encode():
                return text
    return None


def check_heaps(content: bytes) -> None:
    """Refuse a file in whose heaps HDF5 would get lost.

    Raises:
        PilotError: A heap is broken.
    """
    at = content.find(_HEAP)
    while at >= 0:
        try:
            size = struct.unpack_from("<Q", content, at + 8)[0]
            for _ in _iterate_objects(content[at : at + min(size, len(content))]):
                pass
        except (ValueError, struct.error) as error:
            raise PilotError(f"it is broken at byte {at}: {error}.") from error
        at = content.find(_HEAP, at + 8)


def _iterate_messages(file: BinaryIO, root: int) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of the messages in an object header."""
    head = _read_at(file, root, 16)
    if head[0] != 1:
        return
    blocks = [(root + 16, struct.unpack_from("<I", head, 8)[0])]
    for _ in range(_MOST_BLOCKS):
        if not blocks:
            return
        begin, size = blocks.pop(0)
        block, at = _read_at(file, begin, size), 0
        while at + 8 <= size:
            kind, length = struct.unpack_from("<HH", block, at)
            message = block[at + 8 : at + 8 + length]
            if kind == _CONTINUATION and length >= 16:
                blocks.append(struct.unpack_from("<QQ", message))
            yield kind, message
            at += 8 + length


def _read_attribute(file: BinaryIO, message: bytes) -> tuple[bytes, bytes | None]:
    """Return an attribute's name, and its value where that is one text."""
    version, *sizes = struct.unpack_from("<BxHHH", message.ljust(8))
    at, parts = (9 if version == 3 else 8), []
    for size in sizes:
        parts.append(message[at : at + size])
        at += -(-size // 8) * 8 if version == 1 else size
    name, kind, _ = parts
    if kind[:1] and kind[0] & 15 == _TEXT:
        return name.rstrip(b"\0"), message[at:].rstrip(b"\0")
    if kind[:1] and kind[0] & 15 == _VARIABLE and len(message) >= at + 16:
        return name.rstrip(b"\0"), _read_object(file, *struct.unpack_from("<IQI", message, at))
    return name.rstrip(b"\0"), None


def _read_object(file: BinaryIO, length: int, heap: int, number: int) -> bytes | None:
    """Return a text from a heap."""
    head = _read_at(file, heap, _HEAP_HEAD)
    if not head.startswith(_HEAP):
        raise ValueError("it has no heap where a text should be")
    content = _read_at(file, heap, struct.unpack_from("<Q", head, 8)[0])
    return next((text[:length] for index, text in _iterate_objects(content) if index == number), None)


def _iterate_objects(heap: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of a heap's objects; 0 is the room that is left.

    Raises:
        ValueError: An object has a size that it cannot have.
    """
    at = _HEAP_HEAD
    while at + _HEAP_HEAD <= len(heap):
        number, size = struct.unpack_from("<H6xQ", heap, at)
        step = size if number == 0 else _HEAP_HEAD + -(-size // 8) * 8
        if not _HEAP_HEAD <= step <= len(heap) - at:
            raise ValueError(f"an object of its heap has {size} bytes")
        yield number, heap[at + _HEAP_HEAD : at + _HEAP_HEAD + size]
        at += step


def _read_at(file: BinaryIO, begin: int, size: int) -> bytes:
    if size > PART_MOST or begin >= 1 << 63:
        raise ValueError("it says of a part that it is larger than a pilot's")
    file.seek(begin)
    content = file.read(size)
    if len(content) < size:
        raise ValueError("it ends too soon")
    return content


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
            config = json.loads(read_part(archive, "config.json"))
            network, folders = read_model_config(config), _find_folders(config)
            version = str(json.loads(read_part(archive, "metadata.json"))["keras_version"])
            weights = read_part(archive, "model.weights.h5")
        check_heaps(weights)
        with h5py.File(io.BytesIO(weights), "r") as file:
            check_own_data(file)
            filled = network.fill(
                lambda layer: _read_zipped_layer(file, folders[tuple(name for _, name in layer.path) or (layer.name,)])
            )
            return read_gates(filled, version, header is not None), header
    except PilotError as error:
        raise PilotError(f"{path}: {error}") from error
    except (OSError, AttributeError, KeyError, ValueError, TypeError, RuntimeError, zipfile.BadZipFile) as error:
        raise PilotError(f"{path} is not a .keras file, or is broken: {error}.") from error


def _find_folders(model: Mapping[str, Any], above: str = "layers") -> dict[tuple[str, ...], str]:
    """Return where the weights of layers lie, by the names of the models that they are in and their own.

    That is under their class in small letters and a number, counted in the order of the description.
    """
    counts: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)
    folders: dict[tuple[str, ...], str] = {}
    for entry in model["config"]["layers"]:
        name, stem = get_name(entry), _name_group(entry["class_name"])
        number = next(counts[stem])
        folders[name,] = folder = f"{above}/{stem}_{number}" if number else f"{above}/{stem}"
        is_repeated = entry["class_name"] == "TimeDistributed"
        held = entry["config"]["layer"] if is_repeated else entry
        if held["class_name"] in MODELS:
            inner = _find_folders(held, f"{folder}/layer/layers" if is_repeated else f"{folder}/layers")
            folders |= {(name, *names): place for names, place in inner.items()}
    return folders


def _read_zipped_layer(group: Any, name: str) -> tuple[Float32Array, ...]:
    if name not in group:
        return ()
    own = group[name]
    parts = [part for part in ("layer", "cell", "forward_layer", "backward_layer") if part in own]
    if parts:
        return tuple(weight for part in parts for weight in _read_zipped_layer(own, part))
    variables = own.get("vars", {})
    return tuple(read_weight(variables[key]) for key in sorted(variables, key=int))


def _name_group(class_name: str) -> str:
    words = re.sub(r"\W+", "", class_name)
    words = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", words)
    return re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
