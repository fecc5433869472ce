"""From folders of pictures and a tub to the files that the simulator takes, and pictures to judge them by eye."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from donkeysim.calibration.board import Board, find_corners
from donkeysim.calibration.camera import LensFit, Mount, solve_lens, solve_mount
from donkeysim.calibration.lane import LaneFit, solve_lane
from donkeysim.calibration.lane_lines import LaneFinder
from donkeysim.calibration.motion import FloorCamera, find_own_body, find_rates, follow_floor, scale_lens
from donkeysim.calibration.pictures import WIDEST, read_picture
from donkeysim.calibration.response import MeasuredDrive, Scales, fit_scales, measure_response
from donkeysim.core.errors import DonkeySimError, format_count
from donkeysim.core.files import replace_file, write_whole
from donkeysim.core.types import ByteArray, FloatArray
from donkeysim.tub.reader import TubReader, TubRecord, find_command_keys
from donkeysim.tub.values import GREY, read_number
from donkeysim.world.lens import LensSpec, make_plain_lens
from donkeysim.world.specs import CameraSpec, CarSpec, load_car

NARROWEST, WIDEST_LANE = 0.02, 100.0
"""Widths of lanes that are taken [m]."""

FARTHEST = 1.0
"""A camera is at most so far before or behind the middle between the axles [m]."""

SLOWEST, FASTEST = 1.0, 1000.0
"""Records in a second of drives that are taken."""

HORIZON_COLOUR, LANE_COLOUR, MARK_COLOUR = (255, 60, 60), (60, 255, 90), (255, 210, 60)


@dataclass(frozen=True)
class Seen:
    """Pictures of the board.

    Attributes:
        size: Width and height of all of them [pixel].
        corners: Of the board, in those where it was found.
        names: Of those.
        missed: Names of the others.
        odd: Names of those that have another size; the board was not looked for there.
    """

    size: tuple[int, int]
    corners: tuple[FloatArray, ...]
    names: tuple[str, ...]
    missed: tuple[str, ...]
    odd: tuple[str, ...]


@dataclass(frozen=True)
class SeenLane:
    """Pictures of a drive along a lane.

    Attributes:
        fit: What follows from them.
        camera: That took them; its lens is that of their size.
        pictures: All of them.
        width: Of the lane [m].
    """

    fit: LaneFit
    camera: FloorCamera
    pictures: tuple[ByteArray, ...]
    width: float


def look_for_board(paths: Sequence[Path], board: Board) -> Seen:
    """Return where the board is in pictures; a few of another size are left out.

    Raises:
        DonkeySimError: They differ in size, or one cannot be read.
    """
    pictures = {str(path): read_picture(path) for path in paths}
    sizes = {name: (picture.shape[1], picture.shape[0]) for name, picture in pictures.items()}
    (size, count), *_ = Counter(sizes.values()).most_common()
    if count <= len(sizes) / 2:
        listed = ", ".join(f"{name} has {width}x{height}" for name, (width, height) in sizes.items())
        raise DonkeySimError(f"pictures of the board differ in size: {listed}; take all with the same settings.")
    views = {name: find_corners(pictures[name], board) for name in pictures if sizes[name] == size}
    found = {name: view for name, view in views.items() if view is not None}
    missed = tuple(name for name, view in views.items() if view is None)
    odd = tuple(name for name in pictures if sizes[name] != size)
    return Seen(size, tuple(found.values()), tuple(found), missed, odd)


def solve_camera(views: Seen, floor: Seen, board: Board) -> tuple[LensFit, Mount]:
    """Return the camera's lens and how it is mounted; pictures of the floor count as views of the board, too.

    Raises:
        DonkeySimError: Too little was seen, or the sizes differ.
    """
    if views.size != floor.size:
        raise DonkeySimError(f"views are {views.size} pixels large, those of the floor {floor.size}; take all alike.")
    _refuse_no_floor(floor)
    fit = solve_lens([*views.corners, *floor.corners], views.size, board)
    return fit, solve_mount(fit.lens, floor.corners, board, fit.kept[len(views.corners) :])


def mount_on_floor(lens: LensSpec, floor: Seen, board: Board) -> Mount:
    """Return how a camera is mounted whose lens is known.

    Raises:
        DonkeySimError: Too little was seen.
    """
    _refuse_no_floor(floor)
    return solve_mount(scale_lens(lens, floor.size), floor.corners, board)


def _refuse_no_floor(floor: Seen) -> None:
    if not floor.corners:
        raise DonkeySimError(
            "the board was found in no picture of the floor; lay it flat before the car, all in sight."
        )


def look_for_lane(pictures: Sequence[ByteArray], lens: LensSpec, width: float, ahead: float) -> SeenLane:
    """Return how a camera whose lens is known is mounted, from pictures of a drive along a lane.

    Args:
        pictures: All of one size.
        width: From the middle of the line on the left to that on the right [m].
        ahead: How far before the middle between the axles the camera is [m].

    Raises:
        DonkeySimError: A straight lane was seen too seldom, or the width is none of a lane.
    """
    if not NARROWEST <= width <= WIDEST_LANE:
        raise DonkeySimError(
            f"a lane of {width * 1000:g} mm is not valid; it takes {NARROWEST * 1000:g} to {WIDEST_LANE * 1000:g} mm."
        )
    height, columns = pictures[0].shape[:2]
    own = scale_lens(lens, (columns, height))
    fit = solve_lane(LaneFinder(own).find_lanes(pictures), width, own.focal[0], columns)
    return SeenLane(fit, FloorCamera(own, fit.mount, ahead), tuple(pictures), width)


def check_numbers(ahead: float, rate: float | None) -> None:
    """Refuse what no car has.

    Args:
        ahead: How far before the middle between the axles the camera is [m].
        rate: Records in a second; None: by their timestamps.

    Raises:
        DonkeySimError: One is out of range.
    """
    if not -FARTHEST <= ahead <= FARTHEST:
        most = FARTHEST * 1000
        raise DonkeySimError(f"--ahead {ahead * 1000:g} is not valid; a lens is {-most:g} to {most:g} mm ahead.")
    if rate is not None and not SLOWEST <= rate <= FASTEST:
        raise DonkeySimError(
            f"--rate {rate:g} is not valid; it takes {SLOWEST:g} to {FASTEST:g} records in a second, "
            "or leave it out to go by their timestamps."
        )


def read_records(tub: Path) -> list[TubRecord]:
    """Return the records of a drive whose pictures all have one size.

    Raises:
        DonkeySimError: The tub has too few records, or pictures of several sizes.
        TubError: It cannot be read.
    """
    records = list(TubReader(tub).iterate_seen())
    if len(records) < 2:
        raise DonkeySimError(f"the tub {tub} has {format_count(len(records), 'record')}; record a drive of a minute.")
    sizes = Counter(record.measure_image().removesuffix(GREY) for record in records)
    if len(sizes) > 1:
        listed = ", ".join(f"{count} of {size}" for size, count in sizes.most_common())
        raise DonkeySimError(f"the tub {tub} holds pictures of several sizes ({listed}); give a drive with one.")
    return records


def follow_drive(tub: Path, camera: FloorCamera, rate: float | None = None) -> MeasuredDrive:
    """Return how a car moved in a tub, by its pictures.

    Args:
        camera: Of any size; its pictures may be smaller.
        rate: Records in a second; None: by their timestamps.

    Raises:
        DonkeySimError: The tub has too few records, or pictures of several sizes.
        TubError: It cannot be read.
    """
    records = read_records(tub)
    first = records[0].load_image()
    camera = replace(camera, lens=scale_lens(camera.lens, (first.shape[1], first.shape[0])))
    own = find_own_body(record.load_image() for record in records)
    gaps: list[float] = []
    moves = follow_floor((record.load_image() for record in records), camera, own, gaps)
    if rate is None:
        time = (np.array([record.timestamp_ms for record in records]) - records[0].timestamp_ms) / 1000.0
    else:
        time = np.arange(len(records)) / rate
    step = np.maximum(np.diff(time), 1e-3)
    speed, turn = (np.append(column, np.nan) for column in find_rates(moves, step).T[[0, 2]])
    steering, throttle = (
        np.array([read_number(record.values.get(find_command_keys(record.values)[side])) or 0.0 for record in records])
        for side in range(2)
    )
    gap = float(np.median(gaps)) * 640 / first.shape[1] if gaps else 0.0
    return MeasuredDrive(time, steering, throttle, speed, turn, gap)


def write_floor_check(path: Path, picture: Path, lens: LensSpec, mount: Mount, ahead: float) -> None:
    """Write a picture with the horizon and lines on the floor where the camera says they are."""
    pixels = read_picture(picture)
    camera = FloorCamera(scale_lens(lens, (pixels.shape[1], pixels.shape[0])), mount, ahead)
    _write_picture(path, draw_overlay(pixels, camera, _choose_scale(pixels)))


def write_lane_check(path: Path, seen: SeenLane) -> None:
    """Write the first picture that counted, one from the middle and the last, with the horizon and the lane."""
    fit, drawn = seen.fit, []
    for which in (0, len(fit.numbers) // 2, -1):
        picture = seen.pictures[fit.numbers[which]]
        camera = replace(seen.camera, mount=replace(fit.mount, yaw=float(fit.heading[which])))
        grid = make_lane_grid(float(fit.side[which]) + seen.width, seen.width)
        drawn.append(draw_overlay(picture, camera, _choose_scale(picture), grid))
    _write_picture(path, np.hstack(drawn))


def _write_picture(path: Path, pixels: ByteArray) -> None:
    with replace_file(path) as beside:
        Image.fromarray(pixels).save(beside)


def _choose_scale(picture: ByteArray) -> int:
    """Return how many times as large a picture is drawn, so that lines do not hide what is below them."""
    return max(1, WIDEST // int(picture.shape[1]))


def fit_car(car: str, drive: MeasuredDrive) -> Scales:
    """Return the scales with which a preset's car drives like that."""
    return fit_scales(measure_response(car), drive)


