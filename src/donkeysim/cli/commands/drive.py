"""Drive the car of this folder: the same as `python manage.py drive`, with the parts you added there.

Then open http://localhost:8887 in a browser; Ctrl-C ends the drive.

With --simulator the car joins a simulator that runs already, such as one whose page you are watching. If there is no
car in this folder, the one in mycar is driven, and made first.
"""

import argparse
import runpy
import sys
from pathlib import Path

from donkeysim.car.config import search_first
from donkeysim.car.folder import refuse_foreign_program
from donkeysim.cli.shared_options import add_tracks_argument
from donkeysim.core.errors import SpecError
from donkeysim.drive.options import add_drive_options, parse_options

PROGRAM = Path("manage.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the options of manage.py drive."""
    add_drive_options(parser)
    add_tracks_argument(parser)
    text = "join a simulator that listens there instead of starting one (port 9091 if none is given)"
    parser.add_argument("--simulator", metavar="HOST[:PORT]", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Run the car's manage.py in this process and return its exit code."""
    if arguments.simulator is not None:
        return _join_simulator(arguments)
    if not PROGRAM.is_file():
        raise SpecError(
            f"there is no {PROGRAM} in {Path.cwd()}; make a car with `donkey createcar --path CAR`, then work in its "
            "folder."
        )
    refuse_foreign_program(PROGRAM)
    words = sys.argv
    sys.argv = [str(PROGRAM.resolve()), "drive", *_list_words(arguments)]
    try:
        with search_first(Path()):
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = words
    return 0


def _join_simulator(arguments: argparse.Namespace) -> int:
    from donkeysim.cli.drive_beside import drive_folder, find_watching_page, prepare_folder

    host, _, port = arguments.simulator.partition(":")
    if not host or (port and not (port.isdecimal() and 1 <= int(port) <= 65535)):
        raise SpecError(
            f"--simulator {arguments.simulator!r} is not valid; it takes HOST or HOST:PORT, a port from 1 to 65535."
        )
    folder = prepare_folder("." if PROGRAM.is_file() else "mycar")
    options = parse_options(["drive", *_list_words(arguments)])
    wire_port = int(port or "9091")
    # As the defaults lie: 9091 and 9093, or the next free one.
    watching_url = find_watching_page(host, wire_port, range(wire_port + 2, min(wire_port + 6, 65536)))
    return drive_folder(folder.resolve(), host, wire_port, watching_url, options)


def _list_words(arguments: argparse.Namespace) -> list[str]:
    words = ["--js"] if arguments.use_joystick else []
    words += [f"--meta={pair}" for pair in arguments.metadata]
    given = {"model": arguments.model, "type": arguments.kind, "camera": arguments.camera}
    given |= {"myconfig": arguments.myconfig, "track": arguments.track}
    return words + [f"--{name}={value}" for name, value in given.items() if value is not None]
