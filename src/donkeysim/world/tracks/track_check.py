"""What can only be checked once the path is known: does the road turn too tightly, does the start grid fit."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.challenges import vary_track
from donkeysim.world.tracks.grid import count_room, count_slots, find_along_behind, lay_grid
from donkeysim.world.tracks.paths.path import CentreLine, build_centre_line
from donkeysim.world.tracks.track_file import TrackFile, locate_errors, read_track

FARTHEST = 9_900.0
"""What the coordinates on a path may sum up to [m]; 100 m farther physics lets nothing move, see `FAR` there."""


def read_line(path: Path, look: str = "") -> tuple[TrackFile, CentreLine]:
    """Return the track of a file, and its path.

    Raises:
        SceneError: It is broken, or no car could start or drive on it; one sentence with file and line.
    """
    track = vary_track(read_track(path, look), SceneSpec(str(path), look=look))
    with locate_errors(path):
        return track, build_line(track)


def build_line(track: TrackFile) -> CentreLine:
    """Return the path of a track that cars can start and drive on.

    Raises:
        SceneError: There is no such path.
    """
    line = build_centre_line(track.path, track.road)
    check_track(track, line)
    return line


def check_track(track: TrackFile, line: CentreLine) -> None:
    """Refuse a track that no car could start or drive on.

    Raises:
        SceneError: One sentence with the table and what to change.
    """
    if not line.closed and track.start.lines and max(track.start.lines) > line.length:
        raise SceneError(f"[start] lines lie within the path, 0 to {line.length:g} m.", "start.lines")
    if track.start.checkpoints and track.start.checkpoints[-1] >= line.length:
        raise SceneError(f"[start] checkpoints lie within the path, 0 to {line.length:.2f} m.", "start.checkpoints")
    for index, gate in enumerate(track.start.gates):
        _check_gate(line, gate, f"start.gates[{index}]")
    _check_place(track, line)
    _check_spans(track, line)
    if not track.road.obstacles:
        _check_turns(line, bool(track.path.file))
    _check_grid(track, line)


def _check_gate(line: CentreLine, gate: Sequence[float], key: str) -> None:
    """Refuse a start line that the path does not cross in driving direction."""
    ends = np.reshape(gate, (2, 2))
    (path,), (yaw,) = line.locate([line.find_along(ends.mean(axis=0))])
    left, right = (ends - path) @ (-math.sin(yaw), math.cos(yaw))
    if not left > 0.0 > right:
        raise SceneError(
            f"[start] {key.removeprefix('start.')} has its left end {left:.2f} m and its right end {right:.2f} m to "
            f"the left of the path at ({path[0]:.2f}, {path[1]:.2f}); the path runs between them, the left end on its "
            "left.",
            key,
        )


def _check_place(track: TrackFile, line: CentreLine) -> None:
    """Refuse a path so far from the world's origin that cars are put back and cones stand as if nailed down."""
    reach = np.abs(line.position).sum(axis=1)
    farthest = int(np.argmax(reach))
    heights = [track.ground.height, *(point.height for point in track.ground.elevation)]
    heights += [] if line.height is None else [float(line.height.min()), float(line.height.max())]
    height = max(map(abs, heights))
    if reach[farthest] + height > FARTHEST:
        x, y = line.position[farthest]
        raise SceneError(
            f"the path passes ({x:.0f}, {y:.0f}) on ground up to {height:.0f} m from height 0; cars drive where these "
            f"amounts sum up to {FARTHEST:.0f} m or less, so give [path] start or [ground] numbers nearer 0.",
            "path.start" if reach[farthest] > height else "ground.height",
        )


def _check_spans(track: TrackFile, line: CentreLine) -> None:
    """Refuse what begins or ends beyond the path: a wall of 100 km would be built for minutes."""
    for name in ("props", "walls", "blocks", "tunnels"):
        for index, table in enumerate(getattr(track, name)):
            for number, span in enumerate(table.spans):
                if not all(-line.length <= place <= line.length * 1.001 for place in span):
                    where = f"{name}[{index}].spans[{number}]"
                    allowed = f"places along the path lie within its length, 0 to {line.length:.2f} m"
                    raise SceneError(f"{where} is {list(span)}; {allowed}.", where)


def _check_turns(line: CentreLine, is_from_file: bool) -> None:
    for side, width, bend in (("left", line.width_left, line.curvature), ("right", line.width_right, -line.curvature)):
        worst = int(np.argmax(bend * width))
        if bend[worst] * width[worst] >= 1.0:
            x, y = line.position[worst]
            mend = ", narrow the road or give [path] smooth" if is_from_file else " or narrow the road"
            raise SceneError(
                f"[road] is {width[worst]:g} m wide on the {side} at ({x:.2f}, {y:.2f}), but the path turns "
                f"{side} there with a radius of {1.0 / bend[worst]:.2f} m; widen the turn{mend}.",
                "road",
            )


def _check_grid(track: TrackFile, line: CentreLine) -> None:
    start = track.start
    for key, pose in start.heads:
        _check_inside(line, pose, f"{key.removeprefix('start.')} has the first car", key)
    slots, room = count_slots(start, line), count_room(start, line)
    if line.closed and slots > room:
        raise SceneError(
            f"[start] slots is {slots}, but the loop of {line.length:.1f} m has room for {room}; ask for fewer or add "
            "columns.",
            "start.slots",
        )
    _check_columns(track, line)
    position, _ = lay_grid(start, line)
    if start.slots and len(position) < start.slots:
        raise SceneError(
            f"[start] slots is {start.slots}, but only {len(position)} cars find room where the path passes "
            "itself; ask for fewer.",
            "start.slots",
        )
    heads = max(1, len(start.heads))
    for place in position[: heads * len(start.columns) * start.straight] if start.heads else ():
        _check_inside(line, place.tolist(), "the grid has a car", "start.columns")


def _check_columns(track: TrackFile, line: CentreLine) -> None:
    """Refuse columns of which one lies beside the road where rows follow the path."""
    start, heads = track.start, max(1, len(track.start.heads))
    count = math.ceil(count_slots(start, line) / (heads * len(start.columns)))
    first = [find_along_behind(line, pose) for _, pose in start.heads] or [0.0]
    rows = np.array(first)[:, None] - np.arange(start.straight if start.heads else 0, count) * start.rows
    if not rows.size:
        return
    left, right = (width.min() for width in line.measure_widths(rows.ravel()))
    for column in start.columns:
        if not -right < column < left:
            raise SceneError(
                f"[start] columns has {column:g}, which lies beside the road; it spans {-right:g} to {left:g} where "
                "the grid is.",
                "start.columns",
            )


def _check_inside(line: CentreLine, place: Sequence[float], what: str, key: str) -> None:
    """Refuse a car on the grid that stands beside the road."""
    along = line.find_along(place[:2])
    (path,), (yaw,) = line.locate([along])
    (left,), (right,) = line.measure_widths([along])
    lateral = (place[1] - path[1]) * math.cos(yaw) - (place[0] - path[0]) * math.sin(yaw)
    if not (-right < lateral < left and abs(math.dist(path, place[:2]) - abs(lateral)) < 0.01):
        raise SceneError(
            f"[start] {what} at ({place[0]:.2f}, {place[1]:.2f}), which lies beside the road; the path "
            f"passes at ({path[0]:.2f}, {path[1]:.2f}), where the road spans {-right:g} to {left:g} from it.",
            key,
        )
