"""Copies of everything that changes, to go back to."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import ShapeError
from donkeysim.world.state import Control, State


@dataclass(frozen=True)
class Snapshot:
    """A moment of a simulator.

    Attributes:
        state: Copies of all arrays.
        control: Likewise.
        frame_count: Telemetries made so far per car.
    """

    state: State
    control: Control
    frame_count: tuple[int, ...]


def copy_moment(state: State, control: Control, frame_count: list[int]) -> Snapshot:
    """Return a snapshot that later steps do not touch."""
    return Snapshot(copy.deepcopy(state), copy.deepcopy(control), tuple(frame_count))


def write_moment(snapshot: Snapshot, state: State, control: Control) -> None:
    """Write a snapshot's arrays into a simulator's own, which stay the same objects.

    Raises:
        ShapeError: The snapshot is of a simulator with other numbers of worlds, cars or props.
    """
    pairs = _pair_arrays(snapshot.state, state) + _pair_arrays(snapshot.control, control)
    for name, source, target in pairs:
        if source.shape != target.shape:
            raise ShapeError(
                f"the snapshot's {name} has shape {source.shape}, this simulator's {target.shape}; "
                "restore into a simulator of the same WorldSpec."
            )
    for _, source, target in pairs:
        np.copyto(target, source)


def hash_state(state: State) -> str:
    """Return a hash of every byte of a state: equal hashes, equal runs."""
    digest = hashlib.sha256()
    for array in state:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _pair_arrays(source: State | Control, target: State | Control) -> list[tuple[str, NDArray[Any], NDArray[Any]]]:
    return list(zip(source._fields, source, target, strict=True))
