"""What episodes have counted so far, for all cars at once; `Step` tells what the fields mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from donkeysim.core.types import FloatArray, IntArray, LongArray
from donkeysim.world.state import HIT_NONE


class Counts(NamedTuple):
    """Arrays of shape [car_count]."""

    along: FloatArray
    speed: FloatArray
    """Along the nose, of either sign [m/s]."""
    driven: FloatArray
    furthest: FloatArray
    gain: FloatArray
    progress: FloatArray
    hit: IntArray
    steps: LongArray
    """Twentieths of a second since the episode began."""
    time: FloatArray
    off_road_time: FloatArray
    still_time: FloatArray
    wrong_way_time: FloatArray
    laps: IntArray
    lap_time: FloatArray
    lap_begun: FloatArray
    """When the present lap began [s]."""
    steer: FloatArray
    throttle: FloatArray
    previous_steer: FloatArray
    previous_throttle: FloatArray


_WHOLE = {"hit": np.int32, "steps": np.int64, "laps": np.int32}


def make_counts(car_count: int) -> Counts:
    """Return counts of episodes that have not begun."""
    counts = Counts(*(np.zeros(car_count, _WHOLE.get(name, np.float64)) for name in Counts._fields))
    forget_counts(counts, list(range(car_count)))
    return counts


def forget_counts(counts: Counts, cars: list[int]) -> None:
    """Set these cars' counts to those of an episode that begins."""
    for array in counts:
        array[cars] = 0
    counts.hit[cars] = HIT_NONE
