"""What the keys of a car's configuration may be.

Names, defaults and meanings stand in `template/config.py`, what most keys take in `keys.toml`; here stands how values
are checked, and the keys that need more than a number or a choice.
"""

import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from donkeysim.core.config import read_toml
from donkeysim.core.errors import shorten

TRANSFORMATIONS = (
    *("CROP", "TRAPEZE", "TRAPEZE_EDGE"),
    *("RGB2BGR", "BGR2RGB", "RGB2HSV", "HSV2RGB", "BGR2HSV", "HSV2BGR"),
    *("RGB2GRAY", "BGR2GRAY", "HSV2GRAY", "GRAY2RGB", "GRAY2BGR"),
    *("CANNY", "BLUR", "RESIZE", "SCALE"),
)
"""Names of picture transformations, in addition to those that begin with CUSTOM."""


@dataclass(frozen=True)
class Kind:
    """Values that a key takes: how they are called in a sentence, and whether a value is one of them."""

    name: str
    takes: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.name

    def or_else(self, other: "Kind") -> "Kind":
        """Return the kind of values that are of this kind or another."""
        return Kind(f"{self}, or {other}", lambda value: self.takes(value) or other.takes(value))


def _whole(least: int = 0, most: int = 1_000_000_000) -> Kind:
    name = f"a whole number from {least}" + (f" to {most}" if most < 1_000_000_000 else "")
    return Kind(name, lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most)


def _number(least: float = -1e9, most: float = 1e9) -> Kind:
    """Return the kind of finite numbers from `least` to `most`."""
    name = f"a number from {least:g} to {most:g}" if most < 1e9 else f"a number from {least:g}"

    def takes(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most

    return Kind(name, takes)


def _one_of(*choices: str | int) -> Kind:
    name = "one of " + ", ".join(map(repr, choices))
    return Kind(name, lambda value: any(type(value) is type(choice) and value == choice for choice in choices))


def _items(item: Kind, count: int | None = None, least: int = 0) -> Kind:
    """Return the kind of lists or tuples of values that are each `item`; with `count`, of that many."""
    size = f" of {count} values" if count else f" of {least} or more" if least else ""

    def takes(value: Any) -> bool:
        if not isinstance(value, list | tuple) or len(value) < least or len(value) != (count or len(value)):
            return False
        return all(map(item.takes, value))

    return Kind(f"a list{size}, each {item}", takes)


def _is_address(value: Any) -> bool:
    return value == "" or (isinstance(value, str) and re.fullmatch(r"https?://[^\s/]+(/\S*)?", value) is not None)


def _is_range(value: Any) -> bool:
    return _items(_number(-1, 1), 2).takes(value) and value[0] <= value[1]


def _is_log_format(value: Any) -> bool:
    try:
        return isinstance(value, str) and logging.Formatter(value) is not None
    except ValueError:
        return False


CONTROLLER_TYPES = (
    *("ps3", "ps3sixad", "ps4", "ps5", "xbox", "xboxswapped", "nimbus", "wiiu", "F710", "rc3", "pygame", "custom"),
    *("MM1", "pigpio_rc", "mock"),  # no joysticks: driving with --js says so
)

_FLAG = Kind("True or False", lambda value: isinstance(value, int) and value in (0, 1))  # 1 and 0 pass, as in Python
_NONE = Kind("None", lambda value: value is None)
_TEXT = Kind("a text", lambda value: isinstance(value, str))
_TRANSFORMATION = Kind(
    f"one of {', '.join(map(repr, TRANSFORMATIONS))} or a name that begins with 'CUSTOM'",
    lambda value: isinstance(value, str) and (value in TRANSFORMATIONS or value.startswith("CUSTOM")),
)

_SPECIAL_KINDS = {
    "GYM_CONF": Kind(
        "a dictionary with texts as keys",
        lambda value: isinstance(value, Mapping) and all(isinstance(key, str) for key in value),
    ),
    "WATCH_PAGE_URL": Kind("an address such as 'http://localhost:9093', or ''", _is_address),
    "CONTROLLER_TYPE": _one_of(*CONTROLLER_TYPES),
    "METADATA": _items(_items(_TEXT, 2)),
    "TRAIN_FILTER": Kind("a function", callable),
    "BEHAVIOR_LIST": _items(_TEXT, least=1),
    "AUGMENTATIONS": _items(_one_of("BRIGHTNESS", "BLUR", "MULTIPLY", "CROP", "TRAPEZE")),
    "AUG_BLUR_RANGE": _items(_number(0, 100), 2),
    "AUG_MULTIPLY_RANGE": _items(_number(0, 100), 2),
    "AUG_BRIGHTNESS_RANGE": _number(0, 1).or_else(Kind("two from -1 to 1, the lower one first", _is_range)),
    **dict.fromkeys(("TRANSFORMATIONS", "POST_TRANSFORMATIONS"), _items(_TRANSFORMATION)),
    "LOGGING_FORMAT": Kind("a format of Python's logging such as '%(asctime)s %(message)s'", _is_log_format),
}
"""Keys that `keys.toml` has no words for."""


_TABLE = read_toml(Path(__file__).with_name("keys.toml"))


def _read_kinds() -> dict[str, Kind]:
    makers: dict[str, Callable[..., Kind]] = {"whole": _whole, "number": _number, "one_of": _one_of}
    kinds = dict.fromkeys(_TABLE["flag"], _FLAG) | dict.fromkeys(_TABLE["text"], _TEXT) | _SPECIAL_KINDS
    for word, make in makers.items():
        kinds |= {name: make(*limits) for name, limits in _TABLE[word].items()}
    return kinds | {name: kinds[name].or_else(_NONE) for name in _TABLE["or_none"]}


KINDS = _read_kinds()
"""What each key of config.py takes."""

USED_BY: Mapping[str, str] = {name: user for user, names in _TABLE["used_by"].items() for name in names}
"""What alone uses a key, for example "training"; every run uses the others."""


_LEVELS = {level: name for name, level in logging.getLevelNamesMapping().items() if name not in ("WARN", "FATAL")}
_ADAPTED: Mapping[str, Callable[[Any], Any]] = {
    "LOGGING_LEVEL": lambda value: _LEVELS.get(value, value) if _whole().takes(value) else value,
    "WEB_CONTROL_PORT": lambda value: int(value) if isinstance(value, str) and value.isdecimal() else value,
    "OPTIMIZER": lambda value: value.lower() if isinstance(value, str) else value,
    "AUG_BLUR_RANGE": lambda value: (0, value) if _number(0).takes(value) else value,
}
"""What else the original takes for a key."""


def adapt_value(name: str, value: object) -> object:
    """Return a value in the form that its key takes, of other forms that the original takes: "8887", 128.0, a path.

    Numbers that donkeycar limits are limited as there.
    """
    if isinstance(value, os.PathLike) and name in _TABLE["text"]:
        return os.fspath(value)
    if name in _ADAPTED:
        value = _ADAPTED[name](value)
    if name in _TABLE["whole"] and isinstance(value, float) and value.is_integer():
        value = int(value)
    if name not in _TABLE["clamped"] or not isinstance(value, int | float) or isinstance(value, bool):
        return value
    least, most = _TABLE["number"][name]
    return value if value != value else min(max(value, least), most)


def describe_bad_value(name: str, value: object) -> str | None:
    """Return what is wrong with a key's value, as the rest of a sentence after the place, or None when it is fine."""
    kind = KINDS.get(name)
    if kind is None or kind.takes(value):
        return None
    return f"{name} is {shorten(repr(value))}, but takes {kind}."
