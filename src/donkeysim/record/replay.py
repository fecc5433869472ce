"""Does again what an action log tells, and checks after every step that the same came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import singledispatchmethod
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.types import PHYSICS_STEP, FloatArray
from donkeysim.record import action_log as log
from donkeysim.record.logged_simulator import ArraySum
from donkeysim.record.origin import describe_origin, list_differences
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import Snapshot, list_arrays, make_snapshot


class Replay:
    """A log that is played.

    Attributes:
        simulator: As it is at this moment of the log.
        differences: What is not as it was when the log was written: versions, machine, tracks; in words.
        step_count: Calls of `Simulator.step` so far.
        physics_count: Physics steps so far.
        rows: Of all cars that have joined so far.
        deviation: First step whose state is another one than it was, counted from 1; None while all is the same.
        broken: How the log ends if not in order, a clause; "" else.
        is_damaged: Whether it holds what nobody has written, or what cannot be done.
    """

    def __init__(self, path: str | Path, worker_count: int = 1) -> None:
        """Open a log and build its places.

        Raises:
            SpecError: There is no such file, or it is no action log.
            SceneError: A track of the log does not exist here.
        """
        self._reader = log.LogReader(path)
        self.simulator = Simulator(self._reader.head.spec, worker_count=worker_count)
        self.differences = list_differences(self._reader.head.origin, describe_origin(self.simulator.scenes))
        self._state_sum = ArraySum(self.simulator.state)
        self.step_count = self.physics_count = 0
        self.rows: set[int] = set()
        self.deviation: int | None = None
        self.broken, self.is_damaged = "", False
        self._moments: list[Snapshot] = []

    @property
    def time(self) -> float:
        """How much time has been simulated so far [s]."""
        return self.physics_count * PHYSICS_STEP

    def play(self, to_the_end: bool = False, report: Callable[[int, int], None] | None = None) -> Iterator[int]:
        """Play the log and yield the number of physics steps after each of its steps.

        Args:
            to_the_end: Go on after the first deviation; else stop there.
            report: Called as report(bytes read, bytes in all) now and then.

        Raises:
            SpecError: The log asks for what this simulator cannot do.
        """
        size = self._reader.size
        for event in self._reader.read_events():
            try:
                self._apply(event)
            except (DonkeySimError, ValueError, IndexError, KeyError, TypeError) as error:
                self.is_damaged = True
                self.broken = f"after {self.time:.2f} s the log tells what cannot be done here: {error}"
                return
            if isinstance(event, log.Stepped):
                if self.deviation is not None and not to_the_end:
                    return
                if report is not None and self.step_count % 16 == 0:
                    report(self._reader.position, size)
                yield event.count
        if report is not None:
            report(size, size)
        self.broken, self.is_damaged = self._reader.broken, self._reader.is_damaged

    @singledispatchmethod
    def _apply(self, event: Any) -> None:
        """Do what an event tells."""
        raise SpecError(f"the event {event!r} is not known.")

    @_apply.register
    def _(self, event: log.Stepped) -> None:
        self._set_controls(event.rows, event.values)
        self.simulator.step(event.count)
        self.step_count += 1
        self.physics_count += event.count
        if self.deviation is None and self._state_sum.sum_up() != event.checksum:
            self.deviation = self.step_count

    @_apply.register
    def _(self, event: log.Controlled) -> None:
        self._set_controls(event.rows, event.values)

    @_apply.register
    def _(self, event: log.Added) -> None:
        self.rows.add(self.simulator.add_car(event.world, event.body))

    @_apply.register
    def _(self, event: log.Removed) -> None:
        self.simulator.remove_car(event.car)

    @_apply.register
    def _(self, event: log.Retired) -> None:
        self.simulator.retire_car(event.car)

    @_apply.register
    def _(self, event: log.Dressed) -> None:
        self.simulator.configure_car(event.car, event.body)

    @_apply.register
    def _(self, event: log.CameraSet) -> None:
        self.simulator.configure_camera(event.car, event.camera, event.second)

    @_apply.register
    def _(self, event: log.LidarSet) -> None:
        self.simulator.configure_lidar(event.car, event.lidar)

    @_apply.register
    def _(self, event: log.Reset) -> None:
        self.simulator.reset_car(event.car)

    @_apply.register
    def _(self, event: log.Moved) -> None:
        self.simulator.move_car(event.car, event.position, event.orientation)

    @_apply.register
    def _(self, event: log.Placed) -> None:
        self.simulator.place_car(event.car, event.position, event.orientation)

    @_apply.register
    def _(self, event: log.SpawnSet) -> None:
        self.simulator.set_spawn(event.car, event.position, event.orientation)

    @_apply.register
    def _(self, event: log.HitsCleared) -> None:
        self.simulator.clear_hits(event.cars)

    @_apply.register
    def _(self, event: log.Seeded) -> None:
        self.simulator.seed_world(event.world, event.seed)

    @_apply.register
    def _(self, event: log.Moment) -> None:
        spec = self.simulator.spec
        props = len(self.simulator.state.prop_asleep) // spec.world_count
        moment, place = make_snapshot(spec, props), 0
        for array in list_arrays(moment).values():
            part = event.arrays[place : place + array.nbytes]
            array[...] = np.frombuffer(part, array.dtype).reshape(array.shape)
            place += array.nbytes
        self._moments.append(moment)

    @_apply.register
    def _(self, event: log.Restored) -> None:
        self.simulator.restore(self._moments[event.moment], event.worlds)

    @_apply.register
    def _(self, event: log.ParamsSet) -> None:
        packed = self.simulator.physics.car_params.packed
        packed[...] = np.frombuffer(event.packed, packed.dtype).reshape(packed.shape)

    @_apply.register
    def _(self, event: log.SceneChanged) -> None:
        self.simulator.change_scene(event.scene)
        self._state_sum = ArraySum(self.simulator.state)

    @_apply.register
    def _(self, event: log.Closed) -> None:
        pass

    def _set_controls(self, rows: bytes | None, values: bytes) -> None:
        numbers: FloatArray = np.frombuffer(values)
        control = np.concatenate(self.simulator.control)
        control[slice(None) if rows is None else np.frombuffer(rows, np.int32)] = numbers
        for array, part in zip(self.simulator.control, np.split(control, 3), strict=True):
            array[:] = part
