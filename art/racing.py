"""What stands about race tracks: cones, drums, tyres, boards, flags, bales, stands, tents; a model world's size."""

import math

import numpy as np

from art.palette import Palette
from art.shape import make_board, make_legs, make_limb, make_sheet
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import SHADE_TWO_SIDED, Mesh
from donkeysim.world.tracks.mesh import (
    Part,
    make_box,
    make_case,
    make_loft,
    make_quad,
    make_revolved,
    merge_meshes,
    place_mesh,
)
from donkeysim.world.tracks.structures.wall_kinds import make_bale

SIGNS = 8
"""Boards in the picture of signs; the first two are the chevrons."""

GRANDSTAND = (0.8, 2.4)
"""Depth and width [m]; spectators look along +x."""

TENT = (3.0, 3.0, 2.1)
"""Length, width, height of the eaves of a real tent [m]."""


def build_cone(palette: Palette, _variant: int) -> Mesh:
    """Return a traffic cone of 0.14 m on its black foot."""
    stripes = palette.ensure_picture("cone_stripes")
    dark = palette.ensure_plain((0.13, 0.13, 0.14))
    body = make_revolved(((0.042, 0.012), (0.006, 0.140)), 12, stripes, capped=False)
    rim = make_revolved(((0.050, 0.008), (0.042, 0.014)), 12, dark, capped=False)
    foot = make_case((0.104, 0.104, 0.010), (0.0, 0.0, 0.0), dark)
    return merge_meshes([foot, rim, body])


def build_tall_cone(palette: Palette, _variant: int) -> Mesh:
    """Return a plain dark red cone, 3.3 U (0.4125 m) high and 1.8 U (0.225 m) wide, as recordings show."""
    skin = palette.ensure_picture("cone_skin")
    return make_revolved(((0.1125, 0.0), (0.016, 0.405), (0.0, 0.4125)), 16, skin, capped=False)


def build_bell_cone(palette: Palette, _variant: int) -> Mesh:
    """Return the original's big cone, 4.04 U (0.505 m) high: a slim bell on a round, thick foot of 2.69 U (0.336 m)."""
    return _ring_bell(palette.ensure_picture("bell_skin"))


def build_orange_bell_cone(palette: Palette, _variant: int) -> Mesh:
    """Return the same cone as newer builds show it: orange-red."""
    return _ring_bell(palette.ensure_picture("bell_skin_orange"))


def _ring_bell(skin: int) -> Mesh:
    foot = ((0.168, 0.0), (0.165, 0.03), (0.104, 0.062))
    bell = ((0.074, 0.15), (0.026, 0.485), (0.0, 0.505))
    return make_revolved((*foot, *bell), 12, skin, capped=False)


def build_footed_cone(palette: Palette, _variant: int) -> Mesh:
    """Return an orange cone, 2.43 U (0.304 m) high, on a dark square foot of 1.89 U (0.236 m)."""
    orange, dark = palette.ensure_plain((1.0, 0.33, 0.0)), palette.ensure_plain((0.15, 0.14, 0.14))
    body = make_revolved(
        ((0.088, 0.022), (0.082, 0.05), (0.028, 0.29), (0.022, 0.304), (0.0, 0.3)), 10, orange, capped=False
    )
    return merge_meshes([make_case((0.236, 0.236, 0.024), (0.0, 0.0, 0.0), dark), body])


def build_square_cone(palette: Palette, _variant: int) -> Mesh:
    """Return a four-sided blunt cone, 1.61 U (0.2 m) high on a foot of 1.8 x 1.62 U, yellow-green, open above."""
    skin, inside = palette.ensure_plain((0.83, 0.88, 0.24)), palette.ensure_plain((0.40, 0.43, 0.10))
    base, rim, top = (0.1125, 0.101), (0.1, 0.09), (0.044, 0.04)
    rings = [_lay_ring(base, 0.0), _lay_ring(base, 0.018), _lay_ring(rim, 0.022), _lay_ring(top, 0.201)]
    hole = make_quad([(x, y, z) for x, y, z in _lay_ring(top, 0.199).tolist()], inside)
    return merge_meshes([make_loft(rings, skin, capped=False), hole])


