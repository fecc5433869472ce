"""What one client may take of a page, so that others get their share: an address is one, and so is an IPv6 network."""

import asyncio
import contextlib
import ipaddress
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Twenty open pages.
MOST_CONNECTIONS = 64
"""Of one client at once; an open page takes three and a few for a moment."""

# Half of the 1,024 files that systems let a process open.
MOST_CONNECTIONS_IN_ALL = 512
"""Of all clients, so that file descriptors are left for the rest of the program."""

# Six open pages: a few people of one household.
QUESTIONS_A_SECOND = 300.0
"""Requests and WebSocket messages of one client; more of them wait. An open page asks some fifty times a second."""

# Four views of 30 pictures a second.
PICTURES_A_SECOND = 120.0
PICTURES_AT_ONCE = 2
"""Pictures of one client that are waited for at the same time: a page's view and its inset.

Every one more is one more that others wait for: with 60 sockets of another client that ask for 1280 x 720, a page got
12 pictures a second with 2, 6 with 4 and 1 without a limit (two cores).
"""

BURST_SECONDS = 0.25
"""What a client that was quiet may take at once, in seconds of its rate [s]."""

# A token has 49 bits (`web.token`): ten guesses a minute find one in a hundred million years, and a person who mistypes
# has ten tries.
MOST_FAILED_LOGINS = 10
BLOCKED_SECONDS = 60.0

# Some hundred bytes each; an attacker with more addresses than that is somebody else's business.
MOST_CLIENTS = 4096
"""Clients that are remembered; when there are more, those are forgotten that nothing is held against."""

ClockReader = Callable[[], float]


def name_client(host: str) -> str:
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


def find_client(scope: Scope) -> str:
    """Return whose a request is."""
    return name_client((scope.get("client") or ("",))[0])


class RateLimiter:
    """Lets each client do something a number of times a second; one that wants more waits."""

    def __init__(self, rate: float, read_clock: ClockReader = time.monotonic) -> None:
        """Allow `rate` times a second [1/s]."""
        self._seconds = 1.0 / rate
        self._read_clock = read_clock
        self._used: dict[str, float] = {}

    def reserve(self, client: str) -> float:
        """Take the client's next turn and return how long to wait for it [s]."""
        now = self._read_clock()
        if len(self._used) >= MOST_CLIENTS:
            self._used = {name: used for name, used in self._used.items() if used > now}
        used = self._used[client] = max(self._used.get(client, now), now) + self._seconds
        return max(used - now - BURST_SECONDS, 0.0)

    async def wait(self, client: str) -> None:
        """Return when it is the client's turn."""
        if seconds := self.reserve(client):
            await asyncio.sleep(seconds)


class PictureTurns:
    """Pictures of a client are drawn a few at a time, however many of its pages ask."""

    def __init__(self) -> None:
        self._limiter = RateLimiter(PICTURES_A_SECOND)
        self._free: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(PICTURES_AT_ONCE))
        self._users: defaultdict[str, int] = defaultdict(int)

    @contextlib.asynccontextmanager
    async def take(self, client: str) -> AsyncIterator[None]:
        """Wait for the client's turn and keep it until the block ends."""
        self._users[client] += 1
        try:
            async with self._free[client]:
                await self._limiter.wait(client)
                yield
        finally:
            self._users[client] -= 1
            if not self._users[client]:
                del self._users[client], self._free[client]


class FailedLogins:
    """Counts the different wrong tokens a client tried; one that an old cookie repeats counts once."""

    def __init__(self, read_clock: ClockReader = time.monotonic) -> None:
        self._read_clock = read_clock
        self._tried: dict[str, tuple[float, set[int]]] = {}

    def is_blocked(self, client: str) -> bool:
        """Return whether no further token of this client is looked at for now."""
        since, tokens = self._tried.get(client, (0.0, set()))
        return len(tokens) >= MOST_FAILED_LOGINS and self._read_clock() - since < BLOCKED_SECONDS

    def note(self, client: str, token: str) -> None:
        """Count a wrong token."""
        now = self._read_clock()
        if len(self._tried) >= MOST_CLIENTS:
            self._tried = {name: held for name, held in self._tried.items() if now - held[0] < BLOCKED_SECONDS}
        since, tokens = self._tried.get(client, (now, set()))
        if now - since >= BLOCKED_SECONDS:
            since, tokens = now, set()
        tokens.add(hash(token))
        self._tried[client] = (since, tokens)


class RateLimitedRequests:
    """Middleware that lets requests and WebSocket messages of a client wait when there are too many of them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._limiter = RateLimiter(QUESTIONS_A_SECOND)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on in its turn."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        client = find_client(scope)

        async def receive_in_turn() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                await self._limiter.wait(client)
            return message

        await self._limiter.wait(client)
        await self._app(scope, receive if scope["type"] == "http" else receive_in_turn, send)
