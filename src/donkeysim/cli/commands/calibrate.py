"""Find a real car's camera and scales, from pictures of a printed board and from a short drive.

First print a board:  donkey calibrate --board board.pdf
Then:                 donkey calibrate --views FOLDER --floor FOLDER --tub TUB --out mycar

It writes mycar_camera.toml and mycar_car.toml, which donkey_sim takes: --camera mycar_camera.toml --car mycar_car.toml.
What to photograph and how to drive is in docs/guide/calibrate.md.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console

if TYPE_CHECKING:
    from donkeysim.learn.calibration.camera import LensFit, Mount
    from donkeysim.learn.calibration.wizard import Seen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("--board", metavar="FILE", help="write the board to print, .pdf or .png, and end")
    add("--square", type=float, default=30.0, metavar="MM", help="side of the board's squares, measured (default 30)")
    add("--views", nargs="+", metavar="PICTURES", help="pictures or folders: the board held before the camera")
    add(
        "--floor", nargs="+", metavar="PICTURES", help="pictures or folders: the board flat on the floor before the car"
    )
    add("--ahead", type=float, default=60.0, metavar="MM", help="lens before the middle between the axles (default 60)")
    add("--tub", metavar="TUB", help="a short drive, for the scales of steering and throttle")
    add("--rate", type=float, metavar="HZ", help="records in a second of the drive (default: by their timestamps)")
    add("--car", default="original", metavar="PRESET", help="preset that the car's file begins with (default original)")
    add(
        "--out", default="mycar", metavar="NAME", help="NAME_camera.toml, NAME_car.toml, NAME_check.png (default mycar)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Draw the board, or calibrate."""
    from donkeysim.core.errors import SpecError
    from donkeysim.learn.calibration.board import Board, draw_board

    board = Board(square=arguments.square / 1000.0)
    if arguments.board:
        draw_board(board, Path(arguments.board).expanduser())
        console.print(
            f"saved {arguments.board}: print it at its own size (100 %), glue it onto something flat, measure a square",
            soft_wrap=True,
        )
        return 0
    if not arguments.views or not arguments.floor:
        raise SpecError("give --views and --floor, pictures of the board; or --board FILE for the board itself.")
    return _calibrate(arguments, board)


def _calibrate(arguments: argparse.Namespace, board: object) -> int:
    from donkeysim.learn.calibration import wizard
    from donkeysim.learn.calibration.board import Board
    from donkeysim.learn.calibration.motion import FloorCamera
    from donkeysim.world.specs import load_car

    assert isinstance(board, Board), "made by run"
    car, ahead, out = load_car(arguments.car), arguments.ahead / 1000.0, str(Path(arguments.out).expanduser())
    views = wizard.look_for_board(wizard.list_pictures(arguments.views), board)
    floor_paths = wizard.list_pictures(arguments.floor)
    floor = wizard.look_for_board(floor_paths, board)
    fit, mount = wizard.solve_camera(views, floor, board)
    camera = FloorCamera(fit.lens, mount, ahead)
    _tell_camera(views, floor, fit, mount)
    wizard.write_camera(Path(f"{out}_camera.toml"), fit, mount, ahead, car)
    wizard.write_check(Path(f"{out}_check.png"), floor_paths[0], camera)
    console.print(f"saved {out}_camera.toml and {out}_check.png (horizon red, lanes green)", soft_wrap=True)
    if arguments.tub:
        scales = wizard.fit_car(arguments.car, wizard.follow_drive(Path(arguments.tub), camera, arguments.rate))
        wizard.write_car(Path(f"{out}_car.toml"), arguments.car, scales)
        told = (
            f"steering 1 turns the wheels by {math.degrees(scales.steer_gain):.2f}° ± {scales.steer_spread:.1%},"
            f" steering 0 by {math.degrees(scales.trim):.2f}° (to the left); "
            f"torque {scales.torque_max:.3g} N m ± {scales.torque_spread:.1%}, from {scales.used} held stretches"
        )
        console.print(told, soft_wrap=True)
        console.print(f"saved {out}_car.toml", soft_wrap=True)
    return 0


def _tell_camera(views: Seen, floor: Seen, fit: LensFit, mount: Mount) -> None:
    """Print what was found, and what makes it doubtful."""
    count = len(views.corners) + len(views.missed)
    console.print(f"the board was found in {len(views.corners)} of {count} views", soft_wrap=True)
    for name in (*views.missed, *floor.missed):
        console.print(f"  not in {name}", soft_wrap=True)
    for name, kept in zip((*views.names, *floor.names), fit.kept, strict=True):
        if not kept.all():
            told = f"{(~kept).sum()} of {len(kept)} corners stand out and were left out" if kept.any() else "left out"
            console.print(f"  {name}: {told}", soft_wrap=True)
    console.print(
        f"field of view {math.degrees(fit.lens.fov):.2f}°, {fit.lens.model}, error {fit.error:.2f} pixels; "
        f"{mount.height * 100:.1f} cm above the floor, {math.degrees(mount.pitch):.2f}° down, "
        f"rolled by {math.degrees(mount.roll):.2f}°",
        soft_wrap=True,
    )
    for doubt in fit.warnings:
        console.print(f"warning: {doubt}", soft_wrap=True)
