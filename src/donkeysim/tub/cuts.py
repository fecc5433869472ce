"""Where a tub changes for good: another driver, another mounting of the camera, colours in another order.

A cut parts the records in two. All cuts at sixteenths of a tub are looked at, and those between its drives.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.tub.glance import HEIGHT, Glance

LEAST_PART = 0.2
"""Share of the records that either part has, at least; a shorter one may be a single bend or hill."""

LEAST_RECORDS = 100
"""The same in records."""

# Good drives: 0.01 at most, where the driver goes gently up and down hills; a person who is asked to go faster: 0.1.
THROTTLE_GAP = 0.02
"""Between the middle halves of the throttles of both parts."""

THROTTLE_RATIO = 0.3
"""By which the smaller of their medians is less, at least."""

# Hills are rolled down without throttle.
COASTING = 0.05
"""Median throttle below which a part is no way of driving."""

# Good drives: 0.29 at most.
KEYS_GAP = 0.5
"""Between the shares of steering at 0 and at full lock: one steers by keys, the other by a stick."""

# Good drives: 4 at most, where a road goes up and then down.
TILT_ROWS = 6
"""By which the view is lower or higher [row of `HEIGHT`]: a tenth of the picture."""

TILT_FIT = 0.8
"""Correlation of the rows once they lie on each other; less is another place."""

# Good drives: 0.85 at least.
COLOUR_FIT = -0.3
"""Correlation of red less blue, row by row, below which these two are swapped."""

LEAST_COLOUR = 4.0
"""Of red less blue [grey level], root mean square, for the same."""


@dataclass(frozen=True)
class Cut:
    """A place where a tub changes.

    Attributes:
        index: The record with which the second part begins.
        before, after: What is said of either part, in numbers.
    """

    index: int
    before: float = 0.0
    after: float = 0.0


def find_throttle_cut(glance: Glance) -> Cut | None:
    """Return where another throttle begins, with the median of each part."""
    return _find(glance, _compare_throttle)


def find_keys_cut(glance: Glance) -> Cut | None:
    """Return where a driver with keys begins or ends, with the share of steering at 0 and full lock of each part."""
    return _find(glance, _compare_keys)


def find_tilt_cut(glance: Glance) -> Cut | None:
    """Return where the view goes up or down for good."""
    return _find(glance, _compare_tilt)


def find_colour_cut(glance: Glance) -> Cut | None:
    """Return where red and blue are swapped."""
    return _find(glance, _compare_colours)


def _find(glance: Glance, compare: Callable[[Glance, int], tuple[float, Cut]]) -> Cut | None:
    """Return the cut by which both parts differ most, where `compare` finds a difference above 0 at all."""
    count = len(glance)
    least = max(LEAST_RECORDS, round(LEAST_PART * count))
    drives = (np.flatnonzero(np.diff(glance.session)) + 1).tolist()
    places = {*drives, *(count * part // 16 for part in range(1, 16))}
    found = [compare(glance, place) for place in sorted(places) if least <= place <= count - least]
    difference, cut = max(found, key=lambda item: item[0], default=(0.0, Cut(0)))
    return cut if difference > 0.0 else None


def _compare_throttle(glance: Glance, place: int) -> tuple[float, Cut]:
    parts = [part[np.isfinite(part)] for part in (glance.throttle[:place], glance.throttle[place:])]
    if min(map(len, parts)) < LEAST_RECORDS:
        return 0.0, Cut(place)
    (low, median, high), (low_after, median_after, high_after) = (np.quantile(part, (0.25, 0.5, 0.75)) for part in parts)
    gap = max(low - high_after, low_after - high)
    ratio = abs(median - median_after) / max(abs(median), abs(median_after), 1e-6)
    differs = gap >= THROTTLE_GAP and ratio >= THROTTLE_RATIO and min(abs(median), abs(median_after)) >= COASTING
    return float(gap) if differs else 0.0, Cut(place, float(median), float(median_after))


def _compare_keys(glance: Glance, place: int) -> tuple[float, Cut]:
    angle = np.abs(glance.angle)
    is_key = (angle < 0.01) | (angle > 0.99)
    before, after = (float(part.mean()) for part in (is_key[:place], is_key[place:]))
    gap = abs(before - after)
    return gap if gap >= KEYS_GAP else 0.0, Cut(place, before, after)


def _compare_tilt(glance: Glance, place: int) -> tuple[float, Cut]:
    before, after = (rows.mean(axis=1) for rows in _average_rows(glance, place))
    fits = {}
    for shift in range(-HEIGHT // 3, HEIGHT // 3 + 1):
        upper = before[max(shift, 0) : HEIGHT + min(shift, 0)]
        fits[shift] = _correlate(upper, after[max(-shift, 0) : HEIGHT - max(shift, 0)])
    best = max(fits, key=lambda shift: fits[shift])
    tilted = abs(best) >= TILT_ROWS and fits[best] >= TILT_FIT
    return fits[best] - fits[0] if tilted else 0.0, Cut(place)


def _compare_colours(glance: Glance, place: int) -> tuple[float, Cut]:
    warmth = [rows[:, 0] - rows[:, 2] for rows in _average_rows(glance, place)]
    sizes = [float(np.sqrt(np.mean(part * part))) for part in warmth]
    fit = float(np.mean(warmth[0] * warmth[1])) / (sizes[0] * sizes[1]) if min(sizes) >= LEAST_COLOUR else 0.0
    return -fit if fit <= COLOUR_FIT else 0.0, Cut(place)


def _average_rows(glance: Glance, place: int) -> tuple[FloatArray, FloatArray]:
    """Return the mean colour of each row in both parts, shape [HEIGHT, 3]; zeros where no picture can be read."""
    parts = (glance.sights.rows[:place], glance.sights.rows[place:])
    seen = (part[np.isfinite(part[:, 0, 0])] for part in parts)
    before, after = (part.mean(axis=0, dtype=np.float64) if len(part) else np.zeros((HEIGHT, 3)) for part in seen)
    return before, after


def _correlate(first: FloatArray, second: FloatArray) -> float:
    first, second = first - first.mean(), second - second.mean()
    size = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / size if size > 1e-6 else 0.0
