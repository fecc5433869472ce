"""One client's side of the conversation, without IO: bytes in, replies and requests out; and what may be said when.

What clients do wrong stands in a log that nobody can fill: the first of each kind in words, the others as numbers.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from donkeysim.core.clock import Clock
from donkeysim.core.errors import WireError
from donkeysim.wire import messages
from donkeysim.wire.framing import ObjectReader
from donkeysim.wire.grammar import Fault
from donkeysim.wire.messages import PROTOCOL_VERSION, ClientState, ProtocolVersion, Reply, Request, SceneNames
from donkeysim.wire.reading import Reading, UnknownMessageError, read_request
from donkeysim.wire.replies import ErrorReply, encode_reply

# A program with a mistake repeats it in each of its 20 controls a second; half of them are answered, the rest would
# say nothing new.
MOST_ERRORS_A_SECOND = 10

TROUBLE_SECONDS = 10.0
"""A client whose last `MOST_ERRORS_A_SECOND` errors came within this time is troublesome [s]."""

# Twice what lock-step reaches with small pictures (4,780 a second, docs/decisions/0021), so no honest client comes near
# it.
MOST_MESSAGES_A_SECOND = 10_000
"""A client that stays above this for `MOST_FLOODED_SECONDS` is sent away."""

MOST_FLOODED_SECONDS = 5.0

LATE_CONTROL = "control: no scene"
"""So begins the answer to a control that was on its way when the scene ended: nobody did anything wrong."""

# What fits on a screen; whoever reads a log wants to know who and what, not each one.
MOST_LINES = 20
"""How many are logged in full in one stretch; further ones are counted."""

STRETCH_SECONDS = 60.0
"""How long a stretch is; then what was not logged is summed up in one line [s]."""

_log = logging.getLogger("donkeysim.wire")


def find_refusal(request: Request, place: ClientState) -> str | None:
    """Return why a request cannot be honoured where the client is, None when it can."""
    name = request.message_type()
    if place in request.said_in:
        return None
    if ClientState.MENU in request.said_in:
        return f"{name}: a scene is running; send exit_scene first."
    if place is ClientState.MENU:
        return f"{name}: no scene is running; send load_scene first."
    return f"{name}: you have no car; wait until a place for one is free."


@dataclass
class Received:
    """What one portion of bytes, or the passing of time, leads to.

    Attributes:
        replies: Lines for the client.
        requests: For the simulation, in the order received.
        work: What the reading took, in tokens of the text.
        wants_quit: Whether the whole program shall end.
        is_over: Whether the connection shall be closed after the replies.
    """

    replies: list[bytes] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    work: int = 0
    wants_quit: bool = False
    is_over: bool = False


class Session:
    """Reads one client, answers what needs no simulation, and keeps its errors within limits.

    Attributes:
        name: For the log.
        forbidden: Messages that this client may not say, because of where it is.
    """

    def __init__(
        self,
        name: str,
        list_scenes: Callable[[], tuple[str, ...]],
        read_clock: Clock,
        faults: FaultLog | None = None,
        read: Callable[[Mapping[str, object]], Reading] = read_request,
    ) -> None:
        self.name = name
        self.forbidden: frozenset[type[Request]] = frozenset()
        self._answers: dict[type[Request], Callable[[], Reply]] = {
            messages.GetProtocolVersion: lambda: ProtocolVersion(version=PROTOCOL_VERSION),
            messages.GetSceneNames: lambda: SceneNames(scene_names=list_scenes()),
        }
        self._read = read
        self._read_clock = read_clock
        self._reader = ObjectReader(read_clock)
        self._error_times: deque[float] = deque(maxlen=MOST_ERRORS_A_SECOND)
        self._faults = faults or FaultLog(read_clock)
        self._seen_kinds: set[str] = set()
        self._is_over = False
        self._window_start = read_clock()
        self._window_count = 0
        self._flooded_seconds = 0.0

    @property
    def has_faults(self) -> bool:
        """Whether anything that the client sent was not understood or not possible."""
        return bool(self._seen_kinds)

    @property
    def is_troublesome(self) -> bool:
        """Whether the client has made many mistakes lately."""
        is_many = len(self._error_times) == MOST_ERRORS_A_SECOND
        return is_many and self._read_clock() - self._error_times[0] < TROUBLE_SECONDS

    @property
    def has_more(self) -> bool:
        """Whether bytes that came wait to be read by further calls of `receive`, which need no new ones."""
        return self._reader.has_more and not self._is_over

    def receive(self, data: bytes = b"") -> Received:
        """Return what the client's bytes lead to, as far as the work of one call goes."""
        turn = Received()
        if self._is_over:
            return turn
        items = self._reader.feed(data)
        turn.work = self._reader.work
        for item in items:
            if isinstance(item, Fault):
                self._take_fault(item, turn)
            else:
                self._take_object(item, turn)
            if turn.is_over:
                return turn
        if self._is_flooding(len(items)):
            text = f"more than {MOST_MESSAGES_A_SECOND} messages a second for {MOST_FLOODED_SECONDS:g} s; goodbye."
            self._take_fault(Fault("flood", text, is_fatal=True), turn)
        return turn

    def skip_time(self, seconds: float) -> None:
        """Do not count time in which the client had sent more than was read [s]."""
        self._reader.skip_time(seconds)

    def check_time(self) -> Received:
        """Return what the passing of time leads to; call it now and then."""
        turn = Received()
        for item in self._reader.check_time():
            if isinstance(item, Fault):
                self._take_fault(item, turn)
        return turn

    def report_error(self, kind: str, text: str) -> bytes | None:
        """Return the line that reports an error to the client, None when it heard enough in this second.

        Args:
            kind: Short name of this sort of error, of which there must be few; logged in words once, a late
                control never.
        """
        if not text.startswith(LATE_CONTROL):
            self._faults.note(self.name, kind, text, kind not in self._seen_kinds)
            self._seen_kinds.add(kind)
        now = self._read_clock()
        if len(self._error_times) == MOST_ERRORS_A_SECOND and now - self._error_times[0] < 1.0:
            return None
        self._error_times.append(now)
        return encode_reply(ErrorReply(error=text))

    def _take_fault(self, fault: Fault, turn: Received) -> None:
        if fault.is_fatal:
            self._is_over = turn.is_over = True
            self._error_times.clear()
        line = self.report_error(fault.kind, fault.text)
        if line is not None and not fault.is_silent:
            turn.replies.append(line)

    def _take_object(self, fields: dict[str, object], turn: Received) -> None:
        try:
            request, note = self._read(fields)
        except WireError as error:
            kind = "unknown message" if isinstance(error, UnknownMessageError) else f"bad {fields['msg_type']}"
            self._take_fault(Fault(kind, str(error)), turn)
            return
        if note:
            self._take_fault(Fault(f"changed {request.message_type()}", note), turn)
        if type(request) in self.forbidden:
            name = request.message_type()
            text = f"{name}: only clients on the simulator's own machine may do this; --wire-control changes that."
            self._take_fault(Fault(f"forbidden {name}", text), turn)
        elif (answer := self._answers.get(type(request))) is not None:
            turn.replies.append(encode_reply(answer()))
        elif isinstance(request, messages.QuitApp):
            turn.wants_quit = True
        else:
            turn.requests.append(request)

    def _is_flooding(self, item_count: int) -> bool:
        """Count messages; return True when there were too many for too long."""
        self._window_count += item_count
        elapsed = self._read_clock() - self._window_start
        if elapsed < 1.0:
            return False
        is_above = self._window_count > MOST_MESSAGES_A_SECOND * elapsed
        self._flooded_seconds = self._flooded_seconds + elapsed if is_above else 0.0
        self._window_start += elapsed
        self._window_count = 0
        return self._flooded_seconds >= MOST_FLOODED_SECONDS


