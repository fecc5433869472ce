"""Minari datasets that donkeysim made of tubs, as drives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import TubError
from donkeysim.core.files import find_outside_data
from donkeysim.tub.formats.drive import DriveRecord, Picture, decode_heading, decode_optional, explain_damage
from donkeysim.tub.formats.minari import (
    EPISODES_PATH,
    HELD_ROWS,
    INDEX,
    OWN_PATH,
    SESSION,
    TIME,
    import_hdf5,
)
from donkeysim.tub.formats.pictures import encode_png

_WHAT = "a Minari dataset"


class MinariDrive:
    """A dataset. Implements `RecordedDrive`."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            TubError: It was made of something else than a tub, or is broken.
        """
        self._hdf5 = import_hdf5()
        self.path = path
        if not (path / OWN_PATH).exists():
            raise TubError(
                f"{path} is a Minari dataset of something else: only those that donkeysim made can become a tub."
            )
        with explain_damage(path / OWN_PATH, "what the dataset says of its tub"):
            own = json.loads((path / OWN_PATH).read_bytes())
            self.heading = decode_heading(own["heading"], path)
            self._columns, self._pictures = dict(own["columns"]), dict(own["pictures"])

    def iterate(self, with_pictures: bool = True) -> Iterator[DriveRecord]:
        """Yield all steps as the records they were."""
        with explain_damage(self.path, _WHAT), self._hdf5.File(self.path / EPISODES_PATH) as file:
            outside = find_outside_data(file)
            if outside:
                raise TubError(f"{self.path / EPISODES_PATH}: the data of {outside!r} are in another file; not read.")
            for number in range(len(file)):
                episode = file[f"episode_{number}"]
                count = len(episode["actions"])
                for first in range(0, count, HELD_ROWS):
                    yield from self._read_rows(episode, slice(first, min(first + HELD_ROWS, count)), with_pictures)

    def _read_rows(self, episode: Any, rows: slice, with_pictures: bool) -> Iterator[DriveRecord]:
        infos = episode["infos"]
        index, time = infos[INDEX][rows].tolist(), infos[TIME][rows].tolist()
        session = _read_texts(infos[SESSION], rows)
        columns = [(column["key"], _read_column(infos[name], rows, column)) for name, column in self._columns.items()]
        pictures = {key: _read_pictures(episode, name, rows) for name, key in self._pictures.items() if with_pictures}
        for row in range(len(index)):
            values = {key: cells[row] for key, cells in columns if cells[row] is not None}
            files = {key: Picture("", cells[row]) for key, cells in pictures.items()}
            yield DriveRecord(index[row], session[row], time[row], False, values, files)


def _read_texts(array: Any, rows: slice) -> list[str]:
    return [bytes(text).decode() for text in array[rows]]


def _read_column(array: Any, rows: slice, column: dict[str, Any]) -> list[Any]:
    """Return an input's values; None where a record has none."""
    if column["item"] not in ("str", "json"):
        return list(array[rows].tolist())
    texts = _read_texts(array, rows)
    return texts if column["item"] == "str" else [decode_optional(text) for text in texts]


def _read_pictures(episode: Any, name: str, rows: slice) -> list[bytes]:
    """Return picture files: those that were kept as such, else PNGs."""
    array = episode[name if name == "observations" else f"observations/{name}"]
    cells = array[rows]
    if cells.dtype == object:
        return [np.asarray(cell, np.uint8).tobytes() for cell in cells]
    return [encode_png(cell.reshape(*cell.shape[:2], -1)) for cell in cells]
