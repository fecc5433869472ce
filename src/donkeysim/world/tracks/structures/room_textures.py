"""Pictures of a hall from inside: a bay of its wall, its roof, trusses and doors; v = 0 is the top."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PIL import ImageDraw, ImageFont

from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.tracks.structures.wall_textures import add_grain, as_texels, draw_on, shrink
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture

SIZE = 512
"""Texels per side of a bay."""

Pen = ImageDraw.ImageDraw


@lru_cache(maxsize=4)
def make_bay(walls: str, windows: str) -> ByteArray:
    """Return one bay of a wall, square: what it is made of, a plinth or skirting, and its windows."""
    base = {"metal": _paint_metal, "brick": _paint_brick, "plaster": _paint_plaster, "concrete": _paint_concrete}
    colour = base[walls]()
    if windows != "none":
        _cut_windows(colour, windows)
    row = np.arange(SIZE)[:, None, None] / SIZE
    light = 0.86 + 0.16 * np.sin(np.pi * np.clip(1.15 - row, 0.0, 1.0))
    return to_texture(add_grain((colour * light).astype(np.float32), 901, 0.015, 0.025))


def _paint_metal() -> Float32Array:
    """Return ribbed sheet over a concrete plinth, a steel column at its left edge."""
    x = np.arange(SIZE)
    rib = 1.0 + 0.12 * np.clip(np.sin(x / SIZE * 2.0 * np.pi * 32.0) * 3.0, -1.0, 1.0)
    colour = np.broadcast_to(rib[None, :, None] * as_colour((186, 196, 204)), (SIZE, SIZE, 3)).copy()
    for y in (150, 290):
        colour[y : y + 3] *= 0.80
    colour[400:] = as_colour((150, 150, 148)) * (1.0 + 0.05 * make_noise(112, SIZE, 1.2, 902))[..., None]
    colour[398:402] = (104, 106, 108)
    colour[:, :22] = as_colour((198, 122, 48))
    colour[:, 16:22] = as_colour((140, 84, 32))
    colour[:, 22:30] *= 0.74
    return colour.astype(np.float32)


def _paint_brick() -> Float32Array:
    """Return real-size bricks over a painted base, a brick pier at its left edge."""
    random = np.random.default_rng(903)
    colour = np.tile(as_colour((182, 172, 160)), (SIZE, SIZE, 1))
    for course in range(51):
        top = course * 10
        for brick in range(-1, 16):
            left = brick * 32 + 16 * (course % 2)
            tone = as_colour((166, 92, 70)) * (1.0 + random.normal(0.0, 0.09))
            columns = np.arange(left + 1, left + 31) % SIZE
            colour[top + 1 : top + 9, columns] = tone
    colour[:, :44] *= 0.93
    colour[:, 44:52] *= 0.66
    colour[404:] = 0.35 * colour[404:] + 0.65 * as_colour((98, 112, 118))
    return colour


def _paint_plaster() -> Float32Array:
    """Return painted plaster with a skirting board and sockets."""
    colour = np.tile(as_colour((222, 220, 212)), (SIZE, SIZE, 1))
    colour *= (1.0 + 0.012 * make_noise(SIZE, SIZE, 1.5, 904, finest=8.0))[..., None]
    colour[494:] = (118, 112, 104)
    colour[492:494] = (168, 164, 156)
    colour[466:480, 90:112] = (240, 240, 238)
    colour[468:478, 94:100] = (180, 180, 178)
    colour[468:478, 102:108] = (180, 180, 178)
    colour[:, 0:2] *= 0.94
    return colour


def _paint_concrete() -> Float32Array:
    """Return cast concrete: panels with joints and tie holes, a painted line at hip height."""
    colour = np.tile(as_colour((172, 170, 165)), (SIZE, SIZE, 1))
    colour *= (1.0 + 0.05 * make_noise(SIZE, SIZE, 1.3, 905, finest=6.0))[..., None]
    for place in (0, 256):
        colour[:, place : place + 3] *= 0.66
        colour[place : place + 3] *= 0.72
        for x in (64, 192):
            for y in (64, 192):
                colour[place + y : place + y + 5, x : x + 5] *= 0.7
                colour[place + y : place + y + 5, 256 + x : 256 + x + 5] *= 0.7
    colour[380:392] = (206, 172, 44)
    return colour


def _cut_windows(colour: Float32Array, windows: str) -> None:
    """Paint windows with bright daylight and dark frames into a bay."""
    top, bottom, frames = (48, 138, 6) if windows == "high" else (84, 352, 4)
    left, right = 60, 484
    glow = np.linspace(1.0, 0.86, bottom - top)[:, None, None] * as_colour((236, 244, 250))
    glow = np.broadcast_to(glow, (bottom - top, right - left, 3)).copy()
    if windows == "large":
        skyline = 0.62 + 0.08 * np.repeat(make_noise(1, 32, 0.8, 906)[0], 16)[: right - left]
        below = np.arange(bottom - top)[:, None] > skyline[None, :] * (bottom - top)
        glow[below] = as_colour((148, 166, 160))
    pane = (right - left) / frames
    for frame in range(frames + 1):
        x = int(frame * pane)
        glow[:, max(0, x - 4) : x + 4] = (70, 76, 82)
    for y in (0, (bottom - top) // 2 - 3 if windows == "large" else 0, bottom - top - 6):
        glow[y : y + 6] = (70, 76, 82)
    colour[top:bottom, left:right] = glow
    colour[bottom : bottom + 6, left - 6 : right + 6] = (214, 214, 210)


@lru_cache(maxsize=1)
def make_roof() -> ByteArray:
    """Return sheet metal seen from below: ribs across, purlins along, and two rows of bright tubes."""
    x = np.arange(256)
    colour = np.broadcast_to((120.0 + 12.0 * np.sign(np.sin(x / 8.0 * np.pi)))[None, :, None], (256, 256, 3)).copy()
    for y in (0, 128):
        colour[y : y + 8] = (92, 94, 98)
    for y in (62, 190):
        colour[y - 4 : y + 9, 40:216] = (150, 152, 154)
        colour[y : y + 5, 44:212] = (255, 255, 250)
    return to_texture(colour * as_colour((0.96, 0.99, 1.02)))


@lru_cache(maxsize=1)
def make_ceiling() -> ByteArray:
    """Return a hung ceiling of panels, two of them lamps."""
    colour = np.tile(as_colour((206, 206, 202)), (256, 256, 1))
    colour *= (1.0 + 0.02 * make_noise(256, 256, 0.1, 911))[..., None]
    for place in range(0, 256, 64):
        colour[place : place + 2] = (158, 158, 156)
        colour[:, place : place + 2] = (158, 158, 156)
    for x, y in ((64, 64), (192, 192)):
        colour[y + 6 : y + 58, x + 6 : x + 58] = (255, 255, 252)
    return to_texture(colour)


@lru_cache(maxsize=1)
def make_truss() -> ByteArray:
    """Return two fields of a steel lattice girder, holes between its bars."""
    canvas, pen, k = draw_on(128, 64, (86, 92, 100, 0))
    steel = (104, 112, 120, 255)
    for y in (0, 57):
        pen.rectangle((0, y * k, 128 * k, (y + 7) * k), fill=steel)
    for x in (0, 64):
        pen.line((x * k, 60 * k, (x + 32) * k, 4 * k), fill=steel, width=5 * k)
        pen.line(((x + 32) * k, 4 * k, (x + 64) * k, 60 * k), fill=steel, width=5 * k)
        pen.rectangle((x * k, 0, (x + 4) * k, 64 * k), fill=steel)
    return as_texels(shrink(canvas))


@lru_cache(maxsize=1)
def make_roller_door() -> ByteArray:
    """Return a roller door in a striped frame, a row of panes in it."""
    canvas, pen, k = draw_on(256, 256, (40, 40, 42))
    for n in range(-2, 18):
        for left in (0, 240):
            pen.polygon(
                [((left + u) * k, (n * 16 + v) * k) for u, v in ((0, 16), (0, 8), (16, -8), (16, 0))],
                fill=(232, 190, 36),
            )
    pen.rectangle((16 * k, 0, 239 * k, 256 * k), fill=(126, 150, 164))
    for y in range(10, 256, 12):
        pen.rectangle((16 * k, y * k, 239 * k, (y + 3) * k), fill=(92, 112, 126))
    for x in range(30, 220, 50):
        pen.rectangle((x * k, 84 * k, (x + 38) * k, 104 * k), fill=(220, 234, 240))
    pen.rectangle((16 * k, 246 * k, 239 * k, 256 * k), fill=(52, 54, 58))
    return to_texture(add_grain(shrink(canvas), 921, 0.015, 0.02))


@lru_cache(maxsize=1)
def make_door() -> ByteArray:
    """Return a steel door with a pane, a handle, and a green sign above it."""
    canvas, pen, k = draw_on(64, 128, (88, 92, 96))
    pen.rectangle((5 * k, 18 * k, 59 * k, 128 * k), fill=(96, 124, 140))
    pen.rectangle((22 * k, 34 * k, 42 * k, 66 * k), fill=(206, 224, 230))
    pen.rectangle((48 * k, 76 * k, 55 * k, 79 * k), fill=(214, 214, 210))
    pen.rectangle((14 * k, 2 * k, 50 * k, 14 * k), fill=(36, 150, 84))
    pen.rectangle((24 * k, 5 * k, 40 * k, 11 * k), fill=(230, 244, 234))
    return to_texture(shrink(canvas))


@lru_cache(maxsize=4)
def make_sign(text: str) -> ByteArray:
    """Return large letters on a dark board, four times as wide as high."""
    canvas, pen, k = draw_on(512, 128, (28, 58, 92))
    pen.rectangle((6 * k, 6 * k, 506 * k, 122 * k), outline=(230, 232, 234), width=3 * k)
    size = 84.0
    while size > 20.0 and pen.textlength(text, font=ImageFont.load_default(size * k)) > 470 * k:
        size *= 0.9
    pen.text((256 * k, 64 * k), text, fill=(244, 244, 240), font=ImageFont.load_default(size * k), anchor="mm")
    return to_texture(shrink(canvas))
