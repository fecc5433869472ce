"""What the watching page has for races: acts of the race engineer, the start, how phones find it.

=====================  =============================================================================
`GET /race`            `RaceView` of this moment, null where there is no race
`POST /race/act`       `Act` of `racing.rules.act`: pause, continue, restart, put back, penalise, undo
`POST /race/start`     begin the race that is waited for in the paddock
`GET /join.svg`        QR code of the address where phones join; 404 where nobody can
=====================  =============================================================================
"""

from __future__ import annotations

import io
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from donkeysim.racing.rules.act import Act
from donkeysim.racing.show.race_view import Joining, RaceView
from donkeysim.watch.watchable import WatchableRaces
from donkeysim.web.page import answer_json, read_question


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
