"""Races on the simulation's thread: what pages see of them, and what the race engineer does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from donkeysim.core.errors import SceneError
from donkeysim.racing.rules.act import Act
from donkeysim.racing.show.race_view import Joining, RaceView, TimeLine
from donkeysim.serve.watched_thread import WatchedThread
from donkeysim.watch.watchable import CarRow, View

if TYPE_CHECKING:
    from donkeysim.racing.host.race_host import RaceHost

T = TypeVar("T")


class ThreadedRaces:
    """Implements `ControllableRaces` over races that a thread runs; its methods belong to the event loop.

    Attributes:
        races: The races; None as long as the simulator is being started. Whoever makes them sets it.
        address: How drivers join; None as long as the page does not know.
    """

    def __init__(self, thread: WatchedThread) -> None:
        self._thread = thread
        self.races: RaceHost | None = None
        self.address: Joining | None = None

    def joining(self) -> Joining | None:
        """Return how drivers join."""
        return self.address

    async def show_race(self, at: float | None) -> RaceView | None:
        """Return the race as it stands. A race draws its view at each beat: many may ask for it."""
        if self.races is None or self._thread.is_loading:
            return None
        if at is not None or self.races.race is not None:
            view = self.races.recording.find_view(at)
            if view is not None or at is not None:
                return view
        return await self._ask(lambda races: races.show_race())

    def time_line(self) -> TimeLine | None:
        """Return what can be shown of the race that is under way, or was the last."""
        return None if self.races is None else self.races.recording.time_line()

    async def list_cars(self, at: float) -> list[CarRow]:
        """Return the cars at a moment."""
        return self._get_races().recording.list_cars(at)

    async def take_picture(self, view: View, car_id: int, width: int, height: int, at: float) -> bytes:
        """Return a view of a car; the past is drawn beside the race."""
        return await asyncio.to_thread(self._get_races().recording.take_picture, view, car_id, width, height, at)

    async def take_moment(self, at: float) -> bytes:
        """Return where everything is at a moment."""
        return self._get_races().recording.take_moment(at)

    async def act(self, act: Act) -> None:
        """Let the race engineer do something."""
        await self._ask(lambda races: races.act(act))

    async def start_race(self) -> None:
        """Begin the next race."""
        await self._ask(lambda races: races.start_race())

    async def _ask(self, question: Callable[[RaceHost], T]) -> T:
        """Return what the races answer, between two beats."""
        races = self._get_races()
        return await self._thread.ask(lambda _simulation: question(races))

    def _get_races(self) -> RaceHost:
        if self.races is None:
            raise SceneError("the simulator is being started; ask again in a moment.")
        return self.races
