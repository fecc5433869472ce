"""From folders of pictures and a tub to the files that the simulator takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from donkeysim.core.errors import DonkeySimError
from donkeysim.core.files import write_whole
from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.learn.calibration.board import Board, find_corners
from donkeysim.learn.calibration.camera import LensFit, Mount, solve_lens, solve_mount
from donkeysim.learn.calibration.motion import FloorCamera, find_own_body, find_rates, follow_floor, scale_lens
from donkeysim.learn.calibration.overlay import draw_overlay
from donkeysim.learn.calibration.response import Drive, Scales, fit_scales, measure_response
from donkeysim.tub.reader import TubReader
from donkeysim.world.specs import CarSpec

SUFFIXES = (".jpg", ".jpeg", ".png")


@dataclass(frozen=True)
class Seen:
    """Pictures of the board.

    Attributes:
        size: Width and height of all of them [pixel].
        corners: Of the board, in those where it was found.
        names: Of those.
        missed: Names of the others.
    """

    size: tuple[int, int]
    corners: tuple[FloatArray, ...]
    names: tuple[str, ...]
    missed: tuple[str, ...]


def list_pictures(places: Sequence[str]) -> list[Path]:
    """Return picture files, and those in folders, in order.

    Raises:
        DonkeySimError: There are none.
    """
    found: list[Path] = []
    for place in map(Path, places):
        inside = sorted(place.iterdir()) if place.is_dir() else [place]
        found += [path for path in inside if path.suffix.lower() in SUFFIXES and path.is_file()]
    if not found:
        raise DonkeySimError(
            f"there are no pictures in {', '.join(places)}; give folders or files ({', '.join(SUFFIXES)})."
        )
    return found


def look_for_board(paths: Sequence[Path], board: Board) -> Seen:
    """Return where the board is in pictures.

    Raises:
        DonkeySimError: They differ in size, or one cannot be read.
    """
    pictures = {str(path): read_picture(path) for path in paths}
    sizes = {(picture.shape[1], picture.shape[0]): name for name, picture in pictures.items()}
    if len(sizes) > 1:
        told = ", ".join(f"{name} has {width}x{height}" for (width, height), name in sizes.items())
        raise DonkeySimError(f"pictures of the board differ in size: {told}; take all with the same settings.")
    views = {name: find_corners(picture, board) for name, picture in pictures.items()}
    found = {name: view for name, view in views.items() if view is not None}
    missed = [name for name, view in views.items() if view is None]
    return Seen(next(iter(sizes)), tuple(found.values()), tuple(found), tuple(missed))


def solve_camera(views: Seen, floor: Seen, board: Board) -> tuple[LensFit, Mount]:
    """Return the camera's lens and how it is mounted; pictures of the floor count as views of the board, too.

    Raises:
        DonkeySimError: Too little was seen, or the sizes differ.
    """
    if views.size != floor.size:
        raise DonkeySimError(f"views are {views.size} pixels large, those of the floor {floor.size}; take all alike.")
    if not floor.corners:
        raise DonkeySimError(
            "the board was found in no picture of the floor; lay it flat before the car, all in sight."
        )
    fit = solve_lens([*views.corners, *floor.corners], views.size, board)
    return fit, solve_mount(fit.lens, floor.corners, board, fit.kept[len(views.corners) :])


def follow_drive(tub: Path, camera: FloorCamera, rate: float | None = None) -> Drive:
    """Return how a car moved in a tub, by its pictures.

    Args:
        tub: Its folder.
        camera: Of any size; its pictures may be smaller.
        rate: Records in a second; None: by their timestamps.

    Raises:
        DonkeySimError: The tub has too few records.
        TubError: It cannot be read.
    """
    records = list(TubReader(tub))
    if len(records) < 2:
        raise DonkeySimError(f"the tub {tub} has {len(records)} records; record a drive of a minute.")
    first = records[0].load_image()
    camera = replace(camera, lens=scale_lens(camera.lens, (first.shape[1], first.shape[0])))
    own = find_own_body(record.load_image() for record in records)
    moves = follow_floor((record.load_image() for record in records), camera, own)
    if rate is None:
        time = (np.array([record.timestamp_ms for record in records]) - records[0].timestamp_ms) / 1000.0
    else:
        time = np.arange(len(records)) / rate
    step = np.maximum(np.diff(time), 1e-3)
    speed, turn = (np.append(column, np.nan) for column in find_rates(moves, step).T[[0, 2]])
    steering, throttle = (
        np.array([float(record.values.get(key) or 0.0) for record in records])
        for key in ("user/angle", "user/throttle")
    )
    return Drive(time, steering, throttle, speed, turn)


def write_check(path: Path, picture: Path, camera: FloorCamera) -> None:
    """Write a picture with the horizon and lines on the floor where the camera says they are."""
    Image.fromarray(draw_overlay(read_picture(picture), camera)).save(path)


def fit_car(car: str, drive: Drive) -> Scales:
    """Return the scales with which a preset's car drives like that."""
    return fit_scales(measure_response(car), drive)


def write_camera(path: Path, fit: LensFit, mount: Mount, ahead: float, car: CarSpec) -> None:
    """Write a file for `--camera`; where it is on the car follows from the preset's car at rest."""
    rest = car.wheel_radius + car.suspension_target * car.suspension_travel - car.wheel_position[0][2]
    middle = 0.5 * (car.wheel_position[0][0] + car.wheel_position[2][0])
    lens = fit.lens
    lines = [
        f"# Written by donkey calibrate. Height above the floor: {mount.height * 100:.1f} cm; pitch:"
        f" {math.degrees(mount.pitch):.2f}° down; error: {fit.error:.2f} pixels.",
        "",
        "format = 1",
        f"position = {_write_list((middle + ahead, 0.0, mount.height - rest))}  # [m]",
        f"rotation = {_write_list((mount.roll, mount.pitch, 0.0))}  # [rad] roll, pitch (+ down), yaw",
        "",
        "[lens]",
        f'model = "{lens.model}"',
        f"size = [{lens.size[0]}, {lens.size[1]}]  # [pixel]",
        f"focal = {_write_list(lens.focal)}  # [pixel]",
        f"centre = {_write_list(lens.centre)}  # [pixel]",
        f"coefficients = {_write_list(lens.coefficients)}",
    ]
    write_whole(path, ("\n".join(lines) + "\n").encode())


def write_car(path: Path, car: str, scales: Scales) -> None:
    """Write a file for `--car`: a preset with other scales."""
    lines = [
        "# Written by donkey calibrate.",
        "",
        f'base = "{car}"',
        f"steer_gain = {scales.steer_gain:.6g}  # [rad] ± {scales.steer_spread:.1%}",
        f"torque_max = {scales.torque_max:.6g}  # [N m] ± {scales.torque_spread:.1%}",
    ]
    write_whole(path, ("\n".join(lines) + "\n").encode())


def _write_list(values: Sequence[float]) -> str:
    return f"[{', '.join(f'{float(value):.8g}' if value else '0.0' for value in values)}]"


def read_picture(path: Path) -> ByteArray:
    """Return a picture, shape [height, width, 3].

    Raises:
        DonkeySimError: It cannot be read.
    """
    try:
        with Image.open(path) as image:
            return np.array(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError) as error:
        raise DonkeySimError(f"the picture {path} cannot be read: {error}.") from error
