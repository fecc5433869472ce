"""Turns at reading: connections with unread bytes share a part of the event loop's time, however much each sends.

While nobody waits, what comes is read at once. Otherwise one has a short turn after the other, for a few milliseconds,
so that telemetry goes out in between; and when the loop's share for reading is spent, all wait a little.
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections import deque
from collections.abc import Callable
from typing import Protocol

from donkeysim.core.clock import Clock
from donkeysim.serve.time_budget import TimeBudget

SHARE = 0.1
"""Of the event loop's time, for reading."""

BURST_SECONDS = 0.005
"""After a pause reading may take so long without a break [s]."""

STRETCH_SECONDS = 0.002
"""After so long the event loop may do something else [s]."""

REST_SECONDS = 0.01
"""Who waits for somebody else is asked again after this time [s]."""


_log = logging.getLogger("donkeysim.wire")


class Turn(enum.Enum):
    """What came of a turn."""

    DONE = "everything was read"
    MORE = "there is more to read"
    HELD = "there is more to read, once what was read has been taken"


class Reader(Protocol):
    """Somebody with bytes to read."""

    def read_some(self) -> Turn:
        """Read a small portion."""

    def abort(self) -> None:
        """End at once."""


class ReadingTurns:
    """Who reads next; belongs to the event loop."""

    def __init__(
        self,
        read_clock: Clock,
        is_shared: Callable[[], bool] = lambda: True,
        stand_back: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with nobody waiting.

        Args:
            read_clock: Wall time.
            is_shared: Whether anybody needs the rest of the time; otherwise reading may take all.
            stand_back: Called before each turn; returns when nothing more urgent is being done.
        """
        self._read_clock = read_clock
        self._is_shared = is_shared
        self._stand_back = stand_back
        self._budget = TimeBudget(SHARE, BURST_SECONDS, read_clock)
        self._waiting: deque[Reader] = deque()
        self._held: list[Reader] = []

    def ask(self, reader: Reader) -> None:
        """Let a reader that is not waiting yet read, now or in its turn."""
        is_first = not self._waiting
        if is_first and self._has_time():
            self._give_turn(reader)
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._run)
        else:
            self._waiting.append(reader)
            if is_first:
                asyncio.get_running_loop().call_later(self._budget.seconds_to_more(), self._run)

    def charge(self, seconds: float) -> None:
        """Take from the share what reading took [s]; readers tell it, for a turn may also do what was asked for."""
        self._budget.charge(seconds)

    def _give_turn(self, reader: Reader) -> None:
        self._stand_back()
        try:
            turn = reader.read_some()
        except Exception:  # noqa: BLE001  (the others must go on being read; the traceback is logged)
            _log.exception("an error in reading a client, which is disconnected")
            reader.abort()
            return
        if turn is Turn.MORE:
            self._waiting.append(reader)
        elif turn is Turn.HELD:
            if not self._held:
                asyncio.get_running_loop().call_later(REST_SECONDS, self._release)
            self._held.append(reader)

    def _run(self) -> None:
        end = self._read_clock() + STRETCH_SECONDS
        while self._waiting and self._has_time() and self._read_clock() < end:
            self._give_turn(self._waiting.popleft())
        if self._waiting:
            seconds = 0.0 if self._has_time() else self._budget.seconds_to_more()
            asyncio.get_running_loop().call_later(seconds, self._run)

    def _has_time(self) -> bool:
        return self._budget.is_left() or not self._is_shared()

    def _release(self) -> None:
        held, self._held = self._held, []
        for reader in held:
            self.ask(reader)
