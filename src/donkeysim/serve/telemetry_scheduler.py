"""Who gets its telemetry when: most in the beat itself, those with large pictures or scans when these are drawn.

What they show is captured in the beat; threads draw and encode it while time moves on, and a later beat hands it out,
readings and pictures of one moment. A client has one telemetry in work at a time, and what happens to its car after
that moment is sent after it. In lock-step everybody waits for everything.
"""

from __future__ import annotations

import functools
import logging
import math
import operator
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING

from donkeysim.core.clock import Clock
from donkeysim.render.scratch import ScratchRoom
from donkeysim.serve.options import SimulationOptions
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.participants import SceneCar
from donkeysim.serve.picture_budget import CostAccount, choose_apart
from donkeysim.serve.telemetry_message import TelemetryWriter

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

MOST_TOGETHER = 4
"""Cars whose telemetry is made and handed out together; the first one's is made alone."""

# Five times a second is still enough to drive slowly by.
MOST_BEATS_LATE = 4
"""After how many beats a client that did not fit into one gets its telemetry, however slow the machine is."""

END_SHARE, HEAVY_END_SHARE = 0.1, 0.25
"""Of a beat's length: its last part, in which no telemetry is begun; the second for what takes long.

What is begun may take twice as long as the last time, and must not make the next beat late.
"""

_log = logging.getLogger("donkeysim.simulation")


