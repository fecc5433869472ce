"""The watching page: scene menu, views of every car, telemetry, reset and exit; nothing runs while nobody asks.

The browser pulls. It asks for the state about ten times a second and for the next picture once it has drawn the last,
so a slow viewer gets fewer pictures and never a queue of old ones, and a hidden page costs nothing.

=========================  =========================================================================
`GET /`                    the page; `/wall`: the same for a projector, its scripts see where it is
`GET /outline`             ground plan of the running scene, or null
`WebSocket /state`         `StateRequest` in, `StateReply` out, as JSON text
`GET /place.glb`           the running place as `watch.place_model` writes it, for who draws it
`WebSocket /moments`       `MomentRequest` in, a `watch.moments.PlaceMoment` out as JSON text, once it is a new one
`WebSocket /picture`       `PictureRequest` in as JSON text, a JPEG out as bytes (or `Refusal` as text)
`POST /scene`              `SceneRequest`: load a scene from the menu
`POST /road`               `RoadRequest`: make another road, where roads are generated
`POST /exit`               bring everybody back to the menu
`POST /cars/ID/reset`      put a car back to where it began
`POST /pace_car`           `PaceCarRequest`: let a pace car drive, or take it away
=========================  =========================================================================

Where no race is held, `GET /race` answers null and other addresses of races refuse; what they do where races are held
is up to `racing.show.race_show`.

Whoever reaches the page may watch; `StateReply.may_change` says whether the POSTs are for this viewer too.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from donkeysim.core.errors import DonkeySimError, SceneError, SpecError
from donkeysim.watch.messages import (
    CarEntry,
    CarReadings,
    DrawnValue,
    MomentRequest,
    PaceCarRequest,
    PictureRequest,
    RoadRequest,
    SceneCard,
    SceneRequest,
    StateReply,
    StateRequest,
)
from donkeysim.watch.watchable import CarRow, NewMoments, Watchable, WatchableRaces
from donkeysim.web.access import THIS_MACHINE, Access
from donkeysim.web.limits import PictureTurns, find_client
from donkeysim.web.page import (
    GLB,
    SCENE_PICTURES,
    answer_file,
    answer_json,
    answer_questions,
    decode_question,
    make_page,
    read_question,
)
from donkeysim.web.token import may_change
from donkeysim.world.randomization import find_unit
from donkeysim.world.specs import RoadSpec
from donkeysim.world.tracks.catalogue import group_scenes

PAGES = Path(__file__).parent / "pages"

RECENT_LAPS = 8
"""Lap times of the watched car that are sent."""

# A screen's period each: cheaper for both sides than an answer that says nothing new.
SECOND_LOOKS, LOOK_SECONDS = 2, 1.0 / 60.0
"""How often at most, and how long each time [s], a page that asks again waits for a new picture."""


def create_app(
    watchable: Watchable,
    *,
    wire_port: int | None,
    access: Access = THIS_MACHINE,
    faults: Mapping[str, int] = MappingProxyType({}),
    environments: Mapping[str, str] = MappingProxyType({}),
    find_control: Callable[[], str] = str,
    races: WatchableRaces | None = None,
    race_routes: Sequence[BaseRoute] = (),
) -> ASGIApp:
    """Return the page as an ASGI app.

    Args:
        watchable: The simulation to show.
        wire_port: Where clients connect; the page shows it. None: nowhere, and the scene cannot be exited.
        faults: How often clients have sent what was not understood or not possible, by kind; read again and again.
        environments: Ids of environments by scene, for the example that the page shows.
        find_control: Returns the address of the control page of a car that is driven here, "" for none.
        races: What is shown of races; None: none are held.
        race_routes: What may be asked of them and done to them.
    """
    spectator = Spectator(watchable, wire_port, faults, environments, find_control, races)
    return make_page(
        PAGES,
        [
            Route("/outline", spectator.show_outline),
            WebSocketRoute("/state", spectator.serve_state),
            Route("/place.glb", spectator.show_place),
            WebSocketRoute("/moments", spectator.serve_moments),
            WebSocketRoute("/picture", spectator.serve_pictures),
            Route("/scene", spectator.load_scene, methods=["POST"]),
            Route("/road", spectator.make_road, methods=["POST"]),
            Route("/exit", spectator.exit_scene, methods=["POST"]),
            Route("/pace_car", spectator.set_pace_car, methods=["POST"]),
            Route("/cars/{car_id:number}/reset", spectator.reset_car, methods=["POST"]),
            Route("/wall", answer_file(PAGES / "index.html")),
            Route("/overlay", answer_file(PAGES / "overlay.html")),
            *(race_routes or _list_routes_without_races()),
        ],
        access,
    )


class Spectator:
    """The page's endpoints over one simulation."""

    def __init__(
        self,
        watchable: Watchable,
        wire_port: int | None,
        faults: Mapping[str, int],
        environments: Mapping[str, str],
        find_control: Callable[[], str],
        races: WatchableRaces | None = None,
    ) -> None:
        self._watchable, self._wire_port, self._faults, self._races = watchable, wire_port, faults, races
        self._environments, self._find_control = environments, find_control
        # A scene without a picture, somebody's own track, gets a plain card.
        self._previews = frozenset(path.stem for path in SCENE_PICTURES.glob("*.jpg"))
        self._turns = PictureTurns()

    async def show_outline(self, _request: Request) -> Response:
        """Answer the ground plan of the running scene as JSON, or null."""
        return answer_json(self._watchable.outline())

    async def load_scene(self, request: Request) -> Response:
        """Load a scene from the menu."""
        wanted = await read_question(request, SceneRequest, "a scene's name is shorter")
        await self._watchable.load_scene(wanted.name)
        return answer_json({})

    async def make_road(self, request: Request) -> Response:
        """Make another road in the running scene."""
        wanted = await read_question(request, RoadRequest, "a road is shorter")
        await self._watchable.make_road(RoadSpec(wanted.style, wanted.seed, wanted.turn))
        return answer_json({})

    async def exit_scene(self, _request: Request) -> Response:
        """Bring everybody back to the menu."""
        await self._watchable.exit_scene()
        return answer_json({})

    async def reset_car(self, request: Request) -> Response:
        """Put one car back to where it began."""
        await self._watchable.reset_car(request.path_params["car_id"])
        return answer_json({})

    async def set_pace_car(self, request: Request) -> Response:
        """Let a pace car drive, or take it away."""
        wanted = await read_question(request, PaceCarRequest, "whether a pace car drives is shorter")
        await self._watchable.set_pace_car(wanted.drives)
        return answer_json({})

    async def serve_pictures(self, socket: WebSocket) -> None:
        """Answer each request of a view with a picture, when it is the viewer's turn."""
        client, last = find_client(socket.scope), b""

        async def take_picture(wanted: PictureRequest) -> bytes:
            async with self._turns.take(client):
                if wanted.at is not None:
                    return await self._find_past(wanted.at).take_picture(*msgspec.structs.astuple(wanted))
                view, car, width, height, _ = msgspec.structs.astuple(wanted)
                return await self._watchable.take_picture(view, car, width, height)

        async def answer_picture(question: str) -> bytes:
            nonlocal last
            wanted = decode_question(question, PictureRequest)
            picture = await take_picture(wanted)
            for _ in range(SECOND_LOOKS):
                if picture is not last:
                    break
                await asyncio.sleep(LOOK_SECONDS)
                picture = await take_picture(wanted)
            last = picture
            return picture

        await answer_questions(socket, answer_picture)

    async def show_place(self, _request: Request) -> Response:
        """Answer the file of the running place."""
        return Response(await self._watchable.write_place(), media_type=GLB)

    async def serve_moments(self, socket: WebSocket) -> None:
        """Answer each request with where everything is, as soon as that is new, and have the place ready."""
        moments = NewMoments(self._watchable.take_moment)
        writing = asyncio.create_task(self._prepare_place())

        async def answer_moment(question: str) -> bytes:
            at = decode_question(question, MomentRequest).at
            if at is not None:
                return await self._find_past(at).take_moment(at)
            return await moments.take()

        try:
            await answer_questions(socket, answer_moment)
        finally:
            writing.cancel()

    async def _prepare_place(self) -> None:
        with contextlib.suppress(DonkeySimError):  # whoever asks for it gets the error
            await self._watchable.write_place()

    async def serve_state(self, socket: WebSocket) -> None:
        """Answer each request of one page with the state."""
        await answer_questions(socket, partial(self.answer_state, may_change=may_change(socket.scope)))

    async def answer_state(self, question: str, may_change: bool) -> StateReply:
        """Answer a request of a viewer with the state; cars that somebody drives come before the pace car."""
        wanted, shown = decode_question(question, StateRequest), self._watchable
        at, races = wanted.at, self._races
        rows = await (shown.list_cars() if at is None else self._find_past(at).list_cars(at))
        cars, groups = sorted(rows, key=lambda car: car.is_pace_car), group_scenes(shown.scene_names()).items()
        watched = next((car for car in cars if car.car_id == wanted.car), None)
        return StateReply(
            may_change=may_change,
            environment=self._environments.get(shown.scene_name or "", ""),
            control=self._find_control(),
            pace_car=shown.has_pace_car,
            scene=shown.scene_name,
            is_loading=shown.is_loading,
            stage=shown.loading_stage,
            wire_port=self._wire_port,
            road=None if (outline := shown.outline()) is None else outline.road,
            scenes=[SceneCard(name, name in self._previews, group) for group, names in groups for name in names],
            cars=[describe_car(car) for car in cars],
            readings=describe_readings(watched) if watched else None,
            faults=dict(self._faults),
            race=None if races is None else await races.show_race(at),
            time_line=None if races is None else races.time_line(),
            joining=None if races is None else races.joining(),
        )

    def _find_past(self, at: float) -> WatchableRaces:
        """Return who keeps the past.

        Raises:
            SceneError: Nobody does.
        """
        if self._races is None:
            raise SceneError(f"nothing of the past is kept here, so {at:g} s cannot be shown; ask for now.")
        return self._races


def _list_routes_without_races() -> list[BaseRoute]:
    """Return the addresses of races where none are held."""

    async def show_none(_request: Request) -> Response:
        return answer_json(None)

    async def refuse(_request: Request) -> Response:
        raise SpecError("no race is held here; hold one with donkey race host.")

    async def show_no_code(_request: Request) -> Response:
        return Response("Nobody can join here.\n", 404, media_type="text/plain")

    doors = [Route(f"/race/{deed}", refuse, methods=["POST"]) for deed in ("act", "start")]
    return [Route("/race", show_none), *doors, Route("/join.svg", show_no_code)]


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
