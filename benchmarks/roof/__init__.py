"""How far a picture of 160x120 is from the least it can take: all pixels marked once and coloured by four texels.

The roof is the package's own loops over pixels with nothing around them: one triangle that covers the picture, on a
texture of 1 MB. What a picture takes more is for finding what is seen, for runs that end, and for light and shadows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.lap import LapDrive
from benchmarks.measure import Figure, measure_call
from donkeysim.core.kernel import get_formula, kernel
from donkeysim.core.types import Float32Array, IntArray, WordArray
from donkeysim.render.kernels.footprint import lay_out_level
from donkeysim.render.kernels.layout import (
    LANES,
    LIGHT_WIDTH,
    RECORD,
    RECORD_FLOATS,
    SPAN_FLOAT,
    SPAN_FLOATS,
    SPAN_INT,
    SPAN_INTS,
)
from donkeysim.render.kernels.raster import fill_rows
from donkeysim.render.kernels.shade import shade_four
from donkeysim.world.specs import CameraSpec

WIDTH, HEIGHT = 160, 120
STRIDE = WIDTH + LANES
SIDE_LOG = 9
"""Logarithm of the texture's side to base 2 [texel]."""

CARS = 64


@dataclass(frozen=True)
class Canvas:
    """A picture of one triangle, cut into spans.

    Attributes:
        pixels: Of a span.
        floats: As `spans.set_up_spans` writes them.
        ints: Likewise.
        factors: Floats of the triangle's record.
        light: Columns LIGHT.
        texel: Of its texture, shape [texel_count].
        iota: 0, 1, 2 …
        colour: Written, shape [HEIGHT * STRIDE + LANES].
        depth: Likewise, 1/w.
        ident: Likewise, which triangle it is.
        begins: First column of each row.
        stops: One behind the last.
    """

    pixels: int
    floats: Float32Array
    ints: IntArray
    factors: Float32Array
    light: Float32Array
    texel: WordArray
    iota: Float32Array
    colour: WordArray
    depth: Float32Array
    ident: WordArray
    begins: IntArray
    stops: IntArray


def make_canvas(pixels: int) -> Canvas:
    """Return a picture of the ground, a texel for each pixel, in spans of so many pixels."""
    count, columns = HEIGHT * WIDTH // pixels, np.arange(0, WIDTH, pixels, dtype=np.float32)
    row = np.repeat(np.arange(HEIGHT, dtype=np.float32), len(columns))
    column = np.tile(columns, HEIGHT)
    scale_u, scale_v, _, mask_u, mask_v = get_formula(lay_out_level)(*map(np.int32, (0, SIDE_LOG, SIDE_LOG)))
    floats, ints = np.zeros((SPAN_FLOATS, count), np.float32), np.zeros((SPAN_INTS, count), np.int32)
    # Nearer further down, and a little to the right: places on the texture times 1/w are linear on the screen.
    floats[SPAN_FLOAT.near], floats[SPAN_FLOAT.near + 1] = 0.5 + row / HEIGHT + 1e-4 * column, 1e-4
    floats[SPAN_FLOAT.u], floats[SPAN_FLOAT.u + 1] = column * scale_u, scale_u
    floats[SPAN_FLOAT.v], floats[SPAN_FLOAT.v + 1] = (row + 0.1 * column) * scale_v, 0.1 * scale_v
    ints[SPAN_INT.mask_u], ints[SPAN_INT.mask_v] = mask_u, mask_v
    ints[SPAN_INT.step_u1], ints[SPAN_INT.step_v1] = -3 * scale_u / 8, -scale_v / 8
    ints[SPAN_INT.step_u2], ints[SPAN_INT.step_v2] = scale_u / 8, -3 * scale_v / 8
    factors = np.zeros(RECORD_FLOATS, np.float32)
    factors[RECORD.factor : RECORD.factor + 3] = 0.9
    samples = HEIGHT * STRIDE + LANES
    return Canvas(
        pixels,
        floats,
        ints,
        factors,
        np.zeros(LIGHT_WIDTH, np.float32),
        np.random.default_rng(1).integers(0, 1 << 24, 1 << 2 * SIDE_LOG, np.uint32),
        np.arange(STRIDE, dtype=np.float32),
        np.zeros(samples, np.uint32),
        np.zeros(samples, np.float32),
        np.zeros(samples, np.uint32),
        np.zeros(HEIGHT, np.int32),
        np.full(HEIGHT, WIDTH, np.int32),
    )


@kernel(loose=True)
def colour_spans(
    pixels: int,
    floats: Float32Array,
    ints: IntArray,
    factors: Float32Array,
    light: Float32Array,
    texel: WordArray,
    iota: Float32Array,
    colour: WordArray,
) -> None:
    """Colour all spans of a canvas."""
    in_row = WIDTH // pixels
    for span in range(floats.shape[1]):
        target = colour[span // in_row * STRIDE + span % in_row * pixels :]
        shade_four(span, pixels, floats, ints, factors, light, texel, iota, target)


@kernel(loose=True)
def mark_rows(
    depth: Float32Array, ident: WordArray, begins: IntArray, stops: IntArray, iota: Float32Array, number: int
) -> None:
    """Mark all pixels of a canvas with a number."""
    plane = (np.float32(0.0), np.float32(0.01), np.float32(0.5))
    depth[:] = np.float32(0.0)
    fill_rows(0, HEIGHT, plane, STRIDE, np.uint32(number), begins, stops, depth, ident, iota)


def colour(canvas: Canvas) -> None:
    """Colour a canvas."""
    kept = canvas.factors, canvas.light, canvas.texel, canvas.iota, canvas.colour
    colour_spans(canvas.pixels, canvas.floats, canvas.ints, *kept)


def mark(canvas: Canvas) -> None:
    """Mark all pixels of a canvas."""
    mark_rows(canvas.depth, canvas.ident, canvas.begins, canvas.stops, canvas.iota, 7)


def run() -> list[Figure]:
    """Measure the roof, and pictures of generated_track beside it."""
    whole, short = make_canvas(WIDTH), make_canvas(LANES)
    drive = LapDrive(CARS, CameraSpec())
    works: dict[str, tuple[Callable[[], object], int]] = {
        "four texels a pixel, in whole rows": (lambda: colour(whole), 1),
        f"the same in runs of {LANES}": (lambda: colour(short), 1),
        "every pixel marked once": (lambda: mark(whole), 1),
        f"a picture of generated_track, {CARS} cars": (drive.simulator.render, CARS),
    }
    taken = {}
    for name, (work, count) in works.items():
        median, least = measure_call(work, 2.0)
        taken[name] = 1e6 * median / count, 1e6 * least / count
    texels, _, marks, picture = (median for median, _ in taken.values())
    figures = [Figure("roof", name, median, least, "µs") for name, (median, least) in taken.items()]
    share = 100.0 * (texels + marks) / picture
    note = "of a picture's time; what is seen, ends of runs, light and shadows are the rest"
    return [*figures, Figure("roof", "whole rows and marks", share, share, "%", None, note)]
