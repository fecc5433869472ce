"""Pictures of fences, rails and the walls under them, and of a wood behind; u runs along, v = 0 is the top."""

import math

import numpy as np
from PIL import Image, ImageDraw

from art.canvas import add_grain
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture

WOOD = (1024, 512)
"""Width and height of a picture of a wood [texel]."""


def make_wire_mesh() -> ByteArray:
    """Return a panel of eight by eight meshes of wire and the post at its end; a sixth of it is there, else holes."""
    size, cells, wire = 256, 8, 2
    pitch = size // cells
    colour = np.zeros((size, size, 4), np.float32)
    colour[..., :3] = (132, 134, 140)
    index = np.arange(size)
    colour[index % pitch < wire, :, 3] = 255.0
    colour[:, index % pitch < wire, 3] = 255.0
    colour[:, index % pitch == 0, :3] = (176, 178, 182)
    colour[:, :9] = (112, 114, 122, 255)
    colour[:, 2:5, :3] = (196, 198, 202)
    colour[:4] = (138, 140, 146, 255)
    return to_texture(colour)


def make_low_wall() -> ByteArray:
    """Return a low wall, dark blue-grey, a joint at its end; its lowest eighth is its top."""
    colour = np.tile(as_colour((58, 62, 78)), (64, 128, 1)).astype(np.float32)
    row = np.arange(64)[:, None, None]
    colour *= 1.08 - 0.30 * np.clip((row - 30) / 26.0, 0.0, 1.0) * (row < 56)
    colour[:56, :2] *= 0.7
    colour[56:] *= 1.25
    return to_texture(add_grain(colour, 911, 0.05, 0.07))


def make_rail_wall() -> ByteArray:
    """Return two steel beams above a dark foot, a post and bolts at the end of each length."""
    height, width = 128, 256
    v = (np.arange(height) + 0.5) / height
    beam = (v / 0.31) % 1.0
    tone = 168.0 + 34.0 * np.cos(4.0 * np.pi * (beam - 0.12)) - 40.0 * beam
    tone = np.where(beam > 0.9, 66.0, tone)
    colour = tone[:, None, None] * np.ones((1, width, 1)) * as_colour((1.0, 0.985, 0.97))
    foot = v > 0.64
    colour[foot] = as_colour((38, 42, 58)) * (1.0 - 0.35 * (v[foot, None, None] - 0.64) / 0.36)
    colour[:82, :12] *= 0.78
    colour[:, 12:14] *= 0.6
    for y in (10, 24, 50, 64):
        for x in (4, 18, 236):
            colour[y : y + 3, x : x + 3] *= 0.62
    return to_texture(add_grain(colour.astype(np.float32), 921, 0.04, 0.06))


def make_rough_wall() -> ByteArray:
    """Return a rough grey wall of tar and stone, worn lighter at its top."""
    size = 128
    stone = make_noise(size, size, 0.6, 931, finest=2.0)
    pit = make_noise(size, size, 0.9, 932, finest=2.5)
    row = np.arange(size)[:, None]
    tone = 118.0 + 20.0 * stone - 30.0 * np.clip(pit - 0.9, 0.0, 1.2) + 12.0 * np.clip(1.0 - row / 20.0, 0.0, 1.0)
    return to_texture((tone[..., None] * as_colour((0.99, 1.0, 1.02))).astype(np.float32))


def make_chequer() -> ByteArray:
    """Return two by two squares of black and white paint on a road."""
    colour = np.full((64, 64, 3), 26.0, np.float32)
    colour[:32, :32] = colour[32:, 32:] = 246.0
    return to_texture(add_grain(colour, 951, 0.02, 0.03))


