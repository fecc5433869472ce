"""The file of an action log: the commands to a simulator and the frames between, in order, appended block by block.

    "DonkeyAL", format (4 bytes), then blocks: length, checksum of the content, checksum of these 8 bytes (4 bytes each,
    little endian), content: zlib of a MessagePack list

The first block holds the `Head`, the others events. Blocks are written once a second; a killed program loses no more.
The head says with what something was simulated: only with the very same is it the same again, bit for bit.
"""

import contextlib
import dataclasses
import logging
import operator
import os
import platform
import struct
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec
import numpy as np

from donkeysim import __version__
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.files import describe_failure
from donkeysim.core.kernel_folders import CACHE_FOLDER, find_numba_version, name_processor
from donkeysim.sim.commands import ChangeScene, Command
from donkeysim.world.scene import Scene
from donkeysim.world.specs import WorldSpec
from donkeysim.world.tracks.former_places import rename_place, rename_scene, rename_world

MAGIC, FORMAT = b"DonkeyAL", 5

OLDEST = 3
"""The oldest format that is read; it has no notes, and like format 4 no active nodes in its moments and checksums."""

RENAMED = 5
"""The first format in which the original's places have their names; see `former_places`."""

BLOCK_SECONDS = 1.0
"""How long events wait for others before they are written [s]."""

BLOCK_BYTES = 1 << 18
"""Controls and moments of more bytes than this are written at once."""

_PREFIX = struct.Struct("<8sI")
_BLOCK = struct.Struct("<III")

_log = logging.getLogger(__name__)

_SOLID = operator.attrgetter("path", "ground", "colliders", "props", "start")
"""What cars of a scene drive on, run into and are measured against."""

_TRACK = "track "
"""What stands before a track's name."""


class Head(msgspec.Struct, array_like=True):
    """What was simulated, and with what (see `origin`)."""

    spec: WorldSpec
    origin: dict[str, str]


class Stepped(msgspec.Struct, array_like=True, tag=1):
    """A frame passed."""

    count: int
    """Physics steps."""
    checksum: int
    """Of the state afterwards."""


class LoggedSnapshot(msgspec.Struct, array_like=True, tag=14):
    """A snapshot that is restored later; they are numbered from 0 as they come. All arrays, one after the other."""

    arrays: bytes


class Closed(msgspec.Struct, array_like=True, tag=18):
    """The log ends in order."""


class Noted(msgspec.Struct, array_like=True, tag=19):
    """What somebody else keeps in the log, such as the rules of a race; it changes nothing."""

    text: str


Event: TypeAlias = Stepped | LoggedSnapshot | Noted | Closed | Command


