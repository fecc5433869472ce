"""A policy as a pilot of the kind memory, in files that `manage.py drive`, `donkey evaluate` and the original take.

All that the policy needs is in the network itself: its first layers cut the band out of the car's picture, its last
steering comes from the commands that pilots of this kind remember, and its throttle leaves in the car's own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from donkeysim.core.errors import PilotError
from donkeysim.core.files import replace_file
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.h5 import write_h5
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.files.onnx_writer import make_onnx
from donkeysim.learn.rl.course import THROTTLE_RANGE
from donkeysim.learn.rl.ppo import Actor
from donkeysim.learn.rl.sight import PICTURE_HEIGHT, PICTURE_WIDTH

REMEMBERED = 3
"""Commands that the original's pilots of the kind memory are given; of ours, only the last one matters."""

_CONFIG = SimpleNamespace(IMAGE_H=PICTURE_HEIGHT, IMAGE_W=PICTURE_WIDTH, IMAGE_DEPTH=3)


def save_pilot(actor: Actor, path: Path, places: Sequence[str]) -> tuple[Path, Path]:
    """Write a policy as `.h5` and as `.onnx` and return the files.

    Args:
        actor: The policy.
        path: Without an ending, or with one of these.
        places: Where it has learned to drive.

    Raises:
        PilotError: A file cannot be written.
    """
    network, header = describe_actor(actor), make_header("memory", _CONFIG, places)
    paths = path.with_suffix(".h5"), path.with_suffix(".onnx")
    with replace_file(paths[0], PilotError) as beside:
        write_h5(network, beside, header)
    with replace_file(paths[1], PilotError) as beside:
        beside.write_bytes(make_onnx(network, header))
    return paths


def describe_actor(actor: Actor) -> Network:
    """Return a policy as layers of Keras, from a whole picture, 0 to 1, and the last commands to angle and throttle."""
    sight = actor.sight
    layers = [
        Layer("InputLayer", "img_in", {"shape": (PICTURE_HEIGHT, PICTURE_WIDTH, 3)}, ()),
        Layer("Cropping2D", "crop", {"cropping": ((sight.crop_top, sight.crop_bottom), (0, 0))}, ("img_in",)),
        _describe_convolution(
            "band", sight.make_kernel(), np.full(sight.shape[0], -actor.LEVEL), sight.pooling, "crop"
        ),
    ]
    convolutions: Any = actor.convolutions
    for index, layer in enumerate(convolutions, start=1):
        kernel, bias = (_to_array(part) for part in (layer.weight, layer.bias))
        source, stride = layers[-1].name, int(layer.stride[0])
        name = f"conv2d_{index}"
        layers.append(_describe_convolution(name, kernel.transpose(2, 3, 1, 0), bias, stride, source, "relu"))
    layers += [Layer("Flatten", "flattened", {}, (layers[-1].name,)), *_describe_head(actor)]
    return Network("memory", tuple(layers), ("img_in", "mem_in"), ("n_outputs0", "n_outputs1"))


def _describe_convolution(
    name: str, kernel: NDArray[Any], bias: NDArray[Any], stride: int, source: str, activation: str = "linear"
) -> Layer:
    settings = {
        "filters": kernel.shape[3],
        "kernel_size": kernel.shape[:2],
        "strides": (stride, stride),
        "padding": "valid",
        "activation": activation,
        "use_bias": True,
    }
    return Layer("Conv2D", name, settings, (source,), (kernel.astype(np.float32), bias.astype(np.float32)))


def _describe_head(actor: Actor) -> list[Layer]:
    """Return the layers behind the convolutions."""
    with torch.no_grad():
        shape = actor.look(torch.zeros(1, *actor.sight.shape)).shape[1:]
    kernel = _to_array(actor.dense.weight).reshape(actor.width, *shape).transpose(2, 3, 1, 0).reshape(-1, actor.width)
    recall = np.zeros((2 * REMEMBERED, 2), np.float32)
    recall[-2, 0] = actor.KEPT  # of angle and throttle of each command, the latest last
    command = np.concatenate([_to_array(actor.command.weight).T, recall])
    low, high = THROTTLE_RANGE
    return [
        _describe_dense("dense_1", kernel, _to_array(actor.dense.bias), "flattened", "tanh"),
        Layer("InputLayer", "mem_in", {"shape": (2 * REMEMBERED,)}, ()),
        Layer("Concatenate", "merged", {"axis": -1}, ("dense_1", "mem_in")),
        _describe_dense("command", command, _to_array(actor.command.bias), "merged", "tanh"),
        _describe_dense("n_outputs0", np.array([[1.0], [0.0]]), np.zeros(1), "command"),
        _describe_dense(
            "n_outputs1", np.array([[0.0], [0.5 * (high - low)]]), np.array([0.5 * (low + high)]), "command"
        ),
    ]


def _describe_dense(
    name: str, kernel: NDArray[Any], bias: NDArray[Any], source: str, activation: str = "linear"
) -> Layer:
    settings = {"units": kernel.shape[1], "activation": activation, "use_bias": True}
    return Layer("Dense", name, settings, (source,), (kernel.astype(np.float32), bias.astype(np.float32)))


def _to_array(tensor: Any) -> Float32Array:
    array: Float32Array = tensor.detach().contiguous().numpy().copy()
    return array
