"""`donkey`: every command of the car and the simulator, each in a module of `donkeysim.cli.commands`.

A command's module is imported when the command is called, and by nothing else; argparse is used throughout, because
the original's `--tub A B` needs options that take several values.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import NoReturn

from donkeysim import __version__
from donkeysim.cli.shared_options import use_track_folders
from donkeysim.core.errors import describe_unknown
from donkeysim.drive.options import explain_former, run_program

COMMANDS = {
    "createcar": "make a car folder: manage.py, config.py, myconfig.py, train.py, data, models, logs",
    "update": "bring this car folder up to the installed version; myconfig.py, data and models are kept",
    "drive": "drive the car of this folder (the same as python manage.py drive)",
    "train": "train a pilot from recorded drives",
    "rl": "learn to drive from pictures alone, without recorded drives",
    "models": "list trained pilots",
    "evaluate": "let a pilot drive laps faster than real time and write a report",
    "sample": "record an expert's laps into a tub",
    "generate": "make labelled frames at scale, on all cores or on a cluster",
    "sweep": "train many pilots with different options, on all cores or on a cluster, and keep the best",
    "race": "race pilots by a rule book, verify a race, hold tournaments and leagues",
    "mcp": "let an agent drive by the Model Context Protocol, in simulated time that waits for it",
    "demo": "sample, train and evaluate in one go, ending in a report",
    "tubclean": "browse a tub and cut out what a pilot should not learn",
    "tubplot": "plot a pilot's answers against what the driver did",
    "tubhist": "plot how often each value occurs in tubs",
    "makemovie": "make a film of a tub",
    "convert": "convert tubs to LeRobot, Minari, MCAP and Parquet, and back",
    "cnnactivations": "draw what a pilot's layers see in a picture",
    "createjs": "set up a joystick that is not in the list",
    "calibrate": "find a real car's camera and scales from pictures of a board and a short drive",
    "place": "make a place of a recorded drive: your own track, to drive, train and race in",
    "replay": "replay an action log, check that the result is identical, and make a film of it",
    "doctor": "check this machine, or a folder of cars, tubs and pilots, for problems",
    "tracks": "list tracks, show one, or make your own with a live preview",
    "site": "write a folder that lets people drive in their browser, with nothing to install",
    "sim": "start the simulator, or install a launcher where the original's would be",
}
"""Every command and what it does, in the order of the help."""

FORMER_COMMANDS = {
    "tubcheck": "donkey tubclean TUB --report says what is wrong with a tub, donkey doctor FOLDER what works of it",
    "tubweb": "donkey tubclean TUB cuts a tub in the browser",
    "tubaugm": "AUGMENTATIONS and TRANSFORMATIONS of myconfig.py change pictures in training, tubs stay as they are",
    "ui": "donkey tubclean TUB cuts a tub in the browser, donkey train trains, manage.py drive has a page to drive by",
    "contrain": "donkey train --transfer FILE continues from a pilot when there are more records",
    **dict.fromkeys(("findcar", "consync"), "it is for a real car: use donkeycar's"),
}
"""Commands of one or another version of donkeycar, and what to do instead."""

START = ("--scene", "generated_track", "--pace-car", "--drive", "mycar")
"""The words of `make run`."""


class CommandParser(argparse.ArgumentParser):
    """Complains in one sentence, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Print the sentence and where help is."""
        print(f"{self.prog}: {explain_former(message)}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command; ends with its exit code: 0 done, 1 it could not be done, 2 asked wrongly, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    raise SystemExit(run(given))


def start() -> None:
    """Run `donkeysim`: without words it starts what `make run` starts, with words it is `donkey`.

    So one command shows everything to whoever has no clone: `uvx donkeysim`, `pipx run donkeysim`.
    """
    if len(sys.argv) > 1:
        main()
    from donkeysim.cli import donkey_sim

    print("Starting a track, a pace car and a car of yours in ./mycar (all commands: donkeysim --help)", flush=True)
    donkey_sim.main(START)


def run(given: Sequence[str]) -> int:
    """Run a command given as words and return its exit code."""
    if not given or given[0] in ("-h", "--help", "help"):
        return run_program(_print_commands, "donkey")
    if given[0] == "--version":
        print(f"donkeysim {__version__}")
        return 0
    name, *rest = given
    if name not in COMMANDS:
        advice = FORMER_COMMANDS.get(name)
        text = f"there is no {name} here; {advice}." if advice else describe_unknown("command", name, COMMANDS)
        print(f"donkey: {text}", file=sys.stderr)
        return 2
    return run_program(lambda: _run_command(name, rest), f"donkey {name}")


def _run_command(name: str, words: Sequence[str]) -> int:
    command = import_module(f"donkeysim.cli.commands.{name}")
    formatter = partial(argparse.RawDescriptionHelpFormatter, width=110, max_help_position=34)
    parser = CommandParser(prog=f"donkey {name}", description=command.__doc__, formatter_class=formatter)
    command.add_arguments(parser)
    parse = getattr(command, "parse_arguments", CommandParser.parse_args)  # its own, to pass words on
    arguments = parse(parser, words)
    use_track_folders(arguments)
    return int(command.run(arguments))


def _print_commands() -> int:
    """Print the list of commands."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items())
    head = "usage: donkey COMMAND [options]\n\nThe available commands are:"
    print(f"{head}\n{rows}\n\nRun donkey COMMAND --help for details.")
    return 0


if __name__ == "__main__":
    main()
