"""Reading tubs: format 2 with or without session ids, and the older format of single files; never changes anything."""

import itertools
import logging
import os
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import Any, Self

from donkeysim.core.errors import SpecError, TubError, format_count
from donkeysim.core.types import ByteArray
from donkeysim.tub.catalog import count_lines, follow_positions, list_catalogs, read_records, warn_of_losses
from donkeysim.tub.files import read_picture_file
from donkeysim.tub.manifest import IMAGE_FOLDER, MANIFEST_NAME, has_records, read_manifest
from donkeysim.tub.old_format import is_old_format, read_old_manifest, read_old_records
from donkeysim.tub.values import PICTURE_ERRORS, decode_picture, measure_picture, read_number

logger = logging.getLogger(__name__)

IMAGE_KEY = "cam/image_array"

COMMAND_KEYS = (
    ("user/angle", "user/throttle"),
    ("user/steering", "user/throttle"),
    ("steering", "throttle"),
    ("angle", "throttle"),
    ("pilot/angle", "pilot/throttle"),
    ("pilot/steering", "pilot/throttle"),
)
"""Steering and throttle as records name them; the first pair that is there counts: the driver's before the car's before
a pilot's. The third is of the original's templates that follow lines, the fourth of those that drive without a user."""


@dataclass(frozen=True)
class TubRecord:
    """One record.

    Attributes:
        index: Its number as stored; consecutive numbers were recorded one after the other.
        position: The number of its line in the tub, from 0; what deletion counts.
        session_id: The drive it belongs to; "" in tubs that know none.
        timestamp_ms: When it was recorded [ms since 1970].
        values: What the catalog holds by input; a picture's value is its file name.
        image_folder: Where its pictures lie.
    """

    index: int
    position: int
    session_id: str
    timestamp_ms: int
    values: dict[str, Any] = field(repr=False)
    image_folder: Path = field(repr=False)

    def follows(self, other: Self) -> bool:
        """Return whether this record was taken right after another, in the same session of the same tub."""
        place, before = (self.image_folder, self.session_id, self.index), (other.image_folder, other.session_id)
        return place == (*before, other.index + 1)

    def load_image(self, key: str = IMAGE_KEY) -> ByteArray:
        """Return a picture, shape [height, width, 3], or [height, width, 1] when it was stored grey.

        Raises:
            TubError: The record has none, or the file is missing or broken.
        """
        return self.decode_image(self.read_image(key), key)

    def decode_image(self, file: bytes, key: str = IMAGE_KEY) -> ByteArray:
        """Return the picture in the bytes of its file, as `load_image` does.

        Raises:
            TubError: The file is broken.
        """
        try:
            return decode_picture(file)
        except PICTURE_ERRORS as error:
            raise TubError(f"the picture {self.locate_image(key)} is broken: {error}.") from error

    def measure_image(self, key: str = IMAGE_KEY) -> str:
        """Return a picture's size as people write it, such as "160x120" or "160x120 grey", by its file's head.

        Raises:
            TubError: The record has none, or the file is missing or broken.
        """
        try:
            return measure_picture(self.read_image(key))
        except PICTURE_ERRORS as error:
            raise TubError(f"the picture {self.locate_image(key)} is broken: {error}.") from error

    def read_image(self, key: str = IMAGE_KEY) -> bytes:
        """Return a picture's file as it is.

        Raises:
            TubError: The record has none, or the file is missing.
        """
        path = self.locate_image(key)
        try:
            return read_picture_file(path)
        except OSError as error:
            raise TubError(f"the picture {path} of record {self.index} cannot be read ({error.strerror}).") from error

    def locate_image(self, key: str = IMAGE_KEY) -> Path:
        """Return where a picture lies: in the folder of pictures, or in a folder within it.

        Of a name with the folders of the computer that recorded it counts what follows `images`, else the last part.

        Raises:
            TubError: The record has none under this key, or it is said to lie elsewhere.
        """
        name = self.values.get(key)
        if isinstance(name, str) and Path(name).name == name:
            plain = self.image_folder / name
            if "\\" not in name or os.path.isfile(plain):
                return plain
        path = PureWindowsPath(name if isinstance(name, str) else "")  # takes both kinds of slashes
        place = self.image_folder.joinpath(*path.parts)
        if path.anchor or not os.path.isfile(place):
            folders = path.parts[:-1]
            begin = len(folders) - folders[::-1].index(IMAGE_FOLDER) if IMAGE_FOLDER in folders else 0
            place = self.image_folder.joinpath(*(path.parts[-1:] if path.anchor and not begin else path.parts[begin:]))
        between = itertools.takewhile(lambda folder: folder != self.image_folder, place.parents)
        if not path.name or ".." in path.parts or any(map(os.path.islink, between)):
            raise TubError(f"record {self.index} in {self.image_folder.parent} has no picture {key!r}.")
        return place


