"""The connection to a server and what it says, line by line: telemetry, with the original's faults mended.

And which other cars of this program are connected to the same one.
"""

import base64
import binascii
import contextlib
import logging
import math
import re
import socket
import threading
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, Protocol, get_type_hints

import msgspec
import numpy as np
from PIL import Image

from donkeysim.core.errors import SimulatorError, WireError
from donkeysim.core.image import decode_picture, encode_jpeg, spread_grey
from donkeysim.core.types import ByteArray
from donkeysim.envs.sensor_frame import SensorFrame
from donkeysim.wire.replies import encode_telemetry
from donkeysim.world.telemetry import LidarPoint, Telemetry

CONNECT_SECONDS = 5.0
"""How long a connection may take [s]."""

LONGEST_LINE = 16 << 20
"""A line longer than this is no message [byte]."""

Listeners = dict[str, Callable[[dict[str, Any]], object]]
"""Functions that are called with every message of a kind."""

_log = logging.getLogger("donkeysim.envs")
_DECIMAL_COMMA = re.compile(rb'("\w+":-?\d+),(\d+(?:[eE][-+]?\d+)?)(?=[,}])')


class LineSplitter:
    """Bytes to lines, as they come."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that these bytes complete.

        Raises:
            WireError: A line does not end.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise WireError("it sends an endless line; is it a simulator?")
        return [line for line in lines if line.strip()]


def read_line(line: bytes) -> dict[str, Any]:
    """Return a message; numbers with a decimal comma, which the original writes in some countries, are mended.

    Raises:
        WireError: It is not a message.
    """
    for text in (line, _DECIMAL_COMMA.sub(rb"\1.\2", line)):
        try:
            message = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if isinstance(message, dict) and isinstance(message.get("msg_type"), str):
            return message
    raise WireError(f"{line[:80]!a} is not a message of the simulator's protocol.")


def call_listener(listeners: Listeners, message: dict[str, Any]) -> None:
    """Call the function of a message's kind, if there is one; one that fails is logged and loses nothing else."""
    kind = message["msg_type"]
    listener = listeners.get(kind)
    if listener is None:
        return
    try:
        listener(message)
    except Exception:  # noqa: BLE001  (of anybody's program)
        _log.exception("the function of handler.fns for %r has failed.", kind)


def make_telemetry(moment: SensorFrame) -> dict[str, Any]:
    """Return what a simulator elsewhere says of such a moment, its pictures always as JPEG files."""
    files = [None if one is None else encode_jpeg(spread_grey(one)) for one in (moment.image, moment.image_b)]
    line = encode_telemetry(moment.telemetry, files[0] or b"", files[1], moment.lidar)
    message: dict[str, Any] = msgspec.json.decode(line)
    return message


def read_telemetry(message: dict[str, Any], frame: int, reset_count: int, lap: int) -> Telemetry:
    """Return the readings of a telemetry message.

    Args:
        frame: Its number, where the server does not report it.
        reset_count: Resets so far, where the server does not report them.
        lap: Start-line crossings since the last reset, where the server does not report them.
    """
    named = {"frame": frame, "reset_count": reset_count, "lap": lap} | message
    return Telemetry(**{name: _READERS[kind](named, name) for name, kind in _TYPES.items()})


def _read_number(message: dict[str, Any], name: str, otherwise: float | None) -> float | None:
    """Return a finite number, which some servers write as text; what is none counts as missing."""
    try:
        value = float(message.get(name, math.nan))
    except (TypeError, ValueError):
        value = math.nan
    return value if math.isfinite(value) else otherwise


_TYPES = get_type_hints(Telemetry)
_READERS: dict[Any, Callable[[dict[str, Any], str], Any]] = {
    str: lambda message, name: str(message.get(name, "none")),
    float: lambda message, name: _read_number(message, name, 0.0),
    float | None: lambda message, name: _read_number(message, name, None),
    int: lambda message, name: int(_read_number(message, name, None) or 0),
    int | None: lambda message, name: None if (value := _read_number(message, name, None)) is None else int(value),
    bool | None: lambda message, name: value if isinstance(value := message.get(name), bool) else None,
}
"""How a field of each type is read from a message; what is required and missing is 0."""


