"""The one thread that runs the simulation, and what the event loop may ask of it.

The thread imports the simulator itself (numpy and the kernels take seconds), so that sockets listen and the menu
answers meanwhile. Requests go in by a queue; what clients shall receive comes out in batches on the event loop.

In lock-step with few cars a control is carried out by the event loop itself while the thread sleeps: two changes of
thread would cost as much as the step. A lock keeps the two apart.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import logging
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from donkeysim.core.clock import Clock
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.workers import count_cores
from donkeysim.serve.client_queues import ClientQueue, Entry, Presence, QueueTurns
from donkeysim.serve.output import Output
from donkeysim.wire.messages import DriveCar, Request
from donkeysim.world.tracks import list_scenes

if TYPE_CHECKING:
    from donkeysim.serve.simulation import Simulation

T = TypeVar("T")

# Physics of a frame takes some 40 µs a car (docs/decisions/0021): for four of them the event loop can wait.
MOST_CARS_AT_ONCE = 4
"""Cars with which a step is short enough to keep the event loop waiting."""

# If the event loop is that late, something holds it up; time that is not paced may wait.
DELIVERY_SECONDS = 0.25
"""Longest wait for the event loop to take what was produced, when time is not paced [s]."""

_log = logging.getLogger("donkeysim.simulation")

# A sleeping core wakes slowly and runs slower: 255 µs a beat back to back, 305 after a sleep of 60 µs. 2,050 exchanges
# a second became 2,240 (docs/decisions/0021); a client that thinks longer costs nothing.
AWAKE_SECONDS = 0.0003
"""For so long the loop stays awake after an answer, and a control that comes within it is quick [s]."""


def _wake(simulation: Simulation) -> None:
    """Do nothing: the thread looks around whenever something is in its inbox."""
    del simulation


class SimulationThread:
    """Runs a simulation on its own thread; its methods belong to the event loop."""

    def __init__(
        self,
        make_simulation: Callable[[], Simulation],
        deliver: Callable[[list[Output]], None],
        read_clock: Clock,
        give_up: Callable[[DonkeySimError], None],
        folders: tuple[str, ...] = (),
    ) -> None:
        """Prepare a thread that does not run yet.

        Args:
            make_simulation: Called on the thread; may take seconds.
            deliver: Called on the event loop with outputs in order.
            give_up: Called on the event loop when the simulation cannot be made; nothing runs then.
            folders: Further folders with track files.
        """
        self._make_simulation = make_simulation
        self._deliver = deliver
        self._read_clock = read_clock
        self._give_up = give_up
        self._scene_names = list_scenes(folders)
        self._simulation: Simulation | None = None
        self._inbox: queue.SimpleQueue[Callable[[Simulation], object]] = queue.SimpleQueue()
        self._queues: dict[int, ClientQueue] = {}
        self._turns = QueueTurns(self._perform_next, self._may_take, self._has_to_wait, read_clock)
        self._outbox: list[Output] = []
        self._outbox_lock = threading.Lock()
        self._is_delivering = self._is_awaited = False
        self._delivered = threading.Event()
        self._lock = threading.Lock()
        self._busy_polling = BusyPolling(read_clock)
        self._put_count = self._done_count = 0
        self._is_stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)

    def start(self) -> None:
        """Start the thread; call it from the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """Ask the thread to end and wait for it a little; it cannot be interrupted while it compiles."""
        self._is_stopping = True
        self._delivered.set()
        self._put(_wake)
        if self._thread.is_alive():
            self._thread.join(seconds)

    # -- from clients -------------------------------------------------------------------------------------------------

    def join(self, client_id: int) -> None:
        """Welcome a client."""
        queue = self._queues[client_id] = ClientQueue(client_id)
        self._append(queue, Presence.JOIN)

    def leave(self, client_id: int) -> None:
        """Say goodbye to a client, once what it asked for is done."""
        queue = self._queues.pop(client_id, None)
        if queue is not None and not queue.drop_if_unseen():
            self._append(queue, Presence.LEAVE)

    def is_in_lock_step(self) -> bool:
        """Return whether time waits for the clients."""
        return self._simulation is not None and self._simulation.is_in_lock_step

    def is_listening(self, client_id: int) -> bool:
        """Return whether a client may ask for more now."""
        queue = self._queues.get(client_id)
        return queue is None or not queue.is_full

    def note_health(self, client_id: int, is_reading: bool, is_troublesome: bool) -> None:
        """Take note whether a client reads its telemetry, and whether it makes many mistakes."""
        if self._simulation is not None:
            self._simulation.note_health(client_id, is_reading, is_troublesome)

    def execute(self, client_id: int, request: Request) -> None:
        """Pass on what a client that has joined asks for, or do it at once where that is quicker."""
        simulation = self._simulation
        if (
            simulation is None
            or not isinstance(request, DriveCar)
            or not simulation.may_step_at_once(MOST_CARS_AT_ONCE)
            or self._put_count != self._done_count
            or not self._turns.is_idle
            or self._is_delivering
            or not self._lock.acquire(blocking=False)
        ):
            self._append(self._queues[client_id], request)
            return
        self._busy_polling.note_control()
        try:
            self._guard(simulation, lambda simulation: simulation.execute(client_id, request))
            self._guard(simulation, lambda simulation: simulation.beat())
            outputs = simulation.take_outputs()
            if simulation.seconds_to_beat() is not None:
                self._put(_wake)
        finally:
            self._lock.release()
        self._deliver(outputs)
        self._busy_polling.note_answer()

    def _append(self, queue: ClientQueue, entry: Entry) -> None:
        """Put an entry into a client's queue and see to it that the thread knows."""
        queue.append(entry, latest_counts=not self.is_in_lock_step())
        if queue.enlist():
            self._put(lambda _: self._turns.add(queue))

    def _put(self, task: Callable[[Simulation], object]) -> None:
        """Hand a task to the thread."""
        self._put_count += 1
        self._inbox.put(task)

    # -- from this program --------------------------------------------------------------------------------------------

    def scene_names(self) -> tuple[str, ...]:
        """Return the scenes that the menu offers."""
        return self._scene_names

    def begin_scene(self, name: str, when_failed: Callable[[DonkeySimError], None] | None = None) -> None:
        """Load a scene as soon as the thread can; a failure is logged, or given to `when_failed` on the loop."""

        def load(simulation: Simulation) -> None:
            try:
                simulation.load_scene(name)
            except DonkeySimError as error:
                if when_failed is None:
                    _log.warning("cannot load %s: %s", name, error)
                else:
                    self._call_on_loop(when_failed, error)

        self._put(load)

    async def draw_challenges(self, seed: int | None) -> None:
        """Draw challenges anew, from another seed or the same; see `Simulation`."""
        await self.ask(lambda simulation: simulation.draw_challenges(seed))

    async def ask(
        self,
        question: Callable[[Simulation], T],
        inbox: queue.SimpleQueue[Callable[[Simulation], object]] | None = None,
    ) -> T:
        """Return what the simulation answers, on the event loop."""
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()

        def put_question(simulation: Simulation) -> None:
            try:
                settle = functools.partial(answer.set_result, question(simulation))
            except DonkeySimError as error:
                settle = functools.partial(answer.set_exception, error)
            if answer.set_running_or_notify_cancel():
                settle()

        if inbox is not None:
            inbox.put(put_question)
        self._put(put_question if inbox is None else _wake)
        return await asyncio.wrap_future(answer)

    # -- on the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        simulation = self._simulation = self._open_simulation()
        if simulation is None:
            return
        simulation.hand_out = functools.partial(self._hand_out, simulation)
        while not self._is_stopping:
            first = self._wait(simulation)
            with self._lock:
                if first is not None:
                    self._take_tasks(simulation, first)
                self._turns.take_quick()
                is_due = simulation.seconds_to_beat() == 0.0
                self._guard(simulation, lambda simulation: simulation.beat())
                self._turns.take_costly(simulation.seconds_of_room())
                for client in simulation.take_freed():
                    if client.queue.first is not None and client.queue.enlist():
                        self._turns.add(client.queue)
                is_behind = self._hand_out(simulation)
                now = self._read_clock()
                self._serve_watchers(simulation, is_due, now)
            if is_behind:
                self._await_delivery()
        simulation.close()

    def _open_simulation(self) -> Simulation | None:
        """Return the simulation; None, and giving up, when it cannot be made."""
        try:
            return self._make_simulation()
        except DonkeySimError as error:
            self._call_on_loop(self._give_up, error)
        except Exception as error:  # noqa: BLE001  (a broken install may raise anything; the user hears of it)
            text = f"the simulator did not start ({type(error).__name__}: {error}); reinstall donkeysim."
            self._call_on_loop(self._give_up, DonkeySimError(text))
        return None

    def _wait(self, simulation: Simulation) -> Callable[[Simulation], object] | None:
        """Wait for the next beat or a request, and return the request."""
        seconds = self._seconds_to_act(simulation.seconds_to_beat())
        if seconds == 0.0 and self._inbox.empty():
            return None  # at full speed: an exception in each beat would be felt
        try:
            return self._inbox.get_nowait() if seconds == 0.0 else self._inbox.get(timeout=seconds)
        except queue.Empty:
            return None

    def _take_tasks(self, simulation: Simulation, first: Callable[[Simulation], object]) -> None:
        """Do what the pages ask for, and see which clients have asked for something."""
        self._guard(simulation, first)
        self._done_count += 1
        for _ in range(self._inbox.qsize()):
            self._guard(simulation, self._inbox.get_nowait())
            self._done_count += 1

    def _perform_next(self, queue: ClientQueue) -> None:
        """Do the next thing that a client wants."""
        assert self._simulation is not None
        if queue.first is Presence.JOIN:
            if queue.take() is Presence.JOIN:  # else its client has just gone
                self._guard(self._simulation, lambda simulation: simulation.join(queue.client_id, queue))
        else:
            self._guard(self._simulation, lambda simulation: simulation.perform_next(queue))

    def _may_take(self, client_id: int, entry: Entry) -> bool:
        assert self._simulation is not None
        return isinstance(entry, Presence) or self._simulation.may_execute(client_id, entry)

    def _has_to_wait(self, queue: ClientQueue) -> bool:
        assert self._simulation is not None
        return self._simulation.has_to_wait(queue)

    def _seconds_to_act(self, seconds_to_beat: float | None) -> float | None:
        """Return how long the thread may wait: to the next beat or turn, or until a picture loses its patience."""
        if seconds_to_beat == 0.0:
            return 0.0
        room = self._simulation.seconds_of_room() if self._simulation is not None else None
        times = (seconds_to_beat, self._turns.seconds_left(room), self._seconds_to_watchers())
        return min((seconds for seconds in times if seconds is not None), default=None)

    def _guard(self, simulation: Simulation, task: Callable[[Simulation], object]) -> None:
        """Carry out a task; an error of our own making must not end the program for everybody."""
        try:
            task(simulation)
        except Exception:  # noqa: BLE001  (the thread must live on; the traceback is logged)
            _log.exception("an error in the simulation")
            if simulation.seconds_to_beat() == 0.0:
                simulation.recover()

    def _hand_out(self, simulation: Simulation) -> bool:
        """Pass outputs to the event loop; return whether it should be waited for before more are made."""
        outputs = simulation.take_outputs()
        if not outputs:
            return False
        with self._outbox_lock:
            self._outbox += outputs
            is_first, self._is_delivering = not self._is_delivering, True
        if is_first:
            self._call_on_loop(self._deliver_outbox)
        return not is_first and simulation.seconds_to_beat() == 0.0

    def _deliver_outbox(self) -> None:
        with self._outbox_lock:
            outputs, self._outbox = self._outbox, []
            self._is_delivering = False
            if self._is_awaited:
                self._delivered.set()
        self._deliver(outputs)

    def _await_delivery(self) -> None:
        """Wait a while until the event loop has taken what was handed out."""
        with self._outbox_lock:
            if not self._is_delivering or self._is_stopping:
                return
            self._delivered.clear()
            self._is_awaited = True
        self._delivered.wait(DELIVERY_SECONDS)
        self._is_awaited = False

    def _seconds_to_watchers(self) -> float | None:
        """Return how long until those who watch need the thread [s]; None: they do not."""
        return None

    def _serve_watchers(self, simulation: Simulation, has_moved: bool, now: float) -> None:
        """Do what those who watch wait for, after a beat or between two."""

    def _call_on_loop(self, function: Callable[..., None], *arguments: object) -> None:
        """Call a function on the event loop, if it still runs."""
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            if not self._loop.is_closed():
                raise


