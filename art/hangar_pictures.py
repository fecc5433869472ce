"""Pictures of a steel hangar from inside: walls, ends, roof, girders and posts; v = 0 is the top."""

import itertools

import numpy as np

from art.canvas import Canvas, add_grain
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture

RUST = (90, 68, 62)
SIDING = (150, 147, 130)

WALL = (1024, 512)
"""Width and height of a wall's picture [texel]: four bays of 5.33 m, 8.1 m high."""

BAYS = 4
BEAMS = (0.04, 0.24, 0.38, 0.54, 0.69, 0.83)
"""Where the wall's beams lie, from its top, as shares of its height."""


def make_wall() -> ByteArray:
    """Return four bays of the lighter long wall: siding above, dark stores with shelves and crates below."""
    width, height = WALL
    canvas = Canvas(width, height, SIDING)
    _draw_siding(canvas, 0.34 * height)
    random = np.random.default_rng(1501)
    for bay in range(BAYS):
        left, right = width * bay / BAYS, width * (bay + 1) / BAYS
        _draw_store(canvas, (left, 0.34 * height, right, height), random)
    _draw_steel(canvas, width, height)
    return _light_wall(canvas.shrink(), 1502, 1.14)


def make_dark_wall() -> ByteArray:
    """Return four bays of the darker long wall: shadow behind its beams, with dim doorways and stacked goods."""
    width, height = WALL
    canvas = Canvas(width, height, (58, 54, 50))
    random = np.random.default_rng(1505)
    _draw_siding(canvas, 0.2 * height, (108, 104, 92))
    for bay in range(BAYS):
        left, right = width * bay / BAYS, width * (bay + 1) / BAYS
        canvas.fill((38, 35, 34), (left, 0.2 * height, right, height))
        if bay % 2:
            canvas.fill((74, 78, 80), (left + 60, 0.5 * height, right - 60, height))
            for row in range(12):
                y = (0.5 + 0.042 * row) * height
                canvas.fill((60, 63, 66), (left + 60, y, right - 60, y + 3))
        else:
            _draw_store(canvas, (left, 0.56 * height, right, height), random, 0.72)
    _draw_steel(canvas, width, height)
    return _light_wall(canvas.shrink(), 1506, 0.96)


def _draw_siding(canvas: Canvas, bottom: float, paint: tuple[int, int, int] = SIDING) -> None:
    """Draw ribbed sheet from the top down to a row, a strip of dim daylight in it."""
    canvas.fill(paint, (0, 0, WALL[0], bottom))
    light, dark = (tuple(int(c * share) for c in paint) for share in (1.08, 0.88))
    for x in range(0, WALL[0], 8):
        canvas.fill(light, (x + 1, 0, x + 3, bottom))
        canvas.fill(dark, (x + 5, 0, x + 6, bottom))
    top = 0.1 * WALL[1]
    canvas.fill((206, 208, 196), (0, top, WALL[0], top + 40))
    for x in range(0, WALL[0], 32):
        canvas.fill((150, 148, 136), (x, top, x + 3, top + 40))


def _draw_store(
    canvas: Canvas, box: tuple[float, float, float, float], random: np.random.Generator, tone: float = 1.0
) -> None:
    """Draw a store in half light: deep shadow, shelves on four levels, crates, drums and sacks on them."""
    left, top, right, bottom = box
    canvas.fill(_dim((66, 60, 52), tone), box)
    canvas.fill(_dim((46, 42, 38), tone), (left, top, right, top + 0.1 * (bottom - top)))
    goods = (
        (158, 132, 96),
        (176, 152, 116),
        (132, 108, 80),
        (118, 118, 110),
        (176, 168, 150),
        (134, 90, 68),
        (104, 106, 110),
    )
    levels = np.linspace(top + 0.1 * (bottom - top), bottom, 4)
    for high, low in itertools.pairwise(levels):
        x = left + 6.0
        while x < right - 24.0:
            wide, tall = random.uniform(30.0, 92.0), random.uniform(0.5, 0.84) * (low - high)
            paint = _dim(goods[int(random.integers(len(goods)))], tone * random.uniform(0.62, 1.12))
            edge = min(x + wide, right - 6.0)
            if random.random() > 0.2:
                canvas.fill(paint, (x, low - tall - 5, edge, low - 5))
                canvas.fill(_dim(paint, 1.18), (x, low - tall - 5, edge, low - tall - 2))
                canvas.fill(_dim(paint, 0.7), (edge - 3, low - tall - 5, edge, low - 5))
                for board in np.arange(low - tall + 8.0, low - 8.0, 14.0):
                    canvas.fill(_dim(paint, 0.8), (x, board, edge, board + 1))
            x = edge + random.uniform(3.0, 18.0)
        canvas.fill(_dim((112, 84, 66), tone), (left, low - 6, right, low - 2))
    for x in np.linspace(left, right, 4)[1:-1]:
        canvas.fill(_dim((98, 76, 64), tone), (x - 3, top + 0.1 * (bottom - top), x + 3, bottom))


def _draw_steel(canvas: Canvas, width: int, height: int) -> None:
    """Draw beams along the wall and a post at each bay's left edge, lighter above and dark below each flange."""
    for share in BEAMS:
        y = share * height
        canvas.fill(RUST, (0, y, width, y + 11))
        canvas.fill(_dim(RUST, 1.35), (0, y, width, y + 2))
        canvas.fill(_dim(RUST, 0.5), (0, y + 11, width, y + 14))
    for x in np.arange(BAYS) * width / BAYS:
        canvas.fill(_dim(RUST, 0.5), (x + 26, 0, x + 30, height))
        canvas.fill(RUST, (x, 0, x + 26, height))
        canvas.fill(_dim(RUST, 1.3), (x, 0, x + 4, height))
        canvas.fill(_dim(RUST, 0.72), (x + 11, 0, x + 15, height))
    canvas.fill((132, 128, 108), (0, height - 16, width, height))


