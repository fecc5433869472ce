"""Pictures of a marquee from inside: canvas in the daylight, arches onto a garden, a ceiling; v = 0 is the top."""

import math

import numpy as np

from art.canvas import Canvas, Paint, Point
from art.elevation import Elevation, draw_folds, shade
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture

HEIGHT = 4.92
"""Of the walls [m]."""

CANVAS, SEAM, POST = (112, 127, 104), (76, 90, 74), (58, 68, 60)
GAUZE_HIGH, GAUZE_LOW = (214, 223, 226), (178, 190, 186)
SKY, HEDGE, LAWN = (236, 241, 229), (100, 132, 114), (132, 146, 92)

FOOT = (96, 120, 96)
"""The dull green band at the foot."""


def make_side() -> ByteArray:
    """Return a long wall of four bays, 25.8 m: two arches hung with gauze, two open onto the garden."""
    return _make_wall(25.8, 2048, (True, False, False, True), 0.0, 1601)


def make_end() -> ByteArray:
    """Return a short wall of three bays, 17 m, with a name board over the middle one."""
    return _make_wall(17.0, 1024, (False, False, False), 6.25, 1621)


def _make_wall(length: float, width: int, hung: tuple[bool, ...], board: float, seed: int) -> ByteArray:
    wall = Elevation(length, HEIGHT, width, 512, CANVAS)
    random = np.random.default_rng(seed)
    wall.fade(shade(CANVAS, 0.82), shade(CANVAS, 1.14), (0.0, 0.0, length, HEIGHT))
    pitch = length / len(hung)
    for bay, is_hung in enumerate(hung):
        _draw_arch(wall, (bay * pitch, (bay + 1) * pitch), is_hung, random)
    for bay in range(len(hung) + 1):
        _draw_post(wall, bay * pitch)
    wall.fill(SEAM, (0.0, 4.62, length, 4.74))
    wall.fill(shade(POST, 0.8), (0.0, 4.8, length, HEIGHT))
    wall.fade(shade(FOOT, 1.1), shade(FOOT, 0.72), (0.0, 0.0, length, 0.16))
    if board:
        _draw_board(wall, 0.5 * length, board)
    return draw_folds(wall.finish(seed + 1, glow=0.22, grain=0.007), seed + 3, 0.022, 22.0)


def _draw_arch(wall: Elevation, ends: tuple[float, float], is_hung: bool, random: np.random.Generator) -> None:
    """Draw one arch: garden or gauze in it, canvas with seams around it."""
    left, right = ends[0] + 0.32, ends[1] - 0.32
    middle, half, spring, rise = 0.5 * (left + right), 0.5 * (right - left), 1.75, 2.15
    if is_hung:
        wall.fade(GAUZE_HIGH, GAUZE_LOW, (left, 0.0, right, spring + rise))
        _draw_gauze(wall, (left, right), random)
    else:
        _draw_garden(wall, (left, right), random)
        wall.fade((226, 232, 228), (206, 216, 212), (left, 2.25, right, spring + rise))
        _draw_gauze_top(wall, (left, right), random)
    wall.fill(shade(CANVAS, 1.02), (ends[0], 0.0, left, spring + 0.1), (right, 0.0, ends[1], spring + 0.1))
    angle = np.linspace(0.0, math.pi, 40)
    bow = [(middle - half * math.cos(a), spring + rise * math.sin(a) ** 0.85) for a in angle]
    top = spring + rise + 1.2
    wall.shape(shade(CANVAS, 0.92), (ends[0], spring), *bow[:20], (middle, top), (ends[0], top))
    wall.shape(shade(CANVAS, 0.98), (ends[1], spring), *bow[:19:-1], (middle, top), (ends[1], top))
    for share, tone in ((1.0, 0.7), (1.07, 1.1), (1.16, 0.86)):
        curve = [(middle + (x - middle) * min(share, 1.04), spring + (z - spring) * share) for x, z in bow]
        wall.line(shade(CANVAS, tone), 2.2, *curve)
    for step in range(1, 6):
        x = ends[0] + (ends[1] - ends[0]) * step / 6.0
        wall.line(shade(CANVAS, 0.85), 0.8, (x, HEIGHT), (middle + 0.86 * (x - middle), spring + rise - 0.1))