def make_wood(base: tuple[int, int, int], light: tuple[int, int, int], seed: int, *, gaps: bool) -> ByteArray:
    """Return the edge of a broadleaf wood: trunks below, crowns above, which go on into themselves along u.

    Args:
        base: Colour of leaves in the shade, 0 to 255.
        light: Colour in the sun.
        seed: Of the random numbers.
        gaps: Whether light falls between crowns and under them; else it is closed up to its ragged top.
    """
    width, height = WOOD
    random = np.random.default_rng(seed)
    picture = Image.new("RGBA", (width, height), (*base, 0))
    draw = ImageDraw.Draw(picture)
    if not gaps:
        _fill_depth(draw, base, random)
    stems = (
        (np.arange(14 if gaps else 20) + random.uniform(0.1, 0.9, 14 if gaps else 20)) * width / (14 if gaps else 20)
    )
    for x in stems.tolist():
        _draw_stem(draw, x, random)
    boughs = []
    for x in stems.tolist():
        top = random.uniform(0.03, 0.16)
        for _ in range(16):
            y = top + (0.60 - top) * random.random() ** 1.2
            spread = 52.0 * math.sin(math.pi * min(0.95, (y - top + 0.08) / (0.72 - top)))
            boughs.append((x + random.normal(0.0, max(6.0, spread)), y, random.uniform(20.0, 36.0)))
    low = 0.84 if gaps else 0.5
    boughs += [(random.uniform(0.0, width), random.uniform(low, 0.97), 20.0) for _ in range(60 if gaps else 150)]
    for x, y, reach in sorted(boughs, key=lambda bough: -bough[1]):
        _draw_bough(draw, (x, y), reach, (base, light), random)
    return np.array(picture)


def _fill_depth(draw: ImageDraw.ImageDraw, base: tuple[int, int, int], random: np.random.Generator) -> None:
    """Fill the dark inside of a wood up to a ragged top, some light between its trunks."""
    width, height = WOOD
    x = np.arange(width)
    top = 0.25 + 0.04 * np.sin(x * (2.0 * math.pi * 3 / width)) + 0.05 * np.sin(x * (2.0 * math.pi * 7 / width) + 1.0)
    outline = list(zip(x.tolist(), (top * height).tolist(), strict=True))
    draw.polygon([*outline, (width - 1, height), (0, height)], fill=(*(int(0.66 * c) for c in base), 255))
    for _ in range(90):
        left, high = random.uniform(0.0, width - 30.0), random.uniform(0.5, 0.94) * height
        tone = random.uniform(0.9, 2.0)
        glow = (*(int(tone * c) for c in (0.9 * base[0], base[1], 0.8 * base[2])), 255)
        draw.ellipse((left, high, left + random.uniform(6.0, 30.0), high + random.uniform(4.0, 14.0)), fill=glow)


def _draw_stem(draw: ImageDraw.ImageDraw, x: float, random: np.random.Generator) -> None:
    """Draw a trunk from the ground into the crowns, its left side in the light."""
    width, height = WOOD
    half, lean = random.uniform(4.0, 8.0), random.uniform(-14.0, 14.0)
    tone = random.uniform(0.7, 1.0)
    for shift in (-width, 0, width):
        foot, head = x + shift, x + shift + lean
        for paint, left, right in (((58, 53, 46), -1.0, 1.0), ((92, 86, 76), -0.9, -0.1)):
            fill = (*(int(tone * c) for c in paint), 255)
            corners = [(foot + left * half, float(height)), (foot + right * half, float(height))]
            corners += [(head + 0.4 * right * half, 0.3 * height), (head + 0.4 * left * half, 0.3 * height)]
            draw.polygon(corners, fill=fill)


def _draw_bough(
    draw: ImageDraw.ImageDraw,
    place: tuple[float, float],
    reach: float,
    shades: tuple[tuple[int, int, int], tuple[int, int, int]],
    random: np.random.Generator,
) -> None:
    """Draw a clump of leaves, lit from above; `place`: x [texel], and share of the height from the top."""
    width, height = WOOD
    base, light = (as_colour(shade) for shade in shades)
    count = int(3.4 * reach)
    away, turn = reach * np.sqrt(random.random(count)), random.uniform(0.0, 2.0 * math.pi, count)
    tone, size = random.random(count), random.uniform(1.6, 4.2, count)
    overall = random.uniform(0.8, 1.14) * (1.14 - 0.46 * place[1])
    for n in np.argsort(away * np.sin(turn)).tolist():
        x = (place[0] + away[n] * math.cos(turn[n])) % width
        y = min(place[1] * height - 0.72 * away[n] * math.sin(turn[n]), height - 1.0)
        high = 0.5 + 0.5 * away[n] * math.sin(turn[n]) / reach
        mix = float(np.clip(0.10 + 0.34 * tone[n] + 0.58 * high, 0.0, 1.0))
        fill = (*(int(min(255.0, overall * c)) for c in base * (1.0 - mix) + light * mix), 255)
        for shift in (0.0, -width) if x + size[n] > width else (0.0,):
            draw.ellipse((x + shift - size[n], y - 0.62 * size[n], x + shift + size[n], y + 0.62 * size[n]), fill=fill)
