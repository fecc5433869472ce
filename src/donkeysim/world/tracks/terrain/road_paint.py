"""The colours of a road seen from above: its surface, wheel tracks, markings, start lines, kerbs and worn edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import BoolArray, ByteArray, Float32Array, LongArray
from donkeysim.world.tracks.paths.path import SAMPLE_SPACING, CentreLine
from donkeysim.world.tracks.tables.ground import TILE_SIZE
from donkeysim.world.tracks.tables.road import Border, Kerb, Marking
from donkeysim.world.tracks.terrain.atlas_frame import FINEST_TEXEL
from donkeysim.world.tracks.terrain.ground import RoadPlace
from donkeysim.world.tracks.terrain.road_class import CHEQUER, find_near, find_offset, measure_ahead, middle_of
from donkeysim.world.tracks.terrain.surfaces import make_surface
from donkeysim.world.tracks.textures import AnyFloat, Colour, as_colour, blend_colours, make_noise
from donkeysim.world.tracks.track_file import TrackFile

KERB_LEAD = 0.25
"""How far kerbs reach beyond their turns [m]."""

NOISE_SIDE = 512
"""After how many texels the noise of a road repeats."""

ASPHALT: Colour = (96.0, 97.0, 101.0)
"""Asphalt where the file says no colour."""

STREAK = 0.06
"""After what distance along the road the noise of streaks has its next value [m]; across it has one for each texel."""

VERGE_RAGGED = 0.06
"""How far the outer edge of a verge wanders [m], about."""

VERGE_WANDER = 2.5
"""And at most, in these."""


@dataclass(frozen=True)
class RoadPaint:
    """What does not change from texel to texel.

    Attributes:
        track: Road, markings and start lines.
        line: The path.
        surface: The road's own tile, shape [size, size, 3]; None: computed asphalt, or the ground continues.
        grain: Fine noise, shape [NOISE_SIDE, NOISE_SIDE].
        broad: Coarse noise, shape [NOISE_SIDE, NOISE_SIDE].
        streaks: Noise across and along the road, same shape; None: it has no streaks.
        texel: Side of a texel [m].
        reach: How far from the path anything is painted [m].
        soft: Over what distance paint begins and ends [m]: one and a half texels, so that edges are smooth.
        turning: Whether each sample of the path lies in a turn with a kerb, for each kerb, shape [sample_count].
    """

    track: TrackFile
    line: CentreLine
    surface: ByteArray | None
    grain: Float32Array
    broad: Float32Array
    streaks: Float32Array | None
    texel: float
    reach: float
    soft: float
    turning: tuple[BoolArray, ...]


def make_road_paint(track: TrackFile, line: CentreLine, size: int) -> RoadPaint:
    """Prepare the painting of a road; `size` is that of surface tiles [texel]."""
    road, texel = track.road, TILE_SIZE / size
    surface = None if road.texture in ("asphalt", "none") else make_surface(road.texture, size)[..., :3]
    widest_kerb = max((kerb.width for kerb in road.kerbs), default=0.0)
    widest_verge = max((verge.width + VERGE_WANDER * VERGE_RAGGED for verge in road.verges), default=0.0)
    return RoadPaint(
        track,
        line,
        surface,
        make_noise(NOISE_SIDE, NOISE_SIDE, 0.3, 71, finest=1.5) * np.float32(FINEST_TEXEL / texel),
        make_noise(NOISE_SIDE, NOISE_SIDE, 1.3, 72, finest=6.0, coarsest=300.0),
        make_noise(NOISE_SIDE, NOISE_SIDE, 0.75, 74, finest=1.3, coarsest=90.0) if road.streaks else None,
        texel,
        line.widest + max(2.0 * road.edge, widest_kerb, widest_verge) + 2.0 * texel,
        1.5 * texel,
        tuple(find_turns(line, kerb) for kerb in road.kerbs),
    )


def find_turns(line: CentreLine, kerb: Kerb) -> BoolArray:
    """Return where along the path a kerb lies: in its turns and a little before and after, shape [sample_count]."""
    if kerb.radius <= 0.0:
        return np.ones(len(line.distance), bool)
    near = round(KERB_LEAD / SAMPLE_SPACING)
    tight = (np.abs(line.curvature) * kerb.radius > 1.0).astype(float)
    reach = np.concatenate((tight[-near:], tight, tight[:near])) if line.closed else np.pad(tight, near)
    total = np.concatenate(([0.0], np.cumsum(reach)))
    return np.asarray(total[2 * near + 1 :] - total[: -2 * near - 1] > 0.0)


@dataclass(frozen=True)
class Texels:
    """Some texels of the atlas, on and near the road, shape [texel_count] each.

    Attributes:
        place: Where they lie along the road.
        ground: Colours of the ground there, shape [texel_count, 3].
        row, column: In the atlas.
        grain: Fine noise.
        broad: Coarse noise.
    """

    place: RoadPlace
    ground: AnyFloat
    row: LongArray
    column: LongArray
    grain: AnyFloat
    broad: AnyFloat

    @property
    def wear(self) -> AnyFloat:
        """Share of paint that is left."""
        return np.asarray(np.clip(0.93 + 0.10 * self.broad + 0.05 * self.grain, 0.0, 1.0))

    def take(self, index: LongArray) -> Texels:
        """Return some of them."""
        where = (self.row[index], self.column[index])
        return Texels(self.place.take(index), self.ground[index], *where, self.grain[index], self.broad[index])


def paint_road(paint: RoadPaint, place: RoadPlace, ground: AnyFloat, row: LongArray, column: LongArray) -> AnyFloat:
    """Return the colours of texels on and near the road, shape [texel_count, 3].

    Args:
        place: Where the texels lie along it.
        ground: Colours of the ground there, same shape; changed.
        row, column: Of each texel in the atlas.
    """
    at = row % NOISE_SIDE * NOISE_SIDE + column % NOISE_SIDE
    grain, broad = (noise.ravel()[at] for noise in (paint.grain, paint.broad))
    texels, beside = Texels(place, ground, row, column, grain, broad), place.beside
    is_soft = paint.track.road.edge > 0.0 or paint.track.road.verges
    ragged = beside + (0.004 * grain if is_soft else 0.0)
    share = np.clip(0.5 - ragged / (1.6 * paint.soft), 0.0, 1.0)[:, None]
    on, off = np.nonzero(share[:, 0] > 0.0)[0], np.nonzero(share[:, 0] < 1.0)[0]
    road = _paint_strip(paint, texels.take(on))
    ground[off] = _paint_verge(paint, texels.take(off))
    ground[on] += (road - ground[on]) * share[on]
    return ground


def _paint_strip(paint: RoadPaint, texels: Texels) -> AnyFloat:
    """Return the colours of the road with all that is painted on it."""
    track, line, place = paint.track, paint.line, texels.place
    road, wear = _lay_surface(paint, texels), texels.wear
    for shoulder in track.road.shoulders:
        _paint_shoulder(shoulder, texels, road)
    for marking in track.road.markings:
        away = np.abs(place.lateral - find_offset(marking, place, track.road.stretched))
        near = np.nonzero(away < 0.5 * (marking.width + paint.soft))[0]
        share = _cover_marking(marking, line, place.along[near], away[near], paint.soft) * wear[near]
        if marking.worn > 0.0:
            share *= wear_off(marking, away[near], texels.broad[near], texels.grain[near])
        road[near] += (as_colour(marking.colour) - road[near]) * share[:, None]
    for at in track.start.painted:
        near = find_near(line, place, at)
        cover, square = _cover_chequer(line, place.take(near), at, paint.soft)
        road[near] += (square[:, None] * as_colour((214, 214, 210)) + 24.0 - road[near]) * cover[:, None]
    if track.road.overgrown > 0.0:
        _overgrow(track.road.overgrown, texels, road)
    return road


def _lay_surface(paint: RoadPaint, texels: Texels) -> AnyFloat:
    """Return the bare road, darker where wheels roll."""
    tracks = _wheel_tracks(paint.track, texels.place.lateral)
    if paint.track.road.texture == "asphalt":
        table = paint.track.road
        spots = 0.051 * texels.grain + 0.056 * texels.broad
        tone = 1.0 + table.contrast * spots - 0.092 * table.wear * tracks
        if paint.streaks is not None:
            tone = tone + 0.05 * table.streaks * _find_streaks(paint, texels.place)
        if table.tones:
            stops = tuple((stop.offset, stop.colour) for stop in table.tones)
            return np.asarray(tone[:, None] * blend_colours(_measure_across(paint, texels.place), stops))
        return np.asarray(tone[:, None] * as_colour(table.colour or ASPHALT))
    if paint.surface is None:
        return texels.ground.copy()
    size = len(paint.surface)
    colour = paint.surface[texels.row % size, texels.column % size].astype(np.float32)
    return np.asarray(colour * (1.0 - 0.07 * tracks)[:, None])


def _measure_across(paint: RoadPaint, place: RoadPlace) -> AnyFloat:
    """Return where places lie across the road: from the path [m]; on a stretched one from -1 at its right edge to 1."""
    if not paint.track.road.stretched:
        return place.lateral
    middle, half = middle_of(place)
    return np.asarray((place.lateral - middle) / half)


def _find_streaks(paint: RoadPaint, place: RoadPlace) -> AnyFloat:
    """Return the noise of streaks at places, long and narrow along the road; a closed one has whole rounds of it."""
    assert paint.streaks is not None, "only a road with streaks has their noise"
    count, step = NOISE_SIDE, STREAK
    if paint.line.closed:
        step = paint.line.length / (count * max(1, round(paint.line.length / (count * STREAK))))
    across = np.floor(place.lateral / paint.texel).astype(int) % count
    run = place.along / step
    first = np.floor(run).astype(int)
    share = (run - first).astype(np.float32)
    near, far = (paint.streaks[across, (first + ahead) % count] for ahead in (0, 1))
    return np.asarray(near + (far - near) * share)


def _paint_shoulder(shoulder: Border, texels: Texels, road: AnyFloat) -> None:
    """Lay a shoulder over the road's surface along its edges, its inner edge a little worn; `road` is changed."""
    place = texels.place
    inside = _find_side(shoulder, place) & (place.beside > -shoulder.width - 5.0 * shoulder.ragged)
    near = np.nonzero(inside)[0]
    ragged = place.beside[near] + shoulder.width + shoulder.ragged * texels.grain[near]
    share = np.clip(0.5 + ragged / 0.02, 0.0, 1.0)[:, None]
    tone = 1.0 + shoulder.contrast * (0.05 * texels.grain[near] + 0.04 * texels.broad[near])
    road[near] += (tone[:, None] * as_colour(shoulder.colour) - road[near]) * share


