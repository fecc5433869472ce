"""Which car a command is about: the folder it is called in, or a new one's defaults."""

from __future__ import annotations

import argparse
from pathlib import Path

from donkeysim.car.config import Config, load_config, make_default_config


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe where the config is."""
    parser.add_argument("--config", help="config.py of a car folder (default: the one here, else a new car's defaults)")
    parser.add_argument("--myconfig", default="myconfig.py", help="file beside it whose keys win (default myconfig.py)")


def find_config(arguments: argparse.Namespace) -> Config:
    """Return the config that was asked for, else that of the car folder here, else the defaults.

    Raises:
        SpecError: The file that was asked for does not exist, or is broken.
    """
    if arguments.config is None and not Path("config.py").is_file():
        return make_default_config()
    return load_config(arguments.config, arguments.myconfig)
