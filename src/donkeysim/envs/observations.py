"""What a pilot is told of each step: pictures, a lidar's distances, or numbers about the car on its path."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.index_loops import RepeatedCall
from donkeysim.core.types import LongArray
from donkeysim.envs.channel import Numbers, Rows
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.kernels.aim import move_cameras
from donkeysim.envs.kernels.numbers import LIMIT, PLAIN_COUNT, Columns, write_cars
from donkeysim.envs.rivals import Rivals
from donkeysim.envs.step import Step
from donkeysim.render.camera import FAR
from donkeysim.render.camera_group import Frame
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import CLASS_CAR
from donkeysim.world.specs import CameraSpec, LidarSpec

OBSERVATIONS = ("camera", "camera_b", "grey", "depth", "segmentation", "lidar", "vector", "rivals")
"""What may be asked for."""

PICTURES = ("camera", "camera_b", "grey", "depth", "segmentation")
"""Those that cameras give."""

DEPTH_LIMIT = FAR
"""Distances of "depth" are cut to this [m]; the sky has it too."""

LOOK_AHEAD = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""Where "vector" tells the path ahead [m along it]."""

Box: TypeAlias = "gymnasium.spaces.Box[Any]"

Observation = Any
"""An array of all cars, or a dict of them by name."""


class _Camera:
    """Every car's camera: what all pictures of it are taken from."""

    def __init__(
        self,
        simulator: Simulator,
        camera: CameraSpec,
        is_second: bool,
        spread: tuple[float, float] = (0.0, 0.0),
        one_channel: bool = False,
    ) -> None:
        cars = range(simulator.car_count)
        self._simulator, self._camera, self._spread = simulator, camera, spread
        self._key: LongArray = np.zeros(len(cars), np.int64)
        first = simulator.renderer.make_group(cars, [camera] * len(cars), [is_second] * len(cars), one_channel)
        self._groups = [first, first.add_pictures()]

    def get_frame(self, parity: int) -> Frame:
        """Return frame 0 or 1."""
        return self._groups[parity].frame

    def draw(self, parity: int, cars: Sequence[int] | None = None) -> None:
        """Draw what is seen now into frame 0 or 1; `cars`: only these."""
        if any(self._spread):
            self._aim()
        group = self._groups[parity]
        for part in [group] if cars is None else [group.select(car) for car in cars]:
            self._simulator.render_group(part)

    def _aim(self) -> None:
        """Give every car of a new episode, known by its world's key, the camera drawn for it."""
        cars_per_world = self._simulator.spec.cars_per_world
        key = np.repeat(self._simulator.world_key, cars_per_world)
        cars: LongArray = np.flatnonzero(key != self._key)
        moved = np.empty((len(cars), 6))
        pose = np.append(self._camera.position, self._camera.rotation)
        move_cameras(key[cars], cars % cars_per_world, pose, np.array(self._spread), moved)
        for car, place in zip(cars.tolist(), moved.tolist(), strict=True):
            self._groups[0].aim(car, place[:3], place[3:])
        self._key = key


class _Picture:
    """Colour, grey, distances or classes of a camera that has been drawn."""

    def __init__(self, name: str, camera: _Camera) -> None:
        count, height, width, _ = camera.get_frame(0).colour.shape
        self._name, self._camera = name, camera
        self._channels = 1 if name == "grey" else 3
        self._distances: list[NDArray[Any]] = []
        if name == "depth":
            self._distances = list(np.zeros((2, count, height, width, 1), np.float32))
        self.space = make_picture_space(name, height, width)

    @property
    def buffers(self) -> list[NDArray[Any]]:
        return [self._show(parity) for parity in range(2)]

    def read(self, parity: int, step: Step, cars: Sequence[int] | None) -> NDArray[Any]:
        del step  # pictures are as the camera has drawn them
        depth = self._camera.get_frame(parity).depth
        if self._distances and depth is not None:
            rows: Any = slice(None) if cars is None else list(cars)
            self._distances[parity][rows] = np.minimum(depth[rows, ..., None], np.float32(DEPTH_LIMIT))
        return self._show(parity)

    def _show(self, parity: int) -> NDArray[Any]:
        if self._distances:
            return self._distances[parity]
        frame = self._camera.get_frame(parity)
        if self._name == "segmentation" and frame.segment is not None:
            return frame.segment[..., None]
        return frame.colour[..., : self._channels]


def make_picture_space(name: str, height: int, width: int) -> Box:
    """Return the space of one of `PICTURES` of this size."""
    if name == "depth":
        return gymnasium.spaces.Box(0.0, DEPTH_LIMIT, (height, width, 1), np.float32)
    if name == "segmentation":
        return gymnasium.spaces.Box(0, CLASS_CAR, (height, width, 1), np.uint8)
    return gymnasium.spaces.Box(0, 255, (height, width, 1 if name == "grey" else 3), np.uint8)


