"""The wire's listening socket, opened before anything heavy is imported."""

from __future__ import annotations

import socket

from donkeysim.core.errors import SpecError
from donkeysim.web.listener import try_listen


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
        flags = socket.AI_PASSIVE
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise SpecError(f"--host {host!r} is unknown; give an address of this machine such as 127.0.0.1.") from error
    listener = try_listen(host, port, family, address)
    if listener is None:
        raise PortInUseError(
            f"port {port} on {host} is in use; stop the other program, or give another port with --port."
        )
    return listener
