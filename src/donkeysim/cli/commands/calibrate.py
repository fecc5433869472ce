"""Find a real car's camera and scales, from pictures of a printed board and from a short drive.

First print a board:  donkey calibrate --board board.pdf
Then:                 donkey calibrate --views FOLDER --floor FOLDER --tub TUB --out mycar
Or, along a lane:     donkey calibrate --views FOLDER --lane TUB --width 600 --tub TUB --out mycar

It writes mycar_camera.toml and mycar_car.toml, which donkey_sim takes: --camera mycar_camera.toml --car mycar_car.toml.
What to photograph and how to drive is in docs/guide/calibrate.md.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.cli.console import console
from donkeysim.core.files import check_place

if TYPE_CHECKING:
    from donkeysim.calibration.board import Board
    from donkeysim.calibration.camera import LensFit, Mount
    from donkeysim.calibration.wizard import Seen, SeenLane
    from donkeysim.world.lens import LensSpec


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("--board", metavar="FILE", help="write the board to print, .pdf or .png, and end")
    add("--square", type=float, default=30.0, metavar="MM", help="side of the board's squares, measured (default 30)")
    add("--corners", default="8x5", metavar="CxR", help="corners between squares, of another board (default 8x5)")
    lens = parser.add_mutually_exclusive_group()
    lens.add_argument(
        "--views",
        nargs="+",
        action="extend",
        metavar="PICTURES",
        help="pictures or folders: the board held before the camera",
    )
    lens.add_argument("--camera", metavar="NAME|FILE", help="a lens that is known, in place of --views: preset or file")
    mount = parser.add_mutually_exclusive_group()
    mount.add_argument(
        "--floor",
        nargs="+",
        action="extend",
        metavar="PICTURES",
        help="pictures or folders: the board flat on the floor before the car",
    )
    mount.add_argument("--lane", metavar="DRIVE", help="a drive along a lane in place of --floor: tub, folder or film")
    add("--width", type=float, metavar="MM", help="of the lane, from the middle of one line to that of the other")
    add("--ahead", type=float, default=60.0, metavar="MM", help="lens before the middle between the axles (default 60)")
    add("--tub", metavar="TUB", help="a short drive, for the scales of steering and throttle")
    add("--rate", type=float, metavar="HZ", help="records in a second of the drive (default: by their timestamps)")
    add("--car", default="original", metavar="PRESET", help="preset that the car's file begins with (default original)")
    add(
        "--out", default="mycar", metavar="NAME", help="NAME_camera.toml, NAME_car.toml, NAME_check.png (default mycar)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Draw the board, or calibrate."""
    from donkeysim.calibration.board import draw_board, make_board
    from donkeysim.core.errors import SpecError

    board = make_board(arguments.corners, arguments.square)
    if arguments.board:
        draw_board(board, Path(arguments.board).expanduser())
        console.print(
            f"saved {arguments.board}: print it at its own size (100 %), glue it onto something flat, measure a square",
            soft_wrap=True,
        )
        return 0
    if not (arguments.views or arguments.camera) or not (arguments.floor or arguments.lane):
        raise SpecError(
            "give --views and --floor, pictures of the board, or --camera for --views, --lane for --floor; "
            "or --board FILE for the board itself."
        )
    if bool(arguments.lane) != (arguments.width is not None):
        raise SpecError("give --lane DRIVE and --width MM together: the lane and how wide it is.")
    return _calibrate(arguments, board)


def _check_drive(arguments: argparse.Namespace) -> None:
    """Refuse what would be found out only after half of the files were written."""
    from donkeysim.calibration import wizard
    from donkeysim.core.errors import SpecError
    from donkeysim.world.specs import list_cars

    wizard.check_numbers(arguments.ahead / 1000.0, arguments.rate)
    if not arguments.tub:
        return
    if arguments.car not in list_cars():
        raise SpecError(
            f"--car {arguments.car} is not valid with --tub: scales are written on top of a preset, "
            f"one of {', '.join(list_cars())}."
        )
    wizard.read_records(Path(arguments.tub))


def _calibrate(arguments: argparse.Namespace, board: Board) -> int:
    from donkeysim.calibration import wizard
    from donkeysim.calibration.motion import FloorCamera
    from donkeysim.world.specs import load_car

    car, ahead, out = load_car(arguments.car), arguments.ahead / 1000.0, str(Path(arguments.out).expanduser())
    check_place(Path(f"{out}_camera.toml"))
    _check_drive(arguments)
    lens, mount = (_look_along_lane if arguments.lane else _look_at_floor)(arguments, board, Path(f"{out}_check.png"))
    wizard.write_camera(Path(f"{out}_camera.toml"), lens, mount, ahead, car)
    console.print(f"saved {out}_camera.toml and {out}_check.png (horizon red, lanes green)", soft_wrap=True)
    if arguments.tub:
        camera = FloorCamera(lens, mount, ahead)
        drive = wizard.follow_drive(Path(arguments.tub), camera, arguments.rate)
        for doubt in drive.list_doubts():
            console.print(f"warning: {doubt}", soft_wrap=True)
        scales = wizard.fit_car(arguments.car, drive)
        spreads = f" ± {scales.steer_spread:.1%}", f" ± {scales.torque_spread:.1%}"
        wizard.write_car(Path(f"{out}_car.toml"), arguments.car, scales.steer_gain, scales.torque_max, spreads)
        torque = (
            f"the drive does not show the torque (± {scales.torque_spread:.0%}), the preset's stays"
            if scales.torque_max is None
            else f"torque {scales.torque_max:.3g} N m ± {scales.torque_spread:.1%}"
        )
        text = (
            f"steering 1 turns the wheels by {math.degrees(scales.steer_gain):.2f}° ± {scales.steer_spread:.1%},"
            f" steering 0 by {math.degrees(scales.trim):.2f}° (to the left); "
            f"{torque}, from {scales.used} held stretches"
        )
        console.print(text, soft_wrap=True)
        console.print(f"saved {out}_car.toml", soft_wrap=True)
    return 0


