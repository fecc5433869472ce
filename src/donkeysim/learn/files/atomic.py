"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from donkeysim.core.errors import PilotError


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; it takes the place of `path` when the block ends without an error.

    Raises:
        PilotError: The file cannot be written; nothing has changed then.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
        os.close(number)
    except OSError as error:
        raise PilotError(f"cannot write {path}: {error.strerror or error}.") from error
    beside = Path(name)
    try:
        yield beside
        beside.chmod(0o666 & ~_read_umask())
        beside.replace(path)
    except OSError as error:
        raise PilotError(f"cannot write {path}: {error.strerror or error}.") from error
    finally:
        beside.unlink(missing_ok=True)


def _read_umask() -> int:
    """The permissions that this process takes from new files; setting is the only way to read it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
