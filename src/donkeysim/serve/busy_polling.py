"""Busy polling: the event loop stays awake for a control that comes at once, as waking would take longer than that.

In lock-step a quick client answers a telemetry within a tenth of a millisecond. An event loop that sleeps meanwhile
lets its core rest; it wakes late, and the step that follows is slower by a fifth.
"""

from __future__ import annotations

import asyncio

from donkeysim.core.clock import Clock
from donkeysim.core.workers import count_cores

AWAKE_SECONDS = 0.0003
"""For so long the loop stays awake after an answer, and a control that comes within it is quick [s]."""


class BusyPolling:
    """Keeps the running event loop from sleeping after an answer when the control before came quickly.

    A client that takes its time costs nothing more: the loop sleeps as ever.
    """

    def __init__(self, read_clock: Clock, core_count: int | None = None) -> None:
        """Begin asleep.

        Args:
            read_clock: Wall time.
            core_count: With one the client needs it, and the loop always sleeps; None: as many as there are.
        """
        self._read_clock = read_clock
        self._has_room = (count_cores() if core_count is None else core_count) > 1
        self._answered = -1.0
        self._is_quick = False
        self._is_running = False

    def note_control(self) -> None:
        """Take note that a control has come."""
        self._is_quick = self._has_room and self._read_clock() - self._answered < AWAKE_SECONDS

    def note_answer(self) -> None:
        """Take note that its telemetry has gone out, and wait for the next one awake if that is worth it."""
        self._answered = self._read_clock()
        if self._is_quick and not self._is_running:
            self._is_running = True
            asyncio.get_running_loop().call_soon(self._look_around)

    def _look_around(self) -> None:
        """Come again as soon as sockets have been looked at, until it has taken too long."""
        self._is_running = self._read_clock() - self._answered < AWAKE_SECONDS
        if self._is_running:
            asyncio.get_running_loop().call_soon(self._look_around)
