"""Pictures of facades: one window bay of an upper storey and two bays of the ground floor, of several styles."""

import numpy as np

from art.canvas import Canvas, add_grain
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture

GLASS, DARK, LIGHT = (72, 92, 110), (44, 50, 58), (236, 234, 228)


def make_storey(style: str) -> ByteArray:
    """Return one bay of an upper storey; it tiles both ways."""
    canvas = Canvas(64, 64, {"house": (236, 226, 206), "townhouse": (158, 88, 70)}.get(style, (196, 198, 200)))

    if style == "house":
        canvas.fill_inside((214, 202, 180), (0, 60, 64, 64))
        canvas.fill_inside(LIGHT, (22, 14, 42, 50))
        canvas.fill_inside(GLASS, (24, 16, 40, 48))
        canvas.fill_inside((104, 126, 142), (24, 16, 40, 26))
        canvas.fill_inside(LIGHT, (31, 16, 33, 48))
        for left in (10, 43):
            canvas.fill_inside((86, 128, 112), (left, 14, left + 11, 50))
            for y in range(16, 50, 3):
                canvas.fill_inside((66, 102, 90), (left + 1, y, left + 10, y + 1))
        canvas.fill_inside((206, 198, 184), (8, 50, 56, 53))
        for x in range(10, 56, 4):
            canvas.fill_inside(DARK, (x, 42, x + 1, 51))
        canvas.fill_inside(DARK, (9, 41, 55, 42.5))
    elif style == "townhouse":
        _draw_townhouse(canvas)
    else:
        canvas.fill_inside((86, 116, 138), (0, 8, 64, 52))
        canvas.fill_inside((126, 156, 176), (0, 8, 64, 22))
        canvas.fill_inside((178, 182, 186), (0, 52, 64, 64))
        for x in (0, 30, 62):
            canvas.fill_inside((60, 66, 74), (x, 8, x + 3, 52))
        canvas.fill_inside((60, 66, 74), (0, 29, 64, 31))
    return canvas.finish(1302, 0.015, 0.03)


def _draw_townhouse(canvas: Canvas) -> None:
    """Draw bricks and a sash window between stone sills."""
    random = np.random.default_rng(1301)
    for course in range(16):
        for brick in range(-1, 8):
            left = brick * 8 + 4 * (course % 2)
            tone = 1.0 + random.normal(0.0, 0.08)
            fill = (int(158 * tone), int(88 * tone), int(70 * tone))
            canvas.fill_inside(fill, (left + 0.4, course * 4 + 0.4, left + 7.6, course * 4 + 3.6))
    canvas.fill_inside(LIGHT, (18, 10, 46, 54))
    canvas.fill_inside(GLASS, (21, 13, 43, 51))
    canvas.fill_inside((112, 132, 146), (21, 13, 43, 22))
    canvas.fill_inside(LIGHT, (31, 13, 33, 51), (21, 31, 43, 33))
    canvas.fill_inside((206, 200, 190), (15, 54, 49, 58), (17, 6, 47, 10))


def make_ground_floor(style: str) -> ByteArray:
    """Return two bays of a ground floor, a door or shop in them; it tiles sideways."""
    base = {"house": (222, 206, 180), "townhouse": (120, 70, 58)}.get(style, (150, 152, 156))
    canvas = Canvas(128, 64, base)

    canvas.fill_inside((206, 200, 188), (0, 0, 128, 4))
    canvas.fill_inside(DARK, (6, 18, 74, 58))
    canvas.fill_inside((150, 170, 182), (9, 21, 40, 55))
    canvas.fill_inside((140, 160, 174), (43, 21, 71, 55))
    for left, fill in ((14, (188, 60, 50)), (24, (230, 200, 90)), (50, (70, 110, 160)), (60, (224, 224, 220))):
        canvas.fill_inside(fill, (left, 36, left + 7, 55))
    if style == "office":
        canvas.fill_inside((52, 60, 70), (3, 6, 77, 18))
    else:
        for n, x in enumerate(range(3, 77, 6)):
            canvas.fill_inside(
                ((196, 52, 44), (240, 238, 232))[n % 2] if style == "house" else (48, 88, 72), (x, 8, x + 6, 20)
            )
    canvas.fill_inside(LIGHT, (86, 14, 114, 64))
    canvas.fill_inside((92, 58, 40) if style != "office" else GLASS, (89, 17, 111, 64))
    canvas.fill_inside((60, 40, 30), (99, 17, 101, 64))
    canvas.fill_inside((128, 150, 160), (91, 20, 98, 34), (102, 20, 109, 34))
    canvas.fill_inside((132, 126, 118), (0, 59, 86, 64))
    return canvas.finish(1303, 0.015, 0.03)


