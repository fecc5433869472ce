"""What the cars of a batch see: one camera of each, varied as what was drawn for its car says, all on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from donkeysim.render.effects import PictureEffects
from donkeysim.render.gather import GatherRenderer, PictureForm
from donkeysim.render.kernels.vary import number_picture, vary_camera
from donkeysim.render.tables import MeantCameras
from donkeysim.render.variation import CAMERA_BLOCK, vary_cameras
from donkeysim.sim.memory import count_bytes
from donkeysim.sim.randomizer import CAR_BLOCK
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import CameraSpec


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
        simulator, renderer = pictures.simulator, pictures.renderer
        self._simulator, self._renderer = simulator, renderer
        cars, device, randomizer = simulator.car_count, simulator.device, simulator.place.randomizer
        count = 0 if randomizer is None else randomizer.looks[-1].look.shape[1]
        self.group = renderer.make_group(range(cars), [camera] * cars, PictureForm(channels), count)
        self.colour, self.depth, self.segment = self.group.colour, self.group.depth, self.group.segment
        self.mount = self.group.rows.mount
        self.meant: MeantCameras | None = None
        self._effects: PictureEffects | None = None
        self._drawn = self.group.flat
        if randomizer is not None:
            varied = vary_cameras([camera] * cars, [False] * cars)
            self.meant = device.upload(varied.meant)
            self._lens = varied.scaled_height, varied.squeeze
            if randomizer.spec.has_effects:
                shape = (cars, *self.group.colour.shape[1:])
                self._effects = PictureEffects(device, randomizer.spec.picture, shape)
                self._drawn = device.zeros(tuple(self.group.flat.shape), np.uint8)
                self.colour = self._drawn.reshape(tuple(self.group.colour.shape))

    def draw(self, begins: Any = None) -> None:
        """Draw what the cars see now; the pictures are valid until the next time.

        Args:
            begins: In which worlds cars are drawn, shape [world_count]; the others' pictures stay. None: in all.
        """
        simulator, device, randomizer = self._simulator, self._simulator.device, self._simulator.place.randomizer
        if randomizer is not None and self.meant is not None:
            meant = (*self._lens, randomizer.looks[-1], self.meant, self.group.rows)
            device.run(vary_camera, simulator.car_count, *meant, block=CAMERA_BLOCK)
        self._renderer.render(self.group, simulator.state, begins)
        if randomizer is not None and self._effects is not None and self.meant is not None:
            number = randomizer.number
            numbers = (simulator.spec.cars_per_world, simulator.world_key, simulator.state.step_index, number)
            device.run(number_picture, simulator.car_count, *numbers, block=CAR_BLOCK)
            self._effects.apply(self.meant, self.group.rows.car, number, self.group.flat, self._drawn)

    def count_bytes(self) -> tuple[int, int]:
        """Return how many bytes working memory takes, and how many the pictures."""
        pictures = count_bytes((self.group.flat, self._drawn, self.depth, self.segment))
        effects = () if self._effects is None else tuple(vars(self._effects).values())
        return count_bytes((self.group.scratch, self.group.rows, self.meant or (), effects)), pictures


class BatchPictures:
    """Meshes, textures and light of a simulator's scenes on its device, for cameras of all its cars.

    Attributes:
        simulator: Whose cars they are.
        renderer: What draws.
        tables: As the host has them.
    """

    def __init__(self, simulator: Simulator) -> None:
        """Copy the tables to the device."""
        self.simulator, layout = simulator, simulator.physics.layout
        self.tables = simulator.renderer.tables
        counts = layout.cars_per_world, layout.props_per_world
        self.renderer = GatherRenderer(self.tables, simulator.device, counts)

    def open(self, camera: CameraSpec, channels: int = 3) -> BatchCamera:
        """Return a camera of every car.

        Args:
            camera: How it is.
            channels: 3, or 1 for grey pictures.

        Raises:
            SpecError: A device does not draw such pictures.
        """
        return BatchCamera(self, camera, channels)
