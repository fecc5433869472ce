"""What a pilot observes in each step: pictures, a lidar's distances, or numbers about the car on its path."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import gymnasium
import numpy as np

from donkeysim.core.device import is_here
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.envs.fleet import Fleet
from donkeysim.envs.kernels.episodes import aim_camera
from donkeysim.envs.kernels.numbers import LIMIT, PLAIN_COUNT, copy_row, limit_depth, push_row, write_numbers
from donkeysim.envs.step import RIVAL_COUNT, RIVAL_LIMIT, RIVAL_WIDTH, find_rivals
from donkeysim.render.camera import FAR
from donkeysim.sim import commands
from donkeysim.world.scene import CLASS_CAR
from donkeysim.world.specs import CameraSpec, LidarSpec

OBSERVATIONS = ("camera", "camera_b", "grey", "depth", "segmentation", "lidar", "vector", "rivals")
"""What may be asked for."""

PICTURES = ("camera", "camera_b", "grey", "depth", "segmentation")
"""Those that cameras give."""

DEPTH_LIMIT = FAR
"""Distances of "depth" are cut to this [m]; the sky has it too."""

LOOK_AHEAD = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""Where "vector" gives the path ahead [m along it]."""

BLOCK = 4096
"""Numbers that a thread of this machine moves at once, about."""

Box: TypeAlias = "gymnasium.spaces.Box[Any]"

Observation = Any
"""An array of all cars, or a dict of them by name."""


class _Camera:
    """Every car's camera, and where it is in an episode.

    Attributes:
        pictures: What it sees, in one set or two.
    """

    def __init__(
        self,
        fleet: Fleet,
        camera: CameraSpec,
        spread: tuple[float, float],
        *,
        channels: int,
        is_second: bool,
        is_luma: bool,
        set_count: int,
    ) -> None:
        device, cars = fleet.device, fleet.simulator.car_count
        opened = fleet.batch.open_camera(camera, channels, is_second=is_second, is_luma=is_luma, set_count=set_count)
        self.pictures, self._mount = opened.pictures, opened.mount
        self._simulator, self._is_spread = fleet.simulator, any(spread)
        pose = np.append(np.array(camera.position, np.float64), camera.rotation)
        self._pose, self._spread = device.upload((pose, np.array(spread, np.float64)))
        self._known = device.zeros((cars,), np.int64)
        meant = opened.meant
        self._moved = device.zeros((cars, 6), np.float64) if meant is None else meant.pose
        self._serial = device.zeros((cars,), np.int64) if meant is None else meant.serial

    def aim(self) -> None:
        """Give every car of a new episode, known by its world's key, the camera drawn for it."""
        if self._is_spread:
            simulator = self._simulator
            where = simulator.world_key, simulator.spec.cars_per_world, self._pose, self._spread
            written = self._known, self._moved, self._mount, self._serial
            simulator.device.run(aim_camera, simulator.car_count, *where, *written, block=64)


@dataclass(frozen=True)
class _Channel:
    """One kind of observation, in one set of arrays or two.

    Attributes:
        space: Of one car's, with its stack.
        fresh: What is seen now, as rows: pixels, or all of a car, shape [row_count, width].
        rows: What is handed out, likewise, shape [row_count, stack * width]; the same array where nothing is stacked.
        seen: The same memory, shape [car_count, ...].
    """

    space: Box
    fresh: Sequence[Any]
    rows: Sequence[Any]
    seen: Sequence[Any]


def make_picture_space(name: str, height: int, width: int) -> Box:
    """Return the space of one of `PICTURES` of this size."""
    if name == "depth":
        return gymnasium.spaces.Box(0.0, DEPTH_LIMIT, (height, width, 1), np.float32)
    if name == "segmentation":
        return gymnasium.spaces.Box(0, CLASS_CAR, (height, width, 1), np.uint8)
    return gymnasium.spaces.Box(0, 255, (height, width, 1 if name == "grey" else 3), np.uint8)


