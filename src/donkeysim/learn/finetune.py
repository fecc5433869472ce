"""Pilots to begin with: weights of others, and policies that `donkey rl` wrote, made ready for somebody's own drives.

A policy's next steering holds half of its last one (`rl.ppo.Actor.KEPT`). Beside recorded drives the last command is
the driver's, which is nearly the next one too: free to learn from it, a pilot would repeat itself and look at nothing
("causal confusion", de Haan et al. 2019, https://arxiv.org/abs/1905.11979). So that share stays as it is, and what is
learned is what the picture adds.
"""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import DonkeySimError, PilotError
from donkeysim.learn.files.model_file import load_model, read_layers
from donkeysim.learn.files.network import Layer, Network
from donkeysim.learn.kinds import PilotSpec

_log = logging.getLogger(__name__)

FIXED = ("band", "recall")
"""Layers that do not learn: what makes the crop of a picture, and the share of the last steering."""


def read_policy(path: Path, kind: str | None, spec: PilotSpec) -> Network | None:
    """Return the policy in a file, ready to learn; None: it holds another network, or another kind is wanted.

    Args:
        path: `.h5` or `.keras`.
        kind: Of the pilot that is wanted; None: any.

    Raises:
        PilotError: There is no such file, it cannot be read, or it takes pictures of another size.
    """
    network = read_layers(path)
    if not is_policy(network) or kind not in (None, detect_policy(network)):
        return None
    height, width, depth = network.find("img_in").settings["shape"][-3:]
    if spec.image_shape != (height, width, depth):
        raise PilotError(
            f"{path} takes pictures of {width}x{height}x{depth}; set IMAGE_W = {width}, IMAGE_H = {height} and "
            f"IMAGE_DEPTH = {depth}: pictures in the tub are scaled."
        )
    return separate_recall(network)


def is_policy(network: Network) -> bool:
    """Return whether `donkey rl` has written a network, or it was made of one here, as those of the recipe are."""
    names = {layer.name for layer in network.layers}
    return {"band", "command"} <= names


def detect_policy(network: Network) -> str:
    """Return the kind of pilot that a policy is: it remembers commands, or pictures, or nothing."""
    if "mem_in" in network.inputs:
        return "memory"
    return "3d" if len(network.find("img_in").settings["shape"]) == 4 else "linear"


def separate_recall(network: Network) -> Network:
    """Return a policy whose share of the last steering is a layer of its own, "recall"; one without any, as it is."""
    named = {layer.name: layer for layer in network.layers}
    if "merged" not in named:
        return network
    command, (view, memory) = named["command"], named["merged"].sources
    kernel, bias = command.weights
    width = len(kernel) - named[memory].settings["shape"][0]
    linear = {**command.settings, "activation": "linear"}
    parts = (
        replace(command, settings=linear, sources=(view,), weights=(kernel[:width], bias)),
        Layer("Dense", "recall", {**linear, "use_bias": False}, (memory,), (np.ascontiguousarray(kernel[width:]),)),
        Layer("Add", "wish", {}, ("command", "recall")),
        Layer("Activation", "commanded", {"activation": command.settings["activation"]}, ("wish",)),
    )
    layers: list[Layer] = []
    for layer in network.layers:
        if layer.name == "command":
            layers += parts
        elif layer.name != "merged":
            layers.append(replace(layer, sources=tuple("commanded" if s == "command" else s for s in layer.sources)))
    return replace(network, layers=tuple(layers))


def forget_commands(network: Network, throttle: float) -> Network:
    """Return a policy as a pilot of the type linear, which remembers nothing, and whose throttle may be any.

    Args:
        network: One that remembers its last steering.
        throttle: What it is about to learn, in the mean; it begins there.
    """
    named = {layer.name: layer for layer in network.layers}
    command, view = named["command"], named["merged"].sources[0]
    kernel, bias = (array.copy() for array in command.weights)
    kernel, scale = kernel[: -named["mem_in"].settings["shape"][0]], named["n_outputs1"].weights[0][1, 0]
    kernel[:, 1] *= scale
    bias[1] = np.arctanh(np.clip(throttle, -0.9, 0.9))
    whole = np.array([[0.0], [1.0]], np.float32)
    changed = {
        "command": replace(command, sources=(view,), weights=(kernel, bias)),
        "n_outputs1": replace(named["n_outputs1"], weights=(whole, np.zeros(1, np.float32))),
    }
    layers = [changed.get(layer.name, layer) for layer in network.layers if layer.name not in ("mem_in", "merged")]
    return replace(network, layers=tuple(layers), inputs=("img_in",))


def look_at(network: Network, shape: tuple[int, int, int]) -> Network | None:
    """Return a policy for pictures of another size or in grey, which it sees as it sees its own.

    Args:
        network: One whose "band" takes the mean of squares of pixels.
        shape: [height, width, 3 or 1] of the pictures.

    Returns:
        None where the pictures are not of whole squares.
    """
    named = {layer.name: layer for layer in network.layers}
    kernel, bias = named["band"].weights
    rows, columns = (length // len(kernel) for length in named["img_in"].settings["shape"][:2])
    side = shape[1] // columns
    if shape[:2] != (side * rows, side * columns):
        return None
    mix = kernel.sum(axis=(0, 1)) / side**2
    mix = mix if shape[2] == 3 else mix.sum(axis=0, keepdims=True)
    top = named["crop"].settings["cropping"][0][0] // len(kernel) * side
    changed = {
        "img_in": replace(named["img_in"], settings={"shape": shape}),
        "crop": replace(named["crop"], settings={"cropping": [[top, 0], [0, 0]]}),
        "band": replace(
            named["band"],
            settings={**named["band"].settings, "kernel_size": [side, side], "strides": [side, side]},
            weights=(np.tile(mix, (side, side, 1, 1)), bias),
        ),
    }
    return replace(network, layers=tuple(changed.get(layer.name, layer) for layer in network.layers))


def transfer_weights(path: Path, model: Any) -> None:
    """Give a model the weights of all layers that a trained one has under the same name and in the same sizes.

    Raises:
        DonkeySimError: The file cannot be read, or shares no layer with the model.
    """
    trained = {layer.name: layer.get_weights() for layer in load_model(path).layers}
    taken: list[str] = []
    left: list[str] = []
    for layer in model.layers:
        weights = layer.get_weights()
        if not weights:
            continue
        given = trained.get(layer.name, [])
        fits = [array.shape for array in given] == [array.shape for array in weights]
        (taken if fits else left).append(layer.name)
        if fits:
            layer.set_weights(given)
    if not taken:
        raise DonkeySimError(
            f"{path} shares no layer with the pilot to be trained; --transfer takes a pilot of the same type, "
            "or of one with the same picture layers."
        )
    _log.info("starting from the weights of %s%s", path, f"; new are {', '.join(left)}" if left else "")
