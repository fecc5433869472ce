"""Tournaments and leagues in folders.

A tournament is one call: a trial for the seeds, then match after match. Its folder holds `tournament.json` and, for
each match, a race file and its result; an interrupted one continues where it stopped. A league is a folder with one
for each evening; the files of its races and tournaments are all its memory.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from donkeysim.core.errors import SpecError
from donkeysim.core.files import write_whole
from donkeysim.racing.rules.bracket import Bracket, make_bracket
from donkeysim.racing.rules.rule_book import Race, RuleBook
from donkeysim.racing.rules.standings import Outcome, list_places
from donkeysim.racing.run.race_file import RacePlan, Report, load_report, renew_format, save_report, shift_seed
from donkeysim.racing.run.race_run import PilotRace, RaceRecord
from donkeysim.racing.run.racer import Racer

FILE = "tournament.json"

TRIAL = "trial"
"""Name of the race that seeds the others."""

OnResult = Callable[[str, Report], None]
"""Called with the name of a match and its report when it is over."""


class Tournament(msgspec.Struct):
    """What a folder remembers."""

    plan: RacePlan
    """Of all races; the names are in the order of entry."""
    kind: str
    """One of `bracket.BRACKETS`."""
    seeds: list[str] = []
    """Names, the best first; none: the trial has not been held."""
    results: dict[str, list[str]] = {}
    """Names in the order of finishing, by match."""
    ranking: list[list[str]] = []
    """From the first place on, when it is over; those who share a place together."""


def open_tournament(folder: Path, plan: RacePlan, kind: str) -> Tournament:
    """Return the tournament of a folder, a new one where there is none.

    Raises:
        SpecError: The folder's tournament is another one.
    """
    if not (folder / FILE).is_file():
        return Tournament(plan, kind)
    tournament = load_tournament(folder)
    if (tournament.plan, tournament.kind) != (plan, kind):
        raise SpecError(f"{folder} holds another tournament, with other entries or rules; choose another folder.")
    return tournament


def load_tournament(folder: Path) -> Tournament:
    """Return what a folder remembers.

    Raises:
        SpecError: It cannot be read.
    """
    path = folder / FILE
    try:
        tree = msgspec.json.decode(path.read_bytes())
        renew_format(tree["plan"], tree["plan"])
        return msgspec.convert(tree, Tournament, str_keys=True)
    except OSError as error:
        raise SpecError(f"the tournament {path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecError(f"{path} is not a tournament ({error}).") from error


def hold_tournament(
    tournament: Tournament, racers: Mapping[str, Racer], folder: Path, on_result: OnResult = lambda _name, _report: None
) -> Bracket:
    """Hold all matches that are left, and return the bracket.

    Args:
        tournament: Written, and saved after every match.
        racers: By name.
        folder: Where the files go.
        on_result: See `OnResult`.

    Raises:
        SpecError: The tournament is not possible, which is found before anybody drives, or a race is not.
    """
    plan = tournament.plan
    make_bracket(tournament.kind, plan.names, plan.book.cars)
    if not tournament.seeds:
        tournament.seeds = list(plan.names)
        if plan.book.qualifying is not None:
            tournament.seeds = _race(tournament, TRIAL, make_trial(plan.book), plan.names, racers, folder, on_result)
        _save(tournament, folder)
    bracket = make_bracket(tournament.kind, tournament.seeds, plan.book.cars)
    book = make_match(plan.book)
    while ready := bracket.list_ready(tournament.results):
        for match in ready:
            grid = tuple(sorted(match.entries, key=tournament.seeds.index))
            order = _race(tournament, match.name, book, grid, racers, folder, on_result)
            tournament.results[match.name] = order
            _save(tournament, folder)
    tournament.ranking = [list(names) for names in bracket.rank(tournament.results)]
    _save(tournament, folder)
    return bracket


def make_trial(book: RuleBook) -> RuleBook:
    """Return the rules of the trial that seeds a tournament: the book's qualifying as a race of its own."""
    rules = book.qualifying
    if rules is None:
        raise SpecError(f"{book.title} has no qualifying, so there is no trial.")
    race = Race(
        laps=rules.laps,
        limit=rules.limit,
        order="best_lap" if rules.by == "best_lap" else "time",
        clock="line",
        alone=rules.alone,
        least_lap=book.race.least_lap,
        checkpoint_limit=book.race.checkpoint_limit,
    )
    start = replace(book.start, grid="entry")
    return replace(book, title=f"{book.title}, trial", race=race, start=start, qualifying=None, cars=1000)


def make_match(book: RuleBook) -> RuleBook:
    """Return the rules of a match: the race alone, the better seed in front."""
    return replace(book, start=replace(book.start, grid="entry"), qualifying=None, practice=0.0)


def _race(
    tournament: Tournament,
    name: str,
    book: RuleBook,
    names: tuple[str, ...],
    racers: Mapping[str, Racer],
    folder: Path,
    on_result: OnResult,
) -> list[str]:
    """Hold a race and return the names in the order of finishing."""
    seed = shift_seed(tournament.plan.seed, 1 + len(tournament.results))
    plan = msgspec.structs.replace(tournament.plan, book=book, names=names, seed=seed)
    record = PilotRace(plan, [racers[entry] for entry in names], folder / f"{name}.dlog").run()
    report = report_race(record)
    on_result(name, report)
    return [placing.name for placing in report.result.placings]


def report_race(record: RaceRecord) -> Report:
    """Write the result beside a race file and return it."""
    assert record.file is not None, "races that are reported have a file"
    report = make_report(record)
    save_report(record.file.with_suffix(".json"), report)
    return report


def make_report(record: RaceRecord) -> Report:
    """Return the result of a race with a file."""
    assert record.file is not None, "races that are reported have a file"
    return Report(record.plan, record.result, record.journal, record.file.name)


def _save(tournament: Tournament, folder: Path) -> None:
    write_whole(folder / FILE, msgspec.json.format(msgspec.json.encode(tournament), indent=2) + b"\n")


# -- leagues ---------------------------------------------------------------------------------------------------------


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
            outcomes.append(Outcome(_name_outcome(folder, place), list_places(tournament.ranking), worth))
    taken = {outcome.title for outcome in outcomes}
    for log in sorted(folder.rglob("*.dlog")):
        path = log.with_suffix(".json")
        if not path.is_file() or (log.parent in tournaments and _is_match(log.stem, tournaments[log.parent])):
            continue
        report = load_report(path)
        places = tuple((placing.name, placing.place) for placing in report.result.placings)
        title = _name_outcome(folder, log.with_suffix(""))
        title = _name_outcome(folder, log) if title in taken else title
        outcomes.append(Outcome(title, places, tuple(points) or report.race.book.points))
    if not outcomes:
        raise SpecError(f"nothing has been raced in {folder} yet; donkey race --out {folder}/evening-1 begins.")
    return sorted(outcomes, key=lambda outcome: outcome.title)


def _is_match(name: str, tournament: Tournament) -> bool:
    """Whether a race file is a tournament's own; one that was held again after an interruption has a number."""
    return any(re.fullmatch(rf"{re.escape(own)}(-\d+)?", name) for own in (TRIAL, *tournament.results))


def _name_outcome(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix() if path != folder else folder.name
