"""Start the simulator: the same as `donkey_sim`, with the same options (see `donkey_sim --help`).

With --install DIR nothing is started: a launcher is written below DIR, where the original's program would be, so that
configurations and programs that refer to that path start this simulator.
"""

import argparse
from collections.abc import Sequence

from donkeysim.car.folder import install_launcher


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.usage = "%(prog)s [options of donkey_sim] | --install DIR"
    parser.allow_abbrev = False
    parser.add_argument("--install", metavar="DIR", help="write a launcher below this folder, for example ~/projects")


def parse_arguments(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Read the options; all but --install are the simulator's."""
    options, rest = parser.parse_known_args(words)
    options.words = rest
    if options.install is not None and rest:
        parser.error(f"--install takes a folder and nothing else, not {rest[0]!r}")
    return options


def run(arguments: argparse.Namespace) -> int:
    """Start the simulator, which ends the program, or write the launcher."""
    if arguments.install is None:
        from donkeysim.cli.donkey_sim import main

        main(arguments.words)
        return 0
    path = install_launcher(arguments.install)
    print(f'Wrote {path}\n\nThe line for myconfig.py:\nDONKEY_SIM_PATH = "{path.as_posix()}"')
    return 0
