"""Lap times of a car whose simulator only tells when a start line is crossed."""


class LapClock:
    """Lap times from what a server tells of start line 0: the first crossing starts the clock.

    Attributes:
        lap_times: Oldest first [s].
    """

    def __init__(self) -> None:
        self.lap_times: tuple[float, ...] = ()
        self._crossed: float | None = None

    def note_crossing(self, time: float) -> None:
        """Count a forward crossing at this simulated time [s]."""
        if self._crossed is not None:
            self.lap_times = (*self.lap_times, time - self._crossed)
        self._crossed = time
