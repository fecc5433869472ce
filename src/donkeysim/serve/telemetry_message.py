"""Telemetry messages from a stepped and drawn simulator."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from donkeysim.core.errors import WireError
from donkeysim.core.image import encode_jpeg, encode_picture
from donkeysim.core.types import ByteArray
from donkeysim.render.scratch import ScratchRoom
from donkeysim.serve.options import SimulationOptions
from donkeysim.serve.participants import SceneCar
from donkeysim.wire.replies import encode_telemetry, write_base64
from donkeysim.world.specs import CameraSpec
from donkeysim.world.telemetry import LidarPoint, Telemetry

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

BASE64_SLICE = 3 << 17
"""Of a large file, written at a time: half a millisecond's work [byte]."""

_TRAINING_FIELDS = ("pos_x", "pos_y", "pos_z", "vel_x", "vel_y", "vel_z", "cte")

_NEVER = threading.Event()

_log = logging.getLogger("donkeysim.simulation")


class TelemetryWriter:
    """Makes what a car's client receives, as the simulation's options want it."""

    def __init__(self, options: SimulationOptions) -> None:
        self._options = options

    def observe(self, simulator: Simulator, car: SceneCar) -> Telemetry:
        """Return a car's readings and keep them for watchers."""
        telemetry = simulator.observe_telemetry(car.row, car.telemetry_count)
        if not self._options.has_training_fields:
            for name in _TRAINING_FIELDS:
                setattr(telemetry, name, None)
        car.note_telemetry(telemetry)
        return telemetry

    def compose(self, simulator: Simulator, car: SceneCar) -> bytes | None:
        """Return a car's telemetry as a line, None when a reading is not finite (which is logged).

        The car's cameras must have been drawn.
        """
        telemetry = self.observe(simulator, car)
        get_picture = functools.partial(simulator.get_picture, car.row)
        camera, other, _ = simulator.list_sensors(car.row)
        image = _encode_camera(camera, get_picture, False) or b""
        second = _encode_camera(other, get_picture, True)
        if camera is not None:
            car.picture = image if camera.encoding == "JPG" else None
        return self._encode(car, telemetry, image, second, simulator.scan_lidar(car.row), write_base64)

    def keep(self, simulator: Simulator, car: SceneCar) -> Callable[[ScratchRoom], bytes | None]:
        """Take a car's readings now and return what makes the line of this moment, once, on any thread."""
        telemetry, kept = self.observe(simulator, car), simulator.capture(car.row)
        camera, other, _ = simulator.list_sensors(car.row)

        def finish(room: ScratchRoom) -> bytes | None:
            kept.draw(room)
            image = _encode_camera(camera, kept.get_picture, False) or b""
            second = _encode_camera(other, kept.get_picture, True)
            if camera is not None:  # watchers too get what was drawn here: drawing it at once would take too long
                car.picture = image if camera.encoding == "JPG" else encode_jpeg(kept.get_picture())
            return self._encode(car, telemetry, image, second, kept.scan(_pause), _write_slowly)

        return finish

    def _encode(
        self,
        car: SceneCar,
        telemetry: Telemetry,
        image: bytes,
        second: bytes | None,
        lidar: list[LidarPoint] | None,
        write_file: Callable[[bytes], bytes],
    ) -> bytes | None:
        try:
            return encode_telemetry(telemetry, image, second, lidar, self._options.numbers_as_strings, write_file)
        except WireError as error:
            _log.error("car %d: %s", car.car_id, error)
            return None


def _encode_camera(
    camera: CameraSpec | None, get_picture: Callable[[bool], ByteArray], is_second: bool
) -> bytes | None:
    return None if camera is None else encode_picture(get_picture(is_second), camera.encoding)


def _pause() -> None:
    """Let another thread run Python, which one that never waits would only do every 5 ms."""
    _NEVER.wait(1e-4)


def _write_slowly(file: bytes) -> bytes:
    """Return a file in base64; other threads get a turn now and then."""
    parts, view = [], memoryview(file)
    for begin in range(0, len(file), BASE64_SLICE):
        parts.append(write_base64(view[begin : begin + BASE64_SLICE]))
        _pause()
    return b"".join(parts)
