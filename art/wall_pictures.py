"""Pictures of walls, rails and barriers, made by computation; u runs along the wall, v = 0 is its top.

Sides are powers of two; where a picture has several parts, they lie above one another and are named by shares of v.
"""

import numpy as np

from art.canvas import Canvas, Paint, add_grain
from art.leaf_pictures import make_foliage
from donkeysim.core.types import ByteArray
from donkeysim.world.tracks.textures import as_colour, blend_colours, make_noise, to_texture


def make_concrete() -> ByteArray:
    """Return two concrete panels, stained from above and dirty at the foot; the lowest eighth is their top."""
    canvas = Canvas(256, 128, (176, 174, 168))
    for u in (0, 128):
        canvas.fill((112, 111, 108), (u, 0, u + 2, 112))
        for y in (26, 80):
            for x in (32, 96):
                canvas.fill_round((128, 126, 122), (u + x, y, u + x + 3, y + 3))
    canvas.fill((196, 194, 188), (0, 112, 256, 128))
    colour = add_grain(canvas.shrink(), 801, 0.025, 0.05)
    row = np.arange(128)[:, None]
    streak = np.clip(make_noise(32, 256, 0.8, 803)[:1], 0.0, 2.0) * np.clip(1.0 - row / 70.0, 0.0, 1.0)
    foot = np.clip((row - 84) / 28.0, 0.0, 1.0) * (row < 112)
    return to_texture(colour * (1.0 - 0.10 * streak - 0.28 * foot)[..., None])


def make_bricks() -> ByteArray:
    """Return sixteen courses of red bricks, four in a row."""
    canvas = Canvas(256, 256, (168, 158, 146))
    random = np.random.default_rng(811)
    for course in range(16):
        for brick in range(-1, 4):
            left, top = brick * 64 + 32 * (course % 2), course * 16
            tone, hue = random.normal(0.0, 0.10), random.normal(0.0, 7.0)
            fill = tuple(int(c * (1.0 + tone)) for c in (158 + hue, 82 - 0.4 * hue, 62 - 0.6 * hue))
            for x in (left, left + 256):
                canvas.fill(fill, (x + 1.5, top + 1, x + 62.5, top + 15))
    return canvas.finish(812, 0.06, 0.05)


def make_rail() -> ByteArray:
    """Return a steel W-beam: two ridges with light above and shade below, a joint with bolts at every end."""
    v = np.arange(32) / 32.0
    shade = 168.0 + 44.0 * np.cos(4.0 * np.pi * (v - 0.10)) - 26.0 * v
    colour = np.repeat(np.repeat(shade[:, None, None], 128, axis=1), 3, axis=2) * as_colour((0.97, 1.0, 1.03))
    colour[:, :2] *= 0.7
    for y in (6, 8, 22, 24):
        for x in (5, 10, 118, 123):
            colour[y : y + 2, x : x + 2] *= 0.62
    return to_texture(add_grain(colour.astype(np.float32), 821, 0.03, 0.05))


def make_posts() -> ByteArray:
    """Return the posts under a rail, two to a length, all else holes."""
    colour = np.zeros((32, 128, 4), np.float32)
    colour[..., :3] = (122, 124, 126)
    for left in (28, 92):
        colour[:, left : left + 8, :3] = (146, 148, 150)
        colour[:, left + 5 : left + 8, :3] = (92, 94, 96)
        colour[:, left : left + 8, 3] = 255
    colour[20:, :, :3] *= 0.8
    return to_texture(colour)


def make_railing() -> ByteArray:
    """Return a panel of a metal railing: a rail above and below, bars between, a post at its end."""
    canvas = Canvas(128, 128, (120, 124, 128, 0))
    steel, dark = (186, 190, 194, 255), (128, 132, 136, 255)
    for x in range(8, 128, 16):
        canvas.fill(dark, (x, 8, x + 3.5, 118))
        canvas.fill(steel, (x, 8, x + 2, 118))
    for y in (2, 106):
        canvas.fill(steel, (0, y, 128, y + 8))
        canvas.fill(dark, (0, y + 5, 128, y + 8))
    canvas.fill(steel, (0, 0, 7, 128))
    canvas.fill(dark, (5, 0, 7, 128))
    return canvas.finish()


