"""The control page as a part of the car: what people in a browser, on a phone or in a program want, and what they see.

It works in a thread of its own with an event loop. The vehicle's loop hands over the car's state and takes the drivers'
wishes without ever waiting. The addresses are those of the original, with the same answers:

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

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from donkeysim.car.config import Config
from donkeysim.core.errors import DonkeySimError, SceneError, SpecError, WireError, describe_unknown
from donkeysim.core.types import ByteArray
from donkeysim.drive.control_link import ControlLink
from donkeysim.drive.control_report import CarReport, HitMemory, make_report
from donkeysim.drive.control_state import MESSAGE_LIMIT, ControlCommand, ControlState, Tick, read_message
from donkeysim.drive.drawn_views import OpenViews, find_views
from donkeysim.drive.look import Look, Traveller, dress_car, keep_look
from donkeysim.drive.parts.driving import MODES
from donkeysim.watch.messages import MomentRequest, PixelCount
from donkeysim.web.access import Access, arrange_access, read_body
from donkeysim.web.limits import PictureTurns, find_client
from donkeysim.web.mjpeg import PictureStream
from donkeysim.web.page import (
    GLB,
    SHARED_FOLDER,
    PageFiles,
    answer_file,
    answer_questions,
    call_in,
    decode_question,
    guard_routes,
)
from donkeysim.web.serving import PageServer, bind_exactly
from donkeysim.web.token import keep_token
from donkeysim.world.telemetry import Telemetry

PAGES = Path(__file__).parent / "pages" / "control"

LOCAL_HOST = "127.0.0.1"
SECRETS_FOLDER = ".web"
"""In the car's folder: certificate, its key, and the token."""

SOCKET_LIMIT = 1024 * 1024
"""A WebSocket message longer than this closes its connection [byte]; shorter ones are refused with a sentence."""

# What lies there is old when a slow viewer gets it.
SEND_BUFFER = 32 * 1024
"""What the system holds back for a slow viewer [byte]: a few pictures, no more."""

REPORT_LOOPS = 2
"""Loops from one report to the next."""

_NOTHING_TO_CALIBRATE = "A simulated car has nothing to calibrate; drive it at /drive.\n"
_UPGRADE_ONLY = "This address only speaks WebSocket; programs without it may POST to /drive.\n"

_PLACEHOLDER = np.full((120, 160, 3), 34, np.uint8)

_PORT_ADVICE = (
    "stop the program that uses it (most likely another drive; `donkey doctor` names it), "
    "or set another WEB_CONTROL_PORT in myconfig.py."
)

_log = logging.getLogger(__name__)


