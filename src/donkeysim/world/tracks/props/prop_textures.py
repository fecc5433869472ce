"""Pictures of what stands about, made by computation; v = 0 is the top."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from PIL import ImageFont

from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.structures.wall_textures import add_grain, as_texels, draw_on, shrink
from donkeysim.world.tracks.textures import as_colour, make_noise, to_texture


@lru_cache(maxsize=1)
def make_cartons() -> ByteArray:
    """Return two rows of cardboard boxes, with tape, labels and shadows between them; the lower half their tops."""
    random = np.random.default_rng(1001)
    canvas, pen, k = draw_on(256, 128, (74, 56, 38))
    for row, (top, bottom) in enumerate(((0, 33), (33, 64))):
        x = 0.0
        while x < 250.0:
            width = min(random.uniform(34.0, 62.0), 256.0 - x)
            tone = random.uniform(0.82, 1.10)
            fill = tuple(
                int(c * tone) for c in ((190, 148, 98), (178, 138, 92), (202, 166, 116))[int(random.integers(3))]
            )
            pen.rectangle(((x + 1) * k, (top + 1) * k, (x + width - 1) * k, (bottom - 1) * k), fill=fill)
            tape = tuple(int(c * 0.84) for c in fill)
            pen.rectangle(((x + 0.46 * width) * k, (top + 1) * k, (x + 0.54 * width) * k, (top + 9) * k), fill=tape)
            if random.random() < 0.6:
                pen.rectangle(((x + 5) * k, (top + 14) * k, (x + 17) * k, (top + 23) * k), fill=(232, 230, 222))
                pen.rectangle(((x + 7) * k, (top + 17) * k, (x + 15) * k, (top + 18) * k), fill=(90, 90, 90))
            if row and random.random() < 0.4:
                pen.rectangle(
                    ((x + width - 14) * k, (top + 12) * k, (x + width - 6) * k, (top + 20) * k), fill=(168, 52, 44)
                )
            x += width
    for n in range(5):
        pen.rectangle(((n * 52 + 1) * k, 65 * k, (n * 52 + 50) * k, 127 * k), fill=(188, 150, 104))
        pen.rectangle(((n * 52 + 22) * k, 65 * k, (n * 52 + 29) * k, 127 * k), fill=(164, 126, 84))
    return to_texture(add_grain(shrink(canvas), 1002, 0.02, 0.04))


@lru_cache(maxsize=1)
def make_faces() -> ByteArray:
    """Return a head unrolled, its face in the middle: hair, eyes, nose, mouth."""
    canvas, pen, k = draw_on(64, 64, (226, 178, 146))
    pen.rectangle((0, 0, 64 * k, 18 * k), fill=(74, 50, 34))
    pen.rectangle((0, 0, 15 * k, 44 * k), fill=(74, 50, 34))
    pen.rectangle((49 * k, 0, 64 * k, 44 * k), fill=(74, 50, 34))
    for x in (25, 39):
        pen.ellipse(((x - 3.5) * k, 28 * k, (x + 3.5) * k, 33 * k), fill=(246, 244, 240))
        pen.ellipse(((x - 1.8) * k, 28.5 * k, (x + 1.8) * k, 33 * k), fill=(44, 40, 40))
        pen.rectangle(((x - 4) * k, 24.5 * k, (x + 4) * k, 26 * k), fill=(70, 48, 34))
    pen.rectangle((30.5 * k, 31 * k, 33.5 * k, 40 * k), fill=(206, 152, 122))
    pen.rectangle((27 * k, 45 * k, 37 * k, 47.5 * k), fill=(170, 84, 76))
    pen.rectangle((0, 58 * k, 64 * k, 64 * k), fill=(198, 150, 120))
    return to_texture(shrink(canvas))


@lru_cache(maxsize=1)
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


@lru_cache(maxsize=1)
def make_tyre_side() -> ByteArray:
    """Return a stack of four tyres unrolled."""
    row = np.arange(128)
    height = np.abs(((row + 0.5) % 32.0) / 16.0 - 1.0)
    bulge = np.sqrt(np.clip(1.0 - height**4, 0.0, 1.0)) * np.where(height < 0.93, 1.0, 0.25)
    tread = np.where(height < 0.62, 1.0 - 0.45 * (row % 4 < 1), 0.82)
    colour = (14.0 + 48.0 * bulge * tread)[:, None, None] * np.ones((128, 32, 3))
    colour[32:64] = (bulge * tread)[32:64, None, None] * as_colour((208, 204, 196)) + 10.0
    return to_texture(add_grain(colour.astype(np.float32), 1021, 0.06, 0.05))


@lru_cache(maxsize=1)
def make_signs() -> ByteArray:
    """Return a strip of eight square boards: chevrons right and left, stop, limit, arrow, bend, parking, camera."""
    canvas, pen, k = draw_on(512, 64, (232, 232, 228))

    def poly(left: int, points: Sequence[tuple[float, float]], fill: tuple[int, int, int]) -> None:
        pen.polygon([((left + x) * k, y * k) for x, y in points], fill=fill)

    red, blue, dark = (200, 34, 32), (28, 84, 170), (30, 30, 32)
    for board, way in ((0, 1.0), (1, -1.0)):
        pen.rectangle((board * 64 * k, 0, (board + 1) * 64 * k, 64 * k), fill=(240, 240, 236))
        for shift in (-12, 20):
            outline = [(shift, 4), (shift + 16, 4), (shift + 40, 32), (shift + 16, 60), (shift, 60), (shift + 24, 32)]
            mirrored = [(x if way > 0 else 64 - x, y) for x, y in outline]
            poly(board * 64, [(min(max(x, 0), 64), y) for x, y in mirrored], red)
    octagon = [(20, 3), (44, 3), (61, 20), (61, 44), (44, 61), (20, 61), (3, 44), (3, 20)]
    poly(128, octagon, red)
    pen.text((160 * k, 32 * k), "STOP", fill=(250, 250, 248), font=ImageFont.load_default(19 * k), anchor="mm")
    pen.ellipse((194 * k, 2 * k, 254 * k, 62 * k), fill=red)
    pen.ellipse((203 * k, 11 * k, 245 * k, 53 * k), fill=(248, 248, 246))
    pen.text((224 * k, 32 * k), "30", fill=dark, font=ImageFont.load_default(27 * k), anchor="mm")
    pen.rectangle((258 * k, 2 * k, 318 * k, 62 * k), fill=blue)
    poly(256, [(28, 54), (36, 54), (36, 28), (46, 28), (32, 10), (18, 28), (28, 28)], (246, 246, 244))
    poly(320, [(32, 2), (62, 32), (32, 62), (2, 32)], (238, 186, 34))
    pen.line([(x * k, y * k) for x, y in ((352, 50), (352, 30), (340, 18))], fill=dark, width=6 * k)
    pen.rectangle((386 * k, 2 * k, 446 * k, 62 * k), fill=blue)
    pen.text((416 * k, 32 * k), "P", fill=(248, 248, 246), font=ImageFont.load_default(46 * k), anchor="mm")
    pen.rectangle((450 * k, 2 * k, 510 * k, 62 * k), fill=(34, 128, 74))
    pen.text((480 * k, 32 * k), "EXIT", fill=(248, 248, 246), font=ImageFont.load_default(20 * k), anchor="mm")
    return to_texture(shrink(canvas))


@lru_cache(maxsize=1)
def make_flags() -> ByteArray:
    """Return a strip of four flags: chequered, red, yellow, blue with a white cross."""
    canvas, pen, k = draw_on(256, 64, (240, 240, 238))
    for row in range(6):
        for column in range(6):
            if (row + column) % 2:
                box = (column * 10.667, row * 10.667, (column + 1) * 10.667, (row + 1) * 10.667)
                pen.rectangle([c * k for c in box], fill=(24, 24, 26))
    pen.rectangle((64 * k, 0, 128 * k, 64 * k), fill=(206, 36, 34))
    pen.rectangle((128 * k, 0, 192 * k, 64 * k), fill=(240, 198, 40))
    pen.rectangle((192 * k, 0, 256 * k, 64 * k), fill=(36, 84, 172))
    pen.rectangle((212 * k, 0, 222 * k, 64 * k), fill=(240, 240, 238))
    pen.rectangle((192 * k, 27 * k, 256 * k, 37 * k), fill=(240, 240, 238))
    return to_texture(shrink(canvas))


@lru_cache(maxsize=1)
def make_crowd() -> ByteArray:
    """Return two rows of spectators on benches."""
    random = np.random.default_rng(1031)
    canvas, pen, k = draw_on(256, 64, (120, 124, 130))
    shirts = (
        (204, 60, 52),
        (58, 98, 178),
        (236, 206, 74),
        (240, 240, 236),
        (64, 140, 88),
        (40, 42, 48),
        (220, 128, 52),
    )
    skins = ((226, 178, 146), (190, 136, 102), (132, 90, 66))
    for bench in (0, 32):
        pen.rectangle((0, (bench + 27) * k, 256 * k, (bench + 32) * k), fill=(86, 90, 96))
        for seat in range(26):
            if random.random() < 0.14:
                continue
            x = seat * 10 + random.uniform(-1.0, 1.0)
            shirt = shirts[int(random.integers(len(shirts)))]
            pen.ellipse(((x + 1) * k, (bench + 10) * k, (x + 9) * k, (bench + 30) * k), fill=shirt)
            pen.ellipse(
                ((x + 2.6) * k, (bench + 3) * k, (x + 7.4) * k, (bench + 11) * k), fill=skins[int(random.integers(3))]
            )
            hair = ((60, 42, 30), (30, 28, 28), (190, 150, 90))[int(random.integers(3))]
            pen.ellipse(((x + 2.6) * k, (bench + 2.4) * k, (x + 7.4) * k, (bench + 6.6) * k), fill=hair)
    return to_texture(shrink(canvas))


@lru_cache(maxsize=1)
def make_palm_leaf() -> ByteArray:
    """Return a palm leaf from its stem (v = 1) to its tip, holes between its fingers."""
    canvas, pen, k = draw_on(32, 128, (74, 122, 50, 0))
    for finger in range(34):
        y = 124 - finger * 3.6
        reach = 15.0 * np.sin(np.pi * min(0.96, 0.16 + finger / 36.0)) + 1.0
        tone = 0.8 + 0.4 * ((finger * 7) % 5) / 4.0
        fill = (int(70 * tone), int(126 * tone), int(52 * tone), 255)
        for side in (-1.0, 1.0):
            pen.line((16 * k, y * k, (16 + side * reach) * k, (y - 7) * k), fill=fill, width=int(2.6 * k))
    pen.line((16 * k, 128 * k, 16 * k, 4 * k), fill=(124, 140, 70, 255), width=2 * k)
    return as_texels(shrink(canvas))


@lru_cache(maxsize=1)
def make_palm_trunk() -> ByteArray:
    """Return the rings of a palm's trunk."""
    row = np.arange(64)
    shade = 0.72 + 0.28 * ((row % 8) / 8.0)
    return to_texture(
        add_grain(
            shade[:, None, None].astype(np.float32) * np.ones((64, 32, 1), np.float32) * as_colour((150, 122, 92)),
            1041,
            0.06,
            0.05,
        )
    )


