"""A network as plain data between the file formats: layers of Keras with their settings, weights and connections.

Further down stands what makes one network of another, whatever file it came from: of pictures in other units, of gates
as another version of Keras has them, of layers that are done to every picture of a sequence. What says a class of
layers by others stands in `layer_shapes`.
"""

from __future__ import annotations

import base64
import math
import operator
import struct
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.types import Float32Array

_CONVOLUTION = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "groups")
_ACTIVE = ("activation", "use_bias")
_REFUSED = (
    "stateful",
    "return_state",
    "time_major",
    "rms_scaling",
    "crop_to_aspect_ratio",
    "pad_to_aspect_ratio",
    "antialias",
)
_RECURRENT = ("recurrent_activation", "return_sequences", "go_backwards")
_POOLING = ("pool_size", "strides", "padding", "data_format")

RECURRENT = ("LSTM", "GRU", "SimpleRNN")
"""Layers that read a sequence row by row.

One in a `Bidirectional` has the setting "merge_mode", and the weights of both ways, forwards first.
"""

JOINING = ("Concatenate", "Add", "Multiply", "Subtract", "Average", "Maximum", "Minimum")
"""Layers that take several tensors."""

AUGMENTING = tuple(f"Random{what}" for what in ("Brightness", "Contrast", "Flip", "Rotation", "Translation", "Zoom"))
"""Layers that change pictures in training only."""

LAYER_SETTINGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D"), (*_CONVOLUTION, *_ACTIVE)),
    "Dense": ("units", *_ACTIVE),
    "LSTM": ("units", *_ACTIVE, *_RECURRENT),
    "GRU": ("units", *_ACTIVE, *_RECURRENT, "reset_after"),
    "SimpleRNN": ("units", *_ACTIVE, "return_sequences", "go_backwards"),
    "BatchNormalization": ("axis", "momentum", "epsilon", "center", "scale"),
    "LayerNormalization": ("axis", "epsilon", "center", "scale"),
    **dict.fromkeys(("MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "AveragePooling1D", "AveragePooling2D"), _POOLING),
    **dict.fromkeys((f"Global{way}Pooling{rank}D" for way in ("Average", "Max") for rank in (1, 2)), ("data_format",)),
    "UpSampling2D": ("size", "interpolation", "data_format"),
    "Permute": ("dims",),
    **dict.fromkeys(("Cropping2D", "Cropping3D"), ("cropping", "data_format")),
    "Resizing": ("height", "width", "interpolation"),
    "Rescaling": ("scale", "offset"),
    "ZeroPadding2D": ("padding", "data_format"),
    "Flatten": ("data_format",),
    "Activation": ("activation",),
    **dict.fromkeys(("Dropout", "SpatialDropout2D"), ("rate",)),
    "Concatenate": ("axis",),
    **dict.fromkeys(("Add", "Multiply"), ()),
    "Reshape": ("target_shape",),
}
"""Classes of layers that pilots may consist of, and the settings that Keras 2 and Keras 3 both know."""

EXPRESSED_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "ReLU": ("max_value", "negative_slope", "threshold"),
    "LeakyReLU": ("alpha", "negative_slope"),
    "ELU": ("alpha",),
    "Softmax": ("axis",),
    "Normalization": ("axis", "mean", "variance", "invert"),
    "PReLU": (),
    "RepeatVector": ("n",),
    **dict.fromkeys(("Subtract", "Average", "Maximum", "Minimum"), ()),
    **dict.fromkeys(("GaussianNoise", *AUGMENTING), ()),
    **dict.fromkeys(("GaussianDropout", "AlphaDropout"), ("rate",)),
    **dict.fromkeys(("DepthwiseConv2D", "SeparableConv2D"), (*_CONVOLUTION, *_ACTIVE)),
}
"""The same of classes that `layer_shapes.express_layers` says by those above."""

_LEAST_FACTOR = 0.02
"""By which nobody divides pictures from 0 to 1; by 1/255 and 1/127.5 those from 0 to 255."""

_KIND = 127
"""The bits that say what a part of compiled Python is."""

