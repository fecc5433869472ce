"""Messages of every kind with every oddity, told to a session, which must stay quick, valid and awake."""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from donkeysim.core.clock import ManualClock
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.serve.session import MOST_ERRORS_A_SECOND, Session
from donkeysim.wire import equipment, framing, messages
from donkeysim.wire.equipment import LONGEST_NAME
from donkeysim.wire.grammar import Item
from donkeysim.wire.messages import FARTHEST_POSITION, INT32
from donkeysim.world.specs import BODY_STYLES, IMAGE_ENCODINGS, TURN_LEAST, TURN_MOST
from wire import reference_reader
from wire.hostile import RAW, REAL, VALUES, make_hostile

MOST_SECONDS = 0.010
"""Longest call, processor time [s]."""

PING = b'\n{"msg_type":"get_protocol_version"}'
PONG = b'{"msg_type":"protocol_version","version":"2"}\n'

COMPARED_EACH = 20
"""Of so many messages one is also read by the careful reader alone."""

SESSION_MESSAGES = 500
"""After so many another client comes."""

_KINDS = [
    *REAL,
    {"msg_type": "load_scene", "scene_name": "generated_track"},
    {"msg_type": "step_mode", "step_mode": "synchronous", "time_step": "0.1"},
    {"msg_type": "exit_scene"},
    {"msg_type": "quit_app"},
]


def _encode(value: object) -> bytes:
    return json.dumps(value).encode()


_NAMES = sorted({_encode(name) for message in _KINDS for name in message})
_ODD = [
    *map(_encode, VALUES),
    *(b"1" * digits for digits in (15, 20, 309, 399, 400, 401, 402, 4400)),
    *(b"-0.%s" % (b"9" * digits) for digits in (17, 395, 400, 800)),
    *(b"1e308", b"1e309", b"0x10", b"1_0", b"1e", b"Infinity", b"1E+5", b"01", b"1.", b".5", b"+1", b"-", b"--1"),
    b"-1e-400",
    *(b'"1e400"', b'" 0.5 "', b'"+.5"', b'"\\u0031"', b'"\\ud83e\\udd93"', b'"\\ud83e"', b'"\\udd93"'),
    *(b'"\xff"', b'"\xed\xa0\x80"', b'"\xf0\x9f\xa6\x93"', b'"a\nb"', b'"a\x00b"', b'"' + b"0" * 401 + b'"', b'"JPEG"'),
    *(b'"\\x"', b'"\\'),
    *(b"{" * depth + b"}" * depth for depth in (1, 2, 33)),
    *(b'{"a":' * depth + b"1" + b"}" * depth for depth in (1, 31, 32, 40)),
    *(b"[" * depth + b"]" * depth for depth in (1, 31, 32, 40)),
    b'\n{"msg_type":"reset_car"}', b'{"msg_type":"reset_car"}', b"[1,\n{}]", b"[1,]", b"tru", b"nul", b"",
]  # fmt: skip
_GARBAGE = [*RAW, *(bytes([byte]) for byte in range(256)), b"}{", b'","', b'":"', b"\\u", b"\n\n", b"{{", b"]]", b'""']
_COMMAS = [b",", b", ", b" ,\n\t", b"\r\n,", b",,", b" "]
_COLONS = [b":", b": ", b" : ", b":\n", b"", b"::"]


