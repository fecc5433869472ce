"""What somebody who watches may see and do: the seam between the running simulation and the watching page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec
import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray
from donkeysim.world.path_frame import find_normals
from donkeysim.world.specs import RoadSpec
from donkeysim.world.telemetry import Telemetry

if TYPE_CHECKING:
    from donkeysim.world.scene import Scene

View = Literal["chase", "top", "seat", "camera", "place", "tv"]
"""From behind the car, from above, from its camera's place drawn larger, or what the car's own camera sees; a flight
along the road, without a car; or a camera beside the track, the one that sees the car best."""

LOOKS, LOOK_SECONDS = 20, 0.005
"""How often at most, and how long each time [s], whoever asks waits for a new moment: two moments at 20 Hz."""

CHOSEN = -1
"""Instead of a car's id: the car that is worth watching now, as the director of pictures chooses."""


@dataclass(frozen=True)
class CarRow:
    """One car as a watcher sees it.

    Attributes:
        car_id: Names the car for as long as it exists; never used again for another.
        name: As its client gave it; any text. Empty: none given.
        style: One of `BODY_STYLES`.
        colour: Paint, sRGB 0 to 255.
        is_pace_car: Driven by the built-in path follower.
        telemetry: Latest readings; None before the first.
        pose: Position of the body's origin x, y [m] and yaw [rad], world frame.
        lap_times: Of the laps since the last reset, oldest first [s].
        last_hit: Name of what it touched last since it joined or was reset; "" for nothing.
        drawn: What was drawn for it, by name; see `world.randomization`. Empty: nothing.
    """

    car_id: int
    name: str
    style: str
    colour: tuple[int, int, int]
    is_pace_car: bool
    telemetry: Telemetry | None
    pose: tuple[float, float, float]
    lap_times: tuple[float, ...] = ()
    last_hit: str = ""
    drawn: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Outline:
    """A ground plan, world frame [m].

    Attributes:
        path: The line that cte is measured against, shape [node_count, 2].
        left: Left edge of the road, shape [point_count, 2].
        right: Right edge of the road, shape [point_count, 2].
        is_closed: Whether path and edges return to their first point.
        start_line: End points of each start line, shape [line_count, 2, 2].
        road: Which of its roads the scene has; None: its road is not a generated one.
        checkpoint: End points of each checkpoint, shape [checkpoint_count, 2, 2].
    """

    path: FloatArray
    left: FloatArray
    right: FloatArray
    is_closed: bool
    start_line: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 2)))
    road: RoadSpec | None = None
    checkpoint: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 2)))


def draw_outline(scene: Scene) -> Outline:
    """Return the ground plan of a scene."""
    path = scene.path
    normal = find_normals(path.position, path.closed)
    centre = path.position[:, :2]
    return Outline(
        path=centre.copy(),
        left=centre + normal * path.width_left[:, None],
        right=centre - normal * path.width_right[:, None],
        start_line=scene.start.line.copy(),
        is_closed=path.closed,
        road=scene.road,
        checkpoint=scene.start.checkpoint.copy(),
    )