def _dim(paint: tuple[int, ...], share: float) -> tuple[int, ...]:
    return tuple(min(255, int(channel * share)) for channel in paint)


def _light_wall(colour: Float32Array, seed: int, strength: float) -> ByteArray:
    """Return a wall in the light that comes from the roof: brighter above, with stains that run down and grain."""
    height, width = colour.shape[:2]
    row = np.linspace(0.0, 1.0, height)[:, None, None]
    drip = np.repeat(make_noise(1, width, 0.6, seed + 2), height, axis=0)[..., None]
    lit = strength * (1.1 - 0.18 * row) * (1.0 + 0.035 * drip)
    return to_texture(add_grain((colour * lit).astype(np.float32), seed, 0.02, 0.07))


def make_end() -> ByteArray:
    """Return an end of the hall, 21 x 10.4 m: siding, a great sliding door, windows, posts and a gallery."""
    width, height = 1024, 512
    canvas = Canvas(width, height, (140, 138, 122))
    for x in range(0, width, 10):
        canvas.fill((128, 126, 112), (x, 0, x + 4, height))
    for x in range(110, 900, 132):
        canvas.fill((226, 228, 220), (x, 92, x + 96, 168))
        for bar in range(0, 97, 24):
            canvas.fill((104, 92, 84), (x + bar - 2, 92, x + bar + 2, 168))
        canvas.fill((104, 92, 84), (x, 128, x + 96, 132))
    canvas.fill((108, 106, 98), (300, 206, 724, height))
    for x in range(300, 724, 53):
        canvas.fill((92, 90, 84), (x, 206, x + 4, height))
        canvas.fill((120, 118, 109), (x + 5, 206, x + 8, height))
    for y in (206, 350):
        canvas.fill((84, 80, 74), (300, y, 724, y + 7))
    canvas.fill((58, 54, 52), (508, 206, 514, height))
    for box in ((40, 380, 240, height), (790, 360, 990, height)):
        _draw_store(canvas, box, np.random.default_rng(1511), 0.8)
    for y in (186, 340):
        canvas.fill(RUST, (0, y, width, y + 12))
        canvas.fill(_dim(RUST, 0.5), (0, y + 12, width, y + 16))
    for x in range(0, width + 1, 128):
        canvas.fill(RUST, (x - 10, 0, x + 10, height))
        canvas.fill(_dim(RUST, 0.55), (x + 10, 0, x + 14, height))
    for x in range(0, width, 128):
        canvas.draw_line(RUST, 5, (x, 340), (x + 64, 200), (x + 128, 340))
    return _light_wall(canvas.shrink(), 1512, 0.95)


def make_hangar_roof() -> ByteArray:
    """Return one bay of a slope of the roof from below: dark sheet, purlins, and two rows of bright skylights."""
    width, height = 128, 256
    canvas = Canvas(width, height, (66, 61, 60))
    for x in range(0, width, 8):
        canvas.fill((56, 52, 52), (x, 0, x + 3, height))
    for top in (40, 150):
        canvas.fill((248, 248, 242), (14, top, width - 14, top + 46))
        for bar in range(14, width - 10, 20):
            canvas.fill((190, 186, 174), (bar - 1, top, bar + 1, top + 46))
    for y in range(0, height, 32):
        canvas.fill(_dim(RUST, 0.7), (0, y, width, y + 4))
    canvas.fill(_dim(RUST, 0.8), (0, 0, 6, height))
    return canvas.finish(1521, 0.03, 0.04)


def make_girder() -> ByteArray:
    """Return two fields of a rust-red lattice girder, holes between its bars."""
    canvas = Canvas(128, 64, (*RUST, 0))
    steel, shade = (*RUST, 255), (*_dim(RUST, 0.6), 255)
    for x in (0, 64):
        canvas.draw_line(steel, 6, (x, 58), (x + 32, 6), (x + 64, 58))
        canvas.fill(shade, (x + 30, 0, x + 34, 64))
    for y in (0, 54):
        canvas.fill(steel, (0, y, 128, y + 10))
        canvas.fill(shade, (0, y + 8, 128, y + 10))
        canvas.fill((*_dim(RUST, 1.3), 255), (0, y, 128, y + 2))
    return canvas.finish(1531, 0.03, 0.04)


def make_steel_post() -> ByteArray:
    """Return a face of a rust-red post: plates, rivets and scuffs, a concrete foot."""
    width, height = 32, 256
    colour = np.tile(as_colour(RUST), (height, width, 1))
    across = np.abs(np.linspace(-1.0, 1.0, width))
    colour *= (1.12 - 0.34 * across**3)[None, :, None]
    for y in range(0, height, 32):
        colour[y : y + 2] *= 0.7
        colour[y + 6 : y + 8, 5:7] *= 0.6
        colour[y + 6 : y + 8, 25:27] *= 0.6
    scuff = np.clip(make_noise(height, width, 1.1, 1541, finest=2.0) - 1.0, 0.0, 1.0)[..., None]
    colour += (as_colour((132, 118, 108)) - colour) * 0.5 * scuff
    colour[-20:] = as_colour((164, 156, 132))
    return to_texture(add_grain(colour.astype(np.float32), 1542, 0.04, 0.05))
