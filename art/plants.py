"""Trees, bushes and rocks, about 1 m high: the size of the model world that a toy car drives through."""

import math

import numpy as np

from art.leaf_pictures import CARD, CARD_RADIUS
from art.palette import Palette
from art.shape import make_limb, make_sheet
from donkeysim.core.frames import Vector
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import SHADE_CUTOUT, SHADE_TWO_SIDED, Mesh
from donkeysim.world.tracks.mesh import make_mesh, make_revolved, merge_meshes


def build_tree(palette: Palette, variant: int) -> Mesh:
    """Return a tree with a round crown; variants differ in shape and leaf."""
    random = np.random.default_rng(100 + variant)
    crown_low, top = (0.30, 0.27, 0.34)[variant % 3], (1.05, 0.92, 1.2)[variant % 3]
    middle = 0.5 * (crown_low + top)
    girth = (0.36, 0.40, 0.30)[variant % 3]
    leaves = _ensure_leaves(palette, variant)
    tree = [_trunk(palette, 0.048, 0.024, middle), *_spread_boughs(palette, crown_low, girth, random)]
    tree += _cross_cards(leaves, 2.5 * girth, 1.25 * (top - crown_low), (0.0, 0.0, middle), 3, random)
    if variant % 3 == 0:
        angle = random.uniform(0.0, 2.0 * math.pi)
        bough = (0.24 * math.cos(angle), 0.24 * math.sin(angle), crown_low + 0.20)
        tree += _cross_cards(leaves, 0.5, 0.42, bough, 2, random)
    return merge_meshes(tree)


def build_oak(palette: Palette, variant: int) -> Mesh:
    """Return an old broadleaf tree with a heavy crown of two parts, 1.1 to 1.4 m high."""
    random = np.random.default_rng(800 + variant)
    flags = SHADE_CUTOUT | SHADE_TWO_SIDED
    crown = ("crown_broad", "crown_wide")[variant % 2]
    leaves = palette.ensure_picture(crown, flags=flags)
    level = palette.ensure_picture(crown, flags=flags, tint=(0.86, 0.86, 0.86))
    top, low = (1.12, 1.26, 1.4)[variant % 3], (0.26, 0.3, 0.36)[variant % 3]
    middle, wide = 0.5 * (low + top), (0.98, 0.9, 0.86)[variant % 3]
    lean = random.uniform(-0.05, 0.05, 2)
    fork = (float(lean[0]), float(lean[1]), middle)
    bark = palette.ensure_picture("bark_grey")
    trunk = make_limb([(0.0, 0.0, -0.01), fork], (0.13, 0.04), bark, 3)
    angle = random.uniform(0.0, 2.0 * math.pi)
    bough = (0.27 * math.cos(angle), 0.27 * math.sin(angle), low + random.uniform(0.22, 0.34))
    crowns = _cross_cards(leaves, wide, top - low, fork, 2, random, level)
    return merge_meshes([trunk, *crowns, *_cross_cards(leaves, 0.6, 0.5, bough, 2, random)[:-1]])


def build_spruce(palette: Palette, variant: int) -> Mesh:
    """Return a spruce, its branches drooping in tiers on three upright cards."""
    random = np.random.default_rng(200 + variant)
    flags = SHADE_CUTOUT | SHADE_TWO_SIDED
    needles = palette.ensure_picture("spruce", flags=flags)
    top, low, girth = 1.15 + 0.2 * (variant % 3), 0.12, 0.78
    uv, triangle = np.array(CARD), np.array([(0, 1, 2)])
    parts = [make_limb([(0.0, 0.0, 0.0), (0.0, 0.0, 0.34)], (0.10, 0.06), palette.ensure_picture("bark"))]
    first = float(random.uniform(0.0, math.pi))
    for angle in first + np.arange(3) * (math.pi / 3.0):
        across = (uv[:, :1] - 0.5) * girth * (math.cos(angle), math.sin(angle), 0.0)
        card = across + (low + (1.0 - uv[:, 1:]) * (top - low)) * (0.0, 0.0, 1.0)
        parts.append(make_mesh(card, uv, triangle, needles))
    return merge_meshes(parts)


def build_birch(palette: Palette, variant: int) -> Mesh:
    """Return a slender tree with a white stem and a light crown."""
    random = np.random.default_rng(300 + variant)
    white = palette.ensure_plain((0.86, 0.85, 0.81))
    stem = make_revolved(((0.026, 0.0), (0.012, 0.85)), 4, white, capped=False)
    leaves = palette.ensure_picture("crown_birch", flags=SHADE_CUTOUT | SHADE_TWO_SIDED)
    cards = _cross_cards(leaves, 0.54, 1.06, (0.0, 0.0, 0.82), 2, random)
    return merge_meshes([stem, *cards])


def build_bush(palette: Palette, variant: int) -> Mesh:
    """Return a low round bush."""
    random = np.random.default_rng(400 + variant)
    cards = _cross_cards(_ensure_leaves(palette, variant), 0.52, 0.36, (0.0, 0.0, 0.11), 2, random)
    return merge_meshes(cards)


def build_rock(palette: Palette, variant: int) -> Mesh:
    """Return a grey boulder."""
    random = np.random.default_rng(500 + variant)
    stone = palette.ensure_picture("boulder")
    profile = ((0.135, -0.01), (0.12, 0.075), (0.0, 0.12))
    return make_revolved(profile, 7, stone, uv_scale=2.0, wobble=_wobble(random, 3, 7, 0.2), capped=False)


