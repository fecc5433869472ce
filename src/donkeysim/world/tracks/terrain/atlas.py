"""The picture of the ground near the track, seen from above: ground, patches, road and the light that falls on it.

Patches are rectangles: mats, rugs, painted fields, with a border and a text, or lying pictures.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from donkeysim.core.types import ByteArray, Float32Array, FloatArray
from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE
from donkeysim.world.tracks.art import read_picture, require_picture
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.structures.structure import Footprint, Shadow
from donkeysim.world.tracks.tables.ground import TILE_SIZE, GroundTable, Patch
from donkeysim.world.tracks.tables.road import Stroke
from donkeysim.world.tracks.terrain.atlas_frame import AtlasFrame
from donkeysim.world.tracks.terrain.ground import CellGrid, RoadCells, paint_road_cells
from donkeysim.world.tracks.terrain.ground_light import GroundLight, cast_light, light_texels
from donkeysim.world.tracks.terrain.road_class import classify_road
from donkeysim.world.tracks.terrain.road_paint import make_road_paint, paint_road
from donkeysim.world.tracks.terrain.surfaces import make_surface
from donkeysim.world.tracks.textures import AnyFloat, as_colour
from donkeysim.world.tracks.track_file import TrackFile

SOFT = 1.5
"""Over how many texels paint begins and ends, as that of markings does."""

COVER = 0.96
"""Share of what lies under it that paint hides."""

PATCH_SOFT = 0.6
"""Width of a patch's edge [texel]."""

BAND = 96
"""Rows of texels painted at a time, so that intermediate arrays stay small."""


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


def paint_patch(patch: Patch, frame: AtlasFrame, atlas: ByteArray, classes: ByteArray | None = None) -> None:
    """Paint a patch into the atlas, at each of its places, as far as it lies inside.

    Args:
        atlas: Written.
        classes: Of the atlas' texels; written: the patch is a line on the road.

    Raises:
        SceneError: There is no such picture.
    """
    picture = _shrink_picture(patch, frame.texel) if patch.picture else None
    for x, y, yaw in patch.places or ((*(patch.at or (0.0, 0.0)), 0.0),):
        one = dataclasses.replace(patch, at=(x, y), places=(), yaw=yaw + patch.yaw)
        _paint_one(one, picture, frame, atlas, classes)


def _paint_one(
    patch: Patch, picture: Float32Array | None, frame: AtlasFrame, atlas: ByteArray, classes: ByteArray | None
) -> None:
    """Paint a patch of one place."""
    half, bands = 0.5 * np.array(patch.size), list(_cut_bands(patch, frame))
    if not bands:
        return
    mean = _find_mean(patch, atlas, bands)
    for rows, columns, along, across in bands:
        if picture is None:
            _paint_band(patch, frame.texel, atlas[rows, columns, :3], mean, along, across)
        else:
            _show_picture(patch, picture, atlas[rows, columns, :3], along, across)
        if classes is not None:
            inside = (np.abs(along) <= half[0]) & (np.abs(across) <= half[1])
            classes[rows, columns][inside] = CLASS_LINE


def _cut_bands(patch: Patch, frame: AtlasFrame) -> Iterator[tuple[slice, slice, AnyFloat, AnyFloat]]:
    """Give rows and columns of the atlas that a patch touches, some at a time, and where they lie on it [m].

    Of each texel how far along and across from the middle of the patch it lies, shape [rows, columns] each.
    """
    yaw, middle = math.radians(patch.yaw), patch.at or (0.0, 0.0)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    corner = 0.5 * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * patch.size
    corner = np.column_stack((corner[:, 0] * cosine - corner[:, 1] * sine, corner[:, 0] * sine + corner[:, 1] * cosine))
    spare = 2.0 * frame.texel
    below, above = (corner[:, 1].min() - spare, corner[:, 1].max() + spare)
    x = (frame.origin[0] + (np.arange(frame.columns) + 0.5) * frame.texel - middle[0]).astype(np.float32)
    y = (frame.origin[1] + (frame.rows - np.arange(frame.rows) - 0.5) * frame.texel - middle[1]).astype(np.float32)
    first, last = np.searchsorted(-y, (-above, -below))
    for top in range(first, last, BAND):
        rows = slice(top, min(top + BAND, last))
        left, right = _find_width(corner, y[rows.stop - 1] - spare, y[top] + spare)
        columns = slice(*np.searchsorted(x, (left - spare, right + spare)))
        if columns.stop > columns.start:
            beside, high = x[None, columns], y[rows, None]
            yield rows, columns, beside * cosine + high * sine, high * cosine - beside * sine


def _find_width(corner: FloatArray, low: float, high: float) -> tuple[float, float]:
    """Return least and greatest x of the part of a convex shape between two heights [m]."""
    begin, step = corner, np.roll(corner, -1, axis=0) - corner
    ends = [
        np.clip((side - begin[:, 1]) / np.where(step[:, 1] == 0.0, 1e-9, step[:, 1]), 0.0, 1.0) for side in (low, high)
    ]
    x = np.concatenate([begin[:, 0] + share * step[:, 0] for share in ends])
    return float(x.min()), float(x.max())


