"""Make a place of a recorded drive: one's own track, to drive, train and race in.

The tub is a drive of one and a half laps or more in one direction. From its pictures follow where each was taken, the
floor that they show, as one picture, and the road: its borders are the lines on the floor along it, or else where the
car drove. What stands beside it becomes panels with pictures. The place is a track file with its pictures, and a report
to look at. The camera is found from the drive, too, unless a preset or the file that calibration wrote is given. Ctrl-C
makes the place of what has been found so far.

For example: donkey place data --width 600 --name my_room
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console, show_progress

if TYPE_CHECKING:
    from donkeysim.mapping.survey import PlaceSurvey

SHOWN = 24
"""Pictures that are drawn beside the place's own."""

STEPS = (
    "finding the camera", "following the floor", "closing loops", "refining", "painting the floor", "adding panels",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("tub", metavar="TUB", help="the drive")
    add(
        "--camera", metavar="NAME|FILE", help="that took it: preset, or file of calibrate (default: found in the drive)"
    )
    add("--car", default="original", metavar="PRESET", help="preset that the car's file begins with (default original)")
    add("--width", type=float, metavar="MM", help="of the road, border to border: the scale (default: by the camera)")
    add("--name", metavar="NAME", help="of the place (default: that of the tub's folder)")
    add("--out", default=".", metavar="DIR", help="folder to write to (default: here)")


def run(arguments: argparse.Namespace) -> int:
    """Make the place, write its report, and say what comes next."""
    from donkeysim.calibration.wizard import find_floor_camera
    from donkeysim.core.errors import SpecError, describe_unknown
    from donkeysim.core.files import check_place
    from donkeysim.mapping.place_file import write_place
    from donkeysim.mapping.report import list_facts, redraw, write_report
    from donkeysim.mapping.survey import survey
    from donkeysim.world.camera_file import load_camera
    from donkeysim.world.specs import list_cars, load_car
    from donkeysim.world.tracks.new_track import refuse_track_name

    tub, folder = Path(arguments.tub).expanduser(), Path(arguments.out).expanduser()
    name = arguments.name or tub.resolve().name
    refuse_track_name(name)
    check_place(folder / f"{name}.toml")
    if arguments.width is not None and not 50.0 <= arguments.width <= 20_000.0:
        raise SpecError(f"--width {arguments.width:g} is not valid; it takes 50 to 20000 mm from border to border.")
    if arguments.car not in list_cars():
        raise SpecError(describe_unknown("car preset", arguments.car, list_cars()))
    car = load_car(arguments.car)
    camera = find_floor_camera(load_camera(arguments.camera), car) if arguments.camera else None
    width = None if arguments.width is None else arguments.width / 1000.0
    with show_progress("making the place") as report:
        found = survey(
            tub, camera, width, lambda step, share: report(round(100 * (STEPS.index(step) + share)), 100 * len(STEPS))
        )
    track = write_place(folder, name, found, tub.name)
    numbers = list(range(0, len(found.poses), max(1, len(found.poses) // SHOWN)))[:SHOWN]
    drawn = redraw(track, found, numbers)
    page = folder / f"{name}_report.html"
    write_report(page, name, tub, found, drawn)
    for fact, value in list_facts(found, drawn):
        console.print(f"  {fact:<28}{value}", soft_wrap=True)
    console.print(f"saved {track} with its line, floor and surroundings beside it; look at {page}", soft_wrap=True)
    conf = save_car(found, arguments, folder / name)
    console.print(f"drive there: donkey_sim --scene {name} --tracks {folder}", soft_wrap=True)
    console.print("or in myconfig.py, and donkey train says how a pilot of this drive drives there:")
    console.print(f'  DONKEY_GYM_ENV_NAME = "{_name(track)}"', soft_wrap=True)
    console.print(f"  GYM_CONF = {json.dumps(conf)}", soft_wrap=True)
    return 0


def save_car(found: PlaceSurvey, arguments: argparse.Namespace, stem: Path) -> dict[str, str]:
    """Write what the drive shows of the car: the camera, unless it was given, and how it answered to its commands.

    Returns:
        The files, as GYM_CONF names them.
    """
    from donkeysim.calibration.wizard import write_camera
    from donkeysim.mapping.car import match_car
    from donkeysim.world.specs import load_car

    conf = {"car": arguments.car} if arguments.car != "original" else {}
    conf |= {"camera": arguments.camera} if arguments.camera else {}
    if found.is_found:
        file = Path(f"{stem}_camera.toml")
        write_camera(file, found.camera.lens, found.camera.mount, found.camera.ahead, load_car(arguments.car))
        conf["camera"] = _name(file)
        console.print(f"saved {file}: the car's camera, for donkey_sim --camera", soft_wrap=True)
        if arguments.width is None:
            console.print("the scale is unknown: give the road's width in mm by --width", soft_wrap=True)
    if found.driven is None or found.steering is None:
        return conf
    with show_progress("driving as the car did"):
        match = match_car(stem, arguments.car, found.poses, found.driven, found.steering)
    conf["car"] = _name(match.car_file)
    is_scaled = not found.is_found or arguments.width is not None
    speed = f", {match.speed:.2f} m/s" if is_scaled else ""
    pace = "" if match.torque_max is None else f" and is as fast{speed}"
    console.print(f"saved {match.car_file}: a car that steers as this one{pace}, for --car", soft_wrap=True)
    if match.delay_file is not None:
        conf["randomization"] = _name(match.delay_file)
        console.print(f"saved {match.delay_file}: it answers {match.late:.2f} s later, for --randomize", soft_wrap=True)
    return conf


def _name(file: Path) -> str:
    """Return how a car's configuration names a file: as it is in the working folder, else with its whole path."""
    return file.as_posix() if file.parent == Path() else file.absolute().as_posix()
