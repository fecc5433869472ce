"""Tubs as drives, and drives as tubs."""

import json
import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from donkeysim.core.errors import TubError, format_count
from donkeysim.core.types import Report
from donkeysim.tub.catalog import CatalogIndex, locate_table
from donkeysim.tub.files import write_file
from donkeysim.tub.formats.drive import DriveRecord, Heading, Picture, RecordedDrive
from donkeysim.tub.formats.survey import Survey
from donkeysim.tub.manifest import IMAGE_FOLDER, MANIFEST_NAME, Manifest, format_manifest, name_catalog
from donkeysim.tub.reader import TubReader, TubRecord
from donkeysim.tub.values import PICTURE_ERRORS, measure_picture, name_picture

_log = logging.getLogger(__name__)

_PNG = b"\x89PNG"
_PLAIN_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_encode = json.JSONEncoder(sort_keys=True).encode


class TubDrive:
    """A tub, of format 2 or older. Implements `RecordedDrive`."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            TubError: There is none.
        """
        self._reader = tub = TubReader(path)
        self.path = tub.path
        self.heading = Heading(tub.inputs, tub.types, tub.metadata, tub.own_metadata, tub.max_len)

    def iterate(self, with_pictures: bool = True) -> Iterator[DriveRecord]:
        """Yield all records but those that lack a picture, which are logged; a deleted one may lack it."""
        keys, lost = self.heading.picture_keys, 0
        for record in self._reader.iterate_all():
            values = {key: value for key, value in record.values.items() if key not in keys and value is not None}
            is_deleted = record.position in self._reader.deleted_indexes
            wanted = [key for key in keys if record.values.get(key) is not None]
            pictures = {key: picture for key in wanted if (picture := _read(record, key, with_pictures)) is not None}
            if len(pictures) < len(wanted) and not is_deleted:
                lost += 1
                continue
            yield DriveRecord(record.index, record.session_id, record.timestamp_ms, is_deleted, values, pictures)
        if lost and not with_pictures:  # in the first of two passes
            _log.warning(
                "%s lacks pictures of %s, which are left out: missing or broken.",
                self.path,
                format_count(lost, "record"),
            )


def _read(record: TubRecord, key: str, with_pictures: bool) -> Picture | None:
    """Return a record's picture, its bytes only where they are wanted; None where its file is missing or is none."""
    try:
        data = record.read_image(key)
        measure_picture(data)
        return Picture(
            record.locate_image(key).relative_to(record.image_folder).as_posix(), data if with_pictures else b""
        )
    except (TubError, *PICTURE_ERRORS):
        return None


def write_tub(drive: RecordedDrive, survey: Survey, folder: Path, report: Report) -> list[str]:
    """Write a drive as a tub into an empty folder; nothing is left to say."""
    heading = drive.heading
    (folder / IMAGE_FOLDER).mkdir()
    own_metadata = {"created_at": time.time(), **heading.own_metadata}
    manifest = Manifest(
        list(heading.inputs), list(heading.types), heading.metadata, own_metadata, max_len=heading.max_len
    )
    catalog = _Catalog(folder, manifest)
    last = -1
    for position, record in enumerate(drive.iterate()):
        names = {key: _save(folder, position, key, picture) for key, picture in record.pictures.items()}
        session = {"_session_id": record.session} if record.session else {}  # a tub without sessions stays without
        private = {"_index": record.index, **session, "_timestamp_ms": record.timestamp_ms}
        catalog.add(position, {**record.values, **names, **private})
        if record.is_deleted:
            manifest.deleted_indexes.add(position)
        last = max(last, record.index)
        report(position + 1, survey.count)
    catalog.close()
    manifest.current_index = max(survey.count, last + 1)
    write_file(folder / MANIFEST_NAME, format_manifest(manifest))
    return []


def _save(folder: Path, position: int, key: str, picture: Picture) -> str:
    """Write a picture file and return its name."""
    name = picture.name
    if not _PLAIN_NAME.fullmatch(name):  # a file from anywhere may say anything
        name = name_picture(position, re.sub(r"[^\w-]", "_", key))
        name = str(Path(name).with_suffix(".png")) if picture.data.startswith(_PNG) else name
    write_file(folder / IMAGE_FOLDER / name, picture.data)
    return name


class _Catalog:
    """Writes lines to one catalog after the other."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder, self._manifest = folder, manifest
        self._lines: list[bytes] = []
        self._start = 0

    def add(self, position: int, content: dict[str, Any]) -> None:
        """Add a record's line."""
        if len(self._lines) >= self._manifest.max_len:
            self.close()
            self._start = position
        self._lines.append((_encode(content) + "\n").encode("ascii"))

    def close(self) -> None:
        """Write what is left."""
        if self._lines:
            catalog = self._folder / name_catalog(len(self._manifest.paths))
            name, lengths = locate_table(catalog).name, [len(line) for line in self._lines]
            write_file(catalog, b"".join(self._lines))
            write_file(locate_table(catalog), CatalogIndex(name, time.time(), self._start, lengths).format())
            self._manifest.paths.append(catalog.name)
            self._lines.clear()