class BusyPolling:
    """Keeps the running event loop from sleeping after an answer when the control before came quickly.

    In lock-step a quick client answers a telemetry within a tenth of a millisecond. An event loop that sleeps meanwhile
    lets its core rest; it wakes late, and the step that follows is slower by a fifth. A client that takes its time
    costs nothing more: the loop sleeps as ever.
    """

    def __init__(self, read_clock: Clock, core_count: int | None = None) -> None:
        """Begin asleep.

        Args:
            core_count: With one the client needs it, and the loop always sleeps; None: as many as there are.
        """
        self._read_clock = read_clock
        self._has_room = (count_cores() if core_count is None else core_count) > 1
        self._answered = -1.0
        self._is_quick = False
        self._is_running = False

    def note_control(self) -> None:
        """Take note that a control has come."""
        self._is_quick = self._has_room and self._read_clock() - self._answered < AWAKE_SECONDS

    def note_answer(self) -> None:
        """Take note that its telemetry has gone out, and wait for the next one awake if that is worth it."""
        self._answered = self._read_clock()
        if self._is_quick and not self._is_running:
            self._is_running = True
            asyncio.get_running_loop().call_soon(self._look_around)

    def _look_around(self) -> None:
        """Come again as soon as sockets have been looked at, until it has taken too long."""
        self._is_running = self._read_clock() - self._answered < AWAKE_SECONDS
        if self._is_running:
            asyncio.get_running_loop().call_soon(self._look_around)