class LogWriter:
    """Appends to a log; when the disk is full, the log ends and the simulation continues.

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
        self._encoder = msgspec.msgpack.Encoder(enc_hook=_list_numbers)
        self._events: list[msgspec.Raw] = []
        self._waiting_bytes, self._written = 0, time.monotonic()
        try:
            _write(self._file, _PREFIX.pack(MAGIC, FORMAT) + _pack_block(self._encoder.encode(head)))
        except OSError as error:
            self._file.close()
            with contextlib.suppress(OSError):
                self.path.unlink()
            raise DonkeySimError(f"the action log {self.path} cannot be written: {describe_failure(error)}.") from error
        _log.info("recording everything in %s", self.path)

    def append(self, event: Event, size: int = 0) -> None:
        """Note an event, as it is now: the arrays of a command may change later.

        Args:
            size: Of its bytes, if they are many.
        """
        packed = self._encoder.encode(event)
        self._events.append(msgspec.Raw(packed))
        self._waiting_bytes += max(size, len(packed))
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
            _log.error(
                "the action log %s ends here: %s; the simulation runs on without it", self.path, describe_failure(error)
            )

    def close(self) -> None:
        """End the log in order."""
        if not self._file.closed:
            self._events.append(msgspec.Raw(self._encoder.encode(Closed())))
            self.flush()
            self._file.close()


class LogReader:
    """Reads a log.

    Attributes:
        path: Of the file.
        head: What was simulated; places of an older format by their names of now.
        size: Of the file [bytes].
        position: How much of it has been read [bytes].
        broken: How the log ends if not in order, a clause; "" as long as nothing is wrong.
        is_damaged: Whether it holds what nobody has written; else it only ends early.
    """

    def __init__(self, path: str | Path) -> None:
        """Read the head.

        Raises:
            SpecError: There is no such file, it is not an action log, or is of a newer format.
        """
        self.path = Path(path).expanduser()
        self.broken, self.is_damaged = "", False
        try:
            with self.path.open("rb") as file:
                self.size = os.fstat(file.fileno()).st_size
                self.version, self.head = self._read_head(file)
                self.position = file.tell()
        except OSError as error:
            raise SpecError(f"the action log {self.path} cannot be read: {error.strerror or error}.") from error

    def _read_head(self, file: IO[bytes]) -> tuple[int, Head]:
        """Return the format and the head."""
        prefix = file.read(_PREFIX.size)
        if not prefix.startswith(MAGIC[: len(prefix)]):
            raise SpecError(f"{self.path} is not an action log.")
        if len(prefix) < _PREFIX.size:
            raise SpecError(f"{self.path} holds nothing to replay: its program ended as it began; record again.")
        version = _PREFIX.unpack(prefix)[1]
        if version > FORMAT:
            raise SpecError(f"{self.path} has format {version}, this version reads up to {FORMAT}; update donkeysim.")
        if version < OLDEST:
            raise SpecError(
                f"{self.path} has format {version}, this version reads {OLDEST} to {FORMAT}; replay it with the "
                "donkeysim that wrote it: only that version gives identical results."
            )
        content = self._read_block(file)
        if content is None:
            raise SpecError(f"{self.path} holds nothing to replay: {self.broken or 'it is empty'}; record again.")
        try:
            head = msgspec.msgpack.decode(content, type=Head)
        except ValueError as error:
            raise SpecError(f"{self.path} is not an action log: {error}.") from error
        return version, head if version >= RENAMED else Head(rename_world(head.spec), rename_origin(head.origin))

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
                    if self.version < RENAMED and isinstance(event, ChangeScene):
                        event.scene = rename_scene(event.scene)
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
        with contextlib.suppress(zlib.error):
            if zlib.crc32(content) == checksum:
                return zlib.decompress(content)
        self.broken, self.is_damaged = f"the log is damaged between the bytes {position} and {file.tell()}", True
        return None


def _list_numbers(value: Any) -> Any:
    """Return the numbers of an array of NumPy's, one such number, or those of a range as plain ones."""
    return list(value) if isinstance(value, range) else value.tolist()


def _pack_block(content: bytes) -> bytes:
    packed = zlib.compress(content, 1)
    head = struct.pack("<II", len(packed), zlib.crc32(packed))
    return head + struct.pack("<I", zlib.crc32(head)) + packed


def _write(file: IO[bytes], content: bytes) -> None:
    """Write all of it, or raise."""
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def _create(path: Path) -> tuple[Path, IO[bytes]]:
    """Open a file that was not there before, its name numbered if need be."""
    candidate, number = path, 1
    with contextlib.suppress(OSError):  # opening reports it
        path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        try:
            return candidate, candidate.open("xb", buffering=0)
        except FileExistsError:
            number += 1
            candidate = path.with_stem(f"{path.stem}-{number}")
        except OSError as error:
            raise DonkeySimError(f"the action log {path} cannot be created: {describe_failure(error)}.") from error


def describe_origin(scenes: Sequence[Scene]) -> dict[str, str]:
    """Return versions, machine and checksums of the tracks, by name."""
    return {
        "donkeysim": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "Numba": find_numba_version() or "none",
        "system": f"{platform.system()} {platform.machine()}",
        "processor": name_processor(),
        "kernels": CACHE_FOLDER.name,
        **{f"{_TRACK}{scene.name}": f"{_sum_up(_SOLID(scene)):08x}" for scene in scenes},
    }


def rename_origin(origin: Mapping[str, str]) -> dict[str, str]:
    """Return what an older file says of its origin, with the names that its tracks have now."""
    return {
        _TRACK + rename_place(name.removeprefix(_TRACK), replayed=True) if name.startswith(_TRACK) else name: value
        for name, value in origin.items()
    }


def list_differences(there: Mapping[str, str], here: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is not the same, in words."""
    names = dict.fromkeys((*there, *here))
    return tuple(
        f"{name} {there.get(name, 'none')} then, {here.get(name, 'none')} now"
        for name in names
        if there.get(name) != here.get(name)
    )


def _sum_up(value: Any, checksum: int = 0) -> int:
    """Return a checksum of all numbers in nested dataclasses and tuples.

    Fields at their defaults do not count: one that scenes have got since a log was written changes no checksum of it.
    """
    if dataclasses.is_dataclass(value):
        parts = [(field, getattr(value, field.name)) for field in dataclasses.fields(value)]
        value = tuple(part for field, part in parts if part is not field.default)
    if isinstance(value, tuple):
        for part in value:
            checksum = _sum_up(part, checksum)
        return checksum
    return zlib.crc32(np.ascontiguousarray(value).tobytes(), checksum)
