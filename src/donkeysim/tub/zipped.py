"""Tubs in ZIP files, as pages hand them out: unpacked beside the file, once."""

import json
import zipfile
import zlib
from pathlib import Path

from donkeysim.core.errors import TubError
from donkeysim.core.files import make_folder
from donkeysim.tub.manifest import MANIFEST_NAME

MOST = 8 << 30
"""Of what a file holds, unpacked [byte]: more than ten hours of driving."""


MARK = ".unpacked"
"""File that says of which ZIP file a folder is."""


def is_zipped(path: Path) -> bool:
    """Return whether a path is that of a ZIP file."""
    return path.suffix.lower() == ".zip" and path.is_file()


def unpack_tub(path: Path) -> Path:
    """Return the folder of the tub in a ZIP file: what lies in the file lies beside it, in a folder of its name.

    One that has been unpacked before is taken as it is.

    Raises:
        TubError: It is no ZIP file, holds no tub or several, cannot be unpacked, or a folder of another one is there.
    """
    folder, stamp = path.with_suffix(""), path.stat()
    mark = json.dumps({"size": stamp.st_size, "changed": stamp.st_mtime_ns})
    try:
        with zipfile.ZipFile(path) as file:
            inner = _find_tub(file, path)
            if not folder.exists():
                with make_folder(folder, TubError) as fresh:
                    file.extractall(fresh)
                    (fresh / MARK).write_text(mark, encoding="utf-8")
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
        raise TubError(f"{path} cannot be unpacked: {error}; take the folder that was packed into it.") from error
    marked = folder / MARK
    if not marked.is_file() or marked.read_text(encoding="utf-8") != mark:
        raise TubError(f"{folder} is there already and is not of {path} as it is now; rename or remove one of the two.")
    return folder / inner


def _find_tub(file: zipfile.ZipFile, path: Path) -> Path:
    """Return the folder of the one tub within a ZIP file."""
    if sum(entry.file_size for entry in file.infolist()) > MOST:
        raise TubError(f"{path} holds more than {MOST >> 30} GB; unpack it yourself if you trust it.")
    found = [Path(name).parent for name in file.namelist() if Path(name).name == MANIFEST_NAME]
    if len(found) != 1:
        raise TubError(f"{path} holds {len(found) or 'no'} tubs; it takes a ZIP file with one, or the tub's folder.")
    return found[0]
