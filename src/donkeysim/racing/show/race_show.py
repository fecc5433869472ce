"""A race file for the watching page: played once, then any moment of it can be shown. Plain action logs, too.

What the watching page has for races beside its own addresses, here and while a race is driven:

=====================  =============================================================================
`GET /race`            `RaceView` of this moment, null where there is no race
`POST /race/act`       `Act` of `racing.rules.act`: pause, continue, restart, put back, penalise, undo
`POST /race/start`     begin the race that is waited for in the paddock
`GET /join.svg`        QR code of the address where phones join; 404 where nobody can
=====================  =============================================================================
"""

import asyncio
import io
import math
from pathlib import Path
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from donkeysim.core.errors import SceneError, SpecError
from donkeysim.core.types import PHYSICS_STEP
from donkeysim.racing.rules.act import Act
from donkeysim.racing.rules.director import Director
from donkeysim.racing.run.verify import Recount
from donkeysim.racing.show.race_view import Joining, RaceView, TimeLine
from donkeysim.racing.show.recording import RaceRecording
from donkeysim.racing.show.timing import CarLook, Timing
from donkeysim.record.replay import Replay
from donkeysim.watch.moments import get_place_file
from donkeysim.watch.watchable import CarRow, OnePlace, Outline, View, WatchableRaces, draw_outline
from donkeysim.web.page import answer_json, read_question

_SHOWN = "this page shows what has been driven"


