"""Pictures of an event hall from inside: show room, dark side, windows, panels, ceiling, a lamp; v = 0 is the top.

What stands where and how bright it is follows measurements of the original's hall; nothing written there is shown.
"""

from collections.abc import Callable

import numpy as np

from art.canvas import Canvas, Paint
from art.elevation import Area, Elevation, draw_folds, shade
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import make_noise, to_texture

HEIGHT = 3.25
"""Of the hall [m]."""

SKY_HIGH, SKY_LOW = (158, 198, 244), (214, 234, 255)
FRAME, WALL, DARK = (128, 130, 132), (238, 235, 226), (84, 82, 78)
FLOOR = (133, 128, 110)
ACCENTS: tuple[Paint, ...] = (
    (206, 84, 62),
    (62, 112, 176),
    (232, 178, 62),
    (86, 150, 104),
    (92, 92, 100),
    (150, 96, 150),
)
SHIRTS: tuple[Paint, ...] = (
    (92, 104, 128), (168, 78, 70), (52, 54, 60), (206, 204, 198), (94, 126, 104), (184, 150, 96), (120, 116, 124),
)  # fmt: skip
SKINS: tuple[Paint, ...] = ((204, 164, 138), (160, 116, 90), (112, 78, 60))


def make_show_room() -> ByteArray:
    """Return the long bright wall, 22.1 m: a window of the hall's own, then the show room."""
    wall = Elevation(22.1, HEIGHT, 2048, 512, WALL)
    _draw_room(wall, 2.95, 22.1, np.random.default_rng(1701))
    wall.fill(DARK, (0.0, 0.0, 3.0, HEIGHT))
    _draw_pane(wall, (0.1, 0.1, 2.9, 3.12), np.random.default_rng(1702))
    return draw_folds(wall.finish(1703, soft=0.8, glow=0.2, grain=0.01), 1704, 0.012, 60.0)


def make_show_end() -> ByteArray:
    """Return the short bright wall, 17.5 m: the other end of the show room."""
    wall = Elevation(17.5, HEIGHT, 1024, 512, WALL)
    _draw_room(wall, 0.0, 17.5, np.random.default_rng(1711))
    return draw_folds(wall.finish(1712, soft=0.7, glow=0.2, grain=0.01), 1713, 0.012, 40.0)


def make_dark_side() -> ByteArray:
    """Return a wall of 22.1 m whose left half alone is seen: black drapes, doors, screens and banners in half light."""
    return _make_drapes(22.1, 1024, 12.0, (1.1, 6.4, 10.6), (3.1, 8.6), 1721)


def make_dark_corner() -> ByteArray:
    """Return a wall of 3.6 m of the same kind."""
    return _make_drapes(3.6, 256, 3.6, (0.3,), (2.0,), 1761)


def _make_drapes(
    length: float, width: int, seen: float, doors: tuple[float, ...], screens: tuple[float, ...], seed: int
) -> ByteArray:
    wall = Elevation(length, HEIGHT, width, 512, DARK)
    random = np.random.default_rng(seed)
    wall.fade((92, 90, 86), (132, 126, 116), (0.0, 0.0, length, HEIGHT))
    for x in np.arange(0.0, seen, 0.11):
        wall.fill(shade((100, 97, 93), random.uniform(0.75, 1.25)), (x, 0.3, x + 0.05, 2.85))
    for x in doors:
        _draw_door(wall, x)
    for x in screens:
        _draw_screen(wall, x, random, 1.1)
    for x in np.arange(2.3, seen - 0.6, 2.5):
        _draw_banner(wall, x, random, 0.84)
    for x in np.arange(0.9, seen - 1.4, 1.9):
        thing = _draw_person if random.random() < 0.65 else _draw_table
        thing(wall, x + random.uniform(-0.4, 0.4), random, 0.72)
    wall.fade(shade(FLOOR, 0.6), shade(FLOOR, 0.78), (0.0, 0.0, length, 0.12))
    return draw_folds(wall.finish(seed + 1, glow=0.25, grain=0.012), seed + 2, 0.02, 30.0)


