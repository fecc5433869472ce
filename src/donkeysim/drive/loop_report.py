"""How long a drive was and how long each part took in it."""

from array import array
from dataclasses import dataclass

import numpy as np

# Half a megabyte for each part.
KEPT_LOOPS = 72_000
"""Runs of a part whose figures are kept, the last ones: an hour at 20 Hz."""

PERCENTILES = (50, 90, 99, 99.9)


class PartTimes:
    """How long the runs of one part took."""

    def __init__(self) -> None:
        self.last_end = 0.0
        self._seconds = array("f")
        self._next = 0

    def add(self, begun: float, ended: float) -> None:
        """Note one run, from `begun` to `ended` [s]."""
        self.last_end = ended
        if len(self._seconds) < KEPT_LOOPS:
            self._seconds.append(ended - begun)
            return
        self._seconds[self._next] = ended - begun
        self._next = (self._next + 1) % KEPT_LOOPS

    def list_milliseconds(self) -> list[float]:
        """Return max, min, mean and percentiles [ms]; empty when the part ran too rarely.

        The first run and the last are left out: the one warms things up, the other may have been cut off.
        """
        counted = np.asarray(self._seconds[1:-1]) * 1000.0
        if len(counted) == 0:
            return []
        return [float(counted.max()), float(counted.min()), float(counted.mean()), *np.percentile(counted, PERCENTILES)]


@dataclass(frozen=True)
class LoopReport:
    """What a drive came to."""

    loop_count: int
    seconds: float
    parts: tuple[tuple[str, PartTimes], ...]

    def format_table(self) -> str:
        """Return the times of the parts [ms] as a table in plain text, without parts that ran less than three times."""
        heading = ["part", "max", "min", "avg", *(f"{percentile}%" for percentile in PERCENTILES)]
        rows = [
            [name, *(f"{value:.2f}" for value in times.list_milliseconds())]
            for name, times in self.parts
            if times.list_milliseconds()
        ]
        widths = [max(len(row[column]) for row in [heading, *rows]) for column in range(len(heading))]
        line = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
        shown = [
            "| " + " | ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) + " |"
            for row in [heading, *rows]
        ]
        return "\n".join([line, shown[0], line, *shown[1:], line])
