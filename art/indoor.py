"""What stands in halls and rooms, at its real size: racks, work benches, tables, chairs, shelves, plants."""

import math

import numpy as np

from art.palette import Palette
from art.shape import make_beam, make_board, make_legs, make_limb, make_prism
from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.mesh import Part, make_box, make_case, make_quad, make_revolved, merge_meshes, place_mesh

RACK = (1.0, 2.7, 3.0)
"""Depth, length, height of a pallet rack [m]; its front is along +x."""

STORE_RACK = (1.06, 2.1, 2.73)

CARTON_TOP: Part = (0.0, 0.52, 0.8, 0.98)

BENCH = (0.75, 1.8, 0.9)
TABLE = (0.75, 1.6, 0.74)


def build_rack(palette: Palette, variant: int) -> Mesh:
    """Return a pallet rack of three levels with cartons on it."""
    blue, orange = palette.ensure_plain((0.13, 0.26, 0.50)), palette.ensure_plain((0.90, 0.42, 0.10))
    wood = palette.ensure_plain((0.60, 0.47, 0.32))
    return _assemble_rack(RACK, (blue, orange, wood), palette.ensure_picture("cartons"), 1100 + variant)


def build_store_rack(palette: Palette, _variant: int) -> Mesh:
    """Return a dull, dark rack of a storeroom, 1.06 x 2.1 x 2.73 m, with cartons on it."""
    steel, wood = palette.ensure_plain((0.24, 0.22, 0.21)), palette.ensure_plain((0.34, 0.27, 0.21))
    cartons = palette.ensure_picture("cartons", tint=(0.62, 0.60, 0.58))
    return _assemble_rack(STORE_RACK, (steel, steel, wood), cartons, 1150)


def _assemble_rack(size: tuple[float, float, float], shades: tuple[int, int, int], cartons: int, seed: int) -> Mesh:
    """Return a rack: posts, beams and shelves of three materials, cartons on three levels."""
    random = np.random.default_rng(seed)
    posts, beams, wood = shades
    deep, long, high = size
    x, y = 0.5 * deep - 0.04, 0.5 * long - 0.05
    parts = [make_legs([(sx * x, sy * y) for sx in (-1, 1) for sy in (-1, 1)], high, 0.09, posts)]
    for level in (1.0, 2.0):
        parts += [make_box((0.06, long, 0.13), (edge, 0.0, level), beams) for edge in (-x, x)]
        corners = [(x, -y, level + 0.03), (-x, -y, level + 0.03), (-x, y, level + 0.03), (x, y, level + 0.03)]
        parts.append(make_quad(corners, wood))
    most = 1.2 * long / RACK[1]
    for base in (0.0, 1.08, 2.08):
        for middle in (-0.65 * long / RACK[1], 0.65 * long / RACK[1]):
            if random.random() < 0.12:
                continue
            wide, tall = random.uniform(most - 0.2, most), random.uniform(0.45, min(0.8, high - 2.15))
            left = random.uniform(0.0, 0.55)
            side: Part = (left, 0.01, left + 0.42, 0.49)
            parts.append(make_case((0.84, wide, tall), (0.0, middle, base), cartons, sides=(side,), top=CARTON_TOP))
    return merge_meshes(parts)


def build_bench(palette: Palette, _variant: int) -> Mesh:
    """Return a work bench with drawers, a vice, and a pegboard with tools behind."""
    deep, long, high = BENCH
    front = palette.ensure_picture("bench_front")
    planks = palette.ensure_picture("board")
    tools = palette.ensure_picture("tools")
    steel, dark = palette.ensure_plain((0.36, 0.40, 0.46)), palette.ensure_plain((0.22, 0.23, 0.25))
    parts = [
        make_case((deep - 0.12, long - 0.10, high - 0.05), (-0.03, 0.0, 0.0), front, top=None),
        make_case((deep, long, 0.05), (0.0, 0.0, high - 0.05), planks),
        make_board(long, 0.75, (-0.5 * deep + 0.02, 0.0, high + 0.42), tools, dark),
        make_case((0.16, 0.12, 0.14), (0.28, -0.6, high), steel),
        make_case((0.22, 0.42, 0.18), (-0.1, 0.5, high), palette.ensure_plain((0.75, 0.16, 0.13))),
    ]
    return merge_meshes(parts)