@lru_cache(maxsize=1)
def make_boulder() -> ByteArray:
    """Return weathered stone, mossy at its foot."""
    tone = 0.7 * make_noise(64, 64, 1.2, 1081, finest=2.0) + 0.5 * make_noise(64, 64, 0.5, 1082)
    colour = (140.0 + 17.0 * tone)[..., None] * as_colour((1.0, 0.98, 0.94))
    moss = np.clip(np.linspace(-0.5, 1.1, 64)[:, None] + 0.35 * make_noise(64, 64, 1.3, 1083), 0.0, 1.0)[..., None]
    return to_texture(colour + (as_colour((92, 104, 58)) - colour) * 0.55 * moss)


@lru_cache(maxsize=1)
def make_cactus_skin() -> ByteArray:
    """Return the ribs of a cactus."""
    x = np.arange(64)
    rib = 0.62 + 0.38 * np.abs(np.sin(x / 8.0 * np.pi))
    colour = rib[None, :, None] * np.ones((64, 1, 1)) * as_colour((92, 138, 74))
    colour[::6, 4::8] = (206, 204, 160)
    return to_texture(add_grain(colour.astype(np.float32), 1051, 0.03, 0.05))


@lru_cache(maxsize=1)
def make_tools() -> ByteArray:
    """Return a pegboard with tools."""
    canvas, pen, k = draw_on(128, 64, (196, 168, 124))
    for y in range(4, 64, 6):
        for x in range(4, 128, 6):
            pen.ellipse(((x - 0.7) * k, (y - 0.7) * k, (x + 0.7) * k, (y + 0.7) * k), fill=(150, 124, 88))
    grey, red, blue, dark = (150, 154, 160), (196, 48, 42), (44, 92, 170), (52, 52, 56)
    for n, x in enumerate(range(10, 66, 11)):
        pen.rectangle(((x - 1) * k, 10 * k, (x + 1) * k, (30 + 3 * n) * k), fill=grey)
        pen.rectangle(((x - 2.4) * k, (24 + 3 * n) * k, (x + 2.4) * k, (40 + 3 * n) * k), fill=(red, blue, dark)[n % 3])
    pen.rectangle((72 * k, 14 * k, 96 * k, 20 * k), fill=dark)
    pen.rectangle((82 * k, 14 * k, 86 * k, 48 * k), fill=(172, 128, 76))
    pen.polygon([(102 * k, 12 * k), (122 * k, 24 * k), (122 * k, 36 * k), (102 * k, 28 * k)], fill=grey)
    pen.rectangle((100 * k, 40 * k, 124 * k, 56 * k), fill=red)
    return to_texture(shrink(canvas))


