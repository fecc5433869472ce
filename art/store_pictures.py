"""Pictures of a dark storeroom with one lamp: its walls of painted brick, ceiling, door, ladder; v = 0 is the top.

Lengths are in U (1/8 m), from the left end of a wall seen from inside and from the floor.
"""

import numpy as np
from PIL import Image, ImageFilter

from art.canvas import Canvas, add_grain
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.tracks.textures import AnyFloat, as_colour, make_noise, to_texture

HIGH = 27.5
"""Of the walls [U]."""

LAMP = (0.8, 24.9, 10.7)
"""x, height and z of the lamp, the room's middle at x = 0 [U]."""

WALLS = {"far": (49.5, 30.1), "near": (49.5, 6.2), "side": (33.0, 25.0)}
"""Length of each wall and how far from it the lamp hangs [U]."""

BRIGHTEST, DARKEST = 236.0, 96.0


def make_wall(which: str) -> ByteArray:
    """Return a wall of bricks painted grey-white, lit by the lamp: brightest across from it, dark in the corners."""
    length, away = WALLS[which]
    height, width = 512, 512 if which == "side" else 1024
    x = (np.arange(width) + 0.5)[None, :] / width * length
    y = HIGH * (1.0 - (np.arange(height) + 0.5) / height)[:, None]
    middle = 0.5 * length + (0.0 if which != "side" else 8.0 - 0.5 * 3.0)
    tone = _lay_bricks(height, width, x, y, {"far": 1, "near": 2, "side": 3}[which])
    lit = away**2 / (away**2 + (x - middle) ** 2 + 0.7 * (y - LAMP[1]) ** 2)
    bright = np.clip(DARKEST + (BRIGHTEST - DARKEST) * lit**0.9 * (30.0 / (30.0 + away)) * 1.55, 0.0, BRIGHTEST)
    foot = 1.0 - 0.35 * np.exp(-y / 1.2) - 0.22 * np.exp(-np.minimum(x, length - x) / 2.0)
    colour = (tone * bright * foot)[..., None] * as_colour((1.0, 1.005, 0.985))
    stain = np.clip(make_noise(height, width, 1.6, 1405, finest=14.0) - 1.0, 0.0, 1.2)[..., None]
    colour = colour * (1.0 - 0.16 * stain * as_colour((0.8, 1.0, 1.25)))
    skirting = np.broadcast_to(y[..., None] < 0.7, colour.shape)
    colour = np.where(skirting, colour * as_colour((0.50, 0.40, 0.34)), colour)
    return to_texture(add_grain(colour.astype(np.float32), 1406, 0.0, 0.012))


def _lay_bricks(height: int, width: int, x: AnyFloat, y: AnyFloat, seed: int) -> Float32Array:
    """Return the tone of painted bricks, 1.7 x 0.57 U, their joints darker, each a little another shade."""
    random = np.random.default_rng(1410 + seed)
    course = (y / 0.57).astype(int)
    brick = (x / 1.7 + 0.5 * (course % 2)).astype(int)
    shade = 1.0 + 0.045 * random.standard_normal((64, 64))[course % 64, brick % 64]
    inside_y, inside_x = y / 0.57 % 1.0, (x / 1.7 + 0.5 * (course % 2)) % 1.0
    near_y, near_x = np.minimum(inside_y, 1.0 - inside_y) * 0.57, np.minimum(inside_x, 1.0 - inside_x) * 1.7
    joint = np.clip(1.0 - np.minimum(near_y, near_x) / 0.075, 0.0, 1.0)
    rough = 1.0 + 0.03 * make_noise(height, width, 0.9, 1420 + seed, finest=2.5)
    return np.asarray(shade * rough * (1.0 - 0.26 * joint), np.float32)


def make_ceiling() -> ByteArray:
    """Return a plastered ceiling, paler about the lamp, with a beam across."""
    size = 256
    v, u = np.meshgrid((np.arange(size) + 0.5) / size, (np.arange(size) + 0.5) / size, indexing="ij")
    glow = np.exp(-(((u - 0.5) / 0.34) ** 2 + ((v - 0.5) / 0.34) ** 2))
    tone = 62.0 + 66.0 * glow + 3.0 * make_noise(size, size, 1.3, 1430, finest=4.0)
    tone[118:138] *= 0.82
    tone[138:142] *= 0.7
    return to_texture((tone[..., None] * as_colour((1.0, 0.985, 0.94))).astype(np.float32))


def make_door() -> ByteArray:
    """Return a dark brown, weathered door of planks in a black metal frame, a brass knob at its left."""
    canvas = Canvas(256, 512, (26, 25, 26))
    canvas.fill((58, 40, 30), (16, 14, 240, 512))
    random = np.random.default_rng(1440)
    for n in range(6):
        left = 18 + 37 * n
        tone = int(random.integers(-7, 9))
        canvas.fill((60 + tone, 42 + tone, 31 + tone), (left, 16, left + 35, 510))
        for _ in range(16):
            x, y, long = left + random.uniform(2, 33), random.uniform(16, 480), random.uniform(20, 120)
            dark = int(random.integers(-16, 14))
            canvas.draw_line((58 + dark, 41 + dark, 31 + dark), 1.0, (x, y), (x + random.uniform(-1, 1), y + long))
    for y in (60, 250, 440):
        canvas.fill((44, 31, 24), (18, y, 238, y + 26))
        canvas.fill((74, 54, 42), (18, y, 238, y + 3))
        canvas.fill((30, 22, 18), (18, y + 26, 238, y + 29))
    canvas.fill((34, 33, 34), (26, 262, 44, 306))
    canvas.fill_round((176, 140, 72), (26, 272, 46, 292))
    canvas.fill_round((222, 194, 124), (31, 275, 38, 282))
    return canvas.finish(1441, 0.02, 0.03)


def make_ladder() -> ByteArray:
    """Return a wooden ladder of nine rungs, holes between them."""
    canvas = Canvas(128, 512, (96, 76, 54, 0))
    for left in (4, 110):
        canvas.fill((116, 92, 64, 255), (left, 0, left + 14, 512))
        canvas.fill((84, 64, 44, 255), (left + 10, 0, left + 14, 512))
    for y in range(24, 500, 56):
        canvas.fill((126, 100, 70, 255), (10, y, 118, y + 12))
        canvas.fill((78, 60, 42, 255), (10, y + 9, 118, y + 14))
    picture = Image.fromarray(canvas.finish())
    alpha = picture.getchannel("A")
    soft = picture.convert("RGB").filter(ImageFilter.GaussianBlur(0.8)).convert("RGBA")
    soft.putalpha(alpha)
    return np.asarray(soft)
