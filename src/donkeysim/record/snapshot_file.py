"""Snapshots as files: NumPy's `.npz`, with a format number, the `WorldSpec` and the versions it was made with."""

import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError
from donkeysim.core.files import write_whole
from donkeysim.core.types import PHYSICS_STEP
from donkeysim.record.action_log import describe_origin, rename_origin
from donkeysim.sim.ledger import WAY_FIELDS
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import Snapshot, list_arrays, make_snapshot
from donkeysim.world.specs import WorldSpec
from donkeysim.world.state import ACTIVE_FIELDS, complete_active, hold_car
from donkeysim.world.tracks.former_places import rename_world

FORMAT = 3

_RENAMED = 3
"""The first format in which the original's places have their names; see `former_places`."""

_HEAD = "head"

_FORMER_NAMES = {"state.shortest_along": "state.progress", "state.lap_nodes": "state.crossing_nodes"}
"""What format 1 called arrays."""

_NEW_NAMES = {
    f"state.{name}": 2 for name in ("lap_begun", "lap_time", "checkpoint", "lines_passed", "along", *WAY_FIELDS)
} | {f"state.{name}": 3 for name in ACTIVE_FIELDS}
"""Since which format there are arrays that format 1 did not have. In older files they are those of a car that was just
put there, or follow from others."""


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
    head = _Head(FORMAT, hold_car(simulator.spec, simulator.car_spec), describe_origin(simulator.scenes))
    entries: dict[str, Any] = dict(list_arrays(snapshot or simulator.snapshot()))
    entries[_HEAD] = np.frombuffer(msgspec.json.encode(head), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **entries)
    write_whole(target, buffer.getvalue())
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
        raise SpecError(
            f"{target} is not a snapshot of a simulator, or is damaged ({error}); save it again."
        ) from error


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
        if head.format < _RENAMED:
            head = _Head(head.format, rename_world(head.spec), rename_origin(head.origin))
        snapshot = _fill(make_snapshot(head.spec, 0), entries, head.format)
    return StoredSnapshot(snapshot, head.spec, head.origin)


def _fill(blank: Snapshot, entries: Any, version: int) -> Snapshot:
    """Return a snapshot of the entries, which must be of the kinds and shapes of the blank one; props are free."""
    filled: dict[str, NDArray[Any]] = {}
    for name, array in list_arrays(blank).items():
        former = _FORMER_NAMES.get(name, name) if version < 2 else name
        # Format 1 had no lap times, checkpoints and timers, format 2 no active nodes; files of old have no entry for
        # what takes no bytes.
        is_in_file = 0 not in array.shape[1:] and version >= _NEW_NAMES.get(name, 1)
        entry = entries[former] if is_in_file else array
        free = name.startswith(("state.prop_", "picture.prop_"))
        if entry.dtype != array.dtype or entry.shape[int(free) :] != array.shape[int(free) :]:
            raise ValueError(f"{name} has shape {entry.shape} and type {entry.dtype}")
        filled[name] = np.ascontiguousarray(entry)
    if version < 2:
        begun = entries["state.crossing_step"]
        filled["state.lap_begun"] = np.where(begun < 0, -1.0, begun * PHYSICS_STEP)
    state = type(blank.state)(*(filled[f"state.{name}"] for name in blank.state._fields))
    if version < 3:
        complete_active(state)
    return Snapshot(
        state,
        type(blank.control)(*(filled[f"control.{name}"] for name in blank.control._fields)),
        filled["world_key"],
        {name: filled[name] for name in blank.under_way},
        blank.places,
    )
