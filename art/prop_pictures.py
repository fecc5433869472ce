"""Pictures of what stands about, made by computation; v = 0 is the top."""

import math

import numpy as np

from art.canvas import Canvas, add_grain
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import Colour, as_colour, blend_colours, make_noise, to_texture


def make_cartons() -> ByteArray:
    """Return two rows of cardboard boxes, with tape, labels and shadows between them; the lower half their tops."""
    random = np.random.default_rng(1001)
    canvas = Canvas(256, 128, (74, 56, 38))
    for row, (top, bottom) in enumerate(((0, 33), (33, 64))):
        x = 0.0
        while x < 250.0:
            width = min(random.uniform(34.0, 62.0), 256.0 - x)
            tone = random.uniform(0.82, 1.10)
            board = ((190, 148, 98), (178, 138, 92), (202, 166, 116))[int(random.integers(3))]
            fill = tuple(int(c * tone) for c in board)
            canvas.fill(fill, (x + 1, top + 1, x + width - 1, bottom - 1))
            tape = tuple(int(c * 0.84) for c in fill)
            canvas.fill(tape, (x + 0.46 * width, top + 1, x + 0.54 * width, top + 9))
            if random.random() < 0.6:
                canvas.fill((232, 230, 222), (x + 5, top + 14, x + 17, top + 23))
                canvas.fill((90, 90, 90), (x + 7, top + 17, x + 15, top + 18))
            if row and random.random() < 0.4:
                canvas.fill((168, 52, 44), (x + width - 14, top + 12, x + width - 6, top + 20))
            x += width
    for n in range(5):
        canvas.fill((188, 150, 104), (n * 52 + 1, 65, n * 52 + 50, 127))
        canvas.fill((164, 126, 84), (n * 52 + 22, 65, n * 52 + 29, 127))
    return canvas.finish(1002, 0.02, 0.04)


def make_faces() -> ByteArray:
    """Return a head unrolled, its face in the middle: hair, eyes, nose, mouth."""
    canvas = Canvas(64, 64, (226, 178, 146))
    canvas.fill((74, 50, 34), (0, 0, 64, 18), (0, 0, 15, 44), (49, 0, 64, 44))
    for x in (25, 39):
        canvas.fill_round((246, 244, 240), (x - 3.5, 28, x + 3.5, 33))
        canvas.fill_round((44, 40, 40), (x - 1.8, 28.5, x + 1.8, 33))
        canvas.fill((70, 48, 34), (x - 4, 24.5, x + 4, 26))
    canvas.fill((206, 152, 122), (30.5, 31, 33.5, 40))
    canvas.fill((170, 84, 76), (27, 45, 37, 47.5))
    canvas.fill((198, 150, 120), (0, 58, 64, 64))
    return canvas.finish()


def make_barrel_skin() -> ByteArray:
    """Return a steel drum unrolled: blue with a white band, ridges and rust."""
    colour = np.tile(as_colour((40, 92, 168)), (64, 64, 1))
    colour[26:38] = (226, 228, 230)
    for row in (0, 20, 21, 43, 44, 63):
        colour[row] *= 0.68
    for row in (19, 42):
        colour[row] *= 1.25
    rust = np.clip(make_noise(64, 64, 1.2, 1011) - 1.3, 0.0, 1.0)[..., None]
    return to_texture(add_grain(colour + (as_colour((120, 70, 40)) - colour) * rust, 1012, 0.02, 0.04))


def make_drum_skin() -> ByteArray:
    """Return a red drum unrolled: three ridges, scratches, rust."""
    colour = np.tile(as_colour((175, 64, 64)), (128, 64, 1))
    for row in (0, 40, 82, 124):
        colour[row : row + 2] *= 1.2
        colour[row + 2 : row + 4] *= 0.66
    rust = np.clip(make_noise(128, 64, 1.2, 1015) - 1.2, 0.0, 1.0)[..., None]
    return to_texture(add_grain(colour + (as_colour((104, 62, 44)) - colour) * rust, 1016, 0.02, 0.05))


