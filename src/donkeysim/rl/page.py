"""The live page of learning: curves, a map of where episodes ended, what the policy sees, its checks, and the result.

======================  ========================================================================================
`GET /`                 the page
`GET /places`           the tracks in the order of their index: `TrackMap`
`WebSocket /news`       `NewsRequest` in, `News` out as JSON text, once there is something that is not known yet
======================  ========================================================================================

The page lives on a thread with an event loop of its own; the thread that learns only leaves an update there.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from donkeysim.core.errors import SpecError
from donkeysim.core.types import FloatArray
from donkeysim.rl.curve import CurvePoint, CurveTracer
from donkeysim.rl.progress import Update
from donkeysim.watch.watchable import Outline, draw_outline
from donkeysim.web.page import answer_json, answer_questions, decode_question, make_page
from donkeysim.web.serving import PageServer, bind_port
from donkeysim.world.scene import Scene

if TYPE_CHECKING:
    import socket

PAGES = Path(__file__).parent / "pages"

DEFAULT_PORT = 8889

PATIENCE = 20.0
"""A page that is up to date is answered after this time [s]."""

LAST_WORDS = 3.0
"""How long a slow page that has not yet heard how learning ended is waited for [s]."""

STAY_BEAT = 0.5
"""How often a page that stays looks whether Ctrl-C was pressed, which some systems tell no longer wait [s]."""

MOST_POINTS = 2000
"""Of the curve that a page gets at once; of a longer one it gets every second, third … point."""

MARKED_UPDATES = 600
"""How many updates' ends the map shows."""

_log = logging.getLogger(__name__)

Ending = Literal["learnt", "time_up", "stopped"]
"""The policy passed its checks; there was no time left; somebody stopped it."""


@dataclass(frozen=True)
class TrainingSummary:
    """How learning ended, and what to do next: command lines as they are typed in a terminal; "": none.

    Attributes:
        ending: Why it ended.
        pilot: Path of the pilot's file; "": there is none.
        report: Path of the report; "": there is none.
        drive: Drives a car with the pilot.
        evaluate: Lets it drive laps and judges them.
        resume: Resumes learning.
    """

    ending: Ending
    pilot: str = ""
    report: str = ""
    drive: str = ""
    evaluate: str = ""
    resume: str = ""


class NewsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What a page knows: of which learning, and up to which number; -1: nothing."""

    learning: str
    number: int


class TrackMap(msgspec.Struct):
    """A track and its ground plan."""

    name: str
    outline: Outline


class PolicyView(msgspec.Struct):
    """What a policy saw, grey values row by row, and what it did then."""

    width: int
    height: int
    grey: bytes
    steering: float
    throttle: float


class CheckRow(msgspec.Struct):
    """The last check on a track, as `Check`."""

    scene: str
    laps: float
    wanted_laps: int
    departures: int
    cars: int
    speed: float
    wanted_speed: float
    is_passed: bool


class News(msgspec.Struct):
    """How things stand, and what was added since what a page knew.

    Attributes:
        learning: Which; another one begins with another program.
        number: Of these news.
        time_limit: After how many seconds learning ends at the latest.
        point: The newest figures; None before the first.
        curve: Further points: seconds, steps, reward, speed, ends.
        checked: Further checks: seconds, mean speed, whether all was passed.
        ended: Further ends of episodes: after how many steps, index of the place, x, y [m].
        sight: The newest.
        checks: The last ones.
        outcome: How learning ended; None: it lasts.
    """

    learning: str
    number: int
    time_limit: float
    point: CurvePoint | None
    curve: list[tuple[Any, ...]]
    checked: list[tuple[float, float, bool]]
    ended: list[tuple[float, ...]]
    sight: PolicyView | None
    checks: list[CheckRow]
    outcome: TrainingSummary | None


class Story:
    """What the pages show of one training; it grows on one thread and is read on another."""

    def __init__(self, history: Sequence[CurvePoint] = ()) -> None:
        """Begin with the points of earlier sessions."""
        self.name = secrets.token_hex(8)
        self.number = len(history)
        self.is_closed = False
        self._lock = threading.Lock()
        self._listeners: set[Callable[[], None]] = set()
        self._tracer = CurveTracer()
        self._points = list(history)
        self._ended: deque[tuple[int, int, FloatArray]] = deque(maxlen=MARKED_UPDATES)
        self._newest: Update | None = None
        self._outcome: TrainingSummary | None = None

    def add(self, update: Update) -> None:
        """Take an update; called by the thread that learns, so nothing is worked out here."""
        kept = replace(update, picture=update.picture.copy(), ended_at=np.array(update.ended_at))
        with self._lock:
            self.number += 1
            self._points.append(self._tracer.trace(kept))
            self._newest = kept
            if len(kept.ended_at):
                self._ended.append((self.number, kept.steps, kept.ended_at))
        self._wake()

    def finish(self, outcome: TrainingSummary) -> None:
        """Take how it ended."""
        with self._lock:
            self.number += 1
            self._outcome = outcome
        self._wake()

    def close(self) -> None:
        """Send no more; whoever still waits for news is to go."""
        self.is_closed = True
        self._wake()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function, on the thread that serves pages, whenever there is news; returns what ends that."""
        with self._lock:
            self._listeners.add(listener)

        def forget() -> None:
            with self._lock:
                self._listeners.discard(listener)

        return forget

    def tell(self, known: NewsRequest) -> News:
        """Return the news for a page that knows something already."""
        since = max(known.number, 0) if known.learning == self.name else 0
        with self._lock:
            number, points, newest, outcome = self.number, self._points[since:], self._newest, self._outcome
            last = self._points[-1] if self._points else None
            ended = [entry for entry in self._ended if entry[0] > since]
        tested = [point for point in points if point.checks]
        return News(
            learning=self.name,
            number=number,
            time_limit=newest.time_limit if newest else 0.0,
            point=last,
            curve=[_list_figures(point) for point in thin(points, MOST_POINTS)],
            checked=[_sum_up(point) for point in tested],
            ended=[(steps, *row) for _, steps, rows in ended for row in np.round(rows, 2).tolist()],
            sight=_show_sight(newest) if newest else None,
            checks=_list_checks(newest) if newest else [],
            outcome=outcome,
        )

    def _wake(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()


def thin(points: Sequence[CurvePoint], most: int) -> Sequence[CurvePoint]:
    """Return points at even distances, at most `most`, with the last among them."""
    step = -(-len(points) // most) or 1
    return points[(len(points) - 1) % step :: step] if points else points


class LearningPage:
    """The page's endpoints over one learning."""

    def __init__(self, story: Story, places: Mapping[str, Outline]) -> None:
        """Prepare.

        Args:
            places: Ground plans of the tracks by name, in the order of their index.
        """
        self._story = story
        self._places = [TrackMap(name, outline) for name, outline in places.items()]
        self._telling: set[asyncio.Task[Any]] = set()

    def create_app(self) -> ASGIApp:
        """Return the page as an ASGI app."""
        return make_page(PAGES, [Route("/places", self.show_places), WebSocketRoute("/news", self.serve_news)])

    async def wait_until_shown(self) -> None:
        """Wait, once the story is closed, until every page that looks knows its end, or `LAST_WORDS` are over."""
        if self._telling:
            await asyncio.wait(tuple(self._telling), timeout=LAST_WORDS)

    async def show_places(self, _request: Request) -> Response:
        """Answer the tracks."""
        return answer_json(self._places)

    async def serve_news(self, socket: WebSocket) -> None:
        """Answer every question of one page with news."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        forget = self._story.listen(lambda: _call_in(loop, news.set))
        telling = asyncio.ensure_future(answer_questions(socket, lambda question: self._answer_news(question, news)))
        self._telling.add(telling)
        try:
            await telling
        finally:
            self._telling.discard(telling)
            forget()

    async def _answer_news(self, question: str, news: asyncio.Event) -> News:
        known = decode_question(question, NewsRequest)
        news.clear()
        if not self._knows_all(known):
            return self._story.tell(known)
        if not self._story.is_closed:
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), PATIENCE)
        if self._story.is_closed and self._knows_all(known):
            raise WebSocketDisconnect(1001)
        return self._story.tell(known)

    def _knows_all(self, known: NewsRequest) -> bool:
        return (known.learning, known.number) == (self._story.name, self._story.number)


class LivePage:
    """A `Watch` that shows learning in browsers on this machine, until it is closed."""

    def __init__(self, listener: socket.socket, places: Mapping[str, Outline], history: Sequence[CurvePoint]) -> None:
        """Serve on a bound socket, which is closed at the end; see `open_page`."""
        self._story = Story(history)
        self._page = LearningPage(self._story, places)
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
        """Go on serving until Ctrl-C, if that is wanted: somebody reads how it went."""
        with suppress(KeyboardInterrupt):
            if is_wanted:
                _log.warning("The page stays at %s until Ctrl-C.", self.url)
            while is_wanted and self._thread.is_alive():
                self._thread.join(STAY_BEAT)

    def close(self) -> None:
        """Stop serving once every open page has heard how it ended; they keep what they show."""
        self._is_serving.wait()
        _call_in(self._loop, self._ending.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._ending = asyncio.get_running_loop(), asyncio.Event()
        self._is_serving.set()
        await self._server.start()
        await self._ending.wait()
        self._story.close()
        await self._page.wait_until_shown()
        await self._server.stop()


def open_page(port: int, scenes: Mapping[str, Scene], history: Sequence[CurvePoint] = ()) -> LivePage | None:
    """Return a page that is served on a port or the next free one; None when none is wanted, or no port is free.

    Args:
        port: The first to try; 0: no page.
        scenes: The tracks by the names that people know, in the order of the index in `Update.ended_at`.
        history: The curve of earlier sessions of the same training.
    """
    if port == 0:
        return None
    try:
        listener = bind_port(port)
    except SpecError as error:
        _log.warning("no page: %s", error)
        return None
    return LivePage(listener, {name: draw_outline(scene) for name, scene in scenes.items()}, history)


def _call_in(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop has ended meanwhile
        loop.call_soon_threadsafe(function)


def _list_figures(point: CurvePoint) -> tuple[Any, ...]:
    figures = (point.reward, point.speed, point.ends)
    return (round(point.seconds, 1), point.steps, *(None if value is None else round(value, 4) for value in figures))


def _sum_up(point: CurvePoint) -> tuple[float, float, bool]:
    speed = sum(check.speed for check in point.checks) / len(point.checks)
    return (round(point.seconds, 1), speed, all(check.is_passed for check in point.checks))


def _show_sight(update: Update) -> PolicyView:
    height, width = update.picture.shape
    steering, throttle = update.action
    return PolicyView(width, height, update.picture.tobytes(), steering, throttle)


def _list_checks(update: Update) -> list[CheckRow]:
    return [CheckRow(**{name: getattr(check, name) for name in CheckRow.__struct_fields__}) for check in update.checks]
