"""Files that appear whole or not at all, also when Ctrl-C comes, and what to do where the system takes none."""

import contextlib
import errno
import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from donkeysim.core.errors import DonkeySimError, SpecError

_FULL = "make room and try again"

# Windows refuses a file that another program has open in the same words.
_FORBIDDEN = "work in another folder, or let this user write there"
_FORBIDDEN = f"close the program that has it open, {_FORBIDDEN}" if os.name == "nt" else _FORBIDDEN

_ADVICE = {
    errno.ENOSPC: _FULL,
    getattr(errno, "EDQUOT", errno.ENOSPC): _FULL,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: "work in another folder, this one's disk takes nothing",
    errno.EMFILE: "close what is not needed, or raise the limit of open files (ulimit -n)",
    errno.ENFILE: "close other programs",
}

_LEFT_OVER = re.compile(r"\..*\.(\d+)-\w{8}\.new(\.\w+)?")
"""Names of files that are not whole yet, with the process that writes them."""

POINTER = b"version https://git-lfs"
"""What a file begins with that was cloned without Git LFS: it stands for another."""

POINTER_ADVICE = "only says where Git LFS keeps it; get the file itself by 'git lfs pull' in its repository"

Stamp = tuple[int, int, int]
"""Of a file: time of the last change [ns], size [bytes], and the number by which the system knows it."""

RENAME_TRIES = 50 if os.name == "nt" else 0

RENAME_PAUSE = 0.005
"""Between two tries [s]."""

_under_way: set[str] = set()
"""Names of files that this process is writing: its number alone may have been that of a killed one, too."""


def describe_failure(error: OSError) -> str:
    """Return why the system refused and what to do about it, as clauses without a full stop."""
    reason = error.strerror or " ".join(str(error).split())
    advice = _ADVICE.get(error.errno or 0)
    return f"{reason}; {advice}" if advice else reason


def read_stamp(path: Path) -> Stamp | None:
    """Return what changes with a file or its place; None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def check_place(path: Path, kind: type[DonkeySimError] = DonkeySimError) -> None:
    """Check that a file can be written, or a folder made, before the work whose result it takes.

    Raises:
        DonkeySimError: It cannot; the folders before it are made only when it is written.
    """
    place = path.expanduser().absolute()
    while not os.path.lexists(place):
        place = place.parent
    if place != path.expanduser().absolute() and not place.is_dir():
        raise kind(f"cannot write {path}: {place} is no folder; choose another place.")
    if not os.access(place, os.W_OK):
        raise kind(f"cannot write {path}: {place} takes nothing from this user; {_FORBIDDEN}.")
    if place.is_dir():
        try:
            with tempfile.TemporaryFile(dir=place):  # of a full disk, or /proc, the rights say nothing
                return
        except OSError as error:
            raise kind(
                f"cannot write {path}: {place} takes no files ({error.strerror}); choose another place."
            ) from error


def read_python(path: Path, advice: str) -> CodeType:
    """Return the compiled source of a Python file; nothing of it is run.

    Args:
        advice: What to do where that is not possible.

    Raises:
        SpecError: There is no such file, or it is not Python.
    """
    try:
        code: CodeType = compile(path.read_bytes(), str(path), "exec")
    except (OSError, SyntaxError, ValueError) as error:
        raise SpecError(f"{path} cannot be read as Python ({error}); {advice}.") from error
    return code


def choose_free(path: Path, mark: str = "-") -> Path:
    """Return a path where nothing is: race.html, else race-2.html and so on; `mark` stands before the number."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_stem(f"{path.stem}{mark}{number}")
    return candidate


def write_whole(path: Path, content: bytes, kind: type[DonkeySimError] = DonkeySimError) -> None:
    """Write a file as a whole or not at all; its folder is made.

    Raises:
        DonkeySimError: It cannot be written; nothing has changed then.
    """
    with replace_file(path, kind) as beside:
        beside.write_bytes(content)


