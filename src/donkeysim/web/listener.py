"""Listening sockets that take a port from nobody; nothing heavy is imported for them."""

import errno
import socket
import sys
from typing import Any

from donkeysim.core.errors import SpecError

# As many as are let in at all: a burst of connections is refused in words, not by the system.
BACKLOG = 512
"""Connections that the system keeps until they are taken up."""


class PortInUseError(SpecError):
    """Another program listens there."""


def try_listen(host: str, port: int, family: int = socket.AF_INET, address: Any = None) -> socket.socket | None:
    """Return a socket that listens, or None when another program listens there.

    Args:
        host: Name or address of this machine.
        port: 0 takes any free one.
        family: Of the address.
        address: What the host's name stands for, if it was looked up.

    Raises:
        SpecError: The host is not this machine's, or the port may not be opened.
    """
    listener = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform == "win32":  # there SO_REUSEADDR would take the port from whoever listens on it
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address or (host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE or (sys.platform == "win32" and error.errno == errno.EACCES):
            return None
        raise SpecError(f"cannot listen on {host}:{port}: {error.strerror or error}.") from error
    listener.setblocking(False)
    return listener


def open_listener(host: str, port: int, prefix: str = "--") -> socket.socket:
    """Return a socket that listens.

    Args:
        host: Name or address of this machine.
        port: 1 to 65535; 0 takes any free one.
        prefix: Of the options `host` and `port` that errors name.

    Raises:
        PortInUseError: Another program listens on the port.
        SpecError: The host is not this machine's, or the port may not be opened.
    """
    try:
        flags = socket.AI_PASSIVE
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise SpecError(
            f"{prefix}host {host!r} is unknown; give an address of this machine such as 127.0.0.1."
        ) from error
    listener = try_listen(host, port, family, address)
    if listener is None:
        raise PortInUseError(
            f"port {port} on {host} is in use; stop the other program, or give another port with {prefix}port."
        )
    return listener
