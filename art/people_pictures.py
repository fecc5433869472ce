"""Flat pictures of people who stand about, seen from the front, all else holes; v = 0 is the top."""

from __future__ import annotations

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
    _draw_leg(canvas, trousers, ((46, 256), (66, 256), (58, 380), (40, 470), (24, 466), (38, 376)), (14, 466, 42, 490))
    dark = (56, 58, 70, 255)
    _draw_leg(canvas, dark, ((62, 256), (86, 256), (92, 372), (94, 486), (76, 486), (72, 376)), (72, 480, 104, 502))
    canvas.fill_polygon(jacket, (38, 96), (92, 96), (100, 140), (94, 274), (36, 274), (28, 140))
    canvas.fill_polygon(shirt, (56, 92), (76, 92), (70, 190), (62, 190))
    canvas.fill_polygon((60, 62, 76, 255), (64, 96), (70, 96), (68, 176), (65, 176))
    sleeve = (98, 98, 104, 255)
    canvas.fill_polygon(sleeve, (30, 108), (42, 112), (38, 186), (30, 250), (18, 246), (22, 180))
    canvas.fill_polygon(sleeve, (90, 110), (100, 112), (112, 180), (106, 238), (94, 236), (98, 182))
    canvas.fill_polygon((50, 46, 44, 255), (40, 92), (46, 92), (98, 236), (92, 240))
    canvas.fill_round((54, 50, 48, 255), (82, 222, 114, 270))
    canvas.fill_round(SKIN, (16, 242, 32, 268), (94, 232, 108, 256))
    _draw_head(canvas, (62, 52, 44, 255), beard=False)


def _draw_standing(canvas: Canvas) -> None:
    jeans, shirt, vest = (96, 104, 132, 255), (196, 190, 190, 255), (148, 140, 134, 255)
    _draw_leg(canvas, jeans, ((42, 262), (66, 262), (62, 380), (60, 484), (42, 484), (42, 380)), (34, 478, 62, 502))
    _draw_leg(canvas, jeans, ((62, 262), (88, 262), (88, 380), (88, 484), (70, 484), (66, 380)), (68, 478, 98, 502))
    canvas.fill_polygon(shirt, (36, 98), (92, 98), (98, 140), (92, 270), (38, 270), (30, 140))
    canvas.fill_polygon(vest, (38, 98), (58, 96), (60, 268), (38, 270), (34, 150))
    canvas.fill_polygon(vest, (90, 98), (70, 96), (70, 268), (92, 270), (95, 150))
    canvas.fill((70, 56, 46, 255), (40, 262, 90, 270))
    canvas.fill_polygon(shirt, (30, 108), (42, 112), (40, 190), (30, 262), (18, 258), (22, 184))
    canvas.fill_round(SKIN, (16, 254, 32, 280))
    canvas.fill_polygon(shirt, (90, 108), (102, 116), (112, 186), (76, 206), (68, 194), (94, 172))
    canvas.fill_polygon((238, 236, 228, 255), (56, 172), (74, 172), (71, 206), (59, 206))
    canvas.fill((122, 84, 58, 255), (57, 182, 73, 194))
    canvas.fill_round(SKIN, (58, 184, 80, 208))
    _draw_head(canvas, (92, 66, 46, 255), beard=True)


def _draw_leg(
    canvas: Canvas, paint: Paint, outline: tuple[Point, ...], shoe: tuple[float, float, float, float]
) -> None:
    canvas.fill_polygon(paint, *outline)
    canvas.fill_round((44, 40, 38, 255), shoe)


def _draw_head(canvas: Canvas, hair: Paint, *, beard: bool) -> None:
    """Draw neck, face and hair, the chin at row 84."""
    canvas.fill((176, 130, 106, 255), (56, 74, 74, 100))
    canvas.fill_round(hair, (44, 8, 86, 66))
    canvas.fill_round(SKIN, (47, 20, 83, 86))
    canvas.fill_round(hair, (45, 8, 85, 36))
    if beard:
        canvas.fill_polygon(hair, (47, 56), (56, 66), (74, 66), (83, 56), (80, 78), (65, 92), (50, 78))
    dark = (60, 46, 42, 255)
    for middle in (57, 73):
        canvas.fill_round(dark, (middle - 3, 46, middle + 3, 51))
        canvas.fill(hair, (middle - 5, 40, middle + 5, 42))
    canvas.fill((166, 116, 96, 255), (63, 50, 67, 62))
    canvas.fill((140, 78, 72, 255), (58, 70, 72, 73))


def _finish(draw: Callable[[Canvas], None], seed: int) -> ByteArray:
    """Return what a function draws, rounded by light from the upper left, with folds and grain."""
    canvas = Canvas(*SIZE, (90, 88, 88, 0))
    draw(canvas)
    colour = canvas.shrink()
    colour[..., :3] *= _shade_body(colour)[..., None]
    return to_texture(add_grain(colour, seed, 0.03, 0.05))


def _shade_body(colour: Float32Array) -> Float32Array:
    """Return how much light falls on a figure: less at its outline and at the edges of its parts, more from the left."""
    solid = Image.fromarray(np.asarray(colour[..., 3], np.uint8))
    round_off = np.asarray(solid.filter(ImageFilter.GaussianBlur(7.0)), np.float32) / 255.0
    tone = Image.fromarray(np.asarray(colour[..., :3].mean(axis=2), np.uint8))
    soft = np.asarray(tone.filter(ImageFilter.GaussianBlur(5.0)), np.float32)
    edge = np.clip(np.abs(np.asarray(tone, np.float32) - soft) / 90.0, 0.0, 0.35)
    from_left = np.roll(round_off, -5, axis=1) - np.roll(round_off, 5, axis=1)
    return np.asarray(0.62 + 0.48 * round_off + 0.35 * from_left - edge, np.float32)
