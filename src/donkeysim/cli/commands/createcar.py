"""Make a car folder.

It holds manage.py (the car), config.py (the defaults), myconfig.py (your own settings), train.py, and the folders
models, data and logs. Files that already exist are kept, unless --overwrite is given; myconfig.py is always kept.
"""

import argparse
import shlex
import sys
from pathlib import Path

from donkeysim.car.folder import create_car


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("--path", default="~/mycar", help="folder to make (default ~/mycar)")
    parser.add_argument("--template", default="complete", help="complete or simulator; both make the same car here")
    parser.add_argument("--overwrite", action="store_true", help="replace manage.py, config.py and train.py")


def run(arguments: argparse.Namespace) -> int:
    """Make the folder and say what comes next."""
    create_car(arguments.path, arguments.template, arguments.overwrite)
    then = "\n           " if sys.platform == "win32" else " && "  # which Windows' own PowerShell does not know
    print(f"\nDrive it:  cd {_quote(arguments.path)}{then}python manage.py drive")
    return 0


def _quote(path: str) -> str:
    """Return a path as a shell takes it; ~ stands for nothing within quotes, so it is written out."""
    whole = str(Path(path).expanduser())
    return f'"{whole}"' if sys.platform == "win32" else shlex.quote(whole)
