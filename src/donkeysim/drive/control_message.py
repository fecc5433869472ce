"""What may be said to the control page: JSON text over its WebSocket or as the body of a POST, all keys optional.

The first five keys are the original's; the others are ours, and a client of the original never sends them. Unknown keys
are ignored, as there, null is as if the key was missing, and "0.1", 1 and "true" stand for the number and the truth
that they mean. Whatever else is wrong with a message is said in one sentence, and then nothing of it counts.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from donkeysim.core.errors import WireError, describe_unknown
from donkeysim.drive.look import Look
from donkeysim.drive.parts.buttons import WEB_BUTTONS
from donkeysim.drive.parts.driving import MODES

MESSAGE_LIMIT = 4096
"""Longest message [byte]."""

_KEYS_HINT = "keys: angle, throttle (numbers), drive_mode (text), recording (true or false), buttons ({name: true})"


class ControlMessage(msgspec.Struct, frozen=True):
    """What a driver wants; None: as before.

    Attributes:
        angle: Steering, -1 (left) to 1 (right).
        throttle: -1 (full reverse) to 1.
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
    drive_mode: str | msgspec.UnsetType = msgspec.UNSET
    recording: bool | msgspec.UnsetType = msgspec.UNSET
    buttons: dict[str, bool] | msgspec.UnsetType = msgspec.UNSET
    heartbeat: bool = False
    reset: bool = False
    pilot: str | msgspec.UnsetType = msgspec.UNSET
    place: str | msgspec.UnsetType = msgspec.UNSET
    erase: bool = False
    look: Look | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(dict[str, Any]).decode


def read_message(text: str | bytes) -> ControlMessage:
    """Return a message; angle and throttle are brought into -1 to 1.

    Raises:
        WireError: It is too long, no JSON, or a value is not what its key takes.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if len(data) > MESSAGE_LIMIT:
        raise WireError(f"the message has {len(data)} bytes; {MESSAGE_LIMIT} are allowed. Nothing was changed.")
    try:
        given = {key: value for key, value in _decode(data).items() if value is not None}
        message = msgspec.convert(given, ControlMessage, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"the message was not understood ({error}); nothing was changed; {_KEYS_HINT}.") from error
    _check_names(message)
    return msgspec.structs.replace(message, angle=_limit(message.angle), throttle=_limit(message.throttle))


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
