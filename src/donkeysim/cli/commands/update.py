"""Bring this car folder up to the installed version.

Replaces manage.py, config.py and train.py, even in a folder made by the original; myconfig.py, models, data and logs
stay as they are.
"""

import argparse

from donkeysim.car.folder import update_car


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("--template", default="complete", help="complete or simulator; both make the same car here")


def run(arguments: argparse.Namespace) -> int:
    """Replace the files."""
    update_car(".", arguments.template)
    return 0
