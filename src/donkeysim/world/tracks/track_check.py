"""What can only be checked once the path is known: does the road turn too tightly, does the start grid fit."""

from __future__ import annotations

import math

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.world.tracks.path import CentreLine
from donkeysim.world.tracks.track_file import TrackFile


def check_track(track: TrackFile, line: CentreLine, source: str) -> None:
    """Refuse a track that no car could start or drive on.

    Raises:
        SceneError: One sentence with the file, the table and what to change.
    """
    if not line.closed and track.start.lines and max(track.start.lines) > line.length:
        raise SceneError(f"{source}: [start] lines lie within the path, 0 to {line.length:g} m.")
    _check_turns(track, line, source)
    _check_grid(track, line, source)


def _check_turns(track: TrackFile, line: CentreLine, source: str) -> None:
    for side, width, bend in (
        ("left", track.road.width_left, float(line.curvature.max())),
        ("right", track.road.width_right, -float(line.curvature.min())),
    ):
        if bend * width >= 1.0:
            raise SceneError(
                f"{source}: [road] width_{side} is {width:g}, but the path turns {side} with a radius of "
                f"{1.0 / bend:.2f} m; narrow the road there or widen the turn."
            )


def _check_grid(track: TrackFile, line: CentreLine, source: str) -> None:
    start, road = track.start, track.road
    for column in start.columns:
        if not -road.width_right < column < road.width_left:
            raise SceneError(
                f"{source}: [start] columns has {column:g}, which lies beside the road; "
                f"it spans {-road.width_right:g} to {road.width_left:g}."
            )
    rows = math.ceil(start.slots / len(start.columns))
    room = int(np.floor(line.length / start.rows))
    if line.closed and rows > room:
        raise SceneError(
            f"{source}: [start] slots is {start.slots}, but the loop of {line.length:.1f} m has room for "
            f"{room * len(start.columns)}; ask for fewer or add columns."
        )
