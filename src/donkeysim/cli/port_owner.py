"""Who listens on a port of this machine, as far as this user may know."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_LISTENING = "0A"
"""TCP's state "listen" in /proc/net/tcp."""


class Owner(NamedTuple):
    """A process."""

    pid: int
    command: str
    """What it was started with, or its name where the system tells no more."""


def find_owner(port: int) -> Owner | None:
    """Return the process that listens on a TCP port, or None when that cannot be found out."""
    try:
        if Path("/proc/net/tcp").exists():
            return _find_on_linux(port)
        return _find_on_windows(port) if sys.platform == "win32" else _find_by_lsof(port)
    except (OSError, subprocess.SubprocessError):
        return None


def _find_on_linux(port: int) -> Owner | None:
    sockets = {f"socket:[{inode}]" for inode in _list_listeners(port)}
    for process in Path("/proc").glob("[0-9]*"):
        if sockets and _holds_any(process, sockets):
            words = (process / "cmdline").read_bytes().split(b"\0")
            return Owner(int(process.name), b" ".join(words).decode(errors="replace").strip())
    return None


def _list_listeners(port: int) -> Iterator[str]:
    """Yield the inode of each socket that listens on a port."""
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if table.exists():
            for line in table.read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


def _holds_any(process: Path, sockets: set[str]) -> bool:
    try:
        return any(str(handle.readlink()) in sockets for handle in (process / "fd").iterdir())
    except OSError:  # another user's, or it has just ended
        return False


def _find_by_lsof(port: int) -> Owner | None:
    return read_lsof(_run("lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fpc"))


def read_lsof(text: str) -> Owner | None:
    """Return the first process in what `lsof -Fpc` prints: lines "p" and its id, "c" and its name."""
    found = re.search(r"^p(\d+)\nc(.*)$", text, re.MULTILINE)
    return Owner(int(found[1]), found[2]) if found else None


def _find_on_windows(port: int) -> Owner | None:
    pid = read_netstat(_run("netstat", "-ano", "-p", "TCP"), port)
    if pid is None:
        return None
    rows = list(csv.reader(_run("tasklist", "/FI", f"PID eq {pid}", "/FO", "CSV", "/NH").splitlines()))
    return Owner(pid, rows[0][0] if rows and len(rows[0]) > 1 else "a process")


def read_netstat(text: str, port: int) -> int | None:
    """Return the process id in what `netstat -ano` prints; a listener's peer is port 0, in every language."""
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 5 and fields[1].endswith(f":{port}") and fields[2].endswith(":0") and fields[4].isdigit():
            return int(fields[4])
    return None


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=10, check=False).stdout
