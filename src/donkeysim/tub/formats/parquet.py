"""Drives as Parquet tables: a row a record, pictures as their files, the heading as metadata."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from donkeysim.core.errors import TubError, import_extra
from donkeysim.core.types import Report
from donkeysim.tub.formats.drive import DriveRecord, Picture, RecordedDrive, decode_heading, explain_damage
from donkeysim.tub.formats.survey import Survey, ValueKind

HEADING_KEY = b"donkeysim.tub"
ITEM_KEY = b"donkeysim.item"
PRIVATE = ("_index", "_session_id", "_timestamp_ms", "_deleted")
"""Columns that every table has; no input begins with an underscore."""

GROUP_ROWS = 1000
"""Rows that are held in memory and written as one row group."""

READ_ROWS = 200
_WHAT = "a Parquet table"


def import_arrow() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet.

    Raises:
        DonkeySimError: pyarrow is not installed.
    """
    need = "Parquet tables and LeRobot datasets need pyarrow"
    return import_extra("pyarrow", need, "datasets"), import_extra("pyarrow.parquet", need, "datasets")


def choose_type(arrow: Any, kind: ValueKind) -> Any:
    """Return a kind's type in Arrow."""
    kinds = {"float": arrow.float64(), "": arrow.float64(), "int": arrow.int64(), "bool": arrow.bool_()}
    chosen = kinds.get(kind.item, arrow.string())
    for _ in range(kind.depth):
        chosen = arrow.list_(chosen)
    return chosen


class ParquetDrive:
    """A table. Implements `RecordedDrive`."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            TubError: It is no table of a drive.
        """
        _, self._parquet = import_arrow()
        self.path = path
        with explain_damage(path, _WHAT):
            self._schema = self._parquet.read_schema(path)
        heading = (self._schema.metadata or {}).get(HEADING_KEY)
        if heading is None or not set(PRIVATE) <= set(self._schema.names):
            raise TubError(
                f"{path} is a Parquet table of something else: only those that donkeysim made can become a tub."
            )
        self.heading = decode_heading(heading, path)

    def iterate(self, with_pictures: bool = True) -> Iterator[DriveRecord]:
        """Yield all rows."""
        pictures = self.heading.picture_keys
        texts = {field.name for field in self._schema if (field.metadata or {}).get(ITEM_KEY) == b"json"}
        names = [name for name in self._schema.names if with_pictures or name not in pictures]
        with explain_damage(self.path, _WHAT), self._parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches(READ_ROWS, columns=names):
                for row in batch.to_pylist():
                    index, session, time, is_deleted = (row.pop(key) for key in PRIVATE)
                    found = {key: row.pop(key) for key in pictures if key in row}
                    files = {key: Picture(cell["path"], cell["bytes"]) for key, cell in found.items() if cell}
                    values = {
                        key: json.loads(value) if key in texts else value
                        for key, value in row.items()
                        if value is not None
                    }
                    yield DriveRecord(index, session, time, is_deleted, values, files)


def write_parquet(drive: RecordedDrive, survey: Survey, path: Path, report: Report) -> list[str]:
    """Write a drive as a table; nothing is left to say."""
    arrow, parquet = import_arrow()
    schema = _make_schema(arrow, drive, survey)
    texts = {column.key for column in survey.columns if column.kind.item == "json"}
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        rows: list[dict[str, Any]] = []
        for done, record in enumerate(drive.iterate(), start=1):
            private = (record.index, record.session, record.timestamp_ms, record.is_deleted)
            values = {key: json.dumps(value) if key in texts else value for key, value in record.values.items()}
            pictures = {key: {"bytes": picture.data, "path": picture.name} for key, picture in record.pictures.items()}
            rows.append({**dict(zip(PRIVATE, private, strict=True)), **values, **pictures})
            if len(rows) == GROUP_ROWS or done == survey.count:
                writer.write_table(arrow.Table.from_pylist(rows, schema))
                rows.clear()
            report(done, survey.count)
    return []


def _make_schema(arrow: Any, drive: RecordedDrive, survey: Survey) -> Any:
    kinds = (arrow.int64(), arrow.string(), arrow.int64(), arrow.bool_())
    fields = [arrow.field(name, kind) for name, kind in zip(PRIVATE, kinds, strict=True)]
    fields += [
        arrow.field(column.key, choose_type(arrow, column.kind), metadata={ITEM_KEY: column.kind.item})
        for column in survey.columns
    ]
    picture = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
    fields += [arrow.field(key, picture) for key in drive.heading.picture_keys]
    return arrow.schema(fields, metadata={HEADING_KEY: drive.heading.encode()})
