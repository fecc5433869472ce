"""Leaves with holes between them: whole crowns, each a picture for a card of one triangle; v = 0 is the top."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw

from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import Colour, as_colour

SIZE = 512
"""Texels per side."""


CARD = ((0.0, 1.0), (1.0, 1.0), (0.5, 0.0))
"""Texture coordinates of a card of one triangle: half the triangles of a square one, and hardly more pixels."""

CARD_RADIUS = 1.0 / (1.0 + math.sqrt(5.0))
"""Of the circle inside it, as a share of the picture's side."""


def make_crown(base: Colour, light: Colour, leaf: float, seed: int) -> ByteArray:
    """Return the leaves of a whole crown seen from the side, loose at its rim: the circle inside `CARD`, else holes.

    Args:
        base: Colour in the shade, 0 to 255.
        light: Colour in the sun.
        leaf: Size of a leaf [texel].
        seed: Of the random numbers.
    """
    random = np.random.default_rng(seed)
    picture = Image.new("RGBA", (SIZE, SIZE), (*(int(c) for c in base), 0))
    draw = ImageDraw.Draw(picture)
    round_ = CARD_RADIUS * SIZE
    away, turn, tone, size = random.random((4, int(9.0 * round_ * round_ / (leaf * leaf))))
    reach = np.sqrt(away)
    lumps = 1.0 + 0.09 * np.sin(5.0 * 2.0 * math.pi * turn + seed) + 0.05 * np.sin(9.0 * 2.0 * math.pi * turn)
    for n in np.argsort(-reach).tolist():
        angle, radius = 2.0 * math.pi * turn[n], 0.82 * round_ * reach[n] * lumps[n]
        x, y = 0.5 * SIZE + radius * math.cos(angle), (1.0 - CARD_RADIUS) * SIZE + radius * math.sin(angle)
        spread = leaf * (0.55 + 0.4 * size[n]) * (1.0 - 0.25 * reach[n] ** 4)
        high = 0.5 + 0.5 * radius * math.sin(angle) / round_
        mix = float(np.clip(0.3 + 0.32 * (tone[n] - 0.5) + 0.75 * (0.67 - high), 0.0, 1.0))
        shade = (1.0 - 0.28 * high) * (as_colour(base) * (1.0 - mix) + as_colour(light) * mix)
        box = (x - spread, y - 0.62 * spread, x + spread, y + 0.62 * spread)
        draw.ellipse(box, fill=(*(int(c) for c in shade), 255))
    return np.array(picture)


def make_spruce(base: Colour, light: Colour, seed: int, tiers: int = 5) -> ByteArray:
    """Return a spruce seen from the side, its branches drooping in tiers inside the triangle of `CARD`, else holes.

    Args:
        base: Colour in the shade, 0 to 255.
        light: Colour in the sun.
        seed: Of the random numbers.
        tiers: Of branches.
    """
    random = np.random.default_rng(seed)
    picture = Image.new("RGBA", (SIZE, SIZE), (*(int(0.8 * c) for c in base), 0))
    draw = ImageDraw.Draw(picture)
    for tier in range(tiers):
        top, low = (tier / tiers) ** 0.85 * 0.80, ((tier + 1) / tiers) ** 0.85
        for _ in range(30 + 50 * tier):
            high = top + (low - top) * random.uniform(0.0, 0.72)
            span = 0.43 * low * (high - top + 0.02) / (low - top + 0.02)
            out = random.uniform(-1.0, 1.0) * span
            length = random.uniform(0.05, 0.11)
            x, y = 0.5 + out, high
            lean, fall = 0.55 * out / max(span, 1e-3) * length, min(y + length, 0.985 * low + 0.012)
            mix = float(np.clip(0.1 + 0.32 * random.random() + 0.42 * (high - top) / (low - top), 0.0, 1.0))
            fill = (*(int(c) for c in as_colour(base) * (1.0 - mix) + as_colour(light) * mix), 255)
            wide = random.uniform(0.010, 0.018)
            outline = [(x - wide, y), (x + wide, y), (x + lean, fall)]
            draw.polygon([(px * SIZE, py * SIZE) for px, py in outline], fill=fill)
    return np.array(picture)
