"""Walls drawn in metres: a canvas whose places are counted from a wall's left end and from its foot."""

import numpy as np
from PIL import Image, ImageFilter

from art.canvas import Canvas, Paint, Point, add_grain
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.world.tracks.textures import make_noise, to_texture

STEP = 3.0
"""Levels between two tones of a large picture: nobody sees it, and files are a third smaller."""

Area = tuple[float, float, float, float]
"""Left, foot, right, top [m]."""


class Elevation:
    """The picture of a wall under way; places are (from the left end, above the foot) [m]."""

    def __init__(self, length: float, height: float, width: int, rows: int, paint: Paint) -> None:
        self.length, self.height = length, height
        self._across, self._up, self._rows = width / length, rows / height, rows
        self._canvas = Canvas(width, rows, paint)

    def fill(self, paint: Paint, *areas: Area) -> None:
        """Paint rectangles."""
        for left, low, right, top in areas:
            (x, y), (u, v) = self._place(left, top), self._place(right, low)
            self._canvas.fill_inside(paint, (x, y, max(u, x + 0.25), max(v, y + 0.25)))

    def fade(self, above: Paint, below: Paint, area: Area) -> None:
        """Paint a rectangle whose colour changes from its top to its foot, two texels at a time."""
        left, low, right, top = area
        steps = max(2, round(0.5 * (top - low) * self._up))
        stripe = (top - low) / steps
        for step in range(steps):
            share = step / (steps - 1)
            paint = tuple(round(a + share * (b - a)) for a, b in zip(above, below, strict=True))
            edge = top - stripe * step
            self.fill(paint, (left, max(low, edge - 2.0 * stripe), right, edge))  # the next one covers the lower half

    def disc(self, paint: Paint, middle: Point, across: float, up: float) -> None:
        """Paint an ellipse of a width and a height."""
        (x, y), (u, v) = (self._place(middle[0] + s * across / 2, middle[1] - s * up / 2) for s in (-1.0, 1.0))
        self._canvas.fill_round(paint, (x, y, u, v))

    def shape(self, paint: Paint, *points: Point) -> None:
        """Paint what corners enclose."""
        self._canvas.fill_polygon(paint, *(self._place(*point) for point in points))

    def line(self, paint: Paint, width: float, *points: Point) -> None:
        """Draw a line through points; its width in texels."""
        self._canvas.draw_line(paint, width, *(self._place(*point) for point in points))

    def write(self, paint: Paint, text: str, middle: Point, size: float) -> None:
        """Write a text in letters of a size [m]."""
        self._canvas.write(paint, text, self._place(*middle), size * self._up)

    def finish(self, seed: int, *, soft: float = 0.7, glow: float = 0.0, grain: float = 0.02) -> ByteArray:
        """Return the picture as a camera would have taken it: a little soft, bright parts aglow, with grain.

        Args:
            seed: Of the grain.
            soft: How far edges are blurred [texel].
            glow: Share of the light of bright parts that spreads around them.
            grain: Strength of the grain.
        """
        colour = _blur(self._canvas.shrink(), soft)
        if glow > 0.0:
            colour += glow * _blur(np.clip(colour - 150.0, 0.0, 105.0), 0.03 * self._rows)
        return to_texture(add_grain(colour, seed, grain, 0.6 * grain))

    def _place(self, x: float, z: float) -> Point:
        return x * self._across, self._rows - z * self._up


def _blur(colour: Float32Array, radius: float) -> Float32Array:
    picture = Image.fromarray(np.clip(colour + 0.5, 0.0, 255.0).astype(np.uint8))
    return np.asarray(picture.filter(ImageFilter.GaussianBlur(radius)), np.float32)


def shade(paint: Paint, share: float) -> Paint:
    """Return a lighter or darker paint."""
    return tuple(min(255, int(channel * share)) for channel in paint)


def draw_folds(colour: ByteArray, seed: int, strength: float, across: float) -> ByteArray:
    """Return a picture with upright folds of cloth, one in about so many texels."""
    rows, columns = colour.shape[:2]
    fold = make_noise(8, columns, 0.6, seed, finest=0.4 * across, coarsest=3.0 * across)
    tall = np.asarray(Image.fromarray(fold).resize((columns, rows), Image.Resampling.BICUBIC))
    return to_texture(STEP * np.round(colour[..., :3] * (1.0 + strength * tall)[..., None] / STEP))
