"""What stands in halls and rooms, at its real size: racks, work benches, tables, chairs, shelves, plants."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.world.scene import Mesh
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.mesh import make_box, make_quad, make_revolved, merge_meshes, place_mesh
from donkeysim.world.tracks.props.kind import stand_on_block, stand_on_post
from donkeysim.world.tracks.props.prop_textures import make_bench_front, make_books, make_cartons, make_tools
from donkeysim.world.tracks.props.shape import Part, make_board, make_case, make_legs, make_limb
from donkeysim.world.tracks.structures.structure import Shadow, Structure
from donkeysim.world.tracks.structures.wall_textures import make_board as make_planks
from donkeysim.world.tracks.textures import make_foliage

RACK = (1.0, 2.7, 3.0)
"""Depth, length, height of a pallet rack [m]; its front is along +x."""

CARTON_TOP: Part = (0.0, 0.52, 0.8, 0.98)

BENCH = (0.75, 1.8, 0.9)
TABLE = (0.75, 1.6, 0.74)


def build_rack(assets: Assets, variant: int) -> Structure:
    """Return a pallet rack of three levels with cartons on it."""
    random = np.random.default_rng(1100 + variant)
    blue, orange = assets.ensure_plain((0.13, 0.26, 0.50)), assets.ensure_plain((0.90, 0.42, 0.10))
    wood = assets.ensure_plain((0.60, 0.47, 0.32))
    deep, long, high = RACK
    x, y = 0.5 * deep - 0.04, 0.5 * long - 0.05
    parts = [make_legs([(sx * x, sy * y) for sx in (-1, 1) for sy in (-1, 1)], high, 0.09, blue)]
    for level in (1.0, 2.0):
        parts += [make_box((0.06, long, 0.13), (edge, 0.0, level), orange) for edge in (-x, x)]
        corners = [(x, -y, level + 0.03), (-x, -y, level + 0.03), (-x, y, level + 0.03), (x, y, level + 0.03)]
        parts.append(make_quad(corners, wood))
    cartons = assets.ensure_textured(make_cartons)
    for base in (0.0, 1.08, 2.08):
        for middle in (-0.65, 0.65):
            if random.random() < 0.12:
                continue
            wide, tall = random.uniform(1.0, 1.2), random.uniform(0.45, 0.8)
            left = random.uniform(0.0, 0.55)
            side: Part = (left, 0.01, left + 0.42, 0.49)
            parts.append(make_case((0.84, wide, tall), (0.0, middle, base), cartons, sides=(side,), top=CARTON_TOP))
    return stand_on_block(merge_meshes(parts), RACK, "rack", 0.6)


def build_bench(assets: Assets, _variant: int) -> Structure:
    """Return a work bench with drawers, a vice, and a pegboard with tools behind."""
    deep, long, high = BENCH
    front = assets.ensure_textured(make_bench_front)
    planks = assets.ensure_textured(make_planks)
    tools = assets.ensure_textured(make_tools)
    steel, dark = assets.ensure_plain((0.36, 0.40, 0.46)), assets.ensure_plain((0.22, 0.23, 0.25))
    parts = [
        make_case((deep - 0.12, long - 0.10, high - 0.05), (-0.03, 0.0, 0.0), front, top=None),
        make_case((deep, long, 0.05), (0.0, 0.0, high - 0.05), planks),
        make_board(long, 0.75, (-0.5 * deep + 0.02, 0.0, high + 0.42), tools, dark),
        make_case((0.16, 0.12, 0.14), (0.28, -0.6, high), steel),
        make_case((0.22, 0.42, 0.18), (-0.1, 0.5, high), assets.ensure_plain((0.75, 0.16, 0.13))),
    ]
    return stand_on_block(merge_meshes(parts), BENCH, "bench", 0.6)


def build_table(assets: Assets, variant: int) -> Structure:
    """Return a folding table; by turns with a laptop, a box, or nothing on it."""
    deep, long, high = TABLE
    white, grey = assets.ensure_plain((0.84, 0.83, 0.80)), assets.ensure_plain((0.40, 0.41, 0.43))
    corners = [(sx * (0.5 * deep - 0.06), sy * (0.5 * long - 0.08)) for sx in (-1, 1) for sy in (-1, 1)]
    parts = [make_legs(corners, high - 0.04, 0.035, grey), make_box((deep, long, 0.04), (0.0, 0.0, high - 0.02), white)]
    if variant % 3 == 0:
        dark, screen = assets.ensure_plain((0.20, 0.21, 0.23)), assets.ensure_plain((0.52, 0.70, 0.86))
        parts.append(make_case((0.24, 0.34, 0.02), (0.1, 0.1, high), dark))
        parts.append(make_board(0.34, 0.23, (-0.03, 0.1, high + 0.12), screen, dark))
    elif variant % 3 == 1:
        cartons = assets.ensure_textured(make_cartons)
        box = make_case((0.4, 0.5, 0.32), (0.0, -0.3, high), cartons, sides=((0.0, 0.01, 0.2, 0.25),), top=CARTON_TOP)
        parts.append(box)
    return stand_on_block(merge_meshes(parts), TABLE, "table", 0.35)


def build_chair(assets: Assets, variant: int) -> Structure:
    """Return a chair looking along +x."""
    seat = assets.ensure_plain(((0.18, 0.34, 0.58), (0.62, 0.20, 0.17), (0.24, 0.25, 0.27))[variant % 3])
    steel = assets.ensure_plain((0.55, 0.57, 0.60))
    parts = [
        make_legs([(sx * 0.19, sy * 0.19) for sx in (-1, 1) for sy in (-1, 1)], 0.44, 0.025, steel),
        make_box((0.44, 0.44, 0.04), (0.0, 0.0, 0.45), seat),
        make_box((0.03, 0.42, 0.38), (-0.21, 0.0, 0.72), seat),
    ]
    return stand_on_block(merge_meshes(parts), (0.44, 0.44, 0.88), "chair", 0.35)


def build_shelf(assets: Assets, _variant: int) -> Structure:
    """Return a bookcase, its books to the front."""
    books, wood = assets.ensure_textured(make_books), assets.ensure_plain((0.72, 0.60, 0.43))
    body = make_case((0.34, 1.2, 1.5), (0.0, 0.0, 0.0), wood)
    face = make_board(1.2, 1.5, (0.175, 0.0, 0.75), books, wood)
    return stand_on_block(merge_meshes([body, face]), (0.36, 1.2, 1.5), "shelf", 0.6)


def build_plant(assets: Assets, variant: int) -> Structure:
    """Return a pot plant of 1.2 m."""
    random = np.random.default_rng(1200 + variant)
    leaves = assets.ensure_textured(make_foliage, (52, 92, 36), (146, 184, 74), 15.0, 7)
    pot = make_revolved(((0.15, 0.0), (0.20, 0.36)), 7, assets.ensure_plain((0.55, 0.33, 0.24)))
    stem = make_limb([(0.0, 0.0, 0.3), (0.02, 0.0, 0.7)], (0.05, 0.04), assets.ensure_plain((0.40, 0.31, 0.22)))
    wobble = 1.0 + random.uniform(-0.2, 0.2, (4, 6))
    crown = make_revolved(((0.0, 0.5), (0.30, 0.68), (0.26, 1.0), (0.0, 1.25)), 6, leaves, uv_scale=2.0, wobble=wobble)
    return stand_on_post(merge_meshes([pot, stem, crown]), 0.2, 1.1, "plant", Shadow((0.0, 0.0), 0.3, 0.4, 0.45))


def build_pallet(assets: Assets, variant: int) -> Structure:
    """Return a pallet, by turns loaded with cartons or empty."""
    planks = assets.ensure_textured(make_planks)
    wood: Mesh = make_case((0.8, 1.2, 0.144), (0.0, 0.0, 0.0), planks)
    parts = [wood]
    height = 0.144
    if variant % 2 == 0:
        cartons = assets.ensure_textured(make_cartons)
        height = 0.144 + (0.9, 0.6)[variant // 2 % 2]
        load = make_case(
            (0.76, 1.14, height - 0.144), (0.0, 0.0, 0.144), cartons, sides=((0.1, 0.01, 0.5, 0.49),), top=CARTON_TOP
        )
        parts.append(place_mesh(load, (0.0, 0.0, 0.0), math.radians(2.0)))
    return stand_on_block(merge_meshes(parts), (0.8, 1.2, height), "pallet", 0.6)
