"""What the cars of a batch see: one camera of each, varied as what was drawn for its car says, all on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from donkeysim.core.device import Device
from donkeysim.gpu.memory import count_bytes
from donkeysim.gpu.randomizer import CAR_BLOCK, BatchRandomizer
from donkeysim.render.effects import PictureEffects
from donkeysim.render.gather import GatherRenderer, PictureForm
from donkeysim.render.kernels.vary import number_picture, vary_camera, vary_looks
from donkeysim.render.looks import Looks
from donkeysim.render.tables import MeantCameras
from donkeysim.render.variation import CAMERA_BLOCK, make_variation, vary_cameras
from donkeysim.world.layout import Layout
from donkeysim.world.specs import CameraSpec
from donkeysim.world.state import State


class BatchCamera:
    """A camera of every car of a batch, and its pictures.

    Attributes:
        colour: sRGB or grey, uint8, shape [car_count, row_count, width, channels].
        depth: Distance along the optical axis [m], infinite for the sky, shape [car_count, row_count, width]; None
            unless the camera has `depth`.
        segment: CLASS_* of what is seen, likewise; None unless the camera has `segment`.
        mount: Where it is on each car, columns POSE; written by whoever moves it where nothing is drawn.
        meant: How it is before what is drawn is added; None where nothing is. Whoever moves it writes `pose` here and
            -1 into `serial`.
    """

    def __init__(self, pictures: BatchPictures, camera: CameraSpec, channels: int) -> None:
        """Make the pictures; `BatchPictures.open` does."""
        cars, own = pictures.layout.car_count, pictures
        count = 0 if own.rows is None else own.rows.look.shape[1]
        self.group = own.renderer.make_group(range(cars), [camera] * cars, PictureForm(channels), count)
        self.colour, self.depth, self.segment = self.group.colour, self.group.depth, self.group.segment
        self.mount = self.group.rows.mount
        self.meant: MeantCameras | None = None
        self._effects: PictureEffects | None = None
        self._pictures, self._drawn = pictures, self.group.flat
        if own.randomizer is not None:
            varied = vary_cameras([camera] * cars, [False] * cars)
            self.meant = own.device.upload(varied.meant)
            self._lens = varied.scaled_height, varied.squeeze
            if own.randomizer.spec.has_effects:
                shape = (cars, *self.group.colour.shape[1:])
                self._effects = PictureEffects(own.device, own.randomizer.spec.picture, shape)
                self._drawn = own.device.zeros(tuple(self.group.flat.shape), np.uint8)
                self.colour = self._drawn.reshape(tuple(self.group.colour.shape))

    def draw(self, state: State, world_key: Any, begins: Any = None) -> None:
        """Draw what the cars see now; the pictures are valid until the next time.

        Args:
            state: Of all worlds.
            world_key: Of each world's random numbers.
            begins: In which worlds cars are drawn, shape [world_count]; the others' pictures stay. None: in all.
        """
        own, cars = self._pictures, self._pictures.layout.car_count
        if self.meant is not None:
            meant = (*self._lens, own.rows, self.meant, self.group.rows)
            own.device.run(vary_camera, cars, *meant, block=CAMERA_BLOCK)
        own.renderer.render(self.group, state, begins)
        if self._effects is not None and self.meant is not None:
            numbers = (own.layout.cars_per_world, world_key, state.step_index, own.number)
            own.device.run(number_picture, cars, *numbers, block=CAR_BLOCK)
            self._effects.apply(self.meant, self.group.rows.car, own.number, self.group.flat, self._drawn)

    def count_bytes(self) -> tuple[int, int]:
        """Return how many bytes working memory takes, and how many the pictures."""
        pictures = count_bytes((self.group.flat, self._drawn, self.depth, self.segment))
        effects = () if self._effects is None else tuple(vars(self._effects).values())
        return count_bytes((self.group.scratch, self.group.rows, self.meant or (), effects)), pictures


class BatchPictures:
    """Meshes, textures and light of a batch's scenes on a device, and what differs from car to car.

    Attributes:
        layout: Of the worlds.
        device: Where.
        renderer: What draws.
        tables: As the host has them.
        randomizer: What draws values for cars; None: nothing is drawn.
        rows: What follows from the values for cameras; None likewise.
        number: What the noise of each car's next picture begins with.
    """

    def __init__(self, layout: Layout, device: Device, randomizer: BatchRandomizer | None) -> None:
        """Build the tables, which takes some seconds.

        Args:
            layout: Of the worlds.
            device: Where.
            randomizer: What draws values for cars; None: nothing is drawn.
        """
        self.layout, self.device, self.randomizer = layout, device, randomizer
        self.tables = tables = Looks(layout).tables
        self.renderer = GatherRenderer(tables, device, (layout.cars_per_world, layout.props_per_world))
        self.rows: Any = None
        self.number: Any = device.zeros((layout.car_count,), np.uint32)
        self._scene_lights = device.upload((tables.world_scene, tables.light))
        if randomizer is not None:
            worlds = np.arange(layout.car_count) // layout.cars_per_world
            self.rows = device.upload(make_variation(randomizer.spec, tables.light[tables.world_scene[worlds]]).rows)

    def open(self, camera: CameraSpec, channels: int = 3) -> BatchCamera:
        """Return a camera of every car.

        Args:
            camera: How it is.
            channels: 3, or 1 for grey pictures.

        Raises:
            SpecError: A device does not draw such pictures.
        """
        return BatchCamera(self, camera, channels)

    def refresh(self) -> None:
        """Write what follows for cameras of the cars whose values have just been drawn."""
        if self.randomizer is not None:
            drawn, slots = self.randomizer.drawn, self.layout.cars_per_world
            arguments = (slots, *self._scene_lights, drawn, self.rows)
            self.device.run(vary_looks, self.layout.car_count, *arguments, block=CAR_BLOCK)