def make_barrier() -> ByteArray:
    """Return a red and a white barrier block with dark joints and a reflecting stripe."""
    canvas = Canvas(128, 64, (206, 44, 36))
    canvas.fill((232, 230, 224), (64, 0, 128, 64))
    for u, stripe in ((0, (240, 232, 226)), (64, (206, 52, 44))):
        canvas.fill(stripe, (u + 10, 16, u + 54, 23))
        canvas.fill((48, 40, 38), (u + 14, 54, u + 24, 64), (u + 40, 54, u + 50, 64))
        canvas.fill((66, 50, 48), (u - 1.5, 0, u + 1.5, 64))
    canvas.fill((66, 50, 48), (126.5, 0, 128, 64))
    colour = add_grain(canvas.shrink(), 831, 0.02, 0.04)
    return to_texture(colour * np.linspace(1.06, 0.80, 64, dtype=np.float32)[:, None, None])


def make_tyre_stacks() -> ByteArray:
    """Return four stacks of three tyres, two of them painted; the lowest quarter is their top."""
    colour = np.zeros((128, 256, 3), np.float32)
    paints = ((52, 52, 54), (206, 202, 194), (48, 48, 50), (190, 48, 40))
    row = np.arange(96)
    height = np.abs(((row + 0.5) % 32.0) / 16.0 - 1.0)
    rib = np.sqrt(np.clip(1.0 - height**4, 0.0, 1.0)) * np.where(height < 0.93, 1.0, 0.25)
    tread = np.where(height < 0.62, 1.0 - 0.45 * (row % 4 < 1), 0.82)
    for stack, paint in enumerate(paints):
        x = (np.arange(64) + 0.5) / 32.0 - 1.0
        round_ = np.sqrt(np.clip(1.0 - 0.94 * x * x, 0.0, 1.0))
        part = (0.20 + 0.8 * rib * tread)[:, None] * (0.25 + 0.75 * round_)[None, :]
        colour[:96, stack * 64 : stack * 64 + 64] = part[..., None] * as_colour(paint)
        yy, xx = (np.mgrid[0:32, 0:64] + 0.5) / np.array([16.0, 32.0])[:, None, None] - 1.0
        ring = np.hypot(xx, yy)
        top = np.where(ring > 0.98, 0.25, np.where(ring > 0.45, 0.9, 0.12))
        colour[96:, stack * 64 : stack * 64 + 64] = top[..., None] * as_colour(paint)
    return to_texture(add_grain(colour + 6.0, 841, 0.05, 0.04))


def _mix(paint: Paint, change: tuple[int, int, int]) -> Paint:
    return tuple(c + more for c, more in zip(paint, change, strict=True))


def make_straw(stalk: Paint = (200, 166, 92)) -> ByteArray:
    """Return a bale's side in its upper half, strings across it, and its end with cut stalks in the lower half."""
    random = np.random.default_rng(851)
    shadow = tuple(round(c * share) for c, share in zip(stalk, (0.85, 0.83, 0.76), strict=True))
    canvas = Canvas(128, 128, shadow)
    for _ in range(1500):
        x, y = random.uniform(0, 128), random.uniform(0, 64)
        length, slope, tone = random.uniform(5, 22), random.normal(0.0, 0.16), random.normal(0.0, 0.17)
        fill = tuple(int(np.clip(c * (1.0 + tone), 0, 255)) for c in stalk)
        for shift in (0, -128):
            canvas.draw_line(fill, 1.25, (x + shift, y), (x + length + shift, y + slope * length))
    canvas.fill(_mix(shadow, (-6, -6, -2)), (0, 64, 128, 128))
    for _ in range(1100):
        x, y, reach = random.uniform(0, 128), random.uniform(64, 128), random.uniform(0.7, 1.9)
        tone = random.normal(0.0, 0.2)
        fill = tuple(int(np.clip(c * (1.0 + tone), 0, 255)) for c in _mix(stalk, (2, 4, 6)))
        canvas.fill_round(fill, (x - reach, y - reach, x + reach, y + reach))
    colour = canvas.shrink()
    colour[[20, 21, 42, 43]] *= 0.62
    colour[64:, [36, 37, 90, 91]] *= 0.66
    edge = np.minimum(np.arange(64), 63 - np.arange(64))
    colour *= np.tile(0.72 + 0.28 * np.clip(edge / 7.0, 0.0, 1.0), 2)[:, None, None].astype(np.float32)
    return to_texture(add_grain(colour, 852, 0.05, 0.05))


