"""The picture of the ground near the track, seen from above: grass, road, markings, start line and baked shadows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from PIL import Image, ImageDraw, ImageFilter

from donkeysim.core.types import ByteArray
from donkeysim.world.scene import CLASS_GROUND
from donkeysim.world.tracks.ground import Box, RoadPlace, iterate_road_cells
from donkeysim.world.tracks.path import CentreLine
from donkeysim.world.tracks.road_class import CHEQUER, classify_road, measure_ahead
from donkeysim.world.tracks.structure import Footprint, Shadow
from donkeysim.world.tracks.tables.road import Marking
from donkeysim.world.tracks.textures import GRASS_SIZE, AnyFloat, as_colour, make_grass, make_noise
from donkeysim.world.tracks.track_file import TrackFile

TEXELS = 2048
"""Most texels per side of the atlas."""

FINEST_TEXEL = 0.0075
"""Size of a texel where the track allows it [m]; larger places get coarser ones."""

SHOULDER = 0.10
"""Width of the worn strip between road and grass [m]."""


@dataclass(frozen=True)
class AtlasFrame:
    """Where the atlas lies in the world.

    Attributes:
        origin: x, y of its lower corner [m].
        texel: Side of a texel [m].
        rows: Along y; texture row 0 lies at the greatest y.
        columns: Along x.
    """

    origin: tuple[float, float]
    texel: float
    rows: int
    columns: int

    @property
    def size(self) -> tuple[float, float]:
        """Extent along x and y [m]."""
        return self.columns * self.texel, self.rows * self.texel


def frame_atlas(box: Box) -> AtlasFrame:
    """Return the smallest atlas of whole grass tiles that covers a box, at the finest texel that fits."""
    width, depth = box[2] - box[0], box[3] - box[1]
    texel = FINEST_TEXEL
    while max(width, depth) > TEXELS * texel:
        texel *= 2.0
    columns, rows = (max(GRASS_SIZE, 2 ** math.ceil(math.log2(extent / texel))) for extent in (width, depth))
    centre = (0.5 * (box[0] + box[2]), 0.5 * (box[1] + box[3]))
    tile = GRASS_SIZE * texel
    origin = tuple(
        math.floor((c - 0.5 * n * texel) / tile * 64.0) * tile / 64.0
        for c, n in zip(centre, (columns, rows), strict=True)
    )
    return AtlasFrame((origin[0], origin[1]), texel, rows, columns)


def paint_atlas(
    track: TrackFile,
    line: CentreLine,
    frame: AtlasFrame,
    shadows: Sequence[Shadow | Footprint],
    sun: tuple[float, float, float],
) -> tuple[ByteArray, ByteArray]:
    """Return the atlas and the classes of its texels, shape [rows, columns].

    Args:
        track: Road, markings and start lines.
        line: The path.
        frame: Where the atlas lies.
        shadows: Of everything that stands still.
        sun: Unit vector towards the sun.
    """
    atlas = np.tile(make_grass(), (frame.rows // GRASS_SIZE, frame.columns // GRASS_SIZE, 1))
    classes = np.full((frame.rows, frame.columns), CLASS_GROUND, np.uint8)
    reach = line.widest + 2.0 * SHOULDER
    noise = (make_noise(512, 512, 0.3, 71, finest=1.5), make_noise(512, 512, 1.3, 72, finest=6.0, coarsest=300.0))
    for cells in iterate_road_cells(line, frame.origin, frame.texel, frame.rows, frame.columns, reach):
        row, column = frame.rows - 1 - cells.row, cells.column
        grain, patches = (layer[row % 512, column % 512] for layer in noise)
        colour = _paint_road(track, line, cells.place, atlas[row, column, :3].astype(np.float32), grain, patches)
        atlas[row, column, :3] = np.clip(colour + 0.5, 0.0, 255.0)
        classes[row, column] = classify_road(track, line, cells.place)
    light = _paint_light(line, frame, shadows, sun)
    for top in range(0, frame.rows, 64):
        band = atlas[top : top + 64, :, :3]
        band[:] = np.minimum(band.astype(np.uint16) * light[top : top + 64] >> 7, 255)
    return atlas, classes


def _paint_road(
    track: TrackFile,
    line: CentreLine,
    place: RoadPlace,
    grass: AnyFloat,
    grain: AnyFloat,
    patches: AnyFloat,
) -> AnyFloat:
    """Return the colours of texels on and near the road, shape [texel_count, 3], over fine and coarse noise."""
    beside = place.beside
    tone = 98.0 + 5.0 * grain + 5.5 * patches - 9.0 * _wheel_tracks(track, place.lateral)
    asphalt = tone[:, None] * as_colour((0.98, 0.99, 1.03))
    for marking in track.road.markings:
        cover = _cover_marking(marking, line, place) * np.clip(0.93 + 0.10 * patches + 0.05 * grain, 0.0, 1.0)
        asphalt += (as_colour(marking.colour) - asphalt) * cover[:, None]
    for at in track.start.lines:
        cover, square = _cover_chequer(line, place, at)
        asphalt += (square[:, None] * as_colour((214, 214, 210)) + 24.0 - asphalt) * cover[:, None]
    worn = as_colour((128, 112, 84)) + (7.0 * grain + 9.0 * patches)[:, None]
    ragged = beside + 0.018 * patches + 0.010 * grain
    dirt = np.clip(1.25 - ragged / SHOULDER, 0.0, 1.0)[:, None] * 0.85
    ground = grass + (worn - grass) * dirt * dirt * (3.0 - 2.0 * dirt)
    on_road = np.clip(0.5 - (beside + 0.004 * grain) / 0.018, 0.0, 1.0)[:, None]
    return np.asarray(ground + (asphalt - ground) * on_road, np.float32)


def _wheel_tracks(track: TrackFile, lateral: AnyFloat) -> AnyFloat:
    """Return how much tyres have darkened the road, 0 to 1: two bands beside each grid column's middle."""
    dark = np.zeros_like(lateral)
    for middle in track.start.columns:
        for side in (-0.085, 0.085):
            dark += np.exp(-(((lateral - middle - side) / 0.05) ** 2))
    return np.asarray(np.minimum(dark, 1.0))


