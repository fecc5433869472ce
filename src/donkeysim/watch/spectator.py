"""The watching page: scene menu, views of every car, telemetry, reset and exit; nothing runs while nobody asks.

The browser pulls. It asks for the state about ten times a second and for the next picture once it has drawn the last,
so a slow viewer gets fewer pictures and never a queue of old ones, and a hidden page costs nothing.

=========================  =========================================================================
`GET /`                    the page
`GET /outline`             ground plan of the running scene, or null
`WebSocket /state`         `StateRequest` in, `StateReply` out, as JSON text
`WebSocket /picture`       `PictureRequest` in as JSON text, a JPEG out as bytes (or `Refusal` as text)
`POST /scene`              `SceneRequest`: load a scene from the menu
`POST /road`               `RoadRequest`: make another road, where roads are generated
`POST /exit`               bring everybody back to the menu
`POST /cars/ID/reset`      put a car back to where it began
=========================  =========================================================================
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from donkeysim.core.errors import DonkeySimError, WireError
from donkeysim.watch.watchable import CarRow, View, Watchable
from donkeysim.web.body import read_body
from donkeysim.web.files import SHARED_FOLDER, PageFiles, answer_file
from donkeysim.web.headers import PageHeaders
from donkeysim.web.origin import OriginCheck
from donkeysim.world.randomization import find_unit
from donkeysim.world.specs import RoadSpec
from donkeysim.world.telemetry import Telemetry

PAGES = Path(__file__).parent / "pages"
PREVIEWS = PAGES / "scenes"
"""Pictures of scenes for the menu, NAME.jpg; a scene without one gets a plain card."""

RECENT_LAPS = 8
"""Lap times of the watched car that are sent."""

BODY_LIMIT = 4096
"""Longest body of a POST [byte]."""

_encode = msgspec.json.Encoder().encode

PixelCount = Annotated[int, msgspec.Meta(ge=16, le=1280)]

_DRAWN = ("path", "left", "right", "start_line", "checkpoint")
"""What of an outline the page is sent."""


class StateRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What a page wants to know: the readings of this car beside the list of all."""

    car: int | None = None


class PictureRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The next picture: which view of which car, how many pixels."""

    view: View
    car: int
    width: PixelCount
    height: PixelCount


class SceneRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Which scene to load."""

    name: str


class RoadRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Which road to make, in scenes that generate theirs; as `RoadSpec`."""

    style: int
    seed: int
    turn: float


class SceneCard(msgspec.Struct):
    """A scene of the menu and whether it has a picture."""

    name: str
    has_preview: bool


class CarEntry(msgspec.Struct):
    """A row of the list of cars; times in s, pose in m and rad (world frame)."""

    id: int
    name: str
    style: str
    colour: tuple[int, int, int]
    is_pace_car: bool
    pose: tuple[float, float, float]
    lap: int
    last_lap: float | None
    best_lap: float | None


class DrawnValue(msgspec.Struct):
    """One value that was drawn for a car, as in `world.randomization`."""

    name: str
    value: float
    unit: str


class CarReadings(msgspec.Struct):
    """Everything about the watched car."""

    id: int
    telemetry: Telemetry | None
    lap_times: tuple[float, ...]
    lap_count: int
    last_hit: str
    drawn: list[DrawnValue]


class StateReply(msgspec.Struct):
    """The state of the simulation at one moment."""

    scene: str | None
    is_loading: bool
    stage: str
    wire_port: int | None
    scenes: list[SceneCard]
    road: RoadSpec | None
    cars: list[CarEntry]
    readings: CarReadings | None


class Refusal(msgspec.Struct):
    """Why something was not done, one sentence."""

    error: str


def create_app(watchable: Watchable, *, wire_port: int | None) -> Starlette:
    """Return the page as an ASGI app.

    Args:
        watchable: The simulation to show.
        wire_port: Where clients connect; the page tells it to people. None: nowhere, and the scene cannot be exited.
    """
    previews = frozenset(path.stem for path in PREVIEWS.glob("*.jpg"))
    spectator = Spectator(watchable, wire_port, previews)
    return Starlette(
        routes=[
            Route("/", answer_file(PAGES / "index.html")),
            Route("/outline", spectator.show_outline),
            WebSocketRoute("/state", spectator.serve_state),
            WebSocketRoute("/picture", spectator.serve_pictures),
            Route("/scene", spectator.load_scene, methods=["POST"]),
            Route("/road", spectator.make_road, methods=["POST"]),
            Route("/exit", spectator.exit_scene, methods=["POST"]),
            Route("/cars/{car_id:int}/reset", spectator.reset_car, methods=["POST"]),
            Mount("/shared", PageFiles(directory=SHARED_FOLDER)),
            Mount("/pages", PageFiles(directory=PAGES)),
        ],
        middleware=[Middleware(PageHeaders), Middleware(OriginCheck)],
        exception_handlers={DonkeySimError: _answer_refusal},
    )


class Spectator:
    """The page's endpoints over one simulation."""

    def __init__(self, watchable: Watchable, wire_port: int | None, previews: frozenset[str]) -> None:
        self._watchable = watchable
        self._wire_port = wire_port
        self._previews = previews

    async def show_outline(self, _request: Request) -> Response:
        """Answer the ground plan of the running scene as JSON, or null."""
        outline = self._watchable.outline()
        if outline is None:
            return _answer_json(None)
        rounded = {name: getattr(outline, name).round(3).tolist() for name in _DRAWN}
        return _answer_json({**rounded, "is_closed": outline.is_closed})

    async def load_scene(self, request: Request) -> Response:
        """Load a scene from the menu."""
        too_long = WireError(f"the request is longer than {BODY_LIMIT} bytes; a scene's name is shorter.")
        wanted = _decode(await read_body(request, BODY_LIMIT, too_long), SceneRequest)
        await self._watchable.load_scene(wanted.name)
        return _answer_json({})

    async def make_road(self, request: Request) -> Response:
        """Make another road in the running scene."""
        too_long = WireError(f"the request is longer than {BODY_LIMIT} bytes; a road is shorter.")
        wanted = _decode(await read_body(request, BODY_LIMIT, too_long), RoadRequest)
        await self._watchable.make_road(RoadSpec(wanted.style, wanted.seed, wanted.turn))
        return _answer_json({})

    async def exit_scene(self, _request: Request) -> Response:
        """Bring everybody back to the menu."""
        await self._watchable.exit_scene()
        return _answer_json({})

    async def reset_car(self, request: Request) -> Response:
        """Put one car back to where it began."""
        await self._watchable.reset_car(request.path_params["car_id"])
        return _answer_json({})

    async def serve_state(self, socket: WebSocket) -> None:
        """Answer every request of one page with the state."""
        await socket.accept()
        with suppress(WebSocketDisconnect):
            async for text in socket.iter_text():
                await socket.send_text(_encode(self._answer_state(text)).decode())

    async def serve_pictures(self, socket: WebSocket) -> None:
        """Answer every request of one view with one picture."""
        await socket.accept()
        with suppress(WebSocketDisconnect):
            async for text in socket.iter_text():
                answer = await self._answer_picture(text)
                if isinstance(answer, Refusal):
                    await socket.send_text(_encode(answer).decode())
                else:
                    await socket.send_bytes(answer)

    def _answer_state(self, question: str) -> StateReply | Refusal:
        try:
            return self._describe_state(_decode(question, StateRequest))
        except DonkeySimError as error:
            return Refusal(str(error))

    async def _answer_picture(self, question: str) -> bytes | Refusal:
        try:
            wanted = _decode(question, PictureRequest)
            return await self._watchable.take_picture(wanted.view, wanted.car, wanted.width, wanted.height)
        except DonkeySimError as error:
            return Refusal(str(error))

    def _describe_state(self, wanted: StateRequest) -> StateReply:
        shown = self._watchable
        cars = shown.list_cars()
        watched = next((car for car in cars if car.car_id == wanted.car), None)
        return StateReply(
            scene=shown.scene_name,
            is_loading=shown.is_loading,
            stage=shown.loading_stage,
            wire_port=self._wire_port,
            road=None if (outline := shown.outline()) is None else outline.road,
            scenes=[SceneCard(name, name in self._previews) for name in shown.scene_names()],
            cars=[describe_car(car) for car in cars],
            readings=describe_readings(watched) if watched else None,
        )


def describe_car(car: CarRow) -> CarEntry:
    """Return a row of the list of cars."""
    x, y, yaw = car.pose
    return CarEntry(
        id=car.car_id,
        name=_clean_text(car.name),
        style=car.style,
        colour=car.colour,
        is_pace_car=car.is_pace_car,
        pose=(round(x, 3), round(y, 3), round(yaw, 3)),
        lap=car.telemetry.lap if car.telemetry else 0,
        last_lap=car.lap_times[-1] if car.lap_times else None,
        best_lap=min(car.lap_times, default=None),
    )


def describe_readings(car: CarRow) -> CarReadings:
    """Return everything about the watched car."""
    return CarReadings(
        id=car.car_id,
        telemetry=car.telemetry,
        lap_times=car.lap_times[-RECENT_LAPS:],
        lap_count=len(car.lap_times),
        last_hit=_clean_text(car.last_hit),
        drawn=[DrawnValue(name, round(value, 4), find_unit(name)) for name, value in car.drawn.items()],
    )


def _clean_text(text: str) -> str:
    """Return text that JSON can carry: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def _decode(text: str | bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WireError(f"the page asked for something that does not exist: {error}.") from error


def _answer_json(value: Any) -> Response:
    return Response(_encode(value), media_type="application/json")


async def _answer_refusal(_request: Request, error: Exception) -> Response:
    return Response(_encode(Refusal(str(error))), status_code=409, media_type="application/json")