class TubReader:
    """The records of one tub, as they are when they are asked for; a tub that is being written to may grow meanwhile.

    Attributes:
        path: The tub's folder.
        inputs, types: Keys of a record and their types.
        metadata: What the user noted.
        own_metadata: What the tub noted itself: when it was made, its sessions.
        max_len: Records per catalog.
        deleted_indexes: Positions of deleted records.
        sessions: Full ids of the drives, oldest first.
        places: Names of the places where they were driven; () where nobody noted them, as in tubs of the original.
        is_old_format: Whether it is of the format before 2, which can be read only.
        lost_count: Records that its catalogs have lost; they are logged.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a tub.

        Raises:
            TubError: There is none.
        """
        self.path = Path(path).expanduser().absolute()
        if self.path.is_file():
            raise TubError(_describe_file(self.path))
        if not self.path.is_dir():
            raise TubError(f"there is no tub {self.path}; give the folder that holds {MANIFEST_NAME}.")
        self.is_old_format = not (self.path / MANIFEST_NAME).exists() and is_old_format(self.path)
        manifest = read_old_manifest(self.path) if self.is_old_format else read_manifest(self.path)
        self.inputs = tuple(manifest.inputs)
        self.types = tuple(manifest.types)
        self.metadata = manifest.metadata
        self.own_metadata = manifest.own_metadata
        self.max_len = manifest.max_len
        self.sessions = manifest.session_ids
        self.places = manifest.places
        self._started_at = manifest.created_at
        self._catalogs = [] if self.is_old_format else list_catalogs(self.path, manifest)
        self._length: int | None = None
        counts = count_lines(self.path, self._catalogs, self.max_len)
        self.lost_count = warn_of_losses(self.path, counts)
        marks = manifest.deleted_indexes
        self.deleted_indexes = frozenset(follow_positions(counts, marks) if self.lost_count else marks)

    def __len__(self) -> int:
        """Return how many living records there are; counted once, by reading them."""
        if self._length is None:
            self._length = sum(1 for _ in self)
        return self._length

    def __iter__(self) -> Iterator[TubRecord]:
        """Yield the living records in order."""
        return (record for record in self.iterate_all() if record.position not in self.deleted_indexes)

    def iterate_seen(self) -> Iterator[TubRecord]:
        """Yield the living records whose picture can be read, in order; the others are logged at the end."""
        lost = 0
        for record in self:
            try:
                record.measure_image()
            except TubError:
                lost += 1
            else:
                yield record
        if lost:
            logger.warning(
                "the tub %s lacks the %s of %s: the others are used.",
                *(self.path, "picture" if lost == 1 else "pictures", format_count(lost, "record")),
            )

    def iterate_all(self) -> Iterator[TubRecord]:
        """Yield all records in order, the deleted ones too."""
        if self.is_old_format:
            for position, content in read_old_records(self.path, self._started_at):
                yield make_record(position, content, self.path)
        else:
            for position, content in read_records(self.path, self._catalogs):
                yield make_record(position, content, self.path / IMAGE_FOLDER)


