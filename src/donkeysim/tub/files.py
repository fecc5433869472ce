"""The three ways a tub's files are written; each leaves the file whole or, at worst, with a torn tail.

Nothing is synced to the disk: what the operating system has taken survives the end of the process, however it ends.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from donkeysim.core.errors import TubError
from donkeysim.core.files import describe_failure, put_in_place

_BINARY = getattr(os, "O_BINARY", 0)  # Windows would translate newlines without it

NEW_SUFFIX = ".new"
"""Ending of a file that is about to replace another."""


_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

# A picture of 3840x2160 in three channels has 25 MB without compression.
LONGEST_PICTURE_FILE = 1 << 26
"""Longest file that is read as a picture [byte]."""


def read_picture_file(path: Path) -> bytes:
    """Return a picture's file; a tub of somebody else cannot have another of my files read, or a device without an end.

    Raises:
        OSError: It cannot be read, is no file of the tub itself (a link, a pipe, a device), or is too long.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _BINARY | _CAREFUL)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link; copy the file itself there") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        content = file.read(LONGEST_PICTURE_FILE + 1)
    if len(content) > LONGEST_PICTURE_FILE:
        raise OSError(errno.EFBIG, f"it is longer than {LONGEST_PICTURE_FILE:,} bytes")
    return content


def write_file(path: Path, content: bytes) -> None:
    """Write a whole file; a process that dies here leaves a part of it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o666)
    try:
        _write(descriptor, content)
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file's content; whoever opens it at any moment finds all of the old or all of the new."""
    fresh = path.with_name(path.name + NEW_SUFFIX)
    try:
        write_file(fresh, content)
        put_in_place(fresh, path)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


class AppendedFile:
    """A file that only grows; a failed append is taken back."""

    def __init__(self, path: Path, *, is_new: bool) -> None:
        """Open it; a new one must not be there yet."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY | (os.O_EXCL if is_new else 0)
        self._descriptor: int | None = os.open(path, flags, 0o666)

    def append(self, content: bytes) -> None:
        """Append all of `content` or, when the disk takes only a part, nothing."""
        assert self._descriptor is not None
        before = os.fstat(self._descriptor).st_size
        try:
            _write(self._descriptor, content)
        except OSError:
            os.ftruncate(self._descriptor, before)
            raise

    def take_back(self, length: int) -> None:
        """Cut the last `length` bytes off again."""
        assert self._descriptor is not None
        os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - length)

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextlib.contextmanager
def explain_failure(what: str) -> Iterator[None]:
    """Turn an OSError of the block into one sentence.

    Args:
        what: What was tried, for example "record 12 into the tub data".

    Raises:
        TubError: The block failed.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
            raise TubError(f"cannot write {what}: the disk is full. Earlier records are safe; make room.") from error
        place = f" ({error.filename})" if error.filename else ""
        raise TubError(f"cannot write {what}: {describe_failure(error)}{place}.") from error


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
