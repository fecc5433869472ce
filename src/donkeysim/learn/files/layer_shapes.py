"""What layers of Keras mean in numbers, for all files that hold graphs: weights, sizes, edges."""

from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.types import Float32Array
from donkeysim.learn.files.network import Layer


def take_weights(layer: Layer, *shapes: tuple[int, ...]) -> list[Float32Array]:
    """Return the weights of a layer; the last, the bias, may be missing.

    Raises:
        PilotError: They do not have these shapes: the file is broken.
    """
    count = len(shapes) if layer.settings.get("use_bias", True) else len(shapes) - 1
    found = [weight.shape for weight in layer.weights]
    if found != list(shapes[:count]):
        raise PilotError(
            f"the layer {layer.name!r} has weights of the shapes {found}, but needs {list(shapes[:count])}; "
            "the file is broken."
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


def read_scaling(layer: Layer) -> tuple[Float32Array, Float32Array]:
    """Return factor and shift of a rescaling: a number each, or one for each channel."""
    settings = layer.settings
    return np.asarray(settings["scale"], dtype=np.float32), np.asarray(settings.get("offset", 0.0), dtype=np.float32)


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
