"""What the watching page has for races: acts of the race engineer, the start, how phones find it, pages for screens.

=====================  =============================================================================
`GET /race`            `RaceView` of this moment, null where there is no race
`POST /race/act`       `Act` of `racing.rules.act`: pause, continue, restart, put back, penalise, undo
`POST /race/start`     begin the race that is waited for in the paddock
`GET /join.svg`        QR code of the address where phones join; 404 where nobody can
`GET /wall`            the page, for a projector
`GET /overlay`         tower, flag and clock alone, for streaming software
=====================  =============================================================================
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from donkeysim.core.errors import WireError
from donkeysim.racing.rules.act import Act
from donkeysim.watch.watchable import Watchable
from donkeysim.web.body import read_body
from donkeysim.web.files import answer_file
from donkeysim.web.page import answer_json, decode_question

BODY_LIMIT = 4096
"""Longest body of a POST [byte]."""


def list_race_routes(watchable: Watchable, folder: Path) -> list[BaseRoute]:
    """Return the addresses of the races of a simulation, whose pages lie in a folder."""
    races = RaceDoors(watchable)
    return [
        Route("/race", races.show),
        Route("/race/act", races.act, methods=["POST"]),
        Route("/race/start", races.start, methods=["POST"]),
        Route("/join.svg", races.show_code),
        Route("/wall", answer_file(folder / "index.html")),
        Route("/overlay", answer_file(folder / "overlay.html")),
    ]


class RaceDoors:
    """The endpoints."""

    def __init__(self, watchable: Watchable) -> None:
        self._watchable = watchable

    async def show(self, _request: Request) -> Response:
        """Answer how the race stands, as JSON."""
        return answer_json(await self._watchable.show_race(None))

    async def act(self, request: Request) -> Response:
        """Let the race engineer do something."""
        await self._watchable.act(await read_question(request, Act, "an act of the race engineer is shorter"))
        return answer_json({})

    async def start(self, _request: Request) -> Response:
        """Begin the race that is waited for."""
        await self._watchable.start_race()
        return answer_json({})

    async def show_code(self, _request: Request) -> Response:
        """Answer the QR code of the address where phones join."""
        import segno  # only here: to import it takes longer than all of this page

        joining = self._watchable.joining()
        if joining is None:
            return Response("Nobody can join here.\n", 404, media_type="text/plain")
        drawing = io.BytesIO()
        segno.make(f"{joining.watch.rstrip('/')}/?join", micro=False).save(
            drawing, kind="svg", light="white", border=4, omitsize=True
        )
        return Response(drawing.getvalue(), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


async def read_question(request: Request, kind: Any, advice: str) -> Any:
    """Return what the body of a POST asks for.

    Args:
        request: The POST.
        kind: Its struct, or several of which it is one.
        advice: What is said of a body that is too long; ends the sentence.

    Raises:
        WireError: It is not such a question.
    """
    too_long = WireError(f"the request is longer than {BODY_LIMIT} bytes; {advice}.")
    return decode_question(await read_body(request, BODY_LIMIT, too_long), kind)