def _draw_gauze(wall: Elevation, ends: tuple[float, float], random: np.random.Generator) -> None:
    """Draw white gauze over the whole of an arch: soft shadows of what is behind, seams that sag."""
    left, right = ends
    for _ in range(7):
        x, size = random.uniform(left, right), random.uniform(0.5, 1.4)
        wall.disc((174, 188, 180), (x, random.uniform(0.3, 0.9)), 2.0 * size, size)
    wall.fade((196, 206, 204), GAUZE_LOW, (left, 0.9, right, 1.5))
    for height, sag in ((2.9, 0.35), (2.1, 0.22), (1.2, 0.16)):
        curve = [(left + (right - left) * t, height - sag * math.sin(math.pi * t)) for t in np.linspace(0.0, 1.0, 24)]
        wall.line((186, 196, 196), 1.6, *curve)


def _draw_gauze_top(wall: Elevation, ends: tuple[float, float], random: np.random.Generator) -> None:
    """Draw the valance of an open arch: folds, a scalloped hem, a rail."""
    left, right = ends
    for x in np.arange(left, right, 0.09):
        wall.line(shade((208, 217, 213), random.uniform(0.92, 1.08)), 1.4, (x, 4.0), (x + 0.02, 2.25))
    count = max(1, round((right - left) / 0.62))
    step = (right - left) / count
    for n in range(count):
        wall.disc((222, 229, 225), (left + (n + 0.5) * step, 2.25), 0.98 * step, 0.3)
    wall.line((120, 134, 118), 2.0, (left, 1.98), (right, 1.98))


def _draw_garden(wall: Elevation, ends: tuple[float, float], random: np.random.Generator) -> None:
    """Draw what is seen through an arch: pale sky, houses, trees, a hedge, shrubs, a lawn with guests and chairs."""
    left, right = ends
    wall.fade(SKY, (226, 232, 214), (left, 0.9, right, 2.4))
    x = left - 0.4
    while x < right:
        wide, tall = random.uniform(1.2, 2.6), random.uniform(0.3, 0.75)
        paint = ((176, 170, 158), (198, 192, 180), (168, 152, 138))[int(random.integers(3))]
        _draw_house(wall, (max(x, left), min(x + wide, right)), 0.95 + tall, paint)
        x += wide + random.uniform(0.3, 1.2)
    for _ in range(20):
        size = (random.uniform(0.5, 1.3), random.uniform(0.35, 0.75))
        leaves = shade((112, 136, 96), random.uniform(0.82, 1.12))
        _draw_leaves(wall, (random.uniform(left, right), 1.0 + 0.4 * size[1]), size, leaves, random)
    wall.fade(shade(HEDGE, 1.06), shade(HEDGE, 0.78), (left, 0.5, right, 1.0))
    for x in np.arange(left, right, 0.3):
        _draw_leaves(wall, (x, 0.76), (0.7, 0.6), HEDGE, random)
    wall.fade(LAWN, shade(LAWN, 0.8), (left, 0.0, right, 0.5))
    for _ in range(18):
        shrub = shade((104, 126, 74), random.uniform(0.8, 1.2))
        _draw_leaves(wall, (random.uniform(left, right), random.uniform(0.4, 0.55)), (0.5, 0.26), shrub, random)
    for _ in range(5):
        _draw_guest(wall, random.uniform(left + 0.2, right - 0.2), random)
    for x in np.arange(left + 0.9, right, 1.62):
        wall.fill((86, 98, 84), (x, 0.0, x + 0.035, 2.3))


def _draw_leaves(wall: Elevation, middle: Point, size: Point, paint: Paint, random: np.random.Generator) -> None:
    """Draw the leaves of a crown or a bush of a width and a height: clusters, those above in the light."""
    for _ in range(46):
        angle, away = random.uniform(0.0, 2.0 * math.pi), math.sqrt(random.uniform(0.0, 1.0))
        across, up = away * math.cos(angle), away * math.sin(angle)
        tone = 0.94 + 0.16 * up - 0.06 * across + random.normal(0.0, 0.09)
        dab = random.uniform(0.04, 0.12)
        wall.disc(
            shade(paint, tone), (middle[0] + 0.5 * size[0] * across, middle[1] + 0.5 * size[1] * up), dab, 0.8 * dab
        )