def _overgrow(reach: float, texels: Texels, road: AnyFloat) -> None:
    """Let the ground show inside the road's edges, less of it the farther in; `road` is changed."""
    near = np.nonzero(texels.place.beside > -2.0 * reach)[0]
    wander = 0.6 * texels.broad[near] + 0.9 * texels.grain[near]
    share = np.clip(1.2 + wander + 2.2 * texels.place.beside[near] / reach, 0.0, 1.0)[:, None]
    road[near] += (texels.ground[near] - road[near]) * share


def _find_side(border: Border, place: RoadPlace) -> BoolArray:
    """Return which places lie nearer to an edge that a border runs along."""
    if border.side == "both":
        return np.ones(len(place.lateral), bool)
    is_left = place.lateral - place.left > -place.right - place.lateral
    return np.asarray(is_left == (border.side == "left"))


def _lay_verge(verge: Border, texels: Texels, ground: AnyFloat) -> None:
    """Lay a strip of gravel and earth over the ground, through which some of it shows; `ground` is changed."""
    reach = verge.width + VERGE_WANDER * VERGE_RAGGED
    near = np.nonzero((texels.place.beside < reach) & _find_side(verge, texels.place))[0]
    beside, grain, broad = texels.place.beside[near], texels.grain[near], texels.broad[near]
    wander = np.minimum(broad + 0.35 * grain, VERGE_WANDER - 0.5)
    share = np.clip(0.5 + wander + (verge.width - beside) / VERGE_RAGGED, 0.0, 1.0)
    share *= 1.0 - np.clip(0.8 * broad + 0.5 * grain - 1.0, 0.0, 0.7)
    tone = 1.0 + verge.contrast * (0.13 * grain - 0.06 * broad)
    ground[near] += (tone[:, None] * as_colour(verge.colour) - ground[near]) * share[:, None]


