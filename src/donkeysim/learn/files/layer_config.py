"""The description of a network as Keras writes it in JSON, read in the forms of Keras 2 and 3.

The `hard_sigmoid` of Keras 2 is clip(x / 5 + 1/2), that of Keras 3 clip(x / 6 + 1/2). The gates of an LSTM had the
former up to Keras 2.2 and TensorFlow 1. A `Network` means the one of Keras 3: gates whose weights are 6/5 as large say
there what they said before, with no rounding beyond that of float32.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from donkeysim.core.errors import PilotError
from donkeysim.learn.files.layer_shapes import ACTIVATION_CLASSES, MERGE_MODES, express_layers
from donkeysim.learn.files.network import (
    JOINING,
    RECURRENT,
    Layer,
    Network,
    clean_name,
    count_axes,
    is_for_bytes,
    pick_settings,
    read_formula,
    repeat_in_place,
    scale_gates,
    scale_pictures,
    sort_layers,
)
from donkeysim.learn.kinds import KINDS

_OLD_NAMES = {"Convolution2D": "Conv2D", "Convolution3D": "Conv3D", "Merge": "Concatenate"}

MODELS = ("Functional", "Model", "Sequential")
"""Classes of models, which may be layers of others."""

_OPERATORS = ("TFOpLambda", "TensorFlowOpLayer")
"""Of Keras 2; those of Keras 3 have classes of their own."""

_MERGES = ("add", "subtract", "multiply", "maximum", "minimum")
"""Operations on two tensors that are layers as well."""

_FACTOR = 6.0 / 5.0

_DONKEYCAR_OUTPUTS = {name for kind in KINDS.values() for name in kind.output_names}

_PICTURE_OUTPUT = "img_out"
"""Of the original's pilots of the type latent: the picture drawn again, which only training looks at."""


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
    config = _separate_uses(config)
    names = _list_names(config["output_layers"])
    driving = [name for name in names if name != _PICTURE_OUTPUT] or names
    entries = {get_name(entry): entry for entry in config["layers"]}
    sources = {name: tuple(_find_sources(entry)) for name, entry in entries.items()}
    used = _find_used(sources, [*driving, *_list_names(config["input_layers"])]) if driving != names else entries
    layers, ends = _unfold([(entry, sources[name]) for name, entry in entries.items() if name in used])
    inputs = tuple(_list_names(config["input_layers"]))
    outputs = tuple(ends.get(name, name) for name in driving)
    ordered = sort_layers(layers)
    if missing := {*inputs, *outputs} - {layer.name for layer in ordered}:
        raise PilotError(f"the network has no layer {min(missing)!r}, which is among its ends; the file is broken.")
    return Network(str(config.get("name", "model")), ordered, inputs, outputs)


