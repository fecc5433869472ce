"""Draws what differs from car to car and from reset to reset, into tables that kernels here and on a GPU read."""

from typing import NamedTuple

import numpy as np

from donkeysim.core.kernel import index_kernel
from donkeysim.core.rng import draw_uniform
from donkeysim.core.types import ByteArray, FloatArray, IntArray, LongArray
from donkeysim.world.randomization import Knob, list_rests

STREAM = 1 << 22
"""First of the streams of random numbers that values are drawn from."""

NOISE_STREAM, PATTERN_STREAM = STREAM + (1 << 12) + 2, STREAM + (1 << 12) + 3
"""Streams of the noise of each picture and of the shape of patches."""


class KnobTable(NamedTuple):
    """What is drawn."""

    column: LongArray
    """Of `Drawn.value`, also the stream of its random numbers, shape [knob_count]."""
    low: FloatArray
    """Least value, shape [knob_count]."""
    span: FloatArray
    """From the least to the greatest, shape [knob_count]."""
    is_whole: ByteArray
    """Whether it is rounded, shape [knob_count]."""


class Drawn(NamedTuple):
    """Values of all cars. Written by `kernels.draw.draw_values`."""

    key: LongArray
    """Of the world's random numbers, when the car's values were drawn, shape [car_count]."""
    reset: LongArray
    """How often the car had been reset then, shape [car_count]; -1: nothing has been drawn."""
    fresh: ByteArray
    """Whether values were drawn in the last run, shape [car_count]."""
    serial: LongArray
    """How often values have been drawn, shape [car_count]."""
    value: FloatArray
    """A column for everything that may be drawn (`randomization.find_column`), shape [car_count, value_count]."""


def make_knobs(knobs: tuple[Knob, ...]) -> KnobTable:
    """Return the table of what is drawn."""
    return KnobTable(
        column=np.array([knob.stream for knob in knobs], np.int64),
        low=np.array([knob.low for knob in knobs], np.float64),
        span=np.array([knob.high - knob.low for knob in knobs], np.float64),
        is_whole=np.array([knob.name == "picture.jpeg_quality" for knob in knobs], np.uint8),
    )


def make_drawn(car_count: int) -> Drawn:
    """Return rows of cars for which nothing has been drawn: all values are at rest."""
    return Drawn(
        key=np.zeros(car_count, np.int64),
        reset=np.full(car_count, -1, np.int64),
        fresh=np.zeros(car_count, np.uint8),
        serial=np.zeros(car_count, np.int64),
        value=np.tile(np.array(list_rests()), (car_count, 1)),
    )


@index_kernel
def draw_values(
    car: int,
    slots: int,
    present: ByteArray,
    reset_count: IntArray,
    world_key: LongArray,
    knobs: KnobTable,
    drawn: Drawn,
) -> None:
    """Draw a car's values anew if its world's key is another, or if it has been reset since.

    Args:
        slots: Cars per world.
        present: Of `State`.
        reset_count: Of `State`.
        world_key: Of each world's random numbers, shape [world_count].
        drawn: Drawn, the car's row is written.
    """
    key = world_key[car // slots]
    drawn.fresh[car] = 0
    if present[car] == 0 or (key == drawn.key[car] and reset_count[car] == drawn.reset[car]):
        return
    drawn.key[car], drawn.reset[car] = key, reset_count[car]
    drawn.fresh[car] = 1
    drawn.serial[car] += 1
    for knob in range(len(knobs.column)):
        column = knobs.column[knob]
        share = draw_uniform(key, car % slots, reset_count[car], STREAM + column)
        value = knobs.low[knob] + share * knobs.span[knob]
        if knobs.is_whole[knob] != 0:
            value = float(round(value))
        drawn.value[car, column] = value
