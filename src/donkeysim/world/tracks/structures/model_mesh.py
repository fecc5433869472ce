"""The meshes of a model as part of a place: where the model says, in its colours, with boxes to run into.

The model's y is up; here z is. x stays x and the model's -z becomes y, so that a map shows what a modelling program
shows from above. The model's height 0 is the height of the open ground; flat things on it lie 2 mm above ours.

Each piece of a mesh that hangs together gets one box. No box get: pieces that are flat on the ground, pieces that begin
`HEADROOM` above it, and pieces whose box would cover the road, such as a floor, a hall, or one wall all round. A mesh
in very many pieces, such as a tree, gets one box for all. `hit` says the node's name, without the number after a dot.
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from donkeysim.core.errors import SceneError
from donkeysim.core.types import ByteArray, FloatArray, LongArray
from donkeysim.world.scene import (
    CLASS_GROUND,
    CLASS_LINE,
    CLASS_PROP,
    CLASS_ROAD,
    COLLIDER_BOX,
    SHADE_CUTOUT,
    SHADE_TEXTURE,
    SHADE_TWO_SIDED,
    Material,
    Mesh,
)
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.paths.path import CentreLine, draw_file
from donkeysim.world.tracks.paths.path_file import MODEL_SUFFIXES, Placing, find_path_file
from donkeysim.world.tracks.structures.clearance import HEADROOM, measure_gap, outline_base
from donkeysim.world.tracks.structures.structure import Collider, Footprint, Structure
from donkeysim.world.tracks.track_file import TrackFile

TRIANGLES_MOST = 60_000
"""Of a model; every picture passes through all that lie before the camera."""

TEXTURE_SIDE_MOST = 1024
"""Longest side of a texture; larger ones are made smaller [texel]."""

PIECES_MOST = 100
"""A mesh in more pieces gets one box."""

FLAT = 0.02
"""Pieces no higher than this above the ground are no obstacle [m]."""

LIFT = 0.002
"""How far the model lies above our own ground [m]."""

THINNEST = 0.02
"""Of a box [m]."""

DARKNESS = 0.45
"""Of the shadow around the foot of a piece."""

_FAULTS = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    RuntimeError,
    MemoryError,
    struct.error,
    Image.DecompressionBombError,
)
"""What reading a broken model raises, in trimesh and below it."""

COLOUR_STEPS = 32
"""Shades of each primary that colours of vertices are rounded to: each is a material."""


def build_model(track: TrackFile, line: CentreLine, assets: Assets, source: str) -> list[Structure]:
    """Return what stands in the model that a track takes its path from; nothing for another track.

    Raises:
        SceneError: The model cannot be read or has too many triangles; one sentence.
    """
    if Path(track.path.file).suffix.lower() not in MODEL_SUFFIXES:
        return []
    path = find_path_file(track.path, source)
    _, placing = draw_file(track.path, source)
    return [
        _build_node(name, vertex, shape, line, track.ground.height, assets)
        for name, vertex, shape in _place_nodes(path, placing, track.ground.height)
    ]


def _place_nodes(path: Path, placing: Placing, height: float) -> list[tuple[str, FloatArray, Any]]:
    """Return name, vertices in the world [m] and trimesh's mesh of every node with triangles."""
    nodes, count = [], 0
    for name, matrix, shape in _read_meshes(path):
        vertex = np.asarray(shape.vertices, float) @ matrix[:3, :3].T + matrix[:3, 3]
        flat = placing.apply(np.column_stack((vertex[:, 0], -vertex[:, 2])))
        nodes.append((name, np.column_stack((flat, vertex[:, 1] * placing.scale + height + LIFT)), shape))
        count += len(shape.faces)
    if count > TRIANGLES_MOST:
        raise SceneError(f"{path} has {count} triangles; a place may have {TRIANGLES_MOST}, so simplify the model.")
    return nodes


def _read_meshes(path: Path) -> list[tuple[str, FloatArray, Any]]:
    """Return name, transform and mesh of every node with triangles."""
    import trimesh

    try:
        model = trimesh.load_scene(path)
        found = [(str(name), *model.graph[name]) for name in model.graph.nodes_geometry]
        meshes = [(name, np.asarray(matrix, float), model.geometry[shape]) for name, matrix, shape in found]
        meshes = [item for item in meshes if isinstance(item[2], trimesh.Trimesh) and len(item[2].faces)]
        for item in meshes:
            _check_mesh(*item)
    except _FAULTS as error:
        raise SceneError(f"{path} cannot be read as a model: {error or type(error).__name__}.") from error
    return meshes


def _check_mesh(name: str, matrix: FloatArray, shape: Any) -> None:
    """Raise ValueError or OSError for a mesh that cannot be built, and load its picture."""
    vertex, face = np.asarray(shape.vertices), np.asarray(shape.faces)
    if vertex.ndim != 2 or vertex.shape[1] != 3 or face.min() < 0 or face.max() >= len(vertex):
        raise ValueError(f"the mesh {name!r} names vertices that are not there")
    if not np.isfinite(vertex @ matrix[:3, :3].T + matrix[:3, 3]).all():
        raise ValueError(f"the mesh {name!r} has a coordinate that is no number")
    if (picture := _find_picture(shape)) is not None:
        picture.load()