def _paint_verge(paint: RoadPaint, texels: Texels) -> AnyFloat:
    """Return the ground beside the road: verges, worn edges and kerbs."""
    edge = paint.track.road.edge
    ground: AnyFloat = texels.ground
    for verge in paint.track.road.verges:
        _lay_verge(verge, texels, ground)
    if edge > 0.0:
        earth = as_colour((128, 112, 84)) + (7.0 * texels.grain + 9.0 * texels.broad)[:, None]
        ragged = texels.place.beside + 0.018 * texels.broad + 0.010 * texels.grain
        dirt = np.clip(1.25 - ragged / edge, 0.0, 1.0)[:, None] * 0.85
        ground = ground + (earth - ground) * dirt * dirt * (3.0 - 2.0 * dirt)
    for kerb, turning in zip(paint.track.road.kerbs, paint.turning, strict=True):
        ground = _paint_kerb(kerb, turning, paint, texels.place, texels.wear, ground)
    return ground


def _paint_kerb(
    kerb: Kerb, turning: BoolArray, paint: RoadPaint, place: RoadPlace, worn: AnyFloat, ground: AnyFloat
) -> AnyFloat:
    """Return the ground with the stripes of a kerb."""
    line, beside, soft = paint.line, place.beside, paint.soft
    inside = np.clip((0.5 * kerb.width - np.abs(beside - 0.5 * kerb.width)) / soft + 0.5, 0.0, 1.0)
    if kerb.side != "both":
        inside = inside * ((place.lateral > 0.0) == (kerb.side == "left"))
    period = 2.0 * kerb.stripe
    if line.closed:
        period = line.length / max(1, round(line.length / period))
    index = np.clip((np.mod(place.along, line.length) / SAMPLE_SPACING).astype(int), 0, len(turning) - 1)
    second = np.mod(place.along, period) >= 0.5 * period
    colour = np.where(second[:, None], as_colour(kerb.colours[1]), as_colour(kerb.colours[0]))
    return np.asarray(ground + (colour - ground) * (inside * turning[index] * worn)[:, None])


