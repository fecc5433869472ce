"""Draws what differs from car to car and from reset to reset."""

from __future__ import annotations

from donkeysim.core.kernel import index_kernel
from donkeysim.core.rng import draw_uniform
from donkeysim.core.types import ByteArray, IntArray, LongArray
from donkeysim.world.drawing import Drawn, KnobTable

STREAM = 1 << 22
"""First of the streams of random numbers that values are drawn from."""

NOISE_STREAM, PATTERN_STREAM = STREAM + (1 << 12) + 2, STREAM + (1 << 12) + 3
"""Streams of the noise of each picture and of the shape of patches."""


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
        car: Which.
        slots: Cars per world.
        present: Of `State`.
        reset_count: Of `State`.
        world_key: Of each world's random numbers, shape [world_count].
        knobs: KnobTable.
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
