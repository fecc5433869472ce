"""Changing a tub: its lock, putting in order what a killed writer left, and cutting records out and back in.

A writer of ours leaves at most a torn last line, tables one record behind, a picture without a record, and a file that
was about to replace another. A writer of the original may also leave a half-written manifest or line table. Whoever
writes next puts that in order, under the tub's lock. Cutting out marks only; no record is ever removed.
"""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path

from donkeysim.core.errors import TubError, format_count
from donkeysim.tub.catalog import (
    CatalogIndex,
    count_lines,
    follow_positions,
    list_catalogs,
    locate_table,
    parse_record,
    read_lines,
    read_table,
    warn_of_losses,
)
from donkeysim.tub.files import NEW_SUFFIX, explain_failure, replace_file
from donkeysim.tub.manifest import MANIFEST_NAME, Manifest, format_manifest, read_manifest
from donkeysim.tub.old_format import is_old_format

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


def refuse_old_format(folder: Path) -> None:
    """Raise TubError when a folder holds a tub of the format before 2."""
    if not (folder / MANIFEST_NAME).exists() and is_old_format(folder):
        raise TubError(
            f"the tub {folder} is of a format before 2: it can be read but not changed; donkey convert makes one of 2."
        )


def open_for_change(folder: Path) -> Manifest:
    """Read a tub's manifest, and bring it and the files into order where a killed writer left them.

    Raises:
        TubError: This is no tub, it is of the old format, or a catalog is missing.
        OSError: A file cannot be written.
    """
    refuse_old_format(folder)
    manifest = read_manifest(folder)
    before = format_manifest(manifest)
    catalogs = list_catalogs(folder, manifest)
    for name in catalogs:
        if not (folder / name).exists():
            read_lines(folder / name)  # raises: to write on without it would number the records anew
    counts = count_lines(folder, catalogs, manifest.max_len)
    warn_of_losses(folder, counts)  # the last time: tables are made to fit what is left
    manifest.paths = _drop_empty_tail(folder, catalogs)
    start = 0
    for name in manifest.paths:
        start += _repair_catalog(folder / name, start, is_last=name == manifest.paths[-1])
    manifest.current_index = _find_next_index(folder, manifest, start)
    manifest.deleted_indexes = follow_positions(counts, manifest.deleted_indexes)
    after = format_manifest(manifest)
    path = folder / MANIFEST_NAME
    if not path.exists() or after != path.read_bytes():
        if after != before:
            logger.warning(
                "the tub %s was not closed properly; it was repaired and has %s", folder, format_count(start, "record")
            )
        replace_file(path, after)
    for name in (MANIFEST_NAME, *(locate_table(folder / name).name for name in manifest.paths[-1:])):
        with contextlib.suppress(OSError):
            (folder / (name + NEW_SUFFIX)).unlink(missing_ok=True)
    return manifest


def _drop_empty_tail(folder: Path, names: list[str]) -> list[str]:
    """Remove catalogs at the end that were begun and never written to: the original cannot open an empty one."""
    while names and (folder / names[-1]).is_file() and not read_lines(folder / names[-1]):
        catalog = folder / names.pop()
        for path in (catalog, locate_table(catalog)):
            path.unlink(missing_ok=True)
    return names


def _repair_catalog(catalog: Path, start: int, *, is_last: bool) -> int:
    """Make the catalog end with a whole line and its table fit it; returns how many lines it has."""
    table = read_table(catalog)
    if table and table.lengths and not is_last and catalog.is_file() and sum(table.lengths) == catalog.stat().st_size:
        return len(table.lengths)
    lines = read_lines(catalog)
    if not lines:
        return 0
    whole = b"".join(lines)
    if not whole.endswith(b"\n"):
        lines[-1] += b"\n"
        whole += b"\n"
    if len(whole) != catalog.stat().st_size:
        _set_tail(catalog, whole)
    lengths = [len(line.decode("utf-8", "replace")) for line in lines]
    if table is None or table.lengths != lengths:
        record = parse_record(lines[0]) or {}
        created_at = table.created_at if table else time.time()
        start_index = table.start_index if table else int(record.get("_index", start))
        fitting = CatalogIndex(locate_table(catalog).name, created_at, start_index, lengths)
        replace_file(locate_table(catalog), fitting.format())
    return len(lines)


def _set_tail(catalog: Path, whole: bytes) -> None:
    """Cut a torn last line off, or end the last one with its newline."""
    with catalog.open("r+b") as file:
        if len(whole) < catalog.stat().st_size:
            file.truncate(len(whole))
        else:
            file.seek(len(whole) - 1)
            file.write(b"\n")


def _find_next_index(folder: Path, manifest: Manifest, line_count: int) -> int:
    """Return the index of the next record: behind the last, and the number of lines wherever the two agree."""
    if not manifest.paths:
        return 0
    last = parse_record(read_lines(folder / manifest.paths[-1])[-1]) or {}
    last_index = last.get("_index")
    if last_index == line_count - 1:
        return line_count
    return max(manifest.current_index, line_count, last_index + 1 if isinstance(last_index, int) else 0)


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
