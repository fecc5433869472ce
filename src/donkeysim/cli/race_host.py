"""`donkey race host`: races over the network, by clients of the original and of donkeycar."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.core.errors import SpecError, format_count

if TYPE_CHECKING:
    from donkeysim.cli.options import Options
    from donkeysim.serve.race_offer import RaceOffer

USAGE = "%(prog)s [options] [options of donkey_sim: --host, --port, --page-port, --tls, --time-scale …]"


def add_host_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what hosting races takes beside what every race takes."""
    parser.usage = USAGE
    parser.add_argument(
        "--cars", type=int, default=0, metavar="N", help="begin when so many have come (default: when you say so)"
    )
    parser.add_argument(
        "--wait", type=float, default=0.0, metavar="S", help="begin after so many seconds, with whoever has come"
    )
    parser.add_argument(
        "--races", type=int, default=0, metavar="N", help="end after so many races (default: go on until Ctrl-C)"
    )
    parser.add_argument(
        "--pause", type=float, default=20.0, metavar="S", help="seconds in the paddock between races (default 20)"
    )
    parser.add_argument(
        "--training-telemetry", action="store_true", help="tell clients where their cars are: pos_*, vel_*, cte"
    )


def host(arguments: argparse.Namespace) -> int:
    """Hold races until Ctrl-C, or as many as were asked for."""
    from donkeysim.cli.donkey_sim import run

    options = read_host_options(arguments.words, arguments)
    return run(replace(options, race=make_offer(arguments)))


def read_host_options(words: Sequence[str], arguments: argparse.Namespace) -> Options:
    """Return the server's options: its own words, on the track of the race.

    Raises:
        SpecError: They ask for what races do not have.
    """
    from donkeysim.cli.options import read_options

    track = ["--scene", arguments.track, "--car", arguments.car]
    folders = [word for folder in arguments.track_folders for word in ("--tracks", folder)]
    hidden = [] if arguments.training_telemetry else ["--no-training-telemetry"]
    options, plain = read_options([*words, *track, *folders, *hidden]), read_options([*track, *folders])
    simulation = options.simulation
    if simulation.experiment != plain.simulation.experiment or simulation.pace_car is not None:
        raise SpecError(
            "races are held on the track as it is, and each has a file of its own; leave out --cones, --trees, --look, "
            "--pace-car, --randomization, --action-log and options of the road."
        )
    if simulation.time_scale is None:
        raise SpecError('--time-scale is "max"; a race needs steady time, such as --time-scale 1.')
    return options


def make_offer(arguments: argparse.Namespace) -> RaceOffer:
    """Return which races are held.

    Raises:
        SpecError: They are not possible.
        PilotError: A file is no pilot.
    """
    from donkeysim.cli.commands.race import make_plan, make_racers, show_result
    from donkeysim.cli.console import console
    from donkeysim.meeting.race_file import Report
    from donkeysim.serve.race_offer import RaceOffer

    for name, value in (("--cars", arguments.cars), ("--races", arguments.races)):
        if value < 0:
            raise SpecError(f"{name} is {value}; it takes 0 or more.")
    for name, value in (("--wait", arguments.wait), ("--pause", arguments.pause)):
        if not 0.0 <= value < math.inf:
            raise SpecError(f"{name} is {value:g}; it takes seconds, 0 or more.")
    house = make_racers(arguments) if arguments.pilot else {}
    plan = make_plan(arguments, tuple(house))
    if arguments.cars + len(house) > plan.book.cars or len(house) >= plan.book.cars:
        raise SpecError(
            f"{format_count(arguments.cars + len(house), 'car')} cannot race by these rules, which let "
            f"{plan.book.cars} on the track; change --cars, --pilot or --rules."
        )
    folder = Path(arguments.out).expanduser()

    def tell(report: Report) -> None:
        show_result(report)
        console.print(f"race file: {folder / report.file}", soft_wrap=True, markup=False)

    return RaceOffer(
        track=arguments.track,
        rules=plan.rules,
        book=plan.book,
        folder=folder,
        house=house,
        cars=arguments.cars,
        wait=arguments.wait,
        races=arguments.races,
        pause=arguments.pause,
        seed=plan.seed,
        car=plan.car,
        tell=tell,
    )