def make_tyre_side() -> ByteArray:
    """Return a stack of four tyres unrolled."""
    row = np.arange(128)
    height = np.abs(((row + 0.5) % 32.0) / 16.0 - 1.0)
    bulge = np.sqrt(np.clip(1.0 - height**4, 0.0, 1.0)) * np.where(height < 0.93, 1.0, 0.25)
    tread = np.where(height < 0.62, 1.0 - 0.45 * (row % 4 < 1), 0.82)
    colour = (14.0 + 48.0 * bulge * tread)[:, None, None] * np.ones((128, 32, 3))
    colour[32:64] = (bulge * tread)[32:64, None, None] * as_colour((208, 204, 196)) + 10.0
    return to_texture(add_grain(colour.astype(np.float32), 1021, 0.06, 0.05))


def make_signs() -> ByteArray:
    """Return a strip of eight square boards: chevrons right and left, stop, limit, arrow, bend, parking, camera."""
    canvas = Canvas(512, 64, (232, 232, 228))
    red, blue, dark = (200, 34, 32), (28, 84, 170), (30, 30, 32)
    for board, way in ((0, 1.0), (1, -1.0)):
        canvas.fill((240, 240, 236), (board * 64, 0, (board + 1) * 64, 64))
        for shift in (-12, 20):
            outline = [(shift, 4), (shift + 16, 4), (shift + 40, 32), (shift + 16, 60), (shift, 60), (shift + 24, 32)]
            corners = [(x if way > 0 else 64 - x, y) for x, y in outline]
            canvas.fill_polygon(red, *((board * 64 + min(max(x, 0), 64), y) for x, y in corners))
    canvas.fill_polygon(red, (148, 3), (172, 3), (189, 20), (189, 44), (172, 61), (148, 61), (131, 44), (131, 20))
    canvas.write((250, 250, 248), "STOP", (160, 32), 19)
    canvas.fill_round(red, (194, 2, 254, 62))
    canvas.fill_round((248, 248, 246), (203, 11, 245, 53))
    canvas.write(dark, "30", (224, 32), 27)
    canvas.fill(blue, (258, 2, 318, 62))
    ahead = ((284, 54), (292, 54), (292, 28), (302, 28), (288, 10), (274, 28), (284, 28))
    canvas.fill_polygon((246, 246, 244), *ahead)
    canvas.fill_polygon((238, 186, 34), (352, 2), (382, 32), (352, 62), (322, 32))
    canvas.draw_line(dark, 6, (352, 50), (352, 30), (340, 18))
    canvas.fill(blue, (386, 2, 446, 62))
    canvas.write((248, 248, 246), "P", (416, 32), 46)
    canvas.fill((34, 128, 74), (450, 2, 510, 62))
    canvas.write((248, 248, 246), "EXIT", (480, 32), 20)
    return canvas.finish()


def make_flags() -> ByteArray:
    """Return a strip of four flags: chequered, red, yellow, blue with a white cross."""
    canvas = Canvas(256, 64, (240, 240, 238))
    for row in range(6):
        for column in range(6):
            if (row + column) % 2:
                box = (column * 10.667, row * 10.667, (column + 1) * 10.667, (row + 1) * 10.667)
                canvas.fill((24, 24, 26), box)
    canvas.fill((206, 36, 34), (64, 0, 128, 64))
    canvas.fill((240, 198, 40), (128, 0, 192, 64))
    canvas.fill((36, 84, 172), (192, 0, 256, 64))
    canvas.fill((240, 240, 238), (212, 0, 222, 64), (192, 27, 256, 37))
    return canvas.finish()


def make_crowd() -> ByteArray:
    """Return two rows of spectators on benches."""
    random = np.random.default_rng(1031)
    canvas = Canvas(256, 64, (120, 124, 130))
    shirts = (
        (204, 60, 52), (58, 98, 178), (236, 206, 74), (240, 240, 236), (64, 140, 88), (40, 42, 48), (220, 128, 52),
    )  # fmt: skip
    skins = ((226, 178, 146), (190, 136, 102), (132, 90, 66))
    for bench in (0, 32):
        canvas.fill((86, 90, 96), (0, bench + 27, 256, bench + 32))
        for seat in range(26):
            if random.random() < 0.14:
                continue
            x = seat * 10 + random.uniform(-1.0, 1.0)
            shirt = shirts[int(random.integers(len(shirts)))]
            canvas.fill_round(shirt, (x + 1, bench + 10, x + 9, bench + 30))
            canvas.fill_round(skins[int(random.integers(3))], (x + 2.6, bench + 3, x + 7.4, bench + 11))
            hair = ((60, 42, 30), (30, 28, 28), (190, 150, 90))[int(random.integers(3))]
            canvas.fill_round(hair, (x + 2.6, bench + 2.4, x + 7.4, bench + 6.6))
    return canvas.finish()


