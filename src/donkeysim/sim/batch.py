"""All worlds of a simulator at once, by kernels, on whichever device they are: where they begin, and what they see."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.device import is_here
from donkeysim.core.memory import MemoryUse, count_bytes
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.render.gather import GatherRenderer, check_camera
from donkeysim.sim import commands
from donkeysim.sim.kernels.reset import StateRows, drive_car, reset_world
from donkeysim.sim.pictures import BatchCamera, GatherCamera, SpanCamera
from donkeysim.sim.randomizer import Randomizer
from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import Snapshot, write_worlds
from donkeysim.world.path_frame import join_rows
from donkeysim.world.randomization import RandomizationSpec
from donkeysim.world.specs import CameraSpec
from donkeysim.world.state import Control, State

_KINDS = (
    ("car", np.float64),
    ("car", np.int32),
    ("car", np.uint8),
    ("prop", np.float64),
    ("prop", np.int32),
    ("prop", np.uint8),
    ("world", np.int64),
)
"""Of the fields of `StateRows`: what their rows are, and their type."""


class Missed(NamedTuple):
    """What found no room in working memory."""

    contacts: int
    """Pairs of things that touch or may touch, since the start."""
    triangles: int
    """Of the last pictures of all cameras."""


class Batch:
    """Whole worlds of a simulator. Every method enqueues work and returns; only `report` waits and brings numbers here.

    Attributes:
        simulator: Whose worlds they are.
        device: Where they are.
        layout: Of the worlds.
        paths: Of all scenes, on the device.
    """

    def __init__(self, simulator: Simulator, beginning: Snapshot | None = None) -> None:
        """Note how worlds begin.

        Args:
            simulator: On any device.
            beginning: Of the simulator, worlds of one scene alike; None: all cars join, and are on the grid.

        Raises:
            CapacityError: A grid is too small for the cars of a world.
        """
        self.simulator, self.device = simulator, simulator.device
        self.layout = simulator.physics.layout
        begun = make_beginning(simulator) if beginning is None else beginning
        self._beginning = self.device.upload(_pick_scenes(begun, len(self.layout.scenes)))
        self._under_way = begun.under_way
        self._rows = group_rows(simulator.state, simulator.control)
        self.paths = self.device.upload(join_rows([scene.path.frame for scene in self.layout.scenes]))
        self._gather: GatherRenderer | None = None
        self._cameras: list[BatchCamera] = []
        if beginning is None:
            nowhere = np.full((self.layout.car_count, 3), np.nan)
            self.begin(*self.device.upload((np.ones(self.layout.world_count, bool), nowhere)))

    def drive(self, asked: Sequence[Any], previous: Any) -> None:
        """Ask all cars for something from now on, and forget what they have touched.

        Args:
            asked: Steer, throttle and brake as those of `commands.Drive`, arrays of the device, shape [car_count].
            previous: Written: steer and throttle that they were asked for before, shape [2, car_count].
        """
        cars = previous, self.simulator.control, self.simulator.state.hit
        self.device.run(drive_car, self.layout.car_count, *asked, *cars, block=1024)

    def begin(self, begins: Any, start: Any) -> None:
        """Put worlds back to how they began; how often and which is nobody's business on the host.

        Args:
            begins: Whether a world is put back, shape [world_count].
            start: Of each car: along the path [m], left of it [m], against it [rad]; not a number: as worlds begin.
                Shape [car_count, 3].
        """
        simulator, layout, physics = self.simulator, self.layout, self.simulator.physics
        self.device.run(
            reset_world,
            layout.world_count,
            begins,
            start,
            self._beginning,
            self._rows,
            simulator.state,
            simulator.control,
            physics.world_scene,
            layout.cars_per_world,
            layout.props_per_world,
            self.paths,
            physics.tables,
            physics.events,
            physics.book,
            block=16,
        )
        randomizer = simulator.place.randomizer
        if randomizer is not None:
            if self._under_way:
                self._drop_late(randomizer, begins, start)
            randomizer.refresh(simulator.state, simulator.world_key)

    def _drop_late(self, randomizer: Randomizer, begins: BoolArray, start: FloatArray) -> None:
        """Let what comes late be as worlds begin, and begin anew with cars that are put elsewhere; on this machine."""
        layout, simulator = self.layout, self.simulator
        write_worlds(self._under_way, randomizer.list_arrays(), np.flatnonzero(begins).tolist(), layout.world_count)
        put = np.flatnonzero(np.isfinite(start[:, 0]) & np.repeat(begins, layout.cars_per_world))
        if len(put):
            randomizer.forget(put, simulator.state, simulator.control)

    def open_camera(
        self, camera: CameraSpec, channels: int = 3, is_second: bool = False, is_luma: bool = False, set_count: int = 1
    ) -> BatchCamera:
        """Return a camera of every car; open all before the first reset.

        Args:
            camera: How it is.
            channels: 3, or 1 for grey pictures.
            is_second: Whether it is the cars' second camera, whose noise is its own.
            is_luma: Grey pictures are the luma of those in colour, as other programs get it; else small ones are drawn
                in one channel, which differs by a level or two.
            set_count: Sets of pictures, see `BatchCamera.pictures`.

        Raises:
            SpecError: A GPU does not draw such pictures.
        """
        if self.device.shares_rooms:
            self._cameras.append(SpanCamera(self.simulator, camera, channels, is_second, is_luma, set_count))
            return self._cameras[-1]
        check_camera(camera)
        if self._gather is None:
            counts = self.layout.cars_per_world, self.layout.props_per_world
            self._gather = GatherRenderer(self.simulator.renderer.tables, self.device, counts)
        self._cameras.append(GatherCamera(self.simulator, self._gather, camera, channels))
        return self._cameras[-1]

    def render(self, begins: Any = None, index: int = 0) -> None:
        """Draw all cameras; the arguments are those of `BatchCamera.draw`."""
        for camera in self._cameras:
            camera.draw(begins, index)

    def report(self) -> Missed:
        """Return what found no room in working memory."""
        contacts = self.device.download(self.simulator.physics.events.missed).sum()
        triangles = sum(camera.count_missed() for camera in self._cameras)
        return Missed(int(contacts), triangles)

    def measure_memory(self) -> MemoryUse:
        """Return how much memory of the device all this takes."""
        simulator, physics = self.simulator, self.simulator.physics
        cars = (simulator.state, simulator.control, physics.book.derived, physics.car_params.packed)
        changing = (*cars, physics.world_scene, physics.events, physics.no_orders, simulator.world_key)
        cameras = [camera.count_bytes() for camera in self._cameras]
        randomizer = simulator.place.randomizer
        drawn = () if randomizer is None else (randomizer.drawn, randomizer.looks[-1], randomizer.moment)
        tables: tuple[Any, ...] = simulator.renderer.tables if self._cameras else ()
        return MemoryUse(
            scenes=count_bytes((physics.tables, physics.book.paths, self.paths, self._beginning, tables)),
            worlds=count_bytes((*changing, drawn)),
            scratch=count_bytes(physics.scratches) + sum(working for working, _ in cameras),
            pictures=sum(seen for _, seen in cameras),
            world_count=self.layout.world_count,
        )


def make_beginning(simulator: Simulator) -> Snapshot:
    """Return how worlds begin whose cars all have joined; where that is not on this machine, one of each scene.

    Raises:
        CapacityError: A grid is too small for the cars of a world.
    """
    if not is_here(simulator.device):
        spec = simulator.spec
        count = min(spec.world_count, len(spec.scenes))
        simulator = Simulator(replace(spec, world_count=count, randomization=RandomizationSpec()))
    rows = np.arange(simulator.car_count)
    simulator.apply(commands.Join((rows // simulator.spec.cars_per_world).tolist(), []))
    return simulator.snapshot()


def group_rows(state: State, control: Control) -> StateRows:
    """Return all arrays by what their rows are and what they hold, each of shape [row_count, width]."""
    groups: dict[tuple[str, Any], list[Any]] = {kind: [] for kind in _KINDS}
    for name, array in (state._asdict() | control._asdict()).items():
        rows = "prop" if name.startswith("prop_") else "world" if name == "step_index" else "car"
        width = math.prod(array.shape[1:])
        groups[rows, np.dtype(array.dtype).type].append(array.reshape(array.shape[0], width))
    return StateRows(*(tuple(group) for group in groups.values()))


def _pick_scenes(beginning: Snapshot, scene_count: int) -> StateRows:
    """Return rows of one world of each scene: worlds take turns on them, so of the first ones."""
    world_count = len(beginning.world_key)

    def pick(array: NDArray[Any]) -> NDArray[Any]:
        return array[: len(array) // world_count * scene_count].copy()

    rows = group_rows(beginning.state, beginning.control)
    return StateRows(*(tuple(map(pick, group)) for group in rows))