def _lay_ring(half: tuple[float, float], height: float) -> FloatArray:
    """Return the corners of a level rectangle about the middle, counter-clockwise."""
    return np.array([(sx * half[0], sy * half[1], height) for sx, sy in ((1, 1), (-1, 1), (-1, -1), (1, -1))])


def build_pylon(palette: Palette, _variant: int) -> Mesh:
    """Return a slim striped post of 0.3 m on a foot."""
    stripes = palette.ensure_picture("cone_stripes")
    body = make_revolved(((0.022, 0.02), (0.020, 0.29), (0.0, 0.30)), 6, stripes, capped=False)
    foot = make_revolved(((0.06, 0.0), (0.05, 0.02)), 8, palette.ensure_plain((0.13, 0.13, 0.14)))
    return merge_meshes([foot, body])


def build_barrel(palette: Palette, variant: int) -> Mesh:
    """Return a steel drum of 0.24 m."""
    tint = ((1.0, 1.0, 1.0), (1.0, 0.55, 0.25))[variant % 2]
    skin = palette.ensure_picture("barrel_skin", tint=tint)
    lid = palette.ensure_plain((0.20, 0.32, 0.50) if variant % 2 == 0 else (0.30, 0.22, 0.16))
    body = make_revolved(((0.08, 0.0), (0.08, 0.235)), 9, skin, uv_scale=2.0, capped=False)
    return merge_meshes([body, make_revolved(((0.08, 0.235), (0.0, 0.24)), 9, lid, capped=False)])


def build_tyre_stack(palette: Palette, _variant: int) -> Mesh:
    """Return four tyres on one another, one of them white."""
    side = palette.ensure_picture("tyre_side")
    inside = palette.ensure_plain((0.07, 0.07, 0.08))
    body = make_revolved(((0.095, 0.0), (0.095, 0.20)), 9, side, uv_scale=4.0, capped=False)
    rim = make_revolved(((0.095, 0.20), (0.045, 0.195)), 9, palette.ensure_plain((0.19, 0.19, 0.20)), capped=False)
    hole = make_revolved(((0.045, 0.195), (0.0, 0.15)), 9, inside, capped=False)
    return merge_meshes([body, rim, hole])


def build_tyre(palette: Palette, _variant: int) -> Mesh:
    """Return one big tyre that lies on its side, 4.7 U (0.588 m) across and 0.88 U (0.11 m) high."""
    rubber, inside = palette.ensure_plain((0.17, 0.165, 0.155)), palette.ensure_plain((0.08, 0.08, 0.08))
    tread = make_revolved(((0.27, 0.0), (0.292, 0.03), (0.292, 0.08)), 16, rubber, capped=False)
    wall = palette.ensure_plain((0.25, 0.24, 0.22))
    side = make_revolved(((0.292, 0.08), (0.25, 0.11), (0.19, 0.104)), 16, wall, capped=False)
    hole = make_revolved(((0.19, 0.104), (0.17, 0.05), (0.20, 0.002), (0.0, 0.002)), 16, inside, capped=False)
    return merge_meshes([tread, side, hole])


def build_drum(palette: Palette, _variant: int) -> Mesh:
    """Return a big red drum, 7.8 U (0.97 m) across and 10.2 U (1.28 m) high."""
    skin = palette.ensure_picture("drum_skin")
    body = make_revolved(((0.47, 0.0), (0.47, 1.26), (0.45, 1.28)), 16, skin, uv_scale=2.0, capped=False)
    lid = make_revolved(
        ((0.45, 1.28), (0.44, 1.24), (0.0, 1.24)), 16, palette.ensure_plain((0.52, 0.2, 0.2)), capped=False
    )
    return merge_meshes([body, lid])


def build_hay_bale(palette: Palette, _variant: int) -> Mesh:
    """Return a bale of straw at its real size, lying along +y."""
    straw = palette.ensure_picture("straw")
    bale = make_bale((0.90, 0.46, 0.36), straw)
    return place_mesh(bale, (0.0, 0.0, 0.0), 0.5 * math.pi)


def build_chevron(palette: Palette, variant: int) -> Mesh:
    """Return a board with an arrow on two posts, facing +x; variant 0 points to its right, 1 to its left."""
    return _stand_board(palette, variant % 2, 0.30, 0.26, 0.12)


