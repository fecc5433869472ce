"""What the convolutions of a pilot see in a picture: their feature maps, and a picture of each layer's maps."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, UnidentifiedImageError

from donkeysim.car.transform import fit_picture
from donkeysim.core.errors import PilotError, SpecError
from donkeysim.core.files import replace_file
from donkeysim.core.types import ByteArray, Float32Array, Report
from donkeysim.learn.backend import import_keras

GRID_WIDTH = 1000
"""Width of the picture of a layer, about [pixels]."""

_PALETTE = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], dtype=np.float32)
"""From no activation to the strongest of its map: violet, blue, green, yellow; readable without colours too."""

_BACKGROUND, _INK, _GAP, _TITLE_HEIGHT = (24, 24, 28), (235, 235, 235), 2, 18


def read_picture(path: Path, shape: tuple[int, int, int]) -> ByteArray:
    """Return a picture file, uint8, resized to height, width and channels.

    Raises:
        SpecError: There is no such file, or it is not a picture.
    """
    try:
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("L" if shape[2] == 1 else "RGB"))
    except UnidentifiedImageError as error:
        raise SpecError(f"{path} is not a picture; give a .jpg or .png file.") from error
    except OSError as error:
        raise SpecError(f"cannot read the picture {path}: {error.strerror or error}.") from error
    return fit_picture(pixels.reshape(*pixels.shape[:2], -1), shape)


def find_image_shape(model: Any) -> tuple[int, int, int]:
    """Return height, width and channels of the pictures that a `keras.Model` takes."""
    shape = model.inputs[_find_picture_input(model)].shape
    return shape[-3], shape[-2], shape[-1]


def compute_activations(model: Any, image: ByteArray) -> dict[str, Float32Array]:
    """Return the feature maps of every convolution by the name of its layer, each [height, width, map].

    A pilot that looks at several pictures sees this one several times, and the maps of the last are returned;
    whatever it reads beside the picture is 0.

    Args:
        model: A `keras.Model`, as `learn.files.model_file.load_model` gives it.
        image: uint8, `find_image_shape`.

    Raises:
        PilotError: It has no convolutions, or takes pictures of another size.
    """
    keras = import_keras()
    import torch

    height, width, depth = find_image_shape(model)
    if image.shape != (height, width, depth):
        raise PilotError(
            f"the pilot takes pictures of {width}x{height} with {depth} channels, but this one has "
            f"{image.shape[1]}x{image.shape[0]} with {image.shape[2]}; set IMAGE_W, IMAGE_H and IMAGE_DEPTH to the "
            "pilot's."
        )
    peeled = ((layer, getattr(layer, "layer", layer)) for layer in model.layers)  # TimeDistributed has the layer inside
    layers = [layer for layer, inner in peeled if type(inner).__name__ in ("Conv2D", "Conv3D")]
    if not layers:
        raise PilotError("the pilot has no convolutions, so there are no feature maps to draw.")
    seeing = keras.Model(model.inputs, [layer.output for layer in layers])
    inputs = [np.zeros((1, *tensor.shape[1:]), dtype=np.float32) for tensor in model.inputs]
    inputs[_find_picture_input(model)][:] = image.astype(np.float32) / 255.0
    with torch.inference_mode():
        outputs = seeing(inputs, training=False)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    maps = [keras.ops.convert_to_numpy(output)[0] for output in outputs]
    return {layer.name: each[-1] if each.ndim == 4 else each for layer, each in zip(layers, maps, strict=True)}


def _find_picture_input(model: Any) -> int:
    """The input of the highest rank is the picture, or the sequence of pictures."""
    ranks = [len(tensor.shape) for tensor in model.inputs]
    return ranks.index(max(ranks))


def draw_activations(name: str, maps: Float32Array) -> ByteArray:
    """Return a picture of a layer's feature maps side by side, each brightest where it is active most.

    Args:
        maps: Shape [height, width, map].

    Returns:
        Shape [h, w, 3], about `GRID_WIDTH` wide, whole pixels per value.
    """
    height, width, count = maps.shape
    columns = math.ceil(math.sqrt(count * height / width * 1.6))
    rows = math.ceil(count / columns)
    scale = max(1, GRID_WIDTH // (columns * width))
    cell_width, cell_height = width * scale + _GAP, height * scale + _GAP
    canvas = Image.new("RGB", (columns * cell_width + _GAP, rows * cell_height + _GAP + _TITLE_HEIGHT), _BACKGROUND)
    title = f"{name}: {count} maps of {width}x{height}"
    ImageDraw.Draw(canvas).text((_GAP + 2, 3), title, fill=_INK)
    for index in range(count):
        row, column = divmod(index, columns)
        tile = _paint_map(maps[:, :, index]).repeat(scale, axis=0).repeat(scale, axis=1)
        place = (_GAP + column * cell_width, _GAP + _TITLE_HEIGHT + row * cell_height)
        canvas.paste(Image.fromarray(tile), place)
    return np.asarray(canvas)


def _paint_map(values: Float32Array) -> ByteArray:
    """One map in colours, shape [height, width, 3]."""
    least, most = float(values.min()), float(values.max())
    share = (values - least) / (most - least) if most > least else np.zeros_like(values)
    stops = np.linspace(0.0, 1.0, len(_PALETTE))
    channels = [np.interp(share, stops, _PALETTE[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=2).astype(np.uint8)


def write_activations(model: Any, image: ByteArray, folder: Path, stem: str, report: Report) -> list[Path]:
    """Draw every convolution's feature maps into `<folder>/<stem>_<layer>.png`; returns the files.

    Args:
        image: uint8, `find_image_shape`.
        folder: Made when it does not exist.
        stem: Beginning of the files' names.
        report: Called as report(done, total).

    Raises:
        PilotError: No convolutions, or the folder cannot be written.
    """
    activations = compute_activations(model, image)
    paths = []
    for done, (name, maps) in enumerate(activations.items(), start=1):
        paths.append(folder / f"{stem}_{name}.png")
        with replace_file(paths[-1], PilotError) as beside:
            Image.fromarray(draw_activations(name, maps)).save(beside)
        report(done, len(activations))
    return paths