class TelemetryScheduler:
    """Makes the telemetry of all cars of a scene; its methods belong to the simulation's thread.

    A picture's cost is measured by a thread's own time; on Windows, which counts it in steps of 16 ms, by the clock.
    """

    def __init__(self, options: SimulationOptions, composer: TelemetryWriter, read_clock: Clock) -> None:
        """Begin with nobody; threads start with the first picture that needs one."""
        self._composer = composer
        self._read_clock = read_clock
        self._read_cost: Clock = time.perf_counter if sys.platform == "win32" else time.thread_time
        self._make_threads: Callable[[int], Executor] = lambda count: ThreadPoolExecutor(count, "pictures")
        self._thread_count = options.worker_count
        self._beat_seconds = 1.0 / (options.telemetry_rate * (options.time_scale or 1.0))
        self._accounts: dict[int, CostAccount] = {}
        self._threads: Executor | None = None
        self._own = threading.local()
        self._turn = 0.0
        self._late: list[int] = []

    @property
    def is_heavy(self) -> bool:
        """Whether somebody's pictures or scans take long."""
        return any(not account.is_light for account in self._accounts.values())

    def is_apart(self, car: SceneCar) -> bool:
        """Return whether a car's pictures are drawn beside the beat."""
        account = self._accounts.get(car.car_id)
        return account is not None and account.is_apart

    def forget(self, car: SceneCar) -> None:
        """Let a car go."""
        self._accounts.pop(car.car_id, None)
        if not self.is_heavy:
            self._end_threads()

    def clear(self) -> list[Output]:
        """Let all cars go, and return what was held back for their clients."""
        held = [output for account in self._accounts.values() for output in account.held]
        self._accounts.clear()
        self._end_threads()
        return held

    def hold_back(self, events: list[Output]) -> list[Output]:
        """Return what may be sent of this moment now; clients whose telemetry is in work get it after that."""
        if not events:
            return events
        now: list[Output] = []
        held = {a.client_id: a.held for a in self._accounts.values() if a.work is not None}
        for event in events:
            held.get(event.client_id, now).append(event)
        return now

    def send(
        self, simulator: Simulator, cars: Sequence[SceneCar], kind: OutputKind, seconds_left: Clock | None = None
    ) -> Iterator[list[Output]]:
        """Yield what these cars' clients are sent now, a few at a time, and clear the hits that are in it.

        So the first need not wait for the last, whose pictures may take long in one beat and not in another. Who does
        not fit into the beat waits for the next one, and is among the first then: late for some is not late for all.

        Args:
            cars: Those whose clients wait for telemetry.
            kind: ANSWER: each gets its telemetry of now.
            seconds_left: Returns the time to the next beat [s]; None: everybody gets theirs.
        """
        heavy: list[tuple[SceneCar, CostAccount]] = []
        light: list[SceneCar] = []
        for car in cars:
            account = self._find_account(simulator, car)
            if account.is_light and account.work is None:
                light.append(car)
            else:
                heavy.append((car, account))
        yield from self._send_light(simulator, light, kind, self._measure_room(seconds_left, END_SHARE))
        if heavy:
            outputs: list[Output] = []
            self._send_heavy(simulator, heavy, kind, outputs, self._measure_room(seconds_left, HEAVY_END_SHARE))
            yield outputs

    # -- inside -------------------------------------------------------------------------------------------------------

    def _measure_room(self, seconds_left: Clock | None, share: float) -> Clock | None:
        """Return a clock of the time in which telemetry may be begun, all of a beat but its last share."""
        return None if seconds_left is None else lambda: seconds_left() - share * self._beat_seconds

    def _find_account(self, simulator: Simulator, car: SceneCar) -> CostAccount:
        sensors = simulator.list_sensors(car.row)
        account = self._accounts.get(car.car_id)
        if account is None:
            account = self._accounts[car.car_id] = CostAccount(car.client.client_id if car.client else 0, sensors)
            account.equip(sensors)
        elif not all(map(operator.is_, sensors, account.sensors)):
            account.equip(sensors)
        return account

    def _send_light(
        self, simulator: Simulator, cars: list[SceneCar], kind: OutputKind, room: Clock | None
    ) -> Iterator[list[Output]]:
        """Send to those whose pictures are small: the first, then a few together as far as they should fit in."""
        waiting = line_up(cars, self._late) if len(cars) > 1 else cars
        due = 1 + math.ceil((len(waiting) - 1) / MOST_BEATS_LATE)
        sent, count, began = 0, 1, self._read_clock()
        while waiting and count > 0:
            together, waiting = waiting[:count], waiting[count:]
            outputs: list[Output] = []
            self._send_now(simulator, together, kind, outputs)
            yield outputs
            sent += len(together)
            count = MOST_TOGETHER
            if room is not None:
                seconds = (self._read_clock() - began) / sent
                fitting = room() / seconds if seconds else math.inf
                count = int(min(count, max(fitting, due - sent)))
        self._late = [car.car_id for car in waiting]

    def _send_now(
        self, simulator: Simulator, cars: Sequence[SceneCar], kind: OutputKind, outputs: list[Output]
    ) -> None:
        """Draw and write the telemetry of cars."""
        simulator.render([car.row for car in cars])
        for car in cars:
            line = self._composer.compose(simulator, car)
            if line is not None and car.client is not None:
                outputs.append(Output(car.client.client_id, kind, line))
        hit = [car.row for car in cars if car.telemetry is not None and car.telemetry.hit != "none"]
        if hit:
            simulator.clear_hits(hit)

    def _send_heavy(
        self,
        simulator: Simulator,
        heavy: list[tuple[SceneCar, CostAccount]],
        kind: OutputKind,
        outputs: list[Output],
        room: Clock | None,
    ) -> None:
        is_lock_step = kind is OutputKind.ANSWER
        for _, account in heavy:
            if account.work is not None and (is_lock_step or account.work.done()):
                # What was begun before lock-step answers nothing in it.
                self._collect(account, None if is_lock_step else kind, outputs)
        choose_apart((account for _, account in heavy), self._beat_seconds)
        free = [(car, account) for car, account in heavy if account.work is None]
        for car, account in take_turns([pair for pair in free if not pair[1].is_apart], room):
            began = self._read_cost()
            self._send_now(simulator, [car], kind, outputs)
            account.note_cost(self._read_cost() - began)
            account.note_sent(self._read_clock())
        waiting = sorted((pair for pair in free if pair[1].is_apart), key=lambda pair: pair[1].used)
        for car, account in take_turns(waiting, room):
            if is_lock_step or self._has_time():
                self._begin(simulator, car, account)
        if is_lock_step:
            for _, account in waiting:
                self._collect(account, kind, outputs)

    def _has_time(self) -> bool:
        """Return whether one more telemetry would soon be drawn."""
        now, dues = self._read_clock(), self._list_dues()
        return not dues or (min(dues) > now and max(dues) < now + self._beat_seconds)

    def _list_dues(self) -> list[float]:
        return [a.due for a in self._accounts.values() if a.work is not None and not a.work.done()]

    def _begin(self, simulator: Simulator, car: SceneCar, account: CostAccount) -> None:
        """Have a telemetry of this moment drawn."""
        if self._threads is None:
            self._threads = self._make_threads(self._thread_count)
        account.due = max([self._read_clock(), *self._list_dues()]) + account.seconds / self._thread_count
        # Whoever has had the least is next, but nobody saves up for later.
        self._turn = account.used = max(self._turn, account.used)
        task = functools.partial(self._draw, self._composer.keep(simulator, car))
        simulator.clear_hits([car.row])
        account.work = self._threads.submit(task)

    def _draw(self, finish: Callable[[ScratchRoom], bytes | None]) -> tuple[bytes | None, float]:
        """Return a line and what it took; on a thread that draws."""
        began = self._read_cost()
        line = finish(self._own.__dict__.setdefault("room", ScratchRoom()))
        return line, self._read_cost() - began

    def _collect(self, account: CostAccount, kind: OutputKind | None, outputs: list[Output]) -> None:
        """Hand out what was drawn, as soon as it is there, and what happened meanwhile; kind None: only that."""
        work, account.work = account.work, None
        assert work is not None
        error = work.exception()
        if error is not None:
            _log.error("a picture of client %d could not be drawn", account.client_id, exc_info=error)
        else:
            line, seconds = work.result()
            account.note_cost(seconds)
            account.used += seconds
            if line is not None and kind is not None:
                outputs.append(Output(account.client_id, kind, line))
        outputs += account.held
        account.held.clear()
        if kind is not OutputKind.TELEMETRY:
            account.forget_rate()
            return
        now = self._read_clock()
        account.note_sent(now)
        news = account.find_news(now, 1.0 / self._beat_seconds)
        if news:
            outputs.append(Output(account.client_id, OutputKind.REFUSAL, news.encode()))

    def _end_threads(self) -> None:
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False)


def take_turns(
    pairs: Sequence[tuple[SceneCar, CostAccount]], room: Clock | None
) -> Iterator[tuple[SceneCar, CostAccount]]:
    """Yield those for whom there is room, while time passes; then who has waited for longest, if not only now."""
    late = []
    for pair in pairs:
        if pair[1].fits(room):
            yield pair
        else:
            late.append(pair)
    longest = max(late, key=lambda pair: pair[1].late_count, default=None)
    if longest is not None and longest[1].late_count > 1:
        longest[1].late_count = 0
        yield longest


def line_up(cars: list[SceneCar], late: Sequence[int]) -> list[SceneCar]:
    """Return who hears before whom: the first who came, who had to wait, all others; last those who make trouble.

    Args:
        cars: In the order in which they came, at least one.
        late: Ids of those that had to wait, longest first.
    """
    if not late and not any(car.client is not None and car.client.is_troublesome for car in cars):
        return cars
    place = {car_id: rank - len(late) for rank, car_id in enumerate(late)}
    place[cars[0].car_id] = -len(late) - 1

    def find_place(car: SceneCar) -> tuple[bool, int]:
        return car.client is not None and car.client.is_troublesome, place.get(car.car_id, 0)

    return sorted(cars, key=find_place)
