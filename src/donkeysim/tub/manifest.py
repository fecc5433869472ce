"""`manifest.json`: what a tub holds, as five lines of JSON.

==== ==========================================================================================
line content
==== ==========================================================================================
1    inputs: the keys of a record
2    types of these, one each
3    the user's metadata
4    the tub's own: when it began, its sessions, the places where they were driven, the cars
5    catalogs: file names, index of the next record, records per catalog, deleted positions
==== ==========================================================================================

A position is the number of a record's line, counted over all catalogs from 0. It equals the record's `_index` unless
somebody took lines out by hand; deletion counts positions, as the original does.
"""

import json
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from donkeysim.core.errors import TubError
from donkeysim.core.files import POINTER, POINTER_ADVICE
from donkeysim.tub.values import name_type, read_number
from donkeysim.world.tracks.former_places import rename_place

MANIFEST_NAME = "manifest.json"
OLD_MANIFEST_NAME = "meta.json"
"""Of the format before 2."""

LOG_NAME = "driving_log.csv"
"""Of Udacity's simulator; see `old_format`."""

IMAGE_FOLDER = "images"
DEFAULT_CATALOG_LENGTH = 1000
"""Records per catalog."""

_CATALOG_NAME = re.compile(r"catalog_[0-9]{1,9}\.catalog")

_SESSION = re.compile(r'"_session_id": ?"([^"\\]{1,40}_[0-9]{1,9})"')
"""Of a record: date and number, as the original writes it."""

logger = logging.getLogger(__name__)

PLACES_FORMAT = 2
"""Of the names of places; where no number stands they are of the first, when others had the original's names."""


@dataclass
class Manifest:
    """The content of `manifest.json`."""

    inputs: list[str]
    types: list[str]
    metadata: dict[str, Any] = field(default_factory=dict)
    own_metadata: dict[str, Any] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    current_index: int = 0
    max_len: int = DEFAULT_CATALOG_LENGTH
    deleted_indexes: set[int] = field(default_factory=set)

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Full ids of all sessions, oldest first."""
        return tuple(self._read_sessions()[0])

    @property
    def created_at(self) -> float:
        """When the tub began [s since 1970]; 0 where it does not say."""
        return read_number(self.own_metadata.get("created_at")) or 0.0

    def add_session(self, full_id: str, number: int) -> None:
        """Note a session; one that is noted already stays as it is."""
        known = self._read_sessions()[0]
        if full_id not in known:
            all_full_ids = [*known, full_id]
            self.own_metadata["sessions"] = {"all_full_ids": all_full_ids, "last_id": number, "last_full_id": full_id}

    def _read_sessions(self) -> tuple[list[str], int]:
        """Return the full ids and the last number, -1 where there is none, of whatever stands there."""
        sessions = self.own_metadata.get("sessions")
        sessions = sessions if isinstance(sessions, dict) else {}
        ids, last = sessions.get("all_full_ids"), sessions.get("last_id")
        known = [str(full_id) for full_id in ids] if isinstance(ids, list) else []
        return known, last if isinstance(last, int) else len(known) - 1

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the places where records were driven, in the order of the first; () where nobody noted them."""
        names = self._list_names("places")
        number = read_number(self.own_metadata.get("places_format")) or 1
        return names if number >= PLACES_FORMAT else tuple(map(rename_place, names))

    def add_place(self, place: str) -> None:
        """Note a place; "" is none."""
        if place:
            self.own_metadata |= {"places": list(self.places), "places_format": PLACES_FORMAT}
            self._note("places", place)

    @property
    def cars(self) -> tuple[str, ...]:
        """What was driven, in the order of the first; () where nobody noted it."""
        return self._list_names("cars")

    def add_car(self, car: str) -> None:
        """Note a car; "" is none."""
        self._note("cars", car)

    def _list_names(self, key: str) -> tuple[str, ...]:
        names = self.own_metadata.get(key)
        return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()

    def _note(self, key: str, name: str) -> None:
        known = self._list_names(key)
        if name and name not in known:
            self.own_metadata[key] = [*known, name]

    def next_session_number(self) -> int:
        """Return the number of the session that would begin now."""
        return self._read_sessions()[1] + 1


def format_head(manifest: Manifest) -> str:
    """Return lines 1 to 4."""
    parts = (manifest.inputs, manifest.types, manifest.metadata, manifest.own_metadata)
    return "".join(json.dumps(part) + "\n" for part in parts)


def format_positions(positions: Iterable[int]) -> str:
    """Return positions as a sorted JSON list."""
    return json.dumps(sorted(positions))


def format_manifest(manifest: Manifest) -> bytes:
    """Return the whole file."""
    deleted = format_positions(manifest.deleted_indexes)
    return (format_head(manifest) + format_catalog_line(manifest, json.dumps(manifest.paths), deleted)).encode()


def format_catalog_line(manifest: Manifest, paths: str, deleted: str) -> str:
    """Return line 5, its two lists given as JSON because they are long and seldom change."""
    return (
        f'{{"paths": {paths}, "current_index": {manifest.current_index}, '
        f'"max_len": {manifest.max_len}, "deleted_indexes": {deleted}}}\n'
    )


