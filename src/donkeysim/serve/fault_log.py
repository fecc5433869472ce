"""What clients do wrong, in a log that nobody can fill: the first of each kind in words, the others as numbers."""

from __future__ import annotations

import logging
from collections import Counter

from donkeysim.core.clock import Clock

MOST_LINES = 20
"""Told in full in one stretch; further ones are counted."""

STRETCH_SECONDS = 60.0
"""Then what was not told is summed up in one line [s]."""

_log = logging.getLogger("donkeysim.wire")


class FaultLog:
    """Counts faults of all clients and tells the log.

    Attributes:
        totals: How often each kind of fault has happened.
    """

    def __init__(self, read_clock: Clock) -> None:
        self.totals: Counter[str] = Counter()
        self._read_clock = read_clock
        self._lines = 0
        self._untold: Counter[str] = Counter()
        self._stretch_began = read_clock()

    def note(self, name: str, kind: str, text: str, is_first: bool) -> None:
        """Take note of a fault.

        Args:
            name: Whose it is.
            kind: Short name of this sort of fault; there must be few.
            text: One sentence.
            is_first: Whether this connection makes it for the first time.
        """
        self.totals[kind] += 1
        if is_first and self._lines < MOST_LINES:
            self._lines += 1
            _log.warning("%s: %s", name, text)
        else:
            self._untold[kind] += 1

    def check_time(self) -> None:
        """Sum up what was not told, once a stretch of time is over; call it now and then."""
        if self._read_clock() - self._stretch_began < STRETCH_SECONDS:
            return
        if self._untold:
            _log.warning("more of the same in the last %g s: %s", STRETCH_SECONDS, describe_counts(self._untold))
        self._begin_stretch()

    def close(self) -> None:
        """Tell the totals, if there was anything."""
        if self.totals:
            _log.warning(
                "messages from clients that were not understood or could not be carried out: %s",
                describe_counts(self.totals),
            )

    def _begin_stretch(self) -> None:
        self._lines = 0
        self._untold.clear()
        self._stretch_began = self._read_clock()


def describe_counts(counts: Counter[str]) -> str:
    """Return counts in words, the most frequent first."""
    return ", ".join(f"{kind} {count}" for kind, count in counts.most_common())
