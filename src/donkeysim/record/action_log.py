"""The file of an action log: all that was done to a simulator, in order, appended block by block.

    "DonkeyAL", format (4 bytes), then blocks: length, checksum of the content, checksum of these 8 bytes (4 bytes each,
    little endian), content: zlib of a MessagePack list

The first block holds the `Head`, the others events. Blocks are written once a second; a killed program loses no more.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.frames import Quaternion, Vector
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, SceneSpec, WorldSpec

MAGIC, FORMAT = b"DonkeyAL", 2

BLOCK_SECONDS = 1.0
"""How long events wait for others before they are written [s]."""

BLOCK_BYTES = 1 << 18
"""So many bytes of controls and moments do not wait."""

_PREFIX = struct.Struct("<8sI")
_BLOCK = struct.Struct("<III")

_log = logging.getLogger(__name__)


class Head(msgspec.Struct, array_like=True):
    """What was simulated, and with what (see `origin`)."""

    spec: WorldSpec
    origin: dict[str, str]


class Stepped(msgspec.Struct, array_like=True, tag=1):
    """Time passed: first these numbers of the controls changed, then came so many physics steps."""

    count: int
    checksum: int
    """Of the state afterwards."""
    rows: bytes | None = b""
    """Into steer, throttle and brake of all cars, one after the other, int32; None: all."""
    values: bytes = b""
    """float64 each."""


class Added(msgspec.Struct, array_like=True, tag=2):
    """A car joined."""

    world: int
    body: BodySpec | None


class Removed(msgspec.Struct, array_like=True, tag=3):
    """A car left."""

    car: int


class Retired(msgspec.Struct, array_like=True, tag=4):
    """A car was taken off the road."""

    car: int


class Dressed(msgspec.Struct, array_like=True, tag=5):
    """A car got another body."""

    car: int
    body: BodySpec


class CameraSet(msgspec.Struct, array_like=True, tag=6):
    """A car's camera was set, or switched off."""

    car: int
    camera: CameraSpec | None
    second: bool


class LidarSet(msgspec.Struct, array_like=True, tag=7):
    """A car's lidar was set, or switched off."""

    car: int
    lidar: LidarSpec | None


class Reset(msgspec.Struct, array_like=True, tag=8):
    """A car was reset."""

    car: int


class Moved(msgspec.Struct, array_like=True, tag=9):
    """A car was moved, keeping its speed."""

    car: int
    position: Vector
    orientation: Quaternion | None


class Placed(msgspec.Struct, array_like=True, tag=10):
    """A car was put somewhere, at rest."""

    car: int
    position: Vector
    orientation: Quaternion


class SpawnSet(msgspec.Struct, array_like=True, tag=11):
    """A car's place after resets was set."""

    car: int
    position: Vector
    orientation: Quaternion


class HitsCleared(msgspec.Struct, array_like=True, tag=12):
    """Hits were forgotten, of these cars or of all."""

    cars: list[int] | None


class Seeded(msgspec.Struct, array_like=True, tag=13):
    """A world got another seed."""

    world: int
    seed: int


class Moment(msgspec.Struct, array_like=True, tag=14):
    """A snapshot that is restored later; they are numbered from 0 as they come. All arrays, one after the other."""

    arrays: bytes


class Restored(msgspec.Struct, array_like=True, tag=15):
    """Worlds (None: all) went back to a moment, or were written to from outside."""

    moment: int
    worlds: list[int] | None


class Controlled(msgspec.Struct, array_like=True, tag=16):
    """Controls changed as in `Stepped`; no time passed."""

    rows: bytes | None
    values: bytes


class ParamsSet(msgspec.Struct, array_like=True, tag=17):
    """The physics' table of all cars' parameters was changed, float64."""

    packed: bytes


class Closed(msgspec.Struct, array_like=True, tag=18):
    """The log was ended in order."""


class SceneChanged(msgspec.Struct, array_like=True, tag=19):
    """All cars went on in another place, or on another road of the same one."""

    scene: SceneSpec


Event: TypeAlias = (
    Stepped
    | Added
    | Removed
    | Retired
    | Dressed
    | CameraSet
    | LidarSet
    | Reset
    | Moved
    | Placed
    | SpawnSet
    | HitsCleared
    | Seeded
    | Moment
    | Restored
    | Controlled
    | ParamsSet
    | Closed
    | SceneChanged
)


