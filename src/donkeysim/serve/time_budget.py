"""How much of a thread's time a kind of work may take."""

from __future__ import annotations

from donkeysim.core.clock import Clock


class TimeBudget:
    """A share of the time that passes, saved up to a little; whoever does the work charges what it took."""

    def __init__(self, share: float, most_saved: float, read_clock: Clock) -> None:
        """Begin with as much as can be saved.

        Args:
            share: Of the time that passes, 0 to 1.
            most_saved: What is left over is kept up to this much [s]; no debt becomes greater either.
            read_clock: Wall time.
        """
        self._share = share
        self._most_saved = most_saved
        self._read_clock = read_clock
        self._saved = most_saved
        self._refilled = read_clock()

    def is_left(self) -> bool:
        """Return whether there is time for more work."""
        self._refill()
        return self._saved > 0.0

    def charge(self, seconds: float) -> None:
        """Take off what some work took."""
        self._refill()
        self._saved = max(self._saved - seconds, -self._most_saved)

    def seconds_to_more(self) -> float:
        """Return how long until there is time for more work [s]; 0 when there is."""
        self._refill()
        return max(0.0, -self._saved / self._share)

    def _refill(self) -> None:
        now = self._read_clock()
        self._saved = min(self._saved + self._share * (now - self._refilled), self._most_saved)
        self._refilled = now