class Watchable(Protocol):
    """A simulation that can be watched; on the event loop's thread; nothing waits longer than a picture takes."""

    @property
    def scene_name(self) -> str | None:
        """Name of the running or loading scene; None in the menu."""

    @property
    def is_loading(self) -> bool:
        """Whether a scene is being loaded, kernels being compiled included."""

    @property
    def loading_stage(self) -> str:
        """What is being done while loading, one phrase for people; "" otherwise."""

    def scene_names(self) -> tuple[str, ...]:
        """Return the scenes that the menu offers."""

    async def list_cars(self) -> list[CarRow]:
        """Return the cars of the running scene in the order they joined; none in the menu."""

    def outline(self) -> Outline | None:
        """Return the ground plan of the running scene; None in the menu and while loading."""

    async def take_picture(self, view: View, car_id: int, width: int, height: int) -> bytes:
        """Return a view of a car as JPEG: of now, or of the next simulated moment where time is not the clock's.

        Args:
            car_id: Of `CarRow`, or `CHOSEN`; not used for "place".
            width: Columns [pixel]; not used for "camera", which has its own size.
            height: Rows [pixel]; as `width`.

        Raises:
            DonkeySimError: There is no such car.
        """

    async def take_moment(self) -> bytes:
        """Return where everything is now, a `watch.moments.PlaceMoment` as JSON; the same bytes until that is new.

        Raises:
            DonkeySimError: No scene is running.
        """

    async def write_place(self) -> bytes:
        """Return the file of the running place, see `watch.place_model`.

        Raises:
            DonkeySimError: No scene is running.
        """

    async def load_scene(self, name: str) -> None:
        """Load a scene from the menu; returns once loading has begun.

        Raises:
            DonkeySimError: No such scene, or another is running.
        """

    async def exit_scene(self) -> None:
        """Bring everybody back to the menu.

        Raises:
            DonkeySimError: No scene is running.
        """

    async def make_road(self, road: RoadSpec) -> None:
        """Begin to make another road; when it is done, all cars begin on it.

        Raises:
            DonkeySimError: The scene's road is not a generated one, or one is being made.
        """

    @property
    def has_pace_car(self) -> bool | None:
        """Whether a pace car drives; None: there cannot be one."""

    async def set_pace_car(self, is_wanted: bool) -> None:
        """Let a pace car drive, or take it away.

        Raises:
            DonkeySimError: There is no place for one.
        """

    async def reset_car(self, car_id: int) -> None:
        """Put a car back to where it began.

        Raises:
            DonkeySimError: There is no such car now.
        """


class NewMoments:
    """Moments for one viewer, each as soon as it is another one than the last, or what there is after `LOOKS` looks."""

    def __init__(self, take: Callable[[], Awaitable[bytes]]) -> None:
        self._take, self._last = take, b""

    async def take(self) -> bytes:
        """Return the next one."""
        for _ in range(LOOKS):
            message = await self._take()
            if message is not self._last:
                self._last = message
                break
            await asyncio.sleep(LOOK_SECONDS)
        return self._last


class WatchableRaces(Protocol):
    """What a page shows of races beside the cars of this moment: how they stand, now and at any moment that is kept.

    What it hands to the browser is opaque here; `racing.show.race_view` says what it is.
    """

    def time_line(self) -> msgspec.Struct | None:
        """Return what can be shown of the past; None: nothing."""

    async def show_race(self, at: float | None) -> msgspec.Struct | None:
        """Return the race at a moment of the time line [s], None: now; None: there is no race."""

    def joining(self) -> msgspec.Struct | None:
        """Return how drivers join; None: they cannot."""

    async def list_cars(self, at: float) -> list[CarRow]:
        """Return the cars at a moment of the time line [s], of which little more than names and poses is known."""

    async def take_picture(self, view: View, car_id: int, width: int, height: int, at: float) -> bytes:
        """Return a view of a car at a moment of the time line [s]; otherwise as `Watchable.take_picture`."""

    async def take_moment(self, at: float) -> bytes:
        """Return where everything is at a moment of the time line [s]; otherwise as `Watchable.take_moment`."""


class OnePlace:
    """What is the same in every `Watchable` that stays in one place: there is no menu, and no pace car.

    Attributes:
        refusal: Ends the sentence that says why another place cannot be had.
    """

    refusal: str
    has_pace_car = None

    def scene_names(self) -> tuple[str, ...]:
        """Return no scene: there is no menu."""
        return ()

    async def load_scene(self, name: str) -> None:
        """Refuse; see `Watchable`."""
        raise SceneError(f"{name!r} cannot be loaded here; {self.refusal}.")

    async def exit_scene(self) -> None:
        """Refuse; see `Watchable`."""
        raise SceneError(f"there is no menu here; {self.refusal}.")

    async def make_road(self, road: RoadSpec) -> None:
        """Refuse; see `Watchable`."""
        raise SceneError(f"the road of seed {road.seed} cannot be made here; {self.refusal}.")
