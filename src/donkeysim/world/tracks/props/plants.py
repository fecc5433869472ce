"""Trees, bushes and rocks, about 1 m high: the size of the model world that a toy car drives through."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED, Mesh
from donkeysim.world.tracks.assets import Assets
from donkeysim.world.tracks.mesh import make_revolved, merge_meshes, place_mesh
from donkeysim.world.tracks.prop_textures import make_cactus_skin, make_palm_leaf, make_palm_trunk
from donkeysim.world.tracks.props.kind import stand_on_post
from donkeysim.world.tracks.props.shape import make_limb, make_sheet
from donkeysim.world.tracks.structure import Shadow, Structure
from donkeysim.world.tracks.textures import make_bark, make_foliage


def build_broadleaf(assets: Assets, variant: int) -> Structure:
    """Return a tree with a round, lumpy crown; variants differ in shape and leaf."""
    random = np.random.default_rng(100 + variant)
    leaves = _leaves(assets, variant)
    crown_low, top = (0.30, 0.27, 0.34)[variant % 3], (1.05, 0.92, 1.2)[variant % 3]
    middle = 0.5 * (crown_low + top)
    girth = (0.36, 0.40, 0.30)[variant % 3]
    profile = (
        (0.0, crown_low), (0.78 * girth, crown_low + 0.14 * (top - crown_low)), (girth, middle - 0.03),
        (0.72 * girth, top - 0.2 * (top - crown_low)), (0.0, top),
    )  # fmt: skip
    crown = make_revolved(profile, 6, leaves, uv_scale=2.0, wobble=_wobble(random, 5, 6, 0.14))
    tree = [_trunk(assets, 0.045, 0.028, crown_low + 0.12), crown]
    if variant % 3 == 0:
        lump = ((0.0, -0.16), (0.2, -0.05), (0.17, 0.10), (0.0, 0.17))
        bough = make_revolved(lump, 5, leaves, wobble=_wobble(random, 4, 5, 0.12))
        angle = random.uniform(0.0, 2.0 * math.pi)
        tree += [place_mesh(bough, (0.24 * math.cos(angle), 0.24 * math.sin(angle), crown_low + 0.20))]
    return stand_on_post(merge_meshes(tree), 0.045, 0.6, "tree", Shadow((0.0, 0.0), 0.40, 0.62, 0.55))


def build_conifer(assets: Assets, variant: int) -> Structure:
    """Return a spruce of three or four skirts."""
    random = np.random.default_rng(200 + variant)
    needles = assets.ensure_textured("spruce", lambda: make_foliage((30, 66, 44), (92, 136, 80), 11.0, 6))
    tiers = 4 if variant == 5 else 3
    top = 1.15 + 0.2 * (variant % 3)
    parts = [_trunk(assets, 0.04, 0.03, 0.26)]
    for tier in range(tiers):
        share = tier / tiers
        low = 0.16 + share * (top - 0.30)
        high = min(top, low + (0.42 if tier < tiers - 1 else 0.50) * top * 0.75)
        girth = 0.36 * (1.0 - 0.72 * share)
        profile = ((girth, low), (0.0, high if tier < tiers - 1 else top))
        parts += [make_revolved(profile, 6, needles, uv_scale=2.0, wobble=_wobble(random, 2, 6, 0.10))]
    return stand_on_post(merge_meshes(parts), 0.045, 0.6, "tree", Shadow((0.0, 0.0), 0.30, 0.45, 0.55))


def build_birch(assets: Assets, variant: int) -> Structure:
    """Return a slender tree with a white stem and a light crown."""
    random = np.random.default_rng(300 + variant)
    leaves = assets.ensure_textured("birch", lambda: make_foliage((76, 118, 44), (172, 208, 98), 10.0, 8))
    stem = make_revolved(((0.024, 0.0), (0.014, 0.62)), 4, assets.ensure_plain((0.86, 0.85, 0.81)), capped=False)
    profile = ((0.0, 0.36), (0.17, 0.48), (0.21, 0.74), (0.13, 1.05), (0.0, 1.25))
    crown = make_revolved(profile, 5, leaves, uv_scale=2.0, wobble=_wobble(random, 5, 5, 0.16))
    return stand_on_post(merge_meshes([stem, crown]), 0.026, 0.6, "tree", Shadow((0.0, 0.0), 0.22, 0.75, 0.45))


def build_bush(assets: Assets, variant: int) -> Structure:
    """Return a low round bush."""
    random = np.random.default_rng(400 + variant)
    leaves = _leaves(assets, variant)
    profile = ((0.15, 0.0), (0.19, 0.08), (0.12, 0.19), (0.0, 0.23))
    mesh = make_revolved(profile, 5, leaves, uv_scale=2.0, wobble=_wobble(random, 4, 5, 0.15), capped=False)
    return stand_on_post(mesh, 0.15, 0.2, "bush", Shadow((0.0, 0.0), 0.21, 0.08, 0.55))


def build_rock(assets: Assets, variant: int) -> Structure:
    """Return a grey boulder."""
    random = np.random.default_rng(500 + variant)
    stone = assets.ensure_plain((0.50, 0.49, 0.47))
    profile = ((0.13, 0.0), (0.11, 0.08), (0.0, 0.12))
    mesh = make_revolved(profile, 6, stone, wobble=_wobble(random, 3, 6, 0.22), capped=False)
    return stand_on_post(mesh, 0.12, 0.11, "rock", Shadow((0.0, 0.0), 0.15, 0.04, 0.55))


def build_pine(assets: Assets, variant: int) -> Structure:
    """Return an umbrella pine: a bare reddish stem, flat dark crowns on top."""
    random = np.random.default_rng(600 + variant)
    needles = assets.ensure_textured("spruce", lambda: make_foliage((30, 66, 44), (92, 136, 80), 11.0, 6))
    bark = assets.ensure_textured("bark", make_bark, tint=(1.0, 0.80, 0.68))
    lean = random.uniform(-0.07, 0.07, 2)
    top = 0.85 + 0.15 * (variant % 3)
    crown = (float(lean[0]), float(lean[1]), top)
    parts = [make_limb([(0.0, 0.0, 0.0), (0.4 * lean[0], 0.4 * lean[1], 0.5 * top), crown], (0.09, 0.07, 0.05), bark)]
    lump = ((0.0, -0.08), (0.36, -0.02), (0.34, 0.12), (0.0, 0.26))
    for size, angle, reach, low in ((1.0, 0.0, 0.0, 0.0), (0.7, random.uniform(0.0, 6.28), 0.20, -0.26)):
        wobble = _wobble(random, 4, 6, 0.16)
        foot = (crown[0] + reach * math.cos(angle), crown[1] + reach * math.sin(angle), top + low)
        parts.append(place_mesh(make_revolved(lump, 6, needles, uv_scale=2.0, wobble=wobble), foot, 0.0, size))
    return stand_on_post(merge_meshes(parts), 0.04, 0.6, "tree", Shadow((0.0, 0.0), 0.34, 0.9, 0.5))


def build_palm(assets: Assets, variant: int) -> Structure:
    """Return a palm with cut-out leaves on a bent stem."""
    random = np.random.default_rng(700 + variant)
    leaf = assets.ensure_textured("palm leaf", make_palm_leaf, flags=SHADE_CUTOUT | SHADE_TWO_SIDED)
    bark = assets.ensure_textured("palm trunk", make_palm_trunk)
    top = 0.95 + 0.18 * (variant % 3)
    bend = random.uniform(-0.09, 0.09, 2)
    crown = np.array((bend[0], bend[1], top))
    middle = (0.3 * float(bend[0]), 0.3 * float(bend[1]), 0.5 * top)
    stem = make_limb([(0.0, 0.0, 0.0), middle, (float(bend[0]), float(bend[1]), top)], (0.09, 0.06, 0.05), bark, 5)
    parts = [stem]
    for n in range(8):
        angle = n * math.pi / 4.0 + random.uniform(-0.2, 0.2)
        out, side = np.array((math.cos(angle), math.sin(angle))), np.array((-math.sin(angle), math.cos(angle)))
        rise = 0.16 if n % 2 else 0.05
        rows = []
        for reach, height, half in ((0.52, rise - 0.26, 0.07), (0.28, rise, 0.09), (0.0, 0.0, 0.07)):
            spine = np.append(crown[:2] + reach * out, crown[2] + height)
            rows.append((spine + np.append(half * side, -0.03), spine - np.append(half * side, 0.03)))
        parts.append(make_sheet(np.array(rows), leaf))
    return stand_on_post(merge_meshes(parts), 0.045, 0.9, "tree", Shadow((0.0, 0.0), 0.36, 0.9, 0.4))


def build_cactus(assets: Assets, variant: int) -> Structure:
    """Return a saguaro with one or two arms."""
    skin = assets.ensure_textured("cactus", make_cactus_skin)
    high = 0.5 + 0.12 * (variant % 3)
    parts = [
        make_revolved(((0.055, 0.0), (0.06, 0.5 * high), (0.045, 0.93 * high), (0.0, high)), 6, skin, uv_scale=2.0)
    ]
    for side, low in ((1.0, 0.4), (-1.0, 0.52))[: 1 + variant % 2]:
        points = [(0.0, 0.03 * side, low * high), (0.0, 0.13 * side, (low + 0.02) * high)]
        points += [(0.0, 0.16 * side, (low + 0.16) * high), (0.0, 0.16 * side, (low + 0.36) * high)]
        parts.append(make_limb(points, (0.05, 0.06, 0.06, 0.03), skin, 5))
    return stand_on_post(merge_meshes(parts), 0.06, high, "cactus", Shadow((0.0, 0.0), 0.1, 0.25, 0.45))


def _leaves(assets: Assets, variant: int) -> int:
    if variant % 2:
        return assets.ensure_textured("oak", lambda: make_foliage((46, 78, 30), (128, 160, 62), 17.0, 5))
    return assets.ensure_textured("maple", lambda: make_foliage((52, 92, 36), (146, 184, 74), 15.0, 7))


def _trunk(assets: Assets, base: float, top: float, height: float) -> Mesh:
    return make_revolved(((base, 0.0), (top, height)), 4, assets.ensure_textured("bark", make_bark), capped=False)


def _wobble(random: np.random.Generator, rings: int, sides: int, strength: float) -> FloatArray:
    return 1.0 + random.uniform(-strength, strength, (rings, sides))
