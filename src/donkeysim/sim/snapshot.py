"""Copies of everything that changes, to go back to."""

import copy
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import ShapeError, SpecError
from donkeysim.core.types import LongArray
from donkeysim.sim.delay_line import list_under_way, make_lines
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.state import Control, State, find_car, make_control, make_state


@dataclass(frozen=True)
class Snapshot:
    """A moment of a simulator.

    Attributes:
        state, control: Copies of all arrays.
        world_key: Of each world's random numbers, shape [world_count].
        under_way: Commands and pictures that come late, by name; see `delay_line`. Empty where nothing does.
        places: Where it was; a simulator that is elsewhere by now refuses it.
    """

    state: State
    control: Control
    world_key: LongArray
    under_way: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    places: tuple[SceneSpec, ...] = ()

    @functools.cached_property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """All arrays by name; found once, as episodes go back to the same snapshot over and over."""
        arrays = {f"state.{name}": array for name, array in self.state._asdict().items()}
        arrays |= {f"control.{name}": array for name, array in self.control._asdict().items()}
        return arrays | {"world_key": self.world_key, **self.under_way}


def copy_snapshot(here: Snapshot) -> Snapshot:
    """Return a copy of a simulator's own arrays that later steps do not touch."""
    return copy.deepcopy(here)


def write_snapshot(snapshot: Snapshot, here: Snapshot, worlds: Sequence[int] | None = None) -> None:
    """Write a snapshot's arrays into a simulator's own, which stay the same objects.

    Args:
        here: The simulator's own arrays; written.
        worlds: Only the rows of these worlds; None: all.

    Raises:
        ShapeError: The snapshot is of a simulator with other numbers of worlds, cars or props, or other delays.
        SpecError: It was taken in another place, or on another road.
    """
    _require_places(snapshot.places, here.places)
    theirs, ours = list_arrays(snapshot), list_arrays(here)
    if theirs.keys() != ours.keys():
        raise ShapeError(
            f"the snapshot and this simulator do not both hold {', '.join(sorted(set(theirs) ^ set(ours)))}; "
            "restore into a simulator of the same WorldSpec."
        )
    pairs = [(name, theirs[name], ours[name]) for name in ours]
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
    write_worlds(theirs, ours, worlds, len(here.world_key))


def write_worlds(
    theirs: Mapping[str, NDArray[Any]], ours: Mapping[str, NDArray[Any]], worlds: Sequence[int], world_count: int
) -> None:
    """Write the rows of some worlds of arrays of the same names."""
    rows = {each: _find_rows(worlds, each) for each in {len(array) // world_count for array in ours.values()}}
    for name, target in ours.items():
        chosen = rows[len(target) // world_count]
        target[chosen] = theirs[name][chosen]


def _find_rows(worlds: Sequence[int], each: int) -> slice | LongArray:
    """Return the rows of worlds in an array that holds `each` of a world, world by world."""
    if len(worlds) == 1:  # a third of what a list of one takes
        return slice(worlds[0] * each, (worlds[0] + 1) * each)
    return (np.asarray(worlds, np.int64)[:, None] * each + np.arange(each)).ravel()


def _require_places(theirs: Sequence[SceneSpec], ours: Sequence[SceneSpec]) -> None:
    """Raise a SpecError unless a snapshot's places are ours; the same track in another folder is the same place."""
    if theirs == ours:
        return
    there, here = (", ".join(map(_name_place, places)) for places in (theirs, ours))
    if there != here:
        raise SpecError(
            f"the snapshot was taken on {there}, this simulator is on {here}; "
            "go back there with `change_scene`, or take a new snapshot here."
        )


def _name_place(scene: SceneSpec) -> str:
    name, road = PurePath(scene.name).stem, scene.road
    return name if road is None else f"{name} (road style {road.style}, seed {road.seed}, turn {road.turn:g})"


def make_snapshot(spec: WorldSpec, props_per_world: int) -> Snapshot:
    """Return a snapshot of a simulator without cars."""
    world_count, cars_per_world = spec.world_count, spec.cars_per_world
    car_count = world_count * cars_per_world
    has_actuators = find_car(spec).has_actuators
    state = make_state(world_count, cars_per_world, props_per_world, has_actuators)
    control = make_control(car_count)
    lines = make_lines(spec.randomization.delay, world_count, cars_per_world, props_per_world)
    under_way = list_under_way(*lines)
    return Snapshot(state, control, np.zeros(world_count, np.int64), under_way, spec.scenes)


def list_arrays(snapshot: Snapshot) -> Mapping[str, NDArray[Any]]:
    """Return all arrays of a snapshot by name, always in the same order."""
    return snapshot.arrays


def hash_state(state: State) -> str:
    """Return a hash of every byte of a state: equal hashes, equal runs."""
    digest = hashlib.sha256()
    for array in state:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