def has_records(folder: Path) -> bool:
    """Return whether a folder holds a manifest, or catalogs that have lost theirs."""
    return (folder / MANIFEST_NAME).is_file() or any((folder / name).stat().st_size for name in _find_catalogs(folder))


def read_manifest(folder: Path) -> Manifest:
    """Read a tub's manifest; what a killed writer of the original, or a copy that broke off, left of it is enough.

    That writer cuts lines off before it writes them again: without line 5 the catalogs are looked for in the folder
    and deletions are forgotten, without lines 3 and 4 the metadata is empty. Without lines 1 and 2, or without a
    manifest, inputs and types are taken from the first record of the catalogs.

    Raises:
        TubError: There is no manifest, or its first two lines cannot be understood, and no catalog has a record.
    """
    path = folder / MANIFEST_NAME
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError as error:
        if not has_records(folder):
            hint = name_inner(folder) or "; record a drive into it first (python manage.py drive, or donkey sample)"
            raise TubError(f"{folder} is not a tub: it has no {path.name}{hint}.") from error
        lines = []
    except OSError as error:
        raise TubError(f"{folder} is not a tub: {path.name} cannot be read ({error.strerror}).") from error
    if lines and lines[0].startswith(POINTER):
        raise TubError(f"{path} {POINTER_ADVICE}.")
    inputs, types, metadata, own, catalogs = (_parse_line(lines, number) for number in range(5))
    if not (_is_strings(inputs) and _is_strings(types) and len(inputs) == len(types)):
        inputs, types = _infer_inputs(folder)
    manifest = Manifest(inputs, types)
    manifest.metadata = metadata if isinstance(metadata, dict) else {}
    manifest.own_metadata = own if isinstance(own, dict) else {}
    _take_catalogs(manifest, catalogs, folder)
    if own is None:
        _recover_sessions(manifest, folder)
    return manifest


def _recover_sessions(manifest: Manifest, folder: Path) -> None:
    """Note the sessions that the records name, so that the next one is another."""
    for name in manifest.paths:
        if not (folder / name).is_file():
            continue
        for full_id in dict.fromkeys(_SESSION.findall((folder / name).read_text(encoding="utf-8", errors="replace"))):
            manifest.add_session(full_id, int(full_id.rpartition("_")[2]))


def _infer_inputs(folder: Path) -> tuple[list[str], list[str]]:
    """Return inputs and types as the first record of the catalogs has them.

    Raises:
        TubError: There is none.
    """
    path = folder / MANIFEST_NAME
    for name in _find_catalogs(folder):
        try:
            record = _parse_line((folder / name).read_bytes().split(b"\n", maxsplit=1), 0)
        except OSError as error:
            raise TubError(f"the tub {folder} lacks a part: {name} cannot be read ({error.strerror}).") from error
        if isinstance(record, dict):
            values = {key: value for key, value in record.items() if not key.startswith("_")}
            state = "broken" if path.exists() else "not there"
            logger.warning("%s is %s: its records are read without it; deleted ones may be back.", path, state)
            return list(values), [name_type(value) for value in values.values()]
    raise TubError(f"{path} is broken: its first two lines should be lists of inputs and of their types.")


def name_catalog(number: int) -> str:
    """Return the file name of a catalog, counted from 0."""
    return f"catalog_{number}.catalog"


def name_inner(folder: Path) -> str:
    """Return a hint at the tubs inside a folder, or nothing."""
    marks = [f"{depth}/{name}" for name in (MANIFEST_NAME, OLD_MANIFEST_NAME, LOG_NAME) for depth in ("*", "*/*")]
    inner = sorted({path.parent.relative_to(folder).as_posix() for mark in marks for path in folder.glob(mark)})
    more = f" and {len(inner) - 3} more" if len(inner) > 3 else ""
    return f"; but there are tubs inside it, give one of them: {', '.join(inner[:3])}{more}" if inner else ""


def _parse_line(lines: list[bytes], number: int) -> Any:
    try:
        return json.loads(lines[number])
    except (IndexError, ValueError):
        return None


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _take_catalogs(manifest: Manifest, catalogs: Any, folder: Path) -> None:
    try:
        manifest.paths = [_check_name(name) for name in catalogs["paths"]]
        manifest.current_index = int(catalogs["current_index"])
        manifest.max_len = max(1, int(catalogs["max_len"]))
        manifest.deleted_indexes = {int(position) for position in catalogs["deleted_indexes"]}
    except (KeyError, OverflowError, TypeError, ValueError):
        manifest.paths = _find_catalogs(folder)
        marks = catalogs.get("deleted_indexes") if isinstance(catalogs, dict) else None
        manifest.deleted_indexes = {mark for mark in marks if type(mark) is int} if isinstance(marks, list) else set()


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or Path(name).name != name:
        raise ValueError(f"{name!r} is not a file name")
    return name


def _find_catalogs(folder: Path) -> list[str]:
    """Return the names of the catalogs in a folder, in order."""
    found = folder.glob("catalog_*.catalog")
    names = [path.name for path in found if _CATALOG_NAME.fullmatch(path.name) and path.is_file()]
    return sorted(names, key=lambda name: int(name[len("catalog_") : -len(".catalog")]))
