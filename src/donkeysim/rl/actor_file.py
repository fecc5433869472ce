"""A policy as a pilot in files that `manage.py drive`, `donkey evaluate` and the original take, and read from them.

All that the policy needs is in the network itself: its first layers cut the crop out of the car's picture, and its
throttle leaves in the car's own units. One that sees one picture is a pilot of the kind memory: its last steering comes
from the commands that those remember. One that sees several is of the kind 3d, which remembers pictures.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from donkeysim.core.errors import PilotError, SpecError
from donkeysim.core.files import replace_file
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.keras_files import write_h5
from donkeysim.learn.files.model_file import FINISHED_ENDINGS, check_ending, check_exists, read_network
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.files.onnx_writer import make_onnx
from donkeysim.rl.ppo import Actor
from donkeysim.rl.setup import FRAME_SKIP, PICTURE_HEIGHT, PICTURE_WIDTH, THROTTLE_RANGE, ObservationSpec

REMEMBERED = 3
"""Commands that the original's pilots of the kind memory are given; of ours, only the last one matters."""

_CONFIG = SimpleNamespace(IMAGE_H=PICTURE_HEIGHT, IMAGE_W=PICTURE_WIDTH, IMAGE_DEPTH=3)


def save_pilot(actor: Actor, path: Path, places: Sequence[str], cars: Sequence[str] = ()) -> tuple[Path, Path]:
    """Write a policy as `.h5` and as `.onnx`, both or none, and return the files.

    Args:
        path: Without an ending, or with one of these.
        places: Where it has learned to drive.
        cars: What it has learned to drive, see `Experiment.describe_car`.

    Raises:
        PilotError: A file cannot be written.
    """
    kind = "memory" if actor.observation.pictures == 1 else "3d"
    network, header = describe_actor(actor), make_header(kind, _CONFIG, places, cars)
    paths = path.with_suffix(".h5"), path.with_suffix(".onnx")
    with replace_file(paths[0], PilotError) as h5, replace_file(paths[1], PilotError) as onnx:
        write_h5(network, h5, header)
        onnx.write_bytes(make_onnx(network, header))
    return paths


def describe_actor(actor: Actor) -> Network:
    """Return a policy as layers of Keras, from whole pictures, 0 to 1, and what it remembers to angle and throttle."""
    layers = [*_describe_sight(actor)]
    convolutions: Any = actor.convolutions
    for index, layer in enumerate(convolutions, start=1):
        kernel, bias = (_to_array(part) for part in (layer.weight, layer.bias))
        kernel = kernel.transpose(2, 3, 1, 0)
        if actor.observation.pictures > 1:
            kernel = kernel[None]
        source, stride = layers[-1].name, int(layer.stride[0])
        layers.append(_describe_convolution(f"conv{kernel.ndim - 2}d_{index}", kernel, bias, stride, source, "relu"))
    layers += [Layer("Flatten", "flattened", {}, (layers[-1].name,)), _describe_view(actor)]
    if actor.observation.pictures == 1:
        layers += _describe_command_with_memory(actor)
        return Network("memory", tuple(layers), ("img_in", "mem_in"), ("n_outputs0", "n_outputs1"))
    layers += _describe_command(actor)
    return Network("3dcnn", tuple(layers), ("img_in",), ("outputs",))


def _describe_sight(actor: Actor) -> Iterator[Layer]:
    """Yield the layers that make the crops."""
    observation = actor.observation
    shape: tuple[int, ...] = (PICTURE_HEIGHT, PICTURE_WIDTH, 3)
    cropping: tuple[tuple[int, int], ...] = ((observation.crop_top, observation.crop_bottom), (0, 0))
    kernel = observation.make_kernel()
    if observation.pictures > 1:
        shape, cropping, kernel = (observation.frames, *shape), ((0, 0), *cropping), observation.make_kernel_in_time()
    level = np.full(observation.shape[0], -actor.LEVEL)
    yield Layer("InputLayer", "img_in", {"shape": shape}, ())
    yield Layer(f"Cropping{len(cropping)}D", "crop", {"cropping": cropping}, ("img_in",))
    yield _describe_convolution("band", kernel, level, observation.pooling, "crop")


def _describe_convolution(
    name: str, kernel: NDArray[Any], bias: NDArray[Any], stride: int, source: str, activation: str = "linear"
) -> Layer:
    """Return a convolution of a picture, or of pictures in a row, which moves along the picture only."""
    size = kernel.shape[:-2]
    settings = {
        "filters": kernel.shape[-1],
        "kernel_size": size,
        "strides": (1, stride, stride)[-len(size) :],
        "padding": "valid",
        "activation": activation,
        "use_bias": True,
    }
    weights = (kernel.astype(np.float32), bias.astype(np.float32))
    return Layer(f"Conv{len(size)}D", name, settings, (source,), weights)


def _describe_view(actor: Actor) -> Layer:
    """Return the layer behind the convolutions."""
    with torch.no_grad():
        shape = actor.look(torch.zeros(1, *actor.observation.shape, device=actor.command.weight.device)).shape[1:]
    kernel = _to_array(actor.dense.weight).reshape(actor.width, *shape).transpose(2, 3, 1, 0).reshape(-1, actor.width)
    return _describe_dense("dense_1", kernel, _to_array(actor.dense.bias), "flattened", "tanh")