def build_sign(palette: Palette, variant: int) -> Mesh:
    """Return a road sign on a post, facing +x: stop, limit, ahead, bend, parking, exit."""
    return _stand_board(palette, 2 + variant % (SIGNS - 2), 0.20, 0.20, 0.36)


def _stand_board(palette: Palette, board: int, width: float, height: float, clear: float) -> Mesh:
    """Return one of the signs on a post of its own."""
    front = palette.ensure_picture("signs")
    grey = palette.ensure_plain((0.46, 0.48, 0.50))
    part: Part = (board / SIGNS + 0.002, 0.0, (board + 1) / SIGNS - 0.002, 0.999)
    plate = make_board(width, height, (0.015, 0.0, clear + 0.5 * height), front, grey, part)
    post = make_limb([(0.0, 0.0, 0.0), (0.0, 0.0, clear + 0.9 * height)], (0.026, 0.026), grey)
    return merge_meshes([plate, post])


def build_flag(palette: Palette, variant: int) -> Mesh:
    """Return a waving flag on a pole of 1.1 m: chequered, red, yellow, blue."""
    cloth = palette.ensure_picture("flags", flags=SHADE_TWO_SIDED)
    pole = make_limb([(0.0, 0.0, 0.0), (0.0, 0.0, 1.1)], (0.030, 0.020), palette.ensure_plain((0.80, 0.81, 0.82)))
    x = np.linspace(0.0, 0.42, 4)
    wave = 0.05 * np.sin(x * 14.0)
    grid = np.stack([np.stack((wave, x, z - 0.06 * x), axis=1) for z in (1.08, 0.80)])
    sheet = make_sheet(grid, cloth)
    left = variant % 4 / 4.0
    sheet.uv[:, 0] = left + 0.003 + 0.244 * sheet.uv[:, 0]
    return merge_meshes([pole, sheet])


def build_grandstand(palette: Palette, _variant: int) -> Mesh:
    """Return four rows of spectators under a roof, for a model track; they look along +x."""
    deep, wide = GRANDSTAND
    crowd = palette.ensure_picture("crowd")
    steel, roof = palette.ensure_plain((0.55, 0.57, 0.60)), palette.ensure_plain((0.72, 0.22, 0.18))
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
    return merge_meshes(parts)


def build_tent(palette: Palette, variant: int) -> Mesh:
    """Return an open tent at its real size: four legs, a pointed roof with a valance."""
    tint = ((0.88, 0.88, 0.86), (0.20, 0.36, 0.62), (0.72, 0.20, 0.17))[variant % 3]
    cloth, legs = palette.ensure_plain(tint, flags=SHADE_TWO_SIDED), palette.ensure_plain((0.60, 0.62, 0.64))
    long, wide, eaves = TENT
    corner = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (0.5 * long, 0.5 * wide)
    rings = [(1.0, eaves - 0.25), (1.0, eaves), (0.02, eaves + 0.9)]
    sections = [np.column_stack((corner * share, np.full(4, height))) for share, height in rings]
    roof = make_loft(sections, cloth, capped=False)
    places = [(0.96 * x, 0.96 * y) for x, y in corner.tolist()]
    return merge_meshes([roof, make_legs(places, eaves, 0.05, legs)])


def build_lamp_post(palette: Palette, _variant: int) -> Mesh:
    """Return a street lamp of 1.1 m whose arm reaches over +x."""
    steel = palette.ensure_plain((0.26, 0.29, 0.31))
    pole = make_limb([(0.0, 0.0, 0.0), (0.0, 0.0, 1.02), (0.07, 0.0, 1.09)], (0.045, 0.028, 0.022), steel)
    arm = make_box((0.24, 0.03, 0.02), (0.17, 0.0, 1.10), steel)
    lamp = make_quad(
        [(0.14, -0.03, 1.088), (0.14, 0.03, 1.088), (0.28, 0.03, 1.088), (0.28, -0.03, 1.088)],
        palette.ensure_plain((1.0, 0.97, 0.84), flags=SHADE_TWO_SIDED),
    )
    return merge_meshes([pole, arm, lamp])
