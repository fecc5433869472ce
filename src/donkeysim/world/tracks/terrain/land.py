"""The meshes of the ground: the atlas near the track, one tiled texture from there to the horizon.

A long road on level ground is a strip of its own, a hair above it, whose picture runs along the path. The atlas covers
the whole box of a path; where that is large, its texels are coarser than a line is wide. The strip's are as fine across
the road as those of a small place, whatever the path's length.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import BoolArray, ByteArray, FloatArray, LongArray
from donkeysim.core.workers import work_through
from donkeysim.world.scene import CLASS_GROUND, SHADE_TEXTURE, Ground, Material, Mesh
from donkeysim.world.tracks.mesh import WHITE, Assets, make_mesh, make_quad
from donkeysim.world.tracks.paths.path import SAMPLE_SPACING, CentreLine
from donkeysim.world.tracks.structures.structure import Footprint, Shadow
from donkeysim.world.tracks.terrain.atlas import paint_atlas
from donkeysim.world.tracks.terrain.atlas_frame import FINEST_TEXEL, SIDE_MOST, TEXELS_MOST, AtlasFrame, frame_atlas
from donkeysim.world.tracks.terrain.elevation import BLOCK, Box
from donkeysim.world.tracks.terrain.ground import RoadPlace, find_box
from donkeysim.world.tracks.terrain.ground_light import GroundLight, light_texels
from donkeysim.world.tracks.terrain.road_class import classify_road
from donkeysim.world.tracks.terrain.road_paint import RoadPaint, make_road_paint, paint_road
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

LIFT = 0.002
"""How high above the ground the strip lies [m]: too little to be seen, enough for the depth of far pixels."""

ALONG = 2.0 * FINEST_TEXEL
"""Length of a texel along the road [m], about: what is painted there changes more across."""

# Half a texel of the finest ground.
CHORD = 0.004
"""How far the strip's edges may run beside a turn's arc [m], about."""

LONGEST, SHORTEST = 2.0, 0.12
"""Of the pieces between two rungs of the strip's mesh [m]."""

PART = 256
"""Columns of the strip's picture that are painted at a time, so that intermediate arrays stay small."""

STEP = 8
"""Texels of the strip per side of a square that the light is sampled for."""


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
        floor, high = assets.ensure_textured(make_plain, segment=CLASS_GROUND), track.ground.height
        left, below = line.position.min(axis=0) - 5.0 * HORIZON
        right, above = line.position.max(axis=0) + 5.0 * HORIZON
        corners = [(left, below, high), (right, below, high), (right, above, high), (left, above, high)]
        return [make_quad(corners, floor, [(x / PLAIN_TILE, -y / PLAIN_TILE) for x, y, _ in corners])]
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
    # Strokes lie on the ground, wherever the path runs: with them there is no strip.
    has_paint = track.road.texture != "none" and not track.road.strokes
    is_coarse = frame.texel > track.ground.texel and ground.height.size == 1
    strip = [lay_strip(track, line, light, assets)] if is_coarse and has_paint else []
    return [*strip, near, _lay_surroundings(frame, border, open_ground, table.tile)]


def find_land(box: Box, ground: Ground) -> Box:
    """Return the box that the atlas covers: the track's own, or that of the height field, which is larger [m]."""
    rows, columns = ground.height.shape
    if ground.height.size == 1:
        return box
    x, y = ground.height_origin
    return (x, y, x + (columns - 1) * ground.height_cell, y + (rows - 1) * ground.height_cell)


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


