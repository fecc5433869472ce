"""Finding tubs: the paths a person gives, and the name of the next tub in a folder of tubs.

Tubs in ZIP and TAR files, as pages hand them out and people copy them from cars, are unpacked beside the file, once.
"""

import glob
import gzip
import json
import logging
import re
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from donkeysim.core.errors import TubError, format_count
from donkeysim.core.files import make_folder
from donkeysim.tub.manifest import MANIFEST_NAME, OLD_MANIFEST_NAME, has_records
from donkeysim.tub.old_format import RECORD_NAME, is_old_format
from donkeysim.tub.reader import TubReader

try:
    from lzma import LZMAError
except ImportError:  # a Python built without it, which reports that of a .tar.xz by a TarError
    LZMAError = zlib.error  # type: ignore[misc, assignment]

_MOST_UNPACKED = 8 << 30
"""Of what a file holds, unpacked [byte]: more than ten hours of driving."""

_MOST_ENTRIES = 1 << 21
"""Files and folders in a packed file."""

_MARK = ".unpacked"
"""File that says of which packed file a folder is, and on its further lines where the tubs lie within."""

_PACKED = re.compile(r"(?<=[^.])\.(zip|tar|tgz|tar\.(gz|bz2|xz))$", re.IGNORECASE)
"""Ending of a packed file."""

_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError),
    *(tarfile.TarError, gzip.BadGzipFile, LZMAError, EOFError),
    TypeError,  # of Python before 3.11.4, which knows no filter
)
"""What unpacking raises where a file is damaged, locked, or packed in an unknown way."""

_QUOTED = re.compile(r"(['\"])((?:(?!\1).)*)\1")

_log = logging.getLogger(__name__)


def is_tub(folder: Path) -> bool:
    """Return whether a folder holds a tub, of format 2 or older."""
    return has_records(folder) or is_old_format(folder)


def split_paths(given: str | Sequence[str]) -> list[Path]:
    """Return the folders of `--tub A B`, `--tub A,B` or `--tub 'A B'`, `~`, patterns (`tub*`), packed files expanded.

    Not every shell expands patterns, nor takes quotes away. A folder whose name has a comma, a blank or a star counts
    as one; a pattern that fits tubs leaves out other folders, and says so; one that fits nothing stays as it is, for
    whoever says that there is no such tub.
    """
    words = [given] if isinstance(given, str) else list(given)
    return [path for word in words for path in _expand(word)]


def split_tubs(given: str | Sequence[str]) -> list[Path]:
    """Return the tubs that `split_paths` names; of a folder of tubs, as AUTO_CREATE_NEW_TUB makes them, all in it."""
    return [tub for path in split_paths(given) for tub in _list_inner(path)]


def _list_inner(path: Path) -> list[Path]:
    if not path.is_dir() or is_tub(path):
        return [path]
    inner = sorted(folder for folder in path.iterdir() if folder.is_dir() and is_tub(folder))
    if inner:
        _log.info("%s holds %s; all are taken.", path, format_count(len(inner), "tub"))
    return inner or [path]


def _expand(word: str) -> list[Path]:
    whole = Path(word).expanduser()
    if whole.exists():
        return _unpack_tubs(whole) if _PACKED.search(whole.name) and whole.is_file() else [whole]
    if (quoted := _QUOTED.fullmatch(word.strip())) is not None:
        return _expand(quoted[2])
    if "," in word:
        return [path for part in word.split(",") if part.strip() for path in _expand(part.strip())]
    found = sorted(glob.glob(str(whole))) if glob.has_magic(word) else []
    if found:
        return [path for name in _leave_out_folders(found) for path in _expand(name)]
    parts = [_expand(part) for part in word.split()] if len(word.split()) > 1 else []
    if parts and all(path.exists() for paths in parts for path in paths):
        return [path for paths in parts for path in paths]
    return [Path(word.strip()).expanduser()] if word.strip() else []


def _leave_out_folders(found: Sequence[str]) -> list[str]:
    """Return what a pattern fits but folders that are no tubs, where there are tubs among them."""
    strange = [name for name in found if Path(name).is_dir() and not is_tub(Path(name))]
    if any(is_tub(Path(name)) for name in found):
        for name in strange:
            _log.warning("%s is no tub; it is left out.", name)
        return [name for name in found if name not in strange]
    return list(found)


def find_path(given: str | Path) -> Path:
    """Return the one tub or other path that a word names, `~` and a pattern expanded.

    Raises:
        TubError: It names several.
    """
    paths = split_paths(str(given))
    if len(paths) > 1:
        named = ", ".join(map(str, paths[:3])) + (", …" if len(paths) > 3 else "")
        raise TubError(f"{given} names {len(paths)} tubs ({named}); here give one of them.")
    return paths[0] if paths else Path(given)


