"""Race pilots against each other, faster than real time, by a rule book; every race is one file that can be verified.

A pilot is a file (.onnx, .tflite, .h5, .keras), the one in the package (built-in), or a driver who knows the track
(fast, steady, human); NAME=PILOT gives it a name. --out takes the race file, race.dlog, and the result, race.json.

For example: donkey race --pilot Anna=a.h5 --pilot built-in --pilot steady --track thunderhill --rules f1tenth
"""

from __future__ import annotations

import argparse
import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console, make_table, show_progress
from donkeysim.cli.race_cars import add_race_arguments, make_plan, make_racers
from donkeysim.cli.race_host import add_engineer_arguments, add_host_arguments, engineer, host
from donkeysim.cli.race_results import add_export_arguments, show_result
from donkeysim.cli.shared_options import add_tracks_argument
from donkeysim.core.errors import SpecError, describe_unknown
from donkeysim.core.files import check_place, choose_free, write_whole
from donkeysim.racing.host.engineer import read_seconds

if TYPE_CHECKING:
    from donkeysim.racing.run.race_file import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's kinds of work; without a word it races."""
    parser.set_defaults(work=race)
    add_race_arguments(parser, "robo_racing_carnage", "race")
    works = parser.add_subparsers(title="what else to do", metavar="host | engineer | rules | verify | export | …")

    def add(name: str, work: object, summary: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = works.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        made.set_defaults(work=work)
        return made

    hosting = add("host", host, "hold races over the network: clients join, a page shows it")
    add_race_arguments(hosting, "virtual_race_league", "race")
    add_host_arguments(hosting)
    acting = add("engineer", engineer, "start, pause or restart a race that is held; penalise, put back, undo")
    add_engineer_arguments(acting)
    showing = add("rules", show_rules, "list the rule books, or explain one")
    showing.add_argument("book", nargs="?", metavar="NAME|FILE", help="a rule book's name, or a club's own file")
    checking = add("verify", verify, "play a race file again and count its result again")
    checking.add_argument("file", metavar="RACE", help="the race file (.dlog)")
    add_tracks_argument(checking)
    add_export_arguments(add("export", None, "write a race as MCAP for Foxglove, as a Parquet table, or as a report"))
    judging = add("amend", amend, "penalise a car after the race, or take an incident back; the race file keeps it")
    judging.add_argument("file", metavar="RACE", help="the race file (.dlog)")
    judging.add_argument(
        "--penalise", action="append", default=[], metavar="NAME=SECONDS", help="add seconds to a car's"
    )
    judging.add_argument("--disqualify", action="append", default=[], metavar="NAME", help="disqualify a car")
    judging.add_argument("--undo", action="append", default=[], type=int, metavar="NO", help="take back an incident")
    judging.add_argument("--why", default="", metavar="TEXT", help="what the journal says about it")
    add_tracks_argument(judging)
    holding = add("tournament", hold, "hold a tournament, or continue one that was interrupted")
    add_race_arguments(holding, "diyrobocars", "tournament")
    holding.add_argument("--kind", choices=("double_elimination", "ladder", "heats"), help="default: the rule book's")
    counting = add("league", count, "show the points table of all races and tournaments in a folder")
    counting.add_argument("folder", metavar="DIR", help="the league's folder, with a folder for each evening")
    counting.add_argument(
        "--points", metavar="P,P,...", help="points from the first place on (default: the rule books')"
    )
    counting.add_argument("--html", metavar="FILE", help="write it as a page, too")


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked for."""
    logging.getLogger("donkeysim.record").setLevel(logging.WARNING)  # the files are named at the end
    return int(arguments.work(arguments))


# -- racing -----------------------------------------------------------------------------------------------------------


def race(arguments: argparse.Namespace) -> int:
    """Race once."""
    from donkeysim.racing.run.race_run import PilotRace
    from donkeysim.racing.run.tournament import report_race

    check_place(Path(arguments.out))
    racers = make_racers(arguments)
    plan = make_plan(arguments, tuple(racers))
    with show_progress("racing") as report:
        record = PilotRace(plan, list(racers.values()), Path(arguments.out).expanduser() / "race.dlog").run(report)
    show_result(report_race(record))
    console.print(f"race file: {record.file}", soft_wrap=True)
    console.print(f"a report of it: donkey race export {record.file} --html", soft_wrap=True)
    return 0


# -- rule books -------------------------------------------------------------------------------------------------------


def show_rules(arguments: argparse.Namespace) -> int:
    """List the rule books, or explain one."""
    from donkeysim.racing.rules.describe import describe_rules
    from donkeysim.racing.rules.rule_book import find_rule_book, list_rule_books, load_rule_book

    if arguments.book is not None:
        book = load_rule_book(arguments.book)
        console.print(f"{book.title}\n{book.summary}\nsource: {book.source}, as of {book.date}\n", soft_wrap=True)
        for sentence in book.explained:
            console.print(f"* {sentence}", soft_wrap=True)
        console.print("\nas this program reads it:", soft_wrap=True)
        for line in describe_rules(book):
            console.print(f"  {line}", soft_wrap=True)
        console.print(f"\nfile: {find_rule_book(arguments.book)}", soft_wrap=True)
        return 0
    for name in list_rule_books():
        console.print(f"{name:<22} {load_rule_book(name).summary}", soft_wrap=True)
    console.print("\ndonkey race rules NAME explains one; copy its file to write your own.")
    return 0


# -- protests ---------------------------------------------------------------------------------------------------------


def verify(arguments: argparse.Namespace) -> int:
    """Verify a race file; exit code 1 if it does not hold."""
    from donkeysim.racing.run.verify import verify_race

    with show_progress("replaying") as report:
        found = verify_race(arguments.file, report)
    names = ", ".join(found.plan.names)
    console.print(f"{arguments.file}: {found.plan.book.title} on {found.plan.track}; {names}", soft_wrap=True)
    if found.is_confirmed:
        sentence = "every frame is identical, bit for bit, and the result is the one that was counted"
        console.print(sentence, style="green", soft_wrap=True)
        return 0
    for complaint in found.list_complaints():
        console.print(complaint, style="red", soft_wrap=True)
    return 1


def amend(arguments: argparse.Namespace) -> int:
    """Judge a race again, after it."""
    from donkeysim.racing.rules import act
    from donkeysim.racing.run.race_file import load_report
    from donkeysim.racing.run.verify import amend_race

    names = load_report(Path(arguments.file).expanduser().with_suffix(".json")).race.names
    acts: list[act.Act] = [act.Undo(number) for number in arguments.undo]
    for words in arguments.penalise:
        name, _, seconds = words.rpartition("=")
        acts.append(act.Penalise(_find_row(name, names), seconds=read_seconds(seconds), why=arguments.why))
    acts += [act.Penalise(_find_row(name, names), out=True, why=arguments.why) for name in arguments.disqualify]
    if not acts:
        raise SpecError("nothing is to be done; give --penalise, --disqualify or --undo.")
    show_result(amend_race(arguments.file, acts))
    return 0


def _find_row(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise SpecError(describe_unknown("car of this race", name, names))
    return names.index(name)


# -- tournaments and leagues ------------------------------------------------------------------------------------------


def hold(arguments: argparse.Namespace) -> int:
    """Hold a tournament and show its ranking."""
    from donkeysim.racing.rules.standings import list_places
    from donkeysim.racing.run.tournament import hold_tournament, open_tournament

    check_place(Path(arguments.out))
    racers, folder = make_racers(arguments), Path(arguments.out).expanduser()
    plan = make_plan(arguments, tuple(racers))
    tournament = open_tournament(folder, plan, arguments.kind or plan.book.bracket)

    def show(match: str, report: Report) -> None:
        reached = [
            (placing.name, placing.status if placing.result is None else f"{placing.result:.2f}")
            for placing in report.result.placings
        ]
        console.print(f"{match:<14} {', '.join(f'{name} ({what})' for name, what in reached)}", soft_wrap=True)

    hold_tournament(tournament, racers, folder, show)
    console.print()
    for name, place in list_places(tournament.ranking):
        console.print(f"{place:>3}  {name}")
    console.print(f"\nfiles: {folder}", soft_wrap=True)
    return 0


def count(arguments: argparse.Namespace) -> int:
    """Show a league's points table."""
    from donkeysim.racing.export.league_page import format_league
    from donkeysim.racing.rules.standings import count_points
    from donkeysim.racing.run.tournament import read_league

    folder = Path(arguments.folder).expanduser()
    outcomes = read_league(folder, _read_points(arguments.points))
    headings = ("", "name", "points", "wins", *(outcome.title for outcome in outcomes))
    table = make_table(folder.resolve().name, headings, left=("name",))
    for line in count_points(outcomes):
        gained = ["" if points is None else f"{points:g}" for points in line.by_outcome]
        table.add_row(str(line.place), line.name, f"{line.points:g}", str(line.wins), *gained)
    console.print(table)
    if arguments.html is not None:
        path = choose_free(Path(arguments.html).expanduser())
        write_whole(path, format_league(folder.resolve().name, outcomes).encode())
        console.print(f"saved {path}", soft_wrap=True)
    return 0


def _read_points(text: str | None) -> list[float]:
    try:
        points = [] if text is None else [float(word) for word in text.split(",")]
        if not all(map(math.isfinite, points)):
            raise ValueError("no table adds such points up")
        return points
    except ValueError:
        raise SpecError(f"--points is {text!r}; it takes numbers with commas, such as 10,8,6.") from None
