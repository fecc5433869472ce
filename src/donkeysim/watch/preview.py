"""The page of a track that somebody is writing: map, driver's view and figures, new after every saved change.

======================  ===========================================================================
`GET /`                 the page
`WebSocket /state`      `StateRequest` in, `StateReply` out as JSON text, once it differs from what is known
`GET /map`              the last good place from above, JPEG; `longest` side [pixel]
`GET /view`             what a driver sees, JPEG; `at`: share of the path, `width`, `height` [pixel]
======================  ===========================================================================

References:
    `watch.spectator`: the page of a running simulator, built the same way.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from donkeysim.core.errors import DonkeySimError, WireError
from donkeysim.watch.track_watch import TrackOutline, TrackState, TrackWatch
from donkeysim.web.files import SHARED_FOLDER, PageFiles, answer_file
from donkeysim.web.headers import PageHeaders
from donkeysim.web.origin import OriginCheck
from donkeysim.world.tracks.figures import LineFigures, SceneFigures

PAGES = Path(__file__).parent / "preview_pages"

PATIENCE = 20.0
"""After so long an unchanged state is told again [s]."""

PIXELS = (16, 2048)
"""Least and most pixels of a picture's side."""

_encode = msgspec.json.Encoder().encode

Points = list[tuple[float, float]]


class StateRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The number of the state that a page knows; another one is answered as soon as there is one."""

    number: int


class OutlineReply(msgspec.Struct):
    """Path and edges of the newest road [m]."""

    path: Points
    left: Points
    right: Points
    is_closed: bool


class FiguresReply(msgspec.Struct):
    """See `LineFigures` and `SceneFigures`; None: there is no such turn, or the place is not built yet."""

    length: float
    is_closed: bool
    turns: int
    node_count: int
    width: tuple[float, float]
    size: tuple[float, float]
    radius_left: float | None
    radius_right: float | None
    height: tuple[float, float] | None
    slope: float | None
    start_lines: int | None
    grid: int | None
    standing: dict[str, int] | None
    movable: dict[str, int] | None


class StateReply(msgspec.Struct):
    """See `TrackState`."""

    number: int
    name: str
    path: str
    is_building: bool
    error: str
    picture: int
    box: tuple[float, float, float, float]
    outline: OutlineReply | None
    figures: FiguresReply | None


class Refusal(msgspec.Struct):
    """Why something was not done, one sentence."""

    error: str


def create_app(watch: TrackWatch) -> Starlette:
    """Return the page of a started watch as an ASGI app."""
    page = PreviewPage(watch)
    return Starlette(
        routes=[
            Route("/", answer_file(PAGES / "index.html")),
            WebSocketRoute("/state", page.serve_state),
            Route("/map", page.show_map),
            Route("/view", page.show_view),
            Mount("/shared", PageFiles(directory=SHARED_FOLDER)),
            Mount("/pages", PageFiles(directory=PAGES)),
        ],
        middleware=[Middleware(PageHeaders), Middleware(OriginCheck)],
        exception_handlers={DonkeySimError: _answer_refusal},
    )


class PreviewPage:
    """The page's endpoints over one watch."""

    def __init__(self, watch: TrackWatch) -> None:
        self._watch = watch

    async def serve_state(self, socket: WebSocket) -> None:
        """Answer every question of one page with a state that it does not know yet."""
        await socket.accept()
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        forget = self._watch.listen(lambda: _wake(loop, news))
        try:
            with suppress(WebSocketDisconnect):
                async for text in socket.iter_text():
                    await socket.send_text(_encode(await self._answer_state(text, news)).decode())
        finally:
            forget()

    async def show_map(self, request: Request) -> Response:
        """Answer the map."""
        longest = _read_number(request, "longest", *PIXELS)
        return _answer_picture(await run_in_threadpool(self._watch.draw_map, max(64, int(longest))))

    async def show_view(self, request: Request) -> Response:
        """Answer the driver's view."""
        share = _read_number(request, "at", 0.0, 1.0)
        width, height = (int(_read_number(request, side, *PIXELS)) for side in ("width", "height"))
        return _answer_picture(await run_in_threadpool(self._watch.draw_drivers_view, share, width, height))

    async def _answer_state(self, question: str, news: asyncio.Event) -> StateReply | Refusal:
        try:
            known = msgspec.json.decode(question, type=StateRequest).number
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return Refusal(f"the page asked for something that does not exist: {error}.")
        news.clear()
        if self._watch.state.number == known:
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), PATIENCE)
        return describe_state(self._watch.state, self._watch.path)


def describe_state(state: TrackState, path: Path) -> StateReply:
    """Return a state as a page is told it."""
    return StateReply(
        number=state.number,
        name=path.stem,
        path=str(path),
        is_building=state.is_building,
        error=state.error,
        picture=state.picture,
        box=state.box,
        outline=None if state.outline is None else _describe_outline(state.outline),
        figures=None if state.line is None else _describe_figures(state.line, state.scene),
    )


def _describe_outline(outline: TrackOutline) -> OutlineReply:
    path, left, right = (points.round(3).tolist() for points in (outline.path, outline.left, outline.right))
    return OutlineReply(path, left, right, outline.is_closed)


def _describe_figures(line: LineFigures, scene: SceneFigures | None) -> FiguresReply:
    return FiguresReply(
        length=line.length,
        is_closed=line.is_closed,
        turns=line.turns,
        node_count=line.node_count,
        width=line.width,
        size=line.size,
        radius_left=line.radius_left if math.isfinite(line.radius_left) else None,
        radius_right=line.radius_right if math.isfinite(line.radius_right) else None,
        height=None if scene is None else scene.height,
        slope=None if scene is None else scene.slope,
        start_lines=None if scene is None else scene.start_lines,
        grid=None if scene is None else scene.grid,
        standing=None if scene is None else scene.standing,
        movable=None if scene is None else scene.movable,
    )


def _wake(loop: asyncio.AbstractEventLoop, news: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop has ended meanwhile
        loop.call_soon_threadsafe(news.set)


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
        raise WireError("there is no picture yet; the track's file has a mistake, or is being built.")
    return Response(content, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


async def _answer_refusal(_request: Request, error: Exception) -> Response:
    return Response(_encode(Refusal(str(error))), status_code=409, media_type="application/json")
