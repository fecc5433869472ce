"""How well answers fit a recorded drive, open loop: the pilot sees the pictures, but the driver drove.

Steering is in [-1, 1], + = right. Nothing here knows tubs or pilots; arrays have an entry for each record, shape [n].
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from donkeysim.core.types import FloatArray, LongArray

# A third of full lock: on straights drivers correct to whichever side, and a pilot that does not is no worse.
BEND = 0.3
"""Where the driver steers by more, the answer should be to the same side."""

# A ninth of the variance. Below it, delays and offsets that a search finds are chance: with 50 independent pairs one
# correlation in thirty is as large.
LEAST_FIT = 0.3
"""Correlation from which answers follow the driver, or to the other side."""

# Finer about zero, where most records lie, and one bin for each end of the wheel.
EDGES = (-1.0, -0.6, -0.3, -0.1, 0.1, 0.3, 0.6, 1.0)
"""Of the bins of the driver's steering."""

# Half a second at 20 records a second: who reacts later than that does not hold a road.
MOST_DELAY = 10
"""Longest delay that is tried, either way [records]."""

LEAST_PAIRS = 50
"""Pairs of records that a delay is judged by, at least."""

# The standard error of a correlation of 0.7 over 300 independent records.
LEAST_GAIN = 0.03
"""Of the correlation, for a delay to be pointed out, where answers then follow at all."""

CONSTANT = 0.01
"""Standard deviation of the steering below which it is constant."""

# A share of a smaller climb would be a quotient of two noises.
LEAST_CLIMB = 0.1
"""From the floor's correlation to the ceiling's, for a share of it to mean anything."""


@dataclass(frozen=True)
class AngleBin:
    """Records at which the driver steered between two angles.

    Attributes:
        low: The lower angle.
        high: The upper angle.
        count: Of records.
        driven: The driver's mean steering; None without records.
        answered: The mean answer.
        error: The mean distance of the answer from the driver's steering.
    """

    low: float
    high: float
    count: int
    driven: float | None = None
    answered: float | None = None
    error: float | None = None


@dataclass(frozen=True)
class OpenLoop:
    """How well answers fit a drive.

    Attributes:
        count: Of records.
        correlation: Of the answers' steering with the driver's; 0 where either is constant.
        right_side: Share of the bends, records with steering beyond `BEND`, in which the answer is to the driver's
            side; None without bends.
        bend_count: Of bends.
        error: Mean distance of the steering from the driver's.
        throttle_error: The same of the throttle.
        throttle_correlation: As `correlation`, of the throttle.
        delay: By how many records the answers come later than the driver's steering, as fits best; negative: earlier.
        delay_correlation: With this delay taken out.
        spread: Standard deviation of the answers' steering.
        bins: By the driver's steering, from left to right.
    """

    count: int
    correlation: float
    right_side: float | None
    bend_count: int
    error: float
    throttle_error: float
    throttle_correlation: float
    delay: int
    delay_correlation: float
    spread: float
    bins: tuple[AngleBin, ...]

    @property
    def is_mirrored(self) -> bool:
        """Whether the answers follow the driver to the other side."""
        return self.correlation <= -LEAST_FIT

    def list_doubts(self) -> list[str]:
        """Return in sentences what is odd about the answers as a whole."""
        doubts = []
        if self.is_mirrored:
            doubts.append(
                f"It steers to the other side (correlation {self.correlation:.2f}). If all pilots do so, the tub's "
                "steering is mirrored; if this one alone does, it takes something else for the road."
            )
        elif self.spread < CONSTANT:
            doubts.append("It steers the same way everywhere.")
        fits = abs(self.delay_correlation) >= max(LEAST_FIT, abs(self.correlation) + LEAST_GAIN)
        if 0 < abs(self.delay) < MOST_DELAY and fits:
            when = "later" if self.delay > 0 else "earlier"
            count = f"{abs(self.delay)} record{'' if abs(self.delay) == 1 else 's'}"
            doubts.append(
                f"It answers {count} {when} than the driver steered: with that taken out the correlation is "
                f"{self.delay_correlation:.2f} instead of {self.correlation:.2f}."
            )
        return doubts


