"""The first moments of a beat, in which the event loop stands back.

The simulation steps the cars and makes the first telemetry in a millisecond or two, when it has a core and the
interpreter for itself. Beside an event loop that reads what fifty clients send at once it takes several times as long,
and now and then fifteen milliseconds. The loop has the rest of the beat to read, and nothing to send before.
"""

from __future__ import annotations

import threading

MOST_SECONDS = 0.004
"""The event loop stands back for so long at most in a beat [s]."""


class QuietStart:
    """Begins and ends on the simulation's thread, and is waited for on the event loop."""

    def __init__(self) -> None:
        self._is_over = threading.Event()
        self._is_over.set()

    def begin(self) -> None:
        """Ask the event loop to stand back."""
        self._is_over.clear()

    def end(self) -> None:
        """Let the event loop go on; called more than once, it changes nothing."""
        self._is_over.set()

    def wait(self) -> None:
        """Return at once, or when the start is over; who has waited for long enough waits no more in this beat."""
        if not self._is_over.is_set() and not self._is_over.wait(MOST_SECONDS):
            self._is_over.set()
