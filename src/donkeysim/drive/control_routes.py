"""The addresses of the control page; those of the original, with the same answers.

=====================  ==========================================================================
`GET /`                on to `/drive`
`GET /drive`           the page
`POST /drive`          a `ControlMessage`; 200 with an empty body, or 400 with one sentence
`WebSocket /wsDrive`   `ControlMessage`s in; news out; `?reports=1`: reports of the car too
`GET /video`           what the car sees, MJPEG
`WebSocket /picture`   `ViewRequest` in as JSON text, a drawn view as JPEG out (or `Refusal` as text)
`GET /calibrate`       a sentence: a simulated car has nothing to calibrate
`GET /wsTest`          a page that tries the WebSocket
=====================  ==========================================================================
"""

from pathlib import Path
from typing import Literal

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from donkeysim.core.errors import DonkeySimError, SceneError, WireError
from donkeysim.drive.control_link import ControlLink
from donkeysim.drive.control_state import MESSAGE_LIMIT, ControlState, read_message
from donkeysim.drive.drawn_views import OpenViews
from donkeysim.watch.messages import MomentRequest, PixelCount
from donkeysim.web.access import Access, read_body
from donkeysim.web.error_answers import ErrorAnswers
from donkeysim.web.limits import PictureTurns, RateLimitedRequests, find_client
from donkeysim.web.mjpeg import PictureStream
from donkeysim.web.origin import OriginCheck
from donkeysim.web.page import GLB, SHARED_FOLDER, PageFiles, answer_file, answer_questions, decode_question
from donkeysim.web.token import TokenCheck

PAGES = Path(__file__).parent / "pages" / "control"

_NOTHING_TO_CALIBRATE = "A simulated car has nothing to calibrate; drive it at /drive.\n"
_UPGRADE_ONLY = "This address only speaks WebSocket; programs without it may POST to /drive.\n"


class ViewRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The next drawn view of the car: which, and how many pixels at most."""

    view: Literal["chase", "seat"]
    width: PixelCount
    height: PixelCount


def create_app(
    state: ControlState, link: ControlLink, stream: PictureStream, access: Access, views: OpenViews | None = None
) -> ASGIApp:
    """Return the page as an ASGI app.

    Args:
        state: Takes what drivers want.
        link: Serves WebSockets.
        stream: What the car sees.
        access: Who reaches the page; others in the network must know its token, to read too.
        views: Draws the car for people; None: nobody can.
    """
    endpoints = Endpoints(state, stream, views)
    guard = [Middleware(OriginCheck, hosts=access.hosts, programs_may=True), Middleware(RateLimitedRequests)]
    if access.token is not None:
        guard.append(Middleware(TokenCheck, token=access.token))
    app = Starlette(
        routes=[
            Route("/", RedirectResponse("/drive", status_code=301), methods=["GET"]),
            Route("/drive", answer_file(PAGES / "index.html"), methods=["GET"]),
            Route("/drive", endpoints.take_message, methods=["POST"]),
            WebSocketRoute("/wsDrive", link.serve),
            Route("/wsDrive", PlainTextResponse(_UPGRADE_ONLY, status_code=400), methods=["GET"]),
            Route("/video", endpoints.show_video),
            WebSocketRoute("/picture", endpoints.serve_views),
            WebSocketRoute("/moments", endpoints.serve_moments),
            Route("/place.glb", endpoints.show_place),
            Route("/calibrate", PlainTextResponse(_NOTHING_TO_CALIBRATE), methods=["GET"]),
            Route("/wsTest", answer_file(PAGES / "socket_test.html")),
            Mount("/shared", PageFiles(directory=SHARED_FOLDER)),
            Mount("/static", PageFiles(directory=PAGES)),
        ],
        middleware=guard,
    )
    return ErrorAnswers(app)


class Endpoints:
    """The page's answers."""

    def __init__(self, state: ControlState, stream: PictureStream, views: OpenViews | None) -> None:
        self._state = state
        self._stream = stream
        self._views = views
        self._turns = PictureTurns()

    async def take_message(self, request: Request) -> Response:
        """Follow what a program wants."""
        too_long = WireError(f"the message is longer than {MESSAGE_LIMIT} bytes; nothing was changed.")
        try:
            self._state.take(read_message(await read_body(request, MESSAGE_LIMIT, too_long)))
        except ClientDisconnect:
            return Response(status_code=400)
        except DonkeySimError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)
        return Response(media_type="text/html")

    async def show_video(self, _request: Request) -> Response:
        """Answer what the car sees, without end."""
        return self._stream.answer()

    async def serve_views(self, socket: WebSocket) -> None:
        """Answer each request of a drawn view with a picture, when it is the viewer's turn."""
        if self._views is None:
            await socket.close()
            return
        client = find_client(socket.scope)
        async with self._views() as views:

            async def answer_view(question: str) -> bytes:
                wanted = decode_question(question, ViewRequest)
                async with self._turns.take(client):
                    return await views.take(wanted.view, wanted.width, wanted.height)

            await answer_questions(socket, answer_view)

    async def serve_moments(self, socket: WebSocket) -> None:
        """Answer each question with where everything is, as soon as that is new."""
        if self._views is None:
            await socket.close()
            return
        async with self._views() as views:

            async def answer_moment(question: str) -> bytes:
                if decode_question(question, MomentRequest).at is not None:
                    raise SceneError("of a car that is driven nothing of the past is kept; ask for now.")
                return await views.take_moment()

            await answer_questions(socket, answer_moment)

    async def show_place(self, _request: Request) -> Response:
        """Answer the file of the place that the car is in."""
        try:
            if self._views is None:
                raise SceneError("nobody can draw this car from outside.")
            async with self._views() as views:
                return Response(await views.write_place(), media_type=GLB)
        except DonkeySimError as error:
            return PlainTextResponse(f"{error}\n", status_code=409)
