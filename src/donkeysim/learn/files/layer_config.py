"""The description of a network as Keras writes it in JSON: read in the forms of Keras 2 and 3, written in that of 2.

The `hard_sigmoid` of Keras 2 is clip(x / 5 + 1/2), that of Keras 3 clip(x / 6 + 1/2). The gates of an LSTM had the
former up to Keras 2.2 and TensorFlow 1. A `Network` means the one of Keras 3: gates whose weights are 6/5 as large say
there what they said before, with no rounding beyond that of float32.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.layer_shapes import clean_name, count_axes, express_layers, repeat_layer
from donkeysim.learn.files.network import EXPRESSED_SETTINGS, Layer, Network, pick_settings, sort_layers

_OLD_NAMES = {"Convolution2D": "Conv2D", "Convolution3D": "Conv3D", "Merge": "Concatenate"}

MODELS = ("Functional", "Model", "Sequential")
"""Classes of models, which may be layers of others."""

_OPERATORS = ("TFOpLambda", "TensorFlowOpLayer")
"""Of Keras 2; those of Keras 3 have classes of their own."""

_FACTOR = 6.0 / 5.0

_PICTURE_OUTPUT = "img_out"
"""Of the original's pilots of the type latent: the picture drawn again, which only training looks at."""


_UNSCALED = ("Cropping2D", "ZeroPadding2D", "Resizing", "MaxPooling2D", "AveragePooling2D", "Dropout", "Flatten")
"""Layers that give 255 times as much where they take 255 times as much."""


def read_model_config(config: Mapping[str, Any]) -> Network:
    """Return the network that a model's JSON describes, without weights.

    Raises:
        PilotError: Not a network that pilots can be, or a broken description.
    """
    try:
        if config["class_name"] == "Sequential":
            return _read_sequential(config["config"])
        if config["class_name"] not in MODELS:
            raise PilotError(f"a model of the class {config['class_name']!r} cannot be read; it must be Functional.")
        return _read_functional(config["config"])
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise PilotError(f"the description of the network cannot be read ({error!r}); the file is broken.") from error


def _read_functional(config: Mapping[str, Any]) -> Network:
    names = _list_names(config["output_layers"])
    driving = [name for name in names if name != _PICTURE_OUTPUT] or names
    entries = {str(entry.get("name") or entry["config"]["name"]): entry for entry in config["layers"]}
    sources = {name: tuple(_find_sources(entry)) for name, entry in entries.items()}
    used = _find_used(sources, [*driving, *_list_names(config["input_layers"])]) if driving != names else entries
    layers, ends = _unfold([(entry, sources[name]) for name, entry in entries.items() if name in used])
    inputs = tuple(_list_names(config["input_layers"]))
    outputs = tuple(ends.get(name, name) for name in driving)
    ordered = sort_layers(layers)
    if missing := {*inputs, *outputs} - {layer.name for layer in ordered}:
        raise PilotError(f"the network has no layer {min(missing)!r}, which is among its ends; the file is broken.")
    return Network(str(config.get("name", "model")), ordered, inputs, outputs)


def _find_used(sources: Mapping[str, tuple[str, ...]], ends: list[str]) -> set[str]:
    """Return the names of layers that something depends on."""
    used: set[str] = set()
    waiting = [name for name in ends if name in sources]
    while waiting:
        used.add(name := waiting.pop())
        waiting += [source for source in sources[name] if source in sources and source not in used]
    return used


def _read_sequential(config: Any) -> Network:
    """A stack of layers; the first may carry the shape of the input itself, as before Keras 2.3."""
    entries = config["layers"] if isinstance(config, Mapping) else config
    layers: list[Layer] = []
    if entries[0]["class_name"] != "InputLayer":
        is_model = entries[0]["class_name"] in MODELS
        first = read_model_config(entries[0]).layers[0].settings if is_model else {}
        shape = first["shape"] if is_model else _read_shape(entries[0]["config"])
        layers.append(Layer("InputLayer", "img_in", {"shape": shape}, ()))
    end = tuple(layer.name for layer in layers)
    for entry in entries:
        more, ends = _unfold([(entry, end)])
        layers += more
        end = (next(iter(ends.values()), layers[-1].name),)
    name = config.get("name", "sequential") if isinstance(config, Mapping) else "sequential"
    return Network(str(name), tuple(layers), (layers[0].name,), end)


