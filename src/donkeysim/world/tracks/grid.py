"""Where cars start: the grid behind its poses, and the lines that they cross."""

import math
from collections.abc import Sequence

import numpy as np

from donkeysim.core.rotation import wrap_angles
from donkeysim.core.types import FloatArray, LongArray
from donkeysim.world.scene import Ground, StartGrid
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.tables.start import MOST_SLOTS, StartTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

CAR_ROOM = (0.28, 0.215)
"""Length and width that a car takes on the grid [m]: a place that lies in another one's room is left out, as where a
path crosses itself."""


def build_start(track: TrackFile, line: CentreLine, ground: Ground) -> StartGrid:
    """Return the grid and the start lines."""
    table = track.start
    position, yaw = lay_grid(table, line)
    height = sample_height(ground, position) + table.ride_height
    gates = np.array(table.gates).reshape(-1, 2, 2) if table.gates else span_road(line, table.lines)
    checkpoints = span_road(line, table.checkpoints)
    return StartGrid(np.column_stack((position, height)), wrap_angles(yaw), gates, checkpoints, table.silent)


def find_first_line(table: StartTable, line: CentreLine) -> float:
    """Return the place of the first start line along the path [m]; without lines the path's beginning."""
    if table.gates:
        return line.find_along(np.reshape(table.gates[0], (2, 2)).mean(axis=0))
    return table.lines[0] if table.lines else 0.0


def lay_grid(table: StartTable, line: CentreLine) -> tuple[FloatArray, FloatArray]:
    """Return the places of the grid: x, y [m], shape [slot_count, 2], and yaw [rad], first slot first.

    Poses take turns, as the original's start objects do: slot i belongs to pose i mod n, in whose column (i div n) mod
    columns it stands, rows backwards. The first `straight` rows stand straight behind the pose, columns to the left of
    its heading; rows behind them follow the path backwards. Places that overlap an earlier one are left out.
    """
    count, room, columns = count_slots(table, line), count_room(table, line), np.array(table.columns)
    slot: LongArray = np.arange(max(count, room) if line.closed else count)
    heads = table.heads or (("", ()),)
    row, column = np.divmod(slot // len(heads), len(columns))
    position, yaw = np.zeros((len(slot), 2)), np.zeros(len(slot))
    for index, (_, pose) in enumerate(heads):
        mine = slot % len(heads) == index
        position[mine], yaw[mine] = _lay_rows(table, line, pose, row[mine], columns[column[mine]])
    kept = _leave_room(position, yaw, count)
    return position[kept], yaw[kept]


def count_slots(table: StartTable, line: CentreLine) -> int:
    """Return how many cars the grid is to hold."""
    return table.slots or max(1, min(MOST_SLOTS, count_room(table, line)))


def count_room(table: StartTable, line: CentreLine) -> int:
    """Return how many cars fit one behind the other and beside each other along a path, up to the next pose."""
    heads = sorted(line.find_along(pose[:2]) for _, pose in table.heads) or [0.0]
    gaps = np.diff([*heads, heads[0] + line.length])
    return int(gaps.min() / table.rows) * len(table.columns) * len(heads)


def find_along_behind(line: CentreLine, pose: Sequence[float]) -> float:
    """Return the place of a pose along the path [m], negative before the path's beginning."""
    along = line.find_along(pose[:2])
    return along - line.length if line.closed and along > 0.5 * line.length else along


def _lay_rows(
    table: StartTable, line: CentreLine, pose: Sequence[float], row: LongArray, lateral: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return places x, y [m], shape [n, 2], and yaws [rad] of rows and columns of one pose."""
    if not pose:
        return line.offset(-row * table.rows, lateral)
    yaw = math.radians(pose[2])
    ahead, left = np.array((math.cos(yaw), math.sin(yaw))), np.array((-math.sin(yaw), math.cos(yaw)))
    last = table.straight - 1
    along = _follow_back(line, pose, np.array(pose[:2]) - last * table.rows * ahead)
    position, facing = line.offset(along - (row - last) * table.rows, lateral)
    is_straight = row <= last
    behind, beside = row[is_straight] * table.rows, lateral[is_straight] - table.columns[0]
    position[is_straight] = pose[:2] - behind[:, None] * ahead + beside[:, None] * left
    facing[is_straight] = yaw
    return position, facing


def _follow_back(line: CentreLine, pose: Sequence[float], last: FloatArray) -> float:
    """Return the place along the path of a pose's last straight row [m]: nearest to it, but not on another stretch."""
    begin, expected = find_along_behind(line, pose), math.dist(pose[:2], last)
    back = begin - line.find_along(last)
    if line.closed:
        back = (back + 0.5 * line.length) % line.length - 0.5 * line.length
    return begin - (back if abs(back - expected) <= 0.5 * expected else expected)


def _leave_room(position: FloatArray, yaw: FloatArray, count: int) -> list[int]:
    """Return which of these places to take, up to `count`: those that lie in no earlier one's room."""
    kept: list[int] = []
    length, width = CAR_ROOM
    for slot in range(len(position)):
        x, y = (position[slot] - position[kept]).T
        cosine, sine = np.cos(yaw[kept]), np.sin(yaw[kept])
        along, across = np.abs(np.cos(yaw[slot] - yaw[kept])), np.abs(np.sin(yaw[slot] - yaw[kept]))
        is_near = np.abs(cosine * x + sine * y) < 0.5 * (length + along * length + across * width)
        is_near &= np.abs(cosine * y - sine * x) < 0.5 * (width + along * width + across * length)
        if not is_near.any():
            kept.append(slot)
        if len(kept) == count:
            break
    return kept


def span_road(line: CentreLine, places: Sequence[float]) -> FloatArray:
    """Return lines across the road at places along the path: left and right ends [m], shape [place_count, 2, 2]."""
    left, right = line.measure_widths(places)
    return np.stack([line.offset(places, lateral)[0] for lateral in (left, -right)], axis=1)
