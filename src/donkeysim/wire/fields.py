"""Fields of a message as clients really write them: numbers as text or as numbers, with spaces, signs and points."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from donkeysim.core import frames
from donkeysim.core.errors import WireError, shorten
from donkeysim.world.specs import IMAGE_ENCODINGS

LONGEST_NUMBER = 400
"""Most characters of a number."""

PartialVector = tuple[float | None, float | None, float | None]
"""A vector of which only the components that are not None change."""


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

    def note_unused(self, *used: str) -> None:
        """Note the fields that mean nothing, as forks have them."""
        if strange := [str(name) for name in self.fields if name not in used]:
            named = ", ".join(used[1:])
            self.notes.append(f"{shorten(', '.join(strange))} does nothing here, only {named} do")

    def read_number(self, name: str) -> float | None:
        """Return a number, finite; a text may have spaces around, a sign, a leading or trailing point, an exponent."""
        if name not in self.fields:
            return None
        given = self.fields[name]
        value = _parse_number(given)
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

    def read_angle(self, name: str) -> float | None:
        """Return degrees as radians; downwards is positive on both sides."""
        degrees = self.read_number(name)
        return math.radians(math.fmod(degrees, 360.0)) if degrees else None

    def read_offset(self) -> PartialVector | None:
        """Return where on the car, body frame [m]; None where nothing or only 0 is given."""
        given = [self.read_within(name, -1000, 1000) for name in ("offset_x", "offset_y", "offset_z")]
        x, y, z = (math.nan if value is None else value for value in given)
        return _drop_missing(frames.position_from_units((x, y, z))) if any(given) else None

    def read_rotation(self) -> PartialVector | None:
        """Return (roll, pitch, yaw) [rad]; None where nothing or only 0 is given."""
        given = [self.read_number(name) for name in ("rot_x", "rot_y", "rot_z")]
        x, y, z = (math.nan if value is None else math.fmod(value, 360.0) for value in given)
        return _drop_missing(frames.view_rotation_from_degrees(x, y, z)) if any(given) else None

    def read_quaternion(self) -> frames.Quaternion | None:
        """Return a unit quaternion in our frame, of whatever length was given."""
        given = [self.read_number(f"Q{axis}" if f"Q{axis}" in self.fields else f"q{axis}") for axis in "xyzw"]
        parts = [part for part in given if part is not None]
        if not parts:
            return None
        if len(parts) < 4:
            raise WireError("a rotation needs all four of Qx, Qy, Qz, Qw; give all or none.")
        largest = max(map(abs, parts))
        if largest == 0.0:
            raise WireError("the quaternion Qx, Qy, Qz, Qw has length 0; give one of length 1.")
        x, y, z, w = (part / largest for part in parts)
        length = math.sqrt(x * x + y * y + z * z + w * w)
        return frames.quaternion_from_unity((x / length, y / length, z / length, w / length))

    def read_fisheye(self) -> tuple[float | None, float | None] | None:
        """Return strengths in x and y, None to keep them; a word switches it off."""
        names = ("fish_eye_x", "fish_eye_y")
        given = [self.fields.get(name) for name in names]
        if any(type(value) is str and read_word(value) == "off" for value in given):
            return (0.0, 0.0)
        x, y = (self.read_within(name, 0, 1) for name in names)
        return (x, y) if x or y else None

    def read_encoding(self) -> str | None:
        """Return one of `IMAGE_ENCODINGS`, None to keep it."""
        given = self.read_text("img_enc")
        encoding = "0" if given is None else read_word(given).upper()
        if encoding in ("0", "0.0", ""):
            return None
        if encoding in ("JPG", "JPEG"):
            return "JPG"
        if encoding not in IMAGE_ENCODINGS:
            self.notes.append(f"img_enc {show(given)} was changed to JPG; it takes JPG, PNG or TGA")
            return "JPG"
        return encoding

    def take_notes(self) -> tuple[str, ...]:
        """Return the notes and forget them: the caller reports them."""
        notes, self.notes = tuple(self.notes), []
        return notes

    def _clamp(self, name: str, value: float, low: float, high: float) -> float:
        inside = min(max(value, low), high)
        if inside != value:
            self.notes.append(f"{name} {value:g} was changed to {inside:g}; it takes {low:g} to {high:g}")
        return inside


def _drop_missing(vector: frames.Vector) -> PartialVector:
    """Return None for the components that were computed from a missing field (nan)."""
    x, y, z = (None if math.isnan(value) else value for value in vector)
    return (x, y, z)


def convert(function: Callable[[float], float], value: float | None) -> float | None:
    """Return a value in our units, None for a missing one."""
    return None if value is None else function(value)


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


def _parse_number(given: Any) -> float:
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