def _find_picture(shape: Any) -> Image.Image | None:
    material = getattr(shape.visual, "material", None)
    picture = getattr(material, "baseColorTexture", getattr(material, "image", None))
    return picture if isinstance(picture, Image.Image) else None


def _build_node(
    name: str, vertex: FloatArray, shape: Any, line: CentreLine, height: float, assets: Assets
) -> Structure:
    label = re.sub(r"\.\d+$", "", name)
    face = np.asarray(shape.faces, np.int64)
    is_flat = float(vertex[:, 2].max()) < height + FLAT + LIFT
    uv, material = _colour(shape, _choose_class(label, is_flat), assets)
    mesh = Mesh(vertex.astype(np.float32), uv.astype(np.float32), face.astype(np.int32), material)
    boxes = [_enclose(vertex[index], label) for index in _split(vertex, face)]
    boxes = [box for box in boxes if _is_obstacle(box, line, height)]
    shadows = tuple(Footprint(_list_corners(box), 2.0 * box.half_size[2], DARKNESS) for box in boxes)
    return Structure(mesh, tuple(boxes), shadows, label=f"the model's {label!r}")


def _choose_class(name: str, is_flat: bool) -> int:
    """Return the segmentation class: by the name's beginning, else by whether it lies flat on the ground."""
    if is_flat and name.lower().startswith(("road", "line")):
        return CLASS_ROAD if name.lower().startswith("road") else CLASS_LINE
    return CLASS_GROUND if is_flat else CLASS_PROP


def _split(vertex: FloatArray, face: LongArray) -> list[LongArray]:
    """Return the vertices of each piece that hangs together; of all, where there are very many."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, same = np.unique(np.round(vertex, 5), axis=0, return_inverse=True)
    corner = same.reshape(-1)[face]
    pairs = np.concatenate((corner[:, :2], corner[:, 1:]))
    count = int(corner.max()) + 1
    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    _, piece = connected_components(graph, directed=False)
    owner = piece[corner[:, 0]]
    names = np.unique(owner)
    if len(names) > PIECES_MOST:
        return [np.unique(face)]
    return [np.unique(face[owner == index]) for index in names]


def _enclose(point: FloatArray, name: str) -> Collider:
    """Return the upright box of the least base around points."""
    from shapely import MultiPoint

    hull = MultiPoint(point[:, :2]).convex_hull
    ring = np.array(hull.exterior.coords if hull.geom_type == "Polygon" else hull.coords)[:200]
    side = np.diff(ring, axis=0)
    angles = np.unique(np.round(np.arctan2(side[:, 1], side[:, 0]), 6)) if len(side) else np.zeros(1)
    best, area = (0.0, ring.min(axis=0), ring.max(axis=0)), math.inf
    for angle in angles.tolist():
        turn = np.array(((math.cos(angle), -math.sin(angle)), (math.sin(angle), math.cos(angle))))
        turned = ring @ turn
        low, high = turned.min(axis=0), turned.max(axis=0)
        if (size := float(np.prod(high - low))) < area - 1e-12:
            best, area = (angle, low, high), size
    angle, low, high = best
    x, y = 0.5 * (low + high)
    centre = (x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle))
    bottom, top = float(point[:, 2].min()), float(point[:, 2].max())
    half = (*np.maximum(0.5 * (high - low), 0.5 * THINNEST).tolist(), 0.5 * (top - bottom))
    return Collider(COLLIDER_BOX, (float(centre[0]), float(centre[1]), 0.5 * (bottom + top)), half, name, angle)


def _is_obstacle(box: Collider, line: CentreLine, height: float) -> bool:
    """Return whether a box is something to run into: neither flat, nor overhead, nor over the road."""
    bottom, top = box.centre[2] - box.half_size[2], box.centre[2] + box.half_size[2]
    if top < height + FLAT + LIFT or bottom > height + HEADROOM:
        return False
    away = line.position[::5] - box.centre[:2]
    cosine, sine = math.cos(box.yaw), math.sin(box.yaw)
    ahead, left = away[:, 0] * cosine + away[:, 1] * sine, away[:, 1] * cosine - away[:, 0] * sine
    if ((np.abs(ahead) < box.half_size[0]) & (np.abs(left) < box.half_size[1])).any():
        return False
    return float(measure_gap(outline_base(box), line).min()) > 0.0


def _list_corners(box: Collider) -> tuple[tuple[float, float], ...]:
    cosine, sine = math.cos(box.yaw), math.sin(box.yaw)
    x, y = box.centre[:2]
    a, b = box.half_size[:2]
    return tuple(
        (x + u * a * cosine - v * b * sine, y + u * a * sine + v * b * cosine)
        for u, v in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
    )


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
        texture = assets.ensure_texture(f"model {id(picture)}", lambda: _make_texture(picture))
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


def _make_texture(picture: Image.Image) -> ByteArray:
    """Return a picture as a texture, its sides powers of two."""
    sides = [min(TEXTURE_SIDE_MOST, 1 << max(2, round(math.log2(max(1, side))))) for side in picture.size]
    return np.asarray(picture.convert("RGBA").resize((sides[0], sides[1]), Image.Resampling.LANCZOS)).copy()
