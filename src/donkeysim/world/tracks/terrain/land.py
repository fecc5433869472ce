"""The meshes of the ground: the atlas near the track, one tiled texture from there to the horizon."""

from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray, LongArray
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
from donkeysim.world.tracks.textures import make_plain
from donkeysim.world.tracks.track_file import TrackFile

# Beyond the far plane of the cars' cameras (100 m).
HORIZON = 120.0
"""How far the ground reaches beyond the track [m]."""

# A quarter of a wheel's radius: wheels neither sink into the drawn road nor hang above it as far as a picture shows.
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
    frame = frame_atlas(find_land(find_box(line, track), ground), ground.height.size > 1, track.ground.texel)
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


def triangulate_field(height: FloatArray, tolerance: FloatArray, block: int) -> tuple[LongArray, LongArray]:
    """Return the vertices used, as rows and columns of the field, and triangles of them, counter-clockwise from above.

    The field is halved where it bends and whole where it is flat. The triangles are right-angled and each is halved at
    the middle of its longest side (Evans, Kirkpatrick, Townsend, "Right-triangulated irregular networks", Algorithmica
    30, 2001). A middle is taken by both triangles at that side or by none, so that no gap opens.

    Args:
        height: [m], shape [rows + 1, columns + 1], both multiples of `block`.
        tolerance: How far the triangles may lie off each point [m], same shape.
        block: Cells per side of the squares that are halved, a power of two.

    Returns:
        Vertices (row, column), shape [vertex_count, 2], and triangles, shape [triangle_count, 3].
    """
    needed = find_needed(height, tolerance, block)
    triangles = _list_blocks(height.shape, block)
    done = []
    while len(triangles):
        first, second = triangles[:, 0], triangles[:, 1]
        middle = (first + second) // 2
        long = np.abs(first - second).max(axis=1) > 1
        split = long & needed[middle[:, 0], middle[:, 1]]
        done.append(triangles[~split])
        apex, first, second, middle = triangles[split, 2], first[split], second[split], middle[split]
        triangles = np.concatenate((np.stack((apex, first, middle), 1), np.stack((second, apex, middle), 1)))
    corner = np.concatenate(done)
    columns = height.shape[1]
    number = corner[:, :, 0] * columns + corner[:, :, 1]
    used, index = np.unique(number, return_inverse=True)
    return np.column_stack(np.divmod(used, columns)), index.reshape(-1, 3)


def find_needed(height: FloatArray, tolerance: FloatArray, block: int) -> BoolArray:
    """Return which points must be vertices, so that every point lies within its tolerance, same shape as `height`.

    A point is needed when it is too far off the middle of the side that it halves, or when one further down is.
    """
    error = np.zeros_like(height)
    rows, columns = (np.arange(side) for side in height.shape)
    half = 1
    while 2 * half <= block:
        step = 2 * half
        whole, middle = (rows[::step], columns[::step]), (rows[half::step], columns[half::step])
        diagonals = [(a, b) for a in (-half // 2, half // 2) for b in (-half // 2, half // 2)] if half > 1 else []
        sides = [(half, 0), (-half, 0), (0, half), (0, -half)]
        # The sides of squares of `step` cells, whose halves are the diagonals of smaller squares; then the diagonals.
        for at, reach in (((whole[0], middle[1]), (0, half)), ((middle[0], whole[1]), (half, 0))):
            own = _measure_bend(height, tolerance, at, reach)
            error[np.ix_(*at)] = np.maximum(own, _gather_worst(error, at, diagonals))
        rising = (np.arange(len(middle[0]))[:, None] + np.arange(len(middle[1]))) % 2 == 0
        across = [_measure_bend(height, tolerance, middle, reach) for reach in ((half, half), (half, -half))]
        error[np.ix_(*middle)] = np.maximum(np.where(rising, *across), _gather_worst(error, middle, sides))
        half = step
    return np.asarray(error > 1.0)


def _measure_bend(
    height: FloatArray, tolerance: FloatArray, at: tuple[LongArray, LongArray], reach: tuple[int, int]
) -> FloatArray:
    """Return how far points lie off the mean of the two that lie `reach` rows and columns away [tolerance]."""
    one, two = (np.ix_(at[0] + sign * reach[0], at[1] + sign * reach[1]) for sign in (-1, 1))
    here = np.ix_(*at)
    return np.asarray(np.abs(height[here] - 0.5 * (height[one] + height[two])) / tolerance[here])


def _gather_worst(
    error: FloatArray, at: tuple[LongArray, LongArray], offsets: list[tuple[int, int]]
) -> FloatArray | float:
    """Return the greatest error of the points that lie `offsets` rows and columns away, 0 beyond the field."""
    worst: FloatArray | float = 0.0
    for row, column in offsets:
        r, c = at[0] + row, at[1] + column
        inside = ((r >= 0) & (r < error.shape[0]))[:, None] & ((c >= 0) & (c < error.shape[1]))
        found = error[np.ix_(np.clip(r, 0, error.shape[0] - 1), np.clip(c, 0, error.shape[1] - 1))]
        worst = np.maximum(worst, np.where(inside, found, 0.0))
    return worst


def _list_blocks(shape: tuple[int, ...], block: int) -> LongArray:
    """Return the two triangles of each block: ends of the diagonal, then the right angle, shape [n, 3, 2]."""
    row, column = np.meshgrid(np.arange(0, shape[0] - 1, block), np.arange(0, shape[1] - 1, block), indexing="ij")
    low = np.stack((row.ravel(), column.ravel()), 1)
    odd = ((low // block).sum(axis=1) % 2)[:, None]
    right, up, far = (low + np.array(step) for step in ((0, block), (block, 0), (block, block)))
    first, second = np.where(odd, right, low), np.where(odd, up, far)
    return np.concatenate(
        (np.stack((first, second, np.where(odd, low, up)), 1), np.stack((second, first, np.where(odd, far, right)), 1))
    )
