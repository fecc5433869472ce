"""Who listens on a port of this machine, as far as this user may know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import psutil


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
