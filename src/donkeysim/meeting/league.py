"""A league: a folder with a folder for each evening; the files of its races and tournaments are all its memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from donkeysim.core.errors import SpecError
from donkeysim.meeting.race_file import load_report
from donkeysim.meeting.tournament import FILE, load_tournament
from donkeysim.race.points import Outcome, list_places


def read_league(folder: Path, points: Sequence[float] = ()) -> list[Outcome]:
    """Return how all races and tournaments of a league ended, in the order of their names.

    Args:
        folder: Of the league; what lies deeper counts, too. Matches of a tournament count by its ranking only.
        points: What places are worth; none: as each one's rule book says.

    Raises:
        SpecError: There is no such folder, nothing has been raced in it, or a file is broken.
    """
    if not folder.is_dir():
        raise SpecError(f"there is no folder {folder}; name the one with the league's evenings.")
    tournaments = sorted(path.parent for path in folder.rglob(FILE))
    outcomes = []
    for place in tournaments:
        tournament = load_tournament(place)
        if tournament.ranking:
            worth = tuple(points) or tournament.plan.book.points
            outcomes.append(Outcome(_name(folder, place), list_places(tournament.ranking), worth))
    for log in sorted(folder.rglob("*.dlog")):
        path = log.with_suffix(".json")
        if log.parent in tournaments or not path.is_file():
            continue
        report = load_report(path)
        places = tuple((placing.name, placing.place) for placing in report.result.placings)
        outcomes.append(Outcome(_name(folder, log.with_suffix("")), places, tuple(points) or report.race.book.points))
    if not outcomes:
        raise SpecError(f"nothing has been raced in {folder} yet; donkey race --out {folder}/evening-1 begins.")
    return sorted(outcomes, key=lambda outcome: outcome.title)


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path != folder else folder.name
