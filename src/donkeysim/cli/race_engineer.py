"""`donkey race engineer`: what a race engineer may do to a race that a server holds, by the watching page's address."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from donkeysim.core.errors import SpecError
from donkeysim.racing.host.engineer import PAGE, EngineersPage, make_act

if TYPE_CHECKING:
    from donkeysim.racing.show.race_view import RaceView

ACTS = {
    "show": "who is where, and the incidents with their numbers",
    "start": "begin the race that is waited for in the paddock",
    "pause": "red flag: time stands still",
    "continue": "time goes on",
    "restart": "run the race again, from the grid",
    "put-back": "put a car (NAME) back on the path",
    "penalise": "give a car seconds (NAME=SECONDS)",
    "disqualify": "take a car (NAME) out of the race",
    "undo": "take back an incident (its number)",
}

_WITHOUT = ("show", "start", "pause", "continue", "restart")


def add_engineer_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what can be done."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(f"  {name:<11} {what}" for name, what in ACTS.items())
    parser.add_argument("act", choices=tuple(ACTS), metavar="ACT", help="what to do, see below")
    parser.add_argument("object", nargs="?", metavar="NAME|NAME=SECONDS|NO", help="to which car, or which incident")
    parser.add_argument("--why", default="", metavar="TEXT", help="what the journal says about a penalty")
    parser.add_argument("--at", default=PAGE, metavar="URL", help=f"address of the watching page (default {PAGE})")
    parser.add_argument("--token", default="", metavar="WORD", help="the page's token, from another machine")


def engineer(arguments: argparse.Namespace) -> int:
    """Do it, and say how the race stands."""
    if (arguments.act in _WITHOUT) != (arguments.object is None):
        raise SpecError(f"{arguments.act} takes {'nothing' if arguments.act in _WITHOUT else ACTS[arguments.act]}.")
    page = EngineersPage(arguments.at, arguments.token)
    if arguments.act == "start":
        page.start()
    elif arguments.act != "show":
        page.act(make_act(arguments.act, arguments.object or "", arguments.why, page.show()))
    show_view(page.show())
    return 0


def show_view(view: RaceView) -> None:
    """Print how a race stands."""
    from donkeysim.cli.console import console

    clock = "" if view.clock is None else f", {view.clock:.1f} s"
    console.print(f"{view.title}: {view.session}{clock}{', held' if view.is_held else ''}")
    if view.waiting:
        console.print(view.waiting, soft_wrap=True)
    for line in view.tower:
        gap = "" if line.gap is None else f"+{line.gap:.1f} s"
        remark = "" if line.status == "racing" else line.status
        text = f"{line.place or '':>3}  {line.name:<24} {line.laps:>3} laps  {gap:<9} {remark}"
        console.print(text, soft_wrap=True)
    for mark in view.marks:
        if mark.number and not mark.is_undone:
            console.print(f"{mark.time:8.2f} s  {mark.text}", soft_wrap=True)