# Steps of compiled Python. From the fourth on they have an argument; that of the fifth says which sign it means.
_RETURN, _CONSTANT, _TAKE, _FIRST_WITH_ARGUMENT, _ANY_SIGN = 83, 100, 124, 90, 122
_SILENT = (0, 151)
_OF_3_13 = {149: 151, 36: _RETURN, 83: _CONSTANT, 85: _TAKE, 45: _ANY_SIGN}  # begins with the first, as none before
_MOST_STEPS = 200
_SIGNS = {
    (20, 0): operator.mul,
    (23, 0): operator.add,
    (24, 0): operator.sub,
    (27, 0): operator.truediv,
    (_ANY_SIGN, 0): operator.add,
    (_ANY_SIGN, 5): operator.mul,
    (_ANY_SIGN, 10): operator.sub,
    (_ANY_SIGN, 11): operator.truediv,
}

_UNSCALED = ("Cropping2D", "ZeroPadding2D", "Resizing", "MaxPooling2D", "AveragePooling2D", "Dropout", "Flatten")
"""Layers that give 255 times as much where they take 255 times as much."""


@dataclass(frozen=True)
class Layer:
    """One layer; `TimeDistributed` holds what it does to every picture in `inner`."""

    class_name: str
    name: str
    settings: Mapping[str, Any]
    sources: tuple[str, ...]
    """Names of the layers whose output it takes, in order; none for an input."""
    weights: tuple[Float32Array, ...] = ()
    """As Keras orders them: kernel, (recurrent kernel,) bias; gamma, beta, mean, variance."""
    inner: Layer | None = None
    path: tuple[tuple[str, str], ...] = ()
    """Class and name of each model within the network in which it was, and last of itself; () in none.

    Of a layer that is used more than once, of itself alone.
    """


@dataclass(frozen=True)
class Network:
    """Layers in an order in which each comes after its sources. Inputs have the class `InputLayer` and "shape"."""

    name: str
    layers: tuple[Layer, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def find(self, name: str) -> Layer:
        """Return a layer by its name."""
        return next(layer for layer in self.layers if layer.name == name)

    def fill(self, find_weights: Callable[[Layer], Iterable[Float32Array]]) -> Network:
        """Return the network with the weights that are found for each layer."""
        layers = (replace(layer, weights=tuple(find_weights(layer))) for layer in self.layers)
        return replace(self, layers=tuple(layers))


def pick_settings(class_name: str, config: Mapping[str, Any], layer_name: str) -> dict[str, Any]:
    """Return the settings of a layer that matter, out of everything a version of Keras writes about it.

    Raises:
        PilotError: A class of layers that pilots' files here cannot hold.
    """
    known = {**LAYER_SETTINGS, **EXPRESSED_SETTINGS}
    if class_name == "Lambda":
        raise PilotError(
            f"the layer {layer_name!r} is a Lambda, whose code is never run here; build the network again with "
            "Rescaling, Cropping2D or Resizing in its place, load its weights into that, and save it."
        )
    if class_name not in known:
        raise PilotError(
            f"the layer {layer_name!r} is of the class {class_name}, which pilots here cannot have "
            f"(they can: {', '.join(sorted(known))}, Bidirectional, TimeDistributed); convert the file to .onnx "
            "where it was made (tf2onnx or torch.onnx.export) and give that."
        )
    settings = {key: config[key] for key in known[class_name] if key in config}
    if class_name == "GRU":  # Keras 2.0 and 2.1 know no other and say nothing
        settings.setdefault("reset_after", False)
    if config.get("keepdims") and class_name.startswith("Global"):
        settings["keepdims"] = True
    if settings.get("data_format") == "channels_first":
        raise PilotError(f"the layer {layer_name!r} wants channels first; only channels last can be read.")
    if unknown := [key for key in _REFUSED if config.get(key)]:
        raise PilotError(f"the layer {layer_name!r} has the setting {unknown[0]}, which pilots here cannot have.")
    activation = settings.get("activation")
    if activation is not None and not isinstance(activation, str) and "class_name" not in activation:
        raise PilotError(f"the layer {layer_name!r} has an activation of its own; only those of Keras can be read.")
    return settings


def read_formula(function: Any) -> tuple[float, float] | None:
    """Return scale and offset of a Lambda that says x * scale + offset; None of any other.

    Keras keeps Python's own form of the compiled function: numbers, its steps, its constants. It is read, never run.
    The forms of Python 3.5 to 3.13 are known.
    """
    try:
        held = function["config"]["code"] if isinstance(function, Mapping) else function[0]
        code = base64.b64decode(held)
        begin = 22 if code[21] & _KIND == ord("s") else 26  # Python 3.8 to 3.10 have a number more before it
        end = begin + 4 + struct.unpack_from("<I", code, begin)[0]
        is_code = code[0] & _KIND == ord("c") and code[1:5] == b"\1\0\0\0" and code[begin - 1] & _KIND == ord("s")
        if not is_code or end - begin > _MOST_STEPS:  # or not of one argument
            return None
        said = _follow(code[begin + 4 : end], _read_constants(code[end:]))
        offset, scale = map(float, said.coef)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, struct.error, ArithmeticError):
        return None
    return (scale, offset) if math.isfinite(scale) and math.isfinite(offset) else None


