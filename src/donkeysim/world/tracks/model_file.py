"""Models in glTF: their meshes in our axes, with their colours and textures.

A model's y is up; here z is. x stays x and the model's -z becomes y, so that a map shows what a modelling program shows
from above.
"""

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TEXTURE, SHADE_TWO_SIDED, Material, Mesh
from donkeysim.world.tracks.mesh import Assets, fit_texture
from donkeysim.world.tracks.paths.gltf_lines import count_declared

TRIANGLES_MOST = 60_000
"""Of a model; every picture passes through all that lie before the camera."""

ELEMENTS_MOST = 1_000_000
"""Of an array that a model declares, and triangles of all its nodes; a few bytes can ask for any number."""

TEXELS_MOST = 8192 * 8192
"""Of a picture in a model, before it is made smaller."""

# Pictures of cars show a few hundred pixels of a thing at most.
TEXTURE_SIDE_MOST = 1024
"""Longest side of a texture; larger ones are made smaller [texel]."""

_FAULTS = (
    OSError, ValueError, LookupError, TypeError, AttributeError, AssertionError, RuntimeError, MemoryError,
    struct.error, Image.DecompressionBombError,
)  # fmt: skip
"""What reading a broken model raises, in trimesh and below it."""

# Steps of 3 % are not seen; with all 256 a model with graded colours would have a material for each triangle.
COLOUR_STEPS = 32
"""Shades of each primary that colours of vertices are rounded to: each is a material."""


@dataclass(frozen=True)
class ModelMesh:
    """What a node of a model shows.

    Attributes:
        vertex: In the model's units, z up, shape [vertex_count, 3].
        face: Vertex indices of each triangle, counter-clockwise seen from outside, shape [triangle_count, 3].
        shape: Its colours, as trimesh has them.
    """

    name: str
    vertex: FloatArray
    face: LongArray
    shape: Any

    def build(self, vertex: FloatArray, segment: int, assets: Assets) -> Mesh:
        """Return it with its vertices elsewhere [m], as a mesh of a segmentation class."""
        uv, material = _colour(self.shape, segment, assets)
        return Mesh(vertex.astype(np.float32), uv.astype(np.float32), self.face.astype(np.int32), material)


def read_meshes(path: Path, key: str) -> list[ModelMesh]:
    """Return every node of a model that has triangles.

    Args:
        path: A .glb or .gltf file.
        key: Where the track names it.

    Raises:
        SceneError: It cannot be read; one sentence.
    """
    import trimesh

    try:
        if (count := count_declared(path)) > ELEMENTS_MOST:
            raise ValueError(f"it declares {count} elements of one kind; {ELEMENTS_MOST} are allowed")
        model = trimesh.load_scene(path)
        found = [(str(name), *model.graph[name]) for name in model.graph.nodes_geometry]
        shapes = [(name, np.asarray(matrix, float), model.geometry[shape]) for name, matrix, shape in found]
        meshes = [item for item in shapes if isinstance(item[2], trimesh.Trimesh) and len(item[2].faces)]
        if (count := sum(len(shape.faces) for _, _, shape in meshes)) > ELEMENTS_MOST:
            raise ValueError(f"its nodes show {count} triangles; {ELEMENTS_MOST} are allowed")
        return [_place_mesh(name, matrix, shape) for name, matrix, shape in meshes]
    except _FAULTS as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        text = f"{path.name} cannot be read as a model: {reason}; export it again as glTF 2.0."
        raise SceneError(text, key) from error