def build_table(palette: Palette, variant: int) -> Mesh:
    """Return a folding table; by turns with a laptop, a box, or nothing on it."""
    deep, long, high = TABLE
    white, grey = palette.ensure_plain((0.84, 0.83, 0.80)), palette.ensure_plain((0.40, 0.41, 0.43))
    corners = [(sx * (0.5 * deep - 0.06), sy * (0.5 * long - 0.08)) for sx in (-1, 1) for sy in (-1, 1)]
    parts = [make_legs(corners, high - 0.04, 0.035, grey), make_box((deep, long, 0.04), (0.0, 0.0, high - 0.02), white)]
    if variant % 3 == 0:
        dark, screen = palette.ensure_plain((0.20, 0.21, 0.23)), palette.ensure_plain((0.52, 0.70, 0.86))
        parts.append(make_case((0.24, 0.34, 0.02), (0.1, 0.1, high), dark))
        parts.append(make_board(0.34, 0.23, (-0.03, 0.1, high + 0.12), screen, dark))
    elif variant % 3 == 1:
        cartons = palette.ensure_picture("cartons")
        box = make_case((0.4, 0.5, 0.32), (0.0, -0.3, high), cartons, sides=((0.0, 0.01, 0.2, 0.25),), top=CARTON_TOP)
        parts.append(box)
    return merge_meshes(parts)


def build_long_table(palette: Palette, _variant: int) -> Mesh:
    """Return a long dark table, bare: 5.4 x 18.9 x 5.4 U (0.68 x 2.36 x 0.68 m)."""
    top, legs = palette.ensure_plain((0.16, 0.155, 0.15)), palette.ensure_plain((0.10, 0.10, 0.10))
    corners = [(sx * 0.29, sy * 1.08) for sx in (-1, 1) for sy in (-1, 1)]
    return merge_meshes([make_legs(corners, 0.64, 0.05, legs), make_box((0.68, 2.36, 0.04), (0.0, 0.0, 0.66), top)])


def build_work_table(palette: Palette, _variant: int) -> Mesh:
    """Return a high, heavy table of a workshop, 0.91 x 2.26 x 1.45 m, a shelf with boxes under its top."""
    planks, dark = palette.ensure_picture("board", tint=(0.62, 0.52, 0.44)), palette.ensure_plain((0.20, 0.17, 0.15))
    cartons = palette.ensure_picture("cartons", tint=(0.7, 0.7, 0.7))
    legs = make_legs([(sx * 0.40, sy * 1.06) for sx in (-1, 1) for sy in (-1, 1)], 1.37, 0.09, dark)
    parts = [legs, make_case((0.91, 2.26, 0.08), (0.0, 0.0, 1.37), planks)]
    parts.append(make_box((0.80, 2.10, 0.05), (0.0, 0.0, 0.42), planks))
    parts += [make_box((0.05, 2.1, 0.16), (x, 0.0, 1.26), dark) for x in (-0.40, 0.40)]
    sides: Part = (0.0, 0.01, 0.4, 0.49)
    parts.append(make_case((0.5, 0.7, 0.4), (0.0, -0.55, 0.445), cartons, sides=(sides,), top=CARTON_TOP))
    parts.append(make_case((0.45, 0.5, 0.28), (0.05, 0.45, 0.445), cartons, sides=(sides,), top=CARTON_TOP))
    return merge_meshes(parts)


def build_stool(palette: Palette, _variant: int) -> Mesh:
    """Return a square wooden stool of 0.8 m on splayed legs."""
    planks, dark = palette.ensure_picture("board", tint=(0.66, 0.55, 0.45)), palette.ensure_plain((0.26, 0.20, 0.16))
    parts = [make_case((0.44, 0.46, 0.06), (0.0, 0.0, 0.74), planks)]
    for sx in (-1.0, 1.0):
        parts += [
            make_beam((sx * 0.26, sy * 0.27, 0.0), (sx * 0.18, sy * 0.19, 0.75), 0.05, dark) for sy in (-1.0, 1.0)
        ]
        parts.append(make_beam((sx * 0.235, -0.25, 0.25), (sx * 0.235, 0.25, 0.25), 0.035, dark))
    return merge_meshes(parts)


