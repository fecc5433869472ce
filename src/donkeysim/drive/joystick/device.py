"""A Linux joystick device: eight bytes an event, and what the device says about itself.

A path that is no such device, a named pipe for example, works too: then its axes and buttons count in the order of
their codes.

References:
    Linux kernel documentation, "Joystick API Documentation"; linux/joystick.h.
"""

from __future__ import annotations

import array
import contextlib
import os
import select
import stat
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

EVENT = struct.Struct("=IhBB")
"""Time [ms], value, type and number of an axis or a button."""

BUTTON, AXIS, INITIAL = 0x01, 0x02, 0x80
FULL_SCALE = 32767.0

_GET_AXIS_COUNT, _GET_BUTTON_COUNT = 0x80016A11, 0x80016A12
_GET_AXIS_CODES, _GET_BUTTON_CODES = 0x80406A32, 0x80406A34
_GET_NAME = 0x80006A13 + 64 * 0x10000  # for a name of up to 64 bytes


@dataclass(frozen=True)
class JoystickEvent:
    """Something moved.

    Attributes:
        kind: What.
        code: Which, as the Linux input system counts.
        value: Axis: -1 to 1; button: 1 pressed, 0 released.
    """

    kind: Literal["axis", "button"]
    code: int
    value: float


class JoystickDevice:
    """An open joystick."""

    def __init__(self, path: Path | str, axis_codes: Iterable[int] = (), button_codes: Iterable[int] = ()) -> None:
        """Open it.

        Args:
            path: The device, for example /dev/input/js0.
            axis_codes: Codes to expect where the device does not list them.
            button_codes: The same of buttons.

        Raises:
            OSError: There is none, or it may not be read.
        """
        assert sys.platform != "win32", "its caller asks nobody for devices there"
        mode = os.stat(path).st_mode
        if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
            raise OSError("this is not a joystick device")
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)
        self._rest = b""
        self.name = self._ask_name()
        self.axis_codes = self._ask_codes(_GET_AXIS_COUNT, _GET_AXIS_CODES, "B") or sorted(axis_codes)
        self.button_codes = self._ask_codes(_GET_BUTTON_COUNT, _GET_BUTTON_CODES, "H") or sorted(button_codes)

    def read(self, seconds: float) -> JoystickEvent | None:
        """Return the next event; None when there is none within a time.

        Raises:
            OSError: The device is gone.
        """
        while True:
            while len(self._rest) >= EVENT.size:
                event, self._rest = self._rest[: EVENT.size], self._rest[EVENT.size :]
                known = self._interpret(*EVENT.unpack(event)[1:])
                if known:
                    return known
            if not self._poll.poll(seconds * 1000):
                return None
            with contextlib.suppress(BlockingIOError):
                self._rest += self._receive()

    def close(self) -> None:
        """Let go of it."""
        os.close(self._descriptor)

    def _receive(self) -> bytes:
        received = os.read(self._descriptor, EVENT.size * 64)
        if not received:
            raise OSError("it no longer sends anything")
        return received

    def _interpret(self, value: int, kind: int, number: int) -> JoystickEvent | None:
        """Return what an event means; None for the first report of each axis and button, and for unknown ones."""
        if kind == AXIS and number < len(self.axis_codes):
            return JoystickEvent("axis", self.axis_codes[number], max(-1.0, value / FULL_SCALE))
        if kind == BUTTON and number < len(self.button_codes):
            return JoystickEvent("button", self.button_codes[number], float(bool(value)))
        return None

    def _ask_name(self) -> str:
        buffer = array.array("B", bytes(64))
        return buffer.tobytes().split(b"\0")[0].decode("utf-8", "replace") if self._ask(_GET_NAME, buffer) else ""

    def _ask_codes(self, count_request: int, codes_request: int, kind: str) -> list[int]:
        count, codes = array.array("B", [0]), array.array(kind, [0] * 512)
        if not (self._ask(count_request, count) and self._ask(codes_request, codes)):
            return []
        return codes[: count[0]].tolist()

    def _ask(self, request: int, buffer: array.array[int]) -> bool:
        """Fill the buffer with the device's answer; False when it has none."""
        assert sys.platform != "win32"
        import fcntl

        try:
            fcntl.ioctl(self._descriptor, request, buffer)
        except OSError:
            return False
        return True
