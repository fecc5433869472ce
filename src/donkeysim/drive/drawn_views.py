"""Views of the car for people, larger than what its pilot sees: drawn by the simulator, or by the browser.

A browser that draws them needs the place and where everything is. Where the simulator is another program, its watching
page has all that, which a browser with the control page may not ask itself: the content policy of a page lets it talk
to that page only. So the drive asks, once for each picture or moment that a viewer wants.
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
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from donkeysim.core.errors import SceneError, SimulatorError
from donkeysim.drive.remote_car import RemoteSimulatedCar
from donkeysim.drive.simulated_car import is_built_in
from donkeysim.watch.watchable import NewMoments, View

if TYPE_CHECKING:
    from donkeysim.drive.watching_page import WatchedCar

ANSWER_SECONDS = 5.0
"""How long another program may take to answer [s]; it is loading a scene when it takes longer."""

PLACE_SECONDS = 30.0
"""The same for the file of a place, which may have to be written [s]."""

CLOSE_SECONDS = 1.0
"""How long its goodbye is waited for [s]."""


class CarViews(Protocol):
    """What one viewer gets to see."""

    async def take(self, view: View, width: int, height: int) -> bytes:
        """Return a view of the car as JPEG.

        Args:
            width: The most columns [pixel].
            height: The most rows [pixel].

        Raises:
            DonkeySimError: The car cannot be seen now.
        """

    async def take_moment(self) -> bytes:
        """Return where everything is, see `Watchable.take_moment`; `own` in it is our car's number."""

    async def write_place(self) -> bytes:
        """Return the file of the place, see `Watchable.write_place`."""


OpenViews = Callable[[], AbstractAsyncContextManager[CarViews]]
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
async def _open_here(watched: WatchedCar) -> AsyncIterator[CarViews]:
    yield ViewsHere(watched)


class ViewsHere:
    """What one viewer sees of a car whose simulator runs in this process. Implements `CarViews`."""

    def __init__(self, watched: WatchedCar) -> None:
        from donkeysim.drive.watching_page import CAR_ID

        self._watched, self._car_id = watched, CAR_ID
        self._moments = NewMoments(watched.take_moment)

    async def take(self, view: View, width: int, height: int) -> bytes:
        """Return a view of the car; see `CarViews`."""
        return await self._watched.take_picture(view, self._car_id, width, height)

    async def take_moment(self) -> bytes:
        """Return where everything is, once that is new."""
        return name_own(await self._moments.take(), self._car_id)

    async def write_place(self) -> bytes:
        """Return the file of the place."""
        return await self._watched.write_place()


@contextlib.asynccontextmanager
async def _open_there(car: RemoteSimulatedCar, watching_url: str) -> AsyncIterator[CarViews]:
    distant = DistantViews(car, watching_url)
    try:
        yield distant
    finally:
        await distant.close()


class DistantViews:
    """What one viewer sees by way of another program's watching page; connects when it is first asked.

    Implements `CarViews`. A viewer asks for pictures or for moments, one after the other.
    """

    def __init__(self, car: RemoteSimulatedCar, watching_url: str) -> None:
        self._car = car
        address = urlsplit(watching_url)  # it may name a car, for people
        self._url = f"{address.scheme}://{address.netloc}{address.path}".rstrip("/")
        self._connection: ClientConnection | None = None
        self._car_id = 0

    async def take(self, view: View, width: int, height: int) -> bytes:
        """Return a view of the car; see `CarViews`."""
        return await self._ask(
            "/picture", lambda: {"view": view, "car": self._car_id, "width": width, "height": height}
        )

    async def take_moment(self) -> bytes:
        """Return where everything is, once that is new."""
        return name_own(await self._ask("/moments", dict), self._car_id)

    async def write_place(self) -> bytes:
        """Return the file of the place."""
        try:
            return await asyncio.to_thread(self._download, "/place.glb")
        except OSError as error:
            raise SimulatorError(f"the simulator's page {self._url} has no file of the place: {error}.") from error

    async def close(self) -> None:
        """Leave; the next question connects again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _ask(self, path: str, make_question: Callable[[], Mapping[str, object]]) -> bytes:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                connection = await self._connect(path)
                answer = await _ask(connection, make_question())
        except (OSError, TimeoutError, WebSocketException, msgspec.DecodeError) as error:
            await self.close()
            raise SimulatorError(f"the simulator's page {self._url} shows nothing; is it still there?") from error
        if isinstance(answer, bytes):
            return answer
        await self.close()  # the car has another number, or is in no scene
        raise SceneError(f"the simulator's page {self._url} shows nothing now: {answer}")

    async def _connect(self, path: str) -> ClientConnection:
        if self._connection is None:
            async with self._open("/state") as states:
                listed = msgspec.json.decode(await _ask(states, {}), type=ListedCars)
            self._car_id = choose_car(listed.cars, *self._car.describe_self())
            self._connection = await self._open(path)
        return self._connection

    def _download(self, path: str) -> bytes:
        trust = [HTTPSHandler(context=_trust(self._url))] if self._url.startswith("https:") else []
        with build_opener(ProxyHandler({}), *trust).open(self._url + path, timeout=PLACE_SECONDS) as answer:
            content: bytes = answer.read()
        return content

    def _open(self, path: str) -> connect:
        """Return what connects to an address of the page, without a proxy: simulators are near."""
        options: dict[str, Any] = {"origin": self._url, "proxy": None, "close_timeout": CLOSE_SECONDS}
        if self._url.startswith("https:"):
            options["ssl"] = _trust(self._url)
        return connect(self._url.replace("http", "ws", 1) + path, **options)


def name_own(moment: bytes, car_id: int) -> bytes:
    """Return a moment, a JSON object, with the number of our car before all else."""
    return b'{"own":%d,' % car_id + moment[1:]


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
