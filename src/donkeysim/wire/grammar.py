r"""What the tokens of JSON look like, as expressions that do not go back over what they have taken.

None repeats a group possessively: Python 3.11.0 to 3.11.4, Debian 12's among them, then takes the half of an
escape such as `\u00e9` for a whole one.
"""

import math
import re

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
