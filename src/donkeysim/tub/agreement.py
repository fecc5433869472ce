"""Whether a drive's steering and its pictures belong together: the view turns after the driver steers, to that side.

On 27 good drives, three of them of real cars and of the original, the turn follows the steering by 2 to 7 records at
20 a second, with a correlation of 0.60 to 0.92; the other sign fits with 0.31 at most.
"""

from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import BoolArray, FloatArray, LongArray
from donkeysim.tub.glance import Glance

# Two thirds of the least of good drives.
LEAST_FIT = 0.4
"""Correlation from which the turn of the view follows the steering; below it nothing is said of either."""

# Where bends are long, half a second more or less changes little.
LEAST_GAIN = 0.05
"""Of the correlation over the best usual one, for another sign or delay to be believed."""

SOONEST, LATEST = 0.05, 0.45
"""Between them [s] the view begins to turn after the driver steered, in a drive as it should be: 0.1 to 0.35, and a
record of margin each way."""

MOST_LAG = 1.0
"""Longest delay that is tried, either way [s]."""

LEAST_PAIRS = 100
"""Records with steering and turn, for the figures to mean anything."""

LEAST_STEERING = 0.05
"""Standard deviation of the steering, for the same."""

_SMOOTHING = 5  # records; a turn between two pictures is known to a third of a column


@dataclass(frozen=True)
class Agreement:
    """How the turn of the view follows the steering.

    Attributes:
        is_mirrored: It does so to the other side.
        lag: By how much it comes after the steering [s]; negative: before.
        fit: The correlation at this lag, with its sign.
        is_usual: To the driver's side, and as late as in a drive as it should be; also where nothing fits.
    """

    is_mirrored: bool
    lag: float
    fit: float
    is_usual: bool


def find_agreement(glance: Glance, part: slice) -> Agreement:
    """Return how the view follows the steering in some records of a tub."""
    angle, stretch = np.clip(glance.angle[part], -1.0, 1.0), glance.stretch[part]
    turn = _smooth(glance.sights.turn[part])
    most = round(MOST_LAG * glance.rate)
    lags = range(-most, most + 1)
    fits = np.array([_correlate_at(angle, turn, stretch, lag) for lag in lags])
    times = np.array(lags) / glance.rate
    is_usual = (times > SOONEST) & (times < LATEST)
    usual = float(np.where(is_usual, fits, -1.0).max())
    opposite = float(np.where(is_usual, fits, 1.0).min())
    best = int(fits.argmax())
    needed = max(LEAST_FIT, usual + LEAST_GAIN)
    if -opposite >= needed and -opposite >= fits[best]:
        lag = times[np.where(is_usual, fits, 1.0).argmin()]
        return Agreement(True, float(lag), opposite, False)
    return Agreement(False, float(times[best]), float(fits[best]), bool(is_usual[best] or fits[best] < needed))


def _smooth(turn: FloatArray) -> FloatArray:
    """Return running means of a turn, over the records that have one; 0 where none has."""
    known = np.isfinite(turn)
    window = np.ones(_SMOOTHING)
    if len(turn) < _SMOOTHING:
        return np.where(known, turn, 0.0)
    sums = np.convolve(np.where(known, turn, 0.0), window, "same")
    smooth: FloatArray = sums / np.maximum(np.convolve(known, window, "same"), 1.0)
    return smooth


def _correlate_at(angle: FloatArray, turn: FloatArray, stretch: LongArray, lag: int) -> float:
    """Return the correlation of the turn with the steering `lag` records before; 0 where there is too little."""
    late, early = slice(max(lag, 0), len(turn) + min(lag, 0)), slice(max(-lag, 0), len(angle) - max(lag, 0))
    first, second = angle[early], turn[late]
    together: BoolArray = (stretch[early] == stretch[late]) & np.isfinite(first)
    first, second = first[together], second[together]
    if len(first) < LEAST_PAIRS or first.std() < LEAST_STEERING or second.std() < 1e-6:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