def make_tiles() -> ByteArray:
    """Return a roof of terracotta tiles."""
    y, x = np.mgrid[0:64, 0:64]
    curve = 0.72 + 0.28 * np.sin((x % 8) / 8.0 * np.pi)
    edge = np.where(y % 8 < 1, 0.66, 1.0)
    colour = (curve * edge)[..., None] * as_colour((186, 96, 64))
    colour *= (1.0 + 0.10 * make_noise(64, 64, 0.6, 1311, finest=5.0))[..., None]
    return to_texture(colour)


def make_gravel_roof() -> ByteArray:
    """Return a flat roof with a bright parapet."""
    colour = np.tile(as_colour((124, 122, 118)), (64, 64, 1))
    colour *= (1.0 + 0.06 * make_noise(64, 64, 0.6, 1312))[..., None]
    colour[[0, 1, 2, 61, 62, 63]] = (196, 194, 190)
    colour[:, [0, 1, 2, 61, 62, 63]] = (196, 194, 190)
    colour[20:34, 36:54] = (164, 166, 168)
    return to_texture(colour)


def make_sheet_metal() -> ByteArray:
    """Return ribbed sheet, its foot darker."""
    x = np.arange(64)
    rib = 1.0 + 0.16 * np.sign(np.sin(x / 8.0 * 2.0 * np.pi))
    colour = rib[None, :, None] * np.ones((64, 1, 1)) * as_colour((196, 198, 200))
    colour *= np.linspace(1.04, 0.86, 64)[:, None, None]
    return to_texture(add_grain(colour.astype(np.float32), 1321, 0.01, 0.03))


def make_container() -> ByteArray:
    """Return a container's ribbed side with rails at its edges."""
    x = np.arange(128)
    rib = 1.0 + 0.17 * np.clip(np.sin(x / 128.0 * 2.0 * np.pi * 16.0) * 2.5, -1.0, 1.0)
    colour = rib[None, :, None] * np.ones((64, 1, 1)) * as_colour((210, 210, 210))
    colour[:4] = colour[60:] = (176, 176, 176)
    colour[:, :3] = colour[:, 125:] = (176, 176, 176)
    colour[14:26, 14:46] = (240, 240, 238)
    rust = np.clip(make_noise(64, 128, 1.1, 1331) - 1.5, 0.0, 1.0)[..., None]
    colour += (as_colour((120, 84, 60)) - colour) * rust
    return to_texture(add_grain(colour.astype(np.float32), 1332, 0.01, 0.04))


def make_crate() -> ByteArray:
    """Return a wooden crate: boards in a frame with a brace."""
    canvas = Canvas(64, 64, (176, 136, 86))
    for y in range(0, 64, 10):
        canvas.fill((112, 82, 50), (0, y, 64, y + 1))
    canvas.fill_polygon((156, 116, 70), (6, 50), (14, 58), (58, 14), (50, 6))
    for frame in ((0, 0, 64, 8), (0, 56, 64, 64), (0, 0, 8, 64), (56, 0, 64, 64)):
        canvas.fill((150, 112, 66), frame)
        canvas.draw_frame((110, 80, 48), 1, frame)
    return canvas.finish(1341, 0.04, 0.05)


def make_tunnel_wall() -> ByteArray:
    """Return a tunnel's wall inside: dark concrete above, a band of light tiles, a kerb line; v = 0 is its top."""
    colour = np.tile(as_colour((74, 72, 68)), (64, 128, 1))
    colour[26:56] = (112, 108, 98)
    colour[26:56:6] *= 0.82
    colour[26:56, ::8] *= 0.82
    colour[56:60] = (150, 124, 40)
    colour[60:] = (58, 56, 54)
    colour *= (1.0 + 0.18 * np.cos(np.arange(128) / 128.0 * 2.0 * np.pi))[None, :, None]
    return to_texture(add_grain(colour.astype(np.float32), 1351, 0.03, 0.06))


def make_tunnel_roof() -> ByteArray:
    """Return a tunnel's roof seen from below: dark concrete with a lamp on each side of its middle."""
    colour = np.tile(as_colour((58, 57, 55)), (64, 128, 1))
    glow = np.exp(-(((np.arange(128) - 64) / 34.0) ** 2))[None, :, None]
    colour *= 1.0 + 0.7 * glow
    for row in (18, 43):
        colour[row : row + 3, 46:82] = (255, 240, 196)
    return to_texture(add_grain(colour.astype(np.float32), 1361, 0.03, 0.05))