class FaultLog:
    """Counts faults of all clients and logs them.

    Attributes:
        totals: How often each kind of fault has happened.
    """

    def __init__(self, read_clock: Clock) -> None:
        self.totals: Counter[str] = Counter()
        self._read_clock = read_clock
        self._lines = 0
        self._untold: Counter[str] = Counter()
        self._stretch_began = read_clock()

    def note(self, name: str, kind: str, text: str, is_first: bool) -> None:
        """Take note of a fault.

        Args:
            kind: Short name of this sort of fault; there must be few.
            is_first: Whether this connection makes it for the first time.
        """
        self.totals[kind] += 1
        if is_first and self._lines < MOST_LINES:
            self._lines += 1
            _log.warning("%s: %s", name, text)
        else:
            self._untold[kind] += 1

    def check_time(self) -> None:
        """Sum up what was not logged, once a stretch of time is over; call it now and then."""
        if self._read_clock() - self._stretch_began < STRETCH_SECONDS:
            return
        if self._untold:
            _log.warning("more of the same in the last %g s: %s", STRETCH_SECONDS, describe_counts(self._untold))
        self._lines = 0
        self._untold.clear()
        self._stretch_began = self._read_clock()

    def close(self) -> None:
        """Tell the totals, if there was anything."""
        if self.totals:
            _log.warning(
                "messages from clients that were not understood or could not be carried out: %s",
                describe_counts(self.totals),
            )


def describe_counts(counts: Counter[str]) -> str:
    """Return counts in words, the most frequent first."""
    return ", ".join(f"{kind} {count}" for kind, count in counts.most_common())
