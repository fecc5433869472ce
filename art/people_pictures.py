"""Flat pictures of people who stand about, seen from the front, all else holes; v = 0 is the top."""

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageFilter

from art.canvas import Canvas, Paint, Point, add_grain
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.tracks.textures import to_texture

SIZE = (128, 512)
"""Width and height of a picture [texel]: a man of 1.85 m in 0.46 m."""

SKIN: Paint = (196, 150, 124, 255)


def make_man_walking() -> ByteArray:
    """Return a man in a grey jacket in the middle of a step, a bag over his shoulder."""
    return _finish(_draw_walking, 1401)


def make_man_with_coffee() -> ByteArray:
    """Return a man in a pale shirt with a beard who holds a cup before him."""
    return _finish(_draw_standing, 1403)


def _draw_walking(canvas: Canvas) -> None:
    trousers, jacket, shirt = (70, 72, 84, 255), (112, 112, 116, 255), (178, 176, 176, 255)
    _draw_leg(canvas, trousers, ((42, 256), (66, 256), (57, 380), (35, 470), (15, 466), (32, 376)), (3, 466, 37, 490))
    dark = (56, 58, 70, 255)
    _draw_leg(canvas, dark, ((62, 256), (91, 256), (98, 372), (101, 486), (79, 486), (74, 376)), (74, 480, 113, 502))
    canvas.fill_polygon(jacket, (32, 96), (98, 96), (108, 140), (101, 274), (30, 274), (20, 140))
    canvas.fill_polygon(shirt, (54, 92), (79, 92), (71, 190), (62, 190))
    canvas.fill_polygon((60, 62, 76, 255), (64, 96), (71, 96), (69, 176), (65, 176))
    sleeve = (98, 98, 104, 255)
    canvas.fill_polygon(sleeve, (23, 108), (37, 112), (32, 186), (23, 250), (8, 246), (13, 180))
    canvas.fill_polygon(sleeve, (96, 110), (108, 112), (123, 180), (115, 238), (101, 236), (105, 182))
    canvas.fill_polygon((50, 46, 44, 255), (35, 92), (42, 92), (105, 236), (98, 240))
    canvas.fill_round((54, 50, 48, 255), (86, 222, 125, 270))
    canvas.fill_round(SKIN, (5, 242, 25, 268), (101, 232, 118, 256))
    _draw_head(canvas, (62, 52, 44, 255), beard=False)


def _draw_standing(canvas: Canvas) -> None:
    jeans, shirt, vest = (96, 104, 132, 255), (196, 190, 190, 255), (148, 140, 134, 255)
    _draw_leg(canvas, jeans, ((37, 262), (66, 262), (62, 380), (59, 484), (37, 484), (37, 380)), (27, 478, 62, 502))
    _draw_leg(canvas, jeans, ((62, 262), (93, 262), (93, 380), (93, 484), (71, 484), (66, 380)), (69, 478, 105, 502))
    canvas.fill_polygon(shirt, (30, 98), (98, 98), (105, 140), (98, 270), (32, 270), (23, 140))
    canvas.fill_polygon(vest, (32, 98), (57, 96), (59, 268), (32, 270), (27, 150))
    canvas.fill_polygon(vest, (96, 98), (71, 96), (71, 268), (98, 270), (102, 150))
    canvas.fill((70, 56, 46, 255), (35, 262, 96, 270))
    canvas.fill_polygon(shirt, (23, 108), (37, 112), (35, 190), (23, 262), (8, 258), (13, 184))
    canvas.fill_round(SKIN, (5, 254, 25, 280))
    canvas.fill_polygon(shirt, (96, 108), (110, 116), (123, 186), (79, 206), (69, 194), (101, 172))
    canvas.fill_polygon((238, 236, 228, 255), (54, 172), (76, 172), (73, 206), (58, 206))
    canvas.fill((122, 84, 58, 255), (55, 182, 75, 194))
    canvas.fill_round(SKIN, (57, 184, 84, 208))
    _draw_head(canvas, (92, 66, 46, 255), beard=True)


def _draw_leg(
    canvas: Canvas, paint: Paint, outline: tuple[Point, ...], shoe: tuple[float, float, float, float]
) -> None:
    canvas.fill_polygon(paint, *outline)
    canvas.fill_round((44, 40, 38, 255), shoe)


def _draw_head(canvas: Canvas, hair: Paint, *, beard: bool) -> None:
    """Draw neck, face and hair, the chin at row 80."""
    canvas.fill((176, 130, 106, 255), (53, 68, 75, 100))
    canvas.fill_round(hair, (39, 8, 89, 62))
    canvas.fill_round(SKIN, (42, 16, 86, 80))
    canvas.fill_round(hair, (40, 8, 88, 34))
    if beard:
        canvas.fill_polygon(hair, (42, 50), (54, 60), (74, 60), (86, 50), (82, 72), (64, 86), (46, 72))
    dark = (60, 46, 42, 255)
    for middle in (55, 73):
        canvas.fill_round(dark, (middle - 3, 42, middle + 3, 46))
        canvas.fill(hair, (middle - 6, 36, middle + 6, 38))
    canvas.fill((170, 122, 100, 255), (62, 45, 66, 56))
    canvas.fill((146, 84, 76, 255), (56, 64, 72, 67))


def _finish(draw: Callable[[Canvas], None], seed: int) -> ByteArray:
    """Return what a function draws, rounded by light from the upper left, with folds and grain."""
    canvas = Canvas(*SIZE, (90, 88, 88, 0))
    draw(canvas)
    colour = canvas.shrink()
    colour[..., :3] *= _shade_body(colour)[..., None]
    return to_texture(add_grain(colour, seed, 0.03, 0.05))


def _shade_body(colour: Float32Array) -> Float32Array:
    """Return how much light falls on a figure: less at its outline and at its parts' edges, more from the left."""
    solid = Image.fromarray(np.asarray(colour[..., 3], np.uint8))
    round_off = np.asarray(solid.filter(ImageFilter.GaussianBlur(7.0)), np.float32) / 255.0
    tone = Image.fromarray(np.asarray(colour[..., :3].mean(axis=2), np.uint8))
    soft = np.asarray(tone.filter(ImageFilter.GaussianBlur(5.0)), np.float32)
    edge = np.clip(np.abs(np.asarray(tone, np.float32) - soft) / 90.0, 0.0, 0.35)
    from_left = np.roll(round_off, -5, axis=1) - np.roll(round_off, 5, axis=1)
    return np.asarray(0.62 + 0.48 * round_off + 0.35 * from_left - edge, np.float32)