def _unfold(entries: list[tuple[Mapping[str, Any], tuple[str, ...]]]) -> tuple[list[Layer], dict[str, str]]:
    """Return the layers of a model, those of models within it in their place, and which layer ends each of these."""
    layers: list[Layer] = []
    ends: dict[str, str] = {}
    taken = {str(entry.get("name") or entry["config"]["name"]) for entry, _ in entries}
    for entry, sources in entries:
        is_repeated = entry["class_name"] == "TimeDistributed"
        held = entry["config"]["layer"] if is_repeated else entry
        if held["class_name"] not in MODELS:
            layers.append(_read_layer(entry, sources))
            continue
        model, name = read_model_config(held), str(entry.get("name") or entry["config"]["name"])
        if len(model.inputs) != 1 or len(model.outputs) != 1 or len(sources) != 1:
            raise PilotError(f"the model {name!r} within the network has several inputs or outputs; it must have one.")
        names = {layer.name: _find_name(f"{name}_{layer.name}", taken) for layer in model.layers}
        names[model.inputs[0]], axes = sources[0], count_axes(model)
        for layer in model.layers[1:]:
            path = ((str(entry["class_name"]), name), *(layer.path or ((layer.class_name, layer.name),)))
            came = tuple(names[source] for source in layer.sources)
            named = replace(layer, name=names[layer.name], sources=came, path=path)
            layers += _repeat(named, [axes[source] for source in layer.sources]) if is_repeated else [named]
        ends[name] = names[model.outputs[0]]
    return [replace(layer, sources=tuple(ends.get(name, name) for name in layer.sources)) for layer in layers], ends


def _repeat(layer: Layer, axes: list[int]) -> list[Layer]:
    """Return what does to every picture of a sequence what a layer does to one that takes tensors of so many axes.

    Raises:
        PilotError: It joins tensors that cannot be told apart in a sequence.
    """
    if len(axes) == 1:
        return [repeat_layer(layer)]
    if layer.class_name == "Concatenate":
        axis = int(layer.settings.get("axis", -1))
        axis = -1 if axis == axes[0] else axis + (axis > 0)
        return [replace(layer, settings={**layer.settings, "axis": axis})]
    spread, sources = [], list(layer.sources)
    for place, count in enumerate(axes):
        if 1 < count < max(axes):
            raise PilotError(f"the layer {layer.name!r} joins {count} axes with {max(axes)}; reshape what it takes.")
        if count < max(axes):  # as Keras does with what has fewer axes
            settings, name = {"target_shape": (*[1] * (max(axes) - 1), -1)}, f"{layer.name}_spread{place}"
            reshaped = replace(layer, class_name="Reshape", name=name, settings=settings, sources=(sources[place],))
            spread.append(repeat_layer(reshaped))
            sources[place] = name
    return [*spread, replace(layer, sources=tuple(sources))]


def _find_name(wanted: str, taken: set[str]) -> str:
    """Return a name that no layer has, and take it."""
    name = clean_name(wanted)
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _read_layer(entry: Mapping[str, Any], sources: tuple[str, ...]) -> Layer:
    class_name = _OLD_NAMES.get(entry["class_name"], entry["class_name"])
    config = entry["config"]
    name = str(entry.get("name") or config["name"])
    if class_name == "InputLayer":
        return Layer(class_name, name, {"shape": _read_shape(config)}, ())
    if class_name == "TimeDistributed":
        return Layer(class_name, name, {}, sources, inner=_read_layer(config["layer"], ()))
    if _is_operator(entry):
        return _read_operator(entry, name, sources)
    settings = pick_settings(class_name, config, name)
    return Layer(class_name, name, settings, sources)


def _read_shape(config: Mapping[str, Any]) -> tuple[int, ...]:
    """Shape of an input without the batch."""
    shape = config.get("batch_input_shape") or config["batch_shape"]
    if None in shape[1:]:
        raise PilotError(
            f"the network takes pictures of any size ({', '.join(map(str, shape[1:]))}); build it again for pictures "
            "of one, for example (120, 160, 3), load its weights into that, and save it."
        )
    return tuple(int(size) for size in shape[1:])


def _find_sources(entry: Mapping[str, Any]) -> Iterator[str]:
    """Names of the layers whose outputs a layer takes.

    Raises:
        PilotError: The layer is used more than once.
    """
    nodes = entry["inbound_nodes"]
    if len(nodes) > 1:
        raise PilotError(f"the layer {entry.get('name')!r} is used more than once, which pilots' files cannot hold.")
    for node in nodes:
        if _is_operator(entry):
            yield from (operand for operand in _list_operands(node) if isinstance(operand, str))
        else:
            yield from _find_tensors(node)


