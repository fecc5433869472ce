"""The meshes of the ground: the atlas near the track, one tiled texture from there to the horizon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.scene import CLASS_GROUND, SHADE_TEXTURE, Ground, Material, Mesh
from donkeysim.world.tracks.assets import WHITE, Assets
from donkeysim.world.tracks.mesh import make_mesh, make_quad
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.structures.structure import Footprint, Shadow
from donkeysim.world.tracks.terrain.atlas import paint_atlas
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame, frame_atlas
from donkeysim.world.tracks.terrain.elevation import BLOCK, Box
from donkeysim.world.tracks.terrain.ground import find_box
from donkeysim.world.tracks.terrain.road_strip import is_stripped, lay_strip
from donkeysim.world.tracks.terrain.surfaces import TEXELS, make_surface
from donkeysim.world.tracks.terrain.terrain_mesh import triangulate_field
from donkeysim.world.tracks.textures import make_plain
from donkeysim.world.tracks.track_file import TrackFile

HORIZON = 120.0
"""How far the ground reaches beyond the track [m]."""

FINEST = 0.01
"""How far the drawn road may lie off the height field [m]."""

COARSER, COARSEST = 0.12, 0.7
"""By how much more for every metre beside the road [-], and at most [m]."""

ROUNDER, ROUNDEST = 0.08, 0.15
"""The same where hills pass through known points."""

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
        floor = assets.ensure_textured(make_plain, segment=CLASS_GROUND)
        return [_lay_floor(line, track.ground.height, floor)]
    frame = frame_atlas(find_land(find_box(line, track), ground), ground.height.size > 1)
    picture, classes, light = paint_atlas(track, line, frame, shadows, sun)
    shown = Material(SHADE_TEXTURE, WHITE, assets.add_texture(picture), CLASS_GROUND, assets.add_class_map(classes))
    atlas = assets.ensure_material(shown)
    table = track.ground
    open_ground = assets.ensure_textured(make_surface, table.texture, TEXELS, table.colour, segment=CLASS_GROUND)
    if ground.height.size > 1:
        near, border = _lay_field(line, ground, frame, atlas, bool(table.points))
    else:
        near, border = _lay_atlas(frame, atlas, track.ground.height)
    strip = [lay_strip(track, line, light, assets)] if is_stripped(track, ground, frame) else []
    return [*strip, near, _lay_surroundings(frame, border, open_ground, table.tile)]


def find_land(box: Box, ground: Ground) -> Box:
    """Return the box that the atlas covers: the track's own, or that of the height field, which is larger [m]."""
    rows, columns = ground.height.shape
    if ground.height.size == 1:
        return box
    x, y = ground.height_origin
    return (x, y, x + (columns - 1) * ground.height_cell, y + (rows - 1) * ground.height_cell)


def _lay_floor(line: CentreLine, height: float, material: int) -> Mesh:
    low, high = line.position.min(axis=0) - 5.0 * HORIZON, line.position.max(axis=0) + 5.0 * HORIZON
    corners = [(x, y, height) for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1]))]
    return make_quad(corners, material, [(x / PLAIN_TILE, -y / PLAIN_TILE) for x, y, _ in corners])


def _lay_atlas(frame: AtlasFrame, material: int, height: float) -> tuple[Mesh, FloatArray]:
    """Return two triangles under the atlas and their border, counter-clockwise."""
    (left, low), (width, depth) = frame.origin, frame.size
    corners = [(left, low), (left + width, low), (left + width, low + depth), (left, low + depth)]
    vertex = np.array([(x, y, height) for x, y in corners])
    uv = np.array([(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
    return make_mesh(vertex, uv, np.array([(0, 1, 2), (0, 2, 3)]), material), vertex


def _lay_field(
    line: CentreLine, ground: Ground, frame: AtlasFrame, material: int, is_round: bool
) -> tuple[Mesh, FloatArray]:
    """Return the height field under the atlas as few triangles, finest on the road, and its border.

    Only the field is covered: it lies inside the atlas.
    """
    from scipy.spatial import cKDTree

    rows, columns = ground.height.shape
    x = ground.height_origin[0] + np.arange(columns) * ground.height_cell
    y = ground.height_origin[1] + np.arange(rows) * ground.height_cell
    point = np.stack(np.meshgrid(x, y), axis=-1)
    away = cKDTree(line.position[::20]).query(point.reshape(-1, 2))[0].reshape(rows, columns)
    growth, most = (ROUNDER, ROUNDEST) if is_round else (COARSER, COARSEST)
    tolerance = FINEST + np.clip(away - line.widest, 0.0, None) * growth
    used, triangle = triangulate_field(ground.height, np.minimum(tolerance, most), BLOCK)
    vertex = np.column_stack((x[used[:, 1]], y[used[:, 0]], ground.height[used[:, 0], used[:, 1]]))
    uv = (vertex[:, :2] - frame.origin) / frame.size
    edge = [
        np.nonzero(used[:, 0] == 0)[0],
        np.nonzero(used[:, 1] == columns - 1)[0],
        np.nonzero(used[:, 0] == rows - 1)[0][::-1],
        np.nonzero(used[:, 1] == 0)[0][::-1],
    ]
    border = np.concatenate([side[:-1] for side in edge])
    return make_mesh(vertex, np.column_stack((uv[:, 0], 1.0 - uv[:, 1])), triangle, material), vertex[border]


def _lay_surroundings(frame: AtlasFrame, border: FloatArray, material: int, tile: float) -> Mesh:
    """Return the ground from a border to the horizon, its texture in step with the grass of the atlas.

    Every border vertex has its own partner at the horizon, so that no vertex lies on another triangle's edge.
    """
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
