"""What of a client's bytes cannot be read: the limits of a message, what is told beyond them, what is mended."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

_decode = msgspec.json.Decoder().decode

MOST_BYTES = 1 << 20
"""Longest object [byte]."""

MOST_SECONDS = 2.0
"""An object that is not complete this long after its first byte is dropped [s]."""

MOST_DEPTH = 32
"""Deepest nesting."""

MOST_VALUES = 10_000
"""Most values in one object; ten times as many would take longer to build than a beat can spare."""

MOST_SLIPS = 100
"""Most slips that are forgiven in one object."""


class Fault(NamedTuple):
    """Something that could not be read.

    Attributes:
        kind: Short name of what is wrong, the same for all faults of this sort.
        text: One sentence for the sender.
        is_fatal: Whether nothing further is read and the connection should be closed.
        is_silent: Whether the sender gets no answer (it does not speak this protocol).
    """

    kind: str
    text: str
    is_fatal: bool = False
    is_silent: bool = False


Item = dict[str, Any] | Fault


def decode(raw: bytes) -> dict[str, Any]:
    """Return an object; bytes that are no UTF-8 become U+FFFD, and nothing else is lost by them.

    Raises:
        msgspec.DecodeError: It is none.
        RecursionError: It is too deep.
    """
    text = raw if raw.isascii() else raw.decode("utf-8", "replace").encode()
    decoded: dict[str, Any] = _decode(text)
    return decoded


def mend(raw: bytes, slips: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Return an object with each slip (where, how many bytes) replaced by what it means."""
    parts, done = [], 0
    for begin, length, meant in sorted(slips):
        parts += [raw[done:begin], meant]
        done = begin + length
    return b"".join([*parts, raw[done:]])
