"""Leaves with holes between them: whole crowns, each a picture for a card of one triangle; v = 0 is the top."""

import math

import numpy as np
from PIL import Image, ImageDraw

from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import AnyFloat, Colour, as_colour, blend_colours, make_noise, to_texture

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


def make_lobed_crown(base: Colour, light: Colour, seed: int, lobes: int = 30) -> ByteArray:
    """Return the crown of an old broadleaf tree: clumps of leaves, each lit from above, dark between them, else holes.

    Args:
        base: Colour in the shade, 0 to 255.
        light: Colour in the sun.
        seed: Of the random numbers.
        lobes: Clumps.
    """
    random = np.random.default_rng(seed)
    picture = Image.new("RGBA", (SIZE, SIZE), (*(int(c) for c in base), 0))
    draw = ImageDraw.Draw(picture)
    round_, middle = CARD_RADIUS * SIZE, ((0.5 * SIZE), (1.0 - CARD_RADIUS) * SIZE)
    _strew(draw, middle, 0.74 * round_, (0.55 * as_colour(base), 0.8 * as_colour(base)), random)
    turn = (np.arange(lobes) + random.uniform(0.0, 0.8, lobes)) * 2.39996
    reach = 0.76 * np.sqrt((np.arange(lobes) + 0.5) / lobes)
    x, y = round_ * reach * np.cos(turn), round_ * reach * np.sin(turn)
    for n in np.argsort(y * random.uniform(0.7, 1.3, lobes) - 0.6 * round_ * (1.0 - reach))[::-1].tolist():
        size = round_ * float(random.uniform(0.21, 0.32)) * (1.12 - 0.3 * reach[n])
        high = 0.62 + 0.38 * float(np.clip(0.5 - 0.55 * y[n] / round_, 0.0, 1.0))
        shades = (high * as_colour(base), high * as_colour(light))
        _strew(draw, (middle[0] + x[n], middle[1] + 0.9 * y[n]), size, shades, random)
    return np.array(picture)


def _strew(
    draw: ImageDraw.ImageDraw,
    middle: tuple[float, float],
    reach: float,
    shades: tuple[AnyFloat, AnyFloat],
    random: np.random.Generator,
) -> None:
    """Draw the leaves of a round clump, those above lit: from the first of two colours to the second."""
    count = int(0.055 * reach * reach)
    away, turn, tone, size = random.random((4, count))
    dx, dy = np.sqrt(away) * np.cos(2.0 * math.pi * turn), np.sqrt(away) * np.sin(2.0 * math.pi * turn)
    mix = np.clip(0.42 - 0.5 * dy - 0.18 * dx + 0.5 * (tone - 0.5), 0.0, 1.0)[:, None]
    colour = (shades[0] * (1.0 - mix) + shades[1] * mix).astype(int)
    spread = 3.4 + 4.2 * size
    for n in np.argsort(-dy).tolist():
        px, py, wide = middle[0] + reach * dx[n], middle[1] + reach * dy[n], spread[n]
        box = (px - wide, py - 0.7 * wide, px + wide, py + 0.7 * wide)
        draw.ellipse(box, fill=(*colour[n].tolist(), 255))


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


def make_foliage(base: Colour, light: Colour, leaf: float, seed: int, size: int = 512) -> ByteArray:
    """Return clumps of leaves, dark below and sunlit above (v = 0 is the top of a crown).

    Args:
        base: Colour in the shade, 0 to 255.
        light: Colour in the sun.
        leaf: Size of a clump [texel].
        seed: Of the random numbers.
        size: Texels per side.
    """
    random = np.random.default_rng(seed)
    height = 1.0 - np.arange(size) / (size - 1)
    ground = (0.6 + 0.35 * height[:, None, None]) * as_colour(base)
    picture = Image.fromarray(np.broadcast_to(ground, (size, size, 3)).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    x, y, spread, tone = random.random((4, int(3.0 * size * size / (leaf * leaf))))
    mix = np.clip(0.3 + 0.5 * (tone - 0.5) + 0.75 * (0.67 - y), 0.0, 1.0)[:, None]
    colour = ((1.0 - 0.28 * y[:, None]) * (as_colour(base) * (1.0 - mix) + as_colour(light) * mix)).astype(int)
    radius = leaf * (0.35 + 0.45 * spread)
    for left, top, reach, fill in zip(
        (x * size).tolist(), (y * size).tolist(), radius.tolist(), colour.tolist(), strict=True
    ):
        for middle in (left, left - size) if left + reach > size else (left,):
            draw.ellipse((middle - reach, top - 0.7 * reach, middle + reach, top + 0.7 * reach), fill=tuple(fill))
    noise = 1.0 + 0.05 * make_noise(size, size, 0.3, seed + 1)
    return to_texture(np.asarray(picture, np.float32) * noise[..., None])


BROWN: tuple[Colour, Colour, Colour] = ((52, 38, 28), (92, 70, 52), (134, 110, 86))
GREY: tuple[Colour, Colour, Colour] = ((58, 53, 48), (98, 92, 86), (138, 132, 124))
"""Bark: of furrows, on average, of ridges."""


def make_bark(size: int = 128, shades: tuple[Colour, Colour, Colour] = BROWN) -> ByteArray:
    """Return bark with furrows along v."""
    random = make_noise(size * 4, size, 1.0, 31, finest=2.0)[::4]
    colour = blend_colours(random, tuple(zip((-2.0, 0.0, 2.0), shades, strict=True)))
    return to_texture(colour)
