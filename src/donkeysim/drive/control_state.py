"""What the control page's drivers want now: a state machine without sockets, between many clients and one vehicle loop.

Messages come at any moment from any client, `tick` once in every loop. The rules:

* what a client says holds until somebody says something else;
* mode, recording and pilot are handed to the loop once (latched) and from then on are what the loop says they are, so
  that a joystick or another part may change them too;
* a car that is told to brake, or whose client vanishes, brakes until it gets a throttle from anybody;
* a pressed button is True for one loop and False for the next;
* the throttle of clients that vanish becomes 0: when the last WebSocket closes; at once when one closes that has sent
  heartbeats; and after `HEARTBEAT_SECONDS` without one. What came by POST stays;
* a recording ends when the WebSocket closes that began it and has sent heartbeats, unless a pilot drives.

A message is JSON text over the page's WebSocket or the body of a POST, all keys optional. The first five keys are the
original's; the others are ours, and a client of the original never sends them. Unknown keys are ignored, as there, null
is as if the key was missing, and "0.1", 1 and "true" stand for the number and the truth that they mean. Whatever else
is wrong with a message is said in one sentence, and then nothing of it counts.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from donkeysim.core.clock import Clock
from donkeysim.core.errors import WireError, describe_unknown
from donkeysim.drive.look import Look, Traveller, send_car
from donkeysim.drive.parts.buttons import WEB_BUTTONS
from donkeysim.drive.parts.driving import MODES

HEARTBEAT_SECONDS = 0.5

RECORD_NEWS_STEP = 10
"""While recording, clients get every tenth number of records, as from the original."""


MESSAGE_LIMIT = 4096
"""Longest message [byte]."""

_KEYS_HINT = "keys: angle, throttle (numbers), drive_mode (text), recording (true or false), buttons ({name: true})"

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class ControlMessage(msgspec.Struct, frozen=True):
    """What a driver wants; None: as before.

    Attributes:
        angle: Steering, -1 (left) to 1 (right).
        throttle: -1 (full reverse) to 1.
        brake: True: brake from now on; a throttle that comes without it ends that.
        drive_mode: Who drives, one of `MODES`.
        recording: Whether records are written.
        buttons: Which of the buttons w1 to w5 were pressed.
        heartbeat: True: this client is there. Once it has said so, it must repeat it every half second.
        reset: True: put the car back to its start.
        pilot: File name of a pilot to drive with, "" for none.
        place: Where to drive.
        erase: True: mark the last records as deleted, see `parts.recording.ERASE_SECONDS`.
        look: How the car looks from now on.
    """

    angle: float | msgspec.UnsetType = msgspec.UNSET
    throttle: float | msgspec.UnsetType = msgspec.UNSET
    brake: bool = False
    drive_mode: str | msgspec.UnsetType = msgspec.UNSET
    recording: bool | msgspec.UnsetType = msgspec.UNSET
    buttons: dict[str, bool] | msgspec.UnsetType = msgspec.UNSET
    heartbeat: bool = False
    reset: bool = False
    pilot: str | msgspec.UnsetType = msgspec.UNSET
    place: str | msgspec.UnsetType = msgspec.UNSET
    erase: bool = False
    look: Look | msgspec.UnsetType = msgspec.UNSET


def read_message(text: str | bytes) -> ControlMessage:
    """Return a message; angle and throttle are brought into -1 to 1.

    Raises:
        WireError: It is too long, no JSON, or a value is not what its key takes.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if len(data) > MESSAGE_LIMIT:
        raise WireError(f"the message has {len(data)} bytes; {MESSAGE_LIMIT} are allowed. Nothing was changed.")
    try:
        message = msgspec.convert(_tidy(_decode(data)), ControlMessage, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"the message was not understood ({error}); nothing was changed; {_KEYS_HINT}.") from error
    _check_names(message)
    return msgspec.structs.replace(message, angle=_limit(message.angle), throttle=_limit(message.throttle))


