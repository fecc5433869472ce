"""A page's server inside a running event loop: a socket on this machine, uvicorn without its signal handlers."""

import asyncio
import contextlib
import errno
import functools
import logging
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any, Self
from weakref import WeakSet

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from donkeysim.core.errors import SpecError
from donkeysim.core.files import describe_failure
from donkeysim.web.access import BODY_SECONDS, Certificate
from donkeysim.web.error_answers import limit_log
from donkeysim.web.limits import MOST_CONNECTIONS, MOST_CONNECTIONS_IN_ALL, name_client
from donkeysim.web.listener import try_listen

PORT_TRIES = 50
"""How many ports from the wished one on are tried."""

MESSAGE_LIMIT = 64 * 1024
"""Longest message that a page may send over a WebSocket [byte]."""

# A head is a packet or two; ten seconds are for the worst wireless link.
HEAD_SECONDS = 10.0
"""How long the head of a request may take to come [s]."""

_TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
    b"Too many connections from your address; close some of its pages.\n"
)

LOG_SECONDS = 60.0
"""For how long it is not logged again [s]."""

_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

_log = logging.getLogger(__name__)


def bind_exactly(port: int, host: str, advice: str) -> socket.socket:
    """Return a bound socket on `port` and no other; 0 takes any free port.

    Args:
        host: An address of this machine, or 0.0.0.0.
        advice: What to do when the port is in use; ends the sentence.

    Raises:
        SpecError: The port is impossible or in use.
    """
    check_port(port)
    bound = try_listen(host, port)
    if bound is None:
        raise SpecError(f"port {port} on {host} is in use; {advice}")
    return bound


def bind_port(port: int, host: str = "127.0.0.1") -> socket.socket:
    """Return a bound socket on `port`, or on the next free one; 0 takes any free port.

    Raises:
        SpecError: The port is impossible, or it and the following `PORT_TRIES - 1` are in use.
    """
    check_port(port)
    last = min(port + PORT_TRIES, 65536) if port else 1
    for candidate in range(port, last):
        bound = try_listen(host, candidate, socket.AF_INET6 if ":" in host else socket.AF_INET)
        if bound is not None:
            return bound
    raise SpecError(f"ports {port} to {last - 1} on {host} are all in use; give another one.")


def check_port(port: int) -> None:
    """Raise a SpecError where there can be no such port; 0 stands for any."""
    if not 0 <= port <= 65535:
        raise SpecError(f"port {port} is not valid; it takes 0 (any free one) to 65535.")


class PageServer:
    """Serves one app on a bound socket in the running loop, from `start` to `stop` or within `async with`.

    SIGINT and SIGTERM stay with the program.
    """

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        *,
        certificate: Certificate | None = None,
        message_limit: int = MESSAGE_LIMIT,
    ) -> None:
        """Prepare.

        Args:
            listener: A bound socket, see `bind_port`; the server closes it.
            certificate: Serve over TLS with it.
            message_limit: A WebSocket that sends more at once is closed [byte].
        """
        host, port = listener.getsockname()[:2]
        self.address = f"{'https' if certificate else 'http'}://{host}:{port}"
        self._listener = listener
        self._callers = Callers()
        limit_log()
        self._server = _LoopServer(
            uvicorn.Config(
                app,
                lifespan="off",
                log_config=None,
                log_level="error",  # a warning would be a line for every broken request
                access_log=False,
                server_header=False,
                http=functools.partial(_PromptProtocol, self._callers),  # type: ignore[arg-type]
                ssl_certfile=certificate.chain if certificate else None,
                ssl_keyfile=certificate.key if certificate else None,
                ws_max_size=message_limit,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=1,
            )
        )
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start serving; returns when connections are accepted."""
        log_briefly(asyncio.get_running_loop())
        self._task = asyncio.create_task(self._server.serve(sockets=[self._listener]), name="page server")
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait((self._task, ready), return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            await self._task  # raises why it ended

    async def stop(self) -> None:
        """Close the socket and every connection; returns after a second or so at most."""
        if self._task is None:
            self._listener.close()
            return
        self._server.should_exit = True
        await self._task
        self._task = None
        self._callers.drop_all()
        await asyncio.sleep(0)  # now the loop has closed their sockets


class Callers:
    """The open connections of a page, by client."""

    def __init__(self) -> None:
        self._open: list[tuple[str, asyncio.Transport]] = []
        self._ever: WeakSet[asyncio.Transport] = WeakSet()

    def admit(self, client: str, transport: asyncio.Transport) -> bool:
        """Return whether there is room for a client's connection, and if so count it until it closes."""
        self._ever.add(transport)
        self._open = [(name, other) for name, other in self._open if not other.is_closing()]
        count = Counter(name for name, _ in self._open)[client]
        if count >= MOST_CONNECTIONS or len(self._open) >= MOST_CONNECTIONS_IN_ALL:
            return False
        self._open.append((client, transport))
        return True

    def drop_all(self) -> None:
        """Cut the connections that uvicorn left: they read nothing, or came while the server closed."""
        for transport in self._ever:
            transport.abort()


class _PromptProtocol(H11Protocol):
    """Waits for no slow head or body, takes a client's share, lets an app wait until the system took what it sends.

    So nothing piles up in this process.
    """

    def __init__(self, callers: Callers, **options: Any) -> None:
        super().__init__(**options)
        self._callers = callers
        self._head_timer: asyncio.TimerHandle | None = None
        self._body_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(1)  # with 0, asyncio's TLS would wait for ever
        if self._callers.admit(name_client(self.client[0] if self.client else ""), transport):
            self._head_timer = self.loop.call_later(HEAD_SECONDS, transport.close)
        else:
            transport.write(_TOO_MANY)
            transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_within_head = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if is_within_head and self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)
        elif not is_within_head:
            self._forget_head()
        if self.conn.their_state is not h11.SEND_BODY:
            self._forget_body()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:  # answered before its body has come
            self._body_timer = self.loop.call_later(BODY_SECONDS, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_head()
        self._forget_body()
        super().connection_lost(exc)

    def _forget_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _forget_body(self) -> None:
        if self._body_timer is not None:
            self._body_timer.cancel()
            self._body_timer = None


class _LoopServer(uvicorn.Server):
    """Uvicorn that leaves signals alone and reports when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, *args: Any, **options: Any) -> None:
        await super().startup(*args, **options)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def log_briefly(loop: asyncio.AbstractEventLoop) -> None:
    """Have a loop log in a sentence that clients must wait; asyncio, which tries again each second, logs tracebacks."""
    silent_until = -LOG_SECONDS

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal silent_until
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _NO_ROOM or "socket" not in context:
            loop.default_exception_handler(context)
        elif loop.time() >= silent_until:
            silent_until = loop.time() + LOG_SECONDS
            _log.error("new connections must wait: %s", describe_failure(error))

    loop.set_exception_handler(handle)