class Observer:
    """Observes all cars of a fleet, into arrays of its device that stay the same ones.

    Attributes:
        space: Of one car's observation.
        last: What `keep` has kept, arrays by name; empty where nobody asks for it.
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
        set_count: int = 1,
        keeps_last: bool = False,
    ) -> None:
        """Make the arrays.

        Args:
            fleet: Opened; made with `look_ahead=LOOK_AHEAD` if "vector" is asked for.
            observe: One of `OBSERVATIONS`, or several, which gives a dict.
            cameras: Of "camera", "grey", "depth" and "segmentation", and of "camera_b" if it is asked for.
            lidar: Of "lidar".
            stack: How many moments of each are seen at once, along the last axis, the oldest first.
            camera_spread: By how much an episode's cameras are moved [m] and turned [rad] at most, on each axis.
            is_luma: "grey" is the luma of a picture in colour, as other programs get it; else small ones are drawn
                in one channel, which differs by a level or two.
            set_count: 2: an observation outlives the next one; on this machine only.
            keeps_last: Whether `keep` will be asked for.
        """
        names = check_observe(observe)
        self._is_one, self._fleet, self._device = isinstance(observe, str), fleet, fleet.device
        self._lidar, self._set_count, self._index = lidar, set_count, 0
        self._cameras = {
            name: _Camera(
                fleet,
                lens,
                camera_spread,
                channels=1 if name == "grey" else 3,
                is_second=name == "camera_b",
                is_luma=is_luma,
                set_count=set_count,
            )
            for name, lens in list_lenses(names, cameras).items()
        }
        self._channels = {name: self._open(name, stack) for name in names}
        kept = self._channels if keeps_last else {}
        rows = {name: channel.rows[0] for name, channel in kept.items()}
        self._last = {name: self._device.zeros(tuple(array.shape), array.dtype) for name, array in rows.items()}
        self.last = {name: self._shape(self._channels[name], rows) for name, rows in self._last.items()}
        spaces = {name: channel.space for name, channel in self._channels.items()}
        self.space: gymnasium.Space[Any] = spaces[names[0]] if self._is_one else gymnasium.spaces.Dict(dict(spaces))

    @property
    def seen(self) -> dict[str, Any]:
        """What all cars have seen at last, arrays of the device by name."""
        return {name: channel.seen[self._index] for name, channel in self._channels.items()}

    def collect(self, seen: Mapping[str, Any]) -> Observation:
        """Return arrays by name in the form of an observation."""
        return next(iter(seen.values())) if self._is_one else dict(seen)

    def look(self, begins: Any) -> None:
        """Write what all cars see now; time has passed.

        Args:
            begins: In which worlds episodes have just begun, shape [world_count]: the stacks of their cars hold this
                moment only.
        """
        before = self._index
        self._index = (before + 1) % self._set_count
        self._write(begins, before, is_for_all=True)

    def renew(self, begins: Any) -> None:
        """Write anew what the cars see in whose worlds episodes have just begun; what others have seen stays."""
        self._write(begins, self._index, is_for_all=False)

    def copy_over(self) -> None:
        """Continue with the other set of arrays, if there are two, as a copy of the last one."""
        before = self._index
        self._index = now = (before + 1) % self._set_count
        if now != before:
            shown = [camera.pictures for camera in self._cameras.values()]
            pairs = [pair for sets in shown for pair in zip(sets[before], sets[now], strict=True)]
            pairs += [(channel.rows[before], channel.rows[now]) for channel in self._channels.values()]
            for source, target in pairs:
                if source is not None:
                    np.copyto(target, source)

    def keep(self, chosen: Any) -> None:
        """Copy what the cars of some worlds have seen to `last`; `chosen`: which, shape [world_count]."""
        for name, kept in self._last.items():
            rows = self._channels[name].rows[self._index]
            self._run_rows(copy_row, rows, self._count_rows(rows), chosen, kept)

    def list_arrays(self) -> list[Any]:
        """Return the arrays made here; pictures are their cameras'."""
        named = self._channels.items()
        numbers = [array for name, channel in named if name in ("depth", "vector") for array in channel.fresh]
        stacks = [rows for _, channel in named for rows in channel.rows if channel.rows is not channel.fresh]
        return [*numbers, *stacks, *self._last.values()]

    # -- channels -----------------------------------------------------------------------------------------------------

    def _open(self, name: str, stack: int) -> _Channel:
        """Return the channel of an observation."""
        if name not in PICTURES:
            low, high, width = self._find_numbers(name)
            shape = (self._fleet.simulator.car_count, width)
            fresh = [self._device.zeros(shape, np.float32) for _ in range(self._set_count)]
            return self._stack(gymnasium.spaces.Box(low, high, (width,), np.float32), fresh, stack)
        sets = self._cameras[find_camera(name, self._cameras)].pictures
        cars, height, width, channels = sets[0].colour.shape
        space, pixels = make_picture_space(name, height, width), cars * height * width
        if name == "depth":
            fresh = [self._device.zeros((pixels, 1), np.float32) for _ in sets]
        elif name == "segmentation":
            fresh = [pictures.segment.reshape((pixels, 1)) for pictures in sets]
        else:
            fresh = [pictures.colour.reshape((pixels, channels)) for pictures in sets]
        return self._stack(space, fresh, stack)

    def _find_numbers(self, name: str) -> tuple[float, float, int]:
        """Return bounds and count of the numbers of a car."""
        if name == "vector":
            return -LIMIT, LIMIT, PLAIN_COUNT + 2 * len(LOOK_AHEAD)
        if name == "rivals":
            return -RIVAL_LIMIT, RIVAL_LIMIT, RIVAL_COUNT * RIVAL_WIDTH
        simulator = self._fleet.simulator
        simulator.apply(commands.SetLidar(range(simulator.car_count), self._lidar))
        return 0.0, 1.0, self._lidar.ray_count * self._lidar.level_count

    def _stack(self, space: Box, fresh: Sequence[Any], stack: int) -> _Channel:
        """Return a channel; on this machine whole pictures of one channel are moved in a stack, not single pixels."""
        cars, rows = self._fleet.simulator.car_count, fresh
        if stack > 1 and space.shape[-1] == 1 and is_here(self._device):
            fresh = [array.reshape((cars, -1)) for array in fresh]
        if stack > 1:
            wide = fresh[0].shape[0], fresh[0].shape[1] * stack
            rows = [self._device.zeros(wide, fresh[0].dtype) for _ in fresh]
        shape = (*space.shape[:-1], space.shape[-1] * stack)
        stacked = gymnasium.spaces.Box(space.low.flat[0], space.high.flat[0], shape, space.dtype.type)
        channel = _Channel(stacked, fresh, rows, ())
        return replace(channel, seen=[self._shape(channel, array) for array in rows])

    def _shape(self, channel: _Channel, rows: Any) -> Any:
        """Return rows of a channel in the shape of its observations, the same memory."""
        cars, shape = self._fleet.simulator.car_count, channel.space.shape
        if len(shape) == 3 and rows.shape[0] == cars and channel.rows is not channel.fresh:
            return np.moveaxis(rows.reshape((cars, shape[2], *shape[:2])), 1, -1)
        return rows.reshape((cars, *shape))

    # -- what is seen -------------------------------------------------------------------------------------------------

    def _write(self, begins: Any, before: int, is_for_all: bool) -> None:
        """Write what is seen now, of all cars or of those in whose worlds episodes have just begun."""
        for camera in self._cameras.values():
            camera.aim()
        self._fleet.batch.render(None if is_for_all else begins, self._index)
        for name, channel in self._channels.items():
            fresh, rows = channel.fresh[self._index], channel.rows[self._index]
            self._write_fresh(name, fresh, None if is_for_all else begins)
            if rows is not fresh:
                self._run_rows(push_row, fresh, channel.rows[before], rows, self._count_rows(rows), begins, is_for_all)

    def _write_fresh(self, name: str, out: Any, begins: Any) -> None:
        """Write numbers and distances, of these worlds or of all; pictures have been drawn."""
        fleet, simulator = self._fleet, self._fleet.simulator
        if name == "depth":
            depth = self._cameras[find_camera("depth", self._cameras)].pictures[self._index].depth
            lines = depth.shape[0] * depth.shape[1]
            flat = depth.reshape((lines, depth.shape[2])), DEPTH_LIMIT, out.reshape((lines, depth.shape[2]))
            self._device.run(limit_depth, lines, *flat, block=256)
        elif name == "vector":
            self._device.run(write_numbers, out.shape[0], simulator.rows, LOOK_AHEAD[-1], out, block=256)
        elif name == "rivals":
            assert fleet.step is not None, "an episode has begun"
            out[:] = find_rivals(fleet.step, fleet.cars_per_world)
        elif name == "lidar":
            cars: Sequence[int] = range(simulator.car_count)
            if begins is not None:
                cars = np.flatnonzero(np.repeat(begins, fleet.cars_per_world)).tolist()
            if len(cars):
                distance = simulator.scan_lidars(cars, self._lidar).reshape(len(cars), -1)
                out[list(cars)] = np.minimum(distance / self._lidar.max_range, 1.0)

    def _count_rows(self, rows: Any) -> int:
        """Return how many of these rows belong to a world."""
        return int(rows.shape[0]) // self._fleet.world_count

    def _run_rows(self, kernel: Any, rows: Any, *arguments: Any) -> None:
        """Run a kernel for each of some rows."""
        self._device.run(kernel, rows.shape[0], rows, *arguments, block=max(1, BLOCK // rows.shape[1]))


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
