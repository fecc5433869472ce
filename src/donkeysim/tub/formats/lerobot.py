"""Drives as LeRobot datasets of version 3.0: tables, pictures in them or as videos, an episode for each stretch."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from donkeysim.core.errors import TubError
from donkeysim.core.types import Report
from donkeysim.tub.formats.drive import DriveRecord, RecordedDrive
from donkeysim.tub.formats.lerobot_features import (
    ACTION,
    INDEX,
    OWN_NAME,
    SESSION,
    STATE,
    TASK,
    TIME,
    Feature,
    RunningStatistics,
    name_features,
    name_pictures,
)
from donkeysim.tub.formats.parquet import GROUP_ROWS, import_arrow
from donkeysim.tub.formats.pictures import (
    PeakRatio,
    PictureCheck,
    VideoWriter,
    choose_pixel_format,
    decode_any,
    read_video,
)
from donkeysim.tub.formats.survey import Survey, list_stretches
from donkeysim.tub.reader import describe_command_keys
from donkeysim.tub.values import IMAGE_TYPE

VERSION = "v3.0"
CHUNK_FILES = 1000
DATA_MEGABYTES, VIDEO_MEGABYTES = 100, 200
FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
DATA_PATH, VIDEO_PATH = f"data/{FILE}.parquet", f"videos/{{video_key}}/{FILE}.mp4"
EPISODES_PATH, TASKS_PATH = "meta/episodes/chunk-000/file-000.parquet", "meta/tasks.parquet"
INFO_PATH, STATS_PATH, OWN_PATH = "meta/info.json", "meta/stats.json", f"meta/{OWN_NAME}"

HELD_EPISODES = 100
"""Episodes noted in memory before they are written."""

# Means of pictures that follow each other at 20 a second hardly differ.
LOOKED_AT = 10
"""Every tenth picture is looked at for the statistics."""


@dataclass(frozen=True)
class LeRobotOptions:
    """How a LeRobot dataset is written.

    Attributes:
        video: Pictures become videos, smaller and not quite the same; else they stay the files they are.
        task: What the drives are about, in words, as some policies want to know.
        rate: Records per second; None: as their times say.
    """

    video: bool = False
    task: str = TASK
    rate: int | None = None


@dataclass
class _Place:
    """Where the next file of a kind is written."""

    chunk: int = 0
    file: int = -1

    def advance(self) -> dict[str, int]:
        """Go to the next file."""
        self.file += 1
        if self.file == CHUNK_FILES:
            self.chunk, self.file = self.chunk + 1, 0
        return self.name_place()

    def name_place(self) -> dict[str, int]:
        """Return where the file is."""
        return {"chunk_index": self.chunk, "file_index": self.file}


@dataclass
class _Episode:
    """What is noted of an episode."""

    facts: dict[str, Any]
    length: int = 0
    command: list[float] = field(default_factory=lambda: [0.0, 0.0])
    statistics: dict[str, RunningStatistics] = field(default_factory=dict)


def write_lerobot(
    drive: RecordedDrive, survey: Survey, folder: Path, report: Report, options: LeRobotOptions
) -> list[str]:
    """Write a drive as a LeRobot dataset into an empty folder.

    Returns:
        Sentences about what it does not hold, and how near its videos come to the pictures.

    Raises:
        TubError: Records differ in their pictures, or all are deleted.
        DonkeySimError: pyarrow or PyAV is not installed.
    """
    if options.rate is not None:
        survey = replace(survey, rate=options.rate, is_timed=True)
    writer = _Writer(drive, survey, folder, options)
    try:
        for done, (begins, record) in enumerate(list_stretches(drive), start=1):
            writer.add(begins, record)
            report(done, survey.count)
        writer.end_episode()
    finally:
        writer.close_files()
    writer.describe()
    return list(_list_losses(survey, writer.features)) + writer.compare_videos()


class _Writer:
    """Writes the files of a dataset."""

    def __init__(self, drive: RecordedDrive, survey: Survey, folder: Path, options: LeRobotOptions) -> None:
        self._arrow, self._parquet = import_arrow()
        self._drive, self._survey, self._folder, self._options = drive, survey, folder, options
        self._action_keys = survey.find_action()
        self._check = PictureCheck(drive, "a LeRobot dataset")
        self.features: dict[str, Feature] = {}
        self._pictures: dict[str, str] = {}
        self._videos: dict[str, VideoWriter] = {}
        self._video_files: dict[str, list[Path]] = {}
        self._places = {"data": _Place()}
        self._episodes: list[dict[str, Any]] = []
        self._episode_count = 0
        self._episode_table: Any = None
        self._total: dict[str, RunningStatistics] = {}
        self._rows: list[dict[str, Any]] = []
        self._episode: _Episode | None = None
        self._count = 0
        self._stream: Any = None
        self._table: Any = None

    def add(self, begins: bool, record: DriveRecord) -> None:
        """Add a record, the first of an episode or the next one."""
        self._check.check(record)
        if self._episode is None:
            self._choose_features(record)
        if begins or self._episode is None:
            self.end_episode()
            self._episode = self._begin_episode()
        row = self._make_row(record, self._episode)
        self._rows.append(row)
        for name, key in self._pictures.items():
            self._add_picture(name, record.pictures[key].data, row, self._episode)
        self._episode.length += 1
        self._count += 1
        if len(self._rows) == GROUP_ROWS:
            self._write_rows()

    def close_files(self) -> None:
        """Write the episodes that are held, and close the files that are open."""
        self._write_episodes()
        if self._episode_table is not None:
            self._episode_table.close()
        if self._table is not None:
            self._table.close()
            self._stream.close()
        for video in self._videos.values():
            video.close()

    def describe(self) -> None:
        """Write what the dataset says of itself."""
        if not self._episode_count:
            raise TubError(f"all records of {self._drive.path} are deleted; there is nothing to convert.")
        meta = self._folder / "meta"
        self._write_tasks()
        statistics = {name: self._list_statistics(name, seen) for name, seen in self._total.items()}
        own = {
            "heading": self._drive.heading.encode(),
            "columns": {name: feature.describe_input() for name, feature in self.features.items() if feature.key},
            "pictures": self._pictures,
        }
        for name, content in (("info", self._list_facts()), ("stats", statistics)):
            (meta / f"{name}.json").write_text(json.dumps(content, indent=4), encoding="utf-8")
        (self._folder / OWN_PATH).write_text(json.dumps(own, indent=4), encoding="utf-8")

    def compare_videos(self) -> list[str]:
        """Return for each video how near its pictures come to those of the drive."""
        sentences = []
        for name, paths in self._video_files.items():
            key, ratio = self._pictures[name], PeakRatio()
            frames = chain.from_iterable(map(read_video, paths))
            for (_, record), frame in zip(list_stretches(self._drive), frames, strict=True):
                ratio.add(frame, decode_any(record.pictures[key].data))
            sentences.append(f"The video of {key!r} against its pictures: {ratio}.")
        return sentences

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _choose_features(self, record: DriveRecord) -> None:
        """Choose the dataset's columns, by the survey and the first record's pictures."""
        self._pictures = name_pictures(self._check.list_keys())
        self.features = name_features(self._survey)
        types = dict(zip(self._drive.heading.inputs, self._drive.heading.types, strict=True))
        for name, key in self._pictures.items():
            shape = decode_any(record.pictures[key].data).shape
            is_video = self._options.video and types[key] == IMAGE_TYPE
            shape = (*shape[:2], 3) if is_video else shape
            self.features[name] = Feature("video" if is_video else "image", shape, ("height", "width", "channels"))
        fields = [
            self._arrow.field(name, feature.choose_type(self._arrow))
            for name, feature in self.features.items()
            if feature.dtype != "video"
        ]
        self._schema = self._arrow.schema(fields)

    def _make_row(self, record: DriveRecord, episode: _Episode) -> dict[str, Any]:
        values = record.values
        row: dict[str, Any] = {
            "timestamp": episode.length / self._survey.rate,
            "frame_index": episode.length,
            "episode_index": self._episode_count,
            "index": self._count,
            "task_index": 0,
            SESSION: record.session,
            INDEX: record.index,
            TIME: record.timestamp_ms,
        }
        for name, feature in self.features.items():
            if feature.key:
                row[name] = feature.convert(values.get(feature.key))
        if keys := self._action_keys:
            row[STATE], row[ACTION] = episode.command, [float(values[key]) for key in keys]
            episode.command = row[ACTION]
        return row

    def _add_picture(self, name: str, data: bytes, row: dict[str, Any], episode: _Episode) -> None:
        is_video = self.features[name].dtype == "video"
        if is_video or episode.length % LOOKED_AT == 0:
            pixels = decode_any(data)
            if episode.length % LOOKED_AT == 0:
                scale = 65535.0 if pixels.dtype.itemsize > 1 else 255.0
                levels = pixels.reshape(-1, pixels.shape[2]) / scale
                episode.statistics.setdefault(name, RunningStatistics()).add(levels)
            if is_video:
                self._videos[name].add(pixels)
        if not is_video:
            row[name] = {"bytes": data, "path": None}

    def _write_rows(self) -> None:
        """Write the rows that are held, all of one episode."""
        if self._rows and self._episode is not None:
            self._table.write_table(self._arrow.Table.from_pylist(self._rows, self._schema))
            for name, feature in self.features.items():
                if feature.is_number:
                    seen = self._episode.statistics.setdefault(name, RunningStatistics())
                    seen.add([row[name] for row in self._rows])
            self._rows.clear()

    # -- episodes and files -------------------------------------------------------------------------------------------

    def _begin_episode(self) -> _Episode:
        """Begin an episode, in new files where the last ones are large."""
        facts: dict[str, Any] = {"episode_index": self._episode_count, "tasks": [self._options.task]}
        if self._stream is None or self._stream.tell() > DATA_MEGABYTES << 20:
            self._begin_table()
        facts |= {f"data/{name}": value for name, value in self._places["data"].name_place().items()}
        facts |= {"dataset_from_index": self._count, "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0}
        for name in (name for name, feature in self.features.items() if feature.dtype == "video"):
            video = self._videos.get(name)
            if video is None or video.measure_size() > VIDEO_MEGABYTES << 20:
                video = self._begin_video(name)
            about = {**self._places[name].name_place(), "from_timestamp": video.count / self._survey.rate}
            facts |= {f"videos/{name}/{fact}": value for fact, value in about.items()}
        return _Episode(facts)

    def end_episode(self) -> None:
        """Write what is left of an episode, and note it."""
        if self._episode is None:
            return
        self._write_rows()
        facts, length = self._episode.facts, self._episode.length
        facts |= {"length": length, "dataset_to_index": facts["dataset_from_index"] + length}
        for name, video in self._videos.items():
            facts[f"videos/{name}/to_timestamp"] = video.count / self._survey.rate
        for name, seen in self._episode.statistics.items():
            about = self._list_statistics(name, seen)
            facts |= {f"stats/{name}/{statistic}": value for statistic, value in about.items()}
            self._total.setdefault(name, RunningStatistics()).merge(seen)
        self._episodes.append(facts)
        self._episode_count += 1
        if len(self._episodes) == HELD_EPISODES:
            self._write_episodes()

    def _write_episodes(self) -> None:
        """Write the episodes that are held; all have the columns of the first one."""
        if not self._episodes:
            return
        if self._episode_table is None:
            path = self._folder / EPISODES_PATH
            path.parent.mkdir(parents=True)
            schema = self._arrow.Table.from_pylist(self._episodes).schema
            self._episode_table = self._parquet.ParquetWriter(path, schema)
        self._episode_table.write_table(self._arrow.Table.from_pylist(self._episodes, self._episode_table.schema))
        self._episodes.clear()

    def _begin_table(self) -> None:
        if self._table is not None:
            self._table.close()
            self._stream.close()
        path = self._folder / DATA_PATH.format(**self._places["data"].advance())
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("wb")
        self._table = self._parquet.ParquetWriter(self._stream, self._schema, compression="snappy")

    def _begin_video(self, name: str) -> VideoWriter:
        if name in self._videos:
            self._videos[name].close()
        place = self._places.setdefault(name, _Place()).advance()
        path = self._folder / VIDEO_PATH.format(video_key=name, **place)
        self._videos[name] = VideoWriter(path, self._survey.rate)
        self._video_files.setdefault(name, []).append(path)
        return self._videos[name]

    # -- what the dataset says of itself ------------------------------------------------------------------------------

    def _write_tasks(self) -> None:
        """Write the one task; pandas finds its words as the index of the table."""
        index = {"name": None, "field_name": None, "pandas_type": "unicode", "numpy_type": "object", "metadata": None}
        name = "__index_level_0__"
        pandas = {
            "index_columns": [name],
            "column_indexes": [index],
            "columns": [
                {
                    **index,
                    "name": "task_index",
                    "field_name": "task_index",
                    "pandas_type": "int64",
                    "numpy_type": "int64",
                },
                {**index, "field_name": name},
            ],
        }
        table = self._arrow.table({"task_index": [0], name: [self._options.task]})
        metadata = {"pandas": json.dumps(pandas)}
        self._parquet.write_table(table.replace_schema_metadata(metadata), self._folder / TASKS_PATH)

    def _list_facts(self) -> dict[str, Any]:
        """Return what `info.json` holds."""
        features = {name: feature.describe() for name, feature in self.features.items()}
        for feature in features.values():
            if feature["dtype"] == "video":
                feature["info"] = self._describe_video(*feature["shape"][:2])
        return {
            "codebase_version": VERSION,
            "robot_type": "donkeycar",
            "total_episodes": self._episode_count,
            "total_frames": self._count,
            "total_tasks": 1,
            "chunks_size": CHUNK_FILES,
            "data_files_size_in_mb": DATA_MEGABYTES,
            "video_files_size_in_mb": VIDEO_MEGABYTES,
            "fps": self._survey.rate,
            "splits": {"train": f"0:{self._episode_count}"},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH if self._videos else None,
            "features": features,
        }

    def _describe_video(self, height: int, width: int) -> dict[str, Any]:
        facts = {"height": height, "width": width, "codec": "h264", "pix_fmt": choose_pixel_format(height, width)}
        facts |= {"is_depth_map": False, "fps": self._survey.rate, "channels": 3}
        return {**{f"video.{name}": value for name, value in facts.items()}, "has_audio": False}

    def _list_statistics(self, name: str, seen: RunningStatistics) -> dict[str, Any]:
        feature = self.features[name]
        if name not in self._pictures:
            return seen.list_values(feature.shape)
        height, width, _ = feature.shape
        return seen.list_values((-1, 1, 1), seen.count // (height * width))


def _list_losses(survey: Survey, features: dict[str, Feature]) -> Iterator[str]:
    """Yield sentences about what the dataset does not hold, or holds in another form."""
    if survey.deleted_count:
        yield f"The {survey.deleted_count:,} deleted records are left out: a LeRobot dataset has no room for them."
    texts = [feature.key for feature in features.values() if feature.key and feature.is_text_of_json]
    if texts:
        yield f"As text (JSON), since records have none of them, or of several kinds or lengths: {', '.join(texts)}."
    if ACTION not in features:
        yield f"It has no {ACTION!r}, which policies learn: not all records have {describe_command_keys()}."
    if not survey.is_timed:
        yield f"The records' times do not show their rate; {survey.rate} a second is assumed (--fps says another)."