def _read_constants(code: bytes) -> list[Any]:
    constants, at = [], 2
    for _ in range(code[1] if code[0] & _KIND == ord(")") else 0):
        form = {"N": "", "i": "<i", "g": "<d"}[chr(code[at] & _KIND)]
        constants.append(next(iter(struct.unpack_from(form, code, at + 1)), None))
        at += 1 + struct.calcsize(form)
    return constants


def _follow(steps: bytes, constants: list[Any]) -> Any:
    """Return what steps make of x, a number or a `Polynomial`; what is no arithmetic is an error of some kind."""
    stack: list[Any] = []
    at, names = 0, _OF_3_13 if steps[0] in _OF_3_13 else {}
    while (step := names.get(steps[at], steps[at])) != _RETURN:
        argument = steps[at + 1]
        at += 2 if steps[2] else 3 if step >= _FIRST_WITH_ARGUMENT else 1  # Python 3.5 has steps of 1 and 3 bytes
        if step == _TAKE and argument == 0:
            stack.append(np.polynomial.Polynomial([0.0, 1.0]))
        elif step == _CONSTANT:
            stack.append(constants[argument])
        elif step not in _SILENT:
            second, first = stack.pop(), stack.pop()
            stack.append(_SIGNS[step, argument if step == _ANY_SIGN else 0](first, second))
    return stack.pop()


def sort_layers(layers: list[Layer]) -> tuple[Layer, ...]:
    """Return layers so that each comes after its sources; an order that is right already stays.

    Raises:
        PilotError: A source does not exist, or layers go round in a circle.
    """
    waiting = list(layers)
    done: dict[str, Layer] = {}
    while waiting:
        left = []
        for layer in waiting:
            if all(source in done for source in layer.sources):
                done[layer.name] = layer
            else:
                left.append(layer)
        if len(left) == len(waiting):
            raise PilotError(f"the layer {left[0].name!r} is not connected to an input; the file is broken.")
        waiting = left
    return tuple(done.values())


def _find_picture(network: Network) -> str:
    return max(network.inputs, key=lambda name: len(network.find(name).settings["shape"]))


def is_for_bytes(network: Network, names: Container[str]) -> bool:
    """Return whether a network brings pictures from 0 to 255 to its own scale first: by its mean, or by a factor.

    Args:
        names: Of the outputs of programs that divide pictures by 255 before any network; there a factor says nothing.
    """
    place = _find_picture(network)
    for layer in network.layers:
        if place not in layer.sources:
            continue
        if layer.class_name == "Rescaling" and not all(name in names for name in network.outputs):
            return bool(np.abs(layer.settings["scale"]).max() < _LEAST_FACTOR)
        if layer.class_name == "BatchNormalization":
            return bool(layer.weights and layer.weights[-2].max() > 1.0)
        if layer.class_name not in _UNSCALED:
            return False
        place = layer.name
    return False


