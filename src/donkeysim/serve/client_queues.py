"""What clients have asked for and the simulation has not done yet: a queue for each, emptied by turns.

The event loop fills the queues, the simulation's thread empties them. What is quick (controls, resets) comes first and
has its share of the thread's time; what is costly (joining, cameras, lidars, bodies, scenes) has a smaller one. So the
beat stays punctual whatever is asked for, and whoever asks for much waits longer, not the others.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from donkeysim.core.clock import Clock
from donkeysim.serve.time_budget import TimeBudget
from donkeysim.wire import messages
from donkeysim.wire.messages import DriveCar, Request

MOST_WAITING = 64
"""Requests of one client; who has so many in its queue is not listened to until some are done."""

QUICK_SHARE, COSTLY_SHARE = 0.15, 0.1
"""Of the simulation thread's time."""

BURST_SECONDS = 0.005
"""After a pause requests may take so long without a break [s]."""

QUICK_IN_A_TURN = 8
"""Requests of one client that are carried out together; of costly ones it is one."""

MOST_PATIENT_SECONDS = 0.25
"""Where beats leave no room, something costly is done in spite of that after this time [s]."""

HELD_SECONDS = 0.01
"""A queue that may not be emptied now is looked at again after this time [s]."""


class Presence(enum.Enum):
    """A client's coming and going, in order with its requests."""

    JOIN = enum.auto()
    LEAVE = enum.auto()


Entry = Request | Presence

_QUICK = (DriveCar, messages.ResetCar, messages.SetPosition, messages.GetNodePosition, messages.SetStepMode)


@dataclass(eq=False)
class ClientQueue:
    """One client's entries; `append` is the event loop's, `take` the simulation thread's.

    Attributes:
        client_id: Whose.
        is_listed: Whether the thread knows that there is something to take.
    """

    client_id: int
    is_listed: bool = False
    _waiting: deque[Entry] = field(default_factory=deque)
    _has_step_mode: bool = False

    @property
    def is_full(self) -> bool:
        """Whether the client should not be listened to now."""
        return len(self._waiting) >= MOST_WAITING

    @property
    def first(self) -> Entry | None:
        """The entry that is to be taken next."""
        try:
            return self._waiting[0]
        except IndexError:
            return None

    @property
    def is_costly(self) -> bool:
        """Whether the next entry is, or there is none."""
        return not isinstance(self.first, _QUICK)

    def append(self, entry: Entry, latest_counts: bool) -> bool:
        """Add an entry; return whether the thread must be told.

        Args:
            entry: What the client wants.
            latest_counts: Whether a control takes the place of one before it that waits: not in lock-step.
        """
        if not self.is_listed:  # else the thread may be just carrying one out
            self._has_step_mode = False
        self._has_step_mode |= isinstance(entry, messages.SetStepMode)
        if not (latest_counts and not self._has_step_mode and isinstance(entry, DriveCar) and self._replace(entry)):
            self._waiting.append(entry)
        was_listed, self.is_listed = self.is_listed, True
        return not was_listed

    def drop_if_unseen(self) -> bool:
        """Forget a client that has only joined, if the thread has not seen that yet; return whether it was so."""
        if len(self._waiting) != 1 or self.first is not Presence.JOIN:
            return False
        try:
            self._waiting.remove(Presence.JOIN)
        except (ValueError, IndexError):  # the thread took it at this moment
            return False
        return True

    def take(self) -> Entry | None:
        """Return the next entry, None when there is none."""
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def unlist(self) -> bool:
        """Note that all was taken; return whether something came at this moment, so that it is listed again."""
        self.is_listed = False
        if not self._waiting:
            return False
        self.is_listed = True
        return True

    def _replace(self, control: DriveCar) -> bool:
        """Put a control in the place of the last entry if that is one; what it does not say stays."""
        try:
            last = self._waiting[-1]
            if not isinstance(last, DriveCar):
                return False
            steer = last.steer if control.steer is None else control.steer
            throttle = last.throttle if control.throttle is None else control.throttle
            self._waiting[-1] = DriveCar(steer=steer, throttle=throttle, brake=control.brake)
        except IndexError:  # the thread took it at this moment
            return False
        return True


class QueueTurns:
    """Which queue the simulation's thread empties next."""

    def __init__(
        self, perform: Callable[[int, Entry], None], may_take: Callable[[int, Entry], bool], read_clock: Clock
    ) -> None:
        """Begin with nobody waiting.

        Args:
            perform: Does what a client wants.
            may_take: Whether this may be done now.
            read_clock: Wall time.
        """
        self._perform = perform
        self._may_take = may_take
        self._read_clock = read_clock
        self._held: list[ClientQueue] = []
        self._quick: deque[ClientQueue] = deque()
        self._costly: deque[ClientQueue] = deque()
        self._quick_budget = TimeBudget(QUICK_SHARE, BURST_SECONDS, read_clock)
        self._costly_budget = TimeBudget(COSTLY_SHARE, BURST_SECONDS, read_clock)
        self._patient_since = read_clock()

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits."""
        return not (self._quick or self._costly or self._held)

    def add(self, queue: ClientQueue) -> None:
        """Put a queue that has something at the end of its line."""
        if not queue.is_costly:
            self._quick.append(queue)
            return
        if not self._costly:
            self._patient_since = self._read_clock()
        self._costly.append(queue)

    def seconds_left(self, room: float | None = None) -> float | None:
        """Return how long until there is something to do before the next beat [s]; None while there is nothing.

        Args:
            room: How long something costly may still be begun [s]; None: at any time.
        """
        times = [HELD_SECONDS] if self._held else []
        if self._quick:
            times.append(self._quick_budget.seconds_to_more())
        if self._costly:
            seconds = self._costly_budget.seconds_to_more()
            if self._is_room(None if room is None else room - seconds):
                times.append(seconds)
        return min(times, default=None)

    def take_quick(self) -> None:
        """Do what is quick, everybody in turn, while there is time for it."""
        held, self._held = self._held, []
        for queue in held:
            self.add(queue)
        while self._quick and self._quick_budget.is_left():
            self._take_turn(self._quick.popleft(), QUICK_IN_A_TURN, self._quick_budget)

    def take_costly(self, room: float | None = None) -> None:
        """Do what is costly, everybody in turn, while there is time for it; room: see `seconds_left`."""
        end = None if room is None else self._read_clock() + room
        while self._costly and self._costly_budget.is_left():
            if not self._is_room(None if end is None else end - self._read_clock()):
                break
            self._take_turn(self._costly.popleft(), 1, self._costly_budget)
            self._patient_since = self._read_clock()

    def _is_room(self, seconds: float | None) -> bool:
        """Return whether something costly may be begun: there is room for it, or there was none for long."""
        is_patient = self._read_clock() - self._patient_since < MOST_PATIENT_SECONDS
        return seconds is None or seconds > 0.0 or not is_patient

    def _take_turn(self, queue: ClientQueue, most: int, budget: TimeBudget) -> None:
        began = self._read_clock()
        is_held = False
        for _ in range(most):
            entry = queue.first
            is_held = entry is not None and not self._may_take(queue.client_id, entry)
            if is_held or (entry := queue.take()) is None:
                break
            self._perform(queue.client_id, entry)
            if queue.is_costly:
                break
        budget.charge(self._read_clock() - began)
        if is_held:
            self._held.append(queue)
        elif queue.unlist():
            self.add(queue)