def write_camera(path: Path, lens: LensSpec, mount: Mount, ahead: float, car: CarSpec) -> None:
    """Write a file for `--camera`; where it is on the car follows from the preset's car at rest."""
    rest, middle = _measure_car(car)
    lines = [
        f"# Written by donkeysim. Height above the floor: {mount.height * 100:.1f} cm; pitch:"
        f" {math.degrees(mount.pitch):.2f}° down.",
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


def find_floor_camera(camera: CameraSpec, car: CarSpec) -> FloorCamera:
    """Return how a camera on a preset's car at rest looks at the floor; what `write_camera` writes, read back."""
    rest, middle = _measure_car(car)
    roll, pitch, yaw = camera.rotation
    lens = camera.lens or make_plain_lens((camera.width, camera.height), camera.fov)
    return FloorCamera(lens, Mount(camera.position[2] + rest, pitch, roll, yaw=yaw), camera.position[0] - middle)


def _measure_car(car: CarSpec) -> tuple[float, float]:
    """Return the height of the origin of a preset's car at rest, and how far ahead the middle between its axles is."""
    rest = car.wheel_radius + car.suspension_target * car.suspension_travel - car.wheel_position[0][2]
    return rest, 0.5 * (car.wheel_position[0][0] + car.wheel_position[2][0])


def write_car(
    path: Path, car: str, steer_gain: float, torque_max: float | None, spreads: tuple[str, str] = ("", "")
) -> None:
    """Write a file for `--car`: a preset with other scales, whose wheels turn as far as steering 1 asks for.

    Args:
        steer_gain: Wheel angle at steering 1 [rad].
        torque_max: Motor torque per driven wheel at throttle 1 [N m]; None: the preset's.
        spreads: How certain both are, to be said after them.
    """
    lines = ["# Written by donkeysim.", "", f'base = "{car}"', f"steer_gain = {steer_gain:.6g}  # [rad]{spreads[0]}"]
    if steer_gain > load_car(car).steer_limit:
        lines.append(f"steer_limit = {steer_gain:.6g}  # [rad]")
    if torque_max is not None:
        lines.append(f"torque_max = {torque_max:.6g}  # [N m]{spreads[1]}")
    write_whole(path, ("\n".join(lines) + "\n").encode())


def _write_list(values: Sequence[float]) -> str:
    return f"[{', '.join(f'{float(value):.8g}' if value else '0.0' for value in values)}]"


class Grid(NamedTuple):
    """Lines on the floor that are drawn.

    Attributes:
        lanes: Along the car, so far to the left of its middle, the rightmost first [m].
        marks: Across, so far before the middle between the axles [m].
        far: How far lanes are drawn [m].
    """

    lanes: tuple[float, ...]
    marks: tuple[float, ...]
    far: float


CAR_GRID = Grid((-0.5, -0.25, 0.25, 0.5), (0.25, 0.5, 1.0, 2.0), 50.0)
"""Before any car on any floor."""


def make_lane_grid(right: float, width: float) -> Grid:
    """Return what is drawn of a lane whose right line is so far to the right of the camera [m]."""
    return Grid((-right, width - right), (2 * width, 4 * width, 8 * width, 16 * width), 100 * width)


def draw_overlay(picture: ByteArray, camera: FloorCamera, scale: int = 1, grid: Grid = CAR_GRID) -> ByteArray:
    """Return a picture, `scale` times as large, with the horizon red, lanes green and distances yellow."""
    image = Image.fromarray(picture if picture.shape[2] == 3 else np.repeat(picture, 3, axis=2))
    image = image.resize((scale * image.width, scale * image.height), Image.Resampling.NEAREST)
    draw = ImageDraw.Draw(image)
    ahead = camera.ahead + 0.3 * camera.mount.height + np.geomspace(0.01, grid.far, 300)
    sides = np.linspace(grid.lanes[0], grid.lanes[-1], 60)
    for lane in grid.lanes:
        _draw_line(draw, camera, np.column_stack([ahead, np.full_like(ahead, lane)]), scale, LANE_COLOUR)
    for mark in grid.marks:
        _draw_line(draw, camera, np.column_stack([np.full_like(sides, camera.ahead + mark), sides]), scale, MARK_COLOUR)
    angle = np.linspace(-1.2, 1.2, 200)
    horizon = 1e5 * np.column_stack([np.cos(angle), np.sin(angle)])
    _draw_line(draw, camera, horizon, scale, HORIZON_COLOUR)
    return np.array(image)


def _draw_line(
    draw: ImageDraw.ImageDraw, camera: FloorCamera, floor: FloatArray, scale: int, colour: tuple[int, int, int]
) -> None:
    """Draw a line on the floor, as far as the picture shows it."""
    places = camera.find_places(floor)
    width, height = camera.lens.size
    # What a lens bends so far that it comes back would be drawn elsewhere; only what it shows there counts.
    back = camera.find_floor(places)
    shows = np.linalg.norm(back - floor, axis=1) < 0.05 * np.linalg.norm(floor, axis=1)
    inside = shows & (np.abs(places - (width / 2, height / 2)) < (width, height)).all(axis=1)
    for here, there, is_seen in zip(places[:-1], places[1:], inside[:-1] & inside[1:], strict=True):
        if is_seen:
            points = [tuple((place + 0.5) * scale) for place in (here, there)]
            draw.line(points, fill=colour, width=max(1, scale // 2))
