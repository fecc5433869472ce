"""Pictures of what stands about a lot where robots race: barriers, straw, ramps, signs, far sheds; v = 0 is the top."""

import math

import numpy as np

from art.canvas import Canvas, Paint, add_grain
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture

STEEL: Paint = (172, 172, 172, 255)


def make_crowd_barrier() -> ByteArray:
    """Return a steel barrier, 2 x 1: a frame of tubes, upright bars, two feet; holes between them."""
    canvas = Canvas(256, 128, (170, 170, 170, 0))
    bar: Paint = (158, 157, 157, 255)
    for n in range(19):
        x = 16 + n * 12.45
        canvas.fill(bar, (x - 2.1, 16, x + 2.1, 98))
        canvas.fill((204, 203, 203, 255), (x - 2.1, 16, x - 0.7, 98))
    for y in (12, 96):
        canvas.fill(STEEL, (6, y, 250, y + 7))
        canvas.fill((214, 213, 213, 255), (6, y, 250, y + 2))
    for x in (6, 243):
        canvas.fill(STEEL, (x, 12, x + 7, 124))
    for x in (24, 226):
        canvas.fill(STEEL, (x, 98, x + 6, 122))
        canvas.fill_polygon((120, 119, 119, 255), (x - 16, 127), (x - 6, 119), (x + 12, 119), (x + 22, 127))
    return canvas.finish(1601, 0.0, 0.02)


def make_loose_straw() -> ByteArray:
    """Return straw strewn on the ground around a bale, thinning out to ragged edges; u along it."""
    height, width = 64, 128
    y, x = np.linspace(-1.0, 1.0, height)[:, None], np.linspace(-1.0, 1.0, width)[None, :]
    inside = np.minimum(1.0 - np.abs(y), 1.6 * (1.0 - np.abs(x)))
    stalks = make_noise(height, width, 0.3, 1611, finest=1.2)
    clumps = make_noise(height, width, 1.1, 1612, finest=3.0)
    alpha = np.clip(2.0 * inside - 0.15 + 0.26 * clumps + 0.16 * stalks, 0.0, 0.9) * np.clip(8.0 * inside, 0.0, 1.0)
    tone = 1.0 + 0.10 * stalks + 0.06 * clumps
    colour = tone[..., None] * as_colour((147, 139, 102))
    return to_texture(np.concatenate((colour, 255.0 * alpha[..., None]), axis=2))


def make_worn_paint() -> ByteArray:
    """Return a white line painted long ago: gaps, thin places, ragged sides; u along it."""
    height, width = 16, 512
    spots = make_noise(height, width, 0.9, 1615, finest=1.5)
    thin = np.repeat(make_noise(1, width, 1.2, 1616, finest=3.0), height, axis=0)
    side = np.clip(2.6 - 2.6 * np.abs(np.linspace(-1.0, 1.0, height)), 0.0, 1.0)[:, None]
    alpha = side * np.clip(0.86 - 0.22 * np.clip(spots, 0.0, 2.0) - 0.22 * np.clip(thin - 0.4, 0.0, 2.0), 0.1, 1.0)
    colour = np.full((height, width, 3), 255.0)
    return to_texture(np.concatenate((colour, 255.0 * alpha[..., None]), axis=2))


def make_red_ramp() -> ByteArray:
    """Return a low red ramp from above, its ridge along the middle: one slope in the light, scuffed by tyres."""
    return _paint_ramp((156, 82, 84), 1621)


def make_blue_ramp() -> ByteArray:
    """Return the slope of a blue ramp: boards across, scuffed."""
    return _paint_ramp((51, 122, 171), 1624)


