"""The command line of `python manage.py`; the same words as the original's."""

import argparse
import errno
import io
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from donkeysim.core.errors import DonkeySimError, SpecError

logger = logging.getLogger(__name__)

OUTER_ERRORS = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EACCES, errno.EPERM, errno.EROFS)
"""What is no fault of a program: a full disk, files that it may not touch."""

BROKEN_PIPE_CODE = 141
"""Exit code of a program whose reader left, as shells count it."""

HELP_FILE = Path(__file__).with_name("manage_help.txt")
"""What `--help` prints; the second paragraph is the usage, which mistakes print too."""


COMMANDS = ("drive", "train")


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
    track: str | None = None

    def list_train_words(self, car_folder: Path) -> list[str]:
        """Return the words of `donkey train` that do the same; without --tubs it learns from DATA_PATH."""
        words = ["--config", str(car_folder / "config.py"), "--myconfig", self.myconfig, "--model", self.model or ""]
        for name, value in (("--type", self.kind), ("--transfer", self.transfer), ("--comment", self.comment)):
            words += [name, value] if value is not None else []
        return ["train", *(["--tub", *self.tubs] if self.tubs else []), *words]


def parse_options(words: Sequence[str] | None = None) -> Options:
    """Return what the command line says; help and mistakes end the program as the original does.

    Args:
        words: The words after the program's name; None: those this program was started with.

    Raises:
        SystemExit: 0 after the help, 1 after a mistake; the usage has been printed.
        SpecError: This program, written by an earlier version, would not heed --track.
    """
    line = sys.argv[1:] if words is None else list(words)
    if command := next((word for word in line if word in COMMANDS), None):  # which may follow its options
        line.remove(command)
        line.insert(0, command)
    given = vars(_make_parser().parse_args(line))
    if given.get("track") is not None and words is None:
        _check_takes_track(Path(sys.argv[0]))
    given["metadata"] = read_metadata(given.get("metadata", ()))
    given["tubs"] = tuple(tub for text in given.get("tubs", ()) for tub in text.split(",") if tub)
    return Options(**given)


def _check_takes_track(program: Path) -> None:
    if program.is_file() and "options.track" not in program.read_text(encoding="utf-8", errors="replace"):
        raise SpecError(
            f"{program} was made before there was --track; run `donkey update` in its folder, or set "
            "DONKEY_GYM_ENV_NAME in myconfig.py."
        )


def print_anyhow() -> None:
    """Let standard output show characters that its encoding lacks as escapes, as standard error does.

    On Windows files and pipes take those of one part of the world only, and folders may have any name.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def run_program(main: Callable[[], int], name: str = "manage.py") -> int:
    """Run a program and return its exit code: its own; 1 after an error in one sentence; 130 after Ctrl-C.

    Args:
        main: The program. DonkeySimErrors, a full disk, refused files and a donkeycar that is missing are printed as
            a sentence; anything else is a bug and shows its traceback.
        name: How people call it; begins the sentence.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # manage.py was importing until now
        signal.signal(signal.SIGINT, signal.default_int_handler)
    print_anyhow()
    try:
        code = main()
        sys.stdout.flush()
    except DonkeySimError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 1
    except OSError as error:
        if _is_reader_gone(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
            return BROKEN_PIPE_CODE
        if error.errno not in OUTER_ERRORS:
            raise
        place = f" ({error.filename})" if error.filename else ""
        sys.stderr.write(f"{name}: {error.strerror}{place}; make room, or work where you may write.\n")
        return 1
    except ModuleNotFoundError as error:
        if error.name != "donkeycar":
            raise
        line = traceback.extract_tb(error.__traceback__)[-1]
        sys.stderr.write(
            f"{name}: {line.filename}, line {line.lineno} imports donkeycar, which is not installed here; install it "
            "into the same environment, or leave out what needs it.\n"
        )
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _is_reader_gone(error: OSError) -> bool:
    """Return whether somebody who read the output has had enough, as `head` has; Windows has two words for it."""
    is_odd = sys.platform == "win32" and error.errno == errno.EINVAL and _is_output_refused()
    return isinstance(error, BrokenPipeError) or is_odd


def _is_output_refused() -> bool:
    """Return whether the output takes nothing: what could not be written is kept, and fails again."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


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
    """Add the options of driving."""
    add = parser.add_argument
    add("--model", help="a pilot (.h5, .keras, .onnx, .tflite) for the modes local and local_angle")
    add("--js", dest="use_joystick", action="store_true", help="drive with a joystick as well as with the page")
    add("--type", dest="kind", help="type of the pilot, if its file does not say")
    add("--camera", type=_check_camera, default="single", help="a simulated car has one camera")
    add("--track", metavar="NAME", help="where to drive, instead of the config's DONKEY_GYM_ENV_NAME")
    text = "stored in the tub; may be repeated"
    add("--meta", dest="metadata", action="append", default=[], metavar="KEY:VALUE", help=text)
    add("--myconfig", default="myconfig.py", help="file that overrides config.py (default: myconfig.py)")


def _check_camera(kind: str) -> str:
    if kind != "single":
        raise argparse.ArgumentTypeError(f"{kind!r} is not there: a simulated car has one camera; leave it out")
    return kind


FORMER_OPTIONS = {
    "--chaos": "nothing steers at random; leave it out, or record `donkey sample`'s drivers with faults",
    "--aug": "set AUGMENTATIONS in myconfig.py instead",
    "--continuous": "train again with --transfer when there are more records",
    "--file": "name the tubs themselves",
    **dict.fromkeys(("--checkpoint", "--base_model"), "name the pilot to begin with by --transfer"),
    "--no_cache": "leave it out",
    "--figure_format": "the plot of the losses is a .png beside the pilot, leave it out",
    "--epochs": "set MAX_EPOCHS in myconfig.py",
    "--log": "set LOGGING_LEVEL in myconfig.py",
    **dict.fromkeys(("--channel", "--pwm-pin", "--arduino"), "pulses are found on the real car, by donkeycar's"),
}
"""Options of one or another version of donkeycar and its forks, and what to do instead."""


def explain_former(message: str) -> str:
    """Return what argparse says of a mistake; of an option of the original's also what to do instead."""
    _, unknown, words = message.partition("unrecognized arguments: ")
    given = [word.partition("=")[0] for word in words.split()] if unknown else []
    advice = {FORMER_OPTIONS[word] for word in given if word in FORMER_OPTIONS}
    return "; ".join((message.rstrip("."), *sorted(advice)))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        usage = self.format_help().split("\n\n")[1]
        sys.stderr.write(f"{explain_former(message)}.\n\n{usage}\n")
        raise SystemExit(1)

    def format_help(self) -> str:
        return HELP_FILE.read_text(encoding="utf-8")


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="manage.py")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    add_drive_options(commands.add_parser("drive"))
    add = commands.add_parser("train").add_argument
    add("--tubs", "--tub", action="append", default=[])
    add("--model", required=True)
    for name in ("--transfer", "--comment"):
        add(name)
    add("--type", dest="kind")
    add("--myconfig", default="myconfig.py")
    return parser
