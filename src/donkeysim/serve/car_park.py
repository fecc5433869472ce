"""The cars of the running scene: those of clients, and the pace car."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from donkeysim.core.clock import Clock
from donkeysim.core.errors import SceneError
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.serve.participants import Client, SceneCar
from donkeysim.sim.viewpoint import find_pose
from donkeysim.world.specs import BodySpec

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

PACE_CAR_BODY = BodySpec(style="car01", colour=(250, 180, 20), name="pace car", font_size=60)

MOST_STEPS_UNSTEERED = PHYSICS_RATE // 20
"""Physics steps after which the driver looks again."""


class CarPark:
    """Knows which car is which row of the simulator.

    Attributes:
        pace_car: None: there is none.
    """

    def __init__(self, read_clock: Clock) -> None:
        self.pace_car: PaceCar | None = None
        self._read_clock = read_clock
        self._cars: dict[int, SceneCar] = {}
        self._last_id = 0

    def __iter__(self) -> Iterator[SceneCar]:
        return iter(self._cars.values())

    def __len__(self) -> int:
        return len(self._cars)

    def __getitem__(self, row: int) -> SceneCar:
        return self._cars[row]

    def count_driven(self) -> int:
        """Return how many have a client."""
        return sum(car.client is not None for car in self)

    def map_rows(self) -> dict[int, int]:
        """Return rows by the ids of cars."""
        return {car.car_id: car.row for car in self}

    def find(self, car_id: int) -> SceneCar:
        """Return a car.

        Raises:
            SceneError: There is no such car.
        """
        for car in self:
            if car.car_id == car_id:
                return car
        raise SceneError(f"there is no car {car_id} now; it has left or the scene has ended.")

    def add(self, simulator: Simulator, client: Client | None, body: BodySpec) -> SceneCar:
        """Put a car on the first free place of the grid.

        Raises:
            CapacityError: There is none.
        """
        return self.enter(simulator, simulator.add_car(0, body), client)

    def enter(self, simulator: Simulator, row: int, client: Client | None, is_pace_car: bool = False) -> SceneCar:
        """Take up a car that is in the scene already."""
        x, y, _, _ = find_pose(simulator.ledger, row)
        self._last_id += 1
        now = self._read_clock()
        car = SceneCar(self._last_id, row, client, is_pace_car, idle_position=(x, y), idle_since=now)
        self._cars[row] = car
        return car

    def move(self, rows: dict[int, SceneCar]) -> None:
        """Let these cars, and no others, be these rows, of whichever simulator."""
        for row, car in rows.items():
            car.row = row
        self._cars = dict(rows)

    def remove(self, simulator: Simulator, car: SceneCar) -> None:
        """Take a car away."""
        simulator.remove_car(car.row)
        del self._cars[car.row]

    def clear(self) -> None:
        """Forget all cars: their scene has ended."""
        self._cars.clear()
        self.pace_car = None

    def begin_anew(self, simulator: Simulator, are_moved: bool) -> None:
        """Continue on another road, where all cars were put to its beginning, or among other things beside the same."""
        for car in self if are_moved else ():
            car.begin_anew()
        if self.pace_car is not None:
            self.pace_car = self.pace_car.move(simulator)

    def add_pace_car(self, simulator: Simulator, style: str) -> None:
        """Let a pace car drive, unless one does.

        Raises:
            CapacityError: There is no place for it.
        """
        if self.pace_car is None:
            car = self.enter(simulator, simulator.add_car(0, PACE_CAR_BODY), None, is_pace_car=True)
            self.pace_car = PaceCar(simulator, car, style)

    def remove_pace_car(self, simulator: Simulator) -> SceneCar | None:
        """Take the pace car away, if there is one, and return it."""
        pace_car, self.pace_car = self.pace_car, None
        if pace_car is None:
            return None
        self.remove(simulator, pace_car.car)
        return pace_car.car


class PaceCar:
    """The pace car and its driver.

    Attributes:
        car: As others see it.
    """

    def __init__(self, simulator: Simulator, car: SceneCar, style: str) -> None:
        """Put a driver into a car.

        Args:
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
