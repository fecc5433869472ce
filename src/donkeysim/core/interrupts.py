"""Ctrl-C waits for what has to be done as a whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done, then do what it always does; an error of the block comes first.

    Outside the main thread, where Python calls no handlers, and where Ctrl-C is ignored, nothing changes. Keep the
    block short: somebody is waiting.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    pressed = False

    def note(*_: object) -> None:
        nonlocal pressed
        pressed = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pressed:
        signal.raise_signal(signal.SIGINT)
