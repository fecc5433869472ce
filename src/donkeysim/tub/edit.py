"""Changing a tub: its lock, and cutting records out and putting them back (marks only; no record is ever removed)."""

import contextlib
import logging
import os
from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path

from donkeysim.core.errors import TubError
from donkeysim.tub.files import explain_failure, replace_file
from donkeysim.tub.manifest import MANIFEST_NAME, format_manifest, read_manifest
from donkeysim.tub.repair import open_for_change, refuse_old_format

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


def delete_range(folder: str | Path, first: int, last: int) -> frozenset[int]:
    """Mark the records at positions `first` to `last`, both included, as deleted.

    Returns:
        All deleted positions afterwards.

    Raises:
        TubError: This is no tub, another program writes to it, or the disk is full.
    """
    return change_deleted(folder, lambda deleted, count: deleted | set(range(max(first, 0), min(last + 1, count))))


def find_last_alive(total: int, deleted: Collection[int], count: int) -> list[int]:
    """Return the last `count` positions below `total` that are not deleted, in order."""
    alive = (position for position in range(total - 1, -1, -1) if position not in deleted)
    return list(islice(alive, max(count, 0)))[::-1]


def change_deleted(folder: str | Path, change: Callable[[set[int], int], set[int]]) -> frozenset[int]:
    """Replace the set of deleted positions by what `change(deleted, record_count)` makes of it; saved at once."""
    path = Path(folder).expanduser()
    refuse_old_format(path)
    read_manifest(path)  # says so when this is no tub, before a lock is left in it
    with explain_failure(f"deletions into the tub {path}"):
        lock = TubLock(path)
        try:
            manifest = open_for_change(path)
            manifest.deleted_indexes = change(set(manifest.deleted_indexes), manifest.current_index)
            replace_file(path / MANIFEST_NAME, format_manifest(manifest))
        finally:
            lock.release()
    return frozenset(manifest.deleted_indexes)