def _draw_house(wall: Elevation, ends: tuple[float, float], top: float, paint: Paint) -> None:
    left, right = ends
    if right - left < 0.3:
        return
    wall.fill(paint, (left, 0.8, right, top))
    wall.shape(
        shade(paint, 0.74), (left - 0.06, top), (right + 0.06, top), (right - 0.2, top + 0.2), (left + 0.2, top + 0.2)
    )
    for x in np.arange(left + 0.15, right - 0.2, 0.34):
        wall.fill(shade(paint, 0.66), (x, top - 0.26, x + 0.14, top - 0.08))


def _draw_guest(wall: Elevation, x: float, random: np.random.Generator) -> None:
    """Draw somebody who stands on the lawn, or a dark chair there."""
    if random.random() < 0.4:
        wall.fill(
            (52, 56, 52),
            (x - 0.13, 0.2, x + 0.13, 0.42),
            (x - 0.13, 0.05, x - 0.1, 0.3),
            (x + 0.1, 0.05, x + 0.13, 0.3),
        )
        return
    shirt = ((188, 186, 178), (96, 108, 132), (150, 92, 82), (70, 74, 78))[int(random.integers(4))]
    tall = random.uniform(0.82, 1.0)
    wall.fill((66, 68, 74), (x - 0.07, 0.06, x - 0.01, 0.46 * tall), (x + 0.01, 0.06, x + 0.07, 0.46 * tall))
    wall.fill(shirt, (x - 0.1, 0.42 * tall, x + 0.1, 0.82 * tall))
    wall.disc((172, 138, 116), (x, 0.92 * tall), 0.12, 0.16)


def _draw_post(wall: Elevation, x: float) -> None:
    wall.fill(POST, (x - 0.13, 0.0, x + 0.13, HEIGHT))
    wall.fill(shade(POST, 1.35), (x - 0.13, 0.0, x - 0.08, HEIGHT))
    wall.fill(shade(POST, 0.7), (x + 0.06, 0.0, x + 0.09, HEIGHT))
    for side in (-1.0, 1.0):
        wall.line(shade(POST, 1.05), 4.0, (x, 3.55), (x + side * 0.95, 4.7))


def _draw_board(wall: Elevation, middle: float, wide: float) -> None:
    """Draw a white board in a dark frame: a blue sign and the place's name."""
    left, right, low, top = middle - 0.5 * wide, middle + 0.5 * wide, 2.55, 4.05
    wall.fill((48, 54, 56), (left, low, right, top))
    wall.fill((240, 242, 236), (left + 0.1, low + 0.09, right - 0.1, top - 0.09))
    sign, centre = (52, 104, 170), (left + 0.95, 0.5 * (low + top))
    wall.disc(sign, centre, 0.96, 0.96)
    wall.disc((240, 242, 236), centre, 0.62, 0.62)
    wall.shape(
        sign, (centre[0] - 0.2, centre[1] - 0.18), (centre[0] + 0.2, centre[1] - 0.18), (centre[0], centre[1] + 0.24)
    )
    wall.write((54, 62, 74), "WARREN", (middle + 0.7, 0.5 * (low + top) + 0.12), 0.56)
    wall.fill((92, 134, 184), (left + 1.75, low + 0.24, right - 0.45, low + 0.3))


def make_tent_ceiling() -> ByteArray:
    """Return a ceiling of narrow grey panels that run along v, with joints, battens and slits of light."""
    size = 512
    canvas = Canvas(size, size, (85, 84, 79))
    random = np.random.default_rng(1631)
    for x in range(0, size, 32):
        tone = int(random.integers(-4, 5))
        canvas.fill_inside((85 + tone, 84 + tone, 79 + tone), (x, 0, x + 32, size))
        canvas.fill((60, 61, 57), (x, 0, x + 1, size))
        canvas.fill((92, 92, 86), (x + 2, 0, x + 2.5, size))
    for y in range(0, size, 128):
        canvas.fill((64, 65, 61), (0, y, size, y + 2))
    for _ in range(22):
        x, y = 32 * int(random.integers(16)) + 15, int(random.integers(size - 24))
        canvas.fill((146, 150, 132), (x, y, x + 1.5, y + int(random.integers(4, 18))))
    colour = canvas.shrink() * (1.0 + 0.03 * make_noise(size, size, 1.2, 1633, finest=4.0))[..., None]
    return to_texture(colour + as_colour((1.0, 1.0, 1.0)))
