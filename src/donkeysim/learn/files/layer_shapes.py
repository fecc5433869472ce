"""What layers of Keras mean: in numbers, for all files that hold graphs, and in layers of fewer classes."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.network import AUGMENTING, RECURRENT, Layer, Network, clean_name, pick_settings, repeat_layer

ACTIVATION_CLASSES = ("ReLU", "LeakyReLU", "ELU", "Softmax")

EXPRESSED_ACTIVATIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "relu6": ("ReLU", {"max_value": 6.0}),
    "leaky_relu": ("LeakyReLU", {"negative_slope": 0.2}),
}
"""Activations that are layers with settings."""

GATED_ACTIVATIONS = ("swish", "silu", "hard_swish", "hard_silu")
"""Activations that are products of what they take and a gate of it."""

MERGE_MODES = {"concat": "Concatenate", "sum": "Add", "mul": "Multiply", "ave": "Average"}
"""How a `Bidirectional` joins what a layer says both ways, as layers."""

_MERGES = ("Subtract", "Average", "Maximum", "Minimum")

POINTWISE = ("Activation", "Rescaling", "Add", "Multiply")
"""Layers that do the same to every number, so to every picture of a sequence as well."""


def take_weights(layer: Layer, *shapes: tuple[int, ...]) -> list[Float32Array]:
    """Return the weights of a layer; the last, the bias, may be missing.

    Raises:
        PilotError: They do not have these shapes: the file is broken.
    """
    count = len(shapes) if layer.settings.get("use_bias", True) else len(shapes) - 1
    found = [weight.shape for weight in layer.weights]
    if found != list(shapes[:count]):
        why = "the file is broken" if found else "save it as .h5, as .keras leaves those of shared models out"
        raise PilotError(
            f"the layer {layer.name!r} has weights of the shapes {found}, but needs {list(shapes[:count])}; {why}."
        )
    return list(layer.weights)


def fold_normalization(layer: Layer, shape: tuple[int, ...]) -> tuple[Float32Array, Float32Array]:
    """Return a batch normalisation with its learnt mean and variance as a factor and a shift of the last axis.

    Args:
        shape: Of what it takes, without the batch.

    Raises:
        PilotError: It normalises over another axis.
    """
    settings = layer.settings
    axes = settings.get("axis", -1)
    axis = axes[0] if isinstance(axes, list | tuple) else axes
    if axis not in (-1, len(shape)):
        raise PilotError(f"the layer {layer.name!r} normalises over axis {axis}; only the last one can be written.")
    count = 2 + bool(settings.get("scale", True)) + bool(settings.get("center", True))
    weights = take_weights(layer, *[shape[-1:]] * count)
    gamma = weights.pop(0) if settings.get("scale", True) else np.float32(1.0)
    beta = weights.pop(0) if settings.get("center", True) else np.float32(0.0)
    mean, variance = weights
    factor = gamma / np.sqrt(variance + np.float32(settings.get("epsilon", 1e-3)))
    return factor.astype(np.float32), (beta - mean * factor).astype(np.float32)


def take_normalization(layer: Layer, shape: tuple[int, ...]) -> tuple[int, Float32Array, Float32Array]:
    """Return over how many of the last axes a layer normalisation goes, and its factor and shift of these.

    Args:
        shape: Of what it takes, without the batch.

    Raises:
        PilotError: It goes over others.
    """
    given = layer.settings.get("axis", -1)
    axes = [axis - (axis > 0) if axis >= 0 else axis + len(shape) for axis in spread(given, 1)]
    own = shape[len(shape) - len(axes) :]
    if axes != list(range(len(shape) - len(axes), len(shape))):
        raise PilotError(f"the layer {layer.name!r} normalises over axis {given}; only the last ones, in order.")
    flags = [bool(layer.settings.get(key, True)) for key in ("scale", "center")]
    weights = iter(take_weights(layer, *[own] * sum(flags)))
    factor, shift = (
        next(weights) if flag else np.full(own, usual, dtype=np.float32)
        for flag, usual in zip(flags, (1.0, 0.0), strict=True)
    )
    return len(axes), factor, shift


def widen_layer(layer: Layer) -> Layer:
    """Return a layer of rows as one of pictures that are one pixel wide."""
    settings = dict(layer.settings)
    for key in ("kernel_size", "pool_size", "strides", "dilation_rate"):
        if settings.get(key) is not None:
            settings[key] = (*spread(settings[key], 1), 1)
    weights = tuple(weight[:, np.newaxis] if weight.ndim == 3 else weight for weight in layer.weights)
    return replace(layer, class_name=f"{layer.class_name[:-2]}2D", settings=settings, weights=weights)


def make_resizing(layer: Layer, height: int, width: int) -> Layer:
    """Return an upsampling of pictures of a size as a resizing.

    Raises:
        PilotError: It blends pixels, which versions of Keras do in unlike ways.
    """
    settings = layer.settings
    if settings.get("interpolation", "nearest") != "nearest":
        raise PilotError(
            f"the layer {layer.name!r} enlarges by {settings['interpolation']!r}; only nearest can be written, or put "
            "a Resizing in its place."
        )
    down, across = spread(settings.get("size", 2), 2)
    size = {"height": height * down, "width": width * across, "interpolation": "nearest"}
    return replace(layer, class_name="Resizing", settings=size)


def spread(value: Any, rank: int) -> tuple[int, ...]:
    """Return one number for all axes, or one per axis, as a tuple."""
    return tuple(map(int, value)) if isinstance(value, list | tuple) else (int(value),) * rank


def spread_edges(value: Any, rank: int) -> list[tuple[int, ...]]:
    """Return ((top, bottom), (left, right)) out of the three forms that Keras takes."""
    return [spread(pair, 2) for pair in value] if isinstance(value, list | tuple) else [(int(value),) * 2] * rank


def check_interpolation(layer: Layer) -> str:
    """Return how a resizing finds what lies between pixels, "bilinear" or "nearest".

    Raises:
        PilotError: Another way.
    """
    way = str(layer.settings.get("interpolation", "bilinear"))
    if way not in ("bilinear", "nearest"):
        raise PilotError(f"the layer {layer.name!r} resizes by {way!r}; only bilinear and nearest can be written.")
    return way


def weigh_pixels(layer: Layer, before: int, after: int) -> Float32Array:
    """Return how much of each pixel of a row or column a resized one takes, shape [after, before]; as TensorFlow."""
    centre = (np.arange(after) + 0.5) * before / after
    if check_interpolation(layer) == "nearest":
        chosen: Float32Array = np.eye(before, dtype=np.float32)[centre.astype(int)]
        return chosen
    place = np.clip(centre - 0.5, 0.0, before - 1.0)
    low = np.floor(place).astype(int)
    share = (place - low)[:, None]
    pixels = np.eye(before)
    shares: Float32Array = (1.0 - share) * pixels[low] + share * pixels[np.minimum(low + 1, before - 1)]
    return shares.astype(np.float32)


def read_scaling(layer: Layer, shape: tuple[int, ...]) -> tuple[Float32Array, Float32Array]:
    """Return factor and shift of a rescaling of what has a shape: a number each, or one for each channel or place.

    Raises:
        ValueError: They do not fit the shape.
    """
    factor, shift = (np.asarray(layer.settings.get(key, 0.0), dtype=np.float32) for key in ("scale", "offset"))
    if np.broadcast_shapes(shape, factor.shape, shift.shape) != shape:
        raise ValueError(f"a factor of the shape {factor.shape} is none of numbers of the shape {shape}")
    return factor, shift


def take_gates(layer: Layer, width: int, gate_count: int) -> tuple[list[Float32Array], str]:
    """Return the weights of an LSTM (4 gates), a GRU (3) or a plain recurrence (1), and the activation of its gates.

    Raises:
        PilotError: It is not a plain one, or the weights do not fit.
    """
    settings, units = layer.settings, int(layer.settings["units"])
    gate = str(settings.get("recurrent_activation", "sigmoid"))
    activations = ("tanh",) if gate_count > 1 else ("tanh", "relu", "sigmoid")
    if settings.get("activation", "tanh") not in activations or gate not in ("sigmoid", "hard_sigmoid"):
        raise PilotError(
            f"the {layer.class_name} {layer.name!r} is not a plain one ({' or '.join(activations)}; gates of sigmoid "
            "or hard_sigmoid); it cannot be written."
        )
    size = gate_count * units
    bias = (2, size) if layer.class_name == "GRU" and settings.get("reset_after", True) else (size,)
    return take_weights(layer, (width, size), (units, size), bias), gate


def join_ways(layer: Layer) -> list[Layer]:
    """Return the layers, one behind the other, that join what a `Bidirectional` says both ways; of another none."""
    mode = layer.settings.get("merge_mode")
    return [] if mode is None else _express(Layer(MERGE_MODES[mode], layer.name, {}, ("forward", "backward")))


def resolve_shape(layer: Layer, count: int) -> tuple[int, ...]:
    """Return the shape that a Reshape gives `count` numbers, without the batch; one axis may be -1."""
    shape = tuple(map(int, layer.settings["target_shape"]))
    rest = math.prod(size for size in shape if size >= 0)
    shape = tuple(count // max(rest, 1) if size < 0 else size for size in shape)
    if math.prod(shape) != count:
        raise PilotError(f"the layer {layer.name!r} makes {shape} of {count} numbers; the file is broken.")
    return shape


def check_padding(layer: Layer) -> str:
    """Return the padding of a convolution or a pooling, "valid" or "same".

    Raises:
        PilotError: Another one.
    """
    padding = str(layer.settings.get("padding", "valid"))
    if padding not in ("valid", "same"):
        raise PilotError(f"the layer {layer.name!r} has the padding {padding!r}; only valid and same can be written.")
    return padding


def shrink_axes(
    sizes: tuple[int, ...], reach: tuple[int, ...], strides: tuple[int, ...], padding: str
) -> tuple[int, ...]:
    """Return what a convolution or pooling leaves of each axis."""
    if padding == "same":
        return tuple(-(-size // stride) for size, stride in zip(sizes, strides, strict=True))
    return tuple((size - over) // stride + 1 for size, over, stride in zip(sizes, reach, strides, strict=True))


def express_layers(network: Network) -> Network:
    """Return a network, with weights, whose layers are all of `LAYER_SETTINGS`; it says the same.

    Raises:
        PilotError: It has a layer with a setting that those cannot say.
    """
    layers = tuple(part for layer in network.layers for part in _express(layer))
    layers = tuple(
        replace(layer, name=clean_name(layer.name), sources=tuple(map(clean_name, layer.sources))) for layer in layers
    )
    network = replace(network, outputs=tuple(map(clean_name, network.outputs)))
    names = Counter(layer.name for layer in layers)
    if twice := [name for name, count in names.items() if count > 1]:
        raise PilotError(f"two layers of the network would be called {twice[0]!r}; give one of them another name.")
    return replace(network, layers=layers)


def _express(layer: Layer) -> list[Layer]:
    """Return what says the same as a layer; the last has its name."""
    activation = layer.settings.get("activation")
    if isinstance(activation, Mapping) or activation in (*GATED_ACTIVATIONS, *EXPRESSED_ACTIVATIONS):
        return _split_activation(layer, activation)
    if layer.inner is not None:
        parts = _express(replace(layer.inner, name=layer.name, sources=layer.sources, weights=layer.weights))
        if joined := [part for part in parts if len(part.sources) > 1 and part.class_name not in POINTWISE]:
            raise PilotError(f"the layer {joined[0].name!r} is done to every row, which pilots here cannot have.")
        return [part if part.class_name in POINTWISE else repeat_layer(part) for part in parts]
    name = layer.class_name
    if name in ("GaussianNoise", "GaussianDropout", "AlphaDropout", *AUGMENTING):  # nothing while driving
        return [replace(layer, class_name="Dropout", settings={"rate": layer.settings.get("rate", 0.0)}, weights=())]
    if name == "Normalization":
        return [_express_normalization(layer)]
    if layer.settings.get("keepdims"):
        pooled = {key: value for key, value in layer.settings.items() if key != "keepdims"}
        before = replace(layer, name=f"{layer.name}_pooled", settings=pooled)
        shape = (1, -1) if name.endswith("1D") else (1, 1, -1)
        return [before, Layer("Reshape", layer.name, {"target_shape": shape}, (before.name,))]
    if name == "RepeatVector":
        return _express_repetition(layer)
    if name in ("DepthwiseConv2D", "SeparableConv2D"):
        return _express_convolution(layer)
    if name in _MERGES:
        return _express_merge(layer)
    return _express_activation(layer) if name in (*ACTIVATION_CLASSES, "PReLU") else [layer]


def _split_activation(layer: Layer, activation: Any) -> list[Layer]:
    """Return a layer without its activation, and that as layers of its own."""
    before: list[Layer] = []
    if layer.class_name in RECURRENT:
        name = activation["class_name"] if isinstance(activation, Mapping) else activation
        known = "tanh, relu or sigmoid" if layer.class_name == "SimpleRNN" else "tanh"
        raise PilotError(f"the {layer.class_name} {layer.name!r} has the activation {name}; it can have {known} only.")
    if layer.class_name != "Activation":
        plain = {**layer.settings, "activation": "linear"}
        before = _express(replace(layer, name=f"{layer.name}_before", settings=plain))
    sources = tuple(part.name for part in before[-1:]) or layer.sources
    if activation in GATED_ACTIVATIONS:
        gate = _make_gate(f"{layer.name}_gate", activation.startswith("hard"), sources)
        return [*before, *gate, Layer("Multiply", layer.name, {}, (*sources, gate[-1].name))]
    if isinstance(activation, Mapping):
        name, config = activation["class_name"], activation["config"]
        if name not in ACTIVATION_CLASSES:
            raise PilotError(f"the layer {layer.name!r} has the activation {name}, which pilots here cannot have.")
        return [*before, *_express(Layer(name, layer.name, pick_settings(name, config, layer.name), sources))]
    name, settings = EXPRESSED_ACTIVATIONS[activation]
    return [*before, *_express(Layer(name, layer.name, settings, sources))]


def _make_gate(name: str, is_hard: bool, sources: tuple[str, ...]) -> list[Layer]:
    """Return a sigmoid, or max(0, min(6, x + 3)) / 6 where it is hard."""
    if not is_hard:
        return [Layer("Activation", name, {"activation": "sigmoid"}, sources)]
    raised = Layer("Rescaling", f"{name}_raised", {"scale": 1.0, "offset": 3.0}, sources)
    cut = _express(Layer("ReLU", f"{name}_cut", {"max_value": 6.0}, (raised.name,)))
    return [raised, *cut, Layer("Rescaling", name, {"scale": 1.0 / 6.0, "offset": 0.0}, (cut[-1].name,))]


def _express_repetition(layer: Layer) -> list[Layer]:
    count = int(layer.settings["n"])
    row = Layer("Concatenate", f"{layer.name}_row", {"axis": -1}, layer.sources * count)
    rows = Layer("Reshape", layer.name, {"target_shape": (count, -1)}, (row.name,) if count > 1 else layer.sources)
    return [row, rows] if count > 1 else [rows]


def _express_merge(layer: Layer) -> list[Layer]:
    """Return what joins tensors by sums: max(x, y) = x + max(0, y - x), min(x, y) = x - max(0, x - y)."""
    if layer.class_name == "Average":
        total, share = replace(layer, class_name="Add", name=f"{layer.name}_sum"), 1.0 / len(layer.sources)
        return [total, _scale_by(share, layer.name, total.name)]
    first, *others = layer.sources
    if layer.class_name == "Subtract":
        (other,) = others
        turned = _scale_by(-1.0, f"{layer.name}_turned", other)
        return [turned, Layer("Add", layer.name, {}, (first, turned.name))]
    parts, sign = [], 1.0 if layer.class_name == "Maximum" else -1.0
    for number, other in enumerate(others, start=1):
        name = layer.name if number == len(others) else f"{layer.name}_of{number}"
        ends = [_scale_by(-sign, f"{name}_first", first), _scale_by(sign, f"{name}_other", other)]
        gap = Layer("Add", f"{name}_gap", {}, tuple(end.name for end in ends))
        cut = Layer("Activation", f"{name}_cut", {"activation": "relu"}, (gap.name,))
        back = _scale_by(sign, f"{name}_back", cut.name)
        parts += [*ends, gap, cut, back, Layer("Add", name, {}, (first, back.name))]
        first = name
    return parts


def _scale_by(factor: float, name: str, source: str) -> Layer:
    return Layer("Rescaling", name, {"scale": factor, "offset": 0.0}, (source,))


def _express_normalization(layer: Layer) -> Layer:
    """A normalisation by a mean and a variance that were seen, or given, is a factor and a shift of each channel."""
    if layer.settings.get("invert") or layer.settings.get("axis", -1) not in (-1, 3, [-1], [3], (-1,)):
        raise PilotError(f"the layer {layer.name!r} normalises in a way that pilots here cannot; only by channel.")
    seen = [np.ravel(weight) for weight in layer.weights[:2]]
    mean, variance = seen or (np.ravel(layer.settings[key]) for key in ("mean", "variance"))
    factor = 1.0 / np.maximum(np.sqrt(np.asarray(variance, dtype=np.float64)), 1e-7)
    settings = {"scale": factor.tolist(), "offset": (-np.asarray(mean) * factor).tolist()}
    return replace(layer, class_name="Rescaling", settings=settings, weights=())


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
    if layer.class_name == "PReLU":
        (slopes,) = layer.weights
        return _add_part(layer, (-1.0, 0.0), (-slopes).tolist())
    settings, plain = layer.settings, replace(layer, class_name="Activation", settings={"activation": "relu"})
    usual = 0.3 if layer.class_name == "LeakyReLU" else None  # of Keras 2 and 3 alike
    most, slope = settings.get("max_value"), settings.get("negative_slope", settings.get("alpha", usual))
    if layer.class_name in ("ELU", "Softmax"):
        if (slope, settings.get("axis", -1)) in ((None, -1), (1.0, -1)):
            return [replace(plain, settings={"activation": layer.class_name.lower()})]
    elif not settings.get("threshold") and (most is None or not slope):
        if most is not None:
            return _add_part(layer, (1.0, -float(most)), -1.0)
        return _add_part(layer, (-1.0, 0.0), -float(slope)) if slope else [plain]
    raise PilotError(f"the layer {layer.name!r} has settings of {layer.class_name} that pilots here cannot have.")


def _add_part(layer: Layer, line: tuple[float, float], factor: Any) -> list[Layer]:
    """Return max(0, x) + factor * max(0, y), where y is what a line says of x: its slope, and its height at 0."""
    name, (scale, offset) = layer.name, line
    names = [f"{name}_{part}" for part in ("positive", "turned", "cut", "part")]
    relu, made = {"activation": "relu"}, layer.sources
    return [
        Layer("Activation", names[0], relu, made),
        Layer("Rescaling", names[1], {"scale": scale, "offset": offset}, made),
        Layer("Activation", names[2], relu, (names[1],)),
        Layer("Rescaling", names[3], {"scale": factor, "offset": 0.0}, (names[2],)),
        Layer("Add", name, {}, (names[0], names[3])),
    ]
