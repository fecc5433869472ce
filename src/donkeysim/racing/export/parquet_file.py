"""A race as one Parquet table: a row for each car and frame, the race and its result as metadata."""

from pathlib import Path
from typing import IO, Any

import msgspec

from donkeysim import __version__
from donkeysim.core.errors import import_extra
from donkeysim.racing.export.walk import CAR_COLUMNS, Column, RaceWalk, read_cars
from donkeysim.racing.run.verify import Verification

FRAME_COLUMNS = (
    Column("frame", "int", "", "counted from 1 since the file began"),
    Column("time", "float", "s", "since the file began, never set back"),
    Column("clock", "float", "s", "since green, below 0 before it; each run has its own"),
    Column("session", "text", "", "practice, qualifying, grid, countdown, race, cool-down or over"),
    Column("attempt", "int", "", "of the race, from 1"),
    Column("flag", "text", "", "flag shown to all: red, green, yellow or chequered"),
    Column("row", "int", "", "of the car, as in the race file"),
    Column("name", "text", "", "of the car"),
)
"""Before those of the cars."""

COLUMNS = (*FRAME_COLUMNS, *CAR_COLUMNS)

GROUP_ROWS = 1 << 14
"""Rows that are held in memory and written as one row group."""

FORMAT = 1
"""Of the table; a higher number may mean other columns."""


class ParquetExport:
    """Writes the table. Implements `Export`."""

    def __init__(self, path: Path) -> None:
        """Choose a path.

        Raises:
            DonkeySimError: pyarrow is not installed.
        """
        self.path = path
        self._arrow = import_extra("pyarrow", "Parquet tables need pyarrow", "export")
        self._parquet = import_extra("pyarrow.parquet", "Parquet tables need pyarrow", "export")
        self._schema = _make_schema(self._arrow)
        self._cells: dict[str, list[Any]] = {column.name: [] for column in COLUMNS}
        self._writer: Any = None

    def begin(self, walk: RaceWalk, stream: IO[bytes]) -> None:
        """Begin the file."""
        del walk
        self._writer = self._parquet.ParquetWriter(stream, self._schema, compression="zstd")

    def note(self, walk: RaceWalk) -> None:
        """Add a row for each car."""
        director, cells = walk.director, self._cells
        names = list(director.entries.values())
        whole = (walk.frame, walk.time, walk.clock, director.session, director.attempt, director.flags.get(-1))
        for column, value in zip(FRAME_COLUMNS, whole, strict=False):
            cells[column.name] += [value] * len(names)
        cells["row"] += director.entries
        cells["name"] += names
        for name, values in read_cars(walk).items():
            cells[name] += values
        if len(cells["row"]) >= GROUP_ROWS:
            self._write_group()

    def finish(self, walk: RaceWalk, verdict: Verification) -> None:
        """Write what is left, and the race as metadata."""
        self._write_group()
        facts = {
            "donkeysim": __version__,
            "race": verdict.plan,
            "result": verdict.counted,
            "journal": walk.director.journal,
            "complaints": verdict.list_complaints(),
        }
        self._writer.add_key_value_metadata(
            {name: value if isinstance(value, str) else msgspec.json.encode(value) for name, value in facts.items()}
        )

    def close(self) -> None:
        """Write the footer, without which a table is none."""
        if self._writer is not None:
            self._writer.close()

    def _write_group(self) -> None:
        if self._cells["row"]:
            arrays = [self._arrow.array(self._cells[field.name], field.type) for field in self._schema]
            self._writer.write_batch(self._arrow.RecordBatch.from_arrays(arrays, schema=self._schema))
        for cells in self._cells.values():
            cells.clear()


def _make_schema(arrow: Any) -> Any:
    """Return the table's columns; unit and meaning of each are its metadata."""
    kinds = {
        "float": arrow.float64(),
        "int": arrow.int32(),
        "bool": arrow.bool_(),
        "text": arrow.dictionary(arrow.int32(), arrow.string()),
    }
    fields = [
        arrow.field(column.name, kinds[column.kind], metadata={"unit": column.unit, "description": column.text})
        for column in COLUMNS
    ]
    return arrow.schema(fields, metadata={"donkeysim.race.format": str(FORMAT)})
