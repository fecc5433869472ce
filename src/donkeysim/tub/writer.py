"""Writing a tub: pictures, catalogs and manifest as the original writes them, in an order that survives a kill.

A record is written in four steps: its pictures; its line at the end of the catalog; the catalog's line table; the
manifest. The last two files are replaced whole. Wherever the process dies, the original's reader finds five lines in
the manifest, a whole line table and no empty catalog next to it; a line whose tables are one behind it reads all the
same, and a torn line it skips. A catalog comes into being with its first record, before the manifest names it.
"""

import contextlib
import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from donkeysim.core.errors import TubError
from donkeysim.tub.catalog import (
    CatalogIndex,
    choose_new_catalog,
    format_record,
    locate_table,
    parse_record,
    read_lines,
    read_table,
)
from donkeysim.tub.edit import TubLock, find_last_alive, open_for_change, refuse_old_format
from donkeysim.tub.files import AppendedFile, explain_failure, replace_file, write_file
from donkeysim.tub.manifest import (
    DEFAULT_CATALOG_LENGTH,
    IMAGE_FOLDER,
    MANIFEST_NAME,
    Manifest,
    format_catalog_line,
    format_head,
    format_manifest,
    format_positions,
    has_records,
)
from donkeysim.tub.reader import make_record
from donkeysim.tub.values import PICTURE_ERRORS, check_types, convert_values, measure_picture, name_picture

logger = logging.getLogger(__name__)

_OTHER_SIZE = (
    "the tub %s holds pictures of %s and now gets some of %s; training brings all to IMAGE_W x IMAGE_H. To keep them "
    "apart record into another folder (AUTO_CREATE_NEW_TUB = True makes a new one for each drive)."
)


