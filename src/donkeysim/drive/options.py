"""What `python manage.py` is told on its command line; the same words as the original's."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

logger = logging.getLogger(__name__)

USAGE = """\
Drive the car of this folder, or train a pilot for it.

Usage:
    manage.py drive [--model=<model>] [--js] [--type=<type>] [--camera=<camera>] [--meta=<key:value> ...]
                    [--myconfig=<file>]
    manage.py train [--tubs=<tubs>] --model=<model> [--type=<type>] [--transfer=<model>] [--comment=<text>]
                    [--myconfig=<file>]
    manage.py -h | --help

Options of drive:
    --model=<model>      A pilot (.h5, .keras, .onnx) for the modes "local" and "local_angle".
    --js                 Drive with a joystick as well as with the page.
    --type=<type>        What kind of pilot it is; needed for files that do not tell.
                         linear, categorical, inferred, memory, imu, behavior, localizer, rnn or 3d.
    --camera=<camera>    single; a simulated car has one camera.
    --meta=<key:value>   Describes the drive; kept in the tub. May be given several times.
    --myconfig=<file>    What overrides config.py [default: myconfig.py].

Options of train:
    --tubs=<tubs>        Folders of records with commas between them [default: the data folder]. Also --tub.
    --model=<model>      The file to write.
    --transfer=<model>   A pilot to start from.
    --comment=<text>     Kept in models/database.json.
"""


@dataclass(frozen=True)
class Options:
    """The command line, taken apart."""

    command: str
    model: str | None = None
    kind: str | None = None
    use_joystick: bool = False
    camera: str = "single"
    metadata: tuple[tuple[str, str], ...] = ()
    myconfig: str = "myconfig.py"
    tubs: tuple[str, ...] = ()
    transfer: str | None = None
    comment: str | None = None


def parse_options(words: Sequence[str] | None = None) -> Options:
    """Return what the command line says; help and mistakes end the program as the original does.

    Args:
        words: The words after the program's name; None: those this program was started with.

    Raises:
        SystemExit: 0 after the help, 1 after a mistake; the usage has been printed.
    """
    parser = _make_parser()
    given = parser.parse_args(list(sys.argv[1:] if words is None else words))
    return Options(
        command=given.command,
        model=given.model,
        kind=given.type,
        use_joystick=getattr(given, "js", False),
        camera=getattr(given, "camera", "single"),
        metadata=read_metadata(getattr(given, "meta", [])),
        myconfig=given.myconfig,
        tubs=tuple(tub for text in getattr(given, "tubs", []) for tub in text.split(",") if tub),
        transfer=getattr(given, "transfer", None),
        comment=getattr(given, "comment", None),
    )


def read_metadata(pairs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return key and value of each "key:value"; what has not exactly one colon is reported and left out."""
    read = []
    for pair in pairs:
        key, colon, value = pair.partition(":")
        if not colon or ":" in value:
            logger.error("--meta %r is left out: it must be a key and a value with one colon between them.", pair)
        else:
            read.append((key, value))
    return tuple(read)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{message.rstrip('.')}.\n\n{USAGE}")
        raise SystemExit(1)

    def format_help(self) -> str:
        return USAGE


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="manage.py")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    drive = commands.add_parser("drive")
    drive.add_argument("--model")
    drive.add_argument("--js", action="store_true")
    drive.add_argument("--camera", choices=("single", "stereo"), default="single")
    drive.add_argument("--meta", action="append", default=[])
    train = commands.add_parser("train")
    train.add_argument("--tubs", "--tub", action="append", default=[])
    train.add_argument("--model", required=True)
    train.add_argument("--transfer")
    train.add_argument("--comment")
    for command in (drive, train):
        command.add_argument("--type")
        command.add_argument("--myconfig", default="myconfig.py")
    return parser