class _Lidar(Numbers):
    """Distances of every car's lidar as shares of its range, level after level, 1 where nothing came back."""

    def __init__(self, simulator: Simulator, lidar: LidarSpec) -> None:
        super().__init__(0.0, 1.0, simulator.car_count, lidar.ray_count * lidar.level_count)
        self._simulator, self._lidar = simulator, lidar
        simulator.apply(commands.SetLidar(range(simulator.car_count), lidar))

    def tell(self, step: Step, rows: Rows) -> NDArray[Any]:
        del step  # the simulator's own state is read
        cars = range(self._simulator.car_count) if isinstance(rows, slice) else rows
        distance = self._simulator.scan_lidars(cars, self._lidar).reshape(len(cars), -1)
        return np.asarray(np.minimum(distance / self._lidar.max_range, 1.0))


class _Vector(Numbers):
    """Numbers about each car on its path; docs/envs/track_env.md lists them."""

    def __init__(self, car_count: int) -> None:
        super().__init__(-LIMIT, LIMIT, car_count, count_numbers())
        self._table = np.zeros_like(self.buffers[0])
        self._everybody: LongArray = np.arange(car_count, dtype=np.int64)
        self._write = RepeatedCall(write_cars)
        self._known: tuple[Step, Columns] | None = None

    def tell(self, step: Step, rows: Rows) -> NDArray[Any]:
        if self._known is None or self._known[0] is not step:
            self._known = step, Columns(*(getattr(step, name) for name in Columns._fields))
        columns = self._known[1]
        cars = self._everybody if isinstance(rows, slice) else np.array(rows, np.int64)
        self._write((columns,), cars, columns, LOOK_AHEAD[-1], self._table)
        return np.asarray(self._table[rows])


def count_numbers() -> int:
    """Return how many numbers "vector" has."""
    return PLAIN_COUNT + 2 * len(LOOK_AHEAD)


class Observer:
    """Observes all cars of a fleet, into two sets of arrays by turns.

    Attributes:
        space: Of one car's observation.
    """

    def __init__(
        self,
        fleet: Fleet,
        observe: str | Sequence[str],
        cameras: Sequence[CameraSpec],
        lidar: LidarSpec,
        stack: int,
        camera_spread: tuple[float, float] = (0.0, 0.0),
        *,
        is_luma: bool = False,
    ) -> None:
        """Make the buffers.

        Args:
            fleet: Opened; made with `look_ahead=LOOK_AHEAD` if "vector" is asked for.
            observe: One of `OBSERVATIONS`, or several, which gives a dict.
            cameras: Of "camera", "grey", "depth" and "segmentation", and of "camera_b" if it is asked for.
            lidar: Of "lidar".
            stack: How many moments of each are told at once, along the last axis, the oldest first.
            camera_spread: By how much an episode's cameras are moved [m] and turned [rad] at most, on each axis.
            is_luma: "grey" is the luma of a picture in colour, as other programs get it; else small ones are drawn
                in one channel, which differs by a level or two.
        """
        names = check_observe(observe)
        self._is_one = isinstance(observe, str)
        self._stack = stack
        self._parity = 0
        self._cameras = _open_cameras(names, fleet.simulator, cameras, camera_spread, is_luma)
        self._channels: dict[str, Numbers | _Picture] = {name: self._open(name, fleet, lidar) for name in names}
        spaces = {name: stack_space(channel.space, stack) for name, channel in self._channels.items()}
        count = fleet.simulator.car_count
        self._stacked: dict[str, NDArray[Any]] = {
            name: _make_stack(count, space, stack) for name, space in spaces.items() if stack > 1
        }
        self.space: gymnasium.Space[Any] = spaces[names[0]] if self._is_one else gymnasium.spaces.Dict(dict(spaces))

    def _open(self, name: str, fleet: Fleet, lidar: LidarSpec) -> Numbers | _Picture:
        if name == "vector":
            return _Vector(fleet.simulator.car_count)
        if name == "rivals":
            return Rivals(fleet.simulator.car_count, fleet.cars_per_world)
        if name == "lidar":
            return _Lidar(fleet.simulator, lidar)
        return _Picture(name, self._cameras[find_camera(name, self._cameras)])

    def observe(self, step: Step, begun: Sequence[int] = ()) -> Observation:
        """Return what every car sees now; the arrays are valid until the next but one call.

        Args:
            step: The fleet's last one.
            begun: Cars whose episodes have just begun: their stacks hold this moment only.
        """
        self._parity = 1 - self._parity
        for camera in self._cameras.values():
            camera.draw(self._parity)
        return self._collect({name: self._take(name, step, begun) for name in self._channels})

    def renew(self, step: Step, cars: Sequence[int]) -> Observation:
        """Return what `redraw` does, as an observation of its own: the last one stays as it is."""
        now, before = 1 - self._parity, self._parity
        self._parity = now
        pairs: list[Any] = [*(channel.buffers for channel in self._channels.values()), *self._stacked.values()]
        for pair in pairs:
            pair[now][:] = pair[before]
        return self.redraw(step, cars)

    def redraw(self, step: Step, cars: Sequence[int]) -> Observation:
        """Return the last observation with the rows of these cars, whose episodes have just begun, seen anew.

        It is written over the last one.
        """
        for camera in self._cameras.values():
            camera.draw(self._parity, cars)
        seen: dict[str, NDArray[Any]] = {}
        for name, channel in self._channels.items():
            fresh = channel.read(self._parity, step, cars)
            if self._stack > 1:
                self._fill(name, fresh, cars)
                fresh = self._stacked[name][self._parity]
            seen[name] = fresh
        return self._collect(seen)

    def _take(self, name: str, step: Step, begun: Sequence[int]) -> NDArray[Any]:
        fresh = self._channels[name].read(self._parity, step, None)
        if self._stack == 1:
            return fresh
        now: NDArray[Any] = self._stacked[name][self._parity]
        before = self._stacked[name][1 - self._parity]
        width = fresh.shape[-1]
        now[..., :-width] = before[..., width:]
        now[..., -width:] = fresh
        self._fill(name, fresh, begun)
        return now

    def _fill(self, name: str, fresh: NDArray[Any], cars: Sequence[int]) -> None:
        now = self._stacked[name][self._parity]
        for car in cars:
            now[car] = np.tile(fresh[car], self._stack)

    def _collect(self, seen: dict[str, NDArray[Any]]) -> Observation:
        return next(iter(seen.values())) if self._is_one else seen


