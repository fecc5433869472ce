"""Drives as Minari datasets: an HDF5 file of episodes, one for each stretch, and what it says of itself as JSON.

Those that donkeysim made are read again.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import TubError, import_extra
from donkeysim.core.files import find_outside_data
from donkeysim.core.types import Report
from donkeysim.tub.formats.drive import (
    DriveRecord,
    Picture,
    RecordedDrive,
    decode_heading,
    decode_optional,
    encode_optional,
    explain_damage,
)
from donkeysim.tub.formats.pictures import PictureCheck, decode_any, encode_png
from donkeysim.tub.formats.survey import ITEM_TYPES, InputColumn, Survey, ValueKind, list_stretches
from donkeysim.tub.reader import describe_command_keys

METADATA_PATH, EPISODES_PATH, OWN_PATH = "data/metadata.json", "data/main_data.hdf5", "data/donkeysim.json"
VERSION = "0.5.4"
"""Of Minari, whose files these are."""

# Pictures of 160x120 take 12 MB.
HELD_ROWS = 200
"""Records that are held in memory and written at once."""

SMALLEST_FILE = 32
"""Sides below this [pixels]: Minari keeps pixels, above it picture files."""

INDEX, SESSION, TIME = "_index", "_session", "_timestamp_ms"
"""What is in `infos` besides inputs."""

_NAME = re.compile(r"(?:[-\w][-\w/]*[-\w]/)?[-\w]+-v\d+", re.ASCII)
_ROOT_VARIABLE, _ROOT = "MINARI_DATASETS_PATH", "~/.minari/datasets"

_WHAT = "a Minari dataset"


def import_hdf5() -> Any:
    """Return h5py.

    Raises:
        DonkeySimError: It is not installed.
    """
    return import_extra("h5py", "Minari datasets need h5py", "datasets")


def write_minari(drive: RecordedDrive, survey: Survey, folder: Path, report: Report, target: Path) -> list[str]:
    """Write a drive as a Minari dataset into an empty folder.

    Args:
        folder: The dataset's, for now.
        report: Called as report(done, total).
        target: What the folder will be; it names the dataset.

    Returns:
        Sentences about what the dataset does not hold.

    Raises:
        TubError: Records have no pictures or actions, or differ in them, all are deleted, or the name is none of
            Minari's.
        DonkeySimError: h5py is not installed.
    """
    name = name_dataset(target)
    action_keys = survey.find_action()
    if action_keys is None:
        raise TubError(
            f"a Minari dataset needs actions, and not all records of {drive.path} have steering and throttle as "
            f"numbers ({describe_command_keys()}); convert to Parquet or MCAP."
        )
    (folder / "data").mkdir()
    done = 0
    with import_hdf5().File(folder / EPISODES_PATH, "w", track_order=True) as file:
        writer = _Writer(drive, survey, file, action_keys)
        for begins, record in list_stretches(drive):
            writer.add(begins, record)
            done += 1
            report(done, survey.count)
        if not done:
            raise TubError(f"all records of {drive.path} are deleted; there is nothing to convert.")
        writer.end_episode()
    size = (folder / EPISODES_PATH).stat().st_size / 1e6
    facts = {
        "dataset_id": name,
        "minari_version": VERSION,
        "data_format": "hdf5",
        "jpeg_encoding": True,
        "total_episodes": writer.episode_count,
        "total_steps": done,
        "dataset_size": round(size, 1),
        "observation_space": json.dumps(writer.describe_observations()),
        "action_space": json.dumps(_describe_box("float32", (2,), -1.0, 1.0)),
        "description": f"Drives of a car: {done} records of a tub, as donkeysim converted them. Rewards are 0.",
    }
    (folder / METADATA_PATH).write_text(json.dumps(facts), encoding="utf-8")
    own = {"heading": drive.heading.encode(), "columns": writer.describe_columns(), "pictures": writer.pictures}
    (folder / OWN_PATH).write_text(json.dumps(own, indent=4), encoding="utf-8")
    return list(_list_losses(survey))


def name_dataset(target: Path) -> str:
    """Return a dataset's name for a folder: in Minari's own folder with what lies between.

    Raises:
        TubError: Minari allows no such name.
    """
    root = Path(os.environ.get(_ROOT_VARIABLE) or _ROOT).expanduser().absolute()
    whole = target.absolute()
    name = whole.relative_to(root).as_posix() if whole.is_relative_to(root) else whole.name
    if not _NAME.fullmatch(name):
        raise TubError(f"{name!r} is no name of a Minari dataset; end it with a version, for example drive-v0.")
    return name


class _Writer:
    """Writes episodes; an episode's arrays grow in steps."""

    def __init__(self, drive: RecordedDrive, survey: Survey, file: Any, action_keys: tuple[str, str]) -> None:
        self._hdf5 = import_hdf5()
        self._drive, self._file, self._action_keys = drive, file, action_keys
        self._check = PictureCheck(drive, "a Minari dataset")
        self._columns = {_choose_name(column.key): column for column in survey.columns}
        self.pictures: dict[str, str] = {}
        self._shapes: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
        self._held: list[DriveRecord] = []
        self._last: DriveRecord | None = None
        self._group: Any = None
        self.episode_count = 0

    def add(self, begins: bool, record: DriveRecord) -> None:
        """Add a record, the first of an episode or the next one."""
        self._check.check(record)
        if self._last is None:
            self._choose_pictures(record)
        if begins:
            self.end_episode()
            self._group = self._file.create_group(f"episode_{self.episode_count}", track_order=True)
            self._group.attrs["id"] = self.episode_count
            self.episode_count += 1
        self._held.append(record)
        self._last = record
        if len(self._held) == HELD_ROWS:
            self._write_held()

    def end_episode(self) -> None:
        """Write what is left of an episode, and what is seen after its last action: what was seen before it."""
        if self._group is None or self._last is None:
            return
        self._write_held()
        self._held = [self._last]
        self._write_seen()
        self._held = []
        steps = len(self._group["actions"])
        self._group.attrs["total_steps"] = steps
        self._group["rewards"] = np.zeros(steps)
        self._group["terminations"] = np.zeros(steps, bool)
        self._group["truncations"] = np.arange(steps) == steps - 1

    def describe_observations(self) -> dict[str, Any]:
        """Return the space of observations as Minari writes it."""
        boxes = {
            name: _describe_box(str(dtype), shape, 0, int(np.iinfo(dtype).max))
            for name, (dtype, shape) in self._shapes.items()
        }
        return boxes.get("observations", {"type": "Dict", "subspaces": boxes})

    def describe_columns(self) -> dict[str, Any]:
        """Return which input each array of `infos` is."""
        kinds = {name: _choose_kind(column) for name, column in self._columns.items()}
        return {name: {"key": self._columns[name].key, "item": kind.item} for name, kind in kinds.items()}

    def _choose_pictures(self, record: DriveRecord) -> None:
        """Choose how pictures are kept: one camera's alone, those of several by name."""
        keys = self._check.list_keys()
        if not keys:
            raise TubError(
                f"a Minari dataset needs pictures, and record {record.index} of {self._drive.path} has none; convert "
                "to Parquet or MCAP."
            )
        self.pictures = {"observations": keys[0]} if len(keys) == 1 else {_choose_name(key): key for key in keys}
        for name, key in self.pictures.items():
            pixels = decode_any(record.pictures[key].data)
            self._shapes[name] = (pixels.dtype, pixels.shape[:2] if pixels.shape[2] == 1 else pixels.shape)

    def _write_held(self) -> None:
        """Write the records that are held."""
        if self._held:
            commands = [[record.values[key] for key in self._action_keys] for record in self._held]
            self._append("actions", np.array(commands, np.float32))
            self._write_seen()
            self._held = []

    def _write_seen(self) -> None:
        for name, key in self.pictures.items():
            path = name if name == "observations" else f"observations/{name}"
            self._append_pictures(path, name, [record.pictures[key].data for record in self._held])
        self._append(f"infos/{INDEX}", np.array([record.index for record in self._held], np.int64))
        self._append(f"infos/{TIME}", np.array([record.timestamp_ms for record in self._held], np.int64))
        self._append_texts(f"infos/{SESSION}", [record.session for record in self._held])
        for name, column in self._columns.items():
            values, kind = [record.values.get(column.key) for record in self._held], _choose_kind(column)
            if kind.item in ITEM_TYPES:
                self._append(f"infos/{name}", np.array(values, ITEM_TYPES[kind.item]))
            else:
                encode = str if kind.item == "str" else encode_optional
                self._append_texts(f"infos/{name}", [encode(value) for value in values])

    def _append_pictures(self, path: str, name: str, files: list[bytes]) -> None:
        dtype, shape = self._shapes[name]
        if np.dtype(dtype) == np.uint8 and min(shape[:2]) >= SMALLEST_FILE:  # Minari keeps these as files (JPEG)
            array = self._lengthen(path, len(files), (), self._hdf5.vlen_dtype(np.uint8))
            for place, file in enumerate(files, start=len(array) - len(files)):
                array[place] = np.frombuffer(file, np.uint8)
        else:
            self._append(path, np.stack([decode_any(file).reshape(shape) for file in files]))

    def _append_texts(self, path: str, texts: list[str]) -> None:
        self._append(path, np.array(texts, object), self._hdf5.string_dtype())

    def _append(self, path: str, rows: Any, dtype: Any = None) -> None:
        """Add rows to an array of the episode."""
        array = self._lengthen(path, len(rows), rows.shape[1:], dtype or rows.dtype)
        array[-len(rows) :] = rows

    def _lengthen(self, path: str, count: int, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of the episode, made longer by a number of rows."""
        if path not in self._group:
            self._group.create_dataset(path, (0, *shape), dtype, maxshape=(None, *shape), chunks=True)
        array = self._group[path]
        array.resize(len(array) + count, axis=0)
        return array


def _choose_name(key: str) -> str:
    """Return an input's name in the file, where a slash would make a group."""
    return key.replace("/", ".")


def _choose_kind(column: InputColumn) -> ValueKind:
    """Return how a column is kept: numbers and texts of one shape as arrays, all else as JSON."""
    kind = column.regular_kind
    if kind.item in ITEM_TYPES and 0 not in (kind.shape or ()):
        return kind
    return kind if kind == ValueKind("str") else ValueKind("json")


def _describe_box(dtype: str, shape: tuple[int, ...], low: float, high: float) -> dict[str, Any]:
    """Return a space as Minari writes it."""
    bounds = {"low": np.full(shape, low).tolist(), "high": np.full(shape, high).tolist()}
    return {"type": "Box", "dtype": dtype, "shape": list(shape), **bounds}


def _list_losses(survey: Survey) -> Iterator[str]:
    """Yield sentences about what the dataset does not hold, or holds in another form."""
    yield "Rewards are 0, and each episode ends with its last record seen twice: a tub knows neither."
    if survey.deleted_count:
        yield f"The {survey.deleted_count:,} deleted records are left out: a Minari dataset has no room for them."
    texts = [column.key for column in survey.columns if _choose_kind(column).item == "json"]
    if texts:
        yield f"As text (JSON), since records have none of them, or of several kinds or lengths: {', '.join(texts)}."


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
