"""The description of a network as Keras writes it in JSON: read in the forms of Keras 2 and 3, written in that of 2.

The `hard_sigmoid` of Keras 2 is clip(x / 5 + 1/2), that of Keras 3 clip(x / 6 + 1/2). The gates of an LSTM had the
former up to Keras 2.2 and TensorFlow 1. A `Network` means the one of Keras 3: gates whose weights are 6/5 as large say
there what they said before, with no rounding beyond that of float32.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.network import Layer, Network, pick_settings, sort_layers

_OLD_NAMES = {"Convolution2D": "Conv2D", "Convolution3D": "Conv3D", "Merge": "Concatenate"}

_MODELS = ("Functional", "Model", "Sequential")

_FACTOR = 6.0 / 5.0


def read_model_config(config: Mapping[str, Any]) -> Network:
    """Return the network that a model's JSON describes, without weights.

    Raises:
        PilotError: Not a network that pilots can be, or a broken description.
    """
    try:
        if config["class_name"] == "Sequential":
            return _read_sequential(config["config"])
        if config["class_name"] not in _MODELS:
            raise PilotError(f"a model of the class {config['class_name']!r} cannot be read; it must be Functional.")
        return _read_functional(config["config"])
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise PilotError(f"the description of the network cannot be read ({error!r}); the file is broken.") from error


def _read_functional(config: Mapping[str, Any]) -> Network:
    layers, ends = _unfold([(entry, tuple(_find_sources(entry))) for entry in config["layers"]])
    inputs = tuple(_list_names(config["input_layers"]))
    outputs = tuple(ends.get(name, name) for name in _list_names(config["output_layers"]))
    ordered = sort_layers(layers)
    if missing := {*inputs, *outputs} - {layer.name for layer in ordered}:
        raise PilotError(f"the network has no layer {min(missing)!r}, which is among its ends; the file is broken.")
    return Network(str(config.get("name", "model")), ordered, inputs, outputs)


def _read_sequential(config: Any) -> Network:
    """A stack of layers; the first may carry the shape of the input itself, as before Keras 2.3."""
    entries = config["layers"] if isinstance(config, Mapping) else config
    layers: list[Layer] = []
    if entries[0]["class_name"] != "InputLayer":
        is_model = entries[0]["class_name"] in _MODELS
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
        if entry["class_name"] not in _MODELS:
            layers.append(_read_layer(entry, sources))
            continue
        model, name = read_model_config(entry), str(entry.get("name") or entry["config"]["name"])
        if len(model.inputs) != 1 or len(model.outputs) != 1 or len(sources) != 1:
            raise PilotError(f"the model {name!r} within the network has several inputs or outputs; it must have one.")
        names = {layer.name: _find_name(f"{name}_{layer.name}", taken) for layer in model.layers}
        names[model.inputs[0]] = sources[0]
        for layer in model.layers[1:]:
            path = ((str(entry["class_name"]), name), *(layer.path or ((layer.class_name, layer.name),)))
            came = tuple(names[source] for source in layer.sources)
            layers.append(replace(layer, name=names[layer.name], sources=came, path=path))
        ends[name] = names[model.outputs[0]]
    return [replace(layer, sources=tuple(ends.get(name, name) for name in layer.sources)) for layer in layers], ends


def _find_name(wanted: str, taken: set[str]) -> str:
    """Return a name that no layer has, and take it; without dots, which PyTorch forbids."""
    name = wanted.replace(".", "_")
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
    if class_name in ("TFOpLambda", "TensorFlowOpLayer") and "concat" in str(config.get("function", name)):
        return Layer("Concatenate", name, {"axis": -1}, sources)
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
        yield from _find_tensors(node)


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
        PilotError: It has hard_sigmoid elsewhere than at the gates of an LSTM.
    """
    return express_layers(network if keras_version.startswith("3.") else _scale(network, _FACTOR))


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


