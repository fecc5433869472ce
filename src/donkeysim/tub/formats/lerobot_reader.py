"""LeRobot datasets of version 3 as drives: those that donkeysim made of tubs, as they were, and those of others."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from donkeysim.core.errors import TubError
from donkeysim.tub.formats.drive import (
    ANGLE_KEY,
    THROTTLE_KEY,
    DriveRecord,
    Heading,
    Picture,
    RecordedDrive,
    decode_heading,
    explain_damage,
)
from donkeysim.tub.formats.lerobot import INFO_PATH, OWN_PATH
from donkeysim.tub.formats.lerobot_features import ACTION, INDEX, PICTURE, SESSION, TIME, read_value
from donkeysim.tub.formats.parquet import READ_ROWS, import_arrow
from donkeysim.tub.formats.pictures import encode_png, read_video
from donkeysim.tub.reader import IMAGE_KEY
from donkeysim.tub.values import IMAGE_TYPE

_WHAT = "a LeRobot dataset"
_COUNTERS = ("timestamp", "frame_index", "episode_index", "index", "task_index")
_TYPES = {"float32": "float", "float64": "float", "int64": "int", "int32": "int", "bool": "boolean", "string": "str"}


def open_lerobot(path: Path) -> RecordedDrive:
    """Return the drive in a dataset.

    Raises:
        TubError: It is of another version, or broken.
    """
    with explain_damage(path / INFO_PATH, "what a LeRobot dataset says of itself"):
        info = json.loads((path / INFO_PATH).read_bytes())
        version, features = str(info["codebase_version"]), dict(info["features"])
    if not version.startswith("v3."):
        raise TubError(f"{path} is a LeRobot dataset of version {version}; convert it to v3.0 with LeRobot's tools.")
    if (path / OWN_PATH).exists():
        with explain_damage(path / OWN_PATH, "what the dataset says of its tub"):
            own = json.loads((path / OWN_PATH).read_bytes())
            return _OwnDataset(path, features, decode_heading(own["heading"], path), own["columns"], own["pictures"])
    return _OtherDataset(path, features)


class _Dataset:
    """Rows and pictures of a dataset, in order."""

    def __init__(self, path: Path, features: Mapping[str, Any], heading: Heading, pictures: Mapping[str, str]) -> None:
        _, self._parquet = import_arrow()
        self.path, self.heading = path, heading
        self._features, self._pictures = features, pictures

    def _iterate_rows(self, with_pictures: bool) -> Iterator[tuple[dict[str, Any], dict[str, Picture]]]:
        """Yield each row and its pictures."""
        names = [name for name in self._pictures if self._features[name]["dtype"] == "video"] if with_pictures else []
        videos = {name: self._iterate_frames(name) for name in names}
        for row in self._iterate_tables(with_pictures):
            pictures = {}
            for name, key in self._pictures.items() if with_pictures else ():
                data = next(videos[name], None) if name in videos else (row.pop(name) or {}).get("bytes")
                if data is None:
                    raise TubError(f"{self.path} is broken: there is no picture {name!r} for frame {row['index']}.")
                pictures[key] = Picture("", data)
            yield row, pictures

    def _iterate_tables(self, with_pictures: bool) -> Iterator[dict[str, Any]]:
        paths = sorted((self.path / "data").glob("chunk-*/file-*.parquet"))
        if not paths:
            raise TubError(f"{self.path} is broken: there is no data/chunk-000/file-000.parquet.")
        for path in paths:
            with explain_damage(path, "a table of a LeRobot dataset"), self._parquet.ParquetFile(path) as file:
                names = [name for name in file.schema_arrow.names if with_pictures or name not in self._pictures]
                for batch in file.iter_batches(READ_ROWS, columns=names):
                    yield from batch.to_pylist()

    def _iterate_frames(self, name: str) -> Iterator[bytes]:
        paths = sorted((self.path / "videos" / name).glob("chunk-*/file-*.mp4"))
        for pixels in chain.from_iterable(map(read_video, paths)):
            yield encode_png(pixels)


class _OwnDataset(_Dataset):
    """One that donkeysim made of a tub. Implements `RecordedDrive`."""

    def __init__(
        self,
        path: Path,
        features: Mapping[str, Any],
        heading: Heading,
        columns: Mapping[str, Mapping[str, Any]],
        pictures: Mapping[str, str],
    ) -> None:
        super().__init__(path, features, heading, pictures)
        self._columns = columns

    def iterate(self, with_pictures: bool = True) -> Iterator[DriveRecord]:
        """Yield all frames as the records they were."""
        with explain_damage(self.path, _WHAT):
            for row, pictures in self._iterate_rows(with_pictures):
                values = {}
                for name, column in self._columns.items():
                    value = read_value(row[name], column["item"], column["depth"])
                    if value is not None:
                        values[column["key"]] = value
                yield DriveRecord(row[INDEX], row[SESSION], row[TIME], False, values, pictures)


class _OtherDataset(_Dataset):
    """One of anybody: each feature becomes an input, the first camera and the action those of a car."""

    def __init__(self, path: Path, features: Mapping[str, Any]) -> None:
        cameras = sorted(name for name, each in features.items() if each["dtype"] in ("image", "video"))
        cameras.sort(key=lambda name: name != PICTURE)
        pictures = {name: name if number else IMAGE_KEY for number, name in enumerate(cameras)}
        self._kinds: dict[str, str] = {}
        for name, feature in features.items():
            if name not in cameras and name not in _COUNTERS:
                self._kinds[name] = _TYPES.get(feature["dtype"], "") if list(feature["shape"]) == [1] else "vector"
        is_car = ACTION in features and list(features[ACTION]["shape"]) == [2]
        self._car_keys = (ANGLE_KEY, THROTTLE_KEY) if is_car else ()
        self._kinds = {name: kind for name, kind in self._kinds.items() if kind}
        inputs = (*pictures.values(), *self._car_keys, *self._kinds)
        types = (*[IMAGE_TYPE] * len(pictures), *["float"] * len(self._car_keys), *self._kinds.values())
        super().__init__(path, features, Heading(inputs, types), pictures)

    def iterate(self, with_pictures: bool = True) -> Iterator[DriveRecord]:
        """Yield all frames, each episode as a session."""
        with explain_damage(self.path, _WHAT):
            for row, pictures in self._iterate_rows(with_pictures):
                values = {name: row[name] for name in self._kinds if row[name] is not None}
                if self._car_keys:
                    values |= dict(zip(self._car_keys, row[ACTION], strict=True))
                session, time = f"episode_{row['episode_index']}", round(row["timestamp"] * 1000)
                yield DriveRecord(row["index"], session, time, False, values, pictures)