def make_window_wall() -> ByteArray:
    """Return a wall of 17.5 m: dark to the left, then four tall windows in grey frames."""
    wall = Elevation(17.5, HEIGHT, 1024, 512, DARK)
    random = np.random.default_rng(1731)
    for left, right in ((6.0, 9.0), (9.0, 12.0), (12.0, 15.0), (15.0, 17.45)):
        _draw_pane(wall, (left, 0.0, right, 3.25), random)
    return wall.finish(1732, glow=0.15, grain=0.008)


def make_dark_panel() -> ByteArray:
    """Return a dark partition: felt in frames, scuffed at its foot."""
    size = 256
    canvas = Canvas(size, size, (74, 74, 73))
    for x in (0, 128):
        canvas.fill((46, 46, 46), (x, 0, x + 2, size))
        canvas.fill((92, 92, 90), (x + 3, 0, x + 4, size))
    canvas.fill((52, 52, 52), (0, 0, size, 4), (0, 240, size, size))
    felt = make_noise(size, size, 0.4, 1741, finest=1.5) + make_noise(size, size, 1.4, 1742, finest=6.0)
    return to_texture(canvas.shrink() * (1.0 + 0.035 * felt)[..., None])


def make_dark_ceiling() -> ByteArray:
    """Return a dark open ceiling: panels, beams, pipes and ducts."""
    size = 512
    canvas = Canvas(size, size, (78, 78, 76))
    random = np.random.default_rng(1751)
    for x in range(0, size, 64):
        for y in range(0, size, 64):
            tone = int(random.integers(-5, 6))
            canvas.fill((81 + tone, 81 + tone, 79 + tone), (x + 1, y + 1, x + 62, y + 62))
    for y in (90, 346):
        canvas.fill((46, 46, 46), (0, y, size, y + 16))
        canvas.fill((82, 82, 80), (0, y, size, y + 3))
    canvas.fill((74, 74, 73), (200, 0, 236, size))
    canvas.fill((90, 90, 88), (206, 0, 212, size))
    canvas.fill((40, 40, 40), (236, 0, 242, size))
    for x in (60, 410, 424):
        canvas.fill((84, 80, 76), (x, 0, x + 5, size))
        canvas.fill((42, 42, 42), (x + 5, 0, x + 8, size))
    colour = canvas.shrink() * (1.0 + 0.04 * make_noise(size, size, 1.2, 1752, finest=4.0))[..., None]
    return to_texture(colour)


def make_corrugated() -> ByteArray:
    """Return black corrugated plastic: ribs that shine a little, a smooth upper edge."""
    rib = 44.0 + 26.0 * np.clip(np.sin(np.arange(128) / 8.0 * np.pi), -0.3, 1.0) ** 2
    tone = np.broadcast_to(rib[None, :], (64, 128)) * np.linspace(1.12, 0.78, 64)[:, None]
    tone = np.where(np.arange(64)[:, None] < 4, 78.0, tone) * (1.0 + 0.05 * make_noise(64, 128, 0.6, 1771))
    return to_texture(np.repeat(tone[..., None], 3, axis=2))


def make_lamp_bar() -> ByteArray:
    """Return a white lamp seen from below, a thin frame around it."""
    canvas = Canvas(128, 32, (226, 226, 218))
    canvas.fill((255, 255, 252), (2, 2, 126, 30))
    return canvas.finish()