def _open_cameras(
    names: Sequence[str],
    simulator: Simulator,
    cameras: Sequence[CameraSpec],
    spread: tuple[float, float],
    is_luma: bool,
) -> dict[str, _Camera]:
    """Return the cameras that these observations need; distances and classes come from one that is there anyway."""
    return {
        name: _Camera(simulator, lens, name == "camera_b", spread, name == "grey" and not is_luma)
        for name, lens in list_lenses(names, cameras).items()
    }


def list_lenses(names: Sequence[str], cameras: Sequence[CameraSpec]) -> dict[str, CameraSpec]:
    """Return the cameras that observations need, by "camera", "grey" or "camera_b", as `find_camera` names them.

    Args:
        names: All that is observed.
        cameras: Of "camera" and all others, and of "camera_b".
    """
    lenses: dict[str, CameraSpec] = {}
    for name in ("camera", "grey", "camera_b"):
        served = [other for other in names if other in PICTURES and find_camera(other, names) == name]
        if served:
            camera = cameras[name == "camera_b"]
            lens = replace(camera, grey=camera.grey or name == "grey")
            lenses[name] = replace(lens, depth="depth" in served, segment="segmentation" in served)
    return lenses


def find_camera(name: str, names: Collection[str]) -> str:
    """Return the camera that an observation is taken from: "camera", "grey" or "camera_b".

    Args:
        name: One of `PICTURES`.
        names: All that is observed, or all cameras there are.
    """
    if name not in ("depth", "segmentation"):
        return name
    return "grey" if "grey" in names and "camera" not in names else "camera"


def check_observe(observe: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of what shall be observed.

    Raises:
        SpecError: None, or one that is unknown.
    """
    names = (observe,) if isinstance(observe, str) else tuple(observe)
    for name in names:
        if name not in OBSERVATIONS:
            raise SpecError(describe_unknown("observation", str(name), OBSERVATIONS))
    if not names:
        raise SpecError(f"nothing is observed; name at least one of {', '.join(OBSERVATIONS)}.")
    return names


def copy_observation(seen: Observation, car: int | None = None) -> Observation:
    """Return a copy of all rows, or of one car's."""
    if isinstance(seen, dict):
        return {name: copy_observation(array, car) for name, array in seen.items()}
    return seen.copy(order="K") if car is None else seen[car].copy(order="K")


def _make_stack(count: int, space: Box, stack: int) -> NDArray[Any]:
    """Return two sets of stacks of all cars, shape [2, count, ...]."""
    if len(space.shape) == 3 and space.shape[-1] == stack:
        # Pictures of one channel lie one behind the other: a new moment then moves whole ones, not single pixels.
        return np.moveaxis(np.zeros((2, count, stack, *space.shape[:-1]), space.dtype), 2, -1)
    return np.zeros((2, count, *space.shape), space.dtype)


def stack_space(space: Box, stack: int) -> Box:
    """Return the space of so many moments at once, along the last axis."""
    shape = (*space.shape[:-1], space.shape[-1] * stack)
    return gymnasium.spaces.Box(space.low.flat[0], space.high.flat[0], shape, space.dtype.type)
