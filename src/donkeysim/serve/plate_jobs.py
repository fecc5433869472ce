"""Name plates, drawn on a thread of their own before the simulation needs them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

from donkeysim.sim.simulator import Simulator
from donkeysim.wire.messages import ConfigureCar, Request
from donkeysim.wire.settings import change_body
from donkeysim.world.specs import BodySpec

REST_FACTOR = 16.0
"""After each plate the thread rests so many times as long as it drew: Python runs one thread at a time."""


class PlateJobs:
    """At most one plate of each client is drawn at a time."""

    def __init__(self) -> None:
        self._is_closed = threading.Event()
        self._thread = ThreadPoolExecutor(1, "name plates")
        self._jobs: dict[int, tuple[BodySpec, Future[None]]] = {}

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
        began = time.perf_counter()
        try:
            simulator.renderer.prepare_body(body)
        finally:
            self._is_closed.wait(REST_FACTOR * (time.perf_counter() - began))
