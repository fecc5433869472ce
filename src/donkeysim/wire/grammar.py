r"""What clients' JSON may be: its tokens, the limits of a message, what is said beyond them, and what is mended.

Tokens are expressions that do not go back over what they have taken. None repeats a group possessively: Python 3.11.0
to 3.11.4, Debian 12's among them, then takes the half of an escape such as `\u00e9` for a whole one.
"""

import math
import re
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

MOST_DIGITS = 400
"""Longest number [byte]."""

MOST_PIECES = 16
"""Pieces of a text that count as one token's work."""

FLAT_OBJECT = re.compile(rb"[ \t\r\n]*+\{[^{}\[\]\\]*+\}")
"""An object without lists, objects and escapes in it, if it is one at all."""

LONG_NUMBER = re.compile(rb"[-+0-9.eE]{%d}" % (MOST_DIGITS + 1))
"""More of what numbers consist of than a number may have."""

BLANK = re.compile(rb"[ \t\r\n]*+")
"""What may stand between tokens."""

GAP = re.compile(rb"[ \t\r\n\0\xef\xbb\xbf]*+")
"""What may stand between messages: also the end of a text of C, and the mark that writers of .NET begin UTF-8 with."""

STRING = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){0,%d}' % MOST_PIECES)
"""The next pieces of a text: what stands for itself, and whole escapes."""

ESCAPE_BEGUN = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?")
"""An escape that more bytes may complete."""

DIGITS = re.compile(rb"[-+0-9.eE]*+")
"""All that a number may consist of."""

NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
"""A number."""

PLAIN_MEMBER = re.compile(
    rb'[ \t\r\n]*+"[^"\\\x00-\x1f]*+"[ \t\r\n]*+:[ \t\r\n]*+'
    rb'(?:"[^"\\\x00-\x1f]*+"|(?![-+0-9.eE]{%d})'
    % (MOST_DIGITS + 1)
    + NUMBER.pattern
    + rb"|true|false|null)[ \t\r\n]*+([,}])"
)
"""A key, its value without escapes, and what ends it."""

BARE = re.compile(rb"[-+.0-9A-Za-z_]{0,%d}" % (MOST_DIGITS + 1))
"""A value without quotes: a number, a word, or what the original's reader takes for none."""

WORDS = (b"true", b"false", b"null")
"""Values that are words."""


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


def find_meaning(bare: bytes) -> bytes:
    """Return the value that the original reads in one without quotes that JSON has not: `True`, `.5`, `None`, `NaN`."""
    if bare.lower() in WORDS:
        return bare.lower()
    try:
        value = float(bare) if DIGITS.fullmatch(bare) else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        return b"null"
    return str(int(value) if value.is_integer() and abs(value) < 1e15 else value).encode()