def make_kerb() -> ByteArray:
    """Return a kerb of red and white stones."""
    colour = np.tile(as_colour((224, 222, 216)), (16, 64, 1))
    colour[:, :32] = (198, 46, 38)
    colour[:, [0, 31, 32, 63]] *= 0.8
    return to_texture(add_grain(colour, 861, 0.03, 0.05))


def make_hedge() -> ByteArray:
    """Return the clipped leaves of a hedge, light above."""
    return make_foliage((30, 60, 26), (98, 140, 58), 7.0, 871, 256)


def make_low_hedge() -> ByteArray:
    """Return the leaves of low plants in the sun."""
    return make_foliage((52, 94, 10), (122, 184, 34), 9.0, 875, 128)


def make_fence() -> ByteArray:
    """Return wire mesh between posts, holes between its wires."""
    size = 128
    y, x = np.mgrid[0:size, 0:size] + 0.5
    mesh = np.minimum((x + y) % 16.0, (x - y) % 16.0)
    mesh = np.minimum(mesh, 16.0 - np.maximum((x + y) % 16.0, (x - y) % 16.0))
    colour = np.zeros((size, size, 4), np.float32)
    colour[..., :3] = (150, 156, 154)
    colour[..., 3] = np.clip(2.0 - mesh, 0.0, 1.0) * 255.0
    for rows, columns in ((slice(0, 6), slice(None)), (slice(None), slice(0, 6))):
        colour[rows, columns] = (112, 118, 116, 255)
    return to_texture(colour)


def make_rock_face() -> ByteArray:
    """Return layered rock with cracks and ledges where something grows."""
    size = 256
    layers = make_noise(size * 4, size, 1.1, 881, finest=2.0)[::4] * 0.5
    layers += 0.8 * make_noise(size, size * 4, 1.2, 882, finest=3.0)[:, ::4]
    rough = make_noise(size, size, 0.9, 883, finest=1.6)
    colour = blend_colours(
        0.8 * layers + 0.6 * rough,
        ((-2.4, (64, 58, 54)), (-0.6, (116, 108, 98)), (0.7, (152, 142, 128)), (2.4, (186, 176, 160))),
    )
    crack = np.clip(0.16 - np.abs(make_noise(size, size, 1.3, 884, finest=3.0)), 0.0, 0.16) / 0.16
    moss = np.clip(make_noise(size, size, 1.5, 885, finest=6.0) - 1.1, 0.0, 1.0)[..., None]
    colour *= (1.0 - 0.42 * crack)[..., None]
    return to_texture(colour + (as_colour((92, 104, 56)) - colour) * 0.7 * moss)


def make_board() -> ByteArray:
    """Return planed boards, their grain along u."""
    grain = make_noise(64, 1024, 0.9, 891, finest=1.5)[:, ::4]
    rings = make_noise(64, 2048, 1.3, 892, finest=4.0)[:, ::8]
    colour = blend_colours(
        0.6 * grain + 0.7 * rings, ((-2.0, (150, 112, 70)), (0.0, (190, 150, 100)), (2.0, (216, 182, 134)))
    )
    colour[:, :2] *= 0.55
    return to_texture(colour)
