"""Lock-step: time waits until every client has said what its car does next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from donkeysim.core.clock import Clock
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.wire.messages import DriveCar, RegenerateRoad, Request

MOST_SILENT_SECONDS = 10.0
"""A client that says nothing for so long is not waited for [s, wall time]."""


@dataclass
class RequestQueue:
    """One client's queue, in lock-step and while it awaits a road.

    Attributes:
        waiting: Requests not yet carried out, in the order received; the first one is a control in lock-step.
        heard: When the client last said something or was last answered [s].
    """

    heard: float
    waiting: deque[Request] = field(default_factory=deque)

    def add(self, request: Request, last_counts: bool) -> None:
        """Put a request at the end of the queue.

        Args:
            request: What the client wants.
            last_counts: Whether of several controls, or roads, in a row only the last matters.
        """
        is_again = bool(self.waiting) and type(self.waiting[-1]) is type(request)
        if last_counts and is_again and isinstance(request, (DriveCar, RegenerateRoad)):
            self.waiting.pop()
        self.waiting.append(request)

    def is_ready(self) -> bool:
        """Return whether the client's next control is here."""
        return bool(self.waiting) and isinstance(self.waiting[0], DriveCar)


class LockStep:
    """Whether the scene is in lock-step, how long a step is, and when the next one may be taken."""

    def __init__(self, read_clock: Clock) -> None:
        self.is_on = False
        self.step_count = PHYSICS_RATE // 20
        self._read_clock = read_clock

    def seconds_left(self, queues: Iterable[RequestQueue]) -> float | None:
        """Return how long to wait for the silent before the next step [s]; 0: step now; None: nobody is ready."""
        seconds, is_somebody_ready = 0.0, False
        for queue in queues:
            if queue.is_ready():
                is_somebody_ready = True
            else:
                seconds = max(seconds, queue.heard + MOST_SILENT_SECONDS - self._read_clock())
        return seconds if is_somebody_ready else None
