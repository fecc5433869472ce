"""The live page of learning: curves, a map of where episodes ended, what the policy sees, its checks, and the result.

======================  ========================================================================================
`GET /`                 the page
`GET /places`           the tracks in the order of their index: `TrackMap`
`GET /place.glb`        the first track, as `watch.place_model` writes it
`WebSocket /moments`    `MomentRequest` in, where some of the cars are out, a `PlaceMoment` as JSON
`WebSocket /news`       `NewsRequest` in, `News` out as JSON text, once there is something that is not known yet
======================  ========================================================================================

The page lives on a thread with an event loop of its own; the thread that learns only leaves an update there.
"""

import asyncio
import logging
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from donkeysim.core.errors import SpecError
from donkeysim.rl.curve import CurvePoint
from donkeysim.rl.ghosts import Ghosts
from donkeysim.rl.progress import Update
from donkeysim.rl.story import News, NewsRequest, Story, TrackMap, TrainingSummary
from donkeysim.watch.messages import MomentRequest
from donkeysim.watch.watchable import NewMoments, Outline, draw_outline
from donkeysim.web.page import GLB, answer_json, answer_questions, call_in, decode_question, make_page
from donkeysim.web.serving import PageServer, bind_port
from donkeysim.world.scene import Scene

PAGES = Path(__file__).parent / "pages"

DEFAULT_PORT = 8889

PATIENCE = 20.0
"""A page that is up to date is answered after this time [s]."""

LAST_WORDS = 3.0
"""How long a slow page that has not yet heard how learning ended is waited for [s]."""

STAY_BEAT = 0.5
"""How often a page that stays looks whether Ctrl-C was pressed, which some systems report to no longer wait [s]."""

_log = logging.getLogger(__name__)


class LearningPage:
    """The page's endpoints over one learning."""

    def __init__(self, story: Story, places: Mapping[str, Outline], ghosts: Ghosts | None = None) -> None:
        """Prepare.

        Args:
            places: Ground plans of the tracks by name, in the order of their index.
            ghosts: Cars that people may watch; None: nobody can.
        """
        self._story, self._ghosts = story, ghosts
        self._places = [TrackMap(name, outline) for name, outline in places.items()]
        self._telling: set[asyncio.Task[Any]] = set()

    def create_app(self) -> ASGIApp:
        """Return the page as an ASGI app."""
        routes = [
            Route("/places", self.show_places),
            Route("/place.glb", self.show_place),
            WebSocketRoute("/news", self.serve_news),
            WebSocketRoute("/moments", self.serve_moments),
        ]
        return make_page(PAGES, routes)

    async def wait_until_shown(self) -> None:
        """Wait, once the story is closed, until every page that looks knows its end, or `LAST_WORDS` are over."""
        if self._telling:
            await asyncio.wait(tuple(self._telling), timeout=LAST_WORDS)

    async def show_places(self, _request: Request) -> Response:
        """Answer the tracks."""
        return answer_json(self._places)

    async def show_place(self, _request: Request) -> Response:
        """Answer the file of the first track."""
        content = None if self._ghosts is None else await asyncio.to_thread(self._ghosts.write_place)
        if content is None:
            raise SpecError("no car can be watched yet; ask again once learning has begun.")
        return Response(content, media_type=GLB)

    async def serve_moments(self, socket: WebSocket) -> None:
        """Answer each question with where the cars are, as soon as that is new."""
        if self._ghosts is None:
            await socket.close()
            return
        moments = NewMoments(self._ghosts.take_moment)

        async def answer_moment(question: str) -> bytes:
            decode_question(question, MomentRequest)
            return await moments.take()

        await answer_questions(socket, answer_moment)

    async def serve_news(self, socket: WebSocket) -> None:
        """Answer every question of one page with news."""
        with self._story.bell.heard() as news:
            answering = answer_questions(socket, lambda question: self._answer_news(question, news))
            telling = asyncio.ensure_future(answering)
            self._telling.add(telling)
            try:
                await telling
            finally:
                self._telling.discard(telling)

    async def _answer_news(self, question: str, news: asyncio.Event) -> News:
        known = decode_question(question, NewsRequest)
        news.clear()
        if not self._knows_all(known):
            return self._story.describe(known)
        if not self._story.is_closed:
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), PATIENCE)
        if self._story.is_closed and self._knows_all(known):
            raise WebSocketDisconnect(1001)
        return self._story.describe(known)

    def _knows_all(self, known: NewsRequest) -> bool:
        return (known.learning, known.number) == (self._story.name, self._story.number)


class LivePage:
    """A `Watch` that shows learning in browsers on this machine, until it is closed."""

    def __init__(
        self,
        listener: socket.socket,
        places: Mapping[str, Outline],
        history: Sequence[CurvePoint],
        ghosts: Ghosts | None = None,
    ) -> None:
        """Serve on a bound socket, which is closed at the end; see `open_page`."""
        self._story = Story(history)
        self._page = LearningPage(self._story, places, ghosts)
        self._server = PageServer(self._page.create_app(), listener)
        self.url = self._server.address
        self._is_serving = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="learning page", daemon=True)
        self._thread.start()

    def __call__(self, update: Update) -> None:
        """Show an update."""
        self._story.add(update)

    def finish(self, outcome: TrainingSummary) -> None:
        """Show how learning ended."""
        self._story.finish(outcome)

    def stay(self, is_wanted: bool) -> None:
        """Keep serving until Ctrl-C, if that is wanted: somebody reads how it went."""
        with suppress(KeyboardInterrupt):
            if is_wanted:
                _log.warning("The page stays at %s until Ctrl-C.", self.url)
            while is_wanted and self._thread.is_alive():
                self._thread.join(STAY_BEAT)

    def close(self) -> None:
        """Stop serving once every open page has heard how it ended; they keep what they show."""
        self._is_serving.wait()
        call_in(self._loop, self._ending.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._ending = asyncio.get_running_loop(), asyncio.Event()
        self._is_serving.set()
        async with self._server:
            await self._ending.wait()
            self._story.close()
            await self._page.wait_until_shown()


def open_page(
    port: int, scenes: Mapping[str, Scene], history: Sequence[CurvePoint] = (), ghosts: Ghosts | None = None
) -> LivePage | None:
    """Return a page that is served on a port or the next free one; None when none is wanted, or no port is free.

    Args:
        port: The first to try; 0: no page.
        scenes: The tracks by the names that people know, in the order of the index in `Update.ended_at`.
        history: The curve of earlier sessions of the same training.
        ghosts: Cars that people may watch on it.
    """
    if port == 0:
        return None
    try:
        listener = bind_port(port)
    except SpecError as error:
        _log.warning("no page: %s", error)
        return None
    return LivePage(listener, {name: draw_outline(scene) for name, scene in scenes.items()}, history, ghosts)
