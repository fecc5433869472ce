"""Pilots' files by their ending: what is written, what is read, and a sentence for each that is neither."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from donkeysim.core.errors import PilotError
from donkeysim.core.files import POINTER, POINTER_ADVICE, replace_file
from donkeysim.learn.backend import import_keras
from donkeysim.learn.files.header import PilotHeader, make_header
from donkeysim.learn.files.layer_config import read_model_config
from donkeysim.learn.files.layer_shapes import express_layers
from donkeysim.learn.files.network import Layer, Network, split_ways

FINISHED_ENDINGS = (".onnx", ".tflite")
"""Of files with graphs that drive, without the layers of Keras."""

ENDINGS = (".h5", ".keras", *FINISHED_ENDINGS)

MOST_NAMED = 12
"""Pilots that are named where one is missing; the others are counted."""

CONVERSIONS = {
    ".savedmodel": "python -m tf2onnx.convert --saved-model {path} --output {base}.onnx",
    ".trt": "a TensorRT engine runs on its own GPU only; give the .h5 that it was made from",
    ".pth": "in PyTorch: torch.onnx.export(model, picture, '{base}.onnx'), for donkeycar's as docs/pilots.md says",
    ".pt": "in PyTorch: torch.onnx.export(model, picture, '{base}.onnx')",
    ".pb": "python -m tf2onnx.convert --graphdef {path} --inputs IN:0 --outputs OUT:0 --output {base}.onnx",
    ".pkl": "in fastai: torch.onnx.export(learner.model, picture, '{base}.onnx')",
    ".ckpt": "in PyTorch: torch.onnx.export(model, picture, '{base}.onnx'), for donkeycar's as docs/pilots.md says",
    ".zip": "unpack it, or, if it is a policy of Stable-Baselines3, export it: From other formats in docs/pilots.md",
    ".json": "in the original: load it with its weights and save all as one file, model.save('{base}.h5')",
    ".weights": "in the original: load it with its .json and save all as one file, model.save('{base}.h5')",
}
"""Endings of pilots that must be converted first, and how."""

_INSTEAD = {
    POINTER: POINTER_ADVICE,
    b"<!doctype html": "is a web page; download the pilot itself, on GitHub by 'Download raw file'",
    b"<html": "is a web page; download the pilot itself, on GitHub by 'Download raw file'",
}
"""What files begin with that were downloaded in place of a pilot, and what each of them is."""


def check_ending(path: Path) -> str:
    """Return the ending of a pilot's file in lower case, whatever its name, where its content tells.

    Raises:
        PilotError: Another ending; the sentence says how to convert what other programs write.
    """
    path = path.absolute().parent if path.name == "saved_model.pb" else path
    ending = ".savedmodel" if (path / "saved_model.pb").is_file() else path.suffix.lower()
    if content := _find_content(path, ending):  # donkeycar 2 wrote pilots without an ending, other programs .hdf5
        return content
    if ending in ENDINGS:
        return ending
    if ending in CONVERSIONS:
        way = CONVERSIONS[ending].format(path=path, base=path.with_suffix(""))
        same = [path.with_suffix(ending) for ending in ENDINGS if path.with_suffix(ending).is_file()]
        beside = f"or take {' or '.join(map(str, same))}, which lies beside it and has its name" if same else ""
        raise PilotError(f"{path} must be converted first; {beside or way}.")
    raise PilotError(f"{path} is not a pilot's file; they end in {', '.join(ENDINGS)}.")


def _find_content(path: Path, ending: str) -> str | None:
    """Return the ending that fits what is in a file; None where that is not known.

    Raises:
        PilotError: It is called like a pilot, but holds what was downloaded in its place.
    """
    try:
        with path.open("rb") as file:
            head = file.read(64)
            if head[4:8] == b"TFL3" or head.startswith(b"\x89HDF\r\n\x1a\n"):
                return ".tflite" if head[4:8] == b"TFL3" else ".h5"
            if head.startswith(b"PK") and {"config.json", "metadata.json"} <= set(zipfile.ZipFile(file).namelist()):
                return ".keras"
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return None
    if ending in ENDINGS:
        if not head:
            raise PilotError(f"{path} is empty; copy or download it again.")
        for begin, what in _INSTEAD.items():
            if head.lstrip().lower().startswith(begin):
                raise PilotError(f"{path} {what}.")
    return None


def save_model(
    model: Any, path: Path | str, kind: str, config: object, places: Sequence[str] = (), cars: Sequence[str] = ()
) -> None:
    """Write a `keras.Model` in the form that the ending of the path names; whole or not at all.

    Args:
        model: What `build_model` made, trained.
        path: Where to; folders are made, an earlier file is replaced.
        kind: One of `learn.kinds.KINDS`.
        config: The car's configuration, for what the file says about itself.
        places: Where it was trained, for the same.
        cars: What it was trained to drive, for the same.

    Raises:
        PilotError: Another ending, a place that cannot be written, or a layer that the ending cannot hold.
    """
    path = Path(path)
    ending = path.suffix.lower() if path.suffix.lower() in ENDINGS else check_ending(path)
    header = make_header(kind, config, places, cars)
    with replace_file(path, PilotError) as beside:
        if ending == ".keras":
            from donkeysim.learn.files.keras_files import write_keras

            write_keras(model, beside, header)
        elif ending == ".h5":
            from donkeysim.learn.files.keras_files import write_h5

            write_h5(describe_model(model), beside, header)
        elif ending == ".tflite":
            from donkeysim.learn.files.tflite_writer import make_tflite

            beside.write_bytes(make_tflite(describe_model(model), header))
        else:
            from donkeysim.learn.files.onnx_writer import make_onnx

            beside.write_bytes(make_onnx(describe_model(model), header))


def load_model(path: Path | str) -> Any:
    """Return the `keras.Model` in an `.h5` or `.keras` file, to train it further or to look into its layers.

    Raises:
        PilotError: There is no such file, it is broken, or its ending is of files that hold no Keras layers.
        DonkeySimError: Keras is missing.
    """
    path = Path(path)
    network = read_layers(path)
    try:
        return make_model(network)
    except PilotError as error:
        raise PilotError(f"{path}: {error}") from error


def read_layers(path: Path) -> Network:
    """Return the network in an `.h5` or `.keras` file, of which more can be made than a run.

    Raises:
        PilotError: There is no such file, it is broken, or its ending is of files that hold no Keras layers.
    """
    return _read_unfinished(path)[0]


def _read_unfinished(path: Path) -> tuple[Network, PilotHeader | None]:
    if check_ending(path) in FINISHED_ENDINGS:
        raise PilotError(
            f"{path} holds a finished graph without the layers of Keras; give the .h5 or .keras file of the pilot."
        )
    return read_network(path)


def read_network(path: Path) -> tuple[Network, PilotHeader | None]:
    """Return the network in an `.h5` or `.keras` file, and its header if it is ours.

    Raises:
        PilotError: There is no such file, or it cannot be read.
    """
    check_exists(path)
    if check_ending(path) == ".keras":
        from donkeysim.learn.files.keras_files import read_keras

        return read_keras(path)
    from donkeysim.learn.files.keras_files import read_h5

    return read_h5(path)


def read_onnx(path: Path) -> bytes:
    """Return a pilot as ONNX, of an `.onnx` file as it is, of `.h5` and `.keras` made here.

    Raises:
        PilotError: There is no such file, it is broken or finished in another form, or has a layer that ONNX has not.
        DonkeySimError: The packages for that are missing.
    """
    if check_ending(path) == ".onnx":
        check_exists(path)
        return path.read_bytes()
    from donkeysim.learn.files.onnx_writer import make_onnx

    network, header = _read_unfinished(path)
    try:
        return make_onnx(network, header)
    except PilotError as error:
        raise PilotError(f"{path}: {error}") from error


def check_exists(path: Path) -> None:
    """Raise a PilotError that lists the pilots lying beside a path that does not exist."""
    if path.is_file():
        return
    beside = sorted(other.name for other in path.parent.glob("[!.]*") if other.suffix in ENDINGS)
    more = f" and {len(beside) - MOST_NAMED} more" if len(beside) > MOST_NAMED else ""
    found = (
        f"in {path.parent} there are: {', '.join(beside[:MOST_NAMED])}{more}"
        if beside
        else f"no other pilot lies in {path.parent.absolute()}"
    )
    raise PilotError(f"there is no pilot {path}; {found}.")


def describe_model(model: Any) -> Network:
    """Return a `keras.Model` as plain data, weights copied.

    Raises:
        PilotError: It has a layer that pilots' files cannot hold.
    """
    network = read_model_config(json.loads(model.to_json()))

    def find(layer: Layer) -> Any:
        holder = model
        for name in [name for _, name in layer.path] or [layer.name]:
            holder = getattr(holder, "layer", holder).get_layer(name)
        return holder

    return express_layers(network.fill(lambda layer: find(layer).get_weights() if layer.sources else ()))


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
    if "merge_mode" in layer.settings:
        forward, mode = split_ways(layer)[0], layer.settings["merge_mode"]
        return keras.layers.Bidirectional(_make_layer(keras, forward), merge_mode=mode, name=layer.name)
    settings = {key: _unlist(value) for key, value in layer.settings.items()}
    if layer.class_name == "BatchNormalization" and isinstance(settings.get("axis"), tuple):
        settings["axis"] = settings["axis"][0]
    return getattr(keras.layers, layer.class_name)(name=layer.name, **settings)


def _unlist(value: Any) -> Any:
    return tuple(map(_unlist, value)) if isinstance(value, list | tuple) else value
