"""Where `donkey_sim` serves its private API, and with which key: never on the command line, which others can read.

And who listens on a port of this machine, as far as this user may know.
"""

import os
import socket
from collections.abc import Iterator
from typing import NamedTuple

import psutil

from donkeysim.core.errors import SpecError
from donkeysim.web.listener import open_listener

KEY_VARIABLE = "DONKEYSIM_PRIVATE_KEY"
"""Of the environment; removed from it once read, so that no program started from here inherits it."""

SHORTEST_KEY = 8
"""Characters; the original's keys have 8 digits."""


class PrivatePort(NamedTuple):
    """A port that listens already, and the key of whoever may speak there."""

    listener: socket.socket
    key: str


def open_private_port(host: str, port: int | None) -> PrivatePort | None:
    """Open the port and print where it is, with its key if that was made here; None: it was not asked for.

    Raises:
        PortInUseError: Another program listens on the port.
        SpecError: The host is not this machine's, or the key is too short.
    """
    if port is None:
        return None
    given = os.environ.pop(KEY_VARIABLE, "").strip()
    if given and len(given) < SHORTEST_KEY:
        raise SpecError(f"the key in {KEY_VARIABLE} has {len(given)} characters; give it {SHORTEST_KEY} or more.")
    listener = open_listener(host, port, "--private-")
    host, port = listener.getsockname()[:2]
    from donkeysim.web.token import make_token

    key = given or make_token()
    print(f"Private API on {host}:{port}; its key is {f'in {KEY_VARIABLE}' if given else key}", flush=True)
    return PrivatePort(listener, key)


class Owner(NamedTuple):
    """A process."""

    pid: int
    command: str
    """What it was started with, or its name where the system says no more."""


def find_owner(port: int) -> Owner | None:
    """Return the process that listens on a TCP port, or None when that cannot be found out."""
    return next((_describe(process) for process in psutil.process_iter() if port in _list_ports(process)), None)


def _list_ports(process: psutil.Process) -> Iterator[int]:
    """Yield the ports that a process listens on. Asked one by one, because macOS reports all at once to root only."""
    try:
        for connection in process.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                yield connection.laddr.port
    except (psutil.Error, OSError):  # another user's, or it has just ended
        return


def _describe(process: psutil.Process) -> Owner:
    try:
        return Owner(process.pid, " ".join(process.cmdline()) or process.name())
    except (psutil.Error, OSError):
        return Owner(process.pid, "a process")
