"""Who reaches a page and under which addresses: this machine only, or its network too, with a token and over TLS.

From nobody a page takes more than it has use for (`read_body`).
"""

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from donkeysim.core.errors import DonkeySimError, SpecError, WireError
from donkeysim.web.address import find_network_address, list_own_names
from donkeysim.web.origin import LOOPBACK_HOSTS
from donkeysim.web.tls import Certificate, keep_certificate

# The longest body (4 MiB) comes in time at 3.4 Mbit/s; a client that sends a byte now and then would keep its
# connection for ever.
BODY_SECONDS = 10.0
"""Longest time that a body may take to come [s]."""


@dataclass(frozen=True)
class Access:
    """How a page is reached.

    Attributes:
        hosts: Names the page answers to, without port, in lower case.
        token: What others in the network must know; None: they do not reach the page.
        certificate: Of TLS; None: plain HTTP.
        url: Where the page is on this machine, without a slash at its end.
        network_url: Where others in the network find it, likewise; None when they cannot.
    """

    hosts: frozenset[str] = frozenset(LOOPBACK_HOSTS)
    token: str | None = None
    certificate: Certificate | None = None
    url: str = ""
    network_url: str | None = None


THIS_MACHINE = Access()
"""Nobody else reaches the page."""


def arrange_access(
    listener: socket.socket, make_token: Callable[[], str], tls_folder: Path | None, own_name: str = "127.0.0.1"
) -> Access:
    """Return how the page on a bound socket is reached.

    Args:
        listener: Bound to a loopback address, to another one of this machine, or to all of them.
        make_token: Returns the token; asked only when others reach the page.
        tls_folder: Where certificate and key are kept; None: no TLS.
        own_name: What the page is called on this machine.

    Raises:
        SpecError: Token or certificate cannot be kept; the socket is closed then.
    """
    try:
        return _arrange(listener, make_token, tls_folder, own_name)
    except SpecError:
        listener.close()
        raise


def _arrange(listener: socket.socket, make_token: Callable[[], str], tls_folder: Path | None, own_name: str) -> Access:
    host, port = listener.getsockname()[:2]
    bound = ipaddress.ip_address(host.partition("%")[0])
    is_open = not bound.is_loopback
    address = find_network_address() if bound.is_unspecified else host if is_open else None
    names = list_own_names(address)
    certificate = None if tls_folder is None else keep_certificate(tls_folder, names)
    scheme = "https" if certificate else "http"
    is_own_name = bound.is_unspecified or host == "127.0.0.1"
    own = own_name if is_own_name else write_host(host)
    outside = f"{scheme}://{write_host(address or socket.gethostname())}:{port}" if is_open else None
    return Access(
        hosts=frozenset((*LOOPBACK_HOSTS, *(map(write_host, names) if is_open else ()))),
        token=make_token() if is_open else None,
        certificate=certificate,
        url=f"{scheme}://{own}:{port}",
        network_url=outside,
    )


def write_host(name: str) -> str:
    """Return a name or address as it stands in a URL."""
    return f"[{name}]" if ":" in name else name


async def read_body(request: Request, limit: int, too_long: DonkeySimError) -> bytes:
    """Return the body of a request.

    Args:
        limit: The most bytes to take; the rest is not read.
        too_long: What is raised when there are more.

    Raises:
        DonkeySimError: `too_long`, or it did not come within `BODY_SECONDS`.
        ClientDisconnect: Who asked has gone.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise too_long
    except TimeoutError as error:
        raise WireError(f"the request did not come within {BODY_SECONDS:g} s; send it again.") from error
    return bytes(body)
