"""What a race file holds beside what was done to the simulator: the race, the race engineer's acts, the result.

A race file is an action log. These texts are kept in it as JSON, where they belong in time; so a race can be replayed,
and counted again, from one file.
"""

from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from donkeysim.core.errors import SpecError
from donkeysim.core.files import write_whole
from donkeysim.racing.rules.act import Act
from donkeysim.racing.rules.director import Line, Result
from donkeysim.racing.rules.rule_book import RuleBook
from donkeysim.world.tracks.former_places import rename_key

FORMAT = 2
"""Of plans and results; those without a number are of the first, when other places had the original's names."""

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
    format: int = FORMAT


class Acted(msgspec.Struct, frozen=True, tag="act"):
    """The race engineer did something."""

    act: Act


class Ended(msgspec.Struct, frozen=True, tag="result"):
    """The race is over; a later one replaces it."""

    result: Result
    format: int = FORMAT


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
        tree = msgspec.json.decode(text)
        renew_format(tree, tree, tree.get("result"))
        note: Note = msgspec.convert(tree, Note, str_keys=True)
    except (ValueError, AttributeError) as error:
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
        tree = msgspec.json.decode(path.read_bytes())
        renew_format(tree["race"], tree["race"], tree["result"])
        return msgspec.convert(tree, Report, str_keys=True)
    except OSError as error:
        raise SpecError(f"the result {path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecError(f"{path} is not the result of a race ({error}).") from error


def renew_format(tree: dict[str, Any], *places: Any) -> None:
    """Give the places in an older file the names that they have now, and the file the format of now.

    Args:
        tree: The plan or note that holds the format.
        places: Tables that hold a track; others are left alone.

    Raises:
        ValueError: The format is a newer one.
    """
    number = int(tree.get("format", 1))
    if number > FORMAT:
        raise ValueError(f"format {number}, this version reads up to {FORMAT}")
    if number < FORMAT:
        for table in places:
            rename_key(table, "track", replayed=True)
        tree["format"] = FORMAT