def _cover_marking(marking: Marking, line: CentreLine, place: RoadPlace) -> AnyFloat:
    soft = 0.011
    cover = np.clip((0.5 * marking.width - np.abs(place.lateral - marking.offset)) / soft + 0.5, 0.0, 1.0)
    if marking.dash > 0.0:
        period = marking.dash + marking.gap
        if line.closed:
            period = line.length / max(1, round(line.length / period))
        phase = np.mod(place.along, period) - 0.5 * period
        cover *= np.clip(
            (0.5 * marking.dash * period / (marking.dash + marking.gap) - np.abs(phase)) / soft + 0.5, 0.0, 1.0
        )
    return np.asarray(cover)


def _cover_chequer(line: CentreLine, place: RoadPlace, at: float) -> tuple[AnyFloat, AnyFloat]:
    """Return where the start line is painted (0 to 1) and which of its squares are white (0 or 1)."""
    ahead = measure_ahead(line, place, at)
    if np.abs(ahead).min() > 2.0 * CHEQUER:
        return np.zeros_like(ahead), np.zeros_like(ahead)
    column = np.floor((place.lateral + place.right) / CHEQUER)
    row = np.floor(ahead / CHEQUER)
    inside = np.clip((CHEQUER - np.abs(ahead)) / 0.011 + 0.5, 0.0, 1.0)
    return inside, np.mod(row + column, 2.0)