def build_chair(palette: Palette, variant: int) -> Mesh:
    """Return a chair looking along +x."""
    seat = palette.ensure_plain(((0.18, 0.34, 0.58), (0.62, 0.20, 0.17), (0.24, 0.25, 0.27))[variant % 3])
    steel = palette.ensure_plain((0.55, 0.57, 0.60))
    parts = [
        make_legs([(sx * 0.19, sy * 0.19) for sx in (-1, 1) for sy in (-1, 1)], 0.44, 0.025, steel),
        make_box((0.44, 0.44, 0.04), (0.0, 0.0, 0.45), seat),
        make_box((0.03, 0.42, 0.38), (-0.21, 0.0, 0.72), seat),
    ]
    return merge_meshes(parts)


def build_folding_chair(palette: Palette, _variant: int) -> Mesh:
    """Return a black folding chair that looks along +x: its legs cross, seat and back lean."""
    steel, seat = palette.ensure_plain((0.10, 0.10, 0.105)), palette.ensure_plain((0.16, 0.16, 0.165))
    parts = [
        make_beam((x, side * 0.24, 0.0), (end, side * 0.24, high), 0.03, steel, 3)
        for side in (-1.0, 1.0)
        for x, end, high in ((0.30, -0.26, 0.98), (-0.26, 0.20, 0.50))
    ]
    cushion = ((-0.20, 0.46), (0.24, 0.49), (0.24, 0.52), (-0.20, 0.49))
    back = ((-0.13, 0.66), (-0.10, 0.66), (-0.23, 0.97), (-0.26, 0.97))
    return merge_meshes([*parts, make_prism(cushion, 0.46, seat), make_prism(back, 0.50, seat)])


def build_shelf(palette: Palette, _variant: int) -> Mesh:
    """Return a bookcase, its books to the front."""
    books, wood = palette.ensure_picture("books"), palette.ensure_plain((0.72, 0.60, 0.43))
    body = make_case((0.34, 1.2, 1.5), (0.0, 0.0, 0.0), wood)
    face = make_board(1.2, 1.5, (0.175, 0.0, 0.75), books, wood)
    return merge_meshes([body, face])


def build_plant(palette: Palette, variant: int) -> Mesh:
    """Return a pot plant of 1.2 m."""
    random = np.random.default_rng(1200 + variant)
    leaves = palette.ensure_picture("foliage")
    pot = make_revolved(((0.15, 0.0), (0.20, 0.36)), 7, palette.ensure_plain((0.55, 0.33, 0.24)))
    stem = make_limb([(0.0, 0.0, 0.3), (0.02, 0.0, 0.7)], (0.05, 0.04), palette.ensure_plain((0.40, 0.31, 0.22)))
    wobble = 1.0 + random.uniform(-0.2, 0.2, (4, 6))
    crown = make_revolved(((0.0, 0.5), (0.30, 0.68), (0.26, 1.0), (0.0, 1.25)), 6, leaves, uv_scale=2.0, wobble=wobble)
    return merge_meshes([pot, stem, crown])


def build_pallet(palette: Palette, variant: int) -> Mesh:
    """Return a pallet, by turns loaded with cartons or empty."""
    planks = palette.ensure_picture("board")
    parts = [make_case((0.8, 1.2, 0.144), (0.0, 0.0, 0.0), planks)]
    if variant % 2 == 0:
        cartons = palette.ensure_picture("cartons")
        height = 0.144 + (0.9, 0.6)[variant // 2 % 2]
        load = make_case(
            (0.76, 1.14, height - 0.144), (0.0, 0.0, 0.144), cartons, sides=((0.1, 0.01, 0.5, 0.49),), top=CARTON_TOP
        )
        parts.append(place_mesh(load, (0.0, 0.0, 0.0), math.radians(2.0)))
    return merge_meshes(parts)