class TubWriter:
    """Appends records to a tub, new or old; the only writer of it while it is open."""

    def __init__(
        self,
        path: str | Path,
        inputs: Sequence[str] = (),
        types: Sequence[str] = (),
        metadata: Sequence[tuple[str, str]] = (),
        max_catalog_len: int = DEFAULT_CATALOG_LENGTH,
    ) -> None:
        """Open or make a tub.

        Args:
            path: Its folder; made when there is none.
            inputs: Keys of a record; empty: those of the stored tub.
            types: One for each input: float, int, boolean, str, nparray, list, vector or image_array.
            metadata: What a tub without records is to remember; one with records keeps its own.
            max_catalog_len: Records per catalog of a new tub.

        Raises:
            TubError: The stored tub has records of other inputs or types, another program writes to it, it is of an
                older format, or the folder cannot be written to.
        """
        check_types(inputs, types)
        if max_catalog_len < 1:
            raise TubError(f"a catalog holds at least one record; {max_catalog_len} were given.")
        self.path = Path(path).expanduser().absolute()
        refuse_old_format(self.path)
        with explain_failure(f"the tub {self.path}"):
            (self.path / IMAGE_FOLDER).mkdir(parents=True, exist_ok=True)
        self._lock = TubLock(self.path)
        try:
            with explain_failure(f"the tub {self.path}"):
                fresh = Manifest(list(inputs), list(types), dict(metadata), max_len=max_catalog_len)
                self._manifest = _open_manifest(self.path, fresh)
                self._open_last_catalog()
            self._session = self._manifest.next_session_number()
        except BaseException:
            self._lock.release()
            raise
        self._types = dict(zip(self._manifest.inputs, self._manifest.types, strict=True))
        self.session_id = f"{time.strftime('%y-%m-%d')}_{self._session}"
        self._place = self._car = ""
        self._forget_texts()
        self._is_open = True
        self._is_behind = False
        self._has_compared = not self._manifest.paths

    @property
    def current_index(self) -> int:
        """Index of the next record."""
        return self._manifest.current_index

    @property
    def inputs(self) -> tuple[str, ...]:
        """Keys of a record."""
        return tuple(self._manifest.inputs)

    def note_car(self, car: str) -> None:
        """Have the tub remember what is driven, with the next record; "" where that is not known."""
        self._car = car

    def write_record(self, record: Mapping[str, object], place: str = "") -> int:
        """Append a record and return its index.

        Args:
            record: Values by input; None and unknown keys are left out; pictures are [height, width, 3] of uint8.
            place: Where it is driven, which the tub remembers; "" where that is not known.

        Raises:
            TubError: A value does not fit its type (nothing was written), or the disk is full; earlier records stay.
        """
        self._check_open()
        values, pictures = convert_values(record, self._types)
        index = self._manifest.current_index
        names = {key: name_picture(index, key) for key in pictures}
        private = {"_index": index, "_session_id": self.session_id, "_timestamp_ms": round(time.time() * 1000)}
        line = format_record({**values, **names, **private})
        if not self._has_compared:
            self._has_compared = True
            self._compare_sizes(pictures)
        with explain_failure(f"record {index} into the tub {self.path}"):
            self._write_pictures({names[key]: data for key, data in pictures.items()})
            self._write_line(line)
            self._manifest.current_index += 1
            self._note_drive(place)
            self._write_manifest()
        return index

    def delete_last_n_records(self, count: int) -> int:
        """Mark the last `count` living records as deleted; returns how many there were."""
        self._check_open()
        chosen = find_last_alive(self._manifest.current_index, self._manifest.deleted_indexes, count)
        if chosen:
            self._manifest.deleted_indexes.update(chosen)
            self._forget_texts()
            with explain_failure(f"deletions into the tub {self.path}"):
                self._write_manifest()
        return len(chosen)

    def close(self) -> None:
        """Let the tub go; a second time does nothing. Every record is already where it belongs."""
        if not self._is_open:
            return
        self._is_open = False
        if self._is_behind:
            self._catch_up()
        if self._catalog:
            self._catalog.close()
        self._lock.release()
        deleted = len(self._manifest.deleted_indexes)
        aside = f"; {deleted} of the {self.current_index} recorded are deleted" if deleted else ""
        logger.info("closed the tub %s with %d records%s", self.path, len(self), aside)

    def __len__(self) -> int:
        """Return how many living records there are."""
        return self._manifest.current_index - len(self._manifest.deleted_indexes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if not self._is_open:
            raise TubError(f"the tub {self.path} is closed; open it again to write to it.")

    def _open_last_catalog(self) -> None:
        self._catalog: AppendedFile | None = None
        self._table: CatalogIndex | None = None
        if self._manifest.paths:
            catalog = self.path / self._manifest.paths[-1]
            self._table = read_table(catalog)
            self._catalog = AppendedFile(catalog, is_new=False)

    def _compare_sizes(self, pictures: Mapping[str, bytes]) -> None:
        """Say it when the tub's last record has pictures of another size than those that come now.

        It is no reason to refuse them: training brings all to one size, the original's too, and a drive is not to be
        had again.
        """
        last = parse_record(read_lines(self.path / self._manifest.paths[-1])[-1]) or {}
        before = make_record(0, last, self.path / IMAGE_FOLDER)
        for key, data in pictures.items():
            with contextlib.suppress(TubError, *PICTURE_ERRORS):  # the stored one is missing or broken
                stored, new = measure_picture(before.read_image(key)), measure_picture(data)
                if stored != new:
                    logger.warning(_OTHER_SIZE, self.path, stored, new)

    def _write_pictures(self, pictures: Mapping[str, bytes]) -> None:
        try:
            for name, data in pictures.items():
                write_file(self.path / IMAGE_FOLDER / name, data)
        except OSError:
            for name in pictures:
                with contextlib.suppress(OSError):
                    (self.path / IMAGE_FOLDER / name).unlink(missing_ok=True)
            raise

    def _write_line(self, line: bytes) -> None:
        """Write catalog line and line table; on failure neither has it."""
        index = self._manifest.current_index
        if self._catalog is None or self._table is None or index % self._manifest.max_len == 0:
            self._begin_catalog(line)
            return
        catalog = self.path / self._manifest.paths[-1]
        self._catalog.append(line)
        self._table.add_line(len(line))
        try:
            replace_file(locate_table(catalog), self._table.format())
        except OSError:
            self._table.remove_last_line()
            self._catalog.take_back(len(line))
            raise

    def _begin_catalog(self, line: bytes) -> None:
        catalog = self.path / choose_new_catalog(self.path, self._manifest.paths)
        table = CatalogIndex(locate_table(catalog).name, time.time(), self._manifest.current_index, [len(line)])
        file = AppendedFile(catalog, is_new=True)
        try:
            file.append(line)
            replace_file(locate_table(catalog), table.format())
        except OSError:
            file.close()
            catalog.unlink(missing_ok=True)
            raise
        if self._catalog:
            self._catalog.close()
        self._catalog, self._table = file, table
        self._manifest.paths.append(catalog.name)
        self._forget_texts()

    def _note_drive(self, place: str) -> None:
        """Note the session, the car and the place with their first record."""
        if self._manifest.session_ids[-1:] != (self.session_id,):
            self._manifest.add_session(self.session_id, self._session)
            self._manifest.add_car(self._car)
            self._forget_texts()
        if place and place != self._place:
            self._place = place
            self._manifest.add_place(place)
            self._forget_texts()

    def _forget_texts(self) -> None:
        """Have the parts of the manifest that seldom change made again."""
        self._head = format_head(self._manifest)
        self._paths_text = json.dumps(self._manifest.paths)
        self._deleted_text = format_positions(self._manifest.deleted_indexes)

    def _write_manifest(self) -> None:
        self._is_behind = True
        line = format_catalog_line(self._manifest, self._paths_text, self._deleted_text)
        replace_file(self.path / MANIFEST_NAME, (self._head + line).encode())
        self._is_behind = False

    def _catch_up(self) -> None:
        """Try once more to write the manifest that a full disk did not take; the next writer would mend it too."""
        try:
            self._write_manifest()
        except OSError as error:
            logger.error("the manifest of the tub %s is behind its records: %s", self.path, error)


def _open_manifest(folder: Path, fresh: Manifest) -> Manifest:
    """Return the stored manifest, put in order, or write a fresh one."""
    if not has_records(folder):
        fresh.own_metadata["created_at"] = time.time()
        replace_file(folder / MANIFEST_NAME, format_manifest(fresh))
        return fresh
    stored = open_for_change(folder)
    wanted = replace(
        stored,
        inputs=fresh.inputs or stored.inputs,
        types=fresh.types or stored.types,
        metadata=fresh.metadata or stored.metadata,
    )
    if not stored.paths:  # nothing was recorded yet, so what this drive records and says of itself counts
        replace_file(folder / MANIFEST_NAME, format_manifest(wanted))
        return wanted
    if differences := _list_differences(stored, wanted):
        raise TubError(
            f"the tub {folder} has different inputs from those of this drive: {'; '.join(differences)}. Record into "
            "another folder (AUTO_CREATE_NEW_TUB = True makes a new one for each drive), or the same inputs as before."
        )
    return stored


def _list_differences(stored: Manifest, wanted: Manifest) -> list[str]:
    """Return what is not alike in the inputs of a tub's records and those of a drive, in words; their order is free."""
    old, new = (dict(zip(each.inputs, each.types, strict=True)) for each in (stored, wanted))
    return [
        *(f"{key} ({kind}) is new" for key, kind in new.items() if key not in old),
        *(f"{key} ({kind}) is missing" for key, kind in old.items() if key not in new),
        *(f"{key} is {new[key]}, stored as {kind}" for key, kind in old.items() if new.get(key, kind) != kind),
    ]
