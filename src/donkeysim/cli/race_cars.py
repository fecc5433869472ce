"""Which race is asked for on a command line, and who takes part."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.shared_options import add_config_arguments, add_tracks_argument, find_config
from donkeysim.core.errors import SpecError, shorten

if TYPE_CHECKING:
    from donkeysim.racing.run.race_file import RacePlan
    from donkeysim.racing.run.racer import Racer

MAX_LAPS = 10_000
"""More than a day on the shortest track."""


def add_race_arguments(parser: argparse.ArgumentParser, rules: str, out: str) -> None:
    """Describe what every race takes."""
    pilot = "who races; once for each: a file, built-in, fast, steady or human"
    parser.add_argument("--pilot", action="append", default=[], metavar="[NAME=]PILOT", help=pilot)
    parser.add_argument(
        "--track", default="generated_track", help="name or file of the track (default generated_track)"
    )
    parser.add_argument("--rules", default=rules, metavar="NAME|FILE", help=f"the rule book (default {rules})")
    parser.add_argument("--laps", type=int, help="laps of the race (default: the rule book's)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default 0)")
    parser.add_argument("--out", default=out, metavar="DIR", help=f"folder for the files (default {out})")
    parser.add_argument(
        "--car", default="original", metavar="CAR", help="of all: preset or TOML file (default original)"
    )
    add_config_arguments(parser)
    add_tracks_argument(parser)


def make_plan(arguments: argparse.Namespace, names: tuple[str, ...]) -> RacePlan:
    """Return the race that was asked for.

    Raises:
        SpecError: There is no such rule book, or a number is not possible.
    """
    from donkeysim.racing.rules.rule_book import change_laps, load_rule_book
    from donkeysim.racing.run.race_file import SEED_COUNT, RacePlan

    if not 0 <= arguments.seed < SEED_COUNT:
        raise SpecError(f"the seed is {shorten(str(arguments.seed))}; it takes 0 to {SEED_COUNT - 1}.")
    book = load_rule_book(arguments.rules)
    if arguments.laps is not None:
        if not 1 <= arguments.laps <= MAX_LAPS:
            raise SpecError(f"--laps is {shorten(str(arguments.laps))}; it takes 1 to {MAX_LAPS}.")
        book = change_laps(book, arguments.laps)
    return RacePlan(arguments.track, arguments.rules, book, names, arguments.seed, arguments.car)


def make_racers(arguments: argparse.Namespace) -> dict[str, Racer]:
    """Return who races, by name; the second of two that are called alike becomes "fast 2" and so on.

    Raises:
        SpecError: Nobody was named, or a name was given twice.
        PilotError: A file is no pilot.
    """
    from donkeysim.racing.run.racer import name_anew

    if not arguments.pilot:
        raise SpecError("nobody races; name pilots, such as --pilot model.h5 --pilot built-in --pilot steady.")
    racers: dict[str, Racer] = {}
    for words in arguments.pilot:
        given, _, pilot = words.rpartition("=")
        if given in racers:
            raise SpecError(f"two pilots are called {given!r}; give each a name of its own.")
        name = given or name_anew(Path(pilot).stem, racers)
        racers[name] = _make_racer(pilot, arguments)
        _warn_stranger(name, pilot, arguments.track)
    return racers


def _warn_stranger(name: str, pilot: str, track: str) -> None:
    """Warn of a pilot whose file says that it was trained elsewhere."""
    from donkeysim.learn.database import find_pilot
    from donkeysim.learn.files.places import read_places
    from donkeysim.racing.run.racer import DRIVERS
    from donkeysim.world.tracks.catalogue import shorten_scene_name

    places, here = () if pilot in DRIVERS else read_places(find_pilot(pilot)), shorten_scene_name(track)
    if places and here not in places:
        drivers = ", ".join(DRIVERS)
        logging.getLogger(__name__).warning(
            "%s knows %s only and may leave the road on %s; train it there, or take one of %s, who know every track.",
            *(name, ", ".join(places), here, drivers),
        )


def _make_racer(pilot: str, arguments: argparse.Namespace) -> Racer:
    from donkeysim.learn.database import find_pilot
    from donkeysim.learn.pilot import load_pilot
    from donkeysim.racing.run.racer import DRIVERS, DriverRacer, PilotRacer

    if pilot in DRIVERS:
        return DriverRacer(pilot)
    config = find_config(arguments)
    change = None
    if config.TRANSFORMATIONS or config.POST_TRANSFORMATIONS:
        from donkeysim.car.transform import make_transform

        change = make_transform(config)
    loaded = load_pilot(find_pilot(pilot), None, config)
    return PilotRacer(loaded, loaded.image_shape, change, float(config.AI_THROTTLE_MULT))
