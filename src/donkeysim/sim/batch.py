"""All worlds of a simulator at once, by kernels, on whichever device they are: where they begin, and what they see.

What the cars see is one camera of each, varied as what was drawn for its car says. Behind one door,
`Batch.open_camera`, are two back ends: spans of pixels, one picture after another on each thread of this machine, and
stages of many small functions, which fill a GPU and would take six times as long on a processor.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.device import is_here
from donkeysim.core.memory import MemoryUse, count_bytes
from donkeysim.core.types import BoolArray, FloatArray
from donkeysim.render.camera_group import Frame
from donkeysim.render.effects import PictureEffects
from donkeysim.render.gather import GatherRenderer, check_camera
from donkeysim.render.kernels.vary import note_picture, vary_camera
from donkeysim.render.tables import MeantCameras
from donkeysim.render.variation import CAMERA_BLOCK, vary_cameras
from donkeysim.sim import commands
from donkeysim.sim.kernels.reset import StateRows, drive_car, reset_world
from donkeysim.sim.randomizer import CAR_BLOCK, Randomizer
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


class Pictures(NamedTuple):
    """What the cameras of all cars see, arrays of their device."""

    colour: Any
    """sRGB or grey, uint8, shape [car_count, row_count, width, channels]."""
    depth: Any
    """Distance along the optical axis [m], infinite for the sky, shape [car_count, row_count, width]; None unless the
    camera has `depth`."""
    segment: Any
    """CLASS_* of what is seen, of the same shape; None unless the camera has `segment`."""


class BatchCamera(Protocol):
    """A camera of every car of a batch, and its pictures.

    Attributes:
        pictures: One set, or two where the last pictures shall outlive the next ones.
        mount: Where it is on each car, columns POSE; written by whoever moves it where nothing is drawn.
        meant: How it is before what is drawn is added; None where nothing is. Whoever moves it writes `pose` here and
            -1 into `serial`.
    """

    pictures: list[Pictures]
    mount: Any
    meant: MeantCameras | None

    def draw(self, begins: Any = None, index: int = 0) -> None:
        """Draw what the cars see now.

        Args:
            begins: In which worlds cars are drawn, shape [world_count]; the others' pictures stay. None: in all.
            index: Into which set of pictures.
        """

    def count_missed(self) -> int:
        """Return how many triangles found no room in the last pictures."""

    def count_bytes(self) -> tuple[int, int]:
        """Return how many bytes working memory takes, and how many the pictures."""


class SpanCamera:
    """A `BatchCamera` of cars on this machine, drawn by the renderer of its simulator, in spans."""

    def __init__(
        self, simulator: Simulator, camera: CameraSpec, channels: int, is_second: bool, is_luma: bool, set_count: int
    ) -> None:
        cars, is_single = simulator.car_count, channels == 1 and not is_luma
        self._simulator = simulator
        first = simulator.renderer.make_group(range(cars), [camera] * cars, [is_second] * cars, is_single)
        self._groups = [first, *(first.add_pictures() for _ in range(set_count - 1))]
        self.pictures = [self._show(group.frame, channels) for group in self._groups]
        self.mount = first.cameras.mount
        self.meant = None if first.varied is None else first.varied.meant

    @staticmethod
    def _show(frame: Frame, channels: int) -> Pictures:
        """Return pictures of a frame; grey ones that differ from car to car are drawn in three channels elsewhere."""
        colour = frame.colour
        if colour.shape[3] != channels:
            colour = np.zeros((*colour.shape[:3], channels), np.uint8)
        return Pictures(colour, frame.depth, frame.segment)

    def draw(self, begins: Any = None, index: int = 0) -> None:
        """See `BatchCamera.draw`."""
        slots, group, colour = self._simulator.spec.cars_per_world, self._groups[index], self.pictures[index].colour
        cars: Any = slice(None) if begins is None else np.flatnonzero(np.repeat(begins, slots)).tolist()
        for part in [group] if begins is None else [group.select(car) for car in cars]:
            self._simulator.render_group(part)
        if colour is not group.frame.colour:
            colour[cars] = group.frame.colour[cars, ..., : colour.shape[3]]

    def count_missed(self) -> int:
        """See `BatchCamera.count_missed`: there is room for all."""
        return 0

    def count_bytes(self) -> tuple[int, int]:
        """See `BatchCamera.count_bytes`; the renderer's working memory is its threads'."""
        frames = [(group.frame.colour, *pictures) for group, pictures in zip(self._groups, self.pictures, strict=True)]
        return count_bytes((self._groups[0].cameras, self.meant or ())), count_bytes(tuple(frames))


class GatherCamera:
    """A `BatchCamera` that is drawn by stages on a device, as a GPU needs it."""

    def __init__(self, simulator: Simulator, renderer: GatherRenderer, camera: CameraSpec, channels: int) -> None:
        self._simulator, self._renderer = simulator, renderer
        cars, device, randomizer = simulator.car_count, simulator.device, simulator.place.randomizer
        count = 0 if randomizer is None else randomizer.looks[-1].look.shape[1]
        self.group = renderer.make_group(range(cars), [camera] * cars, channels, count)
        colour, self.mount = self.group.colour, self.group.rows.mount
        self.meant: MeantCameras | None = None
        self._effects: PictureEffects | None = None
        self._drawn = self.group.flat
        if randomizer is not None:
            varied = vary_cameras([camera] * cars, [False] * cars)
            self.meant = device.upload(varied.meant)
            self._lens = varied.lens
            if randomizer.spec.has_effects:
                shape = (cars, *self.group.colour.shape[1:])
                self._effects = PictureEffects(device, randomizer.spec, shape, (camera.crop_top, camera.height))
                self._drawn = device.zeros(tuple(self.group.flat.shape), np.uint8)
                colour = self._drawn.reshape(tuple(colour.shape))
        self.pictures = [Pictures(colour, self.group.depth, self.group.segment)]

    def draw(self, begins: Any = None, index: int = 0) -> None:
        """See `BatchCamera.draw`."""
        del index  # on a device there is one set
        simulator, device, randomizer = self._simulator, self._simulator.device, self._simulator.place.randomizer
        if randomizer is not None and self.meant is not None:
            meant = (*self._lens, randomizer.looks[-1], self.meant, self.group.rows)
            device.run(vary_camera, simulator.car_count, *meant, block=CAMERA_BLOCK)
        self._renderer.render(self.group, simulator.state, begins)
        if randomizer is not None and self._effects is not None and self.meant is not None:
            state, moment = simulator.state, randomizer.moment
            own = (simulator.spec.cars_per_world, simulator.world_key, state.step_index, state.angular_velocity)
            device.run(note_picture, simulator.car_count, *own, *moment, block=CAR_BLOCK)
            self._effects.apply(self.meant, self.group.rows.car, moment, self.group.flat, self._drawn)

    def count_missed(self) -> int:
        """See `BatchCamera.count_missed`."""
        return int(self._simulator.device.download(self.group.missed).sum())

    def count_bytes(self) -> tuple[int, int]:
        """See `BatchCamera.count_bytes`."""
        pictures = count_bytes((self.group.flat, self._drawn, self.group.depth, self.group.segment))
        effects = () if self._effects is None else tuple(vars(self._effects).values())
        return count_bytes((self.group.scratch, self.group.rows, self.meant or (), effects)), pictures


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
