"""What pages have in common: their files, who may ask, answers as JSON, and refusals of one sentence.

Files have media types of our own: those of the operating system may be missing or wrong.
"""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope
from starlette.websockets import WebSocket, WebSocketDisconnect

from donkeysim.core.errors import DonkeySimError, WireError
from donkeysim.web.access import THIS_MACHINE, Access, read_body
from donkeysim.web.error_answers import ErrorAnswers
from donkeysim.web.limits import RateLimitedRequests
from donkeysim.web.origin import OriginCheck
from donkeysim.web.token import TokenCheck

NOT_TEXT = 1003
"""Why a WebSocket is closed that says something in binary (RFC 6455, section 7.4.1)."""

BODY_LIMIT = 4096
"""Longest body of a POST with a question [byte]."""

MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
"""Only files with these endings are served."""

GLB = "model/gltf-binary"
"""Media type of a place's file."""

SHARED_FOLDER = Path(__file__).parent / "static"
"""Style, icon, scripts and pictures that all pages share; a page mounts it at /shared."""

SCENE_PICTURES = SHARED_FOLDER / "scenes"
"""A picture of each scene of the menu, by its name."""


class Bell:
    """Rung, on any thread, when there is news for pages.

    Attributes:
        listeners: Functions that are called then, on the thread that rings.
    """

    def __init__(self) -> None:
        self.listeners: set[Callable[[], object]] = set()
        self._lock = threading.Lock()

    def ring(self) -> None:
        """Let everybody know."""
        with self._lock:
            listeners = tuple(self.listeners)
        for listener in listeners:
            listener()

    @contextmanager
    def heard(self) -> Iterator[asyncio.Event]:
        """Yield what is set, in the running loop, whenever the bell is rung within the block."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def listener() -> None:
            call_in(loop, news.set)

        with self._lock:
            self.listeners.add(listener)
        try:
            yield news
        finally:
            with self._lock:
                self.listeners.discard(listener)


def call_in(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *arguments: Any) -> None:
    """Call a function on the thread of a loop, unless that has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function, *arguments)


class _Number(IntegerConvertor):
    regex = "[0-9]{1,9}"


register_url_convertor("number", _Number())
"""In the paths of routes: a number of a thing, which has nine digits at most."""


class Refusal(msgspec.Struct):
    """Why something was not done, one sentence."""

    error: str


def make_page(folder: Path, routes: Sequence[BaseRoute], access: Access = THIS_MACHINE) -> ASGIApp:
    """Return a page as an ASGI app; a `DonkeySimError` of a route is answered with a `Refusal` and status 409.

    Args:
        folder: Its files, at /pages; `index.html` is the page itself, and what pages share is at /shared.
        routes: Its other addresses; WebSockets and GET change nothing.
        access: Who reaches it: whoever does may read, and with the token change something.
    """
    files = [Mount("/shared", PageFiles(directory=SHARED_FOLDER)), Mount("/pages", PageFiles(directory=folder))]
    return guard_routes([Route("/", answer_file(folder / "index.html")), *routes, *files], access)


def guard_routes(routes: Sequence[BaseRoute], access: Access, *, programs_may: bool = False) -> ASGIApp:
    """Return addresses as an ASGI app that looks at who asks, and how often.

    Args:
        programs_may: Whether programs, which name no Origin, may change something; then who reads needs the token, too.
    """
    guard = [Middleware(OriginCheck, hosts=access.hosts, programs_may=programs_may), Middleware(RateLimitedRequests)]
    if access.token is not None:
        guard.append(Middleware(TokenCheck, token=access.token, anybody_may_read=not programs_may))

    async def answer_refusal(_request: Request, error: Exception) -> Response:
        return answer_json(Refusal(str(error)), 409)

    app = Starlette(routes=routes, middleware=guard, exception_handlers={DonkeySimError: answer_refusal})
    return ErrorAnswers(app)


def answer_json(value: Any, status_code: int = 200) -> Response:
    """Return a value as an answer; numbers of arrays are rounded to three places."""
    return Response(_encode(value), status_code=status_code, media_type="application/json")


async def answer_questions(socket: WebSocket, answer: Callable[[str], Awaitable[Any]]) -> None:
    """Answer one question of a page after another: bytes as they are, the rest and refusals as JSON text."""
    await socket.accept()
    with suppress(WebSocketDisconnect):
        while True:
            received = await socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            if received.get("text") is None:
                await socket.close(NOT_TEXT, "questions are text")
                return
            try:
                reply = await answer(received["text"])
            except DonkeySimError as error:
                reply = Refusal(str(error))
            if isinstance(reply, bytes):
                await socket.send_bytes(reply)
            else:
                await socket.send_text(_encode(reply).decode())


def decode_question(text: str | bytes, kind: type[Any]) -> Any:
    """Return what a page asks, as a struct.

    Raises:
        WireError: It is not such a question.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WireError(f"the page asked for something that does not exist: {error}.") from error


async def read_question(request: Request, kind: Any, advice: str) -> Any:
    """Return what the body of a POST asks for.

    Args:
        kind: Its struct, or several of which it is one.
        advice: What is said of a body that is too long; ends the sentence.

    Raises:
        WireError: It is not such a question.
    """
    too_long = WireError(f"the request is longer than {BODY_LIMIT} bytes; {advice}.")
    return decode_question(await read_body(request, BODY_LIMIT, too_long), kind)


_encode = msgspec.json.Encoder(enc_hook=lambda array: np.round(array, 3).tolist()).encode


def answer_file(path: Path) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page: it answers an HTML file."""

    async def show_file(_request: Request) -> Response:
        return FileResponse(path, media_type="text/html; charset=utf-8")

    return show_file


class PageFiles(StaticFiles):
    """A folder of static files; anything without a known ending does not exist."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return the file's answer with the media type of `MEDIA_TYPES`."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        media_type = MEDIA_TYPES[Path(full_path).suffix]
        response.headers["content-type"] = (
            media_type if media_type.startswith("image/") else f"{media_type}; charset=utf-8"
        )
        return response

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return where the file lies, or that there is none."""
        is_file = Path(path).suffix in MEDIA_TYPES and "\0" not in path  # in which Starlette before 1.0 finds no answer
        return super().lookup_path(path) if is_file else ("", None)