def _tidy(value: Any) -> Any:
    """Return what a client meant: without keys that say null, without blanks around a text, 1.0 as 1."""
    if isinstance(value, dict):
        return {key: _tidy(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, float) and value in (0.0, 1.0):
        return int(value)
    return value.strip() if isinstance(value, str) else value


def _check_names(message: ControlMessage) -> None:
    if isinstance(message.drive_mode, str) and message.drive_mode not in MODES:
        raise WireError(describe_unknown("drive_mode", message.drive_mode, MODES))
    for name in message.buttons if isinstance(message.buttons, dict) else ():
        if name not in WEB_BUTTONS:
            raise WireError(describe_unknown("button", name, WEB_BUTTONS))


def _limit(value: float | msgspec.UnsetType) -> float | msgspec.UnsetType:
    """Return a number in -1 to 1.

    Raises:
        WireError: It is none, as "nan" is.
    """
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        raise WireError(f"the message says {value}, which is no number; nothing was changed; {_KEYS_HINT}.")
    return max(-1.0, min(1.0, value))


@dataclass(eq=False)
class Driver:
    """A client with an open WebSocket; `heard_at` [s] is None until it sends a heartbeat."""

    heard_at: float | None = None


class ControlCommand(NamedTuple):
    """What a tick hands to the vehicle loop; + = right."""

    angle: float
    throttle: float
    mode: str
    recording: bool
    buttons: dict[str, bool]
    reset: bool
    pilot: str | None
    erase: bool = False


class Tick(NamedTuple):
    """The outcome of a tick: for the loop, news for all clients, a driver that was not heard of any more, the brake.

    The last is True to begin to brake, False to coast from now on, None if nobody has said anything.
    """

    wish: ControlCommand
    news: dict[str, Any]
    lost: Driver | None
    brake: bool | None = None


@dataclass
class _Latches:
    """What was said since the last tick."""

    mode: str | None = None
    recording: bool | None = None
    brake: bool | None = None
    pilot: str | None = None
    reset: bool = False
    erase: bool = False
    buttons: dict[str, bool] = field(default_factory=dict)


class ControlState:
    """Wishes of all drivers; safe to use from several threads."""

    def __init__(
        self,
        mode: str = "user",
        read_clock: Clock = time.monotonic,
        traveller: Traveller | None = None,
        dress: Callable[[Look], None] = lambda _: None,
    ) -> None:
        """Begin at a standstill.

        Args:
            mode: Who drives at the start.
            read_clock: Returns the time [s].
            traveller: The car, if it can be sent elsewhere.
            dress: Lets the car look otherwise; raises WireError when that is not possible.
        """
        self.angle = 0.0
        self.throttle = 0.0
        self.mode = mode
        self.recording = False
        self.pilot: str | None = None
        self.pilots: tuple[str, ...] = ()
        self._read_clock = read_clock
        self._traveller, self._dress = traveller, dress
        self._latches = _Latches()
        self._drivers: set[Driver] = set()
        self._throttle_from: Driver | None = None
        self._recording_from: Driver | None = None
        self._record_count: int | None = None
        self._lock = threading.Lock()

    def join(self) -> Driver:
        """Return a new driver; say `leave` when its WebSocket closes."""
        driver = Driver()
        with self._lock:
            self._drivers.add(driver)
        return driver

    def leave(self, driver: Driver) -> None:
        """Forget a driver, its throttle if nobody could stop the car any more, and its recording."""
        with self._lock:
            self._drivers.discard(driver)
            giver = self._throttle_from
            if giver and (not self._drivers or (giver is driver and driver.heard_at is not None)):
                self._release_throttle()
            is_own = self._recording_from is driver and driver.heard_at is not None
            if is_own and (self._latches.mode or self.mode) == MODES[0]:
                self._latches.recording = False

    def take(self, message: ControlMessage, driver: Driver | None = None) -> None:
        """Follow a message.

        Args:
            driver: Who said it; None: it came by POST.

        Raises:
            WireError: There is no such pilot or place; then nothing changes.
        """
        with self._lock:
            if message.pilot and message.pilot not in self.pilots:
                raise WireError(describe_unknown("pilot", str(message.pilot), self.pilots))
            if isinstance(message.place, str):
                send_car(self._traveller, message.place)
            if isinstance(message.look, Look):
                self._dress(message.look)
            if driver and (message.heartbeat or driver.heard_at is not None):
                driver.heard_at = self._read_clock()
            if isinstance(message.angle, float):
                self.angle = message.angle
            if isinstance(message.throttle, float):
                self.throttle = message.throttle
                self._throttle_from = driver
            if message.brake:
                self.throttle = 0.0
            if isinstance(message.recording, bool):
                self._recording_from = driver if message.recording else None
            self._latch(message)

    def tick(
        self,
        mode: str | None,
        recording: bool | None,
        record_count: int | None,
        pilot: str | None,
        pilots: tuple[str, ...] | None,
    ) -> Tick:
        """Return what the loop shall do, and what to send; None as an input: not known yet.

        Args:
            recording: Whether records are written.
            record_count: Records written so far.
            pilot: File name of the pilot, "" for none.
            pilots: All that can be chosen.
        """
        with self._lock:
            lost = self._find_lost()
            if lost:
                self._release_throttle()
            latches, self._latches = self._latches, _Latches()
            self.mode = latches.mode or mode or self.mode
            self.recording = _first(latches.recording, recording, self.recording)
            if not self.recording:
                self._recording_from = None
            self.pilot = _first(latches.pilot, pilot, self.pilot)
            self.pilots = tuple(pilots or ())
            self._latches.buttons = {name: False for name, is_pressed in latches.buttons.items() if is_pressed}
            doing = self.angle, self.throttle, self.mode, self.recording
            wish = ControlCommand(*doing, latches.buttons, latches.reset, self.pilot, latches.erase)
            return Tick(wish, self._gather_news(latches, record_count), lost, latches.brake)

    def _latch(self, message: ControlMessage) -> None:
        latches = self._latches
        if isinstance(message.drive_mode, str):
            latches.mode = message.drive_mode
        if isinstance(message.recording, bool):
            latches.recording = message.recording
        if isinstance(message.pilot, str):
            latches.pilot = message.pilot
        if isinstance(message.buttons, dict):
            latches.buttons |= {name: True for name, is_pressed in message.buttons.items() if is_pressed}
        if message.brake or isinstance(message.throttle, float):
            latches.brake = message.brake
        latches.reset = latches.reset or message.reset
        latches.erase = latches.erase or message.erase

    def _find_lost(self) -> Driver | None:
        driver = self._throttle_from
        if not driver or driver.heard_at is None or not self.throttle:
            return None
        return driver if self._read_clock() - driver.heard_at > HEARTBEAT_SECONDS else None

    def _release_throttle(self) -> None:
        self.throttle = 0.0
        self._latches.brake = True
        self._throttle_from = None

    def _gather_news(self, latches: _Latches, record_count: int | None) -> dict[str, Any]:
        news: dict[str, Any] = {}
        if latches.mode is not None:
            news["driveMode"] = self.mode
        if latches.recording is not None:
            news["recording"] = self.recording
        if record_count is not None and record_count != self._record_count:
            self._record_count = record_count
            if self.recording and record_count % RECORD_NEWS_STEP == 0:
                news["num_records"] = record_count
        return news


def _first(*values: Any) -> Any:
    """Return the first value that is not None; None if there is none."""
    return next((value for value in values if value is not None), None)