def make_palm_leaf() -> ByteArray:
    """Return a palm leaf from its stem (v = 1) to its tip, holes between its fingers."""
    canvas = Canvas(32, 128, (74, 122, 50, 0))
    for finger in range(34):
        y = 124 - finger * 3.6
        reach = 15.0 * np.sin(np.pi * min(0.96, 0.16 + finger / 36.0)) + 1.0
        tone = 0.8 + 0.4 * ((finger * 7) % 5) / 4.0
        fill = (int(70 * tone), int(126 * tone), int(52 * tone), 255)
        for side in (-1.0, 1.0):
            canvas.draw_line(fill, 2.6, (16, y), (16 + side * reach, y - 7))
    canvas.draw_line((124, 140, 70, 255), 2, (16, 128), (16, 4))
    return canvas.finish()


def make_palm_trunk() -> ByteArray:
    """Return the rings of a palm's trunk."""
    row = np.arange(64)
    shade = 0.72 + 0.28 * ((row % 8) / 8.0)
    rings = shade[:, None, None].astype(np.float32) * np.ones((64, 32, 1), np.float32)
    return to_texture(add_grain(rings * as_colour((150, 122, 92)), 1041, 0.06, 0.05))


def make_boulder() -> ByteArray:
    """Return weathered stone, mossy at its foot."""
    tone = 0.7 * make_noise(64, 64, 1.2, 1081, finest=2.0) + 0.5 * make_noise(64, 64, 0.5, 1082)
    colour = (140.0 + 17.0 * tone)[..., None] * as_colour((1.0, 0.98, 0.94))
    moss = np.clip(np.linspace(-0.5, 1.1, 64)[:, None] + 0.35 * make_noise(64, 64, 1.3, 1083), 0.0, 1.0)[..., None]
    return to_texture(colour + (as_colour((92, 104, 58)) - colour) * 0.55 * moss)


def make_cactus_skin() -> ByteArray:
    """Return the ribs of a cactus."""
    x = np.arange(64)
    rib = 0.62 + 0.38 * np.abs(np.sin(x / 8.0 * np.pi))
    colour = rib[None, :, None] * np.ones((64, 1, 1)) * as_colour((92, 138, 74))
    colour[::6, 4::8] = (206, 204, 160)
    return to_texture(add_grain(colour.astype(np.float32), 1051, 0.03, 0.05))


def make_tools() -> ByteArray:
    """Return a pegboard with tools."""
    canvas = Canvas(128, 64, (196, 168, 124))
    for y in range(4, 64, 6):
        for x in range(4, 128, 6):
            canvas.fill_round((150, 124, 88), (x - 0.7, y - 0.7, x + 0.7, y + 0.7))
    grey, red, blue, dark = (150, 154, 160), (196, 48, 42), (44, 92, 170), (52, 52, 56)
    for n, x in enumerate(range(10, 66, 11)):
        canvas.fill(grey, (x - 1, 10, x + 1, 30 + 3 * n))
        canvas.fill((red, blue, dark)[n % 3], (x - 2.4, 24 + 3 * n, x + 2.4, 40 + 3 * n))
    canvas.fill(dark, (72, 14, 96, 20))
    canvas.fill((172, 128, 76), (82, 14, 86, 48))
    canvas.fill_polygon(grey, (102, 12), (122, 24), (122, 36), (102, 28))
    canvas.fill(red, (100, 40, 124, 56))
    return canvas.finish()


def make_bench_front() -> ByteArray:
    """Return the drawers and the lower shelf of a work bench."""
    canvas = Canvas(128, 64, (44, 46, 50))
    for row in range(3):
        canvas.fill((58, 104, 150), (4, 2 + 20 * row, 44, 20 + 20 * row))
        canvas.fill((214, 216, 218), (16, 9 + 20 * row, 32, 11 + 20 * row))
    for left, fill in ((52, (176, 136, 88)), (76, (150, 60, 52)), (98, (90, 120, 90))):
        canvas.fill(fill, (left, 34, left + 20, 58))
    canvas.fill((170, 140, 96), (46, 58, 126, 62))
    return canvas.finish()