def _describe_command_with_memory(actor: Actor) -> list[Layer]:
    """Return the layers that make angle and throttle, an output each, with the last steering."""
    recall = np.zeros((2 * REMEMBERED, 2), np.float32)
    recall[-2, 0] = actor.KEPT  # of angle and throttle of each command, the latest last
    command = np.concatenate([_to_array(actor.command.weight).T, recall])
    scale, shift = _find_units()
    return [
        Layer("InputLayer", "mem_in", {"shape": (2 * REMEMBERED,)}, ()),
        Layer("Concatenate", "merged", {"axis": -1}, ("dense_1", "mem_in")),
        _describe_dense("command", command, _to_array(actor.command.bias), "merged", "tanh"),
        *(
            _describe_dense(f"n_outputs{index}", scale[:, index, None], shift[index, None], "command")
            for index in range(2)
        ),
    ]


def _describe_command(actor: Actor) -> list[Layer]:
    """Return the layers that make angle and throttle, as one output."""
    command = _to_array(actor.command.weight).T
    return [
        _describe_dense("command", command, _to_array(actor.command.bias), "dense_1", "tanh"),
        _describe_dense("outputs", *_find_units(), "command"),
    ]


def _find_units() -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what turns actions into angle and throttle: weights, shape [2, 2], and what is added, shape [2]."""
    low, high = THROTTLE_RANGE
    return np.diag([1.0, 0.5 * (high - low)]), np.array([0.0, 0.5 * (low + high)])


def _describe_dense(
    name: str, kernel: NDArray[Any], bias: NDArray[Any], source: str, activation: str = "linear"
) -> Layer:
    settings = {"units": kernel.shape[1], "activation": activation, "use_bias": True}
    return Layer("Dense", name, settings, (source,), (kernel.astype(np.float32), bias.astype(np.float32)))


def _to_array(tensor: Any) -> Float32Array:
    array: Float32Array = tensor.detach().cpu().contiguous().numpy().copy()
    return array


def read_actor(path: Path) -> Actor | None:
    """Return the policy in a file; None when it holds another kind of pilot, or none that can be learned on.

    Args:
        path: `.h5` as `save_pilot` writes it; of an `.onnx` or `.tflite` file the policy cannot be taken.

    Raises:
        PilotError: There is no such file, or it cannot be read.
    """
    check_exists(path)
    if check_ending(path) in FINISHED_ENDINGS:
        return None
    network, _ = read_network(path)
    try:
        actor = _make_alike(network)
    except (StopIteration, KeyError, IndexError, TypeError, ValueError, SpecError):
        return None
    return actor if actor is not None and _is_alike(network, describe_actor(actor)) else None


def _make_alike(network: Network) -> Actor | None:
    """Return the policy whose network this would be."""
    *_, (top, bottom), _ = network.find("crop").settings["cropping"]
    look = network.find("band").settings
    *before, pooling, _ = look["kernel_size"]
    pictures = (int(before[0]) - 1) // FRAME_SKIP + 1 if before else 1
    observation = ObservationSpec(int(top), int(bottom), int(pooling), int(look["filters"]) == 3 * pictures, pictures)
    convolutions = [layer for layer in network.layers if layer.name.startswith(("conv2d_", "conv3d_"))]
    dense, command = network.find("dense_1"), network.find("command")
    actor = Actor(
        observation, tuple(int(layer.settings["filters"]) for layer in convolutions), int(dense.settings["units"])
    )
    with torch.no_grad():
        shape = actor.look(torch.zeros(1, *observation.shape)).shape[1:]
        for layer, module in zip(convolutions, actor.convolutions, strict=True):
            kernel = layer.weights[0].reshape(layer.weights[0].shape[-4:])  # without the axis of time
            _fill(module, kernel.transpose(3, 2, 0, 1), layer.weights[1])
        kernel = dense.weights[0].reshape(*shape[1:], shape[0], actor.width)
        _fill(actor.dense, kernel.transpose(3, 2, 0, 1).reshape(actor.width, -1), dense.weights[1])
        _fill(actor.command, command.weights[0][: actor.width].T, command.weights[1])
    return actor


def _fill(module: torch.nn.Module, weight: Float32Array, bias: Float32Array) -> None:
    for name, values in (("weight", weight), ("bias", bias)):
        parameter = module.get_parameter(name)
        if tuple(parameter.shape) != values.shape:
            raise ValueError(f"{values.shape} for {tuple(parameter.shape)}")
        parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))


def _is_alike(one: Network, other: Network) -> bool:
    """Return whether two networks say the same."""
    if [layer.name for layer in one.layers] != [layer.name for layer in other.layers]:
        return False
    pairs = [
        (mine, yours)
        for layer, twin in zip(one.layers, other.layers, strict=True)
        for mine, yours in zip(layer.weights, twin.weights, strict=True)
    ]
    return all(mine.shape == yours.shape and np.allclose(mine, yours, atol=1e-6) for mine, yours in pairs)
