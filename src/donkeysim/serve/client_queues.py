"""What clients have asked for and the simulation has not done yet: a queue for each, emptied by turns.

The event loop fills the queues, the simulation's thread empties them. What is quick (controls, resets) comes first;
what is costly (joining, cameras, lidars, bodies, scenes) comes after a beat and is not begun when the next one is near.
So the beat stays punctual whatever is asked for, and whoever asks for much waits longer, not the others. In lock-step
time waits until every client has said what its car does next.
"""

import enum
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from donkeysim.core.clock import Clock
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.wire import messages
from donkeysim.wire.equipment import ConfigureCamera, ConfigureCar, ConfigureLidar
from donkeysim.wire.messages import DriveCar, RegenerateRoad, Request

# Whoever asks for more is not read: the rest stays in the sender's own buffers, and memory here stays bounded.
MOST_WAITING = 64
"""Requests of one client; one with this many in its queue is not listened to until some are done."""

# A control costs 4 µs, a plate 10 ms: eight of the one are as nothing beside one of the other.
QUICK_IN_A_TURN = 8
"""Requests of one client that are carried out together; of costly ones it is one."""

# Five beats: long enough for most requests to find room, and a join or another camera may take a quarter of a second.
MOST_PATIENT_SECONDS = 0.25
"""Where beats leave no room, something costly is done in spite of that after this time [s]."""

HELD_SECONDS = 0.01
"""A queue that may not be emptied now is looked at again after this time [s]."""

SENSORS = (ConfigureCamera, ConfigureLidar)
"""What is costly and asks nothing of a car's looks."""

# A learner may think for seconds between two controls; but one stopped client must not hold all others for ever.
MOST_SILENT_SECONDS = 10.0
"""A client that says nothing for so long is not waited for [s, wall time]."""


class Presence(enum.Enum):
    """A client's coming and going, in order with its requests."""

    JOIN = enum.auto()
    LEAVE = enum.auto()


Entry = Request | Presence


@dataclass(eq=False)
class ClientQueue:
    """All that one client has asked for; the event loop appends, the simulation's thread takes.

    In lock-step a control waits here for its step, and whatever a client says while its road is made for that road.

    Attributes:
        heard: When the client last said something or was last answered, as far as the simulation knows [s].
        is_listed: Whether the thread knows that there is something to take.
        has_waited: Whether something costly has waited here since the last time that something costly was done.
    """

    client_id: int
    heard: float = 0.0
    is_listed: bool = False
    has_waited: bool = False
    _waiting: deque[Entry] = field(default_factory=deque)
    _taken: Entry | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _keeps_order: bool = False

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
    def has_left(self) -> bool:
        """Whether the client is gone, and what waits is all that it has said."""
        try:
            return self._waiting[-1] is Presence.LEAVE
        except IndexError:
            return False

    @property
    def is_costly(self) -> bool:
        """Whether the next entry is, or there is none."""
        return not _is_quick(self.first)

    @property
    def is_ready(self) -> bool:
        """Whether the client's next control is here, as far as lock-step is concerned."""
        return isinstance(self.first, DriveCar)

    def append(self, entry: Entry, latest_counts: bool) -> None:
        """Add an entry.

        Args:
            entry: What the client wants.
            latest_counts: Whether a control, or a road, is merged into one that waits as the last, and looks into
                others that wait: not in lock-step.
        """
        with self._lock:
            modes = (isinstance(one, messages.SetStepMode) for one in (entry, self._taken, *self._waiting))
            self._keeps_order = not latest_counts or any(modes)
            if self._keeps_order or not self._merge(entry):
                self._waiting.append(entry)

    def let_overtake(self) -> None:
        """Let controls and sensors go before looks that come first, whose plates take their time: not in lock-step."""
        with self._lock:
            index = next((at for at, entry in enumerate(self._waiting) if not isinstance(entry, ConfigureCar)), 0)
            entry = self._waiting[index] if index else None
            if entry is not None and not self._keeps_order and (_is_quick(entry) or isinstance(entry, SENSORS)):
                del self._waiting[index]
                self._waiting.appendleft(entry)

    def enlist(self) -> bool:
        """Note that the thread knows from now on; return whether it must be woken."""
        was_listed, self.is_listed = self.is_listed, True
        return not was_listed

    def put_back(self, entry: Entry) -> None:
        """Put an entry that was taken back to the front."""
        with self._lock:
            self._waiting.appendleft(entry)

    def drop_if_unseen(self) -> bool:
        """Forget a client that has only joined, if the thread has not seen that yet; return whether it was so."""
        with self._lock:
            is_unseen = list(self._waiting) == [Presence.JOIN]
            if is_unseen:
                self._waiting.clear()
        return is_unseen

    def take(self) -> Entry | None:
        """Return the next entry, None when there is none."""
        with self._lock:
            self._taken = self._waiting.popleft() if self._waiting else None
            return self._taken

    def unlist(self, has_to_wait: bool) -> bool:
        """Note that the thread looks elsewhere; return whether it should look here again at once.

        Args:
            has_to_wait: Whether the simulation itself takes what is left. Otherwise something may have just come.
        """
        self.is_listed = False
        if has_to_wait or not self._waiting:
            return False
        self.is_listed = True
        return True

    def _merge(self, entry: Entry) -> bool:
        """Put an entry in the place of one like it that waits: what it does not say stays.

        Of controls and roads that is the last entry; of looks the last ones, behind which only quick entries wait, but
        never the first entry, whose plate may be being drawn.
        """
        index = len(self._waiting) - 1
        if isinstance(entry, ConfigureCar):
            while index > 0 and _is_quick(self._waiting[index]):
                index -= 1
            if index <= 0:
                return False
        elif index < 0 or not isinstance(entry, (DriveCar, RegenerateRoad)):
            return False
        last = self._waiting[index]
        if type(last) is not type(entry):
            return False
        said = {name: value for name in entry.__struct_fields__ if (value := getattr(entry, name)) is not None}
        if isinstance(last, ConfigureCar) and isinstance(entry, ConfigureCar):
            pairs = zip(entry.colour, last.colour, strict=True)
            said["colour"] = tuple(before if now is None else now for now, before in pairs)
        self._waiting[index] = msgspec.structs.replace(last, **said)
        return True


