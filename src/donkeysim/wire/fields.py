"""Fields of a message as clients really write them: numbers as text or as numbers, with spaces, signs and points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from donkeysim.core.errors import WireError, shorten

LONGEST_NUMBER = 400
"""Most characters of a number."""


class Form:
    """The fields of one message.

    Each `read_` method returns None for a missing field and raises `WireError` for one that cannot be understood.

    Attributes:
        fields: As the client wrote them.
        notes: What had to be changed to make the message possible, for the client.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        self.notes: list[str] = []

    def read_number(self, name: str) -> float | None:
        """Return a number, finite; a text may have spaces around, a sign, a leading or trailing point, an exponent."""
        if name not in self.fields:
            return None
        given = self.fields[name]
        value = _convert(given)
        if not math.isfinite(value):
            raise WireError(f'{name} is {show(given)}, but must be a finite number such as 0.5 or "0.5".')
        return value

    def read_integer(self, name: str) -> int | None:
        """Return a whole number; 3.0 is one."""
        value = self.read_number(name)
        if value is None:
            return None
        if value != math.floor(value):
            raise WireError(f"{name} is {show(self.fields[name])}, but must be a whole number.")
        return int(value)

    def read_text(self, name: str) -> str | None:
        """Return a text; a number stands for its digits."""
        if name not in self.fields:
            return None
        given = self.fields[name]
        if type(given) is int or type(given) is float:
            return str(given)
        if type(given) is not str:
            raise WireError(f"{name} is {show(given)}, but must be a text.")
        return given

    def read_required_number(self, name: str) -> float:
        """Return a number that must not be missing."""
        value = self.read_number(name)
        if value is None:
            raise WireError(f"{name} is missing; this message needs it.")
        return value

    def read_within(self, name: str, low: float, high: float, *, zero_keeps: bool = False) -> float | None:
        """Return a number brought within its limits, noting when it was not.

        With `zero_keeps`, 0 counts as missing.
        """
        value = self.read_number(name)
        if value is None or (zero_keeps and value == 0.0):
            return None
        return self._clamp(name, value, low, high)

    def read_whole_within(self, name: str, low: int, high: int, *, zero_keeps: bool = False) -> int | None:
        """Return a whole number as `read_within` does."""
        value = self.read_integer(name)
        if value is None or (zero_keeps and value == 0):
            return None
        return int(self._clamp(name, value, low, high))

    def take_notes(self) -> tuple[str, ...]:
        """Return the notes and forget them: somebody else tells them."""
        notes, self.notes = tuple(self.notes), []
        return notes

    def _clamp(self, name: str, value: float, low: float, high: float) -> float:
        inside = min(max(value, low), high)
        if inside != value:
            self.notes.append(f"{name} {value:g} was changed to {inside:g}; it takes {low:g} to {high:g}")
        return inside


def is_plain(text: str) -> bool:
    """Return whether Python takes a text for a number only if others do; it also takes 1_000 and all scripts."""
    return text.isascii() and "_" not in text


def show(given: Any) -> str:
    """Return a value as JSON-like text, at most 80 characters; of a list or an object only that it is one."""
    words = {True: "true", False: "false", None: "null"}
    if given is None or given is True or given is False:
        return words[given]
    if isinstance(given, (dict, list)):
        return "a list" if isinstance(given, list) else "an object"
    return shorten(ascii(given[:80] if isinstance(given, str) else given))


def read_word(text: str) -> str:
    """Return a text to compare with keywords: in small letters, no spaces around, cut where none is so long."""
    return text.strip()[:80].lower()


def _convert(given: Any) -> float:
    """Return a number, nan for what is none."""
    if type(given) is str:
        text = given.strip()
        try:
            return float(text) if len(text) <= LONGEST_NUMBER and is_plain(text) else math.nan
        except ValueError:
            return math.nan
    if type(given) is float or type(given) is int:
        try:
            return float(given)
        except OverflowError:
            return math.nan
    return math.nan
