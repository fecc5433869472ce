"""What stands about race tracks: cones, drums, tyres, boards, flags, bales, stands, tents; a model world's size."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.world.scene import SHADE_TWO_SIDED, Mesh
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.mesh import make_box, make_loft, make_quad, make_revolved, merge_meshes, place_mesh
from donkeysim.world.tracks.props.kind import stand_on_block, stand_on_post
from donkeysim.world.tracks.props.prop_textures import (
    make_barrel_skin,
    make_crowd,
    make_flags,
    make_signs,
    make_tyre_side,
)
from donkeysim.world.tracks.props.shape import Part, make_board, make_case, make_legs, make_limb, make_sheet
from donkeysim.world.tracks.structures.structure import Footprint, Shadow, Structure, make_post
from donkeysim.world.tracks.structures.wall_kinds import make_bale
from donkeysim.world.tracks.structures.wall_textures import make_straw
from donkeysim.world.tracks.textures import make_cone_skin, make_cone_stripes

SIGNS = 8
"""Boards in the picture of signs; the first two are the chevrons."""

GRANDSTAND = (0.8, 2.4)
"""Depth and width [m]; spectators look along +x."""

TENT = (3.0, 3.0, 2.1)
"""Length, width, height of the eaves of a real tent [m]."""


def build_cone(assets: Assets, _variant: int) -> Structure:
    """Return a traffic cone of 0.14 m on its black foot."""
    stripes = assets.ensure_textured(make_cone_stripes)
    dark = assets.ensure_plain((0.13, 0.13, 0.14))
    body = make_revolved(((0.042, 0.012), (0.006, 0.140)), 12, stripes, capped=False)
    rim = make_revolved(((0.050, 0.008), (0.042, 0.014)), 12, dark, capped=False)
    foot = make_case((0.104, 0.104, 0.010), (0.0, 0.0, 0.0), dark)
    return Structure(merge_meshes([foot, rim, body]))


def build_tall_cone(assets: Assets, _variant: int) -> Structure:
    """Return a plain dark red cone, 3.3 U (0.4125 m) high and 1.8 U (0.225 m) wide, as recordings show."""
    skin = assets.ensure_textured(make_cone_skin)
    return Structure(make_revolved(((0.1125, 0.0), (0.016, 0.405), (0.0, 0.4125)), 16, skin, capped=False))


def build_pylon(assets: Assets, _variant: int) -> Structure:
    """Return a slim striped post of 0.3 m on a foot."""
    stripes = assets.ensure_textured(make_cone_stripes)
    body = make_revolved(((0.022, 0.02), (0.020, 0.29), (0.0, 0.30)), 6, stripes, capped=False)
    foot = make_revolved(((0.06, 0.0), (0.05, 0.02)), 8, assets.ensure_plain((0.13, 0.13, 0.14)))
    return Structure(merge_meshes([foot, body]))


def build_barrel(assets: Assets, variant: int) -> Structure:
    """Return a steel drum of 0.24 m."""
    tint = ((1.0, 1.0, 1.0), (1.0, 0.55, 0.25))[variant % 2]
    skin = assets.ensure_textured(make_barrel_skin, tint=tint)
    lid = assets.ensure_plain((0.20, 0.32, 0.50) if variant % 2 == 0 else (0.30, 0.22, 0.16))
    body = make_revolved(((0.08, 0.0), (0.08, 0.235)), 9, skin, uv_scale=2.0, capped=False)
    return Structure(merge_meshes([body, make_revolved(((0.08, 0.235), (0.0, 0.24)), 9, lid, capped=False)]))


def build_tyre_stack(assets: Assets, _variant: int) -> Structure:
    """Return four tyres on one another, one of them white."""
    side = assets.ensure_textured(make_tyre_side)
    inside = assets.ensure_plain((0.07, 0.07, 0.08))
    body = make_revolved(((0.095, 0.0), (0.095, 0.20)), 9, side, uv_scale=4.0, capped=False)
    rim = make_revolved(((0.095, 0.20), (0.045, 0.195)), 9, assets.ensure_plain((0.19, 0.19, 0.20)), capped=False)
    hole = make_revolved(((0.045, 0.195), (0.0, 0.15)), 9, inside, capped=False)
    return stand_on_post(merge_meshes([body, rim, hole]), 0.095, 0.2, "tyres", Shadow((0.0, 0.0), 0.12, 0.08, 0.5), 0.9)


def build_hay_bale(assets: Assets, _variant: int) -> Structure:
    """Return a bale of straw at its real size, lying along +y."""
    straw = assets.ensure_textured(make_straw)
    bale = make_bale((0.90, 0.46, 0.36), straw)
    turned = place_mesh(bale, (0.0, 0.0, 0.0), 0.5 * math.pi)
    return stand_on_block(turned, (0.46, 0.90, 0.36), "hay_bale", 0.55, 0.8)


def build_chevron(assets: Assets, variant: int) -> Structure:
    """Return a board with an arrow on two posts, facing +x; variant 0 points to its right, 1 to its left."""
    return _stand_board(assets, variant % 2, 0.30, 0.26, 0.12)


def build_sign(assets: Assets, variant: int) -> Structure:
    """Return a road sign on a post, facing +x: stop, limit, ahead, bend, parking, exit."""
    return _stand_board(assets, 2 + variant % (SIGNS - 2), 0.20, 0.20, 0.36)


def _stand_board(assets: Assets, board: int, width: float, height: float, clear: float) -> Structure:
    """Return one of the signs on a post of its own."""
    front = assets.ensure_textured(make_signs)
    grey = assets.ensure_plain((0.46, 0.48, 0.50))
    part: Part = (board / SIGNS + 0.002, 0.0, (board + 1) / SIGNS - 0.002, 0.999)
    plate = make_board(width, height, (0.015, 0.0, clear + 0.5 * height), front, grey, part)
    post = make_limb([(0.0, 0.0, 0.0), (0.0, 0.0, clear + 0.9 * height)], (0.026, 0.026), grey)
    shadow = Shadow((0.0, 0.0), 0.08, clear + 0.4 * height, 0.35)
    return stand_on_post(merge_meshes([plate, post]), 0.02, clear + height, "sign", shadow, 0.4)


def build_flag(assets: Assets, variant: int) -> Structure:
    """Return a waving flag on a pole of 1.1 m: chequered, red, yellow, blue."""
    cloth = assets.ensure_textured(make_flags, flags=SHADE_TWO_SIDED)
    pole = make_limb([(0.0, 0.0, 0.0), (0.0, 0.0, 1.1)], (0.030, 0.020), assets.ensure_plain((0.80, 0.81, 0.82)))
    x = np.linspace(0.0, 0.42, 4)
    wave = 0.05 * np.sin(x * 14.0)
    grid = np.stack([np.stack((wave, x, z - 0.06 * x), axis=1) for z in (1.08, 0.80)])
    sheet = make_sheet(grid, cloth)
    left = variant % 4 / 4.0
    sheet.uv[:, 0] = left + 0.003 + 0.244 * sheet.uv[:, 0]
    return stand_on_post(merge_meshes([pole, sheet]), 0.015, 1.0, "flag", Shadow((0.0, 0.0), 0.1, 0.85, 0.3), 0.4)


def build_grandstand(assets: Assets, _variant: int) -> Structure:
    """Return four rows of spectators under a roof, for a model track; they look along +x."""
    deep, wide = GRANDSTAND
    crowd = assets.ensure_textured(make_crowd)
    steel, roof = assets.ensure_plain((0.55, 0.57, 0.60)), assets.ensure_plain((0.72, 0.22, 0.18))
    x, y, low, high = 0.5 * deep, 0.5 * wide, 0.10, 0.58
    slope = [(x, -y, low), (x, y, low), (-x, y, high), (-x, -y, high)]
    parts = [
        make_quad(slope, crowd, ((0.0, 2.0), (1.0, 2.0), (1.0, 0.0), (0.0, 0.0))),
        make_quad([(x, -y, 0.0), (x, y, 0.0), (x, y, low), (x, -y, low)], steel),
        make_quad([(-x, y, 0.0), (-x, -y, 0.0), (-x, -y, high), (-x, y, high)], steel),
        make_quad([(x, y, 0.0), (-x, y, 0.0), (-x, y, high), (x, y, low)], steel),
        make_quad([(-x, -y, 0.0), (x, -y, 0.0), (x, -y, low), (-x, -y, high)], steel),
        make_box((0.75 * deep, wide + 0.1, 0.03), (-0.14 * deep, 0.0, 0.98), roof),
    ]
    parts += [
        make_limb([(-x + 0.03, side, high), (-x + 0.03, side, 0.97)], (0.04, 0.04), steel)
        for side in (-y + 0.05, y - 0.05)
    ]
    return stand_on_block(merge_meshes(parts), (deep, wide, 0.6), "grandstand", 0.6)


def build_tent(assets: Assets, variant: int) -> Structure:
    """Return an open tent at its real size: four legs, a pointed roof with a valance."""
    tint = ((0.88, 0.88, 0.86), (0.20, 0.36, 0.62), (0.72, 0.20, 0.17))[variant % 3]
    cloth, legs = assets.ensure_plain(tint, flags=SHADE_TWO_SIDED), assets.ensure_plain((0.60, 0.62, 0.64))
    long, wide, eaves = TENT
    corner = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (0.5 * long, 0.5 * wide)
    rings = [(1.0, eaves - 0.25), (1.0, eaves), (0.02, eaves + 0.9)]
    sections = [np.column_stack((corner * share, np.full(4, height))) for share, height in rings]
    roof = make_loft(sections, cloth, capped=False)
    places = [(0.96 * x, 0.96 * y) for x, y in corner.tolist()]
    outline = tuple((float(x), float(y)) for x, y in corner)
    posts = tuple(make_post((x, y, 0.0), 0.035, eaves, "tent", 0.4) for x, y in places)
    return Structure(merge_meshes([roof, make_legs(places, eaves, 0.05, legs)]), posts, (Footprint(outline, 0.3, 0.4),))


def build_lamp_post(assets: Assets, _variant: int) -> Structure:
    """Return a street lamp of 1.1 m whose arm reaches over +x."""
    steel = assets.ensure_plain((0.26, 0.29, 0.31))
    pole = make_limb([(0.0, 0.0, 0.0), (0.0, 0.0, 1.02), (0.07, 0.0, 1.09)], (0.045, 0.028, 0.022), steel)
    arm: Mesh = make_box((0.24, 0.03, 0.02), (0.17, 0.0, 1.10), steel)
    lamp = make_quad(
        [(0.14, -0.03, 1.088), (0.14, 0.03, 1.088), (0.28, 0.03, 1.088), (0.28, -0.03, 1.088)],
        assets.ensure_plain((1.0, 0.97, 0.84), flags=SHADE_TWO_SIDED),
    )
    shadow = Shadow((0.0, 0.0), 0.05, 0.4, 0.3)
    return stand_on_post(merge_meshes([pole, arm, lamp]), 0.022, 1.0, "lamp_post", shadow, 0.4)
