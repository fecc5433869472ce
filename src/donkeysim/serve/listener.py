"""The wire's listening socket, opened before anything heavy is imported."""

from __future__ import annotations

import errno
import socket
import sys

from donkeysim.core.errors import SpecError

BACKLOG = 128


class PortInUseError(SpecError):
    """Another program listens there."""


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: Name or address of this machine.
        port: 1 to 65535; 0 takes any free one.

    Raises:
        PortInUseError: Another program listens on the port.
        SpecError: The host is not this machine's, or the port may not be opened.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError) as error:
        raise SpecError(f"--host {host!r} is unknown; give an address of this machine such as 127.0.0.1.") from error
    listener = socket.socket(family, kind, protocol)
    if sys.platform == "win32":  # there SO_REUSEADDR would take the port from whoever listens on it
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            text = f"port {port} on {host} is in use; stop the other program, or give another port with --port."
            raise PortInUseError(text) from error
        raise SpecError(f"cannot listen on {host}:{port}: {error.strerror or error}.") from error
    listener.setblocking(False)
    return listener
