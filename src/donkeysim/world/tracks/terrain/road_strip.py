"""A long road on level ground as a strip of its own, a hair above the ground: its picture runs along the path.

The ground's picture covers the whole box of a path; where that is large, its texels are coarser than a line is wide.
The strip's are as fine across the road as those of a small place, whatever the path's length.
"""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.world.scene import CLASS_GROUND, SHADE_TEXTURE, Ground, Material, Mesh
from donkeysim.world.tracks.assets import WHITE, Assets
from donkeysim.world.tracks.mesh import make_mesh
from donkeysim.world.tracks.paths.path import SAMPLE_SPACING, CentreLine
from donkeysim.world.tracks.terrain.atlas_frame import FINEST_TEXEL, SIDE_MOST, TEXELS_MOST, AtlasFrame
from donkeysim.world.tracks.terrain.ground import RoadPlace
from donkeysim.world.tracks.terrain.ground_light import GroundLight, light_texels
from donkeysim.world.tracks.terrain.road_class import classify_road
from donkeysim.world.tracks.terrain.road_paint import RoadPaint, make_road_paint, paint_road
from donkeysim.world.tracks.terrain.surfaces import TEXELS, make_surface
from donkeysim.world.tracks.track_file import TrackFile

LIFT = 0.002
"""How high above the ground the strip lies [m]: too little to be seen, enough for the depth of far pixels."""

ALONG = 2.0 * FINEST_TEXEL
"""Length of a texel along the road [m], about: what is painted there changes more across."""

# Half a texel of the finest ground.
CHORD = 0.004
"""How far the strip's edges may run beside a turn's arc [m], about."""

LONGEST, SHORTEST = 2.0, 0.12
"""Of the pieces between two rungs of the mesh [m]."""

PART = 256
"""Columns of the picture that are painted at a time, so that intermediate arrays stay small."""

STEP = 8
"""Texels per side of a square that the light is sampled for."""


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


def is_stripped(track: TrackFile, ground: Ground, frame: AtlasFrame) -> bool:
    """Return whether a road gets a strip: the ground is level and its picture too coarse for what is painted.

    Strokes lie on the ground, wherever the path runs: with them there is none.
    """
    has_paint = track.road.texture != "none" and not track.road.strokes
    return frame.texel > track.ground.texel and ground.height.size == 1 and has_paint


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

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(work, parts):
            pass
    for stretch in range(frame.count):
        _light_stretch(picture[stretch * frame.rows : (stretch + 1) * frame.rows], frame, stretch, line, light)
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


def _light_stretch(part: ByteArray, frame: StripFrame, stretch: int, line: CentreLine, light: GroundLight) -> None:
    """Multiply a stretch of the picture by the light that falls there."""
    row, column = np.mgrid[0 : frame.rows // STEP, 0 : frame.columns // STEP] * float(STEP) + 0.5 * STEP
    along, lateral = frame.locate(stretch, row.ravel(), column.ravel())
    light_texels(part, light.sample(line.offset(along, lateral)[0]).reshape(*row.shape, 4), STEP)


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
