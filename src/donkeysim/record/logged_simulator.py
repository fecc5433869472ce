"""A simulator that writes down whatever is done to it, so that `replay` can do it again, bit for bit.

Each method that changes something becomes an event of the `action_log`. What others write into `state` themselves is
noticed by its checksum, and the whole state noted instead.
"""

from __future__ import annotations

import hashlib
import weakref
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.frames import Quaternion, Vector
from donkeysim.core.types import FloatArray
from donkeysim.record import action_log as log
from donkeysim.record.origin import describe_origin
from donkeysim.sim.simulator import STEPS_PER_FRAME, Simulator
from donkeysim.sim.snapshot import Snapshot, list_arrays
from donkeysim.world.scene import Scene
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec, SceneSpec, WorldSpec
from donkeysim.world.state import State

_HIT = State._fields.index("hit")

P = ParamSpec("P")
T = TypeVar("T")


def open_simulator(
    spec: WorldSpec, *, worker_count: int = 1, scene: Scene | None = None, log: str | Path | None = None
) -> Simulator:
    """Return a simulator, which writes down what is done to it if `log` names a file.

    Args:
        spec: What is simulated.
        worker_count: Threads.
        scene: The place, if it is built already.
        log: The file; it is never overwritten: the next one becomes `run-2.dlog` and so on.

    Raises:
        DonkeySimError: The log cannot be created.
    """
    if log is None:
        return Simulator(spec, worker_count=worker_count, scene=scene)
    return LoggedSimulator(spec, log, worker_count=worker_count, scene=scene)


