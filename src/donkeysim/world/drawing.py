"""Values that are drawn for cars, as tables that kernels read and write: the same on this machine and on a GPU."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from donkeysim.core.types import ByteArray, FloatArray, LongArray
from donkeysim.world.randomization import Knob, list_rests


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
