"""The simulation's thread where races are held: what pages see of them, and what the race engineer does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from donkeysim.core.errors import SceneError
from donkeysim.racing.rules.act import Act
from donkeysim.racing.show.race_view import Joining, RaceView, TimeLine
from donkeysim.serve.watched_thread import WatchedThread
from donkeysim.watch.watchable import CarRow, View

if TYPE_CHECKING:
    from donkeysim.racing.host.race_simulation import RaceSimulation


class RaceThread(WatchedThread):
    """Runs races; its methods belong to the event loop.

    Attributes:
        address: How drivers join; None as long as the page does not know.
    """

    address: Joining | None = None

    @property
    def _races(self) -> RaceSimulation:
        if self._simulation is None:
            raise SceneError("the simulator is being started; ask again in a moment.")
        return cast("RaceSimulation", self._simulation)

    def joining(self) -> Joining | None:
        """Return how drivers join."""
        return self.address

    async def show_race(self, at: float | None) -> RaceView | None:
        """Return the race as it stands; see `Watchable`. A race draws its view at each beat: many may ask for it."""
        if self.is_loading:
            return None
        races = self._races
        if at is not None or races.race is not None:
            view = races.reel.find_view(at)
            if view is not None or at is not None:
                return view
        return await self._ask(lambda simulation: cast("RaceSimulation", simulation).show_race())

    def time_line(self) -> TimeLine | None:
        """Return what can be shown of the race that is under way, or was the last."""
        return None if self._simulation is None else self._races.reel.time_line()

    async def list_cars(self, at: float | None = None) -> list[CarRow]:
        """Return the cars at a moment; see `Watchable`."""
        return await super().list_cars() if at is None else self._races.reel.list_cars(at)

    async def take_picture(self, view: View, car_id: int, width: int, height: int, at: float | None = None) -> bytes:
        """Return a view of a car; see `Watchable`. The past is drawn beside the race."""
        if at is None:
            return await super().take_picture(view, car_id, width, height)
        return await asyncio.to_thread(self._races.reel.take_picture, view, car_id, width, height, at)

    async def act(self, act: Act) -> None:
        """Let the race engineer do something; see `Watchable`."""
        await self._ask(lambda simulation: cast("RaceSimulation", simulation).act(act))

    async def start_race(self) -> None:
        """Begin the next race; see `Watchable`."""
        await self._ask(lambda simulation: cast("RaceSimulation", simulation).start_race())