@dataclass(frozen=True)
class StripFrame:
    """How the picture lies on the road: stretches of it one above another, each from left to right along the path.

    Attributes:
        count: Stretches.
        columns: Texels along each.
        rows: Texels across each, from left to right.
        length: Of a stretch [m].
        left: From the path to the strip's left edge [m].
        width: Of the strip [m].
    """

    count: int
    columns: int
    rows: int
    length: float
    left: float
    width: float

    def locate(self, stretch: int, row: FloatArray, column: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far along the path and to its left texels lie [m]."""
        return (stretch + column / self.columns) * self.length, self.left - row / self.rows * self.width


def lay_strip(track: TrackFile, line: CentreLine, light: GroundLight, assets: Assets) -> Mesh:
    """Return the strip; its picture and the map of what is road and line join the scene's."""
    paint = make_road_paint(track, line, TEXELS)
    beside = paint.reach - line.widest
    frame = frame_strip(line, float(line.width_left.max()) + beside, float(line.width_right.max()) + beside)
    height = 2 ** math.ceil(math.log2(frame.count * frame.rows))
    picture = np.full((height, frame.columns, 4), 255, np.uint8)
    classes = np.full((height, frame.columns), CLASS_GROUND, np.uint8)
    parts = [(n, slice(at, at + PART)) for n in range(frame.count) for at in range(0, frame.columns, PART)]

    def work(part: tuple[int, slice]) -> None:
        stretch, columns = part
        rows = slice(stretch * frame.rows, (stretch + 1) * frame.rows)
        colour, seen = _paint_part(paint, frame, stretch, columns)
        picture[rows, columns, :3], classes[rows, columns] = colour, seen

    work_through(work, parts)
    for stretch in range(frame.count):
        row, column = np.mgrid[0 : frame.rows // STEP, 0 : frame.columns // STEP] * float(STEP) + 0.5 * STEP
        along, lateral = frame.locate(stretch, row.ravel(), column.ravel())
        falling = light.sample(line.offset(along, lateral)[0]).reshape(*row.shape, 4)
        light_texels(picture[stretch * frame.rows : (stretch + 1) * frame.rows], falling, STEP)
    material = Material(SHADE_TEXTURE, WHITE, assets.add_texture(picture), CLASS_GROUND, assets.add_class_map(classes))
    return _lay_mesh(line, frame, height, track.ground.height + LIFT, assets.ensure_material(material))


def _paint_part(paint: RoadPaint, frame: StripFrame, stretch: int, columns: slice) -> tuple[ByteArray, ByteArray]:
    """Return colours and classes of some columns of a stretch, shapes [rows, columns, 3] and [rows, columns]."""
    track, line, shape = paint.track, paint.line, (frame.rows, columns.stop - columns.start)
    down = np.arange(frame.rows, dtype=np.float64)
    across = np.arange(columns.start, columns.stop, dtype=np.float64)
    middle, left = frame.locate(stretch, down + 0.5, across + 0.5)
    (x, y), yaw = line.locate(middle)[0].T, line.locate(middle)[1]
    texels = TEXELS / track.ground.tile
    column = ((x - np.sin(yaw) * left[:, None]) * texels).astype(int) % TEXELS
    row = (-(y + np.cos(yaw) * left[:, None]) * texels).astype(int) % TEXELS
    tile = make_surface(track.ground.texture, TEXELS, track.ground.colour)
    bare = tile[row, column, :3].reshape(-1, 3).astype(np.float32)
    widths = (np.broadcast_to(width, shape) for width in line.measure_widths(middle))
    fields = (np.broadcast_to(middle, shape), np.broadcast_to(left[:, None], shape), *widths)
    place = RoadPlace(*(np.asarray(field, np.float32).ravel() for field in fields))
    rows, places = np.arange(frame.rows), np.arange(columns.start, columns.stop)
    colour = paint_road(paint, place, bare, np.repeat(rows, shape[1]), np.tile(places, frame.rows))
    texel = np.clip(colour + 0.5, 0.0, 255.0).astype(np.uint8).reshape(*shape, 3)
    return texel, classify_road(track, line, place).reshape(shape)


def frame_strip(line: CentreLine, left: float, right: float) -> StripFrame:
    """Return the frame of a picture from so far left of the path to so far right of it [m]."""
    width = left + right
    rows = 2 ** math.ceil(math.log2(width / FINEST_TEXEL))
    count = max(1, min(math.ceil(line.length / (SIDE_MOST * ALONG) - 0.1), TEXELS_MOST // (SIDE_MOST * rows)))
    columns = min(SIDE_MOST, 2 ** math.ceil(math.log2(line.length / (count * ALONG))))
    return StripFrame(count, columns, rows, line.length / count, left, width)


def _lay_mesh(line: CentreLine, frame: StripFrame, height: int, level: float, material: int) -> Mesh:
    """Return the strip's triangles: rungs across the road, closer to each other the tighter it turns."""
    vertex, uv, triangle = [], [], []
    base = 0
    for stretch in range(frame.count):
        along = _space_rungs(line, stretch * frame.length, (stretch + 1) * frame.length)
        u = (along / frame.length - stretch) * (1.0 - 1e-6)
        for row in (0, frame.rows):
            side = line.offset(along, np.full(len(along), frame.left - row / frame.rows * frame.width))[0]
            vertex.append(np.column_stack((side, np.full(len(along), level))))
            uv.append(np.column_stack((u, np.full(len(along), (stretch * frame.rows + row) / height))))
        left = base + np.arange(len(along) - 1)
        right = left + len(along)
        triangle += [np.column_stack((right, right + 1, left + 1)), np.column_stack((right, left + 1, left))]
        base += 2 * len(along)
    return make_mesh(np.concatenate(vertex), np.concatenate(uv), np.concatenate(triangle), material)


def _space_rungs(line: CentreLine, first: float, last: float) -> FloatArray:
    """Return places of rungs along a stretch of the path, its ends among them [m]."""
    at = np.arange(first, last, SAMPLE_SPACING)
    curvature = np.abs(line.curvature[line.find_sample(at)[1]])
    dense = 1.0 / np.clip(np.sqrt(8.0 * CHORD / np.maximum(curvature, 1e-6)), SHORTEST, LONGEST)
    rungs = np.concatenate(([0.0], np.cumsum(dense))) * SAMPLE_SPACING
    count = max(1, math.ceil(rungs[-1]))
    places = np.concatenate((at, [last]))
    return np.interp(np.linspace(0.0, rungs[-1], count + 1), rungs, places)
