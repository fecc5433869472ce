"""SIGINT, SIGTERM and a closed terminal end a drive in order instead of cutting it off."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType
from typing import Any

logger = logging.getLogger(__name__)

SIGNAL_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Those this system has are taken; one that the caller's shell ignores stays ignored."""


class StopSignals:
    """Takes the signals while it is entered.

    Until `hold` is called a signal raises KeyboardInterrupt, as Ctrl-C always did; after it, a signal is only noted in
    `received` for the loop to see. (Setting a `threading.Event` in a handler could deadlock with the wait it
    interrupts.)
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.doing = ""
        self._holding = False
        self._depth = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        """Take the signals; may be nested. Does nothing outside the main thread, where Python allows no handlers."""
        self._depth += 1
        if self._depth == 1 and threading.current_thread() is threading.main_thread():
            for name in SIGNAL_NAMES:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the signals back to whoever had them."""
        self._depth -= 1
        if self._depth == 0:
            for number, handler in self._before.items():
                signal.signal(number, handler)
            self._before.clear()

    def hold(self) -> None:
        """From now on only note a signal."""
        self._holding = True

    def _receive(self, number: int, _: FrameType | None) -> None:
        if self.doing:
            logger.warning("still busy with the %s; please wait.", self.doing)
        self.received = number
        if not self._holding:
            raise KeyboardInterrupt