def _draw_room(wall: Elevation, left: float, right: float, random: np.random.Generator) -> None:
    """Draw the show room between two places: windows and posters behind, shelves, tables and people before them."""
    wall.fade((212, 209, 200), (246, 244, 236), (left, 0.0, right, HEIGHT))
    wall.fade((104, 104, 101), (136, 135, 130), (left, 2.92, right, HEIGHT))
    for x in np.arange(left + 0.5, right - 1.0, 2.1):
        wall.fill((252, 252, 244), (x, 2.98, x + 1.15, 3.06))
    x = left + 0.15
    while x < right - 1.2:
        wide = random.uniform(1.3, 2.7)
        if random.random() < 0.5:
            _draw_pane(wall, (x, 0.86, min(x + wide, right), 2.72), random)
        else:
            _draw_posters(wall, x, min(x + wide, right), random)
        x += wide + random.uniform(0.12, 0.4)
    for x in np.arange(left + 2.4, right, 4.6):
        wall.fade((150, 147, 140), (128, 125, 118), (x, 0.0, x + 0.34, 2.9))
        wall.fill((182, 179, 172), (x, 0.0, x + 0.07, 2.9))
    draw: tuple[Callable[..., None], ...] = (_draw_shelf, _draw_banner, _draw_screen)
    for x in np.arange(left + 0.5, right - 0.9, 1.65):
        draw[int(random.integers(3))](wall, x + random.uniform(-0.3, 0.3), random, 1.0)
    wall.fade((118, 112, 98), FLOOR, (left, 0.0, right, 0.34))
    for tone, count in ((0.82, 1.5), (1.0, 1.2)):
        for x in np.arange(left + 0.4, right - 0.9, count):
            thing = _draw_table if random.random() < 0.5 else _draw_person
            thing(wall, x + random.uniform(-0.25, 0.25), random, tone)


def _draw_pane(wall: Elevation, area: Area, random: np.random.Generator) -> None:
    """Draw a window in a grey frame: blue sky, pale houses and trees far below, a streak of light on the glass."""
    left, low, right, top = area
    wall.fill(FRAME, area)
    wall.fill(shade(FRAME, 0.7), (left, low, left + 0.03, top), (left, low, right, low + 0.03))
    panes = 2 if right - left < 2.4 else 3
    step = (right - left - 0.08) / panes
    for n in range(panes):
        a, b = left + 0.08 + n * step, left + n * step + step
        wall.fade(SKY_HIGH, SKY_LOW, (a, low + 0.08, b, top - 0.08))
        ground = low + 0.08 + 0.12 * (top - low)
        wall.fade((170, 186, 186), (142, 148, 138), (a, low + 0.08, b, ground))
        x = a
        while x < b - 0.05:
            wide, tall = random.uniform(0.12, 0.4), random.uniform(0.04, 0.3)
            paint = ((178, 186, 192), (196, 196, 188), (176, 184, 200))[int(random.integers(3))]
            wall.fill(paint, (x, ground - 0.06, min(x + wide, b), ground + tall))
            wall.disc(
                shade((136, 156, 130), random.uniform(0.9, 1.1)), (min(x + 0.1, b - 0.06), ground + 0.02), 0.18, 0.16
            )
            x += wide
        if random.random() < 0.4:
            glint, reach = a + random.uniform(0.1, 0.5) * (b - a), random.uniform(0.06, 0.2)
            foot = low + random.uniform(0.3, 0.6) * (top - low)
            corners = ((glint, top - 0.1), (glint + reach, top - 0.1), (a + 0.04 + reach, foot), (a + 0.04, foot))
            wall.shape((190, 216, 246), *corners)
    wall.fill(FRAME, (left, low + 0.62 * (top - low), right, low + 0.62 * (top - low) + 0.05))


