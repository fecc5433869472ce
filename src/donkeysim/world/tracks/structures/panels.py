"""Flat pictures that stand, hang or lie about."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from donkeysim.core.errors import SceneError, describe_unknown
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED, SHADE_UNLIT, Ground, Mesh
from donkeysim.world.tracks.art import list_pictures, read_picture
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.mesh import make_quad, merge_meshes
from donkeysim.world.tracks.structures.structure import Collider, Footprint, Structure, make_block
from donkeysim.world.tracks.tables.checks import to_tint
from donkeysim.world.tracks.tables.structures import PanelTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

THICKNESS = 0.02
"""Of what a car hits of a panel [m]; it stands behind the picture."""

DARKNESS = 0.3
"""Of the shadow at the foot of what stands on the ground."""


def build_panels(track: TrackFile, ground: Ground, assets: Assets) -> list[Structure]:
    """Return the panels of a track, each table's in one structure.

    Raises:
        SceneError: There is no such picture.
    """
    return [_build_table(table, number, ground, assets) for number, table in enumerate(track.panels)]


def paint_panel(picture: str, key: str, assets: Assets, *, flags: int = 0, tint: tuple[float, float, float]) -> int:
    """Return the material of a picture that a track file names.

    Raises:
        SceneError: There is no such picture; `key` says where the file names it.
    """
    if picture not in (known := list_pictures()):
        raise SceneError(describe_unknown("picture", picture, known), key)
    return assets.ensure_textured(read_picture, picture, flags=flags, tint=tint)


def _build_table(table: PanelTable, number: int, ground: Ground, assets: Assets) -> Structure:
    chosen = ((table.cutout, SHADE_CUTOUT), (table.two_sided, SHADE_TWO_SIDED), (table.unlit, SHADE_UNLIT))
    flags = sum(flag for wanted, flag in chosen if wanted)
    material = paint_panel(table.picture, f"panels[{number}].picture", assets, flags=flags, tint=to_tint(table.colour))
    foot = sample_height(ground, np.array([place[:2] for place in table.places]))
    meshes: list[Mesh] = []
    colliders: list[Collider] = []
    shadows: list[Footprint] = []
    for (x, y, turn, *base), height in zip(table.places, foot.tolist(), strict=True):
        yaw, low = math.radians(turn), height + (base[0] if base else 0.0)
        meshes.append(_stand(table, (x, y, low), yaw, material))
        behind = (x - 0.5 * THICKNESS * math.cos(yaw), y - 0.5 * THICKNESS * math.sin(yaw), low)
        if table.hit:
            size = (THICKNESS, table.size[0], table.size[1])
            colliders.append(replace(make_block(behind, size, yaw, table.name), hit=table.hit))
        if not table.tilt and not (base and base[0]) and not table.unlit:
            shadows.append(_shade(behind, yaw, table.size[0]))
    return Structure(merge_meshes(meshes), tuple(colliders), tuple(shadows), f"[[panels]] {number + 1} ({table.name})")


def _stand(table: PanelTable, foot: tuple[float, float, float], yaw: float, material: int) -> Mesh:
    """Return one panel on the middle of its lower edge."""
    half, lean = 0.5 * table.size[0], math.radians(table.tilt)
    along = np.array((-math.sin(yaw), math.cos(yaw), 0.0))
    back = math.sin(lean) * np.array((-math.cos(yaw), -math.sin(yaw), 0.0))
    up = table.size[1] * (back + np.array((0.0, 0.0, math.cos(lean))))
    low = np.array(foot)
    corners = [low - half * along, low + half * along, low + half * along + up, low - half * along + up]
    across, high = table.repeat
    corners_uv = [(0.0, high - 0.001), (across - 0.001, high - 0.001), (across - 0.001, 0.0), (0.0, 0.0)]
    return make_quad([(float(x), float(y), float(z)) for x, y, z in corners], material, corners_uv)


def _shade(foot: tuple[float, float, float], yaw: float, width: float) -> Footprint:
    """Return the darkening where a panel stands on the ground."""
    along, ahead = np.array((-math.sin(yaw), math.cos(yaw))), np.array((math.cos(yaw), math.sin(yaw)))
    corners = [np.array(foot[:2]) + sx * 0.5 * width * along + sy * 0.06 * ahead for sx, sy in _RING]
    return Footprint(tuple((float(x), float(y)) for x, y in corners), 0.0, DARKNESS)


_RING = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
