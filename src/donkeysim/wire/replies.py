"""What the server says: compact JSON lines, `msg_type` first, ASCII only."""

import binascii
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from donkeysim.core.errors import WireError
from donkeysim.wire.messages import NodePosition, Reply
from donkeysim.world.telemetry import LidarPoint, Telemetry


class SceneSelectionReady(Reply, frozen=True, tag="scene_selection_ready"):
    """The menu stands open."""

    loaded: str = "1"


class SceneLoaded(Reply, frozen=True, tag="scene_loaded"):
    """A scene is running."""

    scene_name: str


class CarLoaded(Reply, frozen=True, tag="car_loaded"):
    """The client has a car now."""

    scene_name: str


class StartLineCrossed(Reply, frozen=True, tag="collision_with_starting_line"):
    """The client's car drove forward over a start line; `timeStamp` is on the clock of telemetry's `time` [s]."""

    starting_line_index: int
    timeStamp: float  # noqa: N815  (the wire's name)


class ConeTouched(Reply, frozen=True, tag="collision_with_cone"):
    """A car drove through a cone without a body, which costs a second; `timeStamp` as of a start line."""

    car_name: str
    cone_index: int
    timeStamp: float  # noqa: N815  (the wire's name)


class NeedCarConfig(Reply, frozen=True, tag="need_car_config"):
    """Races: say who you are and what your car is like; it comes after that."""


class RaceStart(Reply, frozen=True, tag="race_start"):
    """Races: it is green."""


class RaceStop(Reply, frozen=True, tag="race_stop"):
    """Races: the race is over."""


class CrossStart(Reply, frozen=True, tag="cross_start"):
    """Races: the client's car drove over the start line; `lap_time` of the lap that ended there [ms], "0" for none."""

    lap_time: str


class MissedCheckpoint(Reply, frozen=True, tag="missed_checkpoint"):
    """Races: the client's car has left out a checkpoint."""


class Disqualified(Reply, frozen=True, tag="DQ"):
    """Races: the client's car is out; `missed_cp`: for a checkpoint that it missed or reached too late."""

    missed_cp: bool


class Ping(Reply, frozen=True, tag="ping"):
    """Races: the server is still there."""


class CarCrossedLine(StartLineCrossed, frozen=True, tag="collision_with_starting_line"):
    """Any car drove forward over a start line, for the private API."""

    car_name: str


class Verified(Reply, frozen=True, tag="verified"):
    """The private API is open to the client that sent its key."""


class PrivateKeyError(Reply, frozen=True, tag="private_key_error"):
    """Why the private API is not open to a client."""

    error_message: str


class ErrorReply(Reply, frozen=True, tag="error"):
    """What was given, what is allowed, what to do."""

    error: str


TELEMETRY_START = b'{"msg_type":"telemetry",'
"""What every telemetry begins with, byte for byte."""

_encode = msgspec.json.Encoder().encode
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def encode_reply(reply: Reply, numbers_as_strings: bool = False) -> bytes:
    """Return a reply as one line; `numbers_as_strings` gives `node_position` the form of the public page."""
    if numbers_as_strings and isinstance(reply, NodePosition):
        return _finish(_encode(_spell_numbers(msgspec.to_builtins(reply))))
    line = _encode(reply)
    if isinstance(reply, NodePosition | StartLineCrossed | ConeTouched):
        _check_finite(line, reply)
    return _finish(line)


def write_base64(file: bytes | memoryview) -> bytes:
    """Return a file in base64."""
    return binascii.b2a_base64(file, newline=False)


def encode_telemetry(
    telemetry: Telemetry,
    image: bytes,
    second_image: bytes | None = None,
    lidar: Sequence[LidarPoint] | None = None,
    numbers_as_strings: bool = False,
    write_file: Callable[[bytes], bytes] = write_base64,
) -> bytes:
    """Return a telemetry message as one line.

    Args:
        telemetry: Readings; fields that are None are left out.
        image: File of the first camera.
        second_image: File of the second camera, sent as `imageb` and `image_b`.
        lidar: Points; None when the lidar is off.
        numbers_as_strings: Write every number as a text, as the public page shows them.
        write_file: Returns a file in base64.

    Raises:
        WireError: A reading is not finite.
    """
    line = _encode(telemetry)
    _check_finite(line, telemetry)
    if numbers_as_strings:
        line = _encode(_spell_numbers(msgspec.json.decode(line)))
    # The original's pictures stand before `hit`; some programs write the values of a telemetry down by their order.
    middle = line.index(b',"hit":')
    parts = [TELEMETRY_START, line[1:middle], b',"image":"', write_file(image), b'"']
    if second_image is not None:
        second = write_file(second_image)
        parts += [b',"imageb":"', second, b'","image_b":"', second, b'"']
    if lidar is not None:
        points: Any = _spell_numbers(msgspec.to_builtins(lidar)) if numbers_as_strings else lidar
        parts += [b',"lidar":', _encode(points)]
    parts += [_escape_all(line[middle:]), b"\n"]
    return b"".join(parts)


def _finish(line: bytes) -> bytes:
    return _escape_all(line) + b"\n"


def _escape_all(text: bytes) -> bytes:
    return text if text.isascii() else _NOT_ASCII.sub(_escape, text.decode()).encode("ascii")


def _escape(match: re.Match[str]) -> str:
    """Return a character as JSON escapes; it stands inside a text, where alone it can be."""
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[index] << 8 | units[index + 1]:04x}" for index in range(0, len(units), 2))


def _check_finite(line: bytes, message: msgspec.Struct) -> None:
    """Raise when a number was written as null, which is what becomes of nan and infinity."""
    if b":null" not in line:
        return
    for name, value in msgspec.structs.asdict(message).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise WireError(f"{name} is {value}; a reading must be finite and is not sent.")


def _spell_numbers(value: Any) -> Any:
    """Return a JSON value with every number as text."""
    if isinstance(value, dict):
        return {key: _spell_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_spell_numbers(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value
