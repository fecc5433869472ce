"""Where a tub changes for good: another driver, another mounting of the camera, colours in another order.

A cut parts the records in two. All cuts at sixteenths of a tub are looked at, and those between its drives.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import Float32Array, FloatArray
from donkeysim.tub.glance import HEIGHT, Glance

LEAST_PART = 0.2
"""Share of the records that either part has, at least; a shorter one may be a single bend or hill."""

LEAST_RECORDS = 200
"""The same in records: ten seconds."""

# Places that are seen again; others, of which the most alike reach 0.85, say nothing of what has changed.
SAME_PLACE = 0.9
"""Correlation of two pictures' tiles from which both show the same place."""

LEAST_SEEN_AGAIN = 0.3
"""Share of the shorter part that was at places of the other one, for a difference not to be the road's."""

_MOST_COMPARED = 400  # records of either part, evenly spread

# Good drives: 0.01 at most, where the driver goes gently up and down hills; a person who is asked to go faster: 0.1.
THROTTLE_GAP = 0.02
"""Between the middle halves of the throttles of both parts."""

THROTTLE_RATIO = 0.4
"""By which the smaller of their medians is less, at least; stretches of good drives that look alike: 0.38."""

# Hills are rolled down without throttle.
COASTING = 0.05
"""Median throttle below which a part is no way of driving."""

# Good drives: 0.29 at most.
KEYS_GAP = 0.5
"""Between the shares of steering at 0 and at full lock: one steers by keys, the other by a stick."""

PIECES = 4
"""How many pieces each part is divided into: what another driver or another mounting changes shows in all of them, what
a hill changes does not."""

STEADY = 0.15
"""By which the medians of a part's pieces differ, as a share, where the throttle is the driver's and not the hills'."""

# Good drives: 4 at most, where a road goes up and then down.
TILT_ROWS = 6
"""By which the view is lower or higher [row of `HEIGHT`]: a tenth of the picture."""

TILT_GAP = 4
"""The same between the pieces of both parts that are nearest each other."""

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