class ControlPage:
    """The page as a threaded part; see `run_threaded` for its channels.

    Attributes:
        url: Where the page is on this machine, for example "http://localhost:8887".
        network_url: Where others in the network find it, with the token; None when they cannot.
    """

    def __init__(
        self, config: Config, watching_url: str = "", traveller: Traveller | None = None, views: OpenViews | None = None
    ) -> None:
        """Take the port, so that a taken one is said before anything starts.

        Args:
            config: The car's: WEB_CONTROL_PORT, WEB_CONTROL_HOST, WEB_CONTROL_TLS, WEB_INIT_MODE, WEB_KEYS_HOLD,
                CAR_PATH.
            watching_url: Where the page links to for watching the car from outside; "": nowhere.
            traveller: The car, for the page's list of places and for views of it; None: it has none.
            views: How people see the car; None: as is best for the traveller.

        Raises:
            SpecError: The port is in use, or an impossible value in the config.
        """
        mode = getattr(config, "WEB_INIT_MODE", "user")
        if mode not in MODES:
            raise SpecError(describe_unknown("WEB_INIT_MODE", str(mode), MODES))
        self._listen(config)
        self._config, self._traveller = config, traveller
        self.state = ControlState(mode, traveller=traveller, dress=self._dress)
        self.stream = PictureStream(_PLACEHOLDER)
        self._views = views or find_views(traveller, watching_url)
        about = {"watching": watching_url, "views": self._views is not None}
        self.link = ControlLink(self.state, {**about, "keys_hold": bool(getattr(config, "WEB_KEYS_HOLD", False))})
        self._hits = HitMemory()
        self._loop_count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._ended = threading.Event()

    def _listen(self, config: Config) -> None:
        """Take the port and get ready what guards it."""
        host = str(getattr(config, "WEB_CONTROL_HOST", LOCAL_HOST)).replace("localhost", LOCAL_HOST)
        self._listener = bind_exactly(int(config.WEB_CONTROL_PORT), host, _PORT_ADVICE)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        folder = Path(getattr(config, "CAR_PATH", ".")) / SECRETS_FOLDER
        tls_folder = folder if getattr(config, "WEB_CONTROL_TLS", False) else None
        self._access = arrange_access(self._listener, lambda: keep_token(folder / "token"), tls_folder, "localhost")
        self.url = self._access.url
        self.network_url: str | None = None
        if self._access.network_url is not None:
            self.network_url = f"{self._access.network_url}/drive?token={self._access.token}"
            _log.warning("On a phone in the same network, open %s", self.network_url)

    def _dress(self, look: Look) -> None:
        dress_car(self._traveller, look)
        keep_look(self._config, look)

    def update(self) -> None:
        """Serve until `shutdown`."""
        asyncio.run(self._serve())

    def run_threaded(
        self,
        image: ByteArray | None = None,
        record_count: int | None = None,
        mode: str | None = None,
        recording: bool | None = None,
        telemetry: Telemetry | None = None,
        lap_times: Sequence[float] | None = None,
        rate: float | None = None,
        latency: float | None = None,
        pilots: Sequence[str] | None = None,
        pilot: str | None = None,
        pilot_places: Sequence[str] | None = None,
        is_recorded: bool | None = None,
        erased_count: int | None = None,
    ) -> ControlCommand:
        """Show the car's state and return what its drivers want.

        Args:
            image: ui/image_array, shape [height, width, 1 or 3].
            record_count: tub/num_records.
            mode: user/mode, as the last loop left it.
            recording: recording, the same.
            telemetry: sim/telemetry.
            lap_times: sim/lap_times [s].
            rate: loop/rate [Hz].
            latency: loop/latency [s].
            pilots: pilot/choices.
            pilot: pilot/choice.
            pilot_places: pilot/places.
            is_recorded: run_recording.
            erased_count: tub/num_erased.

        Returns:
            user/steering, user/throttle, user/mode, recording, web/buttons, sim/reset, pilot/choice, web/erase.
        """
        tick = self.state.tick(mode, recording, record_count, pilot, tuple(pilots or ()))
        if self._traveller and tick.brake is not None:
            self._traveller.is_braking = tick.brake
        hit = self._hits.follow(telemetry)
        self._loop_count += 1
        report = None
        if self.link.wants_reports and self._loop_count % REPORT_LOOPS == 0:
            pace, car = (rate, latency), self._traveller
            seen = tick, record_count, telemetry, lap_times, pace, pilots, hit, car, pilot_places
            report = make_report(*seen, is_recorded, erased_count)
        picture = image.copy() if image is not None and self.stream.viewer_count else None
        trouble = self._traveller.take_trouble() if self._traveller else ""
        if picture is not None or report or tick.news or tick.lost or trouble:
            self._call_in_loop(self._tell, picture, report, tick, trouble)
        return tick.wish

    def shutdown(self) -> None:
        """Close every connection; the thread ends soon after."""
        self._ended.set()
        if self._loop:
            self._call_in_loop(self._stop.set)
            return
        self._listener.close()

    def _call_in_loop(self, function: Callable[..., object], *arguments: Any) -> None:
        if self._loop:
            call_in(self._loop, function, *arguments)

    def _tell(self, picture: ByteArray | None, report: CarReport | None, tick: Tick, trouble: str) -> None:
        if picture is not None:
            self.stream.publish(picture)
        if tick.news:
            self.link.broadcast(tick.news)
        if tick.lost:
            self.link.warn(tick.lost)
        if trouble:
            self.link.broadcast({"error": trouble})
        if report:
            self.link.show(report)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        if self._ended.is_set():
            self._listener.close()
            return
        app = create_app(self.state, self.link, self.stream, self._access, self._views)
        async with PageServer(app, self._listener, certificate=self._access.certificate, message_limit=SOCKET_LIMIT):
            try:
                await self._stop.wait()
            finally:
                self.stream.close()


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
    endpoints = _Endpoints(state, stream, views)
    return guard_routes(
        [
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
        access,
        programs_may=True,
    )


class _Endpoints:
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
