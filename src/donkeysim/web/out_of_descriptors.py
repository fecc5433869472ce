"""What an event loop says when the system has no room for another connection: one line, now and then."""

from __future__ import annotations

import asyncio
import errno
import logging
from typing import Any

from donkeysim.core.files import describe_failure

TOLD_SECONDS = 60.0
"""So long after it was told it is not told again [s]."""

_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

_log = logging.getLogger(__name__)


def tell_briefly(loop: asyncio.AbstractEventLoop) -> None:
    """Have a loop tell in a sentence that clients must wait; asyncio, which tries again each second, tells a story."""
    silent_until = -TOLD_SECONDS

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal silent_until
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _NO_ROOM or "socket" not in context:
            loop.default_exception_handler(context)
        elif loop.time() >= silent_until:
            silent_until = loop.time() + TOLD_SECONDS
            _log.error("new connections must wait: %s", describe_failure(error))

    loop.set_exception_handler(handle)