def scale_pictures(network: Network) -> Network:
    """Return a network that takes pictures from 0 to 1 where another takes them from 0 to 255, layer by layer."""
    bytes_from, scaled, layers = {_find_picture(network)}, dict[str, str](), list[Layer]()
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
            for source in sorted(bytes_from.intersection(layer.sources) - scaled.keys()):
                scaled[source] = f"{source}_to_255"
                layers.append(Layer("Rescaling", scaled[source], {"scale": 255.0, "offset": 0.0}, (source,)))
            layers.append(replace(layer, sources=tuple(scaled.get(source, source) for source in layer.sources)))
    return replace(network, layers=tuple(layers))


def scale_gates(network: Network, factor: float) -> Network:
    """Return a network, with weights, whose gates with hard_sigmoid take `factor` times as much.

    Raises:
        PilotError: It has hard_sigmoid elsewhere than at the gates of an LSTM or a GRU.
    """
    return network.fill(lambda layer: _scale_layer(layer, factor))


def _scale_layer(layer: Layer, factor: float) -> tuple[Float32Array, ...]:
    settings = (layer.inner or layer).settings
    if "hard_sigmoid" not in settings.values():
        return layer.weights
    class_name = (layer.inner or layer).class_name
    if class_name not in ("LSTM", "GRU") or settings.get("activation") == "hard_sigmoid":
        raise PilotError(
            f"the layer {layer.name!r} has the activation hard_sigmoid, which Keras 2 and 3 compute differently; only "
            "the gates of an LSTM or a GRU can have it (recurrent_activation)."
        )
    factors = [factor, factor, 1.0, factor][: 4 if class_name == "LSTM" else 3]
    return tuple(_scale_weight(weight, factors) for weight in layer.weights)


def _scale_weight(weight: Float32Array, factors: list[float]) -> Float32Array:
    """Scale the gates in a weight, shape [..., gate_count * units]; the third is what they let in."""
    spread = np.array(factors, dtype=np.float32)[:, np.newaxis]
    gates: Float32Array = weight.reshape(*weight.shape[:-1], len(factors), -1) * spread
    return gates.reshape(weight.shape)


def count_axes(model: Network) -> dict[str, int]:
    """Return how many axes what each layer gives has, without the batch."""
    axes: dict[str, int] = {}
    for layer in model.layers:
        done, sequence = layer.inner or layer, int(layer.inner is not None)
        settings, is_global = done.settings, done.class_name.startswith("Global")
        ends = done.class_name in RECURRENT and not settings.get("return_sequences")
        shape = settings.get("shape") or settings.get("target_shape")
        if shape is not None:
            axes[layer.name] = sequence + len(shape)
        elif done.class_name == "RepeatVector":
            axes[layer.name] = sequence + 2
        elif done.class_name == "Flatten" or (is_global and not settings.get("keepdims")) or ends:
            axes[layer.name] = sequence + 1
        else:
            axes[layer.name] = max(axes[source] for source in layer.sources)
    return axes


def repeat_layer(layer: Layer) -> Layer:
    """Return a layer that does to every picture of a sequence what another does to one.

    Raises:
        PilotError: The other one does so already.
    """
    if layer.inner is not None:
        raise PilotError(f"the layer {layer.name!r} is done to sequences of sequences, which pilots here cannot have.")
    inner = replace(layer, sources=(), weights=(), path=())
    return replace(layer, class_name="TimeDistributed", settings={}, inner=inner)


def repeat_in_place(layer: Layer, axes: list[int]) -> list[Layer]:
    """Return what does to every picture of a sequence what a layer does to one that takes tensors with these axes.

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


def split_ways(layer: Layer) -> list[Layer]:
    """Return the layers that a `Bidirectional` runs, forwards first; of another layer itself."""
    if "merge_mode" not in layer.settings:
        return [layer]
    settings = {key: value for key, value in layer.settings.items() if key != "merge_mode"}
    half = len(layer.weights) // 2
    return [
        replace(layer, settings={**settings, "go_backwards": is_turned}, weights=weights)
        for is_turned, weights in ((False, layer.weights[:half]), (True, layer.weights[half:]))
    ]


def clean_name(name: str) -> str:
    """Return a layer's name without dots, which PyTorch forbids, and slashes, which Keras 3 does."""
    return name.replace(".", "_").replace("/", "_")
