"""Thousands of worlds on a device: `BatchSimulator` owns their tables and arrays, and nothing of them leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from donkeysim.core.device import Device
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.gpu.kernels.reset import forget_hit
from donkeysim.gpu.memory import MemoryUse, count_bytes
from donkeysim.gpu.pictures import BatchCamera, BatchPictures
from donkeysim.gpu.randomizer import BatchRandomizer
from donkeysim.gpu.reset import Resetter
from donkeysim.physics.ledger import make_book, make_derived, share_rows
from donkeysim.physics.world_stepper import WorldStepper
from donkeysim.render.gather import check_camera
from donkeysim.world.layout import make_layout
from donkeysim.world.specs import CameraSpec, WorldSpec
from donkeysim.world.state import make_control, make_state
from donkeysim.world.tracks.catalogue import share_scene

STEPS_PER_FRAME = PHYSICS_RATE // 20
"""Physics steps in a twentieth of a second."""


class Missed(NamedTuple):
    """What found no room in working memory."""

    contacts: int
    """Pairs of things that touch or may touch, since the start."""
    triangles: int
    """Of the last pictures of all cameras."""


class BatchSimulator:
    """Cars in worlds on a device, as a `sim.simulator.Simulator` has them on this machine.

    Every method enqueues work and returns; only `report` waits for it and brings numbers here.

    Attributes:
        spec: What is simulated.
        device: Where.
        layout: Of the worlds.
        stepper: What lets time pass.
        state: All that changes, arrays of the device; private to this room, physics and render.
        control: What cars are asked to do, likewise; written by whoever drives them.
        ledger: Rows of all cars, likewise; read only.
        world_key: Of each world's random numbers, shape [world_count].
        randomizer: What draws values for cars; None: nothing is drawn.
    """

    def __init__(self, spec: WorldSpec, device: Device, look_ahead: Sequence[float] = ()) -> None:
        """Build the tables and put all cars on the grid.

        Args:
            spec: What is simulated.
            device: What runs it.
            look_ahead: Distances for `Ledger.ahead`, rising, 0 or more [m].

        Raises:
            SceneError: There is no such scene.
            SpecError: There is no such car.
            CapacityError: A grid is too small for the cars of a world.
        """
        built = {place: share_scene(place) for place in dict.fromkeys(spec.scenes)}
        scenes = tuple(built[place] for place in spec.scenes)
        self.spec, self.device = spec, device
        self.layout = layout = make_layout(spec, scenes)
        self.stepper = WorldStepper(layout, device)
        self.stepper.book = device.upload(
            make_book(scenes, make_derived(layout.car_count, len(look_ahead)), look_ahead)
        )
        room = (layout.world_count, layout.cars_per_world, layout.props_per_world)
        self.state = device.upload(make_state(*room, layout.car.has_actuators))
        self.control = device.upload(make_control(layout.car_count))
        self.ledger = share_rows(self.state, self.control, self.stepper.book.derived)
        self.world_key: Any = device.zeros((layout.world_count,), np.int64)
        self._resetter = Resetter(layout, device, self.stepper, self.state, self.control)
        self.randomizer: BatchRandomizer | None = None
        if spec.randomization.is_on:
            self.randomizer = BatchRandomizer(spec.randomization, layout, device, self.stepper.param)
        self._pictures: BatchPictures | None = None
        self._cameras: list[BatchCamera] = []
        nowhere = np.full((layout.car_count, 3), np.nan)
        self.reset(device.upload(np.ones(layout.world_count, bool)), device.upload(nowhere))

    @property
    def path_length(self) -> Any:
        """Of each scene's path [m], shape [scene_count]."""
        return self._resetter.paths.length

    def step(self, step_count: int = STEPS_PER_FRAME) -> None:
        """Let a frame pass: `step_count` physics steps of 1/480 s in every world."""
        self.stepper.step(self.state, self.control, step_count)

    def clear_hits(self) -> None:
        """Forget what cars touched."""
        self.device.run(forget_hit, self.layout.car_count, self.state.hit, block=1024)

    def reset(self, begins: Any, start: Any) -> None:
        """Put worlds back to how they began, see `Resetter.reset`, and draw anew where their keys are other ones."""
        self._resetter.reset(begins, start)
        if self.randomizer is not None:
            self.randomizer.refresh(self.state, self.world_key)
            if self._pictures is not None:
                self._pictures.refresh()

    def open_camera(self, camera: CameraSpec, channels: int = 3) -> BatchCamera:
        """Return a camera of every car; open all before the first reset. The first one takes some seconds.

        Args:
            camera: How it is.
            channels: 3, or 1 for grey pictures.

        Raises:
            SpecError: A device does not draw such pictures.
        """
        check_camera(camera)
        if self._pictures is None:
            self._pictures = BatchPictures(self.layout, self.device, self.randomizer)
        self._cameras.append(self._pictures.open(camera, channels))
        return self._cameras[-1]

    def render(self, begins: Any = None) -> None:
        """Draw all cameras; `begins`: only those of these worlds, shape [world_count]."""
        for camera in self._cameras:
            camera.draw(self.state, self.world_key, begins)

    def report(self) -> Missed:
        """Return what found no room in working memory."""
        contacts = self.device.download(self.stepper.events.missed).sum()
        triangles = sum(self.device.download(camera.group.missed).sum() for camera in self._cameras)
        return Missed(int(contacts), int(triangles))

    def measure_memory(self) -> MemoryUse:
        """Return how much memory of the device all this takes."""
        stepper, own = self.stepper, self._resetter
        cars = (self.state, self.control, stepper.book.derived, stepper.param)
        changing = (*cars, stepper.world_scene, stepper.events, stepper.no_orders, self.world_key)
        cameras = [camera.count_bytes() for camera in self._cameras]
        drawn = () if self.randomizer is None else self.randomizer.drawn
        tables: tuple[Any, ...] = ()
        rows: tuple[Any, ...] = ()
        if self._pictures is not None:
            tables, rows = self._pictures.tables, (self._pictures.rows or (), self._pictures.number)
        return MemoryUse(
            scenes=count_bytes((stepper.tables, stepper.book.paths, own.paths, own.beginning, tables)),
            worlds=count_bytes((*changing, drawn, rows)),
            scratch=count_bytes(stepper.scratches) + sum(working for working, _ in cameras),
            pictures=sum(seen for _, seen in cameras),
            world_count=self.layout.world_count,
        )

    def close(self) -> None:
        """Give the device's threads and memory back."""
        self.device.close()
