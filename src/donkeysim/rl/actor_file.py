"""A policy read from the pilot's file that it was written to, to learn on."""

from pathlib import Path

import numpy as np
import torch

from donkeysim.core.errors import SpecError
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.model_file import FINISHED_ENDINGS, check_ending, check_exists, read_network
from donkeysim.learn.files.network import Network
from donkeysim.rl.export import describe_actor
from donkeysim.rl.observation import FRAME_SKIP, ObservationSpec
from donkeysim.rl.ppo import Actor


def read_actor(path: Path) -> Actor | None:
    """Return the policy in a file; None when it holds another kind of pilot, or none that can be learned on.

    Args:
        path: `.h5` as `export.save_pilot` writes it; of an `.onnx` or `.tflite` file the policy cannot be taken.

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
