"""The watching page of a car that is driven in this process: the page of `donkey_sim`, beside the control page.

The page lives on a thread with an event loop of its own. Pictures are drawn there between two loops of the vehicle,
under the car's lock, so a loop waits for one picture at most.
"""

import asyncio
import socket
import time

from donkeysim.core.errors import SceneError
from donkeysim.core.image import encode_jpeg, spread_grey
from donkeysim.drive.built_in_car import BuiltInSimulatedCar
from donkeysim.sim.viewpoint import draw_car, draw_place, find_pose
from donkeysim.watch.moments import describe_still, get_place_file
from donkeysim.watch.picture_cache import keep_snapshot
from donkeysim.watch.spectator import create_app
from donkeysim.watch.watchable import CHOSEN, CarRow, OnePlace, Outline, View, draw_outline
from donkeysim.web.page import call_in
from donkeysim.web.serving import PageServer

# Two loops at 20 Hz.
PICTURE_PATIENCE = 0.1
"""How long a picture waits for time to move on before it is drawn of the old moment [s]."""

CAR_ID = 1
"""Of the one car."""


class WatchingPage:
    """A threaded part without inputs and outputs."""

    def __init__(self, car: BuiltInSimulatedCar, listener: socket.socket, control_url: str) -> None:
        """Prepare to show a car on a bound socket, which is closed at the end; connections wait until `update` runs.

        Args:
            control_url: Of its control page, "" for none.
        """
        app = create_app(WatchedCar(car), wire_port=None, find_control=lambda: control_url)
        self._server = PageServer(app, listener)
        self._listener = listener
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()
        self._is_ended = False
        self.url = self._server.address

    def update(self) -> None:
        """Serve until `shutdown`."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        if not self._is_ended:
            async with self._server:
                await self._ending.wait()

    def run_threaded(self) -> None:
        """Do nothing; the page asks the car."""

    def shutdown(self) -> None:
        """Stop serving; returns at once."""
        self._is_ended = True
        if self._loop is None:
            self._listener.close()
        else:
            call_in(self._loop, self._ending.set)


class WatchedCar(OnePlace):
    """The car as the page sees it. Implements `Watchable`; its methods belong to the page's event loop."""

    refusal = "choose the place on the control page, or start the drive again with --track"

    def __init__(self, car: BuiltInSimulatedCar) -> None:
        self._car = car
        self._outline: tuple[str, Outline] | None = None

    @property
    def scene_name(self) -> str:
        """Name of the scene."""
        return self._car.place

    @property
    def is_loading(self) -> bool:
        """Whether kernels are being compiled."""
        return not self._car.is_ready.is_set()

    @property
    def loading_stage(self) -> str:
        """What is being done while loading; "" otherwise."""
        return self._car.loading_stage if self.is_loading else ""

    async def list_cars(self) -> list[CarRow]:
        """Return the one car; none before it can drive."""
        moment = self._car.moment
        if moment is None:
            return []
        body = self._car.car.simulator.get_body(self._car.car.row)
        x, y, _, yaw = find_pose(self._car.car.simulator.ledger, self._car.car.row)
        return [
            CarRow(
                car_id=CAR_ID,
                name=body.name,
                style=body.style,
                colour=body.colour,
                is_pace_car=False,
                telemetry=moment.telemetry,
                pose=(x, y, yaw),
                lap_times=moment.lap_times,
                last_hit=self._car.last_hit,
                drawn=moment.drawn,
            )
        ]

    def outline(self) -> Outline | None:
        """Return the ground plan; None while loading."""
        if self.is_loading:
            return None
        if self._outline is None or self._outline[0] != self._car.place:
            with self._car.lock:
                self._outline = self._car.place, draw_outline(self._car.car.simulator.scene)
        return self._outline[1]

    async def take_picture(self, kind: View, car_id: int, width: int, height: int) -> bytes:
        """Return a view of the car as JPEG; see `Watchable`."""
        if kind != "place":
            self._require_car(car_id)
        elif self.is_loading:
            raise SceneError("there is no picture of the place yet; it is being loaded.")
        if self._car.interpolator.want() and kind != "camera":
            return await asyncio.to_thread(self._car.interpolator.take_picture, kind, car_id, width, height)
        return await asyncio.to_thread(self._take_picture, kind, width, height)

    def _take_picture(self, kind: View, width: int, height: int) -> bytes:
        """Draw right after a loop, so that every picture is of a new moment and the next loop is far enough."""
        car = self._car
        with car.loop_done:
            car.loop_done.wait(PICTURE_PATIENCE)
            moment = car.moment
        if kind == "camera" and moment is not None:
            return encode_jpeg(spread_grey(moment.image))
        with car.lock:
            if kind == "place":
                picture = draw_place(car.car.simulator, time.perf_counter(), width, height)
            else:
                picture = draw_car(car.car.simulator, car.car.row, kind, width, height)
        return encode_jpeg(picture)

    async def take_moment(self) -> bytes:
        """Return where everything is; see `Watchable`."""
        self._require_car(CAR_ID)
        if self._car.interpolator.want():
            return self._car.interpolator.take_moment()
        return await asyncio.to_thread(self._take_moment)

    def _take_moment(self) -> bytes:
        """Keep the moment right after a loop."""
        with self._car.loop_done:
            self._car.loop_done.wait(PICTURE_PATIENCE)
        with self._car.lock:
            simulator = self._car.car.simulator
            return describe_still(
                keep_snapshot(simulator, {CAR_ID: self._car.car.row}, self._car.interpolator.broadcast)
            )

    async def write_place(self) -> bytes:
        """Return the file of the place; see `Watchable`."""
        self._require_car(CAR_ID)
        simulator = self._car.car.simulator
        return await asyncio.to_thread(get_place_file, simulator.scene, simulator.car_spec)

    async def set_pace_car(self, is_wanted: bool) -> None:
        """Refuse; see `Watchable`."""
        raise SceneError(f"the car is alone here, so the pace car stays {'away' if is_wanted else 'where it is'}.")

    async def reset_car(self, car_id: int) -> None:
        """Put the car back to where it began, at the next loop."""
        self._require_car(car_id)
        self._car.ask_reset()

    def _require_car(self, car_id: int) -> None:
        if car_id not in (CAR_ID, CHOSEN) or self._car.moment is None:
            raise SceneError(f"there is no car {car_id} now.")
