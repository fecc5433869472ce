"""The simulation's thread where races are held: what pages see of them, and what the race engineer does."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from donkeysim.race.act import Act
from donkeysim.serve.simulation_thread import SimulationThread
from donkeysim.watch.race_view import Joining, RaceView
from donkeysim.watch.watchable import refuse_past

if TYPE_CHECKING:
    from donkeysim.serve.race_simulation import RaceSimulation


class RaceThread(SimulationThread):
    """Runs races; its methods belong to the event loop.

    Attributes:
        address: How drivers join; None as long as the page does not know.
    """

    address: Joining | None = None

    def joining(self) -> Joining | None:
        """Return how drivers join."""
        return self.address

    async def show_race(self, at: float | None) -> RaceView | None:
        """Return the race as it stands; see `Watchable`."""
        refuse_past(at)
        if self._simulation is None:
            return None
        return await self._ask(lambda simulation: cast("RaceSimulation", simulation).show_race())

    async def act(self, act: Act) -> None:
        """Let the race engineer do something; see `Watchable`."""
        await self._ask(lambda simulation: cast("RaceSimulation", simulation).act(act))

    async def start_race(self) -> None:
        """Begin the next race; see `Watchable`."""
        await self._ask(lambda simulation: cast("RaceSimulation", simulation).start_race())
