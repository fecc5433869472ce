"""What a race file holds beside what was done to the simulator: the race, the race engineer's acts, the result.

A race file is an action log. These texts are kept in it as JSON, where they belong in time; so a race can be replayed,
and counted again, from one file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import msgspec

from donkeysim.core.errors import SpecError
from donkeysim.core.files import write_whole
from donkeysim.race.act import Act
from donkeysim.race.director import Line, Result
from donkeysim.race.rule_book import RuleBook

SEED_COUNT = 1 << 63
"""Seeds are 0 to one less."""


def shift_seed(seed: int, number: int) -> int:
    """Return the seed of another race of the same evening; after the last seed comes 0."""
    return (seed + number) % SEED_COUNT


class RacePlan(msgspec.Struct, frozen=True, tag="race"):
    """A race that is to be driven."""

    track: str
    """A track's name, or the path of its file."""
    rules: str
    """Name of the rule book, or its path."""
    book: RuleBook
    """What it says, so that a later change of the file changes no race."""
    names: tuple[str, ...]
    """Of the cars, in the order of entry: car i is row i."""
    seed: int = 0
    car: str = "original"
    """Preset of all cars' physics."""


class Acted(msgspec.Struct, frozen=True, tag="act"):
    """The race engineer did something."""

    act: Act


class Ended(msgspec.Struct, frozen=True, tag="result"):
    """The race is over; a later one replaces it."""

    result: Result


Note: TypeAlias = RacePlan | Acted | Ended


class Report(msgspec.Struct, frozen=True):
    """The file beside a race file, for people and programs."""

    race: RacePlan
    result: Result
    journal: tuple[Line, ...]
    file: str
    """Name of the race file."""


def pack_note(note: Note) -> str:
    """Return a note as a race file keeps it."""
    return msgspec.json.encode(note).decode()


def unpack_note(text: str) -> Note:
    """Return a note of a race file.

    Raises:
        SpecError: It is none, or of a newer version.
    """
    try:
        note: Note = msgspec.json.decode(text, type=Note)
    except ValueError as error:
        raise SpecError(f"the race file holds what this version does not know ({error}); update donkeysim.") from error
    return note


def save_report(path: Path, report: Report) -> Path:
    """Write the result and the journal as JSON and return the file."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    return path


def load_report(path: Path) -> Report:
    """Return what a result's file holds.

    Raises:
        SpecError: It cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as error:
        raise SpecError(f"the result {path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise SpecError(f"{path} is not the result of a race ({error}).") from error
