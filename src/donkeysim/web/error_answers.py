"""What every answer of a page carries, also where something goes wrong.

Nothing from outside is loaded, run, framed or guessed. Of an error the client gets an answer like every other, and the
log a few lines.
"""

import logging
import time
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_LINES = 20
"""How many are logged in one stretch; further ones are counted."""

STRETCH_SECONDS = 60.0
"""How long a stretch is; then what was not logged is summed up in one line [s]."""

_FAILED = PlainTextResponse("This page could not answer; the program's log says why.\n", status_code=500)

_log = logging.getLogger(__name__)

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self' blob:",  # three.js reads the pictures in a place's file so
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
"""No inline script or style, no other site; text can never become markup (trusted types without a policy)."""

PAGE_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class RateLimitedLog(logging.Filter):
    """Lets a logger say so much a minute, whoever makes it speak; the rest is a number."""

    def __init__(self, read_clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._read_clock = read_clock
        self._began, self._lines, self._untold = -STRETCH_SECONDS, 0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is logged; the first of a stretch says how many of the last one were not."""
        now = self._read_clock()
        if now - self._began >= STRETCH_SECONDS:
            if self._untold:
                record.msg = f"{record.getMessage()} (before it, {self._untold} lines of its kind were left out)"
                record.args = None
            self._began, self._lines, self._untold = now, 0, 0
        self._lines += 1
        self._untold += self._lines > MOST_LINES
        return self._lines <= MOST_LINES


def limit_log() -> None:
    """Limit what pages and what serves them say, once."""
    for name in (__name__, "uvicorn.error"):
        logger = logging.getLogger(name)
        if not any(isinstance(one, RateLimitedLog) for one in logger.filters):
            logger.addFilter(RateLimitedLog())


class ErrorAnswers:
    """The outermost layer of a page: a fault is answered by 500, with the headers of all answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = PageHeaders(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and see to it that there is an answer."""
        has_begun = False

        async def note_answer(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, note_answer)
        except ClientDisconnect:
            return
        except Exception:  # noqa: BLE001  (whatever it is, the client gets an answer and the server runs on)
            _log.exception("a page could not answer %s", ascii(scope.get("path", "")))
            if scope["type"] == "http" and not has_begun:
                await PageHeaders(_FAILED)(scope, receive, note_answer)


class PageHeaders:
    """Middleware that adds `PAGE_HEADERS` to every answer, and `Cache-Control: no-cache` where nothing else is said."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and the answer back with the headers added."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                headers.setdefault("Cache-Control", "no-cache")
                headers.update(PAGE_HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)