def read_crossing(message: dict[str, Any]) -> tuple[int, float]:
    """Return which start line was crossed, and when [s]."""
    return int(_read_number(message, "starting_line_index", 0.0) or 0), _read_number(message, "timeStamp", 0.0) or 0.0


def read_pictures(message: dict[str, Any], shape: tuple[int, int, int]) -> tuple[ByteArray, ByteArray | None]:
    """Return the pictures of a telemetry message, the first brought to a shape; see `read_picture`."""
    second = message.get("image_b", message.get("imageb"))
    return read_picture(message.get("image"), shape), None if second is None else read_picture(second, None)


def read_picture(text: Any, shape: tuple[int, int, int] | None) -> ByteArray:
    """Return a picture of a telemetry message, brought to a shape.

    Args:
        text: The file as base64.
        shape: Height, width, channels; None: as it is.

    Raises:
        WireError: It is no picture.
    """
    try:
        picture = decode_picture(base64.b64decode(text))
    except (TypeError, ValueError, OSError, binascii.Error) as error:
        raise WireError(f"its picture cannot be read ({error}).") from error
    if shape is None:
        return picture
    if picture.shape[:2] != shape[:2]:
        picture = np.asarray(Image.fromarray(picture).resize((shape[1], shape[0])))
    return picture if shape[2] == 3 else np.asarray(Image.fromarray(picture).convert("L"))[:, :, None]


def read_lidar(message: dict[str, Any]) -> list[LidarPoint] | None:
    """Return the rays of a telemetry message; None when the lidar is off. The original writes null for no rays."""
    if "lidar" not in message:
        return None
    try:
        return msgspec.convert(message["lidar"] or [], list[LidarPoint])
    except msgspec.ValidationError:
        return []


def connect(host: str, port: int) -> socket.socket:
    """Return a connection to a simulator.

    Raises:
        SimulatorError: Nobody listens.
    """
    try:
        connection = socket.create_connection((host, port), timeout=CONNECT_SECONDS)
    except OSError as error:
        raise SimulatorError(
            f"no simulator answers at {host}:{port} ({error.strerror or error}); start one there, for example with: "
            f"donkey_sim --port {port}"
        ) from error
    connection.settimeout(None)
    with contextlib.suppress(OSError):  # macOS refuses when the other side has gone already, as reading will show
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def make_lost(where: str, error: OSError | None) -> SimulatorError:
    """Return what is said when the connection to a simulator has ended."""
    why = f" ({error.strerror})" if error is not None and error.strerror else ""
    return SimulatorError(f"the connection to the simulator at {where} has ended{why}; is it still running?")


def make_silent(where: str, seconds: float) -> SimulatorError:
    """Return what is said of something that listens and says nothing."""
    return SimulatorError(
        f"{where} takes connections but has not said a word in {seconds:g} s, as a simulator would; see what listens "
        "there, or give the host and port of a simulator that runs."
    )


class Peer(Protocol):
    """A car at a server."""

    def follow_clock(self) -> None:
        """Leave lock-step."""


class Peers:
    """Cars of this program at one server: in lock-step each would wait for the other's control, so two of them do not.

    Attributes:
        cars: All of them.
        lock: Held while one enters lock-step or another one comes.
    """

    def __init__(self) -> None:
        self.cars: set[Peer] = set()
        self.lock = threading.RLock()

    def join(self, car: Peer) -> None:
        """Let a car drive there, too."""
        with self.lock:
            for other in self.cars:
                _log.info("two cars of this program drive at one simulator, so their steps follow the clock")
                other.follow_clock()
            self.cars.add(car)

    def leave(self, car: Peer) -> None:
        """Let a car go."""
        with self.lock:
            self.cars.discard(car)


@cache
def find_peers(address: Hashable) -> Peers:
    """Return the cars of this program at a server."""
    del address
    return Peers()
