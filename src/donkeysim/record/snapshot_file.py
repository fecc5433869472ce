"""Snapshots as files: NumPy's `.npz`, with a format number, the `WorldSpec` and the versions it was made with."""

from __future__ import annotations

import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.record.origin import describe_origin
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import Snapshot, list_arrays, make_snapshot
from donkeysim.world.specs import WorldSpec

FORMAT = 1

_HEAD = "head"


class _Head(msgspec.Struct):
    """First entry of a file."""

    format: int
    spec: WorldSpec
    origin: dict[str, str]


@dataclass(frozen=True)
class StoredSnapshot:
    """What a file holds.

    Attributes:
        snapshot: For `Simulator.restore`, into a simulator of the same `spec`.
        spec: Of the simulator it was taken of.
        origin: Versions and machine, see `origin.describe_origin`.
    """

    snapshot: Snapshot
    spec: WorldSpec
    origin: dict[str, str]


def save_snapshot(path: str | Path, simulator: Simulator, snapshot: Snapshot | None = None) -> Path:
    """Write a snapshot of a simulator (default: as it is now) and return the file; it is whole or not there at all.

    Raises:
        DonkeySimError: The file cannot be written.
    """
    target = Path(path).expanduser()
    head = _Head(FORMAT, simulator.spec, describe_origin(simulator.scenes))
    entries: dict[str, Any] = dict(list_arrays(snapshot or simulator.snapshot()))
    entries[_HEAD] = np.frombuffer(msgspec.json.encode(head), np.uint8)
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(fresh, "wb") as file:
            np.savez_compressed(file, **entries)
        os.replace(fresh, target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise DonkeySimError(f"the snapshot {target} cannot be written: {error.strerror or error}.") from error
    return target


def load_snapshot(path: str | Path) -> StoredSnapshot:
    """Return a stored snapshot.

    Raises:
        SpecError: There is no such file, it is no snapshot, is damaged, or is of a newer format.
    """
    target = Path(path).expanduser()
    try:
        with open(target, "rb") as file:
            return _read(file, target)
    except OSError as error:
        raise SpecError(f"the snapshot {target} cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, NotImplementedError) as error:
        raise SpecError(f"{target} is no snapshot of a simulator, or is damaged ({error}); save it again.") from error


def _read(file: IO[bytes], path: Path) -> StoredSnapshot:
    if file.read(2) != b"PK":
        raise ValueError("it does not begin as one")
    file.seek(0)
    with np.load(file, allow_pickle=False) as entries:
        raw = entries[_HEAD].tobytes()
        version = msgspec.json.decode(raw, type=dict[str, Any]).get("format")
        if isinstance(version, int) and version > FORMAT:
            raise SpecError(f"{path} has format {version}, this version reads up to {FORMAT}; update donkeysim.")
        head = msgspec.json.decode(raw, type=_Head)
        snapshot = _fill(make_snapshot(head.spec, 0), entries)
    return StoredSnapshot(snapshot, head.spec, head.origin)


def _fill(blank: Snapshot, entries: Any) -> Snapshot:
    """Return a snapshot of the entries, which must be of the kinds and shapes of the blank one; props are free."""
    filled: dict[str, NDArray[Any]] = {}
    for name, array in list_arrays(blank).items():
        entry = entries[name]
        free = name.startswith(("state.prop_", "picture.prop_"))
        if entry.dtype != array.dtype or entry.shape[int(free) :] != array.shape[int(free) :]:
            raise ValueError(f"{name} has shape {entry.shape} and type {entry.dtype}")
        filled[name] = np.ascontiguousarray(entry)
    return Snapshot(
        type(blank.state)(*(filled[f"state.{name}"] for name in blank.state._fields)),
        type(blank.control)(*(filled[f"control.{name}"] for name in blank.control._fields)),
        filled["world_key"],
        filled["frame_count"],
        {name: filled[name] for name in blank.under_way},
        blank.places,
    )
