"""Clocks that can be handed in, deadlines that do not drift, and rates that are kept."""

import threading
from collections.abc import Callable

Clock = Callable[[], float]
"""Returns seconds since some fixed moment; never runs backwards. `time.monotonic` is one."""


class ManualClock:
    """A clock that moves only when told to; for tests and for replaying what happened."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time it was set to [s]."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class AwakeClock:
    """A clock that stands still while its process does, stopped or asleep: nobody is to blame for that time.

    Somebody must read it at least every `LONGEST_SILENCE`, from whichever thread.
    """

    LONGEST_SILENCE = 1.5
    """Of a longer time between two readings only so much counts [s]."""

    def __init__(self, read_clock: Clock) -> None:
        self._read_clock = read_clock
        self._lock = threading.Lock()
        self._seen = read_clock()
        self._asleep = 0.0

    def __call__(self) -> float:
        """Return the time [s]."""
        with self._lock:
            now = self._read_clock()
            if now - self._seen > self.LONGEST_SILENCE:
                self._asleep += now - self._seen - self.LONGEST_SILENCE
            self._seen = now
            return now - self._asleep


class Pacer:
    """Says when the next beat of a steady rhythm is due, by absolute deadlines.

    A beat that comes late does not move the later ones, so the mean rate is exact. When it is more than
    `MOST_BEATS_BEHIND` beats late the rhythm starts anew from now: lost time is not caught up in a burst.
    """

    MOST_BEATS_BEHIND = 4

    def __init__(self, interval: float, read_clock: Clock) -> None:
        self.interval = interval
        self._read_clock = read_clock
        self._deadline = read_clock() + interval

    def seconds_left(self) -> float:
        """Return the time until the next beat [s]; 0 when it is due."""
        return max(0.0, self._deadline - self._read_clock())

    def take_beat(self) -> None:
        """Count the beat that is due now and set the next deadline."""
        late = self._read_clock() - self._deadline
        if late > self.MOST_BEATS_BEHIND * self.interval:
            self._deadline += late
        self._deadline += self.interval

    def restart(self) -> None:
        """Begin the rhythm anew: the next beat is one interval from now."""
        self._deadline = self._read_clock() + self.interval


class TokenBucket:
    """Fills at a steady rate; whoever works takes what it costs and then waits for as long as it is in debt.

    Attributes:
        rate: Tokens that come in [1/s].
    """

    def __init__(self, rate: float, size: float, read_clock: Clock) -> None:
        """Begin full; `size`: most tokens that are saved up."""
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
