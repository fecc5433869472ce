"""Where a calibrated camera says the horizon and lines on the floor are, drawn into a picture, to be judged by eye."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from donkeysim.calibration.motion import FloorCamera
from donkeysim.core.types import ByteArray, FloatArray


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

HORIZON_COLOUR, LANE_COLOUR, MARK_COLOUR = (255, 60, 60), (60, 255, 90), (255, 210, 60)


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
