"""New roads, challenges and name plates for the running scene, made on threads of their own while the cars drive on."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from donkeysim.core.errors import DonkeySimError, SceneError
from donkeysim.wire.equipment import ConfigureCar
from donkeysim.wire.messages import RegenerateRoad, Request
from donkeysim.wire.settings import change_body, change_road
from donkeysim.world.specs import BodySpec, ChallengeSpec, RoadSpec, SceneSpec

if TYPE_CHECKING:
    from donkeysim.serve.participants import Client
    from donkeysim.sim.place import Place
    from donkeysim.sim.simulator import Simulator

LOOK_SECONDS = 0.05
"""How often to look whether a road is done [s], when nothing else happens."""

_log = logging.getLogger("donkeysim.simulation")

# A plate takes some 10 ms, and a beat of 50 ms must not wait for those of a client that renames its car all the time.
REST_FACTOR = 16.0
"""How many times as long as it drew the thread rests before the next plate: Python runs one thread at a time."""


class RoadJob(threading.Thread):
    """One road, or the same with other challenges, under construction.

    Attributes:
        client_id: Who asked for it; None: a watcher, or an organiser.
        keeps_cars: Whether cars stay where they are, as only the challenges are others.
        trouble: Why there is no result, one sentence; "" otherwise.
    """

    def __init__(self, simulator: Simulator, scene: SceneSpec, client_id: int | None, keeps_cars: bool = False) -> None:
        """Begin to make it."""
        super().__init__(name="road work", daemon=True)
        self.client_id = client_id
        self.keeps_cars = keeps_cars
        self.trouble = ""
        self._simulator, self._scene = simulator, scene
        self._prepared: Place | None = None
        self.start()

    def run(self) -> None:
        """Make it."""
        try:
            self._prepared = self._simulator.prepare_scene(self._scene)
        except DonkeySimError as error:
            self.trouble = str(error)
        except Exception as error:  # noqa: BLE001  (the client hears of it and the traceback is logged)
            _log.exception("an error while a road was made")
            self.trouble = f"the road could not be made ({type(error).__name__})."

    def open(self) -> None:
        """Let all cars begin on the new road, or continue among the new challenges, unless there is trouble."""
        if self._prepared is None:
            return
        try:
            self._simulator.change_scene(self._scene, self._prepared, self.keeps_cars)
        except DonkeySimError as error:
            self.trouble = str(error)


class RoadJobs:
    """The roads that clients ask for, one after another.

    Who asks waits: what it says meanwhile is carried out when its road is open. Everybody else drives on.
    """

    def __init__(self) -> None:
        self._work: RoadJob | None = None
        self._next_challenges: ChallengeSpec | None = None

    @property
    def is_done(self) -> bool:
        """Whether a road waits to be opened."""
        return self._work is not None and not self._work.is_alive()

    def seconds_left(self) -> float | None:
        """Return when to look again [s]: 0 when a road waits to be opened, None while none is made."""
        if self._work is None:
            return None
        return LOOK_SECONDS if self._work.is_alive() else 0.0

    def ask(self, simulator: Simulator, client: Client, request: RegenerateRoad) -> None:
        """Begin to make the road that a client wants, or put its request back while another one is made.

        Raises:
            SceneError: The scene's road is not a generated one.
        """
        road = change_road(simulator.scene.name, simulator.scene.road, request)
        client.awaits_road = True
        if self._work is not None:
            client.queue.put_back(request)
        else:
            self.begin(simulator, road, client.client_id)

    def begin(self, simulator: Simulator, road: RoadSpec, client_id: int | None = None) -> None:
        """Begin to make a road.

        Raises:
            SceneError: The scene's road is not a generated one, or another one is being made.
        """
        if simulator.scene.road is None:
            raise SceneError(f"the road of {simulator.scene.name} is not a generated one; it cannot be regenerated.")
        if self._work is not None:
            raise SceneError("a road is being made; wait until it is done.")
        self._work = RoadJob(simulator, dataclasses.replace(simulator.spec.scene, road=road), client_id)

    def draw_challenges(self, simulator: Simulator, challenges: ChallengeSpec) -> None:
        """Begin to draw challenges anew, once no road is being made; the latest ones count."""
        if self._work is not None:
            self._next_challenges = challenges
            return
        scene = dataclasses.replace(simulator.spec.scene, challenges=challenges)
        self._work = RoadJob(simulator, scene, None, keeps_cars=True)

    def wait(self) -> None:
        """Wait until the road that is being made is done."""
        if self._work is not None:
            self._work.join()

    def open(self, simulator: Simulator, clients: Iterable[Client]) -> RoadJob | None:
        """Let everybody begin on the road that is done and return it; nobody waits for it any more."""
        work, self._work = self._work, None
        if work is not None:
            work.open()
            for client in clients:
                client.awaits_road = False
        challenges, self._next_challenges = self._next_challenges, None
        if challenges is not None:
            self.draw_challenges(simulator, challenges)
        return work


class PlateJobs:
    """At most one plate of each client is drawn at a time."""

    def __init__(self) -> None:
        self._is_closed = threading.Event()
        self._thread = ThreadPoolExecutor(1, "name plates")
        self._jobs: dict[int, tuple[BodySpec, Future[None]]] = {}
        self._rests_until = 0.0

    def close(self) -> None:
        """End the thread; plates not yet begun are not drawn."""
        self._is_closed.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def is_ready(self, simulator: Simulator, client_id: int, request: Request) -> bool:
        """Return whether a request's plate is drawn, if it has one; the first question begins it."""
        if not isinstance(request, ConfigureCar):
            return True
        return self.is_drawn(simulator, client_id, change_body(BodySpec(), request))

    def is_drawn(self, simulator: Simulator, client_id: int, body: BodySpec) -> bool:
        """Return whether a body's plate is drawn, if it has one; the first question begins it."""
        if not body.name:
            return True
        asked, job = self._jobs.get(client_id, (None, None))
        if job is not None and not job.done():
            return False  # even if it is of another body by now: a client that changes its mind fills no queue
        if job is None or asked != body:
            self._jobs[client_id] = body, self._thread.submit(self._prepare, simulator, body)
            return False
        del self._jobs[client_id]
        return True

    def forget(self, client_id: int) -> None:
        """Let a client go."""
        self._jobs.pop(client_id, None)

    def _prepare(self, simulator: Simulator, body: BodySpec) -> None:
        if self._is_closed.wait(max(0.0, self._rests_until - time.perf_counter())):
            return
        began = time.perf_counter()
        try:
            simulator.renderer.prepare_body(body)
        finally:  # it is there now: only the next one waits
            ended = time.perf_counter()
            self._rests_until = ended + REST_FACTOR * (ended - began)
