"""A car without a client: the built-in path follower drives it."""

from __future__ import annotations

from donkeysim.core.types import PHYSICS_RATE
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.serve.participants import SceneCar
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import BodySpec

PACE_CAR_BODY = BodySpec(style="car01", colour=(250, 180, 20), name="pace car", font_size=60)

MOST_STEPS_UNSTEERED = PHYSICS_RATE // 20
"""Physics steps after which the driver looks again."""


class PaceCar:
    """The pace car and its driver.

    Attributes:
        car: As others see it.
    """

    def __init__(self, simulator: Simulator, car: SceneCar, style: str) -> None:
        """Put a driver into a car.

        Args:
            simulator: Of the running scene.
            car: Which is in the scene already.
            style: "steady" or "fast".
        """
        self.car = car
        self._style = style
        self._follower = PathFollower(simulator.scene, simulator.car_spec, style)

    def move(self, simulator: Simulator) -> PaceCar:
        """Return the same car with a driver who knows the scene as it is now."""
        return PaceCar(simulator, self.car, self._style)

    def drive(self, simulator: Simulator) -> None:
        """Ask the car for what it should do now."""
        simulator.drive_car(self.car.row, *self._follower.drive(simulator.ledger, self.car.row))
