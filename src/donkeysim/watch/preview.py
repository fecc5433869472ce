"""The page of a track that somebody is writing: map, driver's view and figures, new after every saved change.

======================  ===========================================================================
`GET /`                 the page
`WebSocket /state`      `PreviewRequest` in, `describe_state` out as JSON text, once it differs from what is known
`GET /map`              the last good place from above, JPEG; `longest` side [pixel]
`GET /view`             what a driver sees, JPEG; `at`: share of the path, `width`, `height` [pixel]
======================  ===========================================================================

References:
    `watch.spectator`: the page of a running simulator, built the same way.
"""

import asyncio
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from donkeysim.core.errors import WireError
from donkeysim.watch.messages import MomentRequest
from donkeysim.watch.moments import PlaceMoment, describe_place, get_place_file
from donkeysim.watch.track_watch import TrackState, TrackWatch
from donkeysim.web.page import GLB, answer_questions, decode_question, make_page
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec

PAGES = Path(__file__).parent / "preview_pages"

# Proxies and phones close what is silent for 30 s or more.
PATIENCE = 20.0
"""An unchanged state is sent again after this time [s]."""

_NO_PICTURE = "there is no picture yet; the track's file has a mistake, or the track is still being built."

PIXELS = (16, 2048)
"""Least and most pixels of a picture's side."""


class PreviewRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The number of the state that a page knows; another one is answered as soon as there is one."""

    number: int


def create_app(watch: TrackWatch) -> ASGIApp:
    """Return the page of a started watch as an ASGI app."""
    page = PreviewPage(watch)
    routes = [
        WebSocketRoute("/state", page.serve_state),
        WebSocketRoute("/moments", page.serve_moments),
        Route("/place.glb", page.show_place),
        Route("/map", page.show_map),
        Route("/view", page.show_view),
    ]
    return make_page(PAGES, routes)


class PreviewPage:
    """The page's endpoints over one watch."""

    def __init__(self, watch: TrackWatch) -> None:
        self._watch = watch

    async def serve_state(self, socket: WebSocket) -> None:
        """Answer every question of one page with a state that it does not know yet."""
        with self._watch.bell.heard() as news:
            await answer_questions(socket, lambda question: self._answer_state(question, news))

    async def serve_moments(self, socket: WebSocket) -> None:
        """Answer each question with the last good place, in which nothing moves."""

        async def answer_moment(question: str) -> PlaceMoment:
            decode_question(question, MomentRequest)
            scene, car = self._require_place()
            return describe_place(scene, car.camera)

        await answer_questions(socket, answer_moment)

    async def show_place(self, _request: Request) -> Response:
        """Answer the file of the last good place."""
        return Response(await run_in_threadpool(get_place_file, *self._require_place()), media_type=GLB)

    def _require_place(self) -> tuple[Scene, CarSpec]:
        place = self._watch.find_place()
        if place is None:
            raise WireError(_NO_PICTURE)
        return place

    async def show_map(self, request: Request) -> Response:
        """Answer the map."""
        longest = _read_number(request, "longest", *PIXELS)
        return _answer_picture(await run_in_threadpool(self._watch.draw_map, max(64, int(longest))))

    async def show_view(self, request: Request) -> Response:
        """Answer the driver's view."""
        share = _read_number(request, "at", 0.0, 1.0)
        width, height = (int(_read_number(request, side, *PIXELS)) for side in ("width", "height"))
        return _answer_picture(await run_in_threadpool(self._watch.draw_drivers_view, share, width, height))

    async def _answer_state(self, question: str, news: asyncio.Event) -> dict[str, Any]:
        known = decode_question(question, PreviewRequest).number
        news.clear()
        if self._watch.state.number == known and not self._watch.is_closed:
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), PATIENCE)
        if self._watch.is_closed:
            raise WebSocketDisconnect(1001)
        return describe_state(self._watch.state, self._watch.path)


def describe_state(state: TrackState, path: Path) -> dict[str, Any]:
    """Return a state as a page gets it: name and path of the file, and `TrackState` but for its kinds of figures.

    They come together as `figures`, those of the place once there is one; an infinite radius comes as null.
    """
    figures = None if state.line is None else {**vars(state.line), **(vars(state.scene) if state.scene else {})}
    settings = {name: value for name, value in vars(state).items() if name not in ("line", "scene")}
    return {"name": path.stem, "path": str(path), **settings, "figures": figures}


def _read_number(request: Request, name: str, low: float, high: float) -> float:
    try:
        value = float(request.query_params[name])
    except (KeyError, ValueError):
        value = math.nan
    if not low <= value <= high:
        raise WireError(f"{name} is a number from {low:g} to {high:g}.")
    return value


def _answer_picture(content: bytes | None) -> Response:
    if content is None:
        raise WireError(_NO_PICTURE)
    return Response(content, media_type="image/jpeg", headers={"Cache-Control": "no-store"})
