"""Telemetry messages from a stepped and drawn simulator."""

from __future__ import annotations

import logging

from donkeysim.core.errors import WireError
from donkeysim.core.image import encode_picture
from donkeysim.serve.participants import SceneCar
from donkeysim.serve.simulation_options import SimulationOptions
from donkeysim.sim.simulator import Simulator
from donkeysim.wire.replies import encode_telemetry
from donkeysim.world.telemetry import Telemetry

_TRAINING_FIELDS = ("pos_x", "pos_y", "pos_z", "vel_x", "vel_y", "vel_z", "cte")

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
        image = self._encode_camera(simulator, car, False) or b""
        second = self._encode_camera(simulator, car, True)
        lidar = simulator.scan_lidar(car.row)
        try:
            return encode_telemetry(telemetry, image, second, lidar, self._options.numbers_as_strings)
        except WireError as error:
            _log.error("car %d: %s", car.car_id, error)
            return None

    def _encode_camera(self, simulator: Simulator, car: SceneCar, is_second: bool) -> bytes | None:
        camera = simulator.get_camera(car.row, is_second)
        if camera is None:
            return None
        image = encode_picture(simulator.get_picture(car.row, is_second), camera.encoding)
        if not is_second:
            car.picture = image if camera.encoding == "JPG" else None
        return image