def _find_mean(patch: Patch, atlas: ByteArray, bands: Sequence[tuple[slice, slice, AnyFloat, AnyFloat]]) -> AnyFloat:
    """Return the mean colour of the ground around a patch that lets some of it show, at least 1, shape [3]."""
    if patch.cover == 1.0 or patch.picture:
        return np.ones(3, np.float32)
    rows = slice(bands[0][0].start, bands[-1][0].stop)
    columns = slice(min(band[1].start for band in bands), max(band[1].stop for band in bands))
    return np.asarray(np.maximum(atlas[rows, columns, :3].mean(axis=(0, 1)), 1.0), np.float32)


def _paint_band(patch: Patch, texel: float, band: ByteArray, mean: AnyFloat, along: AnyFloat, across: AnyFloat) -> None:
    """Paint a patch over some rows of the atlas; `along` and `across`: where their texels lie from its middle [m]."""
    inset = np.minimum(0.5 * patch.size[0] - np.abs(along), 0.5 * patch.size[1] - np.abs(across)) / texel
    cover = np.clip(inset / PATCH_SOFT + 0.5, 0.0, 1.0)[..., None]
    own = band.astype(np.float32)
    colour = as_colour(patch.colour) * np.ones_like(own)
    if patch.chequer > 0.0:
        share = _cover_squares(along, patch.chequer, texel) * _cover_squares(across, patch.chequer, texel)
        colour += (as_colour(patch.border_colour) - colour) * (0.5 - 0.5 * share)[..., None]
    if patch.text:
        ink = _write_text(patch, along, across)[..., None]
        colour += (as_colour(patch.text_colour) - colour) * ink
    if patch.border > 0.0:
        inside = np.clip((inset - patch.border / texel) / PATCH_SOFT + 0.5, 0.0, 1.0)[..., None]
        colour += (as_colour(patch.border_colour) - colour) * (1.0 - inside)
    painted = colour * (patch.cover + (1.0 - patch.cover) * own / mean)
    band[:] = np.clip(own + (painted - own) * cover + 0.5, 0.0, 255.0)


def _shrink_picture(patch: Patch, texel: float) -> Float32Array:
    """Return a patch's picture in its tint, no finer than the atlas, its colours times its alpha (0 to 1)."""
    require_picture(patch.picture, "ground.patches")
    whole = read_picture(patch.picture).astype(np.float32)
    alpha = whole[..., 3:] / 255.0
    channels = np.concatenate((whole[..., :3] * as_colour(patch.colour) / 255.0 * alpha, alpha), axis=2)
    size = [min(own, max(1, math.ceil(side / texel))) for own, side in zip(whole.shape[1::-1], patch.size, strict=True)]
    box = Image.Resampling.BOX
    return np.stack(
        [np.asarray(Image.fromarray(np.ascontiguousarray(channels[..., n])).resize(size, box)) for n in range(4)],
        axis=2,
    )


def _show_picture(patch: Patch, picture: Float32Array, band: ByteArray, along: AnyFloat, across: AnyFloat) -> None:
    """Lay a picture, bilinear, over some rows of the atlas; its right end lies along the patch's length."""
    high, wide = picture.shape[:2]
    column = (along / patch.size[0] + 0.5) * wide - 0.5
    row = (0.5 - across / patch.size[1]) * high - 0.5
    inside = (np.abs(along) <= 0.5 * patch.size[0]) & (np.abs(across) <= 0.5 * patch.size[1])
    column, row = column[inside], row[inside]
    left, top = np.floor(column), np.floor(row)
    share = ((1.0 - (column - left), column - left), (1.0 - (row - top), row - top))
    columns = [np.clip(left + n, 0.0, wide - 1.0).astype(np.intp) for n in (0, 1)]
    rows = [np.clip(top + n, 0.0, high - 1.0).astype(np.intp) * wide for n in (0, 1)]
    texel, seen = picture.reshape(-1, 4), np.zeros((len(column), 4), np.float32)
    for across_n in (0, 1):
        for down_n in (0, 1):
            weight = share[0][across_n] * share[1][down_n] * patch.cover
            seen += texel.take(rows[down_n] + columns[across_n], axis=0) * weight[:, None]
    band[inside] = np.clip(band[inside] * (1.0 - seen[:, 3:]) + seen[:, :3] + 0.5, 0.0, 255.0)


def _cover_squares(place: AnyFloat, side: float, texel: float) -> AnyFloat:
    """Return 1 in every other row of squares, -1 between them, smooth over a texel; a row begins at 0."""
    wave = 0.5 - np.abs(np.mod(place / side - 0.5, 2.0) - 1.0)
    return np.asarray(np.clip(2.0 * wave * side / texel, -1.0, 1.0))


def _write_text(patch: Patch, along: AnyFloat, across: AnyFloat) -> AnyFloat:
    """Return how much of each texel the text covers, 0 to 1: along the patch, read with its left edge upwards."""
    length, width = patch.size
    size = (1024, max(16, round(1024 * width / length)))
    picture = Image.new("L", size)
    font = ImageFont.load_default(size=0.6 * size[1])
    box = font.getbbox(patch.text)
    fit = min(1.0, 0.9 * size[0] / max(1.0, box[2] - box[0]))
    font = ImageFont.load_default(size=0.6 * size[1] * fit)
    ImageDraw.Draw(picture).text((size[0] / 2, size[1] / 2), patch.text, fill=255, font=font, anchor="mm")
    ink = np.asarray(picture, np.float32) / 255.0
    column = np.clip(((along / length + 0.5) * size[0]).astype(int), 0, size[0] - 1)
    row = np.clip(((0.5 - across / width) * size[1]).astype(int), 0, size[1] - 1)
    return np.asarray(ink[row, column])
