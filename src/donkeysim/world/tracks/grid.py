"""Where cars start: the grid along the path, and the lines that they cross."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from donkeysim.core.rotation import wrap_angles
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Ground, Start
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile


def build_start(track: TrackFile, line: CentreLine, ground: Ground) -> Start:
    """Return the grid, rows backwards along the path, each with all columns; and the start lines.

    It begins at the path's beginning, or where the first car is said to stand; then its row is turned as that car is.
    """
    table = track.start
    row, column = np.divmod(np.arange(table.count_slots(line.length)), len(table.columns))
    lateral = np.array(table.columns)[column]
    position, yaw = line.offset(find_first_row(track, line) - row * table.rows, lateral)
    if table.pose:
        first, along = row == 0, math.radians(table.pose[2])
        left = np.array((-math.sin(along), math.cos(along)))
        position[first] = table.pose[:2] + left * (lateral[first] - lateral[0])[:, None]
        yaw[first] = along
    height = sample_height(ground, position) + table.ride_height
    facing = wrap_angles(yaw)
    gates = (span_road(line, places) for places in (table.lines, table.checkpoints))
    return Start(np.column_stack((position, height)), facing, *gates)


def find_first_row(track: TrackFile, line: CentreLine) -> float:
    """Return the place along the path of the grid's first row [m], negative before the path's beginning."""
    if not track.start.pose:
        return 0.0
    along = line.find_along(track.start.pose[:2])
    return along - line.length if line.closed and along > 0.5 * line.length else along


def span_road(line: CentreLine, places: Sequence[float]) -> FloatArray:
    """Return lines across the road at places along the path: left and right ends [m], shape [place_count, 2, 2]."""
    left, right = line.measure_widths(places)
    return np.stack([line.offset(places, lateral)[0] for lateral in (left, -right)], axis=1)
