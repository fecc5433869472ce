"""Drawn pictures: canvases whose places are in texels, drawn finer so that edges come out smooth."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.tracks.textures import make_noise, to_texture

FINE = 4
"""Pictures with edges are drawn this many times larger."""

Paint: TypeAlias = tuple[int, ...]
"""sRGB 0 to 255, and alpha on a canvas with holes."""

Box: TypeAlias = Sequence[float]
"""Left, top, right, bottom [texel]."""

Point: TypeAlias = tuple[float, float]
"""From the left, from the top [texel]."""


class Canvas:
    """A picture under way."""

    def __init__(self, width: int, height: int, paint: Paint) -> None:
        self._picture = Image.new("RGBA" if len(paint) == 4 else "RGB", (width * FINE, height * FINE), paint)
        self._pen = ImageDraw.Draw(self._picture)

    def fill(self, paint: Paint, *boxes: Box) -> None:
        """Paint boxes, their edges included."""
        for box in boxes:
            self._pen.rectangle([FINE * side for side in box], fill=paint)

    def fill_inside(self, paint: Paint, *boxes: Box) -> None:
        """Paint boxes up to their right and lower edges, so that the next one begins there."""
        for left, top, right, bottom in boxes:
            self._pen.rectangle((FINE * left, FINE * top, FINE * right - 1, FINE * bottom - 1), fill=paint)

    def fill_round(self, paint: Paint, *boxes: Box) -> None:
        """Paint the ellipses inside boxes."""
        for box in boxes:
            self._pen.ellipse([FINE * side for side in box], fill=paint)

    def fill_polygon(self, paint: Paint, *points: Point) -> None:
        """Paint what corners enclose."""
        self._pen.polygon(_magnify(points), fill=paint)

    def draw_line(self, paint: Paint, width: float, *points: Point) -> None:
        """Draw a line through points, its width in texels."""
        self._pen.line(_magnify(points), fill=paint, width=int(FINE * width))

    def draw_frame(self, paint: Paint, width: float, box: Box) -> None:
        """Draw the edges of a box, their width in texels."""
        self._pen.rectangle([FINE * side for side in box], outline=paint, width=int(FINE * width))

    def write(self, paint: Paint, text: str, middle: Point, size: float) -> None:
        """Write a text about a point, in letters of a size [texel]."""
        font = ImageFont.load_default(size * FINE)
        self._pen.text(_magnify([middle])[0], text, fill=paint, font=font, anchor="mm")

    def shrink(self) -> Float32Array:
        """Return the picture at its texture's size, 0 to 255."""
        return np.asarray(self._picture.reduce(FINE), np.float32)

    def finish(self, seed: int = 0, fine: float = 0.0, broad: float = 0.0) -> ByteArray:
        """Return the texture, with noise as `add_grain` adds it where a strength is above 0."""
        colour = self.shrink()
        return to_texture(add_grain(colour, seed, fine, broad) if fine or broad else colour)


def add_grain(colour: Float32Array, seed: int, fine: float, broad: float) -> Float32Array:
    """Return colours with fine and broad noise of these strengths [share of 1]."""
    height, width = colour.shape[:2]
    grain = 1.0 + fine * make_noise(height, width, 0.3, seed, finest=1.5)
    grain += broad * make_noise(height, width, 1.4, seed + 1, finest=4.0)
    result = colour.copy()
    result[..., :3] *= grain[..., None]
    return result


def _magnify(points: Sequence[Point]) -> list[Point]:
    return [(FINE * x, FINE * y) for x, y in points]