def _paint_light(
    line: CentreLine,
    frame: AtlasFrame,
    shadows: Sequence[Shadow | Footprint],
    sun: tuple[float, float, float],
) -> ByteArray:
    """Return the share of light that reaches the ground, 128 = all, shape [rows, columns, 3]; 128 along the border."""
    step = 8
    rows, columns = frame.rows // step, frame.columns // step
    cell = frame.texel * step
    x = frame.origin[0] + (np.arange(columns) + 0.5) * cell
    y = frame.origin[1] + (np.arange(rows, 0, -1) - 0.5) * cell
    shade = np.zeros((rows, columns), np.float32)
    for shadow in shadows:
        if isinstance(shadow, Shadow):
            _add_shadow(shade, shadow, sun, x, y)
        else:
            _add_footprint(shade, shadow, sun, x, y)
    shade = np.minimum(shade, 0.52)
    mottle = make_noise(rows, columns, 1.5, 73, finest=3.0, coarsest=rows / 2)
    edge = np.minimum(np.minimum(x - x[0], x[-1] - x)[None, :], np.minimum(y[0] - y, y - y[-1])[:, None])
    strength = np.full((rows, columns), 0.085, np.float32)
    for cells in iterate_road_cells(line, frame.origin, cell, rows, columns, line.widest):
        on_road = cells.place.beside < 0.0
        strength[rows - 1 - cells.row[on_road], cells.column[on_road]] = 0.02
    mottle = 1.0 + mottle * strength * np.clip(edge / 1.5, 0.0, 1.0)
    fade = np.clip(edge / 0.4, 0.0, 1.0)
    tint = as_colour((1.0, 0.94, 0.80))
    light = 128.0 * mottle[..., None] * (1.0 - (shade * fade)[..., None] * tint)
    small = Image.fromarray(np.clip(light + 0.5, 0.0, 255.0).astype(np.uint8))
    return np.asarray(small.resize((frame.columns, frame.rows), Image.Resampling.BILINEAR))


def _add_shadow(shade: AnyFloat, shadow: Shadow, sun: tuple[float, float, float], x: AnyFloat, y: AnyFloat) -> None:
    """Add the contact darkening at the foot and the cast shadow down the sun, combined as light passing both."""
    slope = math.hypot(sun[0], sun[1]) / sun[2]
    down = np.array([-sun[0], -sun[1]]) / max(1e-9, math.hypot(sun[0], sun[1]))
    cast = np.array(shadow.position) + down * slope * shadow.height
    stretch = math.hypot(1.0, slope)
    for centre, radius, length, darkness in (
        (np.array(shadow.position), 0.9 * shadow.radius, 0.9 * shadow.radius, 0.55 * shadow.darkness),
        (cast, shadow.radius, shadow.radius * stretch, shadow.darkness),
    ):
        reach = 1.4 * max(radius, length)
        columns = slice(*np.searchsorted(x, (centre[0] - reach, centre[0] + reach)))
        rows = slice(
            len(y) - np.searchsorted(y[::-1], centre[1] + reach), len(y) - np.searchsorted(y[::-1], centre[1] - reach)
        )
        dx, dy = x[None, columns] - centre[0], y[rows, None] - centre[1]
        along, across = dx * down[0] + dy * down[1], dy * down[0] - dx * down[1]
        distance = np.sqrt((along / length) ** 2 + (across / radius) ** 2)
        fall = np.clip((1.3 - distance) / 0.8, 0.0, 1.0)
        spot = darkness * fall * fall * (3.0 - 2.0 * fall)
        part = shade[rows, columns]
        shade[rows, columns] = 1.0 - (1.0 - part) * (1.0 - spot)


def _add_footprint(
    shade: AnyFloat, footprint: Footprint, sun: tuple[float, float, float], x: AnyFloat, y: AnyFloat
) -> None:
    """Add the darkening around a base with corners and the shadow it casts, with soft edges."""
    corner = np.array(footprint.outline)
    throw = -np.array(sun[:2]) / sun[2] * footprint.height
    cell = float(x[1] - x[0])
    for points, darkness in (
        (corner, 0.55 * footprint.darkness),
        (np.concatenate((corner, corner + throw)), footprint.darkness),
    ):
        low, high = points.min(axis=0) - 4.0 * cell, points.max(axis=0) + 4.0 * cell
        columns = slice(*np.searchsorted(x, (low[0], high[0])))
        rows = slice(len(y) - np.searchsorted(y[::-1], high[1]), len(y) - np.searchsorted(y[::-1], low[1]))
        part = shade[rows, columns]
        if not part.size:
            continue
        at = np.column_stack((points[:, 0] - x[columns][0], y[rows][0] - points[:, 1])) / cell * 4.0 + 1.5
        mask = Image.new("L", (part.shape[1] * 4, part.shape[0] * 4))
        outline = shapely.MultiPoint(at).convex_hull.buffer(1.0).exterior.coords
        ImageDraw.Draw(mask).polygon([(float(px), float(py)) for px, py in outline], fill=255)
        soft = mask.filter(ImageFilter.GaussianBlur(3.0)).reduce(4)
        part[:] = 1.0 - (1.0 - part) * (1.0 - darkness / 255.0 * np.asarray(soft, np.float32))
