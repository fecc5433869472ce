"""A league: a folder with a folder for each evening; the files of its races and tournaments are all its memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from donkeysim.core.errors import SpecError
from donkeysim.racing.rules.points import Outcome, list_places
from donkeysim.racing.run.race_file import load_report
from donkeysim.racing.run.tournament import FILE, TRIAL, Tournament, load_tournament


def read_league(folder: Path, points: Sequence[float] = ()) -> list[Outcome]:
    """Return how all races and tournaments of a league ended, in the order of their names.

    Args:
        folder: Of the league; what lies deeper counts, too. Matches of a tournament count by its ranking only; other
            races in its folder count as well.
        points: What places are worth; none: as each one's rule book says.

    Raises:
        SpecError: There is no such folder, nothing has been raced in it, or a file is broken.
    """
    if not folder.is_dir():
        raise SpecError(f"there is no folder {folder}; name the one with the league's evenings.")
    tournaments = {path.parent: load_tournament(path.parent) for path in sorted(folder.rglob(FILE))}
    outcomes = []
    for place, tournament in tournaments.items():
        if tournament.ranking:
            worth = tuple(points) or tournament.plan.book.points
            outcomes.append(Outcome(_name(folder, place), list_places(tournament.ranking), worth))
    taken = {outcome.title for outcome in outcomes}
    for log in sorted(folder.rglob("*.dlog")):
        path = log.with_suffix(".json")
        if not path.is_file() or (log.parent in tournaments and _is_match(log.stem, tournaments[log.parent])):
            continue
        report = load_report(path)
        places = tuple((placing.name, placing.place) for placing in report.result.placings)
        title = _name(folder, log.with_suffix(""))
        title = _name(folder, log) if title in taken else title
        outcomes.append(Outcome(title, places, tuple(points) or report.race.book.points))
    if not outcomes:
        raise SpecError(f"nothing has been raced in {folder} yet; donkey race --out {folder}/evening-1 begins.")
    return sorted(outcomes, key=lambda outcome: outcome.title)


def _is_match(name: str, tournament: Tournament) -> bool:
    """Whether a race file is a tournament's own; one that was held again after an interruption has a number."""
    return any(re.fullmatch(rf"{re.escape(own)}(-\d+)?", name) for own in (TRIAL, *tournament.results))


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path != folder else folder.name
