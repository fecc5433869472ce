"""Waiting for something to become true, with a deadline that a busy machine keeps."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 30.0


def wait_until(
    is_so: Callable[[], Any],
    what: object = "it did not happen",
    *,
    seconds: float = PATIENCE,
    pause: Callable[[float], Any] = time.sleep,
) -> Any:
    """Ask again and again until the answer is true, and return it; fail after some seconds.

    Args:
        is_so: The question.
        what: Told when it fails; called for the text if it can be called.
        seconds: Patience [s]: how long a machine with other work may take, not how long it should.
        pause: Lets that many seconds pass between two questions; a browser's page must be served meanwhile.
    """
    deadline = time.monotonic() + seconds
    while not (answer := is_so()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        pause(0.01)
    return answer


def watch_stay(is_so: Callable[[], Any], seconds: float) -> None:
    """Fail when something ceases to be true within a while; for what must not happen, which no condition announces."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert is_so(), "it did not stay so"
        time.sleep(0.01)
