"""Cutting records out of a tub and putting them back: marks in the manifest, no record is ever removed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
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


def restore_range(folder: str | Path, first: int, last: int) -> frozenset[int]:
    """Take the marks off positions `first` to `last`, both included; otherwise like `delete_range`."""
    return change_deleted(folder, lambda deleted, _count: deleted - set(range(first, last + 1)))


def set_deleted(folder: str | Path, positions: Iterable[int]) -> frozenset[int]:
    """Make exactly these positions the deleted ones; otherwise like `delete_range`."""
    wanted = set(positions)
    return change_deleted(folder, lambda _deleted, count: {index for index in wanted if 0 <= index < count})


def delete_last_records(folder: str | Path, count: int) -> frozenset[int]:
    """Mark the last `count` living records as deleted; otherwise like `delete_range`."""
    return change_deleted(folder, lambda deleted, total: deleted.union(find_last_alive(total, deleted, count)))


def find_last_alive(total: int, deleted: Collection[int], count: int) -> list[int]:
    """Return the last `count` positions below `total` that are not deleted, in order."""
    chosen: list[int] = []
    position = total - 1
    while position >= 0 and len(chosen) < count:
        if position not in deleted:
            chosen.append(position)
        position -= 1
    return chosen[::-1]


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
