"""The meshes of a model as part of a place: where the model says, in its colours, with boxes to run into.

The model's height 0 is the height of the open ground; flat things on it lie 2 mm above ours.

Each piece of a mesh that hangs together gets one box. No box get: pieces that are flat on the ground, pieces that begin
`HEADROOM` above it, and pieces whose box would cover the road, such as a floor, a hall, or one wall all round. A mesh
in very many pieces, such as a tree, gets one box for all. `hit` says the node's name, without the number after a dot.
"""

import math
import re
from pathlib import Path

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE, CLASS_PROP, CLASS_ROAD
from donkeysim.world.tracks.mesh import Assets
from donkeysim.world.tracks.model_file import TRIANGLES_MOST, ModelMesh, read_meshes
from donkeysim.world.tracks.paths.path import CentreLine, draw_file
from donkeysim.world.tracks.paths.path_file import MODEL_SUFFIXES
from donkeysim.world.tracks.structures.placement import HEADROOM, measure_distance, measure_gap, outline_base
from donkeysim.world.tracks.structures.structure import Collider, Footprint, Structure, make_block
from donkeysim.world.tracks.track_file import TrackFile

# Each piece is a box that physics and shadows know: leaves or gravel as boxes would cost more than they are worth.
PIECES_MOST = 100
"""A mesh in more pieces gets one box."""

# Half a wheel's radius: the suspension takes it.
FLAT = 0.02
"""Pieces no higher than this above the ground are no obstacle [m]."""

LIFT = 0.002
"""How far the model lies above our own ground [m]."""

THINNEST = 0.02
"""Of a box [m]."""

DARKNESS = 0.45
"""Of the shadow around the foot of a piece."""


def build_model(track: TrackFile, line: CentreLine, assets: Assets) -> list[Structure]:
    """Return what stands in the model that a track takes its path from; nothing for another track.

    Raises:
        SceneError: The model cannot be read or has too many triangles; one sentence.
    """
    if Path(track.path.file).suffix.lower() not in MODEL_SUFFIXES:
        return []
    path, height = Path(track.path.file), track.ground.height
    _, placing = draw_file(track.path)
    nodes = read_meshes(path, "path.file")
    count = sum(len(node.face) for node in nodes)
    if count > TRIANGLES_MOST:
        text = f"{path.name} has {count} triangles; a place may have {TRIANGLES_MOST}, so simplify the model."
        raise SceneError(text, "path.file")
    structures = []
    for node in nodes:
        flat, up = placing.apply(node.vertex[:, :2]), node.vertex[:, 2] * placing.scale
        structures.append(_build_node(node, np.column_stack((flat, up + height + LIFT)), line, height, assets))
    return structures


def _build_node(node: ModelMesh, vertex: FloatArray, line: CentreLine, height: float, assets: Assets) -> Structure:
    label = re.sub(r"\.\d+$", "", node.name)
    is_flat = float(vertex[:, 2].max()) < height + FLAT + LIFT
    mesh = node.build(vertex, _choose_class(label, is_flat), assets)
    boxes = [_enclose(vertex[index], label) for index in _split(vertex, node.face)]
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

    base = MultiPoint(point[:, :2]).minimum_rotated_rectangle
    ring = list(base.exterior.coords if base.geom_type == "Polygon" else base.coords)
    first, second, third = ring[0], ring[:2][-1], ring[:3][-1]  # of points in a line or one over the other: the same
    bottom, top = float(point[:, 2].min()), float(point[:, 2].max())
    length, width = (max(math.dist(*ends), THINNEST) for ends in ((first, second), (second, third)))
    foot = (0.5 * (first[0] + third[0]), 0.5 * (first[1] + third[1]), bottom)
    return make_block(foot, (length, width, top - bottom), math.atan2(second[1] - first[1], second[0] - first[0]), name)


def _is_obstacle(box: Collider, line: CentreLine, height: float) -> bool:
    """Return whether a box is something to run into: neither flat, nor overhead, nor over the road."""
    bottom, top = box.centre[2] - box.half_size[2], box.centre[2] + box.half_size[2]
    if top < height + FLAT + LIFT or bottom > height + HEADROOM:
        return False
    if not measure_distance(line.position[::5], [box]).all():
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