def express_layers(network: Network) -> Network:
    """Return a network, with weights, whose layers are all of `LAYER_SETTINGS`; it says the same.

    Raises:
        PilotError: It has a layer with a setting that those cannot say.
    """
    layers = tuple(part for layer in network.layers for part in _express(layer))
    names = Counter(layer.name for layer in layers)
    if twice := [name for name, count in names.items() if count > 1]:
        raise PilotError(f"two layers of the network would be called {twice[0]!r}; give one of them another name.")
    return replace(network, layers=layers)


def _express(layer: Layer) -> list[Layer]:
    """Return what says the same as a layer; the last has its name."""
    if layer.inner is not None:
        inner = _express(replace(layer.inner, weights=layer.weights))
        if len(inner) > 1:
            raise PilotError(f"the layer {layer.inner.name!r} cannot be done to every picture of a sequence here.")
        return [replace(layer, inner=replace(inner[0], weights=()), weights=inner[0].weights)]
    name = layer.class_name
    if name in ("GaussianNoise", "GaussianDropout", "AlphaDropout"):  # nothing while driving
        return [replace(layer, class_name="Dropout", settings={"rate": layer.settings.get("rate", 0.0)})]
    if name in ("DepthwiseConv2D", "SeparableConv2D"):
        return _express_convolution(layer)
    return _express_activation(layer) if name in ("ReLU", "LeakyReLU", "ELU", "Softmax") else [layer]


def _express_convolution(layer: Layer) -> list[Layer]:
    """A convolution of each channel alone is one in groups of one; a separable one has another over all behind it."""
    kernel, *others = layer.weights
    *size, channels, multiplier = kernel.shape
    grouped = {"filters": channels * multiplier, "groups": channels}
    weight = kernel.reshape(*size, 1, channels * multiplier)
    if layer.class_name == "DepthwiseConv2D":
        return [replace(layer, class_name="Conv2D", settings={**layer.settings, **grouped}, weights=(weight, *others))]
    pointwise, *bias = others
    own = {**layer.settings, **grouped, "activation": "linear", "use_bias": False}
    first = replace(layer, class_name="Conv2D", name=f"{layer.name}_depthwise", settings=own, weights=(weight,))
    kept = {key: value for key, value in layer.settings.items() if key in ("activation", "use_bias")}
    point = {**kept, "filters": pointwise.shape[-1], "kernel_size": (1, 1)}
    return [
        first,
        replace(layer, class_name="Conv2D", settings=point, sources=(first.name,), weights=(pointwise, *bias)),
    ]


def _express_activation(layer: Layer) -> list[Layer]:
    settings, plain = layer.settings, replace(layer, class_name="Activation", settings={"activation": "relu"})
    most, slope = settings.get("max_value"), settings.get("negative_slope", settings.get("alpha"))
    if layer.class_name in ("ELU", "Softmax"):
        if (slope, settings.get("axis", -1)) in ((None, -1), (1.0, -1)):
            return [replace(plain, settings={"activation": layer.class_name.lower()})]
    elif not settings.get("threshold") and (most is None or not slope):
        if most is not None:
            return _add_part(layer, -1.0, float(most))
        return _add_part(layer, float(slope), 0.0) if slope else [plain]
    raise PilotError(f"the layer {layer.name!r} has settings of {layer.class_name} that pilots here cannot have.")


def _add_part(layer: Layer, factor: float, beyond: float) -> list[Layer]:
    """Return max(0, x) and a part: -max(0, x - beyond) where `factor` is -1, else `factor` * min(0, x)."""
    name, limits = layer.name, factor < 0.0
    names = [f"{name}_{part}" for part in ("positive", "turned", "cut", "part")]
    relu, made = {"activation": "relu"}, layer.sources
    scale, offset = (1.0, -beyond) if limits else (-1.0, 0.0)
    return [
        Layer("Activation", names[0], relu, made),
        Layer("Rescaling", names[1], {"scale": scale, "offset": offset}, made),
        Layer("Activation", names[2], relu, (names[1],)),
        Layer("Rescaling", names[3], {"scale": factor if limits else -factor, "offset": 0.0}, (names[2],)),
        Layer("Add", name, {}, (names[0], names[3])),
    ]
