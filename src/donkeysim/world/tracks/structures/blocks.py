"""Buildings, containers and crates: boxes with facades, in rows beside the road or at places."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.world.scene import Ground, Mesh
from donkeysim.world.tracks.art import find_picture, read_picture
from donkeysim.world.tracks.mesh import Assets, make_case, make_quad, merge_meshes, place_mesh
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.props.kind import stand_on_block
from donkeysim.world.tracks.structures.structure import Structure, place_structure
from donkeysim.world.tracks.structures.wall_kinds import make_bale
from donkeysim.world.tracks.tables.checks import to_tint
from donkeysim.world.tracks.tables.structures import BlockTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

STOREY = 0.375
"""Height of a storey and width of a window bay: 3 m in a model of 1/8 [m]."""

EAVES = 0.05
"""How far a pitched roof reaches over its walls [m]."""

Shade = tuple[float, float, float]
Size = tuple[float, float, float]

PLASTERS: tuple[Shade, ...] = (
    (1.0, 0.96, 0.86), (0.98, 0.84, 0.66), (0.94, 0.72, 0.60), (0.86, 0.90, 0.92), (1.0, 0.92, 0.70),
)  # fmt: skip
BRICKS: tuple[Shade, ...] = ((1.0, 1.0, 1.0), (0.86, 0.82, 0.80), (1.0, 0.92, 0.80))
GLASSES: tuple[Shade, ...] = ((1.0, 1.0, 1.0), (0.84, 0.92, 0.94), (0.92, 0.90, 0.86))
SHEETS: tuple[Shade, ...] = ((0.72, 0.80, 0.88), (0.90, 0.88, 0.80), (0.62, 0.72, 0.66))
STEELS: tuple[Shade, ...] = (
    (0.72, 0.20, 0.16), (0.16, 0.36, 0.62), (0.18, 0.46, 0.34), (0.86, 0.50, 0.14), (0.62, 0.64, 0.66),
)  # fmt: skip
WOODS: tuple[Shade, ...] = ((1.0, 1.0, 1.0), (0.88, 0.86, 0.82))
GREYS: tuple[Shade, ...] = ((0.7, 0.7, 0.7),)


@dataclass(frozen=True)
class BlockKind:
    """What a kind of block is.

    Attributes:
        build: Makes its triangles from a size, a tint and the number of it; front along +x, base at z = 0.
        size: Where the file says none: depth, width, height [m].
        tints: Seeded shades of its pictures.
        label: What it is called.
        casts_shadow: Whether it darkens the ground around it.
    """

    build: Callable[[Assets, Size, Shade], Mesh]
    size: Size
    tints: tuple[Shade, ...]
    label: str
    casts_shadow: bool = True


def build_blocks(track: TrackFile, line: CentreLine, ground: Ground, assets: Assets) -> list[Structure]:
    """Return all blocks of a track."""
    structures = []
    for number, table in enumerate(track.blocks, start=1):
        kind, random = BLOCK_KINDS[table.kind], np.random.default_rng(table.seed)
        made: dict[tuple[Size, Shade], Structure] = {}
        for x, y, yaw, size in place_blocks(table, line, random):
            shade = kind.tints[int(random.integers(len(kind.tints)))]
            tint = shade if table.colour is None else to_tint(table.colour)
            if (size, tint) not in made:
                build = partial(_build_pictured, picture=table.picture) if table.picture else kind.build
                block = stand_on_block(build(assets, size, tint), size, kind.label, 0.6)
                made[size, tint] = replace(block, shadows=()) if table.base > 0.0 or not kind.casts_shadow else block
            foot = float(sample_height(ground, np.array([(x, y)]))[0]) + table.base
            label = f"[[blocks]] {number} ({table.kind})"
            structures.append(place_structure(made[size, tint], (x, y, foot), yaw, 1.0, label, table.hit))
    return structures


def place_blocks(
    table: BlockTable, line: CentreLine, random: np.random.Generator
) -> Iterator[tuple[float, float, float, Size]]:
    """Give x, y [m], yaw [rad] and size of each block."""
    turn = math.radians(table.yaw)
    for x, y, *rest in table.places:
        yield x, y, turn + math.radians(rest[0] if rest else 0.0), _vary_size(table, random)
    for side in (1.0, -1.0):
        if table.side in ("left" if side > 0.0 else "right", "both"):
            for begin, end in table.spans or ((0.0, line.length),):
                yield from _line_street(table, line, side, begin, end, random)


def _line_street(
    table: BlockTable, line: CentreLine, side: float, begin: float, end: float, random: np.random.Generator
) -> Iterator[tuple[float, float, float, Size]]:
    """Give blocks end to end along one side: each as far along as its front is wide, its front along the chord."""
    reach = end - begin if end > begin or not line.closed else end - begin + line.length
    at, size = begin, _vary_size(table, random)
    while True:
        stop = _step_along(line, at, begin + reach, size[1], table, side)
        if stop is None:
            return
        ends, _ = _offset_edge(line, np.array((at, stop)), table.gap, side)
        front = ends[1] - ends[0]
        yaw = math.atan2(front[1], front[0]) - side * 0.5 * math.pi
        back = 0.5 * size[0]
        x, y = ends.mean(axis=0) - back * np.array((math.cos(yaw), math.sin(yaw)))
        yield float(x), float(y), yaw + math.radians(table.yaw), size
        at = _step_along(line, stop, begin + reach, max(table.between, 1e-3), table, side) or begin + reach
        size = _vary_size(table, random)


def _step_along(line: CentreLine, at: float, end: float, wanted: float, table: BlockTable, side: float) -> float | None:
    """Return the place along the path whose point beside the road is `wanted` from that at `at`; None: beyond `end`."""
    places = np.arange(at, end, 0.02)
    if not len(places):
        return None
    point, _ = _offset_edge(line, places, table.gap, side)
    far = np.flatnonzero(np.hypot(*(point - point[0]).T) >= wanted)
    return float(places[far[0]]) if len(far) else None


def _offset_edge(line: CentreLine, at: np.ndarray, gap: float, side: float) -> tuple[np.ndarray, np.ndarray]:
    edge = line.measure_widths(at)[0 if side > 0.0 else 1]
    return line.offset(at, side * (edge + gap))


def _vary_size(table: BlockTable, random: np.random.Generator) -> Size:
    deep, wide, high = table.size if any(table.size) else BLOCK_KINDS[table.kind].size
    change = 1.0 + table.vary * random.uniform(-1.0, 1.0, 2)
    return deep, float(wide * change[0]), float(high * change[1])


def _raise_facade(assets: Assets, size: Size, tint: Shade, style: str) -> list[Mesh]:
    """Return four walls: a ground floor with shops and doors, whole storeys with whole window bays above."""
    upper = assets.ensure_textured(read_picture, f"storey_{style}", tint=tint)
    lower = assets.ensure_textured(read_picture, f"ground_floor_{style}", tint=tint)
    x, y, high = 0.5 * size[0], 0.5 * size[1], size[2]
    storeys = max(1, round(high / STOREY) - 1)
    base = high / (storeys + 1)
    ring = ((x, -y), (x, y), (-x, y), (-x, -y))
    parts = []
    for number in range(4):
        (ax, ay), (bx, by) = ring[number], ring[(number + 1) % 4]
        bays = max(1, round(math.hypot(bx - ax, by - ay) / STOREY))
        for material, low, top, u, v in ((lower, -0.1, base, 0.5 * bays, 0.999), (upper, base, high, bays, storeys)):
            corners = [(ax, ay, low), (bx, by, low), (bx, by, top), (ax, ay, top)]
            parts.append(make_quad(corners, material, [(0.0, v), (u, v), (u, 0.0), (0.0, 0.0)]))
    return parts


def build_house(assets: Assets, size: Size, tint: Shade) -> Mesh:
    """Return a plastered house with shutters, balconies and a hipped roof of tiles."""
    tiles = assets.ensure_textured(read_picture, "tiles")
    x, y, high = 0.5 * size[0] + EAVES, 0.5 * size[1] + EAVES, size[2]
    rise, ridge = 0.35 * min(x, y) + 0.05, max(0.0, y - x)
    tops = ((0.0, -ridge), (0.0, ridge), (0.0, ridge), (0.0, -ridge))
    ring = ((x, -y), (x, y), (-x, y), (-x, -y))
    parts = _raise_facade(assets, size, tint, "house")
    for number in range(4):
        (ax, ay), (bx, by) = ring[number], ring[(number + 1) % 4]
        (cx, cy), (dx, dy) = tops[(number + 1) % 4], tops[number]
        wide = math.hypot(bx - ax, by - ay) / 0.4
        corners = [(ax, ay, high), (bx, by, high), (cx, cy, high + rise), (dx, dy, high + rise)]
        parts.append(make_quad(corners, tiles, [(0.0, 2.0), (wide, 2.0), (0.75 * wide, 0.0), (0.25 * wide, 0.0)]))
    return merge_meshes(parts)


def _build_flat(assets: Assets, size: Size, tint: Shade, style: str) -> Mesh:
    roof = assets.ensure_textured(read_picture, "gravel_roof")
    x, y, high = 0.5 * size[0], 0.5 * size[1], size[2]
    cover = make_quad([(x, -y, high), (x, y, high), (-x, y, high), (-x, -y, high)], roof)
    return merge_meshes([*_raise_facade(assets, size, tint, style), cover])


def build_hall(assets: Assets, size: Size, tint: Shade) -> Mesh:
    """Return a shed of ribbed sheet with a low gable roof along its width."""
    sheet = assets.ensure_textured(read_picture, "sheet_metal", tint=tint)
    x, y, high = 0.5 * size[0], 0.5 * size[1], size[2]
    eaves = 0.82 * high
    ring = ((x, -y), (x, y), (-x, y), (-x, -y))
    parts = []
    for number in range(4):
        (ax, ay), (bx, by) = ring[number], ring[(number + 1) % 4]
        u = math.hypot(bx - ax, by - ay) / high
        corners = [(ax, ay, -0.1), (bx, by, -0.1), (bx, by, eaves), (ax, ay, eaves)]
        parts.append(make_quad(corners, sheet, [(0.0, 0.999), (u, 0.999), (u, 0.0), (0.0, 0.0)]))
    for side in (1.0, -1.0):
        gable = [
            (side * x, -side * y, eaves),
            (side * x, side * y, eaves),
            (0.0, side * y, high),
            (0.0, -side * y, high),
        ]
        parts.append(make_quad(gable, sheet, [(0.0, 0.6), (y, 0.6), (y, 0.0), (0.0, 0.0)]))
        end = [(side * x, side * y, eaves), (-side * x, side * y, eaves), (0.0, side * y, high), (0.0, side * y, high)]
        parts.append(make_quad(end, sheet, [(0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, 0.0)]))
    return merge_meshes(parts)


def build_container(assets: Assets, size: Size, tint: Shade) -> Mesh:
    """Return a shipping container, its long side to the front."""
    steel = assets.ensure_textured(read_picture, "container", tint=tint)
    return make_case(size, (0.0, 0.0, 0.0), steel, sides=((0.0, 0.0, 0.999, 0.999), (0.55, 0.0, 0.999, 0.999)))


def build_crate(assets: Assets, size: Size, tint: Shade) -> Mesh:
    """Return a wooden crate."""
    return make_case(size, (0.0, 0.0, 0.0), assets.ensure_textured(read_picture, "crate", tint=tint))


def build_plain(assets: Assets, size: Size, tint: Shade) -> Mesh:
    """Return a box of one colour."""
    return _close(make_case(size, (0.0, 0.0, 0.0), assets.ensure_plain(tint)), size, assets.ensure_plain(tint))


def build_nothing(_assets: Assets, _size: Size, _tint: Shade) -> Mesh:
    """Return no triangles: a box that nobody sees."""
    return merge_meshes([])


def _build_pictured(assets: Assets, size: Size, tint: Shade, picture: str) -> Mesh:
    """Return a box with a whole picture on each of its four sides."""
    if not find_picture(picture).is_file():
        raise SceneError(f"there is no picture {picture!r} for [[blocks]].", "blocks")
    sides = make_case(size, (0.0, 0.0, 0.0), assets.ensure_textured(read_picture, picture, tint=tint), top=None)
    x, y, high = 0.5 * size[0], 0.5 * size[1], size[2]
    top = make_quad([(x, -y, high), (x, y, high), (-x, y, high), (-x, -y, high)], assets.ensure_plain(tint))
    return _close(merge_meshes([sides, top]), size, assets.ensure_plain(tint))


def _close(mesh: Mesh, size: Size, material: int) -> Mesh:
    """Return a box with its underside, which is seen where it hangs."""
    x, y = 0.5 * size[0], 0.5 * size[1]
    return merge_meshes([mesh, make_quad([(-x, -y, 0.0), (-x, y, 0.0), (x, y, 0.0), (x, -y, 0.0)], material)])


def build_bale(assets: Assets, size: Size, tint: Shade) -> Mesh:
    """Return a weathered bale of straw, its long side to the front."""
    straw = assets.ensure_textured(read_picture, "pale_straw", tint=tint)
    bale = make_bale((size[1], size[0], size[2]), straw)
    return place_mesh(bale, (0.0, 0.0, 0.0), 0.5 * math.pi)


BLOCK_KINDS: dict[str, BlockKind] = {
    "house": BlockKind(build_house, (1.0, 1.1, 1.5), PLASTERS, "building"),
    "townhouse": BlockKind(partial(_build_flat, style="townhouse"), (1.0, 1.1, 1.5), BRICKS, "building"),
    "office": BlockKind(partial(_build_flat, style="office"), (1.5, 1.9, 2.6), GLASSES, "building"),
    "hall": BlockKind(build_hall, (2.0, 3.0, 0.9), SHEETS, "building"),
    "container": BlockKind(build_container, (2.44, 6.06, 2.59), STEELS, "container"),
    "crate": BlockKind(build_crate, (0.6, 0.8, 0.6), WOODS, "crate"),
    "plain": BlockKind(build_plain, (0.5, 0.5, 0.5), GREYS, "block"),
    "invisible": BlockKind(build_nothing, (0.5, 0.5, 0.5), GREYS, "block", casts_shadow=False),
    "bale": BlockKind(build_bale, (0.355, 0.91, 0.404), ((1.0, 1.0, 1.0),), "hay_bale"),
}
"""Every kind that a track file may name."""