INDEX_MOST, TIME_MOST = 1 << 31, 253_402_300_800_000
"""Beyond these, the year 9999's last millisecond, an index or a time is none: nothing that is converted holds it."""


def _describe_file(path: Path) -> str:
    """Return what to give in place of a file, of which patterns such as `data/*` name many."""
    if has_records(path.parent) or is_old_format(path.parent):
        return f"{path} is a file of a tub; give the tub's folder, {path.parent}."
    return f"{path} is a file; unpack it, and give the folder that holds {MANIFEST_NAME}."


def make_record(position: int, content: dict[str, Any], image_folder: Path) -> TubRecord:
    """Return the record of a catalog's line; old ones may lack what begins with an underscore."""
    values = {key: value for key, value in content.items() if not key.startswith("_")}
    index, timestamp = content.get("_index"), content.get("_timestamp_ms")
    return TubRecord(
        index if isinstance(index, int) and 0 <= index < INDEX_MOST else position,
        position,
        str(content.get("_session_id", "")),
        timestamp if isinstance(timestamp, int) and 0 <= timestamp < TIME_MOST else 0,
        values,
        image_folder,
    )


IMU_CHANNELS = ("imu/acl_x", "imu/acl_y", "imu/acl_z", "imu/gyr_x", "imu/gyr_y", "imu/gyr_z")
SIMULATED_IMU_CHANNELS = (
    *("accel/accel_x", "accel/accel_y", "accel/accel_z"),
    *("gyro/gyro_x", "gyro/gyro_y", "gyro/gyro_z"),
)
"""The same readings under the names that a simulated car records, in the order of `IMU_CHANNELS`."""


def read_channel(values: Mapping[str, Any], channel: str) -> Any:
    """Return what a record holds for a channel; an IMU's reading is also found under its simulated car's name.

    Raises:
        SpecError: The record has neither.
    """
    if channel in values:
        return values[channel]
    if channel in IMU_CHANNELS:
        simulated = SIMULATED_IMU_CHANNELS[IMU_CHANNELS.index(channel)]
        if simulated in values:
            return values[simulated]
        raise SpecError(
            f"the records have no IMU's readings ({channel!r} of a car, {simulated!r} of a simulator); record with "
            "HAVE_IMU = True, in a simulator with SIM_RECORD_GYROACCEL = True."
        )
    raise SpecError(f"the records have no {channel!r}, which this type of pilot reads beside the picture.")


def require_channel(values: Mapping[str, Any], channel: str, where: str) -> Any:
    """Return what a drive has for a channel that a pilot wants beside the picture; `where`: the kind of drive.

    Raises:
        SpecError: It has nothing.
    """
    try:
        return read_channel(values, channel)
    except SpecError as error:
        raise SpecError(
            f"the pilot wants the channel {channel}, which {where} does not have; it has pictures and "
            f"{', '.join(sorted(values))}."
        ) from error


def find_command_keys(keys: Container[str]) -> tuple[str, str]:
    """Return under which of a record's keys its steering and throttle lie; the usual ones where there are none."""
    return next((pair for pair in COMMAND_KEYS if pair[0] in keys and pair[1] in keys), COMMAND_KEYS[0])


def read_command(record: TubRecord) -> tuple[float, float]:
    """Return what the driver did at a record: steering [-1, 1, + = right] and throttle [-1, 1].

    Raises:
        TubError: The record does not say.
    """
    angle, throttle = (read_number(record.values.get(key)) for key in find_command_keys(record.values))
    if angle is None or throttle is None:
        raise TubError(
            f"record {record.index} of {record.image_folder.parent} does not say what the driver did "
            f"({describe_command_keys()}); take a tub recorded by driving."
        )
    return angle, throttle


def describe_command_keys() -> str:
    """Return in words which keys are looked for."""
    *others, last = (" and ".join(pair) for pair in COMMAND_KEYS)
    return f"{', '.join(others)}, or {last}"