class Maker:
    """Makes messages that follow the grammar more or less; the same seed makes the same ones.

    Attributes:
        source: Of all choices.
    """

    def __init__(self, seed: int, kinds: Sequence[dict[str, str]] = _KINDS) -> None:
        """Begin with a seed.

        Args:
            seed: Of all choices.
            kinds: Messages to begin with; without those that scenes and lock-step obey, nobody else is disturbed.
        """
        self._kinds = [[(_encode(name), _encode(value)) for name, value in message.items()] for message in kinds]
        self.source = random.Random(seed)
        self._random = self.source.random
        self._last = b"{}"

    def make(self) -> bytes:
        """Return bytes that a client might send: a message, several, or what is left of some."""
        chance = self._random()
        if chance < 0.02:
            return make_hostile(self.source)
        if chance < 0.0205:
            return self._make_long()
        data = self._make_message()
        while self._random() < 0.4:
            data = self._mutate(data)
        self._last = data[:4096]
        return data

    def _pick(self, among: list[Any]) -> Any:
        return among[int(self._random() * len(among))]

    def _make_message(self) -> bytes:
        comma, colon = (_COMMAS[0], _COLONS[0]) if self._random() < 0.8 else (self._pick(_COMMAS), self._pick(_COLONS))
        members = []
        for name, value in self._pick(self._kinds):
            chance = self._random()
            if chance < 0.75:
                members.append(name + colon + value)
            elif chance < 0.93:
                members.append(name + colon + self._pick(_ODD))
            elif chance < 0.96:
                members.append(self._pick(_NAMES) + colon + value)
            elif chance < 0.98:
                members += [name + colon + value, name + colon + self._pick(_ODD)]
        return b"{" + comma.join(members) + b"}"

    def _make_long(self) -> bytes:
        unit, length = self._pick(_GARBAGE + _ODD) or b" ", self._pick([5000, 20_000, 70_000])
        run = unit * (length // len(unit))
        return self._pick(
            [run, b'{"a":' + run, b'{"a":[' + run, b'{"msg_type":"' + run, _encode({"msg_type": "x" * length})]
        )

    def _mutate(self, data: bytes) -> bytes:
        """Return bytes with one thing changed."""
        how = int(self._random() * 10)
        at, to = sorted((int(self._random() * (len(data) + 1)), int(self._random() * (len(data) + 1))))
        if how == 0:
            return data[:at]
        if how == 1:
            return data[:at] + self._pick(_GARBAGE) + data[at:]
        if how == 2:
            return data[:at] + data[to:]
        if how == 3:
            return data[:to] + data[at:]
        if how == 4:
            return data[:at] + self._last[at:]
        if how == 5:
            return data[:at] + b"\n" + self._last + data[at:]
        if how == 6:
            return data + self._pick([b"", b"\n", b" ", b",", b"\r\n"]) + self._last
        if how == 7:
            return data[:at] + bytes([int(self._random() * 256)]) + data[at + 1 :]
        if how == 8:
            return data[:at] + self._pick(_ODD) + data[to:]
        return data[at:]


@dataclass
class Tally:
    """What a run told and saw.

    Attributes:
        sent: Messages told.
        requests: What was understood of them.
        errors: Answers that said what was not.
        longest: Longest call, processor time [s].
    """

    sent: int = 0
    requests: int = 0
    errors: int = 0
    longest: float = 0.0

    def add(self, other: Tally) -> None:
        """Add another run's."""
        self.longest = max(self.longest, other.longest)
        for name in ("sent", "requests", "errors"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Interview:
    """One client's session, told messages and looked at after each.

    Attributes:
        tally: What was told and seen.
    """

    def __init__(self) -> None:
        self.tally = Tally()
        self._clock = ManualClock()
        self._begin()

    def tell(self, data: bytes, wants_answer: bool) -> None:
        """Tell a session some bytes, look at what comes of them, and ask whether it still understands.

        Args:
            data: Anything.
            wants_answer: Whether a good message follows after a newline, which must be answered; else the next
                bytes come right after these.
        """
        self.tally.sent += 1
        self._clock.advance(0.002)
        is_over = self._read(data, PING if wants_answer else b"")
        if is_over or self.tally.sent % SESSION_MESSAGES == 0:
            self._begin()

    def _begin(self) -> None:
        self._session = Session("client 1", lambda: ("generated_track", "warehouse"), self._clock)
        self._second, self._errors_in_second = self._clock(), 0

    def _read(self, data: bytes, ping: bytes) -> bool:
        """Return whether the session ended."""
        is_over = False
        for portion in (data, ping) if ping else (data,):
            replies: list[bytes] = []
            while portion or self._session.has_more:
                began = time.thread_time()
                turn = self._session.receive(portion)
                seconds = time.thread_time() - began
                self._note_time(seconds, data)
                replies += turn.replies
                for request in turn.requests:
                    check_request(request)
                self.tally.requests += len(turn.requests)
                portion = b""
                is_over = turn.is_over
            self._check_replies(replies)
            if is_over:
                return True
        assert not ping or PONG in replies, data
        return False

    def _note_time(self, seconds: float, data: bytes) -> None:
        """Keep the longest time, of three tries, since a machine with other work takes longer now and then."""
        if seconds > MOST_SECONDS:
            seconds = min(seconds, *(_find_longest_call(data) for _ in range(3)))
        self.tally.longest = max(self.tally.longest, seconds)
        assert seconds < MOST_SECONDS, (seconds, data[:500])

    def _check_replies(self, replies: list[bytes]) -> None:
        if self._clock() - self._second >= 1.0:
            self._second, self._errors_in_second = self._clock(), 0
        for line in replies:
            if line == PONG:
                continue
            assert line.endswith(b"}\n"), line
            assert line.isascii(), line
            reply = json.loads(line)
            if reply["msg_type"] == "error":
                assert 0 < len(reply["error"]) < 2000, reply
                self._errors_in_second += 1
                self.tally.errors += 1
            else:
                assert reply["msg_type"] == "scene_names", reply
        assert self._errors_in_second <= 2 * MOST_ERRORS_A_SECOND


def _find_longest_call(data: bytes) -> float:
    session, longest = Session("client 1", tuple, ManualClock()), 0.0
    while data or session.has_more:
        began = time.thread_time()
        session.receive(data)
        longest = max(longest, time.thread_time() - began)
        data = b""
    return longest


def check_alike(data: bytes) -> None:
    """Fail when the reader reads some bytes otherwise than the careful reader alone does."""
    usual, careful = (_read_all(module.ObjectReader(ManualClock()), data) for module in (framing, reference_reader))
    assert repr(usual) == repr(careful), data


def _read_all(reader: framing.ObjectReader, data: bytes) -> list[Item]:
    items = reader.feed(data)
    while reader.has_more:
        items += reader.feed()
    return items


def run_shard(seed: int, count: int) -> Tally:
    """Tell so many messages made from a seed, and return what came of them.

    Raises:
        AssertionError: A session did not stay quick, valid and awake; the message says on which bytes.
    """
    logging.disable(logging.CRITICAL)
    maker, interview = Maker(seed), Interview()
    try:
        for _ in range(count):
            data = maker.make()
            interview.tell(data, maker.source.random() < 0.5)
            if interview.tally.sent % COMPARED_EACH == 0:
                check_alike(data)
    finally:
        logging.disable(logging.NOTSET)
    return interview.tally


# -- what a request may hold ------------------------------------------------------------------------------------------


def check_request(request: messages.Request) -> None:
    """Fail when a request holds a value that nobody could honour."""
    if type(request) is messages.DriveCar:
        assert -1.0 <= (request.steer or 0.0) <= 1.0, request
        assert -1.0 <= (request.throttle or 0.0) <= 1.0, request
        assert 0.0 <= request.brake <= 1.0, request
        return
    for name in request.__struct_fields__:
        _check_value(getattr(request, name), request)
    check = _CHECKS.get(type(request))
    assert check is None or check(request), request


def _check_value(value: object, request: messages.Request) -> None:
    assert value is None or isinstance(value, (bool, int, float, str, tuple)), request
    if isinstance(value, float):
        assert math.isfinite(value), request
    elif isinstance(value, tuple):
        for part in value:
            _check_value(part, request)


def _is_within(value: float | None, low: float, high: float) -> bool:
    return value is None or low <= value <= high


def _check_camera(request: equipment.ConfigureCamera) -> bool:
    width, height = request.size or (16, 16)
    return (
        _is_within(request.fov, math.radians(10), math.radians(170))
        and all(_is_within(strength, 0.0, 1.0) for strength in request.fisheye or ())
        and 16 <= width <= 3840
        and 16 <= height <= 2160
        and request.encoding in (None, *IMAGE_ENCODINGS)
        and all(_is_within(part, -125.0, 125.0) for part in request.position or ())
        and all(_is_within(part, -4 * math.pi, 4 * math.pi) for part in request.rotation or ())
    )


def _check_lidar(request: equipment.ConfigureLidar) -> bool:
    return (
        _is_within(request.sweep_increment, math.radians(0.25), math.radians(360))
        and _is_within(request.level_count, 1, 128)
        and _is_within(request.max_range, 0.0125, 1250.0)
        and _is_within(request.noise, 0.0, 125.0)
        and all(_is_within(angle, -7.0, 7.0) for angle in (request.angle_down, request.angle_delta, request.pitch))
    )


def _check_position(request: messages.SetPosition) -> bool:
    is_unit = request.orientation is None or math.isclose(math.hypot(*request.orientation), 1.0, abs_tol=1e-9)
    return is_unit and max(map(abs, request.position)) <= FARTHEST_POSITION / 8.0


_CHECKS: dict[type, Any] = {
    equipment.ConfigureCamera: _check_camera,
    equipment.ConfigureSecondCamera: _check_camera,
    equipment.ConfigureLidar: _check_lidar,
    messages.SetPosition: _check_position,
    messages.SetStepMode: lambda request: _is_within(request.step_count, 1, PHYSICS_RATE),
    messages.RegenerateRoad: lambda request: (
        _is_within(request.road_style, *INT32)
        and _is_within(request.rand_seed, *INT32)
        and _is_within(request.turn_increment, TURN_LEAST, TURN_MOST)
    ),
    equipment.ConfigureCar: lambda request: (
        request.style in (None, *BODY_STYLES)
        and all(_is_within(part, 0, 255) for part in request.colour)
        and len(request.name or "") <= LONGEST_NAME
        and _is_within(request.font_size, 10, 100)
    ),
}
