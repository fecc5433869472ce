"""What the cars of a batch see: one camera of each, varied as what was drawn for its car says, all on their device.

Behind one door, `Batch.open_camera`, are two back ends: spans of pixels, one picture after another on each thread of
this machine, and stages of many small functions, which fill a GPU and would take six times as long on a processor.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from donkeysim.core.memory import count_bytes
from donkeysim.render.camera_group import Frame
from donkeysim.render.effects import PictureEffects
from donkeysim.render.gather import GatherRenderer
from donkeysim.render.kernels.vary import note_picture, vary_camera
from donkeysim.render.tables import MeantCameras
from donkeysim.render.variation import CAMERA_BLOCK, vary_cameras
from donkeysim.sim.randomizer import CAR_BLOCK
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec


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