class RaceShow(OnePlace):
    """Implements `Watchable` and `ControllableRaces`; `play` runs on a thread of its own, the rest on the event loop.

    Attributes:
        replay: What came of playing it again.
    """

    refusal = _SHOWN

    def __init__(self, path: str | Path) -> None:
        """Open a file.

        Raises:
            SpecError: There is no such file, or it is not an action log.
            SceneError: A track of it does not exist here.
        """
        self.replay = Replay(path)
        self._recording, self._timing = RaceRecording(), Timing()
        self._outline: Outline | None = None
        self._stage, self._is_stopped = "getting ready", False

    # -- on a thread of its own ---------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play the file to its end, or until it is stopped.

        Raises:
            SpecError: The file holds a race of a newer version.
        """
        simulator, recount = self.replay.simulator, Recount(self.replay)
        simulator.compile(lambda name, _done, _total: self._tell(f"compiling: {name}"))
        for step_count in self.replay.play(to_the_end=True, report=self._report_share):
            if self._is_stopped:
                return
            if self.replay.step_count == 1:
                self._recording.broadcast.prepare(simulator)
            recount.judge_frame(step_count)
            self._note(recount.director, step_count * PHYSICS_STEP)
        self._recording.finish()
        self._outline = draw_outline(simulator.scene)
        self._tell("")

    def stop(self) -> None:
        """End `play` soon; may be called on any thread."""
        self._is_stopped = True

    def _note(self, director: Director | None, passed: float) -> None:
        simulator, view = self.replay.simulator, None
        rows = {row: row for row in sorted(self.replay.rows)}
        if director is not None:
            looks = {row: CarLook(row, simulator.get_body(row).colour) for row in director.entries}
            self._timing.note(director, simulator.ledger, simulator.list_events(), passed)
            view = self._timing.draw(director, looks)
        self._recording.note(simulator, rows, view, self.replay.time)

    def _tell(self, stage: str) -> None:
        self._stage = stage

    def _report_share(self, done: int, total: int) -> None:
        self._tell(f"playing the file, {math.floor(100.0 * done / max(total, 1))} %")

    # -- what is watched ----------------------------------------------------------------------------------------------

    @property
    def scene_name(self) -> str:
        """Name of the place."""
        return self.replay.simulator.scene.name

    @property
    def is_loading(self) -> bool:
        """Whether the file is still being played."""
        return bool(self._stage)

    @property
    def loading_stage(self) -> str:
        """How far that is."""
        return self._stage

    def outline(self) -> Outline | None:
        """Return the ground plan; None while loading."""
        return self._outline

    def time_line(self) -> TimeLine | None:
        """Return the whole race; None while loading."""
        return None if self.is_loading else self._recording.time_line()

    async def show_race(self, at: float | None) -> RaceView | None:
        """Return the race at a moment."""
        return None if self.is_loading else self._recording.find_view(at)

    async def list_cars(self, at: float | None = None) -> list[CarRow]:
        """Return the cars at a moment; see `Watchable`."""
        return [] if self.is_loading else self._recording.list_cars(at)

    async def take_picture(self, view: View, car_id: int, width: int, height: int, at: float | None = None) -> bytes:
        """Return a view of a car as JPEG; see `Watchable`."""
        return await asyncio.to_thread(self._recording.take_picture, view, car_id, width, height, at)

    async def take_moment(self, at: float | None = None) -> bytes:
        """Return where everything is at a moment; see `Watchable`."""
        return self._recording.take_moment(at)

    async def write_place(self) -> bytes:
        """Return the file of the place; see `Watchable`."""
        return await asyncio.to_thread(get_place_file, *self._recording.find_place())

    def joining(self) -> None:
        """Return None: it has been driven."""

    # -- what cannot be done ------------------------------------------------------------------------------------------

    async def set_pace_car(self, is_wanted: bool) -> None:
        """Refuse; see `Watchable`."""
        raise SceneError(f"the pace car stays {'away' if is_wanted else 'where it is'}; {_SHOWN}.")

    async def reset_car(self, car_id: int) -> None:
        """Refuse; see `Watchable`."""
        raise SpecError(f"car {car_id} cannot be put back; {_SHOWN}.")

    async def act(self, act: Act) -> None:
        """Refuse; see `ControllableRaces`."""
        raise SpecError(f"nobody can {act.__struct_config__.tag} here; {_SHOWN}.")

    async def start_race(self) -> None:
        """Refuse; see `ControllableRaces`."""
        raise SpecError(f"no race is waited for; {_SHOWN}.")


class ControllableRaces(WatchableRaces, Protocol):
    """Races that pages show, and what a race engineer may do to them."""

    async def show_race(self, at: float | None) -> RaceView | None:
        """Return the race at a moment of the time line [s], None: now; None: there is no race."""

    def joining(self) -> Joining | None:
        """Return how drivers join; None: they cannot."""

    async def act(self, act: Act) -> None:
        """Let the race engineer do something.

        Raises:
            SpecError: It is not possible now.
        """

    async def start_race(self) -> None:
        """Begin the race that is waited for.

        Raises:
            SpecError: None is.
        """


def list_race_routes(races: ControllableRaces) -> list[BaseRoute]:
    """Return the addresses of races, for `watch.spectator.create_app`."""
    doors = RaceDoors(races)
    return [
        Route("/race", doors.show),
        Route("/race/act", doors.act, methods=["POST"]),
        Route("/race/start", doors.start, methods=["POST"]),
        Route("/join.svg", doors.show_code),
    ]


class RaceDoors:
    """The endpoints."""

    def __init__(self, races: ControllableRaces) -> None:
        self._races = races

    async def show(self, _request: Request) -> Response:
        """Answer how the race stands, as JSON."""
        return answer_json(await self._races.show_race(None))

    async def act(self, request: Request) -> Response:
        """Let the race engineer do something."""
        await self._races.act(await read_question(request, Act, "an act of the race engineer is shorter"))
        return answer_json({})

    async def start(self, _request: Request) -> Response:
        """Begin the race that is waited for."""
        await self._races.start_race()
        return answer_json({})

    async def show_code(self, _request: Request) -> Response:
        """Answer the QR code of the address where phones join."""
        import segno  # only here: to import it takes longer than all of this page

        joining = self._races.joining()
        if joining is None:
            return Response("Nobody can join here.\n", 404, media_type="text/plain")
        drawing = io.BytesIO()
        segno.make(f"{joining.watch.rstrip('/')}/?join", micro=False).save(
            drawing, kind="svg", light="white", border=4, omitsize=True
        )
        return Response(drawing.getvalue(), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