def open_tubs(given: str | Sequence[str]) -> list[TubReader]:
    """Open every tub of a list of paths.

    Args:
        given: Folders, as separate words or with commas between.

    Raises:
        TubError: No path is given, a path is no tub, or no tub has a living record; one beside others is left out.
    """
    paths = split_tubs(given)
    if not paths:
        raise TubError("no tub is given; name at least one folder of records, for example --tub ./data.")
    tubs = []
    for tub in map(TubReader, paths):
        if next(iter(tub), None) is not None:
            tubs.append(tub)
            continue
        kind = "all its records are deleted" if tub.deleted_indexes else "it has no records"
        nothing = f"there is nothing to read in the tub {tub.path}: {kind}"
        if len(paths) == 1:
            raise TubError(f"{nothing}; record a drive into it first.")
        _log.warning("%s.", nothing)
    if not tubs:
        raise TubError("none of these tubs has a record; record a drive first.")
    return tubs


def next_tub_path(data_path: str | Path) -> Path:
    """Return `data_path/tub_<n>_<yy-mm-dd>`, n one above the highest there is; the folder is not made."""
    folder = Path(data_path).expanduser()
    names = [path.name for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    numbers = [int(match[1]) for name in names if (match := re.match(r"tub_(\d+)", name))]
    return folder / f"tub_{max(numbers, default=0) + 1}_{time.strftime('%y-%m-%d')}"


def _unpack_tubs(path: Path) -> list[Path]:
    """Return the tubs in a packed file: what lies in the file lies beside it, in a folder of its name.

    One that has been unpacked before is taken as it is.

    Raises:
        TubError: It is no such file, holds no tub, cannot be unpacked, or a folder of another one is there.
    """
    folder, stamp = path.with_name(_PACKED.sub("", path.name)), path.stat()
    mark, marked = json.dumps({"size": stamp.st_size, "changed": stamp.st_mtime_ns}), folder / _MARK
    code = {"encoding": "utf-8", "errors": "surrogateescape"}
    lines = marked.read_text(**code).split("\n") if marked.is_file() else [""]
    if folder.exists() and lines[0] != mark:
        raise TubError(f"{folder} is there already and is not of {path} as it is now; rename or remove one of the two.")
    if len(lines) > 1:
        return [folder / name for name in lines[1:]]
    try:
        with _open_packed(path) as file:
            inner = _find_tubs(file, path)
            if not folder.exists():
                with make_folder(folder, TubError) as fresh:
                    if isinstance(file, zipfile.ZipFile):
                        file.extractall(fresh, file.infolist())
                    else:
                        file.extractall(fresh, filter=_pass_plain)
                    (fresh / _MARK).write_text("\n".join([mark, *inner]), **code)
    except _DAMAGE as error:
        raise TubError(f"{path} cannot be unpacked: {error}; take the folder that was packed into it.") from error
    return [folder / name for name in inner]


def _open_packed(path: Path) -> zipfile.ZipFile | tarfile.TarFile:
    """Open a packed file; ZIP files of older .NET and PowerShell have backslashes between folders."""
    if path.suffix.lower() != ".zip":
        return tarfile.open(path)
    file = zipfile.ZipFile(path)
    for entry in file.infolist():
        entry.filename = entry.filename.replace("\\", "/")
    return file


def _pass_plain(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Let files and folders through; a chain of links may lead out of the folder, whatever Python checks."""
    return tarfile.data_filter(member, folder) if member.isfile() or member.isdir() else None


def _find_tubs(file: zipfile.ZipFile | tarfile.TarFile, path: Path) -> list[str]:
    """Return the folders of the tubs within a packed file."""
    size, names = 0, []
    for name, length in _list_files(file):
        size += length
        names.append(Path(name.lstrip("/")))
        if size > _MOST_UNPACKED or len(names) > _MOST_ENTRIES:
            most = f"{_MOST_UNPACKED >> 30} GB or {_MOST_ENTRIES} files"
            raise TubError(f"{path} holds more than {most}; unpack it yourself if you trust it.")
    found = (
        {name.parent for name in names if name.name == MANIFEST_NAME}
        or {name.parent for name in names if name.name == OLD_MANIFEST_NAME or RECORD_NAME.fullmatch(name.name)}
        or {name.parent for name in names if name.suffix == ".csv"}
    )
    if not found:
        raise TubError(f"{path} holds no tub; pack a tub's folder, or give that.")
    for inner in found:
        if ".." in inner.parts or inner.drive:
            raise TubError(f"{path} holds a tub that would lie outside its folder ({inner}); pack it again.")
    return sorted(map(str, found))


def _list_files(file: zipfile.ZipFile | tarfile.TarFile) -> Iterator[tuple[str, int]]:
    """Yield name and size [byte] of all entries, one by one; the names of what is no plain file are empty."""
    if isinstance(file, zipfile.ZipFile):
        yield from ((entry.filename, entry.file_size) for entry in file.infolist())
    else:
        yield from ((entry.name if entry.isfile() else "", abs(entry.size)) for entry in file)
