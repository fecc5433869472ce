"""Options that several commands share: which car (--config, --myconfig; --car, --camera), which tracks (--tracks)."""

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

    return load_config(arguments.config, arguments.myconfig) if has_config(arguments) else make_default_config()


def has_config(arguments: argparse.Namespace) -> bool:
    """Return whether a config was asked for, or lies here."""
    return arguments.config is not None or arguments.myconfig != "myconfig.py" or Path("config.py").is_file()


def add_car_arguments(parser: argparse.ArgumentParser, default: str) -> None:
    """Describe what drives and what looks out of it; `default`: what is meant where nothing is said, in words."""
    add = parser.add_argument
    add("--car", default="", metavar="CAR", help=f"physics of all cars: preset or TOML file (default {default})")
    add("--camera", default="", metavar="NAME|FILE", help="camera of all cars: pi_v1, pi_v2, wide, usb or a .toml file")


def find_car(car: str, camera: str) -> dict[str, str]:
    """Return what of "car" and "camera" is asked for; files by their whole path, as others may read them elsewhere.

    Raises:
        SpecError: There is no such preset or file, or it is broken.
    """
    given = {"car": car, "camera": camera}
    for name, value in given.items():
        if value.endswith(".toml") and (path := Path(value).expanduser()).is_file():
            given[name] = str(path.resolve())
    check_car(given["car"], given["camera"])
    return {name: value for name, value in given.items() if value}


def check_car(car: str, camera: str) -> None:
    """Raise SpecError where a car or a camera does not exist or is broken; empty: none is asked for."""
    from donkeysim.world.camera_file import load_camera
    from donkeysim.world.specs import load_car

    if car:
        load_car(car)
    if camera:
        load_camera(camera)


def choose_car(config: Config, arguments: argparse.Namespace) -> Config:
    """Return a config whose GYM_CONF names the car and camera that were asked for, if they were.

    Raises:
        SpecError: There is no such car or camera, or it is broken.
    """
    if given := find_car(arguments.car, arguments.camera):
        vars(config).update(GYM_CONF={**(config.GYM_CONF or {}), **given})
    return config


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
        SpecError: The text is none.
    """
    width, cross, height = text.partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise SpecError(f"--picture {text} is not valid; it takes width and height, for example 160x120.")
    return int(width), int(height)
