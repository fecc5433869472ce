"""What the pilots of a batch on a device are told of each step, in arrays of the device that stay the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from donkeysim.core.device import Device
from donkeysim.envs.kernels.aim import aim_camera
from donkeysim.envs.kernels.numbers import LIMIT, copy_row, limit_depth, push_row, write_car
from donkeysim.envs.observations import (
    DEPTH_LIMIT,
    LOOK_AHEAD,
    Observation,
    check_observe,
    count_numbers,
    find_camera,
    list_lenses,
    make_picture_space,
    stack_space,
)
from donkeysim.envs.track_settings import TrackSettings
from donkeysim.sim.batch import Batch
from donkeysim.world.specs import CameraSpec


@dataclass(frozen=True)
class _Channel:
    """One kind of observation.

    Attributes:
        space: Of one car's, with its stack.
        fresh: What is seen now, as rows: pixels, or all numbers of a car, shape [row_count, width].
        rows: What is told, likewise, shape [row_count, stack * width]; the same array where nothing is stacked.
        told: The same memory, shape [car_count, ...].
    """

    space: gymnasium.spaces.Box[Any]
    fresh: Any
    rows: Any
    told: Any


class _Camera:
    """Every car's camera, and where it is in an episode.

    Attributes:
        picture: What it sees.
    """

    def __init__(self, batch: Batch, camera: CameraSpec, channels: int, spread: tuple[float, float]) -> None:
        device, cars = batch.device, batch.layout.car_count
        self.picture = batch.open_camera(camera, channels)
        self._simulator, self._is_spread = batch.simulator, any(spread)
        pose = np.append(np.array(camera.position, np.float64), camera.rotation)
        self._pose, self._spread = device.upload((pose, np.array(spread, np.float64)))
        self._known = device.zeros((cars,), np.int64)
        meant = self.picture.meant
        self._moved = device.zeros((cars, 6), np.float64) if meant is None else meant.pose
        self._serial = device.zeros((cars,), np.int64) if meant is None else meant.serial

    def aim(self) -> None:
        """Give every car of a new episode, known by its world's key, the camera drawn for it."""
        if self._is_spread:
            simulator = self._simulator
            where = simulator.world_key, simulator.spec.cars_per_world, self._pose, self._spread
            written = self._known, self._moved, self.picture.mount, self._serial
            simulator.device.run(aim_camera, simulator.car_count, *where, *written, block=64)


class BatchObserver:
    """Observes all cars of a batch.

    Attributes:
        space: Of one car's observation.
        seen: What all cars see, arrays of the device by name; written by `look`.
        last: What those saw whose episodes are over, likewise; written by `keep`. Empty where nobody asks for it.
    """

    def __init__(self, batch: Batch, settings: TrackSettings, keeps_last: bool) -> None:
        """Make the arrays.

        Args:
            batch: Of a simulator made with `look_ahead=LOOK_AHEAD` if "vector" is asked for.
            settings: Say what is observed.
            keeps_last: Whether `keep` will be asked for.
        """
        names = check_observe(settings.observe)
        self._is_one = isinstance(settings.observe, str)
        self._batch, self._device = batch, batch.device
        camera = settings.camera or batch.layout.car.camera
        spread = settings.camera_spread
        self._cameras = {
            name: _Camera(batch, lens, 1 if name == "grey" else 3, spread)
            for name, lens in list_lenses(names, (camera, camera)).items()
        }
        self._channels = {name: self._open(name, settings.stack) for name in names}
        self.seen = {name: channel.told for name, channel in self._channels.items()}
        kept = self._channels if keeps_last else {}
        self._last = {name: _make_like(self._device, channel.rows) for name, channel in kept.items()}
        self.last = {name: rows.reshape(self.seen[name].shape) for name, rows in self._last.items()}
        spaces = {name: channel.space for name, channel in self._channels.items()}
        self.space: gymnasium.Space[Any] = spaces[names[0]] if self._is_one else gymnasium.spaces.Dict(dict(spaces))

    def look(self, begins: Any, pushes: bool) -> None:
        """Write what all cars see now into `seen`.

        Args:
            begins: Whose episodes have just begun, shape [car_count]: their stacks hold this moment only.
            pushes: Whether time has passed for the others: they are drawn, and their stacks take this moment too.
        """
        for camera in self._cameras.values():
            camera.aim()
        self._batch.render(None if pushes else begins)
        if "depth" in self._channels:
            self._write_distances(self._channels["depth"].fresh)
        if "vector" in self._channels:
            self._write_numbers(self._channels["vector"].fresh)
        for channel in self._channels.values():
            if channel.fresh is not channel.rows:
                count = channel.rows.shape[0]
                per_car = count // self._batch.layout.car_count
                self._device.run(push_row, count, channel.fresh, channel.rows, per_car, begins, pushes, block=4096)

    def keep(self) -> None:
        """Copy `seen` to `last`."""
        for name, kept in self._last.items():
            self._device.run(copy_row, kept.shape[0], self._channels[name].rows, kept, block=4096)

    def list_arrays(self) -> list[Any]:
        """Return the arrays made here; pictures are their cameras'."""
        channels = self._channels.items()
        numbers = [channel.fresh for name, channel in channels if name in ("depth", "vector")]
        return [*numbers, *(channel.rows for _, channel in channels if channel.rows is not channel.fresh)]

    def collect(self, seen: Mapping[str, Any]) -> Observation:
        """Return arrays by name in the form of an observation."""
        return next(iter(seen.values())) if self._is_one else dict(seen)

    def _open(self, name: str, stack: int) -> _Channel:
        """Return the channel of an observation."""
        cars = self._batch.layout.car_count
        if name == "vector":
            space: Any = gymnasium.spaces.Box(-LIMIT, LIMIT, (count_numbers(),), np.float32)
            return self._stack(space, self._device.zeros((cars, count_numbers()), np.float32), stack)
        picture = self._cameras[find_camera(name, self._cameras)].picture
        _, height, width, channels = picture.colour.shape
        space = make_picture_space(name, height, width)
        pixels = cars * height * width
        if name == "depth":
            return self._stack(space, self._device.zeros((pixels, 1), np.float32), stack)
        if name == "segmentation":
            return self._stack(space, picture.segment.reshape((pixels, 1)), stack)
        return self._stack(space, picture.colour.reshape((pixels, channels)), stack)

    def _stack(self, space: Any, fresh: Any, stack: int) -> _Channel:
        told_space = stack_space(space, stack)
        rows = fresh if stack == 1 else self._device.zeros((fresh.shape[0], fresh.shape[1] * stack), fresh.dtype)
        told = rows.reshape((self._batch.layout.car_count, *told_space.shape))
        return _Channel(told_space, fresh, rows, told)

    def _write_distances(self, out: Any) -> None:
        depth = self._cameras[find_camera("depth", self._cameras)].picture.depth
        rows = depth.shape[0] * depth.shape[1]
        flat = depth.reshape((rows, depth.shape[2])), out.reshape((rows, depth.shape[2]))
        self._device.run(limit_depth, rows, flat[0], DEPTH_LIMIT, flat[1], block=256)

    def _write_numbers(self, out: Any) -> None:
        self._device.run(write_car, out.shape[0], self._batch.simulator.rows, LOOK_AHEAD[-1], out, block=256)


def _make_like(device: Device, array: Any) -> Any:
    return device.zeros(tuple(array.shape), array.dtype)
