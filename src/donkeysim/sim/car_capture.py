"""What a car's cameras and lidar see at one moment, kept so that another thread may work it out while time moves on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from donkeysim.core.types import ByteArray
from donkeysim.render.camera import Capture, Renderer
from donkeysim.render.lidar import LidarScanner
from donkeysim.render.scratch import ScratchRoom
from donkeysim.sim.camera_groups import CameraGroups
from donkeysim.sim.observe import observe_lidar
from donkeysim.world.specs import LidarSpec
from donkeysim.world.state import State
from donkeysim.world.telemetry import LidarPoint

SLICE = 500
"""Points of a scan that are listed at a time, half a millisecond's work."""


class LidarCapture(NamedTuple):
    """What a lidar sees at one moment: a scanner and a state that nobody else uses, and whose lidar it is."""

    scanner: LidarScanner
    state: State
    car: int
    lidar: LidarSpec
    key: int


class CarCapture(NamedTuple):
    """What a car's cameras and lidar see at one moment. Made by `Simulator.capture`."""

    car: int
    renderer: Renderer
    groups: CameraGroups
    parts: Sequence[Capture]
    lidar: LidarCapture | None

    def draw(self, room: ScratchRoom) -> None:
        """Draw all cameras; each thread has a room of its own."""
        for part in self.parts:
            self.renderer.draw(part, room)

    def get_picture(self, second: bool = False) -> ByteArray:
        """Return a picture that has been drawn, shape [height, width, 3], valid until the car's next is drawn."""
        return self.groups.get_picture(self.car, second)

    def scan(self, pause: Callable[[], None]) -> list[LidarPoint] | None:
        """Return a scan as `Simulator.scan_lidar` does, None when the lidar is off.

        Args:
            pause: Called now and then, so that other threads get a turn.
        """
        if self.lidar is None:
            return None
        scanner, state, car, lidar, key = self.lidar
        rows = scanner.scan(state, car, lidar, key)
        points: list[LidarPoint] = []
        for begin in range(0, len(rows), SLICE):
            points += observe_lidar(rows[begin : begin + SLICE], lidar.sweep_increment, lidar.angle_delta)
            pause()
        return points
