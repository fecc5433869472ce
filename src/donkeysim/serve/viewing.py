"""What watchers see of the running scene: its ground plan, its cars, and pictures of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from donkeysim.core.clock import Clock
from donkeysim.core.errors import SceneError
from donkeysim.core.image import encode_jpeg
from donkeysim.serve.car_park import CarPark
from donkeysim.serve.telemetry_message import TelemetryWriter
from donkeysim.serve.telemetry_scheduler import TelemetryScheduler
from donkeysim.sim.viewpoint import draw_car, draw_place
from donkeysim.watch.live_interpolator import LiveInterpolator
from donkeysim.watch.moments import describe_still
from donkeysim.watch.picture_cache import keep_snapshot
from donkeysim.watch.watchable import CHOSEN, CarRow, Outline, View, draw_outline
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

WATCHED_SECONDS = 2.0
"""After a question for the cars, those without a client are observed for so long [s]."""


class Viewing:
    """Shows a simulator; its methods belong to the simulation's thread.

    Attributes:
        outline: The ground plan of the running scene; None in the menu.
        interpolator: Pictures for watchers between its moments, while time passes at a steady rate.
    """

    def __init__(
        self, park: CarPark, scheduler: TelemetryScheduler, composer: TelemetryWriter, read_clock: Clock
    ) -> None:
        self.outline: Outline | None = None
        self.interpolator = LiveInterpolator(read_clock)
        self._park, self._scheduler, self._composer, self._read_clock = park, scheduler, composer, read_clock
        self._watched_until = -1.0

    def open(self, simulator: Simulator) -> None:
        """Look around in a scene, or on a new road."""
        self.outline = draw_outline(simulator.scene)

    def close(self) -> None:
        """Leave the scene."""
        self.outline = None
        self.interpolator.stop()

    def note(self, simulator: Simulator, period: float | None) -> None:
        """Note that time has moved on; by a steady period, or None [s]."""
        if self._read_clock() < self._watched_until:
            self._observe_driverless(simulator)
        if period is None:
            self.interpolator.stop()
        else:
            self.interpolator.note(simulator, period, self._park.map_rows)

    def list_cars(self, simulator: Simulator) -> list[CarRow]:
        """Return the cars in the order they joined; for the next seconds those without a client are observed too."""
        now = self._read_clock()
        if now >= self._watched_until:
            self._observe_driverless(simulator)
        self._watched_until = now + WATCHED_SECONDS
        return [car.make_row(simulator) for car in self._park if simulator.ledger.present[car.row]]

    def _observe_driverless(self, simulator: Simulator) -> None:
        """Keep the readings of the cars that no client asks for."""
        for car in self._park:
            if car.client is None and simulator.ledger.present[car.row]:
                self._composer.observe(simulator, car)
                simulator.clear_hits([car.row])

    def take_moment(self, simulator: Simulator | None) -> bytes:
        """Return where everything is, where time is not the clock's; see `Watchable.take_moment`."""
        shown = self._require(simulator)
        return describe_still(keep_snapshot(shown, self._park.map_rows(), self.interpolator.broadcast))

    def find_place(self, simulator: Simulator | None) -> tuple[Scene, CarSpec]:
        """Return the place that is shown, and the kind of its cars."""
        shown = self._require(simulator)
        return shown.scene, shown.car_spec

    def _require(self, simulator: Simulator | None) -> Simulator:
        if simulator is None or self.outline is None:
            raise SceneError("no scene is running; load one first.")
        return simulator

    def take_picture(self, simulator: Simulator | None, kind: View, car_id: int, width: int, height: int) -> bytes:
        """Return a view of a car as JPEG; "place" needs none.

        Raises:
            SceneError: There is no such car.
        """
        if kind == "place" and simulator is not None:
            return encode_jpeg(draw_place(simulator, self._read_clock(), width, height))
        car = next(iter(self._park), None) if car_id == CHOSEN else None
        car = car or self._park.find(car_id)
        assert simulator is not None, "where cars are, there is a scene"
        if kind == "camera":
            if car.picture is None:
                if self._scheduler.is_apart(car):
                    raise SceneError(f"the first picture of car {car_id} is being drawn; ask again in a second.")
                simulator.render([car.row])
                return encode_jpeg(simulator.get_picture(car.row))
            return car.picture
        return encode_jpeg(draw_car(simulator, car.row, kind, width, height))
