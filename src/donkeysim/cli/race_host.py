"""`donkey race host`: races over the network, by clients of the original and of donkeycar.

`donkey race engineer`: what a race engineer may do to one of them, by the watching page's address.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.options import ServerOptions, add_server_arguments, make_options
from donkeysim.core.errors import SpecError, format_count
from donkeysim.core.files import check_place
from donkeysim.racing.host.engineer import PAGE, EngineersPage, make_act
from donkeysim.serve.options import SimulationOptions
from donkeysim.world.experiment import Experiment
from donkeysim.world.specs import SceneSpec

if TYPE_CHECKING:
    from donkeysim.racing.host.paddock import RaceOffer
    from donkeysim.racing.show.race_view import RaceView


def add_host_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what hosting races takes beside what every race takes."""
    add = parser.add_argument
    add("--cars", type=int, default=0, metavar="N", help="begin when N cars have come (default: when you say so)")
    add("--wait", type=float, default=0.0, metavar="S", help="begin after S seconds, with whoever has come")
    add("--races", type=int, default=0, metavar="N", help="end after N races (default: run until Ctrl-C)")
    add("--pause", type=float, default=20.0, metavar="S", help="seconds in the paddock between races (default 20)")
    add("--training-telemetry", action="store_true", help="report to clients where their cars are: pos_*, vel_*, cte")
    server = parser.add_argument_group("the server")
    add_server_arguments(server)
    server.add_argument("--log-file", metavar="FILE", help="where the log goes (default: standard error)")


def host(arguments: argparse.Namespace) -> int:
    """Hold races until Ctrl-C, or as many as were asked for."""
    from donkeysim.cli.donkey_sim import run

    options = read_host_options(arguments)
    return run(replace(options, race=make_offer(arguments)))


def read_host_options(arguments: argparse.Namespace) -> ServerOptions:
    """Return the server's options, on the track of the race.

    Raises:
        SpecError: Time is not steady, or options contradict each other.
    """
    scene = SceneSpec(arguments.track, tuple(arguments.track_folders))
    simulation = SimulationOptions(
        Experiment((scene,), arguments.car), has_training_fields=arguments.training_telemetry
    )
    options = make_options(arguments, simulation, log_file=arguments.log_file)
    if options.simulation.time_scale is None:
        raise SpecError('--time-scale is "max"; a race needs steady time, such as --time-scale 1.')
    if options.simulation.max_cars < arguments.cars:
        raise SpecError(
            f"--cars is {arguments.cars}, but --max-cars lets {options.simulation.max_cars} in; change one of them."
        )
    return options


def make_offer(arguments: argparse.Namespace) -> RaceOffer:
    """Return which races are held.

    Raises:
        SpecError: They are not possible.
        PilotError: A file is no pilot.
    """
    from donkeysim.cli.console import console
    from donkeysim.cli.race_cars import make_plan, make_racers
    from donkeysim.cli.race_results import show_result
    from donkeysim.racing.host.paddock import RaceOffer
    from donkeysim.racing.run.race_file import Report

    _check_numbers(arguments)
    local_racers = make_racers(arguments) if arguments.pilot else {}
    plan = make_plan(arguments, tuple(local_racers))
    if arguments.cars + len(local_racers) > plan.book.cars or len(local_racers) >= plan.book.cars:
        raise SpecError(
            f"{format_count(arguments.cars + len(local_racers), 'car')} cannot race by these rules, which let "
            f"{plan.book.cars} on the track; change --cars, --pilot or --rules."
        )
    folder = Path(arguments.out).expanduser()
    check_place(folder)

    def report_it(report: Report) -> None:
        show_result(report)
        console.print(f"race file: {folder / report.file}", soft_wrap=True)

    return RaceOffer(
        track=arguments.track,
        rules=plan.rules,
        book=plan.book,
        folder=folder,
        local_racers=local_racers,
        cars=arguments.cars,
        wait=arguments.wait,
        races=arguments.races,
        pause=arguments.pause,
        seed=plan.seed,
        car=plan.car,
        report=report_it,
    )


def _check_numbers(arguments: argparse.Namespace) -> None:
    for name, value in (("--cars", arguments.cars), ("--races", arguments.races)):
        if value < 0:
            raise SpecError(f"{name} is {value}; it takes 0 or more.")
    for name, value in (("--wait", arguments.wait), ("--pause", arguments.pause)):
        if not 0.0 <= value < math.inf:
            raise SpecError(f"{name} is {value:g}; it takes seconds, 0 or more.")


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
    if view.waiting.text:
        console.print(view.waiting.text, soft_wrap=True)
    for line in view.tower:
        gap = "" if line.gap is None else f"+{line.gap:.1f} s"
        remark = "" if line.status == "racing" else line.status
        text = f"{line.place or '':>3}  {line.name:<24} {line.laps:>3} laps  {gap:<9} {remark}"
        console.print(text, soft_wrap=True)
    for mark in view.marks:
        if mark.number and not mark.is_undone:
            since = "" if mark.time is None else f"{mark.time:.2f} s"
            console.print(f"{since:>10}  {mark.text}", soft_wrap=True)