def _place_mesh(name: str, matrix: FloatArray, shape: Any) -> ModelMesh:
    """Return a mesh where its node has it, its picture loaded; ValueError or OSError if it cannot be built."""
    vertex, face = np.asarray(shape.vertices, float), np.asarray(shape.faces)
    if vertex.ndim != 2 or vertex.shape[1] != 3 or face.min() < 0 or face.max() >= len(vertex):
        raise ValueError(f"the mesh {name!r} names vertices that are not there")
    x, y, z = (vertex @ matrix[:3, :3].T + matrix[:3, 3]).T
    placed = np.column_stack((x, -z, y))
    if not np.isfinite(placed).all():
        raise ValueError(f"the mesh {name!r} has a coordinate that is not a number")
    if (picture := _find_picture(shape)) is not None:
        if picture.width * picture.height > TEXELS_MOST:
            raise ValueError(f"a picture has {picture.width} x {picture.height} pixels; {TEXELS_MOST} are allowed")
        picture.load()
    is_mirrored = np.linalg.det(matrix[:3, :3]) < 0.0
    return ModelMesh(name, placed, (face[:, ::-1] if is_mirrored else face).astype(np.int64), shape)


def _find_picture(shape: Any) -> Image.Image | None:
    material = getattr(shape.visual, "material", None)
    picture = getattr(material, "baseColorTexture", getattr(material, "image", None))
    return picture if isinstance(picture, Image.Image) else None


def _colour(shape: Any, segment: int, assets: Assets) -> tuple[FloatArray, Any]:
    """Return texture coordinates and the material of each triangle, shapes [vertex_count, 2] and [triangle_count]."""
    none = np.zeros((len(shape.vertices), 2))
    count = len(shape.faces)
    visual, material = shape.visual, getattr(shape.visual, "material", None)
    picture = _find_picture(shape)
    uv = getattr(visual, "uv", None)
    flags = SHADE_TWO_SIDED if getattr(material, "doubleSided", False) else 0
    if picture is not None and uv is not None and len(uv) == len(none) and np.isfinite(uv).all():
        holes = SHADE_CUTOUT if getattr(material, "alphaMode", None) in ("MASK", "BLEND") else 0
        name = hashlib.sha256(picture.tobytes()).hexdigest()  # two models may hold the same picture
        texture = assets.ensure_texture(name, lambda: fit_texture(np.array(picture.convert("RGBA")), TEXTURE_SIDE_MOST))
        made = Material(flags | holes | SHADE_TEXTURE, _read_factor(material), texture, segment)
        place = np.column_stack((uv[:, 0], 1.0 - uv[:, 1]))
        return place - np.floor(place.min(axis=0)), np.full(count, assets.ensure_material(made), np.int32)
    attributes = getattr(visual, "vertex_attributes", {})
    if "color" in attributes and len(attributes["color"]) == len(none):
        colour = np.asarray(attributes["color"], float)[shape.faces].mean(axis=1)[:, :3]
        colour = colour if colour.max(initial=0.0) > 1.0 else 255.0 * colour
    elif material is None and visual.kind in ("vertex", "face"):
        colour = np.asarray(visual.face_colors, float)[:, :3]
    else:
        made = Material(flags, _read_factor(material), -1, segment)
        return none, np.full(count, assets.ensure_material(made), np.int32)
    step = 255.0 / (COLOUR_STEPS - 1)
    shade, index = np.unique(np.round(colour / step), axis=0, return_inverse=True)
    rows = [tuple((row * step / 255.0).tolist()) for row in shade]
    known = np.array([assets.ensure_material(Material(SHADE_TWO_SIDED, row, -1, segment)) for row in rows], np.int32)
    return none, known[index.reshape(-1)]


def _read_factor(material: Any) -> tuple[float, float, float]:
    """Return the colour that a material multiplies by, sRGB 0 to 1; models say it in linear light."""
    factor = getattr(material, "baseColorFactor", None)
    if factor is None:
        return (1.0, 1.0, 1.0) if hasattr(material, "baseColorFactor") else (0.7, 0.7, 0.7)
    value = np.asarray(factor, float)[:3]
    linear = np.clip(value / 255.0 if np.asarray(factor).dtype.kind in "ui" else value, 0.0, 1.0)
    red, green, blue = np.where(linear < 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055).tolist()
    return (red, green, blue)
