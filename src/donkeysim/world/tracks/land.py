"""The meshes of the ground: the atlas near the track, one tiled texture from there to the horizon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.scene import CLASS_GROUND, Ground, Mesh
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.atlas import AtlasFrame, Shadow, frame_atlas, paint_atlas
from donkeysim.world.tracks.ground import find_box
from donkeysim.world.tracks.mesh import make_mesh, make_quad
from donkeysim.world.tracks.path import CentreLine
from donkeysim.world.tracks.textures import GRASS_SIZE, make_grass, make_plain
from donkeysim.world.tracks.track_file import TrackFile

HORIZON = 120.0
"""How far the ground reaches beyond the track [m]."""

PLAIN_TILE = 4.0
"""Side of the plain floor's texture [m]: squares of 0.25 m."""


def build_land(
    track: TrackFile,
    line: CentreLine,
    ground: Ground,
    assets: Assets,
    shadows: Sequence[Shadow],
    sun: tuple[float, float, float],
) -> list[Mesh]:
    """Return the ground's meshes; their textures join the scene's.

    The road is part of the atlas and of its two triangles, so its segmentation class is that of the ground.
    """
    if track.ground.texture == "plain":
        floor = assets.textured("plain", make_plain, CLASS_GROUND)
        return [_lay_floor(line, track.ground.height, floor)]
    frame = frame_atlas(find_box(line, track))
    atlas = assets.textured("atlas", lambda: paint_atlas(track, line, frame, shadows, sun), CLASS_GROUND)
    grass = assets.textured("grass", make_grass, CLASS_GROUND)
    near = (
        _lay_atlas(frame, track.ground.height, atlas) if ground.height.size == 1 else _drape_atlas(frame, ground, atlas)
    )
    return [near, _lay_surroundings(frame, track.ground.height, grass)]


def _lay_floor(line: CentreLine, height: float, material: int) -> Mesh:
    low, high = line.position.min(axis=0) - 5.0 * HORIZON, line.position.max(axis=0) + 5.0 * HORIZON
    corners = [(x, y, height) for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1]))]
    return make_quad(corners, material, [(x / PLAIN_TILE, -y / PLAIN_TILE) for x, y, _ in corners])


def _lay_atlas(frame: AtlasFrame, height: float, material: int) -> Mesh:
    (x, y), (width, depth) = frame.origin, frame.size
    return make_quad(
        [(x, y, height), (x + width, y, height), (x + width, y + depth, height), (x, y + depth, height)], material
    )


def _drape_atlas(frame: AtlasFrame, ground: Ground, material: int) -> Mesh:
    """Return the grid of the height field under the atlas."""
    rows, columns = ground.height.shape
    x = ground.height_origin[0] + np.arange(columns) * ground.height_cell
    y = ground.height_origin[1] + np.arange(rows) * ground.height_cell
    vertex = np.stack((*np.meshgrid(x, y), ground.height), axis=-1).reshape(-1, 3)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    triangle = np.concatenate(
        (
            np.stack((corner, corner + 1, corner + columns + 1), 1),
            np.stack((corner, corner + columns + 1, corner + columns), 1),
        )
    )
    width, depth = frame.size
    uv = np.column_stack(((vertex[:, 0] - frame.origin[0]) / width, 1.0 - (vertex[:, 1] - frame.origin[1]) / depth))
    return make_mesh(vertex, uv, triangle, material)


def _lay_surroundings(frame: AtlasFrame, height: float, material: int) -> Mesh:
    """Return a frame of four strips around the atlas, its texture in step with the grass of the atlas."""
    (x, y), (width, depth) = frame.origin, frame.size
    tile = GRASS_SIZE * frame.texel
    reach = HORIZON
    inner = np.array([(x, y), (x + width, y), (x + width, y + depth), (x, y + depth)])
    outer = inner + np.array([(-reach, -reach), (reach, -reach), (reach, reach), (-reach, reach)])
    flat: FloatArray = np.concatenate((inner, outer))
    triangle = np.array([t for k in range(4) for t in ((4 + k, 4 + (k + 1) % 4, (k + 1) % 4), (4 + k, (k + 1) % 4, k))])
    uv = np.column_stack(((flat[:, 0] - x) / tile, -(flat[:, 1] - y) / tile))
    return make_mesh(np.column_stack((flat, np.full(8, height))), uv, triangle, material)