def find_cut(glance: Glance, compare: Callable[[Glance, int], tuple[float, Cut]]) -> Cut | None:
    """Return the cut by which both parts differ most, where `compare`, see below, finds a difference above 0 at all."""
    count = len(glance)
    least = max(LEAST_RECORDS, round(LEAST_PART * count))
    drives = (np.flatnonzero(np.diff(glance.session)) + 1).tolist()
    places = {*drives, *(count * part // 16 for part in range(1, 16))}
    found = [compare(glance, place) for place in sorted(places) if least <= place <= count - least]
    difference, cut = max(found, key=lambda item: item[0], default=(0.0, Cut(0)))
    return cut if difference > 0.0 else None


def compare_throttle(glance: Glance, place: int) -> tuple[float, Cut]:
    """Return whether another throttle begins, with the median of each part."""
    parts = [part[np.isfinite(part)] for part in (glance.throttle[:place], glance.throttle[place:])]
    if min(map(len, parts)) < LEAST_RECORDS:
        return 0.0, Cut(place)
    (low, median, high), (low_after, median_after, high_after) = (
        np.quantile(part, (0.25, 0.5, 0.75)) for part in parts
    )
    gap = max(low - high_after, low_after - high)
    ratio = abs(median - median_after) / max(abs(median), abs(median_after), 1e-6)
    differs = gap >= THROTTLE_GAP and ratio >= THROTTLE_RATIO and min(abs(median), abs(median_after)) >= COASTING
    if differs and not all(map(_is_steady, parts)):
        differs = _find_seen_again(glance, place) >= LEAST_SEEN_AGAIN
    return float(gap) if differs else 0.0, Cut(place, float(median), float(median_after))


def _is_steady(throttle: FloatArray) -> bool:
    """Return whether the pieces of a part have about the same throttle."""
    medians = [float(np.median(piece)) for piece in np.array_split(throttle, PIECES)]
    return max(medians) - min(medians) <= STEADY * max(map(abs, medians))


def compare_keys(glance: Glance, place: int) -> tuple[float, Cut]:
    """Return whether a driver with keys begins or ends, with the share of steering at 0 and full lock of each part."""
    angle = np.abs(glance.angle)
    is_key = (angle < 0.01) | (angle > 0.99)
    before, after = (float(part.mean()) for part in (is_key[:place], is_key[place:]))
    gap = abs(before - after)
    return gap if gap >= KEYS_GAP else 0.0, Cut(place, before, after)


def compare_tilt(glance: Glance, place: int) -> tuple[float, Cut]:
    """Return whether the view goes up or down for good."""
    grey = glance.sights.rows.mean(axis=2)
    whole = _average(grey[:place])
    found = [
        [_find_shift(whole, _average(piece)) for piece in np.array_split(part, PIECES)] for part in _part(grey, place)
    ]
    (before, fit), (after, fit_after) = (map(np.array, zip(*part, strict=True)) for part in found)
    gap = max(before.min() - after.max(), after.min() - before.max())
    tilt = abs(float(np.median(before) - np.median(after)))
    tilted = tilt >= TILT_ROWS and gap >= TILT_GAP and min(fit.min(), fit_after.min()) >= TILT_FIT
    return tilt + float(gap) if tilted else 0.0, Cut(place)


def _find_shift(first: FloatArray, second: FloatArray) -> tuple[int, float]:
    """Return by how many rows the second view is higher than the first, and how well they fit then."""
    fits = {}
    for shift in range(-HEIGHT // 3, HEIGHT // 3 + 1):
        upper = first[max(shift, 0) : HEIGHT + min(shift, 0)]
        fits[shift] = _correlate(upper, second[max(-shift, 0) : HEIGHT - max(shift, 0)])
    best = max(fits, key=lambda shift: fits[shift])
    return best, fits[best]


def compare_colours(glance: Glance, place: int) -> tuple[float, Cut]:
    """Return whether red and blue are swapped."""
    rows = glance.sights.rows
    warmth = [_average(part) for part in _part(rows[..., 0] - rows[..., 2], place)]
    sizes = [float(np.sqrt(np.mean(part * part))) for part in warmth]
    fit = float(np.mean(warmth[0] * warmth[1])) / (sizes[0] * sizes[1]) if min(sizes) >= LEAST_COLOUR else 0.0
    return -fit if fit <= COLOUR_FIT else 0.0, Cut(place)


def _find_seen_again(glance: Glance, place: int) -> float:
    """Return which share of the shorter part was at places of the other."""
    before, after = sorted(map(_normalise, _part(glance.sights.tiles, place)), key=len)
    return float(((before @ after.T).max(axis=1) >= SAME_PLACE).mean()) if len(before) else 0.0


def _normalise(tiles: Float32Array) -> Float32Array:
    """Return some of the tiles of pictures, evenly spread, as vectors of length 1 without their mean, shape [n, k]."""
    seen = tiles[np.isfinite(tiles[:, 0, 0])]
    chosen = seen[:: max(1, -(-len(seen) // _MOST_COMPARED))].reshape(-1, tiles.shape[1] * tiles.shape[2])
    chosen = chosen - chosen.mean(axis=1, keepdims=True)
    vectors: Float32Array = chosen / np.maximum(np.linalg.norm(chosen, axis=1, keepdims=True), 1e-6)
    return vectors


def _part(values: Float32Array, place: int) -> tuple[Float32Array, Float32Array]:
    return values[:place], values[place:]


def _average(rows: Float32Array) -> FloatArray:
    """Return the mean of each row, shape [HEIGHT]; zeros where no picture can be read."""
    seen = rows[np.isfinite(rows[:, 0])]
    return seen.mean(axis=0, dtype=np.float64) if len(seen) else np.zeros(HEIGHT)


def _correlate(first: FloatArray, second: FloatArray) -> float:
    first, second = first - first.mean(), second - second.mean()
    size = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / size if size > 1e-6 else 0.0
