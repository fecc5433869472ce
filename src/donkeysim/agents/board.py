"""The board: how far agents drove and how long they thought, a line of JSON for each trip."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from donkeysim.agents.trip import TripSummary
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.files import describe_failure
from donkeysim.world.tracks.former_places import rename_key

FORMAT = 2
"""Of a line; those without a number are of the first, when other places had the original's names."""


@dataclass(frozen=True)
class Entry:
    """One trip.

    Attributes:
        name: Who drove.
        track: Where.
        metres: Way made along the road.
        laps: Whole ones.
        turns: Of the drive.
        turn_time: Mean thinking time before a turn [s].
        seconds: Simulated.
        hits: Things touched.
        ending: Why it ended, see `trip.ENDINGS`.
        format: Of the line.
    """

    name: str
    track: str
    metres: float
    laps: int
    turns: int
    turn_time: float
    seconds: float
    hits: int
    ending: str
    format: int = FORMAT


def make_entry(name: str, summary: TripSummary) -> Entry:
    """Return the entry of a trip."""
    read = summary.readings
    numbers = (read.metres, read.laps, read.turns, round(summary.turn_time, 3), read.seconds, read.hits)
    return Entry(name, summary.track, *numbers, read.ending)


def add_entry(path: Path, entry: Entry) -> None:
    """Write an entry behind the others.

    Raises:
        DonkeySimError: The file cannot be written.
    """
    try:
        with path.open("ab") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
    except OSError as error:
        raise DonkeySimError(f"the board {path} cannot be written ({describe_failure(error)}).") from error


def read_board(path: Path) -> list[Entry]:
    """Return all entries; a last line that a kill cut short is left out.

    Raises:
        SpecError: The file cannot be read, or a line of it is no entry.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise SpecError(f"the board {path} cannot be read ({describe_failure(error)}).") from error
    entries = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            entries.append(_read_entry(line))
        except ValueError as error:
            raise SpecError(f"line {number} of the board {path} is no trip ({error}); take it out.") from error
    return entries


def _read_entry(line: bytes) -> Entry:
    """Return the entry in a line.

    Raises:
        ValueError: It is none, or of a newer version.
    """
    tree = msgspec.json.decode(line)
    if isinstance(tree, dict) and "format" not in tree:
        rename_key(tree, "track")
    entry = msgspec.convert(tree, Entry)
    if entry.format > FORMAT:
        raise ValueError(f"it has the format {entry.format}, this version reads up to {FORMAT}")
    return entry


def rank_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Return the best trip of each name on each track, farthest first; who thinks less comes first among equals."""
    best: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        known = best.get((entry.track, entry.name))
        if known is None or (-entry.metres, entry.turn_time) < (-known.metres, known.turn_time):
            best[entry.track, entry.name] = entry
    return sorted(best.values(), key=lambda entry: (entry.track, -entry.metres, entry.turn_time))