def _wheel_tracks(track: TrackFile, lateral: AnyFloat) -> AnyFloat:
    """Return how much tyres have darkened the road, 0 to 1: two bands beside each grid column's middle."""
    dark = np.zeros_like(lateral)
    for middle in track.start.columns:
        for side in (-0.085, 0.085):
            dark += np.exp(-(((lateral - middle - side) / 0.05) ** 2))
    return np.asarray(np.minimum(dark, 1.0))


def _cover_marking(marking: Marking, line: CentreLine, along: AnyFloat, away: AnyFloat, soft: float) -> AnyFloat:
    """Return how much of a marking is at places so far along the path and away from its middle [m], 0 to 1."""
    cover = np.clip((0.5 * marking.width - away) / soft + 0.5, 0.0, 1.0)
    if marking.dash > 0.0:
        period = marking.dash + marking.gap
        if line.closed:
            period = line.length / max(1, round(line.length / period))
        phase = np.mod(along, period) - 0.5 * period
        half = 0.5 * marking.dash * period / (marking.dash + marking.gap)
        cover *= np.clip((half - np.abs(phase)) / soft + 0.5, 0.0, 1.0)
    return np.asarray(cover)


def wear_off(marking: Marking, away: AnyFloat, broad: AnyFloat, grain: AnyFloat) -> AnyFloat:
    """Return the share of a worn marking's paint that is left at places so far from its middle [m]."""
    outer = np.clip(2.0 * away / marking.width, 0.0, 1.0)
    gone = 0.30 + 0.45 * broad + 0.28 * grain + 0.5 * outer**4
    return np.asarray(1.0 - marking.worn * np.clip(gone, 0.0, 1.0))


def _cover_chequer(line: CentreLine, place: RoadPlace, at: float, soft: float) -> tuple[AnyFloat, AnyFloat]:
    """Return where the start line is painted (0 to 1) and which of its squares are white (0 or 1)."""
    ahead = measure_ahead(line, place, at)
    column = np.floor((place.lateral + place.right) / CHEQUER)
    row = np.floor(ahead / CHEQUER)
    inside = np.clip((CHEQUER - np.abs(ahead)) / soft + 0.5, 0.0, 1.0)
    return inside, np.mod(row + column, 2.0)