class LogWriter:
    """Appends to a log; where the disk does not take any more, the log ends and the simulation goes on.

    Attributes:
        path: Of the file; it is always a new one.
    """

    def __init__(self, path: str | Path, head: Head) -> None:
        """Create the file; where there is one already, `run.dlog` becomes `run-2.dlog` and so on.

        Raises:
            DonkeySimError: It cannot be created.
        """
        self.path, self._file = _create(Path(path).expanduser())
        self._process = os.getpid()
        self._encoder = msgspec.msgpack.Encoder()
        self._events: list[Event] = []
        self._waiting_bytes, self._written = 0, time.monotonic()
        try:
            _write(self._file, _PREFIX.pack(MAGIC, FORMAT) + _pack_block(self._encoder.encode(head)))
        except OSError as error:
            raise DonkeySimError(f"the action log {self.path} cannot be written: {error.strerror or error}.") from error
        _log.info("what happens is recorded in %s", self.path)

    def append(self, event: Event, size: int = 0) -> None:
        """Note an event.

        Args:
            event: What happened.
            size: Of its bytes.
        """
        self._events.append(event)
        self._waiting_bytes += size
        if self._waiting_bytes > BLOCK_BYTES or time.monotonic() - self._written > BLOCK_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        events, self._events = self._events, []
        self._waiting_bytes, self._written = 0, time.monotonic()
        if self._file.closed or not events:
            return
        if os.getpid() != self._process:  # a forked copy; the log is its parent's
            return
        position = self._file.tell()
        try:
            _write(self._file, _pack_block(self._encoder.encode(events)))
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(position)
            self._file.close()
            _log.error("the action log %s ends here: %s", self.path, error.strerror or error)

    def close(self) -> None:
        """End the log in order."""
        if not self._file.closed:
            self._events.append(Closed())
            self.flush()
            self._file.close()


class LogReader:
    """Reads a log.

    Attributes:
        path: Of the file.
        head: What was simulated.
        size: Of the file [bytes].
        position: How much of it has been read [bytes].
        broken: How the log ends if not in order, a clause; "" as long as nothing is wrong.
        is_damaged: Whether it holds what nobody has written; else it only ends early.
    """

    def __init__(self, path: str | Path) -> None:
        """Read the head.

        Raises:
            SpecError: There is no such file, it is no action log, or is of a newer format.
        """
        self.path = Path(path).expanduser()
        self.broken, self.is_damaged = "", False
        try:
            with self.path.open("rb") as file:
                self.size = os.fstat(file.fileno()).st_size
                self.head = self._read_head(file)
                self.position = file.tell()
        except OSError as error:
            raise SpecError(f"the action log {self.path} cannot be read: {error.strerror or error}.") from error

    def _read_head(self, file: IO[bytes]) -> Head:
        prefix = file.read(_PREFIX.size)
        if len(prefix) < _PREFIX.size or not prefix.startswith(MAGIC):
            raise SpecError(f"{self.path} is no action log.")
        version = _PREFIX.unpack(prefix)[1]
        if version > FORMAT:
            raise SpecError(f"{self.path} has format {version}, this version reads up to {FORMAT}; update donkeysim.")
        content = self._read_block(file)
        if content is None:
            raise SpecError(f"{self.path} holds nothing to replay: {self.broken or 'it is empty'}.")
        try:
            return msgspec.msgpack.decode(content, type=Head)
        except ValueError as error:
            raise SpecError(f"{self.path} is no action log: {error}.") from error

    def read_events(self) -> Iterator[Event]:
        """Yield the events in order, up to the end or to where the log breaks off (see `broken`)."""
        decoder = msgspec.msgpack.Decoder(list[Event])
        with self.path.open("rb") as file:
            file.seek(self.position)
            while (content := self._read_block(file)) is not None:
                try:
                    events = decoder.decode(content)
                except ValueError as error:
                    self.broken, self.is_damaged = f"the log is damaged near byte {self.position} ({error})", True
                    return
                self.position = file.tell()
                for event in events:
                    yield event
                    if isinstance(event, Closed):
                        return
        self.broken = self.broken or "the log was not closed, as when a program is killed"

    def _read_block(self, file: IO[bytes]) -> bytes | None:
        """Return the content of the next block; None at the end, or where the file breaks off or is damaged."""
        position = file.tell()
        head = file.read(_BLOCK.size)
        if not head:
            return None
        if len(head) < _BLOCK.size:
            self.broken = f"the log breaks off at byte {position}"
            return None
        length, checksum, own = _BLOCK.unpack(head)
        if zlib.crc32(head[:8]) != own:
            self.broken, self.is_damaged = f"the log is damaged at byte {position}", True
            return None
        content = file.read(length)
        if len(content) < length:
            self.broken = f"the log breaks off at byte {position}"
            return None
        if zlib.crc32(content) != checksum:
            self.broken, self.is_damaged = f"the log is damaged between the bytes {position} and {file.tell()}", True
            return None
        try:
            return zlib.decompress(content)
        except zlib.error:
            self.broken, self.is_damaged = f"the log is damaged between the bytes {position} and {file.tell()}", True
            return None


def _pack_block(content: bytes) -> bytes:
    packed = zlib.compress(content, 1)
    head = struct.pack("<II", len(packed), zlib.crc32(packed))
    return head + struct.pack("<I", zlib.crc32(head)) + packed


def _write(file: IO[bytes], content: bytes) -> None:
    """Write all of it, or raise."""
    if file.write(content) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _create(path: Path) -> tuple[Path, IO[bytes]]:
    """Open a file that was not there before, its name numbered if need be."""
    candidate, number = path, 1
    with contextlib.suppress(OSError):  # opening tells
        path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        try:
            return candidate, candidate.open("xb", buffering=0)
        except FileExistsError:
            number += 1
            candidate = path.with_stem(f"{path.stem}-{number}")
        except OSError as error:
            raise DonkeySimError(f"the action log {path} cannot be created: {error.strerror or error}.") from error
