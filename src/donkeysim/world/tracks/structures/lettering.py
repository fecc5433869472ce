"""Pictures with a text that the track's file gives: banners, bridges' boards, halls' signs."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from donkeysim.core.types import ByteArray

FINE = 4
"""Boards and signs are drawn this many times larger, so that edges come out smooth."""


def make_banner(text: str) -> ByteArray:
    """Return yellow letters on dark cloth between two chequered ends."""
    width, height = 512, 64
    picture = Image.new("RGB", (width, height), (26, 32, 44))
    draw = ImageDraw.Draw(picture)
    square = height // 4
    for row in range(4):
        for column in range(6):
            tone = (240, 240, 236) if (row + column) % 2 else (18, 18, 20)
            for left in (column * square, width - (column + 1) * square):
                draw.rectangle((left, row * square, left + square - 1, (row + 1) * square - 1), fill=tone)
    font = ImageFont.load_default(size=0.72 * height)
    draw.text((width / 2, height / 2), text, fill=(250, 214, 60), font=font, anchor="mm", stroke_width=1)
    return np.array(picture.convert("RGBA"))


def make_bridge_board(text: str, colour: tuple[int, int, int]) -> ByteArray:
    """Return a bridge's long board with a text."""
    ink = (26, 28, 32) if sum(colour) > 380 else (246, 246, 242)
    picture = Image.new("RGB", (512 * FINE, 64 * FINE), colour)
    draw = ImageDraw.Draw(picture)
    for top, bottom in ((0, 3), (61, 64)):
        draw.rectangle((0, FINE * top, FINE * 512, FINE * bottom), fill=ink)
    return _write(picture, text, ink, 44.0, 12.0, 490.0)


def make_sign(text: str) -> ByteArray:
    """Return large letters on a dark board, four times as wide as high."""
    picture = Image.new("RGB", (512 * FINE, 128 * FINE), (28, 58, 92))
    frame = (6 * FINE, 6 * FINE, 506 * FINE, 122 * FINE)
    ImageDraw.Draw(picture).rectangle(frame, outline=(230, 232, 234), width=3 * FINE)
    return _write(picture, text, (244, 244, 240), 84.0, 20.0, 470.0)


def _write(
    picture: Image.Image, text: str, ink: tuple[int, int, int], size: float, least: float, longest: float
) -> ByteArray:
    """Return a picture with a text about its middle, in letters made smaller down to a least size [texel]."""
    draw = ImageDraw.Draw(picture)
    while size > least and draw.textlength(text, ImageFont.load_default(size * FINE)) > longest * FINE:
        size *= 0.9
    middle = (0.5 * picture.width, 0.5 * picture.height)
    draw.text(middle, text, fill=ink, font=ImageFont.load_default(size * FINE), anchor="mm")
    return np.array(picture.reduce(FINE).convert("RGBA"))
