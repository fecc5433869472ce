"""Pictures of a hall from inside: a bay of its wall, its roof, trusses and doors; v = 0 is the top."""

import numpy as np

from art.canvas import Canvas, add_grain
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture

SIZE = 512
"""Texels per side of a bay."""


def make_bay(walls: str) -> ByteArray:
    """Return one bay of a wall without windows, square: what it is made of, a plinth or skirting."""
    base = {"metal": _paint_metal, "brick": _paint_brick, "plaster": _paint_plaster, "concrete": _paint_concrete}
    return to_texture(_light(base[walls]()))


def make_windows(windows: str) -> ByteArray:
    """Return the windows of a bay, to lay over any wall; all else holes."""
    colour = np.zeros((SIZE, SIZE, 3), np.float32)
    _cut_windows(colour, windows)
    there = 255.0 * (colour.max(axis=2, keepdims=True) > 0.0)
    return to_texture(np.concatenate((_light(colour), there), axis=2))


def _light(colour: Float32Array) -> Float32Array:
    """Return a bay's colours in the light of a hall, with grain."""
    row = np.arange(SIZE)[:, None, None] / SIZE
    light = 0.86 + 0.16 * np.sin(np.pi * np.clip(1.15 - row, 0.0, 1.0))
    return add_grain((colour * light).astype(np.float32), 901, 0.015, 0.025)


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


def make_truss() -> ByteArray:
    """Return two fields of a steel lattice girder, holes between its bars."""
    canvas = Canvas(128, 64, (86, 92, 100, 0))
    steel = (104, 112, 120, 255)
    for y in (0, 57):
        canvas.fill(steel, (0, y, 128, y + 7))
    for x in (0, 64):
        canvas.draw_line(steel, 5, (x, 60), (x + 32, 4))
        canvas.draw_line(steel, 5, (x + 32, 4), (x + 64, 60))
        canvas.fill(steel, (x, 0, x + 4, 64))
    return canvas.finish()


def make_roller_door() -> ByteArray:
    """Return a roller door in a striped frame, a row of panes in it."""
    canvas = Canvas(256, 256, (40, 40, 42))
    for n in range(-2, 18):
        for left in (0, 240):
            canvas.fill_polygon(
                (232, 190, 36), *((left + u, n * 16 + v) for u, v in ((0, 16), (0, 8), (16, -8), (16, 0)))
            )
    canvas.fill((126, 150, 164), (16, 0, 239, 256))
    for y in range(10, 256, 12):
        canvas.fill((92, 112, 126), (16, y, 239, y + 3))
    for x in range(30, 220, 50):
        canvas.fill((220, 234, 240), (x, 84, x + 38, 104))
    canvas.fill((52, 54, 58), (16, 246, 239, 256))
    return canvas.finish(921, 0.015, 0.02)


def make_door() -> ByteArray:
    """Return a steel door with a pane, a handle, and a green sign above it."""
    canvas = Canvas(64, 128, (88, 92, 96))
    canvas.fill((96, 124, 140), (5, 18, 59, 128))
    canvas.fill((206, 224, 230), (22, 34, 42, 66))
    canvas.fill((214, 214, 210), (48, 76, 55, 79))
    canvas.fill((36, 150, 84), (14, 2, 50, 14))
    canvas.fill((230, 244, 234), (24, 5, 40, 11))
    return canvas.finish()
