"""A token bucket: work may be done at a steady rate, after a pause in a burst."""

from __future__ import annotations

from donkeysim.core.clock import Clock


class TokenBucket:
    """Fills at a steady rate; whoever works takes what it costs and then waits for as long as it is in debt.

    Attributes:
        rate: Tokens that come in [1/s].
    """

    def __init__(self, rate: float, size: float, read_clock: Clock) -> None:
        """Begin full.

        Args:
            rate: Tokens that come in [1/s].
            size: Most tokens that are saved up.
            read_clock: Wall time.
        """
        self.rate = rate
        self._size = self._tokens = size
        self._read_clock = read_clock
        self._filled = read_clock()

    def take(self, cost: float) -> None:
        """Take tokens, if need be on credit."""
        self._fill()
        self._tokens -= cost

    def seconds_left(self) -> float:
        """Return how long to wait before more work is done [s]; 0 while there are tokens."""
        self._fill()
        return max(0.0, -self._tokens / self.rate)

    def _fill(self) -> None:
        now = self._read_clock()
        self._tokens = min(self._tokens + self.rate * (now - self._filled), self._size)
        self._filled = now
