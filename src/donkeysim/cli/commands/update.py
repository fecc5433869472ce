"""Bring the car folder here up to this version.

Replaces manage.py, config.py and train.py, also in a folder that the original made; myconfig.py, models, data and
logs stay as they are.
"""

from __future__ import annotations

import argparse

from donkeysim.car.folder import update_car


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's options."""
    parser.add_argument("--template", default="complete", help="complete or simulator, which are the same car here")


def run(arguments: argparse.Namespace) -> int:
    """Replace the files."""
    update_car(".", arguments.template)
    return 0