def _paint_ramp(paint: tuple[float, float, float], seed: int) -> ByteArray:
    height, width = 64, 512
    colour = np.tile(as_colour(paint), (height, width, 1))
    colour[: height // 2] *= 1.09
    colour[height // 2 :] *= 0.92
    colour[height // 2 - 1 : height // 2 + 1] *= 1.14
    for x in range(0, width, 64):
        colour[:, x : x + 2] *= 0.8
    scuff = np.clip(make_noise(height, width, 1.0, seed, finest=2.0) - 0.9, 0.0, 1.0)[..., None]
    colour += (as_colour((96, 88, 84)) - colour) * 0.5 * scuff
    return to_texture(add_grain(colour.astype(np.float32), seed + 1, 0.03, 0.04))


def make_turning_plate() -> ByteArray:
    """Return a round plate of red and white sectors with a rim, all else a hole."""
    size = 256
    y, x = (np.mgrid[0:size, 0:size] + 0.5) * (2.0 / size) - 1.0
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    red = np.mod(np.floor(angle / (math.pi / 6.0) + 0.5), 2.0) == 0.0
    colour = np.where(red[..., None], as_colour((172, 62, 60)), as_colour((214, 210, 204)))
    colour[radius > 0.93] = (120, 116, 112)
    colour[radius < 0.12] = (120, 116, 112)
    worn = np.clip(make_noise(size, size, 1.2, 1631, finest=2.0) - 0.8, 0.0, 1.0)[..., None]
    colour = add_grain(
        (colour + (as_colour((134, 126, 118)) - colour) * 0.6 * worn).astype(np.float32), 1632, 0.03, 0.04
    )
    alpha = 255.0 * np.clip((1.0 - radius) * 0.5 * size, 0.0, 1.0)
    return to_texture(np.concatenate((colour, alpha[..., None]), axis=2))


def make_ice() -> ByteArray:
    """Return a pale blue plate, scratched and clouded."""
    height, width = 256, 128
    cloud = make_noise(height, width, 1.4, 1641, finest=4.0)
    scratch = np.repeat(make_noise(height // 8, width, 0.5, 1642, finest=1.2), 8, axis=0)
    colour = (1.0 + 0.05 * cloud + 0.025 * scratch)[..., None] * as_colour((176, 220, 232))
    for x in (0, width - 2):
        colour[:, x : x + 2] *= 0.8
    for y in (0, height - 2):
        colour[y : y + 2] *= 0.8
    return to_texture(colour)


def make_stop_sign() -> ByteArray:
    """Return an octagonal red board with a white rim and bar, all else a hole."""
    canvas = Canvas(128, 128, (190, 40, 40, 0))
    for reach, paint in ((63, (236, 234, 230, 255)), (57, (188, 40, 42, 255))):
        corners = [
            (64 + reach * math.cos(a) / math.cos(math.pi / 8), 64 + reach * math.sin(a) / math.cos(math.pi / 8))
            for a in (math.pi / 8 + n * math.pi / 4 for n in range(8))
        ]
        canvas.fill_polygon(paint, *corners)
    canvas.write((240, 238, 234, 255), "STOP", (64, 64), 40)
    return canvas.finish(1651, 0.0, 0.03)


def make_arrow_board() -> ByteArray:
    """Return a white board on which three black arrows point to the right."""
    canvas = Canvas(256, 128, (226, 226, 222))
    canvas.draw_frame((60, 60, 62), 4, (1, 1, 254, 126))
    for x in (34, 104, 174):
        canvas.fill_polygon((34, 34, 36), (x, 20), (x + 24, 20), (x + 54, 64), (x + 24, 108), (x, 108), (x + 30, 64))
    return canvas.finish(1661, 0.02, 0.03)


def make_minus_board() -> ByteArray:
    """Return a small board that takes a point: -1 in red on white."""
    return _write_board("-1", (186, 44, 42))


def make_plus_board() -> ByteArray:
    """Return a small board that gives points: +5 in green on white."""
    return _write_board("+5", (40, 138, 66))


def _write_board(text: str, paint: Paint) -> ByteArray:
    canvas = Canvas(64, 64, (232, 232, 228))
    canvas.draw_frame(paint, 4, (1, 1, 62, 62))
    canvas.write(paint, text, (32, 32), 38)
    return canvas.finish()


def make_cardboard_figure() -> ByteArray:
    """Return a cardboard figure in work clothes, one arm folded, to drive past; all else holes."""
    canvas = Canvas(128, 512, (60, 60, 66, 0))
    skin: Paint = (214, 168, 136, 255)
    canvas.fill_polygon((34, 34, 40, 255), (34, 250), (94, 250), (92, 480), (70, 480), (64, 300), (58, 480), (36, 480))
    canvas.fill((26, 26, 28, 255), (30, 474, 60, 508), (68, 474, 98, 508))
    canvas.fill_polygon((74, 112, 108, 255), (30, 96), (98, 96), (106, 150), (96, 258), (32, 258), (22, 150))
    canvas.fill_polygon((28, 28, 32, 255), (36, 90), (92, 90), (76, 114), (52, 114))
    canvas.fill_polygon((60, 94, 92, 255), (26, 110), (40, 116), (38, 190), (84, 206), (82, 222), (22, 208))
    canvas.fill_polygon((60, 94, 92, 255), (90, 112), (104, 112), (116, 190), (110, 256), (98, 254), (100, 190))
    canvas.fill_round(skin, (78, 198, 98, 226), (96, 248, 112, 276))
    canvas.fill((178, 182, 172, 255), (40, 150, 60, 156), (32, 236, 96, 242))
    canvas.fill((196, 148, 118, 255), (54, 76, 74, 100))
    canvas.fill_round((84, 60, 42, 255), (40, 4, 88, 60))
    canvas.fill_round(skin, (44, 18, 84, 88))
    canvas.fill_round((84, 60, 42, 255), (42, 4, 86, 32))
    for x in (55, 73):
        canvas.fill((84, 60, 42, 255), (x - 5, 38, x + 5, 40))
        canvas.fill_round((56, 48, 44, 255), (x - 3, 44, x + 3, 49))
    canvas.fill((158, 88, 78, 255), (56, 70, 72, 73))
    return canvas.finish(1671, 0.02, 0.05)


def make_dark_car() -> ByteArray:
    """Return a big dark off-road car from its side, 2.35 x 1, all else a hole."""
    canvas = Canvas(256, 128, (30, 32, 34, 0))
    body: Paint = (44, 46, 50, 255)
    canvas.fill_polygon(
        body, (10, 62), (40, 54), (66, 22), (78, 16), (222, 16), (238, 24), (248, 56), (250, 98), (6, 98), (4, 74)
    )
    canvas.fill_polygon((92, 98, 104, 255), (10, 62), (40, 54), (66, 54), (60, 62))
    glass: Paint = (98, 112, 122, 255)
    canvas.fill_polygon(glass, (56, 50), (74, 24), (112, 24), (112, 50))
    canvas.fill_polygon(glass, (118, 24), (168, 24), (170, 50), (118, 50))
    canvas.fill_polygon(glass, (174, 24), (220, 24), (234, 50), (176, 50))
    canvas.fill((66, 70, 74, 255), (6, 66, 249, 69))
    canvas.fill((30, 31, 33, 255), (4, 90, 250, 99))
    for x in (115, 172):
        canvas.fill((28, 30, 32, 255), (x, 20, x + 2, 92))
    for x in (58, 202):
        canvas.fill_round((20, 20, 21, 255), (x - 25, 74, x + 25, 124))
        canvas.fill_round((142, 144, 146, 255), (x - 14, 85, x + 14, 113))
        canvas.fill_round((60, 62, 64, 255), (x - 5, 94, x + 5, 104))
    canvas.fill((220, 214, 196, 255), (6, 68, 16, 78))
    canvas.fill((156, 40, 36, 255), (242, 60, 249, 76))
    return canvas.finish(1681, 0.0, 0.04)


def make_canopy() -> ByteArray:
    """Return an open white canopy from its side, as wide as high: four legs, a valance, a pointed roof; else holes."""
    canvas = Canvas(128, 128, (210, 212, 210, 0))
    for x, paint in ((22, (132, 134, 136, 255)), (104, (132, 134, 136, 255)), (4, STEEL), (120, STEEL)):
        canvas.fill(paint, (x, 52, x + 4, 128))
    canvas.fill_polygon((168, 170, 170, 255), (3, 54), (126, 54), (108, 48), (20, 48))
    canvas.fill_polygon((226, 227, 224, 255), (2, 48), (126, 48), (66, 3), (62, 3))
    canvas.fill_polygon((202, 205, 206, 255), (126, 48), (88, 48), (64, 3), (66, 3))
    canvas.fill((212, 214, 212, 255), (2, 47, 126, 60))
    for x in range(2, 126, 12):
        canvas.fill_round((212, 214, 212, 255), (x, 56, x + 12, 64))
    return canvas.finish(1689, 0.0, 0.02)


def make_shed() -> ByteArray:
    """Return a long white shed, 5.7 x 1: ribbed walls, a pale roof, gates and a row of windows."""
    width, height = 1024, 256
    canvas = Canvas(width, height, (161, 163, 157))
    canvas.fill((214, 234, 246), (0, 0, width, 92))
    for x in range(0, width, 16):
        canvas.fill((204, 225, 238), (x, 0, x + 3, 92))
        canvas.fill((150, 152, 147), (x, 96, x + 5, height))
    canvas.fill((120, 124, 122), (0, 90, width, 98))
    canvas.fill((140, 142, 136), (0, 226, width, height))
    random = np.random.default_rng(1691)
    for n in range(11):
        x = 30 + n * 90
        canvas.fill((84, 98, 110), (x, 116, x + 60, 136))
        canvas.fill((188, 200, 206), (x + 2, 118, x + 58, 124))
        if random.random() < 0.55:
            canvas.fill((116, 120, 120) if n % 2 else (90, 112, 132), (x + 6, 160, x + 54, height))
            for y in range(166, height, 8):
                canvas.fill((98, 103, 104), (x + 6, y, x + 54, y + 2))
    return canvas.finish(1692, 0.015, 0.03)


def make_office_block() -> ByteArray:
    """Return a grey-blue office block, 2 x 1: bands of windows between concrete, a flat roof with plant rooms."""
    return _paint_offices((512, 256), (138, 142, 148), 10, 26, 1695)


def make_tower() -> ByteArray:
    """Return a grey tower, 1 x 1.8."""
    return _paint_offices((128, 256), (128, 132, 140), 16, 8, 1697)


def _paint_offices(size: tuple[int, int], wall: Paint, storeys: int, bays: int, seed: int) -> ByteArray:
    width, height = size
    canvas = Canvas(width, height, wall)
    random = np.random.default_rng(seed)
    canvas.fill((112, 116, 122), (0, 0, width, 6))
    high, wide = (height - 14.0) / storeys, width / bays
    for storey in range(storeys):
        top = 10 + storey * high
        canvas.fill((158, 161, 165), (0, top - 2, width, top))
        for bay in range(bays):
            tone = random.uniform(0.75, 1.25)
            glass = tuple(int(c * tone) for c in (84, 98, 114))
            canvas.fill(glass, (bay * wide + 0.12 * wide, top + 0.22 * high, (bay + 0.88) * wide, top + 0.82 * high))
    return canvas.finish(seed + 1, 0.015, 0.03)


def make_red_tank() -> ByteArray:
    """Return a round red tank from its side, almost square: plates, a stair, a pale top edge."""
    size = 128
    x = np.linspace(-1.0, 1.0, size)
    colour = (0.62 + 0.5 * np.sqrt(1.0 - 0.92 * x**2))[None, :, None] * as_colour((164, 66, 56)) * np.ones((size, 1, 1))
    for y in range(0, size, 16):
        colour[y : y + 1] *= 0.82
    colour[:5] = (196, 150, 140)
    step = np.arange(size)
    for width in range(3):
        colour[step, np.clip(20 + (step * 2) // 3 + width, 0, size - 1)] = (96, 84, 80)
    return to_texture(add_grain(colour.astype(np.float32), 1699, 0.02, 0.04))


def make_motorway_bridge() -> ByteArray:
    """Return a concrete motorway bridge from far away, 7.4 x 1: a deck with a rail on piers, holes between them."""
    canvas = Canvas(1024, 128, (150, 152, 154, 0))
    concrete: Paint = (158, 158, 154, 255)
    canvas.fill(concrete, (0, 30, 1024, 52))
    canvas.fill((112, 113, 112, 255), (0, 52, 1024, 60))
    canvas.fill((184, 186, 186, 255), (0, 22, 1024, 30))
    for x in range(0, 1024, 128):
        canvas.fill(concrete, (x + 44, 58, x + 84, 128))
        canvas.fill((126, 126, 124, 255), (x + 74, 58, x + 84, 128))
        canvas.fill_polygon((132, 132, 130, 255), (x + 20, 58), (x + 108, 58), (x + 84, 78), (x + 44, 78))
    for x, paint in ((90, (160, 60, 52)), (310, (70, 86, 110)), (520, (220, 220, 218)), (810, (58, 60, 62))):
        canvas.fill((*paint, 255), (x, 8, x + 60, 23))
    return canvas.finish(1705, 0.0, 0.03)
