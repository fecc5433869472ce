"""Disks of a few megabytes, which fill up, or which nobody may write to; where this machine lets us mount them."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest


@contextlib.contextmanager
def mount_disk(folder, size="4m"):
    """Mount an empty disk at a folder, made if need be; skips the test where one may not mount."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "donkeysim-test", str(folder)]
    if os.name == "nt" or os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("disks can be mounted by root on Linux only")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_up(folder, room=0):
    """Leave so many bytes of room on a disk; return the file that takes the others."""
    ballast = Path(folder) / ".ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 16)):
            pass
    os.truncate(ballast, max(0, ballast.stat().st_size - room))
    return ballast


def forbid_writing(folder):
    """Make a mounted disk read-only."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


def list_files(folder):
    """Return the names of a folder's files, the ballast left out."""
    return sorted(path.name for path in Path(folder).iterdir() if path.name != ".ballast")
