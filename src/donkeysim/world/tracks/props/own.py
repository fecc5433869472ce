"""Props of one's own: a model in glTF beside the track's file, with one hull around all of it.

The middle of the model's bounds, seen from above, comes to the prop's place, and its lowest point to the ground.
"""

import dataclasses
from functools import partial
from pathlib import Path

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import CLASS_PROP
from donkeysim.world.tracks.mesh import Assets, merge_meshes
from donkeysim.world.tracks.model_file import ModelMesh, read_meshes
from donkeysim.world.tracks.paths.path_file import find_beside
from donkeysim.world.tracks.props.kind import Movable, PropKind, stand_on_block, stand_on_post
from donkeysim.world.tracks.structures.structure import Shadow, Structure
from donkeysim.world.tracks.tables.props import PropTable

SUFFIX = ".glb"
"""Of a model that holds its textures itself."""

SMALLEST, LARGEST = 0.01, 100.0
"""Of a prop's longest side [m]; what is outside was drawn in other units."""

THINNEST = 0.01
"""Of a hull [m]."""

END_SHARE = 0.1
"""Share of a cone's height whose points say how wide its end is."""

DARKNESS = 0.5
"""Of the shadow around its foot."""


def read_own_kind(table: PropTable, key: str) -> PropKind:
    """Return the kind of prop that a table's model is, at the table's scale.

    Raises:
        SceneError: The model is missing or broken, or of an impossible size; one sentence.
    """
    nodes = _read_model(table, f"{key}.model")
    point = _list_points(nodes)
    count = sum(len(node.face) for node in nodes)
    if table.mass:
        body = _measure_body(table, point)
        return PropKind(partial(_build, table, nodes), 1, max(body.radius_base, body.radius_top), body, 0.0, count)
    reach = 0.5 * float(np.hypot(*np.ptp(point[:, :2], axis=0)))
    return PropKind(partial(_build, table, nodes), 1, reach, triangle_count=count)


def _read_model(table: PropTable, key: str) -> list[ModelMesh]:
    """Return a model in metres, on the middle of its base."""
    path = find_beside(table.model, (SUFFIX,), key)
    nodes = read_meshes(path, key)
    if not nodes:
        raise SceneError(f"{path.name} has no faces; a prop shows a mesh.", key)
    point = _list_points(nodes)
    low, high = point.min(axis=0), point.max(axis=0)
    if not SMALLEST <= (longest := float((high - low).max()) * table.scale) <= LARGEST:
        text = (
            f"at scale = {table.scale:g} {path.name} is {longest:.3g} m long; a prop is {SMALLEST:g} to {LARGEST:g} m"
        )
        raise SceneError(f"{text} long, so give another scale.", key)
    foot = np.array((*(0.5 * (low + high))[:2], low[2]))
    return [dataclasses.replace(node, vertex=(node.vertex - foot) * table.scale) for node in nodes]


def _build(table: PropTable, nodes: list[ModelMesh], assets: Assets, _variant: int) -> Structure:
    mesh = merge_meshes([node.build(node.vertex, CLASS_PROP, assets) for node in nodes])
    if table.mass:
        return Structure(mesh)
    point, label = _list_points(nodes), _choose_label(table)
    if table.hull == "cylinder":
        radius, height = _measure_radius(point), _measure_height(point)
        still = stand_on_post(mesh, radius, height, label, Shadow((0.0, 0.0), radius, 0.5 * height, DARKNESS))
    else:
        length, width, height = np.maximum(np.ptp(point, axis=0), THINNEST).tolist()
        still = stand_on_block(mesh, (length, width, height), label, DARKNESS)
    return dataclasses.replace(still, colliders=()) if table.ghost else still


def _measure_body(table: PropTable, point: FloatArray) -> Movable:
    """Return the upright frustum around points that stand on z = 0, of even density."""
    height = _measure_height(point)
    base = top = _measure_radius(point)
    if table.hull == "cone":
        share = point[:, 2] / max(float(point[:, 2].max()), THINNEST)
        base, top = _measure_radius(point[share <= END_SHARE]), _measure_radius(point[share >= share.max() - END_SHARE])
    centre = 0.25 * height * (base**2 + 2.0 * base * top + 3.0 * top**2) / (base**2 + base * top + top**2)
    return Movable(_choose_label(table), table.mass, base, top, height, centre)


def _choose_label(table: PropTable) -> str:
    return table.hit or Path(table.model).stem


def _list_points(nodes: list[ModelMesh]) -> FloatArray:
    return np.concatenate([node.vertex for node in nodes])


def _measure_height(point: FloatArray) -> float:
    return max(float(np.ptp(point[:, 2])), THINNEST)


def _measure_radius(point: FloatArray) -> float:
    """Return half the mean of length and width that points have, seen from above [m]."""
    return max(0.25 * float(np.ptp(point[:, :2], axis=0).sum()), 0.5 * THINNEST)
