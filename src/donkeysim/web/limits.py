"""What one visitor may take of a page, so that others get their share: an address is one, and so is an IPv6 network."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_CONNECTIONS = 64
"""Of one visitor at once; an open page takes three and a few for a moment."""

MOST_CONNECTIONS_IN_ALL = 512
"""Of all visitors, so that file descriptors are left for the rest of the program."""

QUESTIONS_A_SECOND = 300.0
"""Requests and WebSocket messages of one visitor; more of them wait. An open page asks some fifty times a second."""

PICTURES_A_SECOND = 120.0
PICTURES_AT_ONCE = 2
"""Pictures of one visitor that are waited for at the same time: a page's view and its inset.

Every one more is one more that others wait for: with 60 sockets of another visitor that ask for 1280 x 720, a page got
12 pictures a second with 2, 6 with 4 and 1 without a limit (two cores).
"""

BURST_SECONDS = 0.25
"""What a visitor that was quiet may take at once, in seconds of its rate [s]."""

MOST_WRONG_WORDS = 10
WRONG_WORDS_SECONDS = 60.0

MOST_VISITORS = 4096
"""Visitors that are remembered; when there are more, those are forgotten that nothing is held against."""

ClockReader = Callable[[], float]


def name_visitor(host: str) -> str:
    """Return who an address belongs to: itself, or the /64 network of an IPv6 address, which is one subscriber's."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))


def find_visitor(scope: Scope) -> str:
    """Return whose a request is."""
    return name_visitor((scope.get("client") or ("",))[0])


class Pace:
    """Lets each visitor do something so many times a second; who wants more waits."""

    def __init__(self, rate: float, read_clock: ClockReader = time.monotonic) -> None:
        """Allow `rate` times a second [1/s]."""
        self._seconds = 1.0 / rate
        self._read_clock = read_clock
        self._used: dict[str, float] = {}

    def reserve(self, visitor: str) -> float:
        """Take the visitor's next turn and return how long to wait for it [s]."""
        now = self._read_clock()
        if len(self._used) >= MOST_VISITORS:
            self._used = {name: used for name, used in self._used.items() if used > now}
        used = self._used[visitor] = max(self._used.get(visitor, now), now) + self._seconds
        return max(used - now - BURST_SECONDS, 0.0)

    async def wait(self, visitor: str) -> None:
        """Return when it is the visitor's turn."""
        if seconds := self.reserve(visitor):
            await asyncio.sleep(seconds)


class PictureTurns:
    """Pictures of a visitor are drawn a few at a time, however many of its pages ask."""

    def __init__(self) -> None:
        self._pace = Pace(PICTURES_A_SECOND)
        self._free: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(PICTURES_AT_ONCE))
        self._users: defaultdict[str, int] = defaultdict(int)

    @contextlib.asynccontextmanager
    async def take(self, visitor: str) -> AsyncIterator[None]:
        """Wait for the visitor's turn and keep it until the block ends."""
        self._users[visitor] += 1
        try:
            async with self._free[visitor]:
                await self._pace.wait(visitor)
                yield
        finally:
            self._users[visitor] -= 1
            if not self._users[visitor]:
                del self._users[visitor], self._free[visitor]


class WrongWords:
    """Counts the different wrong words a visitor tried; one that an old cookie repeats counts once."""

    def __init__(self, read_clock: ClockReader = time.monotonic) -> None:
        self._read_clock = read_clock
        self._tried: dict[str, tuple[float, set[int]]] = {}

    def has_tried_enough(self, visitor: str) -> bool:
        """Return whether no further word of this visitor is looked at for now."""
        since, words = self._tried.get(visitor, (0.0, set()))
        return len(words) >= MOST_WRONG_WORDS and self._read_clock() - since < WRONG_WORDS_SECONDS

    def note(self, visitor: str, word: str) -> None:
        """Count a wrong word."""
        now = self._read_clock()
        if len(self._tried) >= MOST_VISITORS:
            self._tried = {name: held for name, held in self._tried.items() if now - held[0] < WRONG_WORDS_SECONDS}
        since, words = self._tried.get(visitor, (now, set()))
        if now - since >= WRONG_WORDS_SECONDS:
            since, words = now, set()
        words.add(hash(word))
        self._tried[visitor] = (since, words)


class PacedQuestions:
    """Middleware that lets requests and WebSocket messages of a visitor wait when there are too many of them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._pace = Pace(QUESTIONS_A_SECOND)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on in its turn."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        visitor = find_visitor(scope)

        async def receive_in_turn() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                await self._pace.wait(visitor)
            return message

        await self._pace.wait(visitor)
        await self._app(scope, receive if scope["type"] == "http" else receive_in_turn, send)
