"""Does again what an action log says, and checks after every step that the same came of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.types import PHYSICS_STEP
from donkeysim.record import action_log as log
from donkeysim.record.action_log import describe_origin, list_differences
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import Snapshot, list_arrays, make_snapshot
from donkeysim.world.state import ACTIVE_FIELDS, complete_active


class Replay:
    """A log that is played.

    Attributes:
        path: Of the log.
        simulator: As it is at this moment of the log.
        differences: What is not as it was when the log was written: versions, machine, tracks; in words.
        step_count: Calls of `Simulator.step` so far.
        physics_count: Physics steps so far.
        rows: Of all cars that have joined so far.
        deviation: First step whose state is another one than it was, counted from 1; None while all is the same.
        broken: How the log ends if not in order, a clause; "" else.
        is_damaged: Whether it holds what nobody has written, or what cannot be done.
        listener: Called with each text that was kept in the log, as it comes; None: nobody wants them.
    """

    def __init__(self, path: str | Path, worker_count: int = 1) -> None:
        """Open a log and build its places.

        Raises:
            SpecError: There is no such file, or it is not an action log.
            SceneError: A track of the log does not exist here.
        """
        self._reader = log.LogReader(path)
        self.path = self._reader.path
        self.simulator = Simulator(self._reader.head.spec, worker_count=worker_count)
        self.differences = list_differences(self._reader.head.origin, describe_origin(self.simulator.scenes))
        self.step_count = self.physics_count = 0
        self.rows: set[int] = set()
        self.deviation: int | None = None
        self.broken, self.is_damaged = "", False
        self.listener: Callable[[str], None] | None = None
        self._moments: list[Snapshot] = []
        self._unknown = ACTIVE_FIELDS if self._reader.version < 5 else ()

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
                self.broken = f"after {self.time:.2f} s the log holds what cannot be done here: {error}"
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

    def _apply(self, event: log.Event) -> None:
        """Do what an event says."""
        simulator = self.simulator
        if isinstance(event, log.Stepped):
            simulator.step(event.count)
            self.step_count += 1
            self.physics_count += event.count
            if self.deviation is None and simulator.sum_up(self._unknown) != event.checksum:
                self.deviation = self.step_count
        elif isinstance(event, log.LoggedSnapshot):
            self._moments.append(self._read_moment(event))
        elif isinstance(event, log.Noted):
            if self.listener is not None:
                self.listener(event.text)
        elif isinstance(event, commands.Restore):
            simulator.restore(self._moments[event.snapshot], event.worlds)
        elif not isinstance(event, log.Closed):
            self.rows.update(simulator.apply(event) or ())

    def _read_moment(self, event: log.LoggedSnapshot) -> Snapshot:
        moment, place = make_snapshot(self.simulator.spec, self.simulator.place.props_per_world), 0
        for name, array in list_arrays(moment).items():
            if name.removeprefix("state.") in self._unknown:
                continue
            part = event.arrays[place : place + array.nbytes]
            array[...] = np.frombuffer(part, array.dtype).reshape(array.shape)
            place += array.nbytes
        if self._unknown:
            complete_active(moment.state)
        return moment