def _separate_uses(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a description in which a layer that is used more than once is one layer for each use.

    Keras 2 counts the uses of a model from 1; Keras 3 does so only where they are among the network's ends.

    Raises:
        PilotError: A use that does not exist, or that nothing takes.
    """
    layers = {get_name(entry): entry for entry in config["layers"]}
    taken, uses = set(layers), dict[str, list[str]]()
    for name, entry in layers.items():
        if (count := len(entry["inbound_nodes"])) > 1:
            uses[name] = [name, *(_find_name(f"{name}_{number}", taken) for number in range(1, count))]
    if not uses:
        return config
    inner = set(_find_uses([entry["inbound_nodes"] for entry in layers.values()]))
    ends = set(_find_uses(config["output_layers"]))
    names_within, names_at_end = dict[tuple[str, int], str](), dict[tuple[str, int], str]()
    for name, own in uses.items():
        is_new = isinstance(layers[name]["inbound_nodes"][0], Mapping)
        first = 0 if is_new else min(number for other, number in inner | ends if other == name)
        last = first + (is_new and layers[name]["class_name"] in ("Functional", "Model"))
        names_within |= {(name, number): use for number, use in enumerate(own, start=first)}
        names_at_end |= {(name, number): use for number, use in enumerate(own, start=last)}
    found = [names_within.get(use) for use in inner if use[0] in uses]
    found += [names_at_end.get(use) for use in ends if use[0] in uses]
    if set(found) != {use for own in uses.values() for use in own}:
        raise PilotError(f"the uses of {', '.join(uses)} do not fit each other; the file is broken.")
    separate = []
    for name, entry in layers.items():
        nodes = _rename_uses(entry["inbound_nodes"], names_within)
        own_name = {"own_name": name} if name in uses else {}
        for use, node in zip(uses.get(name, [name]), [[node] for node in nodes] or [[]], strict=True):
            separate.append({**entry, **own_name, "name": use, "inbound_nodes": node})
    return {**config, "layers": separate, "output_layers": _rename_uses(config["output_layers"], names_at_end)}


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
    taken = {get_name(entry) for entry, _ in entries}
    for entry, sources in entries:
        is_repeated = entry["class_name"] == "TimeDistributed"
        held = entry["config"]["layer"] if is_repeated else entry
        if held["class_name"] not in MODELS:
            layers.append(_read_layer(entry, sources))
            continue
        model, name = read_model_config(held), get_name(entry)
        if len(model.inputs) != 1 or len(model.outputs) != 1 or len(sources) != 1:
            raise PilotError(f"the model {name!r} within the network has several inputs or outputs; it must have one.")
        names = {layer.name: _find_name(f"{name}_{layer.name}", taken) for layer in model.layers}
        names[model.inputs[0]], axes = sources[0], count_axes(model)
        for layer in model.layers[1:]:
            path = (
                (str(entry["class_name"]), str(entry.get("own_name", name))),
                *(layer.path or ((layer.class_name, layer.name),)),
            )
            came = tuple(names[source] for source in layer.sources)
            named = replace(layer, name=names[layer.name], sources=came, path=path)
            layers += repeat_in_place(named, [axes[source] for source in layer.sources]) if is_repeated else [named]
        ends[name] = names[model.outputs[0]]
    return [replace(layer, sources=tuple(ends.get(name, name) for name in layer.sources)) for layer in layers], ends


def get_name(entry: Mapping[str, Any]) -> str:
    """Return the name of a layer in a description."""
    return str(entry.get("name") or entry["config"]["name"])


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
    name = get_name(entry)
    if len(sources) > 1 and class_name not in JOINING and not _is_operator(entry):
        raise PilotError(
            f"the layer {name!r} ({class_name}) takes {len(sources)} tensors; it may take one only, with no mask or "
            "initial state."
        )
    if class_name == "InputLayer":
        return Layer(class_name, name, {"shape": _read_shape(config)}, ())
    path = ((class_name, str(entry["own_name"])),) if "own_name" in entry else ()
    if class_name == "TimeDistributed":
        return Layer(class_name, name, {}, sources, inner=_read_layer(config["layer"], ()), path=path)
    if class_name == "Bidirectional":
        return replace(_read_both_ways(config, name), sources=sources, path=path)
    if _is_operator(entry):
        return _read_operator(entry, name, sources)
    if class_name == "Lambda" and (formula := read_formula(config.get("function"))):
        return Layer("Rescaling", name, dict(zip(("scale", "offset"), formula, strict=True)), sources, path=path)
    settings = pick_settings(class_name, config, name)
    return Layer(class_name, name, settings, sources, path=path)


def _read_both_ways(config: Mapping[str, Any], name: str) -> Layer:
    """Return the layer that a `Bidirectional` holds, with a setting that says how what it says both ways is joined.

    Raises:
        PilotError: It holds another class of layers, or two unlike ones, or does not join them.
    """
    forward, mode = _read_layer(config["layer"], ()), config.get("merge_mode", "concat")
    backward = _read_layer(config.get("backward_layer") or config["layer"], ())
    alike = [(way.class_name, {**way.settings, "go_backwards": False}) for way in (forward, backward)]
    turns = [bool(way.settings.get("go_backwards")) for way in (forward, backward)]
    is_turned = not turns[0] and turns[1] == bool(config.get("backward_layer"))
    if forward.class_name not in RECURRENT or alike[0] != alike[1] or not is_turned or mode not in MERGE_MODES:
        raise PilotError(
            f"the Bidirectional {name!r} joins {forward.class_name} and {backward.class_name} by {mode!r}; it must "
            f"hold one layer ({', '.join(RECURRENT)}), forwards first and alike both ways, and join by "
            f"{', '.join(MERGE_MODES)}."
        )
    return replace(forward, name=name, settings={**forward.settings, "merge_mode": mode})


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
    """Names of the layers whose outputs a layer takes."""
    for node in entry["inbound_nodes"]:
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
    if (class_name := str(entry["class_name"])) in ACTIVATION_CLASSES:
        return Layer(class_name, name, pick_settings(class_name, config, name), sources)
    function = str(config.get("function") or entry["class_name"]).rpartition(".")[2].lower()
    if "concat" in function or "concat" in name:
        return Layer("Concatenate", name, {"axis": _find_axis(config, node)}, sources)
    if function in ("relu", "sigmoid", "tanh"):
        return Layer("Activation", name, {"activation": function}, sources)
    operands = _list_operands(node)
    if len(operands) == len(sources) == 2 and function in _MERGES:
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
    return (name for name, _ in _find_uses(node))


def _find_uses(node: Any) -> Iterator[tuple[str, int]]:
    """Yield name and use of a layer for each tensor.

    Keras 3 says {"args": [tensors]}, Keras 2 a list [name, use, tensor, settings] per tensor, at any depth.
    """
    if isinstance(node, Mapping):
        if node.get("class_name") == "__keras_tensor__":
            name, use, _ = node["config"]["keras_history"]
            yield str(name), int(use)
        else:
            for value in node.values():
                yield from _find_uses(value)
    elif isinstance(node, list):
        if is_tensor := _is_tensor(node):
            yield node[0], node[1]
        for value in node[3:] if is_tensor else node:
            yield from _find_uses(value)


def _is_tensor(node: list[Any]) -> bool:
    return len(node) >= 3 and isinstance(node[0], str) and isinstance(node[1], int)


def _rename_uses(node: Any, names: Mapping[tuple[str, int], str]) -> Any:
    """Return a part of a description in which layers have other names, each by its name and use."""
    if isinstance(node, Mapping):
        if node.get("class_name") != "__keras_tensor__":
            return {key: _rename_uses(value, names) for key, value in node.items()}
        name, use, place = node["config"]["keras_history"]
        return {**node, "config": {"keras_history": [names.get((name, use), name), use, place]}}
    if not isinstance(node, list):
        return node
    if not _is_tensor(node):
        return [_rename_uses(value, names) for value in node]
    return [names.get((node[0], node[1]), node[0]), *node[1:3], *_rename_uses(node[3:], names)]


def _list_names(ends: Any) -> list[str]:
    """Names out of [["a", 0, 0], ["b", 0, 0]], {"a": ["a", 0, 0], …} or, where there is one only, ["a", 0, 0]."""
    ends = list(ends.values()) if isinstance(ends, Mapping) else ends
    return [ends[0]] if isinstance(ends[0], str) else [end[0] for end in ends]


def read_gates(network: Network, keras_version: str, is_ours: bool = False) -> Network:
    """Return a network, with weights, as it came from a file of a version of Keras ("2.2.4-tf"), in Keras 3's terms.

    Args:
        is_ours: A file with a header; its pictures are from 0 to 1.

    Raises:
        PilotError: It has hard_sigmoid elsewhere than at the gates of an LSTM or a GRU, or says something twice.
    """
    outputs = network.outputs
    if wrong := [name for name in outputs if name in network.inputs or outputs.count(name) > 1]:
        raise PilotError(
            f"the network says {wrong[0]!r} more than once, or as it came in; build it again with each output once, "
            "behind a layer, load its weights into that, and save it."
        )
    if not is_ours and (_takes_bytes(network, keras_version) or is_for_bytes(network, _DONKEYCAR_OUTPUTS)):
        network = scale_pictures(network)
    return express_layers(network if keras_version.startswith("3.") else scale_gates(network, _FACTOR))


def _takes_bytes(network: Network, keras_version: str) -> bool:
    """Return whether a pilot was trained on pictures from 0 to 255: as in donkeycar 2, which names its outputs so."""
    numbers = [int(number) for number in re.findall(r"\d+", keras_version)[:2]]
    is_old = numbers < [2, 3] and network.outputs == ("angle_out", "throttle_out")
    return is_old and network.find("throttle_out").settings.get("units") == 1


def write_gates(network: Network) -> Network:
    """Return a network as a file of Keras 2 must have it.

    Raises:
        PilotError: It has hard_sigmoid elsewhere than at the gates of an LSTM or a GRU.
    """
    return scale_gates(network, 1.0 / _FACTOR)
