"""What can only be checked once the path is known: does the road turn too tightly, does the start grid fit."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.core.config import locate_key
from donkeysim.core.errors import SceneError
from donkeysim.world.tracks.grid import find_first_row
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.track_file import TrackFile


def check_track(track: TrackFile, line: CentreLine, source: str) -> None:
    """Refuse a track that no car could start or drive on.

    Raises:
        SceneError: One sentence with the file, the table and what to change.
    """
    if not line.closed and track.start.lines and max(track.start.lines) > line.length:
        place = locate_key(source, "start.lines")
        raise SceneError(f"{place}: [start] lines lie within the path, 0 to {line.length:g} m.")
    if track.start.checkpoints and track.start.checkpoints[-1] >= line.length:
        place = locate_key(source, "start.checkpoints")
        raise SceneError(f"{place}: [start] checkpoints lie within the path, 0 to {line.length:.2f} m.")
    _check_spans(track, line, source)
    _check_turns(line, bool(track.path.file), source)
    _check_grid(track, line, source)


def _check_spans(track: TrackFile, line: CentreLine, source: str) -> None:
    """Refuse what begins or ends beyond the path: a wall of 100 km would be built for minutes."""
    for name in ("props", "walls", "blocks", "tunnels"):
        for index, table in enumerate(getattr(track, name)):
            for number, span in enumerate(table.spans):
                if not all(-line.length <= place <= line.length * 1.001 for place in span):
                    where = f"{name}[{index}].spans[{number}]"
                    raise SceneError(
                        f"{locate_key(source, where)}: {where} is {list(span)}; places along the path lie within its "
                        f"length, 0 to {line.length:.2f} m."
                    )


def _check_turns(line: CentreLine, is_from_file: bool, source: str) -> None:
    for side, width, bend in (("left", line.width_left, line.curvature), ("right", line.width_right, -line.curvature)):
        worst = int(np.argmax(bend * width))
        if bend[worst] * width[worst] >= 1.0:
            x, y = line.position[worst]
            mend = ", narrow the road or give [path] smooth" if is_from_file else " or narrow the road"
            place = locate_key(source, "road")
            raise SceneError(
                f"{place}: [road] is {width[worst]:g} m wide on the {side} at ({x:.2f}, {y:.2f}), but the path turns "
                f"{side} there with a radius of {1.0 / bend[worst]:.2f} m; widen the turn{mend}."
            )


def _check_grid(track: TrackFile, line: CentreLine, source: str) -> None:
    start = track.start
    slots, room = start.count_slots(line.length), start.count_room(line.length)
    if line.closed and slots > room:
        place = locate_key(source, "start.slots")
        raise SceneError(
            f"{place}: [start] slots is {slots}, but the loop of {line.length:.1f} m has room for "
            f"{room}; ask for fewer or add columns."
        )
    rows = find_first_row(track, line) - np.arange(math.ceil(slots / len(start.columns))) * start.rows
    _check_pose(start.pose, line, rows[0], source)
    left, right = (width.min() for width in line.measure_widths(rows))
    for column in start.columns:
        if not -right < column < left:
            raise SceneError(
                f"{locate_key(source, 'start.columns')}: [start] columns has {column:g}, which lies beside the road; "
                f"it spans {-right:g} to {left:g} where the grid is."
            )


def _check_pose(pose: tuple[float, ...], line: CentreLine, along: float, source: str) -> None:
    """Refuse a first car beside the road."""
    if not pose:
        return
    (path,), (yaw,) = line.locate([along])
    (left,), (right,) = line.measure_widths([along])
    lateral = (pose[1] - path[1]) * math.cos(yaw) - (pose[0] - path[0]) * math.sin(yaw)
    if not (-right < lateral < left and abs(math.dist(path, pose[:2]) - abs(lateral)) < 0.01):
        raise SceneError(
            f"{locate_key(source, 'start.pose')}: [start] pose has the first car at ({pose[0]:.2f}, {pose[1]:.2f}), "
            f"which lies beside the road; the path passes at ({path[0]:.2f}, {path[1]:.2f}), where the road spans "
            f"{-right:g} to {left:g} from it."
        )