def make_books() -> ByteArray:
    """Return four shelves of books, folders and boxes."""
    random = np.random.default_rng(1061)
    canvas = Canvas(128, 128, (70, 56, 44))
    colours = (
        (176, 54, 48), (48, 88, 156), (62, 128, 84), (222, 196, 96), (216, 214, 208), (92, 62, 120), (50, 52, 58),
    )  # fmt: skip
    for shelf in range(4):
        base, x = 30 + 32 * shelf, 5.0
        canvas.fill((196, 164, 118), (0, base, 128, base + 2))
        while x < 118.0:
            width, height = random.uniform(3.0, 8.0), random.uniform(17.0, 26.0)
            if random.random() < 0.85:
                fill = colours[int(random.integers(len(colours)))]
                canvas.fill(fill, (x, base - height, x + width - 0.6, base))
            x += width
    for x in (0, 124):
        canvas.fill((196, 164, 118), (x, 0, x + 4, 128))
    canvas.fill((196, 164, 118), (0, 0, 128, 3))
    return canvas.finish()


def make_stripes() -> ByteArray:
    """Return red and white segments of an inflated arch, along v."""
    colour = np.tile(as_colour((234, 232, 228)), (64, 16, 1))
    colour[:16] = colour[32:48] = as_colour((208, 40, 36))
    return to_texture(add_grain(colour, 1071, 0.01, 0.03))


def make_cone_stripes(size: int = 64) -> ByteArray:
    """Return a traffic cone unrolled: orange with two white bands, v = 0 at the tip."""
    v = np.arange(size) / size
    colour = np.tile(as_colour((242, 98, 24)), (size, size, 1))
    colour[((v > 0.22) & (v < 0.40)) | ((v > 0.58) & (v < 0.76))] = (244, 242, 238)
    colour *= (1.0 - 0.16 * np.clip(v - 0.75, 0.0, 1.0) * 4.0)[:, None, None].astype(np.float32)
    return to_texture(colour)


def make_cone_skin(size: int = 64) -> ByteArray:
    """Return a plain cone unrolled: dark red, paler towards the tip (v = 0), dusty at the foot."""
    v = (np.arange(size) + 0.5) / size
    skin = blend_colours(
        v, ((0.0, (206, 108, 106)), (0.5, (188, 98, 100)), (0.85, (170, 96, 98)), (1.0, (138, 98, 96)))
    )
    return to_texture(skin[:, None] * (1.0 + 0.03 * make_noise(size, size, 0.8, 161)[..., None]))


def make_bell_skin(tint: Colour = (1.0, 1.0, 1.0), size: int = 64) -> ByteArray:
    """Return a bell cone unrolled: brick red, a little paler towards the tip (v = 0), dark under the foot's rim."""
    v = (np.arange(size) + 0.5) / size
    red = ((0.0, (196, 92, 88)), (0.3, (178, 78, 74)), (0.75, (162, 70, 67)), (0.9, (150, 64, 62)), (1.0, (84, 44, 46)))
    skin = blend_colours(v, red)
    grain = 1.0 + 0.03 * make_noise(size, size, 0.8, 162)[..., None]
    return to_texture(skin[:, None] * as_colour(tint) * grain)


def make_wheel_face(size: int = 64) -> ByteArray:
    """Return a wheel seen along its axle: tyre, bright rim with five spokes, hub."""
    y, x = (np.mgrid[0:size, 0:size] + 0.5) / size * 2.0 - 1.0
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    colour = np.tile(as_colour((30, 30, 32)), (size, size, 1))
    colour[(radius > 0.70) & (radius < 0.76)] = (58, 58, 60)
    rim = radius < 0.66
    colour[rim] = (38, 40, 44)
    spoke = rim & (np.abs((angle / (2.0 * math.pi) * 5.0) % 1.0 - 0.5) < 0.06 + 0.10 * (0.7 - radius))
    colour[spoke | (rim & (radius > 0.56)) | (radius < 0.2)] = (206, 208, 212)
    colour[radius < 0.09] = (60, 60, 64)
    return to_texture(colour)
