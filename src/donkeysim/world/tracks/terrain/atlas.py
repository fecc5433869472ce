"""The picture of the ground near the track, seen from above: ground, patches, road and the light that falls on it."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.structures.structure import Footprint, Shadow
from donkeysim.world.tracks.tables.ground import TILE_SIZE, GroundTable
from donkeysim.world.tracks.tables.road import Stroke
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame
from donkeysim.world.tracks.terrain.ground import CellGrid, RoadCells, paint_road_cells
from donkeysim.world.tracks.terrain.ground_light import GroundLight, cast_light, light_texels
from donkeysim.world.tracks.terrain.patches import paint_patch
from donkeysim.world.tracks.terrain.road_class import classify_road
from donkeysim.world.tracks.terrain.road_paint import make_road_paint, paint_road
from donkeysim.world.tracks.terrain.surfaces import make_surface
from donkeysim.world.tracks.textures import AnyFloat, as_colour
from donkeysim.world.tracks.track_file import TrackFile

SOFT = 1.5
"""Over how many texels paint begins and ends, as that of markings does."""

COVER = 0.96
"""Share of what lies under it that paint hides."""


def lay_ground(table: GroundTable, frame: AtlasFrame) -> ByteArray:
    """Return the ground's surface all over the atlas, from its lower left corner on; shape [rows, columns, 4]."""
    size = max(1, round(table.tile / frame.texel))
    tile = make_surface(table.texture, size, table.colour)
    laid = np.tile(tile, (-(-frame.rows // size), -(-frame.columns // size), 1))
    return np.ascontiguousarray(laid[len(laid) - frame.rows :, : frame.columns])


def paint_atlas(
    track: TrackFile,
    line: CentreLine,
    frame: AtlasFrame,
    shadows: Sequence[Shadow | Footprint],
    sun: tuple[float, float, float],
) -> tuple[ByteArray, ByteArray, GroundLight]:
    """Return the atlas, the classes of its texels, shape [rows, columns], and the light in it.

    Args:
        track: Ground, road, markings and start lines.
        frame: Where the atlas lies.
        shadows: Of everything that stands still.
        sun: Unit vector towards the sun.
    """
    size = max(1, round(TILE_SIZE / frame.texel))
    atlas = lay_ground(track.ground, frame)
    classes = np.full((frame.rows, frame.columns), CLASS_GROUND, np.uint8)
    for patch in track.ground.patches:
        if not patch.over:
            paint_patch(patch, frame, atlas)
    paint = make_road_paint(track, line, size)
    # A texel's four bytes as one word, and rows end to end: read and written in one go.
    words, flat_classes = atlas.view(np.uint32).ravel(), classes.ravel()

    def work(cells: RoadCells) -> None:
        row, column = frame.rows - 1 - cells.row, cells.column
        at = row * frame.columns + column
        texel = words[at].view(np.uint8).reshape(-1, 4)
        colour = paint_road(paint, cells.place, texel[:, :3].astype(np.float32), row, column)
        texel[:, :3] = np.clip(colour + 0.5, 0.0, 255.0)
        words[at] = texel.view(np.uint32)[:, 0]
        flat_classes[at] = classify_road(track, line, cells.place)

    grid = CellGrid(frame.origin, frame.texel, frame.rows, frame.columns)
    paint_road_cells(line, grid, paint.reach, work)
    for stroke in track.road.strokes:
        paint_stroke(stroke, frame, atlas, classes)
    for patch in track.ground.patches:
        if patch.over:
            paint_patch(patch, frame, atlas, classes)
    light = cast_light(frame, shadows, sun, classes != CLASS_GROUND, track.light.lamp)
    light_texels(atlas, light.share, light.step)
    return atlas, classes, light


def paint_stroke(stroke: Stroke, frame: AtlasFrame, atlas: ByteArray, classes: ByteArray) -> None:
    """Paint a stroke into the atlas, as far as it lies inside.

    Args:
        frame: Where the atlas lies.
        atlas: Written.
        classes: Of the atlas' texels; written.
    """
    corner = np.array(stroke.points + (stroke.points[:1] if stroke.closed else ()), float)
    for begin, end in itertools.pairwise(corner):
        _paint_piece(stroke, begin, end, frame, atlas, classes)


def _paint_piece(
    stroke: Stroke, begin: FloatArray, end: FloatArray, frame: AtlasFrame, atlas: ByteArray, classes: ByteArray
) -> None:
    """Paint a straight piece, round at both ends."""
    reach = 0.5 * stroke.width + SOFT * frame.texel
    low, high = np.minimum(begin, end) - reach - frame.origin, np.maximum(begin, end) + reach - frame.origin
    columns = slice(max(0, math.floor(low[0] / frame.texel)), max(0, math.ceil(high[0] / frame.texel)))
    top, bottom = frame.rows - math.ceil(high[1] / frame.texel), frame.rows - math.floor(low[1] / frame.texel)
    rows = slice(max(0, top), max(0, bottom))
    part = atlas[rows, columns, :3]
    x = frame.origin[0] + (columns.start + np.arange(part.shape[1]) + 0.5) * frame.texel
    y = frame.origin[1] + (frame.rows - rows.start - np.arange(part.shape[0]) - 0.5) * frame.texel
    away = _measure_away(x[None, :] - begin[0], y[:, None] - begin[1], end - begin)
    share = COVER * np.clip((0.5 * stroke.width - away) / (SOFT * frame.texel) + 0.5, 0.0, 1.0)[..., None]
    own = part.astype(np.float32)
    part[:] = np.clip(own + (as_colour(stroke.colour) - own) * share + 0.5, 0.0, 255.0)
    classes[rows, columns][away <= 0.5 * stroke.width] = CLASS_LINE


def _measure_away(dx: AnyFloat, dy: AnyFloat, piece: FloatArray) -> AnyFloat:
    """Return distances from a straight piece [m] of places that lie so far from its begin along x and y."""
    share = np.clip((dx * piece[0] + dy * piece[1]) / max(float(piece @ piece), 1e-12), 0.0, 1.0)
    return np.asarray(np.hypot(dx - share * piece[0], dy - share * piece[1]))