def _is_quick(entry: Entry | None) -> bool:
    return isinstance(entry, Request) and entry.is_quick


class QueueTurns:
    """Which queue the simulation's thread empties next."""

    def __init__(
        self,
        perform_next: Callable[[ClientQueue], None],
        may_take: Callable[[int, Entry], bool],
        has_to_wait: Callable[[ClientQueue], bool],
        read_clock: Clock,
    ) -> None:
        """Begin with nobody waiting.

        Args:
            perform_next: Takes the next entry of a queue and does what the client wants.
            may_take: Whether this may be done now; asked again a little later if not.
            has_to_wait: Whether a queue is emptied at another time, by the simulation itself.
        """
        self._perform_next = perform_next
        self._may_take = may_take
        self._has_to_wait = has_to_wait
        self._read_clock = read_clock
        self._held: list[ClientQueue] = []
        self._quick: deque[ClientQueue] = deque()
        self._costly: deque[ClientQueue] = deque()
        self._patient_since = read_clock()

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits."""
        return not (self._quick or self._costly or self._held)

    def add(self, queue: ClientQueue) -> None:
        """Put a queue that has something at the end of its line."""
        queue.let_overtake()
        if not queue.is_costly:
            self._quick.append(queue)
            return
        if not self._costly and not queue.has_waited:
            self._patient_since = self._read_clock()
        queue.has_waited = True
        self._costly.append(queue)

    def seconds_left(self, room: float | None = None) -> float | None:
        """Return how long until there is something to do before the next beat [s]; None while there is nothing.

        Args:
            room: How long something costly may still be begun [s]; None: at any time.
        """
        if self._quick or (self._costly and self._is_room(room)):
            return 0.0
        return HELD_SECONDS if self._held else None

    def take_quick(self) -> None:
        """Do what is quick, once around."""
        held, self._held = self._held, []
        for queue in held:
            self.add(queue)
        for queue in [*self._costly]:
            queue.let_overtake()
            if not queue.is_costly:
                self._costly.remove(queue)
                self._quick.append(queue)
        for _ in range(len(self._quick)):
            self._take_turn(self._quick.popleft(), QUICK_IN_A_TURN)

    def take_costly(self, room: float | None = None) -> None:
        """Do what is costly, once around while there is room for it; room: see `seconds_left`."""
        end = None if room is None else self._read_clock() + room
        for _ in range(len(self._costly)):
            if not self._is_room(None if end is None else end - self._read_clock()):
                break
            queue = self._costly.popleft()
            queue.has_waited = False
            self._take_turn(queue, 1)
            self._patient_since = self._read_clock()

    def _is_room(self, seconds: float | None) -> bool:
        """Return whether something costly may be begun: there is room for it, or there was none for long."""
        is_patient = self._read_clock() - self._patient_since < MOST_PATIENT_SECONDS
        return seconds is None or seconds > 0.0 or not is_patient

    def _take_turn(self, queue: ClientQueue, most: int) -> None:
        is_held = has_to_wait = False
        for _ in range(most):
            entry = queue.first
            if entry is None or (has_to_wait := self._has_to_wait(queue)):
                break
            if is_held := not self._may_take(queue.client_id, entry):
                break
            self._perform_next(queue)
            if queue.is_costly:
                break
        if is_held:
            self._held.append(queue)
        elif queue.unlist(has_to_wait):
            self.add(queue)


class LockStep:
    """Whether the scene is in lock-step, who asked for it, how long a step is, and when the next one may be taken."""

    def __init__(self, read_clock: Clock) -> None:
        self.is_on = False
        self.asked_by = set[int]()
        self.step_count = PHYSICS_RATE // 20
        self._read_clock = read_clock

    def seconds_left(self, queues: Iterable[ClientQueue]) -> float | None:
        """Return how long to wait for the silent before the next step [s]; 0: step now; None: nobody is ready."""
        seconds, is_somebody_ready = 0.0, False
        for queue in queues:
            if queue.is_ready:
                is_somebody_ready = True
            else:
                seconds = max(seconds, queue.heard + MOST_SILENT_SECONDS - self._read_clock())
        return seconds if is_somebody_ready else None
