"""Errors that speak to people: what was given, what is allowed, what to do.

One of them says how a package that comes with an extra only is installed, when it is needed and missing.
"""

import difflib
import re
from collections.abc import Iterable
from importlib import import_module
from typing import Any


class DonkeySimError(Exception):
    """Base of every error this package raises on purpose. Its text is one clear sentence."""


class SpecError(DonkeySimError):
    """A specification (file, option, message field) asks for something impossible or unknown.

    Attributes:
        key: Which value of a file it is about, such as "walls[3].gap"; "": the whole file. Whatever knows the file puts
            its name and the line before the text. None: the text says itself what it is about.
    """

    def __init__(self, text: str, key: str | None = None) -> None:
        super().__init__(text)
        self.key = key


class SettingError(SpecError, TypeError):
    """A function was called with a setting that it does not have, which Python and programs know as a `TypeError`."""


class SceneError(SpecError):
    """A scene does not exist, or its file is broken."""


class WireError(DonkeySimError):
    """A message from a client cannot be read or may not be said now."""


class SimulatorError(DonkeySimError):
    """A simulator outside this process cannot be started or reached, or does not answer."""


class CapacityError(DonkeySimError):
    """Every slot for a car is taken."""


class ShapeError(DonkeySimError):
    """An array does not have the shape its function documents."""


class PilotError(DonkeySimError):
    """A pilot's file cannot be read or written, or does not fit what it is asked to do."""


class TubError(DonkeySimError):
    """A tub cannot be read, written or changed."""


def nearest_name(given: str, allowed: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the allowed name nearest to `given`, or None when nothing is nearer than `cutoff` (1: the same).

    One whose last word is written on in `given`, as that of IMAGE_W is in IMAGE_WIDTH, is nearest.
    """
    names = list(allowed)
    begun = (name for name in names if len(name) > 3 and given.startswith(name) and given[len(name) :][:1].isalpha())
    return max(begun, key=len, default=None) or next(
        iter(difflib.get_close_matches(given, names, n=1, cutoff=cutoff)), None
    )


def is_slip(given: str, name: str) -> bool:
    """Return whether a name was surely meant: case, "_" and "-" do not count, and one letter may be too many, missing,
    wrong or swapped with the next; two of a name with nine or more.
    """
    first, second = (re.sub(r"[_-]", "", text.lower()) for text in (given, name))
    most = 2 if len(second) >= 9 or sorted(first) == sorted(second) else 1  # to swap two is to move one: two changes
    changes = difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in changes if kind != "equal") <= most


def shorten(text: str, most: int = 80) -> str:
    """Return a text of at most `most` characters; three dots stand for what was cut off."""
    return text if len(text) <= most else text[: most - 3] + "..."


def format_count(count: int, noun: str) -> str:
    """Return a count and its noun, for example "1 lap" and "10,000 laps"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def describe_unknown(kind: str, given: str, allowed: Iterable[str]) -> str:
    """Return one sentence about an unknown name: what was given, the nearest valid name, and all valid names.

    Args:
        kind: What the name stands for, in the singular, for example "scene".
        given: The name that was given; cut to 80 characters in the text.
    """
    names = sorted(allowed)
    short = shorten(given)  # what is much longer resembles none, and a megabyte would be compared for 0.1 s
    nearest = nearest_name(short, names)
    hint = f"; did you mean {nearest!r}?" if nearest else "."
    return f"unknown {kind} {short!r}{hint} Valid: {', '.join(names)}."


INSTALL = "in the checkout: pip install ."
"""How messages say that donkeysim is installed, while no index of packages has it.

On the day of publishing this becomes "with: pip install donkeysim"; a test then names each line of README, docs and
examples that has to follow.
"""


def describe_install(extra: str = "") -> str:
    """Return the words that follow "install it": `in the checkout: pip install ".[learn]"`."""
    words, package = INSTALL.rsplit(" ", 1)
    return f'{words} "{package}[{extra}]"' if extra else INSTALL


def import_extra(module: str, need: str, extra: str = "learn") -> Any:
    """Return a module of an extra; when it is missing the error says `need` ("films need PyAV") and how to install it.

    Raises:
        DonkeySimError: It is missing.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise DonkeySimError(f"{need}; install it {describe_install(extra)}") from error
