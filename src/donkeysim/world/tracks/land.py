"""The meshes of the ground: the atlas near the track, one tiled texture from there to the horizon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.scene import CLASS_GROUND, Ground, Mesh
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.atlas import paint_atlas
from donkeysim.world.tracks.atlas_frame import AtlasFrame, frame_atlas
from donkeysim.world.tracks.ground import find_box
from donkeysim.world.tracks.mesh import make_mesh, make_quad
from donkeysim.world.tracks.path import CentreLine
from donkeysim.world.tracks.structure import Footprint, Shadow
from donkeysim.world.tracks.surfaces import TILE_SIZE, make_surface
from donkeysim.world.tracks.textures import make_plain
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
    shadows: Sequence[Shadow | Footprint],
    sun: tuple[float, float, float],
) -> list[Mesh]:
    """Return the ground's meshes; their textures join the scene's, with a map of what is road and line in the atlas."""
    if track.ground.texture == "plain":
        floor = assets.ensure_textured("plain", make_plain, CLASS_GROUND)
        return [_lay_floor(line, track.ground.height, floor)]
    frame = frame_atlas(find_box(line, track))
    picture, classes = paint_atlas(track, line, frame, shadows, sun)
    atlas = assets.ensure_textured("atlas", lambda: picture, CLASS_GROUND, class_map=assets.add_class_map(classes))
    name = track.ground.texture
    open_ground = assets.ensure_textured(f"ground {name}", lambda: make_surface(name), CLASS_GROUND)
    near, border = _lay_atlas(frame, ground, atlas)
    return [near, _lay_surroundings(frame, border, open_ground)]


def _lay_floor(line: CentreLine, height: float, material: int) -> Mesh:
    low, high = line.position.min(axis=0) - 5.0 * HORIZON, line.position.max(axis=0) + 5.0 * HORIZON
    corners = [(x, y, height) for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1]))]
    return make_quad(corners, material, [(x / PLAIN_TILE, -y / PLAIN_TILE) for x, y, _ in corners])


def _lay_atlas(frame: AtlasFrame, ground: Ground, material: int) -> tuple[Mesh, FloatArray]:
    """Return the mesh under the atlas and its border, counter-clockwise: two triangles, or the height field's grid.

    On a height field only that field is covered: it is a square inside the atlas.
    """
    (left, low), (width, depth) = frame.origin, frame.size
    x, y, height = np.array([left, left + width]), np.array([low, low + depth]), np.full((2, 2), ground.height[0, 0])
    if ground.height.size > 1:
        height = ground.height
        x = ground.height_origin[0] + np.arange(height.shape[1]) * ground.height_cell
        y = ground.height_origin[1] + np.arange(height.shape[0]) * ground.height_cell
    vertex = np.stack((*np.meshgrid(x, y), height), axis=-1)
    border = np.concatenate((vertex[0, :-1], vertex[:-1, -1], vertex[-1, :0:-1], vertex[:0:-1, 0]))
    rows, columns = height.shape
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.stack((corner, corner + 1, corner + columns + 1), 1)
    upper = np.stack((corner, corner + columns + 1, corner + columns), 1)
    flat = vertex.reshape(-1, 3)
    uv = np.column_stack(((flat[:, 0] - left) / width, 1.0 - (flat[:, 1] - low) / depth))
    return make_mesh(flat, uv, np.concatenate((lower, upper)), material), border


def _lay_surroundings(frame: AtlasFrame, border: FloatArray, material: int) -> Mesh:
    """Return the ground from a border to the horizon, its texture in step with the grass of the atlas.

    Every border vertex has its own partner at the horizon, so that no vertex lies on another triangle's edge.
    """
    tile = TILE_SIZE
    low, high = border[:, :2].min(axis=0), border[:, :2].max(axis=0)
    away = np.column_stack((border[:, :2] - 0.5 * (low + high), np.zeros(len(border))))
    outer = border + away * (2.0 * HORIZON / float((high - low).min()))
    index = np.arange(len(border))
    after = np.roll(index, -1)
    far, far_after = index + len(border), after + len(border)
    triangle = np.concatenate((np.stack((far, far_after, after), 1), np.stack((far, after, index), 1)))
    vertex = np.concatenate((border, outer))
    uv = np.column_stack(((vertex[:, 0] - frame.origin[0]) / tile, -(vertex[:, 1] - frame.origin[1]) / tile))
    return make_mesh(vertex, uv, triangle, material)