@contextlib.contextmanager
def replace_file(path: Path, kind: type[DonkeySimError] = DonkeySimError, mode: int = 0o666) -> Iterator[Path]:
    """Give a path beside `path` to write to; it takes the place of `path` when the block ends without an error.

    A block that removes its file again leaves `path` as it was. Whoever is killed in the block leaves a hidden file,
    which the next one to write into the folder takes away.

    Args:
        path: The file; its folder is made.
        mode: Who may do what with it; the process's umask is taken from it.

    Raises:
        DonkeySimError: The file cannot be written; nothing has changed then.
    """
    beside = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_left_over(path.parent)
        beside = _make_beside(path)
        yield beside
        if beside.exists():
            beside.chmod(mode & ~_read_umask())
            put_in_place(beside, path)
    except OSError as error:
        raise kind(f"cannot write {path}: {describe_failure(error)}.") from error
    finally:
        if beside is not None:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
            _under_way.discard(beside.name)


def put_in_place(fresh: Path, path: Path) -> None:
    """Give a new file the name of another, which it replaces, or a folder a name that is free.

    Windows refuses while somebody reads the other file, or one in the folder, as scanners do that look for viruses.
    """
    for _ in range(RENAME_TRIES):
        try:
            fresh.replace(path)
            return
        except PermissionError:
            threading.Event().wait(RENAME_PAUSE)
    fresh.replace(path)


@contextlib.contextmanager
def make_folder(path: Path, kind: type[DonkeySimError] = DonkeySimError) -> Iterator[Path]:
    """Give a hidden folder beside `path` to fill; it becomes `path` when the block ends without an error.

    Whoever is killed in the block leaves the hidden folder, which the next one to write beside it takes away.

    Args:
        path: The folder, which is not there yet; what it lies in is made.

    Raises:
        DonkeySimError: It cannot be written; nothing is left of it then.
    """
    beside = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_left_over(path.parent)
        beside = Path(tempfile.mkdtemp(".new", f".{path.name}.{os.getpid()}-", path.parent))
        _under_way.add(beside.name)
        yield beside
        beside.chmod(0o777 & ~_read_umask())
        put_in_place(beside, path)
    except OSError as error:
        raise kind(f"cannot write {path}: {describe_failure(error)}.") from error
    finally:
        if beside is not None:
            shutil.rmtree(beside, ignore_errors=True)
            _under_way.discard(beside.name)


def _make_beside(path: Path) -> Path:
    prefix, suffix = f".{path.stem}.{os.getpid()}-", f".new{path.suffix}"
    number, name = tempfile.mkstemp(prefix=prefix, suffix=suffix, dir=path.parent)
    os.close(number)
    _under_way.add(Path(name).name)
    return Path(name)


def _remove_left_over(folder: Path) -> None:
    """Remove what killed writers have left in a folder, of whichever file or folder."""
    for name in os.listdir(folder):
        process = _LEFT_OVER.fullmatch(name)
        if process and name not in _under_way and not _is_another(int(process[1])):
            with contextlib.suppress(OSError):
                shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()


def _is_another(process: int) -> bool:
    """Return whether another process runs under a number."""
    import psutil  # of no use where nothing is left over

    return process != os.getpid() and bool(psutil.pid_exists(process))


def _read_umask() -> int:
    """The permissions that this process takes from new files; setting is the only way to read it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def find_outside_data(file: Any) -> str:
    """Return the name of the first thing in an open h5py file whose data lie in another file; "" for none.

    External links, datasets with external storage and virtual datasets are such things. Soft links lead to what is
    found by its own name.
    """
    import h5py

    waiting, seen = [file["/"]], set()
    while waiting:
        group = waiting.pop()
        place = h5py.h5o.get_info(group.id).addr
        if place in seen:
            continue
        seen.add(place)
        for name in group:
            link = group.get(name, getlink=True)
            path = f"{group.name.rstrip('/')}/{name}"
            if isinstance(link, h5py.ExternalLink):
                return path
            inner = group[name] if isinstance(link, h5py.HardLink) else None
            if isinstance(inner, h5py.Dataset) and (inner.external or inner.is_virtual):
                return path
            if isinstance(inner, h5py.Group):
                waiting.append(inner)
    return ""


@contextlib.contextmanager
def hold_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done, then do what it always does; an error of the block comes first.

    Outside the main thread, where Python calls no handlers, and where Ctrl-C is ignored, nothing changes. Keep the
    block short: somebody is waiting.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    pressed = False

    def note(*_: object) -> None:
        nonlocal pressed
        pressed = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pressed:
        signal.raise_signal(signal.SIGINT)