def _draw_posters(wall: Elevation, left: float, right: float, random: np.random.Generator) -> None:
    """Draw white posters in a row: fields of colour and lines that stand for words."""
    x = left
    while x < right - 0.5:
        wide, low = random.uniform(0.55, 0.95), random.uniform(1.0, 1.25)
        high = low + random.uniform(1.0, 1.35)
        edge = min(x + wide, right)
        wall.fill((178, 175, 168), (x + 0.03, low - 0.03, edge + 0.03, high - 0.02))
        wall.fill((246, 246, 242), (x, low, edge, high))
        colour = ACCENTS[int(random.integers(len(ACCENTS)))]
        split = low + (high - low) * random.uniform(0.4, 0.62)
        wall.fade(colour, shade(colour, 0.75), (x + 0.06, split, edge - 0.06, high - 0.1))
        wall.disc(shade(colour, 1.4), (x + random.uniform(0.2, 0.4), 0.5 * (split + high)), 0.24, 0.22)
        for z in np.arange(low + 0.1, split - 0.06, 0.09):
            wall.fill((146, 148, 152), (x + 0.08, z, x + 0.08 + (edge - x - 0.16) * random.uniform(0.5, 1.0), z + 0.03))
        x += wide + random.uniform(0.08, 0.2)


def _draw_shelf(wall: Elevation, x: float, random: np.random.Generator, tone: float) -> None:
    """Draw an open shelf with boxes, models and files."""
    top = random.uniform(1.3, 1.9)
    wall.fill(shade((104, 92, 78), tone), (x, 0.0, x + 1.0, top))
    for z in np.arange(0.15, top - 0.2, 0.38):
        wall.fill(shade((62, 56, 50), tone), (x + 0.04, z, x + 0.96, z + 0.33))
        at = x + 0.06
        while at < x + 0.88:
            wide = random.uniform(0.05, 0.2)
            paint = (*ACCENTS, (214, 208, 196), (170, 140, 104))[int(random.integers(8))]
            wall.fill(shade(paint, tone * random.uniform(0.7, 1.1)), (at, z, at + wide, z + random.uniform(0.14, 0.3)))
            at += wide + random.uniform(0.0, 0.05)


def _draw_banner(wall: Elevation, x: float, random: np.random.Generator, tone: float) -> None:
    """Draw a banner on a stand: a colour that fades, a disc, lines."""
    colour = ACCENTS[int(random.integers(len(ACCENTS)))]
    wall.fade(shade((240, 240, 236), tone), shade(colour, tone), (x, 0.12, x + 0.78, 2.12))
    wall.disc(shade((250, 250, 246), tone), (x + 0.39, 1.1), 0.42, 0.42)
    wall.disc(shade(colour, 0.8 * tone), (x + 0.39, 1.1), 0.26, 0.26)
    for z in (1.9, 1.8, 1.7, 0.6, 0.5):
        wall.fill(shade((70, 72, 78), tone), (x + 0.12, z, x + random.uniform(0.45, 0.68), z + 0.04))
    wall.fill((52, 52, 54), (x - 0.03, 0.04, x + 0.81, 0.12))


def _draw_screen(wall: Elevation, x: float, random: np.random.Generator, tone: float) -> None:
    """Draw a large screen on a stand that shows a chart."""
    wall.fill((30, 31, 34), (x, 0.95, x + 1.3, 1.78), (x + 0.6, 0.0, x + 0.7, 0.95), (x + 0.35, 0.0, x + 0.95, 0.06))
    wall.fade(shade((186, 208, 232), tone), shade((120, 150, 190), tone), (x + 0.05, 1.0, x + 1.25, 1.73))
    for n in range(6):
        bar = random.uniform(0.1, 0.5)
        wall.fill(shade(ACCENTS[n], 1.1 * tone), (x + 0.16 + 0.17 * n, 1.06, x + 0.27 + 0.17 * n, 1.06 + bar))


