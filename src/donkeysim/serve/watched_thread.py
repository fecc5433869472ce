"""The simulation's thread as pages see it: the cars, pictures of them, and what somebody who watches may change.

What a page gets comes from the thread: it answers between beats, draws right after one, and as long as somebody
watches it keeps the list of cars at hand.
"""

from __future__ import annotations

import asyncio
import functools
import queue
from collections.abc import Callable
from typing import TYPE_CHECKING

from donkeysim.core.clock import Clock
from donkeysim.core.errors import DonkeySimError, SceneError, describe_unknown
from donkeysim.serve.output import Output
from donkeysim.serve.simulation_thread import SimulationThread
from donkeysim.watch.moments import get_place_file
from donkeysim.watch.watchable import CarRow, Outline, View
from donkeysim.world.specs import RoadSpec

if TYPE_CHECKING:
    from donkeysim.serve.simulation import Simulation

WATCHED_SECONDS = 2.0
"""For how long after a question the list of cars is kept up to date [s]."""

REFRESH_SECONDS = 0.05
"""The list of cars is at most this old [s]."""

# Two beats: after that, time stands still or the simulation is slow, and the old moment is better than none.
PICTURE_PATIENCE = 0.1
"""How long a watcher's picture waits for time to move on before it is drawn of the old moment [s]."""

# Two fifths of a beat at 20 Hz: what remains is for the next beat's physics and for clients.
PICTURE_SECONDS = 0.02
"""After one beat pictures are begun for this long; what is left waits for the next one [s]."""


class WatchedThread(SimulationThread):
    """Runs a simulation that pages may watch; its methods belong to the event loop. Implements `Watchable`."""

    def __init__(
        self,
        make_simulation: Callable[[], Simulation],
        deliver: Callable[[list[Output]], None],
        read_clock: Clock,
        give_up: Callable[[DonkeySimError], None],
        folders: tuple[str, ...] = (),
    ) -> None:
        super().__init__(make_simulation, deliver, read_clock, give_up, folders)
        self._picture_inbox: queue.SimpleQueue[Callable[[Simulation], object]] = queue.SimpleQueue()
        self._moved_time = -1.0
        self._rows: list[CarRow] = []
        self._rows_time = -1.0
        self._watched_until = -1.0

    @property
    def scene_name(self) -> str | None:
        """Name of the running or loading scene; None in the menu."""
        return self._simulation.scene_name if self._simulation is not None else None

    @property
    def is_loading(self) -> bool:
        """Whether a scene is being loaded, or the simulator itself."""
        return self._simulation is None or self._simulation.is_loading

    @property
    def loading_stage(self) -> str:
        """What is being done while loading; "" otherwise."""
        return self._simulation.loading_stage if self._simulation is not None else "starting the simulator"

    async def list_cars(self) -> list[CarRow]:
        """Return the cars of the running scene, at most a moment ago; see `Watchable`."""
        now = self._read_clock()
        self._watched_until = now + WATCHED_SECONDS
        if now - self._rows_time > REFRESH_SECONDS and not self.is_loading:
            await self.ask(functools.partial(self._refresh_rows, now=now))
        return self._rows

    def outline(self) -> Outline | None:
        """Return the ground plan of the running scene."""
        return self._simulation.viewing.outline if self._simulation is not None else None

    async def take_picture(self, view: View, car_id: int, width: int, height: int) -> bytes:
        """Return a view of a car as JPEG; see `Watchable`. While time passes steadily it is drawn beside the thread."""
        interpolator = None if view == "camera" or self._simulation is None else self._simulation.viewing.interpolator
        if interpolator is not None and interpolator.want():
            return await asyncio.to_thread(interpolator.take_picture, view, car_id, width, height)
        return await self.ask(
            lambda simulation: simulation.take_picture(view, car_id, width, height), self._picture_inbox
        )

    async def take_moment(self) -> bytes:
        """Return where everything is; see `Watchable`."""
        interpolator = None if self._simulation is None else self._simulation.viewing.interpolator
        if interpolator is not None and interpolator.want():
            return interpolator.take_moment()
        take = lambda simulation: simulation.viewing.take_moment(simulation.simulator)  # noqa: E731
        return await self.ask(take, self._picture_inbox)

    async def write_place(self) -> bytes:
        """Return the file of the running place; see `Watchable`."""
        place = await self.ask(lambda simulation: simulation.viewing.find_place(simulation.simulator))
        return await asyncio.to_thread(get_place_file, *place)

    async def load_scene(self, name: str) -> None:
        """Begin to load a scene; see `Watchable`."""
        if name not in self._scene_names:
            raise SceneError(describe_unknown("scene", name, self._scene_names))
        if self.scene_name is not None:
            raise SceneError(f"{self.scene_name} is running; exit it first, then load {name!r}.")
        self.begin_scene(name)

    async def exit_scene(self) -> None:
        """Bring everybody back to the menu; see `Watchable`."""
        await self.ask(lambda simulation: simulation.exit_scene())

    async def make_road(self, road: RoadSpec) -> None:
        """Begin to make another road; see `Watchable`."""
        await self.ask(lambda simulation: simulation.make_road(road))

    @property
    def has_pace_car(self) -> bool:
        """Whether one drives; see `Watchable`."""
        return self._simulation is not None and self._simulation.has_pace_car

    async def set_pace_car(self, is_wanted: bool) -> None:
        """Let a pace car drive, or take it away; see `Watchable`."""
        if is_wanted:
            await self.ask(lambda simulation: simulation.add_pace_car())
        else:
            await self.ask(lambda simulation: simulation.remove_pace_car())

    async def reset_car(self, car_id: int) -> None:
        """Put a car back to where it began; see `Watchable`."""
        await self.ask(lambda simulation: simulation.reset_car(car_id))

    # -- on the thread ------------------------------------------------------------------------------------------------

    def _seconds_to_watchers(self) -> float | None:
        if self._picture_inbox.empty():
            return None
        return max(self._moved_time + PICTURE_PATIENCE - self._read_clock(), 0.0)

    def _serve_watchers(self, simulation: Simulation, has_moved: bool, now: float) -> None:
        self._refresh_rows(simulation, now)
        self._draw_pictures(simulation, has_moved, now)

    def _draw_pictures(self, simulation: Simulation, has_moved: bool, began: float) -> None:
        """Draw right after a beat: every picture is of a new moment, and the next beat is far enough."""
        if has_moved:
            self._moved_time = began
        elif began - self._moved_time < PICTURE_PATIENCE:
            return
        for _ in range(self._picture_inbox.qsize()):  # whoever asks while we draw gets the next beat
            if self._read_clock() - began < PICTURE_SECONDS:
                self._guard(simulation, self._picture_inbox.get_nowait())

    def _refresh_rows(self, simulation: Simulation, now: float) -> None:
        if now < self._watched_until and now - self._rows_time >= REFRESH_SECONDS:
            self._rows = simulation.list_cars()
            self._rows_time = now
