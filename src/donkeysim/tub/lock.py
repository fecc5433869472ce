"""One writer per tub: a lock that ends with the process that holds it, however that ends."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from donkeysim.core.errors import TubError
from donkeysim.tub.files import explain_failure

logger = logging.getLogger(__name__)

LOCK_NAME = ".lock"
"""File in a tub's folder that its writer locks; it holds the writer's process number and stays behind, unlocked."""


class TubLock:
    """Holds a tub's lock from construction to `release`."""

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            TubError: Another writer holds it, or the folder cannot be written to.
        """
        import filelock  # of no use to those who only read tubs

        with explain_failure(f"into the tub {folder}"):
            self._descriptor: int | None = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            is_ours = filelock.lock_descriptor(self._descriptor, blocking=False)
        except OSError as error:
            is_ours = True
            logger.warning(
                "%s is on a disk that does not support locks (%s): write to it from one program only", folder, error
            )
        if not is_ours:
            os.lseek(self._descriptor, 1, os.SEEK_SET)  # Windows lets nobody read the first byte, which is the locked
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip()
            self.release()
            named = f" (process {holder})" if holder else ""
            raise TubError(
                f"the tub {folder} is being written to by another program{named}; stop it, or choose another folder."
            )
        with contextlib.suppress(OSError):  # a full disk keeps the number out, not the lock
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f" {os.getpid()}\n".encode())

    def release(self) -> None:
        """Let the next writer in; a second time does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
