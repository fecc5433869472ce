"""What `python manage.py` is told on its command line; the same words as the original's."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from donkeysim.core.errors import DonkeySimError

logger = logging.getLogger(__name__)

OUTER_ERRORS = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EACCES, errno.EPERM, errno.EROFS)
"""What is no fault of a program: a full disk, files that it may not touch."""

BROKEN_PIPE_CODE = 141
"""Exit code of a program whose reader left, as shells count it."""

USAGE = """\
Usage:
    manage.py drive [--model=<model>] [--js] [--type=<type>] [--camera=<camera>] [--meta=<key:value> ...]
                    [--myconfig=<file>]
    manage.py train [--tubs=<tubs>] --model=<model> [--type=<type>] [--transfer=<model>] [--comment=<text>]
                    [--myconfig=<file>]
    manage.py -h | --help
"""

HELP = f"""\
Drive the car of this folder, or train a pilot for it.

{USAGE}
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

    def list_train_words(self, car_folder: Path) -> list[str]:
        """Return what `donkey train` is told to do the same; without --tubs it learns from the car's data."""
        words = ["--config", str(car_folder / "config.py"), "--myconfig", self.myconfig, "--model", self.model or ""]
        for name, value in (("--type", self.kind), ("--transfer", self.transfer), ("--comment", self.comment)):
            words += [name, value] if value is not None else []
        return ["train", "--tub", *(self.tubs or [str(car_folder / "data")]), *words]


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


def run_program(main: Callable[[], int], name: str = "manage.py") -> int:
    """Run a program and return its exit code: its own; 1 after an error in one sentence; 130 after Ctrl-C.

    Args:
        main: The program. Its DonkeySimErrors are told, and that a disk is full or a file may not be touched; anything
            else is a bug and shows its traceback.
        name: How people call it; begins the sentence.
    """
    try:
        code = main()
        sys.stdout.flush()
    except DonkeySimError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 1
    except BrokenPipeError:  # whoever read the output has had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        return BROKEN_PIPE_CODE
    except OSError as error:
        if error.errno not in OUTER_ERRORS:
            raise
        place = f" ({error.filename})" if error.filename else ""
        sys.stderr.write(f"{name}: {error.strerror}{place}; make room, or work where you may write.\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return code


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


def add_drive_options(parser: argparse.ArgumentParser) -> None:
    """Add what driving can be told."""
    add = parser.add_argument
    add("--model", help="a pilot (.h5, .keras, .onnx) for the modes local and local_angle")
    add("--js", action="store_true", help="drive with a joystick as well as with the page")
    add("--type", help="what kind of pilot it is, for files that do not tell")
    add("--camera", choices=("single",), default="single", help="a simulated car has one camera")
    add("--meta", action="append", default=[], metavar="KEY:VALUE", help="kept in the tub; may be given several times")
    add("--myconfig", default="myconfig.py", help="what overrides config.py (default: myconfig.py)")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{message.rstrip('.')}.\n\n{USAGE}")
        raise SystemExit(1)

    def format_help(self) -> str:
        return HELP


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="manage.py")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    add_drive_options(commands.add_parser("drive"))
    train = commands.add_parser("train")
    train.add_argument("--tubs", "--tub", action="append", default=[])
    train.add_argument("--model", required=True)
    train.add_argument("--transfer")
    train.add_argument("--comment")
    train.add_argument("--type")
    train.add_argument("--myconfig", default="myconfig.py")
    return parser