def judge_answers(driven: FloatArray, said: FloatArray, stretch: LongArray) -> OpenLoop:
    """Compare answers with what the driver did.

    Args:
        driven: Steering and throttle, shape [n, 2], n at least 1.
        said: The answers, in the same order; clipped to [-1, 1], as a car does.
        stretch: Which records were taken one after the other: those with equal numbers, shape [n].
    """
    said = np.clip(said, -1.0, 1.0)
    angle, answer = driven[:, 0], said[:, 0]
    bends = np.abs(angle) > BEND
    correlation = correlate(angle, answer)
    delay, best = find_delay(angle, answer, stretch, -1.0 if correlation <= -LEAST_FIT else 1.0)
    return OpenLoop(
        count=len(angle),
        correlation=correlation,
        right_side=float((angle[bends] * answer[bends] > 0.0).mean()) if bends.any() else None,
        bend_count=int(bends.sum()),
        error=float(np.abs(angle - answer).mean()),
        throttle_error=float(np.abs(driven[:, 1] - said[:, 1]).mean()),
        throttle_correlation=correlate(driven[:, 1], said[:, 1]),
        delay=delay,
        delay_correlation=best,
        spread=float(answer.std()),
        bins=_bin(angle, answer),
    )


def correlate(first: FloatArray, second: FloatArray) -> float:
    """Return Pearson's correlation of two series; 0 where one is constant."""
    first, second = first - first.mean(), second - second.mean()
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / size if size > 1e-9 * len(first) else 0.0


def find_delay(angle: FloatArray, answer: FloatArray, stretch: LongArray, sign: float = 1.0) -> tuple[int, float]:
    """Return the delay of the answers [records] that fits best, and the correlation with it taken out.

    Only records of one stretch are compared. Equal fits: the shortest delay.

    Args:
        angle: The driver's steering.
        answer: The pilot's.
        stretch: As `judge_answers` takes it.
        sign: -1 for answers that are mirrored.
    """
    found = (0, correlate(angle, answer))
    for delay in sorted(range(-MOST_DELAY, MOST_DELAY + 1), key=abs)[1:]:
        late, early = (answer, angle) if delay > 0 else (angle, answer)
        late, early = late[abs(delay) :], early[: -abs(delay)]
        together = stretch[abs(delay) :] == stretch[: -abs(delay)]
        if together.sum() < LEAST_PAIRS:
            continue
        value = correlate(late[together], early[together])
        if sign * value > sign * found[1] + 1e-6:
            found = delay, value
    return found


def find_share(value: float, floor: float, ceiling: float) -> float | None:
    """Return how much of the way from floor to ceiling a correlation is; None where they are too near each other."""
    return (value - floor) / (ceiling - floor) if ceiling - floor >= LEAST_CLIMB else None


def list_worst(angle: FloatArray, answer: FloatArray, count: int, apart: int) -> list[int]:
    """Return the records at which the answer is furthest off, worst first, no two nearer than `apart` records."""
    error = np.abs(angle - np.clip(answer, -1.0, 1.0))
    chosen: list[int] = []
    for index in np.argsort(-error, kind="stable").tolist():
        if all(abs(index - other) >= apart for other in chosen):
            chosen.append(index)
        if len(chosen) == count:
            break
    return chosen


def _bin(angle: FloatArray, answer: FloatArray) -> tuple[AngleBin, ...]:
    places = np.clip(np.searchsorted(EDGES, angle, side="right") - 1, 0, len(EDGES) - 2)
    bins = []
    for number, (low, high) in enumerate(itertools.pairwise(EDGES)):
        inside = places == number
        if not inside.any():
            bins.append(AngleBin(low, high, 0))
            continue
        driven, answered = angle[inside], answer[inside]
        error = float(np.abs(driven - answered).mean())
        bins.append(AngleBin(low, high, len(driven), float(driven.mean()), float(answered.mean()), error))
    return tuple(bins)
