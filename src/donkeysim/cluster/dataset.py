"""A dataset of labelled frames in a folder: what was asked for, shards as Parquet files, and their checksums.

A shard appears under its name only when it is whole, so a run that was stopped or killed continues where it was.
"""

import hashlib
import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from donkeysim.cluster.executor import Executor
from donkeysim.cluster.frames import DEPTH_STEP, FramesSpec, open_stage
from donkeysim.core.errors import DonkeySimError, SpecError, import_extra
from donkeysim.core.files import describe_failure, put_in_place, write_whole
from donkeysim.core.types import Report
from donkeysim.world.tracks.former_places import rename_tracks

SPEC_NAME, SUMMARY_NAME = "frames.json", "dataset.json"

FORMAT = 2
"""Of both files; in the first one other places had the original's names, see `former_places`."""

CLASS_NAMES = ("sky", "ground", "road", "line", "prop", "car")
"""Of the numbers in pictures of classes, CLASS_* of `world.scene`."""

PART = ".part"
"""Ending of a file that is being written."""

# With pictures of 160x120 in three channels and depth about 10 MB.
BATCH = 100
"""Rows that are held in memory at once."""


@dataclass(frozen=True)
class Shard:
    """A file of frames.

    Attributes:
        number: Its place.
        frames: In it.
        size: Of the file [byte].
        checksum: SHA-256 of its bytes.
    """

    number: int
    frames: int
    size: int
    checksum: str


@dataclass(frozen=True)
class Dataset:
    """A whole dataset.

    Attributes:
        shards: In order.
        checksum: SHA-256 of all shards' checksums.
        made: How many of the shards this call made; the others were there.
    """

    folder: Path
    shards: tuple[Shard, ...]
    checksum: str
    made: int


def generate_dataset(
    spec: FramesSpec, folder: Path, executor: Executor, report: Report = lambda _done, _total: None
) -> Dataset:
    """Make all shards that are missing in a folder, then the summary.

    Args:
        folder: Where; made when there is none.
        executor: Each of its processes must see the folder by this name.
        report: Called as report(done, total), in frames.

    Raises:
        SpecError: The folder holds another dataset, or something is not possible.
        DonkeySimError: A file cannot be written.
    """
    import_extra("pyarrow", "datasets need pyarrow", "cluster")
    spec.make_experiment()  # what is not possible is said before any worker starts
    place = folder.resolve()
    _claim(spec, place)
    have = {number: shard for number in range(spec.shard_count) if (shard := read_shard(spec, place, number))}
    missing = [number for number in range(spec.shard_count) if number not in have]
    made, done = dict(have), sum(shard.frames for shard in have.values())
    report(done, spec.frames)
    for shard in executor.run(write_shard, spec, str(place), over=missing):
        made[shard.number] = shard
        done += shard.frames
        report(done, spec.frames)
    for left in place.glob(f".frames-*{PART}"):  # by workers that were killed
        left.unlink()
    shards = tuple(made[number] for number in range(spec.shard_count))
    checksum = hashlib.sha256("".join(shard.checksum for shard in shards).encode()).hexdigest()
    summary = {
        "format": FORMAT,
        "frames": spec.frames,
        "checksum": checksum,
        "depth_step": DEPTH_STEP,
        "class_names": list(CLASS_NAMES),
        "shards": [{"file": name_shard(spec, shard.number), **asdict(shard)} for shard in shards],
    }
    write_whole(place / SUMMARY_NAME, json.dumps(summary, indent=1).encode() + b"\n")
    return Dataset(folder, shards, checksum, len(missing))


def name_shard(spec: FramesSpec, number: int) -> str:
    """Return the name of a shard's file."""
    return f"frames-{number:05d}-of-{spec.shard_count:05d}.parquet"


def write_shard(spec: FramesSpec, folder: str, number: int) -> Shard:
    """Drive a shard and write its file; runs in a process of the executor.

    Raises:
        DonkeySimError: The file cannot be written.
    """
    path = Path(folder) / name_shard(spec, number)
    # A name of this process on this machine: the folder may be shared, and a task may run twice.
    part = path.with_name(f".{path.name}.{platform.node()}-{os.getpid()}{PART}")
    try:
        _write_rows(spec, number, part)
        put_in_place(part, path)
    except OSError as error:
        raise DonkeySimError(f"{path} cannot be written ({describe_failure(error)}).") from error
    finally:
        part.unlink(missing_ok=True)
    found = read_shard(spec, path.parent, number)
    assert found is not None, "it was just written"
    return found


def _write_rows(spec: FramesSpec, number: int, path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    rows: list[dict[str, Any]] = []
    writer: Any = None
    for count, row in enumerate(open_stage(spec).drive_shard(number), 1):
        rows.append(row)
        if len(rows) == BATCH or count == spec.count_frames(number):
            table = pyarrow.Table.from_pylist(rows)
            # Pictures are compressed already.
            writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema, compression="none")
            writer.write_table(table)
            rows = []
    writer.close()


def read_shard(spec: FramesSpec, folder: Path, number: int) -> Shard | None:
    """Return what is known of a shard's file, None: there is none."""
    path = folder / name_shard(spec, number)
    if not path.exists():
        return None
    with path.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    return Shard(number, spec.count_frames(number), path.stat().st_size, checksum)


def _renew(known: Any, path: Path) -> None:
    """Give what an older version noted the format of now.

    Raises:
        SpecError: Some of its tracks have other names by now, so that new rows would not go with the old ones.
    """
    if isinstance(known, dict) and known.get("format") == 1:
        tracks = known.get("tracks", ())
        if list(rename_tracks(tracks)) != list(tracks):
            raise SpecError(
                f"{path} is of an older version, whose {', '.join(tracks)} are {', '.join(rename_tracks(tracks))} now; "
                "begin anew in another folder."
            )
        known["format"] = FORMAT


def _claim(spec: FramesSpec, folder: Path) -> None:
    """Note what was asked for in a folder, or make sure that it is the same.

    Raises:
        SpecError: It is not.
    """
    path = folder / SPEC_NAME
    wanted = {"format": FORMAT, **asdict(spec)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            if any(folder.iterdir()):
                raise SpecError(f"{folder} holds something else already; give an empty folder, or a new one.")
            write_whole(path, json.dumps(wanted, indent=1).encode() + b"\n")
            return
        known = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise DonkeySimError(f"{folder} cannot be used ({describe_failure(error)}).") from error
    except msgspec.DecodeError as error:
        raise SpecError(f"{path} cannot be read ({error}); begin anew in another folder.") from error
    again = msgspec.json.decode(json.dumps(wanted).encode())
    _renew(known, path)
    if known != again:
        differing = [name for name in again if not isinstance(known, dict) or known.get(name) != again[name]]
        raise SpecError(
            f"{folder} holds a dataset with other {', '.join(differing)}; ask for the same again, or give another "
            "folder."
        )
