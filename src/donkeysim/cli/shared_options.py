"""Options that several commands share: which car (--config, --myconfig), and where tracks are looked for (--tracks)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.core.errors import SpecError

if TYPE_CHECKING:
    from donkeysim.car.config import Config


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe where the config is."""
    parser.add_argument(
        "--config", help="config.py of a car folder (default: the one here, otherwise a new car's defaults)"
    )
    parser.add_argument(
        "--myconfig", default="myconfig.py", help="file beside it that overrides it (default myconfig.py)"
    )


def find_config(arguments: argparse.Namespace) -> Config:
    """Return the config that was asked for, else that of the car folder here, else the defaults.

    Raises:
        SpecError: The file that was asked for does not exist, or is broken.
    """
    from donkeysim.car.config import load_config, make_default_config

    if arguments.config is None and not Path("config.py").is_file():
        return make_default_config()
    return load_config(arguments.config, arguments.myconfig)


def add_tracks_argument(parser: argparse.ArgumentParser) -> None:
    """Describe where tracks of one's own are; `donkey` shares the folders before the command runs."""
    text = "look for tracks in this folder too (may be repeated)"
    parser.add_argument("--tracks", dest="track_folders", metavar="DIR", action="append", default=[], help=text)


def use_track_folders(arguments: argparse.Namespace) -> None:
    """Let this process, and those it starts, find the tracks of the folders that were given.

    Raises:
        SceneError: A folder does not exist.
    """
    if folders := getattr(arguments, "track_folders", []):
        from donkeysim.world.tracks.catalogue import share_folders

        share_folders(folders)


def read_picture_size(text: str) -> tuple[int, int]:
    """Return the width and height of `--picture`.

    Raises:
        SpecError: The text tells none.
    """
    width, cross, height = text.partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise SpecError(f"--picture {text} is not valid; it takes width and height, for example 160x120.")
    return int(width), int(height)