class LoggedSimulator(Simulator):
    """See the module.

    Attributes:
        log_path: Of the file.
    """

    def __init__(
        self, spec: WorldSpec, log_path: str | Path, *, worker_count: int = 1, scene: Scene | None = None
    ) -> None:
        """Begin a log.

        Raises:
            DonkeySimError: It cannot be created.
        """
        super().__init__(spec, worker_count=worker_count, scene=scene)
        self._writer = log.LogWriter(log_path, log.Head(spec, describe_origin(self.scenes)))
        self.log_path = self._writer.path
        self._close_log = weakref.finalize(self, self._writer.close)
        self._is_inside = False
        self._moments: dict[bytes, int] = {}
        self._last: tuple[Snapshot, ArraySum, int] | None = None
        self._state_sum = ArraySum(self.state)
        self._state_sum.sum_up()
        self._told_control: FloatArray = np.concatenate(self.control)
        self._told_params = zlib.crc32(self.physics.car_params.packed.data)
        self._is_drawn = self.has_drawn_params()

    # -- cars ---------------------------------------------------------------------------------------------------------

    def add_car(self, world: int = 0, body: BodySpec | None = None) -> int:
        """See `Simulator`."""
        return self._do(log.Added(int(world), body), super().add_car, world, body)

    def remove_car(self, car: int) -> None:
        """See `Simulator`."""
        self._do(log.Removed(int(car)), super().remove_car, car)

    def retire_car(self, car: int) -> None:
        """See `Simulator`."""
        self._do(log.Retired(int(car)), super().retire_car, car)

    def configure_car(self, car: int, body: BodySpec) -> None:
        """See `Simulator`."""
        self._do(log.Dressed(int(car), body), super().configure_car, car, body)

    def configure_camera(self, car: int, camera: CameraSpec | None, second: bool = False) -> None:
        """See `Simulator`."""
        self._do(log.CameraSet(int(car), camera, second), super().configure_camera, car, camera, second)

    def configure_lidar(self, car: int, lidar: LidarSpec | None) -> None:
        """See `Simulator`."""
        self._do(log.LidarSet(int(car), lidar), super().configure_lidar, car, lidar)

    def reset_car(self, car: int) -> None:
        """See `Simulator`."""
        self._do(log.Reset(int(car)), super().reset_car, car)

    def move_car(self, car: int, position: Vector, orientation: Quaternion | None = None) -> None:
        """See `Simulator`."""
        event = log.Moved(int(car), _list_floats(position), None if orientation is None else _list_floats(orientation))
        self._do(event, super().move_car, car, position, orientation)

    def place_car(self, car: int, position: Vector, orientation: Quaternion) -> None:
        """See `Simulator`."""
        event = log.Placed(int(car), _list_floats(position), _list_floats(orientation))
        self._do(event, super().place_car, car, position, orientation)

    def set_spawn(self, car: int, position: Vector, orientation: Quaternion) -> None:
        """See `Simulator`."""
        event = log.SpawnSet(int(car), _list_floats(position), _list_floats(orientation))
        self._do(event, super().set_spawn, car, position, orientation)

    def change_scene(self, scene: SceneSpec, prepared: Simulator | None = None) -> None:
        """See `Simulator`."""
        self._do(log.SceneChanged(scene), super().change_scene, scene, prepared)
        self._state_sum = ArraySum(self.state)
        self._state_sum.sum_up()
        self._told_params = zlib.crc32(self.physics.car_params.packed.data)
        self._is_drawn = self.has_drawn_params()

    # -- time ---------------------------------------------------------------------------------------------------------

    def step(self, step_count: int = STEPS_PER_FRAME) -> None:
        """See `Simulator`."""
        self._note_writes()
        rows, values = self._take_controls()
        super().step(step_count)
        self._writer.append(log.Stepped(int(step_count), self._state_sum.sum_up(), rows, values), len(values))

    def clear_hits(self, cars: Sequence[int] | None = None) -> None:
        """See `Simulator`."""
        chosen = None if cars is None else [int(car) for car in cars]
        if not self._state_sum.sum_up_part(_HIT):  # else, as it comes with every step, only this array is looked at
            self._note_writes(is_written=True)
        super().clear_hits(chosen)
        self._state_sum.sum_up_part(_HIT)
        self._writer.append(log.HitsCleared(chosen))

    # -- moments ------------------------------------------------------------------------------------------------------

    def restore(self, snapshot: Snapshot, worlds: Sequence[int] | None = None) -> None:
        """See `Simulator`."""
        chosen = None if worlds is None else [int(world) for world in worlds]
        self._do(log.Restored(self._number_moment(snapshot), chosen), super().restore, snapshot, chosen)

    def seed_world(self, world: int, seed: int) -> None:
        """See `Simulator`."""
        super().seed_world(world, seed)
        self._writer.append(log.Seeded(int(world), int(seed)))  # which leaves the state as it is

    def close(self) -> None:
        """Stop the worker threads and end the log."""
        super().close()
        self._close_log()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _do(self, event: log.Event, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something and note it; what a method does by means of others is noted once."""
        if self._is_inside:
            return act(*args, **kwargs)
        self._note_writes()
        rows, values = self._take_controls()
        if values:
            self._writer.append(log.Controlled(rows, values), len(values))
        self._is_inside = True
        try:
            result = act(*args, **kwargs)
        finally:
            self._is_inside = False
        self._state_sum.sum_up()
        self._told_control = np.concatenate(self.control)
        self._writer.append(event)
        return result

    def _note_writes(self, is_written: bool = False) -> None:
        """Note what somebody has written (has surely written) into the state or the cars' parameters."""
        params = self.physics.car_params.packed
        checksum = zlib.crc32(params.data)
        if checksum != self._told_params:
            self._told_params = checksum
            # What a draw writes a replay draws itself; what others have written, or taken back, it must be told.
            was_drawn, self._is_drawn = self._is_drawn, self.has_drawn_params()
            if not (was_drawn and self._is_drawn):
                self._writer.append(log.ParamsSet(params.tobytes()), params.nbytes)
        if is_written or not self._state_sum.is_as_summed():
            self._writer.append(log.Restored(self._number_moment(self.snapshot()), None))
            self._state_sum.sum_up()
            self._told_control = np.concatenate(self.control)

    def _take_controls(self) -> tuple[bytes | None, bytes]:
        """Return rows and values of the controls that have changed, as `action_log.Stepped` has them."""
        now: FloatArray = np.concatenate(self.control)
        changed = np.flatnonzero(now.view(np.uint64) != self._told_control.view(np.uint64))
        self._told_control = now
        if 2 * len(changed) > len(now):
            return None, now.tobytes()
        return changed.astype(np.int32).tobytes(), now[changed].tobytes()

    def _number_moment(self, snapshot: Snapshot) -> int:
        """Return the number of a moment in the log, where it is noted once.

        The last one is known again by its checksums: episodes begin with the same moment over and over.
        """
        if self._last is not None and self._last[0] is snapshot and self._last[1].is_as_summed():
            return self._last[2]
        content = b"".join(array.tobytes() for array in list_arrays(snapshot).values())
        key = hashlib.blake2b(content, digest_size=16).digest()
        if key not in self._moments:
            self._moments[key] = len(self._moments)
            self._writer.append(log.Moment(content), len(content))
        known = ArraySum(list_arrays(snapshot).values())
        known.sum_up()
        self._last = (snapshot, known, self._moments[key])
        return self._moments[key]


class ArraySum:
    """Sums up every byte of arrays, such as those of a simulator's state, which stay the same objects.

    Attributes:
        parts: A checksum of each array, as of the last `sum_up`.
    """

    def __init__(self, arrays: Iterable[NDArray[Any]]) -> None:
        self._views = [numbers.data.cast("B") if numbers.nbytes else memoryview(b"") for numbers in arrays]
        self.parts = array("I", bytes(4 * len(self._views)))

    def sum_up(self) -> int:
        """Return a checksum of how they are now."""
        self.parts = array("I", map(zlib.crc32, self._views))
        return zlib.crc32(self.parts)

    def is_as_summed(self) -> bool:
        """Return whether they are as they were at the last `sum_up`."""
        return self.parts == array("I", map(zlib.crc32, self._views))

    def sum_up_part(self, index: int) -> bool:
        """Sum up one array anew and return whether it was as summed before."""
        before, self.parts[index] = self.parts[index], zlib.crc32(self._views[index])
        return before == self.parts[index]


def _list_floats(values: Sequence[float]) -> Any:
    """Return plain numbers of a position or a turn."""
    return tuple(float(value) for value in values)
