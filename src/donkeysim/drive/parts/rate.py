"""How fast the loop runs, logged now and then."""

import logging
import time

from donkeysim.core.clock import Clock

logger = logging.getLogger(__name__)


class FrequencyLogger:
    """Logs the loop's rate at an interval in seconds."""

    def __init__(self, interval: float, read_clock: Clock = time.monotonic) -> None:
        """Make it; `interval` is the time between two lines [s]."""
        self.interval = interval
        self._read_clock = read_clock
        self._due = read_clock() + interval
        self._history: list[float] = []

    def run(self, rate: float | None) -> tuple[float, list[float]]:
        """Return the rate [Hz] and all rates logged so far."""
        if rate is not None and self._read_clock() >= self._due:
            self._due += self.interval
            self._history.append(round(rate, 2))
            logger.info("FPS = %.2f (last %s)", rate, self._history[-10:])
        return rate or 0.0, self._history