@lru_cache(maxsize=1)
def make_bench_front() -> ByteArray:
    """Return the drawers and the lower shelf of a work bench."""
    canvas, pen, k = draw_on(128, 64, (44, 46, 50))
    for row in range(3):
        pen.rectangle((4 * k, (2 + 20 * row) * k, 44 * k, (20 + 20 * row) * k), fill=(58, 104, 150))
        pen.rectangle((16 * k, (9 + 20 * row) * k, 32 * k, (11 + 20 * row) * k), fill=(214, 216, 218))
    for left, fill in ((52, (176, 136, 88)), (76, (150, 60, 52)), (98, (90, 120, 90))):
        pen.rectangle((left * k, 34 * k, (left + 20) * k, 58 * k), fill=fill)
    pen.rectangle((46 * k, 58 * k, 126 * k, 62 * k), fill=(170, 140, 96))
    return to_texture(shrink(canvas))


@lru_cache(maxsize=1)
def make_books() -> ByteArray:
    """Return four shelves of books, folders and boxes."""
    random = np.random.default_rng(1061)
    canvas, pen, k = draw_on(128, 128, (70, 56, 44))
    colours = (
        (176, 54, 48),
        (48, 88, 156),
        (62, 128, 84),
        (222, 196, 96),
        (216, 214, 208),
        (92, 62, 120),
        (50, 52, 58),
    )
    for shelf in range(4):
        base, x = 30 + 32 * shelf, 5.0
        pen.rectangle((0, base * k, 128 * k, (base + 2) * k), fill=(196, 164, 118))
        while x < 118.0:
            width, height = random.uniform(3.0, 8.0), random.uniform(17.0, 26.0)
            if random.random() < 0.85:
                fill = colours[int(random.integers(len(colours)))]
                pen.rectangle((x * k, (base - height) * k, (x + width - 0.6) * k, base * k), fill=fill)
            x += width
    for x in (0, 124):
        pen.rectangle((x * k, 0, (x + 4) * k, 128 * k), fill=(196, 164, 118))
    pen.rectangle((0, 0, 128 * k, 3 * k), fill=(196, 164, 118))
    return to_texture(shrink(canvas))


@lru_cache(maxsize=1)
def make_stripes() -> ByteArray:
    """Return red and white segments of an inflated arch, along v."""
    colour = np.tile(as_colour((234, 232, 228)), (64, 16, 1))
    colour[:16] = colour[32:48] = as_colour((208, 40, 36))
    return to_texture(add_grain(colour, 1071, 0.01, 0.03))


@lru_cache(maxsize=8)
def make_bridge_board(text: str, colour: tuple[int, int, int]) -> ByteArray:
    """Return a bridge's long board with a text."""
    canvas, pen, k = draw_on(512, 64, colour)
    dark = sum(colour) > 380
    ink = (26, 28, 32) if dark else (246, 246, 242)
    pen.rectangle((0, 0, 512 * k, 3 * k), fill=ink)
    pen.rectangle((0, 61 * k, 512 * k, 64 * k), fill=ink)
    size = 44.0
    while size > 12.0 and pen.textlength(text, font=ImageFont.load_default(size * k)) > 490 * k:
        size *= 0.9
    pen.text((256 * k, 32 * k), text, fill=ink, font=ImageFont.load_default(size * k), anchor="mm")
    return to_texture(shrink(canvas))
