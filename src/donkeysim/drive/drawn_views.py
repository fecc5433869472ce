"""Views of the car drawn for people, larger than what its pilot sees: by the simulator in this process, or by another.

Another program of ours draws them for its watching page, which a browser with the control page may not ask itself: the
content policy of a page lets it talk to that page only. So the drive asks, once for each picture that a viewer wants.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import math
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from donkeysim.core.errors import SceneError, SimulatorError
from donkeysim.drive.remote_car import RemoteSimulatedCar
from donkeysim.drive.simulated_car import is_built_in
from donkeysim.watch.watchable import View

if TYPE_CHECKING:
    from donkeysim.drive.watching_page import WatchedCar

ANSWER_SECONDS = 5.0
"""How long another program may take to answer [s]; it is loading a scene when it takes longer."""

CLOSE_SECONDS = 1.0
"""How long its goodbye is waited for [s]."""


class TakeView(Protocol):
    """Takes one picture."""

    async def __call__(self, view: View, width: int, height: int) -> bytes:
        """Return a view of the car as JPEG.

        Args:
            width: The most columns [pixel].
            height: The most rows [pixel].

        Raises:
            DonkeySimError: The car cannot be seen now.
        """


OpenViews = Callable[[], AbstractAsyncContextManager[TakeView]]
"""Opens the views for one viewer, for as long as the block lasts."""


class ListedCar(msgspec.Struct):
    """What is read of a car in another program's list."""

    id: int
    name: str
    is_pace_car: bool
    pose: tuple[float, float, float]


class ListedCars(msgspec.Struct):
    """What is read of another program's state."""

    cars: list[ListedCar]


def find_views(car: object, watching_url: str) -> OpenViews | None:
    """Return how a car is seen from outside; None when nobody can draw it.

    Args:
        watching_url: The watching page of its simulator where that is another program; "": it has none.
    """
    if is_built_in(car):
        from donkeysim.drive.watching_page import WatchedCar

        return partial(_open_here, WatchedCar(car))
    if isinstance(car, RemoteSimulatedCar) and watching_url:
        return partial(_open_there, car, watching_url)
    return None


@contextlib.asynccontextmanager
async def _open_here(watched: WatchedCar) -> AsyncIterator[TakeView]:
    from donkeysim.drive.watching_page import CAR_ID

    async def take_view(view: View, width: int, height: int) -> bytes:
        return await watched.take_picture(view, CAR_ID, width, height)

    yield take_view


@contextlib.asynccontextmanager
async def _open_there(car: RemoteSimulatedCar, watching_url: str) -> AsyncIterator[TakeView]:
    distant = DistantViews(car, watching_url)
    try:
        yield distant.take
    finally:
        await distant.close()


class DistantViews:
    """What one viewer sees by way of another program's watching page; connects when the first picture is wanted."""

    def __init__(self, car: RemoteSimulatedCar, watching_url: str) -> None:
        self._car = car
        address = urlsplit(watching_url)  # it may name a car, for people
        self._url = f"{address.scheme}://{address.netloc}{address.path}".rstrip("/")
        self._pictures: ClientConnection | None = None
        self._car_id = 0

    async def take(self, view: View, width: int, height: int) -> bytes:
        """Return a view of the car; see `TakeView`."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                pictures = await self._connect()
                wanted = {"view": view, "car": self._car_id, "width": width, "height": height}
                answer = await _ask(pictures, wanted)
        except (OSError, TimeoutError, WebSocketException, msgspec.DecodeError) as error:
            await self.close()
            raise SimulatorError(f"the simulator's page {self._url} draws no picture; is it still there?") from error
        if isinstance(answer, bytes):
            return answer
        await self.close()  # the car has another number, or is in no scene
        raise SceneError(f"the simulator's page {self._url} draws no picture now: {answer}")

    async def close(self) -> None:
        """Leave; the next picture connects again."""
        pictures, self._pictures = self._pictures, None
        if pictures is not None:
            await pictures.close()

    async def _connect(self) -> ClientConnection:
        if self._pictures is None:
            async with self._open("/state") as states:
                listed = msgspec.json.decode(await _ask(states, {}), type=ListedCars)
            self._car_id = choose_car(listed.cars, *self._car.describe_self())
            self._pictures = await self._open("/picture")
        return self._pictures

    def _open(self, path: str) -> connect:
        """Return what connects to an address of the page, without a proxy: simulators are near."""
        options: dict[str, Any] = {"origin": self._url, "proxy": None, "close_timeout": CLOSE_SECONDS}
        if self._url.startswith("https:"):
            options["ssl"] = _trust(self._url)
        return connect(self._url.replace("http", "ws", 1) + path, **options)


async def _ask(connection: ClientConnection, question: Mapping[str, object]) -> str | bytes:
    await connection.send(msgspec.json.encode(question).decode())
    return await connection.recv()


def choose_car(cars: Sequence[ListedCar], name: str | None, position: tuple[float, float] | None) -> int:
    """Return the number of our car among all that a simulator lists: by its name, and of equal ones the nearest.

    Args:
        name: Ours; None: not known.
        position: Where ours is (x, y) [m]; None: not known.

    Raises:
        SceneError: Nobody is there who could be ours.
    """

    def judge(car: ListedCar) -> tuple[bool, float]:
        return car.name != (name or car.name), math.dist(car.pose[:2], position or car.pose[:2])

    candidates = [car for car in cars if not car.is_pace_car]
    if not candidates:
        raise SceneError("the car is in no scene now.")
    return min(candidates, key=judge).id


def _trust(url: str) -> ssl.SSLContext:
    """Return how a page's certificate is judged: not at all on this machine, where it is self-signed."""
    context = ssl.create_default_context()
    host = urlsplit(url).hostname or ""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
