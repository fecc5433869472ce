"""Cutting records out of a tub and putting them back: marks in the manifest, no record is ever removed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path

from donkeysim.tub.files import explain_failure, replace_file
from donkeysim.tub.lock import TubLock
from donkeysim.tub.manifest import MANIFEST_NAME, format_manifest, read_manifest
from donkeysim.tub.repair import open_for_change, refuse_old_format


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
