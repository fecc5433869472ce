"""Listening sockets that take a port from nobody, and by which names and addresses this machine is reached.

Nothing heavy is imported for them.
"""

import errno
import ipaddress
import socket
import sys
from typing import Any

from donkeysim.core.errors import SpecError

# As many as are let in at all: a burst of connections is refused in words, not by the system.
BACKLOG = 512
"""Connections that the system keeps until they are taken up."""

ANYWHERE = ("192.0.2.1", 9)
"""An address of no one (RFC 5737): asking the way there sends nothing."""


class PortInUseError(SpecError):
    """Another program listens there."""


def try_listen(host: str, port: int, family: int = socket.AF_INET, address: Any = None) -> socket.socket | None:
    """Return a socket that listens, or None when another program listens there.

    Args:
        host: Name or address of this machine.
        port: 0 takes any free one.
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


def find_network_address() -> str | None:
    """Return the IPv4 address under which others in the network reach this machine, or None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ANYWHERE)
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if ipaddress.ip_address(address).is_loopback or address == "0.0.0.0" else address


def is_loopback(host: str) -> bool:
    """Return whether an address is this machine's own, which nobody else can send from."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def list_own_names(address: str | None) -> tuple[str, ...]:
    """Return the names of this machine in lower case: loopback, host name, and the network address if there is one."""
    name = socket.gethostname().lower()
    is_plain = name.isascii() and name.replace("-", "").replace(".", "").replace("_", "").isalnum()
    own = (name, name.partition(".")[0] + ".local") if is_plain else ()
    return tuple(dict.fromkeys(("localhost", "127.0.0.1", "::1", *own, *filter(None, [address]))))
