"""The format before 2 (donkeycar up to 3.1): `meta.json`, a `record_N.json` each, pictures next to them; read only.

`meta.json` holds inputs, types, when the drive began [s since 1970], and the user's metadata; a record's `milliseconds`
count from that beginning. `exclude.json`, where there is one, lists the numbers of records that were cut out.

So is what Udacity's simulator records: `driving_log.csv`, a row each of three pictures (the middle one is taken),
steering and throttle; the pictures lie in `IMG`, and their names say when they were taken. And so is any table of
pictures, steering and throttle, by the names of its columns.
"""

import csv
import json
import logging
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PureWindowsPath
from typing import Any

from donkeysim.core.errors import TubError
from donkeysim.tub.manifest import LOG_NAME, OLD_MANIFEST_NAME, Manifest
from donkeysim.tub.values import PICTURE_ENDINGS, name_type, read_number

logger = logging.getLogger(__name__)

RECORD_NAME = re.compile(r"record_(\d+)\.json")
"""File of a record."""

_LOG_FOLDERS = ("IMG", "images")
_COLUMNS = (
    ("center", "cam/image_array", "image", "image_path", "img", "filename", "file", "frame", "picture", "path"),
    ("user/angle", "angle", "steering", "steer", "steering_angle"),
    ("user/throttle", "throttle"),
)
"""How tables call pictures, steering and throttle, the likeliest first."""

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def is_old_format(folder: Path) -> bool:
    """Return whether a folder holds a tub of the old format."""
    return (folder / OLD_MANIFEST_NAME).is_file() or (
        folder.is_dir() and (bool(_list_files(folder)) or _find_table(folder) is not None)
    )


def read_old_manifest(folder: Path) -> Manifest:
    """Return what a tub holds, its excluded records as deleted positions.

    Raises:
        TubError: `exclude.json` is broken.
    """
    try:
        meta = _read_json(folder / OLD_MANIFEST_NAME, {})
    except TubError as error:
        logger.warning("%s Inputs and types are taken from the records.", error)
        meta = {}
    excluded = _read_json(folder / "exclude.json", [])
    if not isinstance(meta, dict) or not isinstance(excluded, list):
        raise TubError(f"the tub {folder} is broken: {OLD_MANIFEST_NAME} should hold an object, exclude.json a list.")
    meta = meta or _infer_meta(folder)
    positions = {number: position for position, (number, _) in enumerate(_list_files(folder))}
    metadata = {key: value for key, value in meta.items() if key not in ("inputs", "types", "start")}
    return Manifest(
        [str(key) for key in meta.get("inputs", ())],
        [str(kind) for kind in meta.get("types", ())],
        metadata,
        {"created_at": meta["start"]} if "start" in meta else {},
        current_index=len(positions) or sum(1 for _ in _read_log(folder)),
        deleted_indexes={positions[number] for number in excluded if number in positions},
    )


def read_old_records(folder: Path, started_at: float) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield position and content of every record, named as format 2 does; a broken one is skipped and logged.

    Args:
        started_at: When the drive began [s since 1970].
    """
    yield from _read_log(folder)
    for position, (number, name) in enumerate(_list_files(folder)):
        try:
            content = json.loads((folder / name).read_bytes())
            milliseconds = content.pop("milliseconds", 0)
        except (OSError, ValueError, AttributeError, TypeError) as error:
            logger.error("%s: record %d cannot be read, skipping it (%s)", folder, number, error)
            continue
        values = {key: _strip_folder(folder, value) for key, value in content.items() if not key.startswith("_")}
        timestamp = int(started_at * 1000) + int(read_number(milliseconds) or 0)
        yield position, {**values, "_index": number, "_timestamp_ms": timestamp}


def _read_log(folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield position and content of every row of a table, where there is one, as `read_old_records` does."""
    if _list_files(folder) or (found := _find_table(folder)) is None:
        return
    path, delimiter, columns = found
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.reader((line.replace("\0", "") for line in file), delimiter=delimiter, skipinitialspace=True)
        cells = ([row[column].strip() if column < len(row) else "" for column in columns] for row in rows if row)
        for position, (shown, *commands) in enumerate(row for row in cells if row[0].lower() not in _COLUMNS[0]):
            picture = _find_picture(folder, shown)
            taken = _read_time(PureWindowsPath(shown).name)
            angle, throttle = map(read_number, commands)
            values = {"cam/image_array": picture, "user/angle": angle, "user/throttle": throttle, "user/mode": "user"}
            yield position, {**values, "_index": position, "_timestamp_ms": taken}


def _find_table(folder: Path) -> tuple[Path, str, tuple[int, ...]] | None:
    """Return the table of a folder, what parts its columns, and those of pictures, steering and throttle."""
    if (path := folder / LOG_NAME).is_file():  # which may have no heading
        return path, ",", (0, 3, 4)
    for path in sorted(folder.glob("*.csv")):
        try:
            with path.open(encoding="utf-8-sig", errors="replace") as file:
                heading = file.readline(1000)
        except OSError:
            continue
        delimiter = max(",;\t", key=heading.count)
        names = [name.strip(' "\r\n').lower() for name in heading.split(delimiter)]
        columns = tuple(next((names.index(name) for name in known if name in names), -1) for known in _COLUMNS)
        if min(columns) >= 0:
            return path, delimiter, columns
    return None


def _find_picture(folder: Path, shown: str) -> str:
    """Return where a picture lies that a table names, with whatever folders of the machine that wrote it."""
    path = PureWindowsPath(shown)  # takes both kinds of slashes
    beside = (f"{inner}/{path.name}" for inner in _LOG_FOLDERS if (folder / inner / path.name).is_file())
    return path.as_posix() if _is_within(folder, path) else next(beside, path.name)


def _read_time(name: str) -> int:
    """Return when the picture was taken that Udacity's simulator calls so [ms since 1970]; 0 of other names."""
    try:
        taken = datetime.strptime(name.partition("_")[2], "%Y_%m_%d_%H_%M_%S_%f.jpg").replace(tzinfo=UTC)
    except ValueError:
        return 0
    return round(1000 * (taken - _BEGINNING).total_seconds())


def _list_files(folder: Path) -> list[tuple[int, str]]:
    """Return the numbers of the records and the names of their files, which may have zeros before the number."""
    matches = (RECORD_NAME.fullmatch(path.name) for path in folder.iterdir())
    return sorted((int(match[1]), match[0]) for match in matches if match)


def _infer_meta(folder: Path) -> dict[str, Any]:
    """Return inputs and types by the first record that can be read: for copies that left `meta.json` behind."""
    for _, content in read_old_records(folder, 0.0):
        values = {key: value for key, value in content.items() if not key.startswith("_")}
        return {"inputs": [*values], "types": [name_type(value) for value in values.values()]}
    return {}


def _strip_folder(folder: Path, value: Any) -> Any:
    """Return a picture's name without folders of the car that recorded it; what lies within the tub's stays."""
    if not isinstance(value, str) or not value.lower().endswith(PICTURE_ENDINGS):
        return value
    path = PureWindowsPath(value)  # takes both kinds of slashes
    return value if _is_within(folder, path) else path.name


def _is_within(folder: Path, path: PureWindowsPath) -> bool:
    return not path.anchor and ".." not in path.parts and os.path.isfile(folder.joinpath(*path.parts))


def _read_json(path: Path, default: Any) -> Any:
    try:
        return json.loads(path.read_bytes()) if path.exists() else default
    except (OSError, ValueError) as error:
        raise TubError(f"{path} cannot be read: {error}.") from error
