"""Lock-step: time waits until every client has said what its car does next."""

from __future__ import annotations

from collections.abc import Iterable

from donkeysim.core.clock import Clock
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.serve.client_queues import ClientQueue

MOST_SILENT_SECONDS = 10.0
"""A client that says nothing for so long is not waited for [s, wall time]."""


class LockStep:
    """Whether the scene is in lock-step, how long a step is, and when the next one may be taken."""

    def __init__(self, read_clock: Clock) -> None:
        self.is_on = False
        self.step_count = PHYSICS_RATE // 20
        self._read_clock = read_clock

    def seconds_left(self, queues: Iterable[ClientQueue]) -> float | None:
        """Return how long to wait for the silent before the next step [s]; 0: step now; None: nobody is ready."""
        seconds, is_somebody_ready = 0.0, False
        for queue in queues:
            if queue.is_ready:
                is_somebody_ready = True
            else:
                seconds = max(seconds, queue.heard + MOST_SILENT_SECONDS - self._read_clock())
        return seconds if is_somebody_ready else None