def _draw_table(wall: Elevation, x: float, random: np.random.Generator, tone: float) -> None:
    """Draw a table with what lies on it, a chair behind it."""
    wide = random.uniform(1.1, 1.7)
    wall.fill(
        shade((44, 45, 48), tone),
        (x + 0.3, 0.44, x + 0.72, 0.98),
        (x + 0.34, 0.0, x + 0.38, 0.5),
        (x + 0.66, 0.0, x + 0.7, 0.5),
    )
    wall.fill(
        shade((116, 114, 112), tone), (x + 0.05, 0.0, x + 0.1, 0.72), (x + wide - 0.1, 0.0, x + wide - 0.05, 0.72)
    )
    wall.fill(shade((226, 223, 214), tone), (x, 0.71, x + wide, 0.77))
    wall.fill(shade((150, 147, 140), tone), (x, 0.69, x + wide, 0.71))
    at = x + 0.08
    while at < x + wide - 0.25:
        size, high = random.uniform(0.14, 0.36), random.uniform(0.06, 0.3)
        paint = (*ACCENTS, (38, 40, 44), (212, 206, 194), (176, 146, 108))[int(random.integers(9))]
        wall.fill(shade(paint, tone), (at, 0.77, at + size, 0.77 + high))
        wall.fill(shade(paint, 1.25 * tone), (at, 0.75 + high, at + size, 0.77 + high))
        at += size + random.uniform(0.04, 0.2)


def _draw_person(wall: Elevation, x: float, random: np.random.Generator, tone: float) -> None:
    """Draw somebody who stands there, seen from behind or from the side: no face."""
    tall = random.uniform(0.92, 1.06)
    shirt = shade(SHIRTS[int(random.integers(len(SHIRTS)))], tone)
    legs = shade(((54, 58, 72), (66, 64, 62), (40, 41, 44))[int(random.integers(3))], tone)
    skin = shade(SKINS[int(random.integers(3))], tone)
    turn = random.choice((-1.0, 1.0))
    for side in (-1.0, 1.0):
        foot = x + side * random.uniform(0.07, 0.13)
        wall.shape(
            legs,
            (x + side * 0.01, 0.86 * tall),
            (x + side * 0.17, 0.86 * tall),
            (foot + 0.06, 0.05),
            (foot - 0.06, 0.05),
        )
        wall.fill((34, 34, 36), (foot - 0.07, 0.0, foot + 0.09, 0.06))
        wall.shape(
            shade(shirt, 0.88),
            (x + side * 0.14, 1.4 * tall), (x + side * 0.24, 1.36 * tall),
            (x + side * 0.29 + 0.04 * turn, 1.02 * tall), (x + side * 0.2 + 0.1 * turn, 0.84 * tall),
        )  # fmt: skip
        wall.disc(skin, (x + side * 0.22 + 0.08 * turn, 0.82 * tall), 0.09, 0.1)
    wall.shape(shirt, (x - 0.2, 1.42 * tall), (x + 0.2, 1.42 * tall), (x + 0.17, 0.84 * tall), (x - 0.17, 0.84 * tall))
    wall.shape(
        shade(shirt, 1.14),
        (x - 0.2, 1.42 * tall),
        (x - 0.08, 1.42 * tall),
        (x - 0.1, 0.86 * tall),
        (x - 0.17, 0.86 * tall),
    )
    wall.fill(shade(skin, 0.9), (x - 0.05, 1.4 * tall, x + 0.05, 1.5 * tall))
    wall.disc(skin, (x, 1.59 * tall), 0.17, 0.24)
    hair = shade(((58, 44, 34), (34, 32, 32), (146, 116, 76), (120, 118, 116))[int(random.integers(4))], tone)
    wall.disc(hair, (x - 0.02 * turn, 1.63 * tall), 0.19, 0.19)


def _draw_door(wall: Elevation, x: float) -> None:
    """Draw a double door in half light with a green sign over it."""
    wall.fill((44, 44, 44), (x - 0.06, 0.0, x + 1.66, 2.16))
    wall.fill((98, 92, 84), (x, 0.0, x + 0.79, 2.1), (x + 0.81, 0.0, x + 1.6, 2.1))
    wall.fill((150, 170, 182), (x + 0.5, 1.1, x + 0.68, 1.8), (x + 0.92, 1.1, x + 1.1, 1.8))
    wall.fill((62, 176, 116), (x + 0.5, 2.26, x + 1.1, 2.46))
    wall.fill((226, 244, 232), (x + 0.62, 2.32, x + 0.98, 2.4))
