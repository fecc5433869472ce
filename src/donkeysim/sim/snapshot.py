"""Copies of everything that changes, to go back to."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import ShapeError
from donkeysim.core.types import LongArray
from donkeysim.world.state import Control, State, make_control, make_state


@dataclass(frozen=True)
class Snapshot:
    """A moment of a simulator.

    Attributes:
        state: Copies of all arrays.
        control: Likewise.
        world_key: Of each world's random numbers, shape [world_count].
        frame_count: Telemetries made so far per car, shape [car_count].
    """

    state: State
    control: Control
    world_key: LongArray
    frame_count: LongArray


def copy_moment(state: State, control: Control, world_key: LongArray, frame_count: LongArray) -> Snapshot:
    """Return a snapshot that later steps do not touch."""
    return Snapshot(copy.deepcopy(state), copy.deepcopy(control), world_key.copy(), frame_count.copy())


def write_moment(
    snapshot: Snapshot,
    state: State,
    control: Control,
    world_key: LongArray,
    frame_count: LongArray,
    worlds: Sequence[int] | None = None,
) -> None:
    """Write a snapshot's arrays into a simulator's own, which stay the same objects.

    Args:
        snapshot: Read.
        state: Written.
        control: Written.
        world_key: Written.
        frame_count: Written.
        worlds: Only the rows of these worlds; None: all.

    Raises:
        ShapeError: The snapshot is of a simulator with other numbers of worlds, cars or props.
    """
    pairs = [
        *_pair_arrays(snapshot.state, state),
        *_pair_arrays(snapshot.control, control),
        ("world_key", snapshot.world_key, world_key),
        ("frame_count", snapshot.frame_count, frame_count),
    ]
    for name, source, target in pairs:
        if source.shape != target.shape:
            raise ShapeError(
                f"the snapshot's {name} has shape {source.shape}, this simulator's {target.shape}; "
                "restore into a simulator of the same WorldSpec."
            )
    if worlds is None:
        for _, source, target in pairs:
            np.copyto(target, source)
        return
    # Every array's rows come world by world, as many for each.
    for _, source, target in pairs:
        rows = len(source) // len(world_key)
        for world in worlds:
            target[world * rows : (world + 1) * rows] = source[world * rows : (world + 1) * rows]


def make_snapshot(world_count: int, cars_per_world: int, props_per_world: int) -> Snapshot:
    """Return a snapshot of a simulator without cars."""
    car_count = world_count * cars_per_world
    state, control = make_state(world_count, cars_per_world, props_per_world), make_control(car_count)
    return Snapshot(state, control, np.zeros(world_count, np.int64), np.zeros(car_count, np.int64))


def list_arrays(snapshot: Snapshot) -> dict[str, NDArray[Any]]:
    """Return all arrays of a snapshot by name, always in the same order."""
    arrays: dict[str, NDArray[Any]] = {f"state.{name}": getattr(snapshot.state, name) for name in State._fields}
    arrays |= {f"control.{name}": getattr(snapshot.control, name) for name in Control._fields}
    return arrays | {"world_key": snapshot.world_key, "frame_count": snapshot.frame_count}


def hash_state(state: State) -> str:
    """Return a hash of every byte of a state: equal hashes, equal runs."""
    digest = hashlib.sha256()
    for array in state:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _pair_arrays(source: State | Control, target: State | Control) -> list[tuple[str, NDArray[Any], NDArray[Any]]]:
    return list(zip(source._fields, source, target, strict=True))