def _look_at_floor(arguments: argparse.Namespace, board: Board, check: Path) -> tuple[LensSpec, Mount]:
    """Return the lens and the mounting, from pictures of the board on the floor."""
    from donkeysim.calibration import wizard
    from donkeysim.calibration.pictures import list_pictures

    views = wizard.look_for_board(list_pictures(arguments.views), board) if arguments.views else None
    paths = list_pictures(arguments.floor)
    floor = wizard.look_for_board(paths, board)
    if views is None:
        lens = _load_lens(arguments.camera)
        mount = wizard.mount_on_floor(lens, floor, board)
        _print_left_out(floor)
    else:
        fit, mount = wizard.solve_camera(views, floor, board)
        lens = fit.lens
        _print_lens(fit, views, floor)
    _print_mount(mount)
    wizard.write_floor_check(check, paths[0], lens, mount, arguments.ahead / 1000.0)
    return lens, mount


def _look_along_lane(arguments: argparse.Namespace, board: Board, check: Path) -> tuple[LensSpec, Mount]:
    """Return the lens and the mounting, from a drive along a lane."""
    from donkeysim.calibration import wizard
    from donkeysim.calibration.camera import solve_lens
    from donkeysim.calibration.pictures import list_pictures, read_drive

    drive = read_drive(arguments.lane)
    if arguments.views:
        views = wizard.look_for_board(list_pictures(arguments.views), board)
        fit = solve_lens(views.corners, views.size, board)
        lens = fit.lens
        _print_lens(fit, views)
    else:
        lens = _load_lens(arguments.camera)
    seen = wizard.look_for_lane(drive, lens, arguments.width / 1000.0, arguments.ahead / 1000.0)
    _print_lane(seen)
    _print_mount(seen.fit.mount)
    wizard.write_lane_check(check, seen)
    return lens, seen.fit.mount


def _load_lens(name: str) -> LensSpec:
    from donkeysim.core.errors import SpecError
    from donkeysim.world.camera_file import list_cameras, load_camera

    lens = load_camera(name).lens
    if lens is None:
        raise SpecError(f"the camera {name} has no lens; give one that has, for example one of {list_cameras()}.")
    return lens


def _print_lens(fit: LensFit, views: Seen, *others: Seen) -> None:
    """Print what was found, and what makes it doubtful; `others`: pictures that count as views, too."""
    count = len(views.corners) + len(views.missed)
    console.print(f"the board was found in {len(views.corners)} of {count} views", soft_wrap=True)
    _print_left_out(views, *others)
    names = [name for seen in (views, *others) for name in seen.names]
    for name, kept in zip(names, fit.kept, strict=True):
        if not kept.all():
            text = f"{(~kept).sum()} of {len(kept)} corners stand out and were left out" if kept.any() else "left out"
            console.print(f"  {name}: {text}", soft_wrap=True)
    console.print(
        f"field of view {math.degrees(fit.lens.fov):.2f}°, {fit.lens.model}, error {fit.error:.2f} pixels",
        soft_wrap=True,
    )
    for doubt in fit.warnings:
        console.print(f"warning: {doubt}", soft_wrap=True)


def _print_left_out(*seen: Seen) -> None:
    """Print which pictures do not count."""
    for each in seen:
        for name in each.missed:
            console.print(f"  not in {name}", soft_wrap=True)
        for name in each.odd:
            console.print(f"  {name}: not {each.size[0]}x{each.size[1]} as most, left out", soft_wrap=True)


def _print_lane(seen: SeenLane) -> None:
    fit = seen.fit
    console.print(
        f"a straight lane was seen in {len(fit.numbers)} of {len(seen.pictures)} pictures, "
        f"its lines {fit.error:.2f} pixels off",
        soft_wrap=True,
    )


def _print_mount(mount: Mount) -> None:
    """Print how a camera is mounted, and what makes it doubtful; what cannot be is refused."""
    from donkeysim.calibration.camera import list_mount_doubts, refuse_impossible

    refuse_impossible(mount)
    pitch = math.degrees(mount.pitch)
    console.print(
        f"{mount.height * 100:.1f} cm above the floor, {abs(pitch):.2f}° {'down' if pitch >= 0.0 else 'up'}, "
        f"rolled by {math.degrees(mount.roll):.2f}°",
        soft_wrap=True,
    )
    for doubt in list_mount_doubts(mount):
        console.print(f"warning: {doubt}", soft_wrap=True)