def _is_operator(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is an operation on tensors, as x / 127.5 - 1 makes two, and no layer."""
    is_new = any(isinstance(node, Mapping) for node in entry.get("inbound_nodes", ()))
    is_layer = "trainable" in entry["config"] if is_new else entry["class_name"] not in _OPERATORS
    return not is_layer


def _list_operands(node: Any) -> list[Any]:
    """Return what an operation takes, in order: names of layers, numbers and others."""
    if isinstance(node, Mapping):
        values = [*node["args"], *node.get("kwargs", {}).values()]
    elif isinstance(node[0], str):
        first = node[2] if node[0] == "_CONSTANT_VALUE" else node[:3]
        values = [first, *(value for key, value in node[3].items() if key == "y")]
    else:
        values = node
    operands: list[Any] = []
    for value in values:
        operands += [*_find_tensors(value)] or [value if isinstance(value, int | float) else None]
    return operands


def _read_operator(entry: Mapping[str, Any], name: str, sources: tuple[str, ...]) -> Layer:
    """Return the layer that says the same as an operation.

    Raises:
        PilotError: There is none.
    """
    config, (node,) = entry["config"], entry["inbound_nodes"]
    if (class_name := str(entry["class_name"])) in EXPRESSED_SETTINGS:
        return Layer(class_name, name, pick_settings(class_name, config, name), sources)
    function = str(config.get("function") or entry["class_name"]).rpartition(".")[2].lower()
    if "concat" in function or "concat" in name:
        return Layer("Concatenate", name, {"axis": _find_axis(config, node)}, sources)
    if function in ("relu", "sigmoid", "tanh"):
        return Layer("Activation", name, {"activation": function}, sources)
    operands = _list_operands(node)
    if len(operands) == len(sources) == 2 and function in ("add", "multiply"):
        return Layer(function.capitalize(), name, {}, sources)
    numbers = [operand for operand in operands if isinstance(operand, int | float)]
    if len(operands) == 2 and len(numbers) == len(sources) == 1:
        (number,), is_first = numbers, operands[0] is numbers[0]
        scales = {"add": 1.0, "subtract": -1.0 if is_first else 1.0, "multiply": number}
        if not is_first and number:
            scales |= {"truediv": 1.0 / number, "truedivide": 1.0 / number, "divide": 1.0 / number}
        if function in scales:
            offset = {"add": number, "subtract": number if is_first else -number}.get(function, 0.0)
            return Layer("Rescaling", name, {"scale": scales[function], "offset": offset}, sources)
    raise PilotError(
        f"the network computes {name!r} ({function}), which pilots here cannot; convert the file to .onnx where it was "
        "made (tf2onnx or torch.onnx.export) and give that."
    )


def _find_axis(config: Mapping[str, Any], node: Any) -> int:
    """Return the axis along which an operation joins; Keras 2 says it beside each tensor."""
    first = node if isinstance(node, Mapping) else node[0]
    beside = first.get("kwargs", {}) if isinstance(first, Mapping) else first[3] if len(first) == 4 else {}
    return int(config.get("axis", beside.get("axis", -1)))


def _find_tensors(node: Any) -> Iterator[str]:
    """Keras 3 says {"args": [tensors]}, Keras 2 a list [name, node, tensor, settings] per tensor, at any depth."""
    if isinstance(node, Mapping):
        if node.get("class_name") == "__keras_tensor__":
            yield str(node["config"]["keras_history"][0])
        else:
            for value in node.values():
                yield from _find_tensors(value)
    elif isinstance(node, list):
        if len(node) >= 3 and isinstance(node[0], str) and isinstance(node[1], int):
            yield node[0]
        else:
            for value in node:
                yield from _find_tensors(value)


def _list_names(ends: Any) -> list[str]:
    """Names out of [["a", 0, 0], ["b", 0, 0]], {"a": ["a", 0, 0], …} or, where there is one only, ["a", 0, 0]."""
    ends = list(ends.values()) if isinstance(ends, Mapping) else ends
    return [ends[0]] if isinstance(ends[0], str) else [end[0] for end in ends]


def write_model_config(network: Network) -> dict[str, Any]:
    """Return a network's description in the form of Keras 2.15."""
    return {
        "class_name": "Functional",
        "config": {
            "name": network.name,
            "trainable": True,
            "layers": [_write_layer(layer) for layer in network.layers],
            "input_layers": [[name, 0, 0] for name in network.inputs],
            "output_layers": [[name, 0, 0] for name in network.outputs],
        },
    }


def _write_layer(layer: Layer) -> dict[str, Any]:
    nodes = [[[source, 0, 0, {}] for source in layer.sources]] if layer.sources else []
    return {**_write_class(layer), "name": layer.name, "inbound_nodes": nodes}


def _write_class(layer: Layer) -> dict[str, Any]:
    config: dict[str, Any] = {"name": layer.name, "trainable": True, "dtype": "float32"}
    if layer.class_name == "InputLayer":
        config = {"batch_input_shape": [None, *layer.settings["shape"]], "dtype": "float32", "sparse": False}
        config |= {"ragged": False, "name": layer.name}
    elif layer.inner is not None:
        config["layer"] = _write_class(layer.inner)
    else:
        config |= {key: _write_value(value) for key, value in layer.settings.items()}
    return {"class_name": layer.class_name, "config": config}


def _write_value(value: Any) -> Any:
    return [_write_value(item) for item in value] if isinstance(value, list | tuple) else value


def read_gates(network: Network, keras_version: str) -> Network:
    """Return a network, with weights, as it came from a file of a version of Keras ("2.2.4-tf"), in Keras 3's terms.

    Raises:
        PilotError: It has hard_sigmoid elsewhere than at the gates of an LSTM or a GRU.
    """
    if _takes_bytes(network, keras_version):
        network = _scale_pictures(network)
    return express_layers(network if keras_version.startswith("3.") else _scale(network, _FACTOR))


def _takes_bytes(network: Network, keras_version: str) -> bool:
    """Return whether a pilot was trained on pictures from 0 to 255: as in donkeycar 2, which names its outputs so."""
    numbers = [int(number) for number in re.findall(r"\d+", keras_version)[:2]]
    is_old = numbers < [2, 3] and network.outputs == ("angle_out", "throttle_out")
    return is_old and network.find("throttle_out").settings.get("units") == 1


def _scale_pictures(network: Network) -> Network:
    """Return a network that takes pictures from 0 to 1 where another takes them from 0 to 255, layer by layer.

    Raises:
        PilotError: A layer that takes the picture has no factor that could be 255 times as large.
    """
    bytes_from, layers = {network.inputs[0]}, []
    for layer in network.layers:
        if bytes_from.isdisjoint(layer.sources):
            layers.append(layer)
        elif layer.class_name in ("Conv2D", "Dense") and layer.weights:
            kernel, *bias = layer.weights
            layers.append(replace(layer, weights=(kernel * np.float32(255.0), *bias)))
        elif layer.class_name == "Rescaling":
            scale = (np.asarray(layer.settings["scale"]) * 255.0).tolist()
            layers.append(replace(layer, settings={**layer.settings, "scale": scale}))
        elif layer.class_name in _UNSCALED:
            layers.append(layer)
            bytes_from.add(layer.name)
        else:
            raise PilotError(
                f"the layer {layer.name!r} takes pictures from 0 to 255, as pilots of donkeycar 2 do; put a Rescaling "
                "of 255 before it, and save the pilot with Keras 2.3 or newer."
            )
    return replace(network, layers=tuple(layers))


def write_gates(network: Network) -> Network:
    """Return a network as a file of Keras 2 must have it.

    Raises:
        PilotError: It has hard_sigmoid elsewhere than at the gates of an LSTM or a GRU.
    """
    return _scale(network, 1.0 / _FACTOR)


def _scale(network: Network, factor: float) -> Network:
    return network.fill(lambda layer: _scale_layer(layer, factor))


def _scale_layer(layer: Layer, factor: float) -> tuple[Float32Array, ...]:
    settings = (layer.inner or layer).settings
    if "hard_sigmoid" not in settings.values():
        return layer.weights
    if layer.class_name not in ("LSTM", "GRU") or settings.get("activation") == "hard_sigmoid":
        raise PilotError(
            f"the layer {layer.name!r} has the activation hard_sigmoid, which Keras 2 and 3 compute differently; only "
            "the gates of an LSTM or a GRU can have it (recurrent_activation)."
        )
    factors = [factor, factor, 1.0, factor][: 4 if layer.class_name == "LSTM" else 3]
    return tuple(_scale_gates(weight, factors) for weight in layer.weights)


def _scale_gates(weight: Float32Array, factors: list[float]) -> Float32Array:
    """Scale the gates in a weight, shape [..., gate_count * units]; the third is what they let in."""
    spread = np.array(factors, dtype=np.float32)[:, np.newaxis]
    gates: Float32Array = weight.reshape(*weight.shape[:-1], len(factors), -1) * spread
    return gates.reshape(weight.shape)