def build_pine(palette: Palette, variant: int) -> Mesh:
    """Return an umbrella pine: a bare reddish stem, flat dark crowns on top."""
    random = np.random.default_rng(600 + variant)
    needles = _ensure_needles(palette)
    bark = palette.ensure_picture("bark", tint=(1.0, 0.8, 0.68))
    lean = random.uniform(-0.07, 0.07, 2)
    top = 0.85 + 0.15 * (variant % 3)
    crown = (float(lean[0]), float(lean[1]), top)
    parts = [make_limb([(0.0, 0.0, 0.0), (0.4 * lean[0], 0.4 * lean[1], 0.5 * top), crown], (0.09, 0.07, 0.05), bark)]
    for size, angle, reach, low in ((1.0, 0.0, 0.0, 0.05), (0.7, random.uniform(0.0, 6.28), 0.20, -0.22)):
        middle = (crown[0] + reach * math.cos(angle), crown[1] + reach * math.sin(angle), top + low)
        parts += _cross_cards(needles, 0.86 * size, 0.40 * size, middle, 3, random)
    return merge_meshes(parts)


def build_palm(palette: Palette, variant: int) -> Mesh:
    """Return a palm with cut-out leaves on a bent stem."""
    random = np.random.default_rng(700 + variant)
    leaf = palette.ensure_picture("palm_leaf", flags=SHADE_CUTOUT | SHADE_TWO_SIDED)
    bark = palette.ensure_picture("palm_trunk")
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
    return merge_meshes(parts)


def build_cactus(palette: Palette, variant: int) -> Mesh:
    """Return a saguaro with one or two arms."""
    skin = palette.ensure_picture("cactus_skin")
    high = 0.5 + 0.12 * (variant % 3)
    parts = [
        make_revolved(((0.055, 0.0), (0.06, 0.5 * high), (0.045, 0.93 * high), (0.0, high)), 6, skin, uv_scale=2.0)
    ]
    for side, low in ((1.0, 0.4), (-1.0, 0.52))[: 1 + variant % 2]:
        points = [(0.0, 0.03 * side, low * high), (0.0, 0.13 * side, (low + 0.02) * high)]
        points += [(0.0, 0.16 * side, (low + 0.16) * high), (0.0, 0.16 * side, (low + 0.36) * high)]
        parts.append(make_limb(points, (0.05, 0.06, 0.06, 0.03), skin, 5))
    return merge_meshes(parts)


def _ensure_leaves(palette: Palette, variant: int) -> int:
    """Return the crown of a maple or an oak."""
    flags = SHADE_CUTOUT | SHADE_TWO_SIDED
    if variant % 2:
        return palette.ensure_picture("crown_oak", flags=flags)
    return palette.ensure_picture("crown_maple", flags=flags)


def _ensure_needles(palette: Palette) -> int:
    """Return the crown of a pine."""
    flags = SHADE_CUTOUT | SHADE_TWO_SIDED
    return palette.ensure_picture("crown_pine", flags=flags)


def _cross_cards(
    material: int,
    width: float,
    height: float,
    middle: Vector,
    count: int,
    random: np.random.Generator,
    level: int | None = None,
) -> list[Mesh]:
    """Return upright cards through a crown's axis, turned evenly, and one that lies in it: each a single triangle.

    The level one may have a material of its own: the sun from above lights it more than the others.
    """
    first = float(random.uniform(0.0, math.pi))
    corner = (np.array(CARD) - (0.5, 1.0 - CARD_RADIUS)) * (0.5 / CARD_RADIUS)
    cards = []
    for n in range(count):
        angle = first + n * math.pi / count
        across = corner[:, :1] * width * (math.cos(angle), math.sin(angle), 0.0)
        cards.append(np.array(middle) + across - corner[:, 1:] * height * (0.0, 0.0, 1.0))
    triangle = np.array([(0, 1, 2)])
    upright = [make_mesh(card, np.array(CARD), triangle, material) for card in cards]
    return [*upright, _lay_card(material if level is None else level, width, middle)]


def _lay_card(material: int, width: float, middle: Vector) -> Mesh:
    """Return a crown's picture lying level, of one triangle: what is seen of it from above and from below."""
    corner = (np.array(CARD) - (0.5, 1.0 - CARD_RADIUS)) * (0.5 / CARD_RADIUS) * width
    card = np.array(middle) + corner[:, :1] * (1.0, 0.0, 0.0) - corner[:, 1:] * (0.0, 1.0, 0.0)
    return make_mesh(card, np.array(CARD), np.array([(0, 1, 2)]), material)


def _trunk(palette: Palette, base: float, top: float, height: float) -> Mesh:
    bark = palette.ensure_picture("bark")
    profile = ((1.35 * base, 0.0), (0.9 * base, 0.18 * height), (top, height))
    return make_revolved(profile, 6, bark, capped=False)


def _spread_boughs(palette: Palette, low: float, girth: float, random: np.random.Generator) -> list[Mesh]:
    """Return three boughs that fork from the trunk into the crown."""
    bark = palette.ensure_picture("bark")
    boughs = []
    for angle in random.uniform(0.0, 2.0 * math.pi) + np.arange(3) * (2.0 * math.pi / 3.0):
        out = (0.55 * girth * math.cos(angle), 0.55 * girth * math.sin(angle))
        boughs.append(make_limb([(0.0, 0.0, low - 0.08), (*out, low + 0.22)], (0.035, 0.012), bark, 3))
    return boughs


def _wobble(random: np.random.Generator, rings: int, sides: int, strength: float) -> FloatArray:
    return 1.0 + random.uniform(-strength, strength, (rings, sides))
