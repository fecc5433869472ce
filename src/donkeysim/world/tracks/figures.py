"""What a track is like in figures: of its path alone, quickly, and of the built place."""

import math
from dataclasses import dataclass

import numpy as np

from donkeysim.world.scene import Scene
from donkeysim.world.tracks.paths.path import CentreLine, place_nodes
from donkeysim.world.tracks.track_file import TrackFile

SHARP = 50.0
"""A path of a greater radius counts as straight [m]."""


@dataclass(frozen=True)
class LineFigures:
    """A path and the road along it.

    Attributes:
        length: Of the path [m].
        is_closed: Whether its end meets its beginning.
        node_count: Nodes.
        width: Least and greatest width of the road [m].
        radius_left: Least radius of a turn to the left [m]; infinite: there is none below `SHARP`.
        radius_right: The same to the right.
        turns: Full turns to the left on one lap: 1 counter-clockwise, -1 clockwise, 0 a figure of eight.
        size: Extent of the road along x and y [m].
    """

    length: float
    is_closed: bool
    node_count: int
    width: tuple[float, float]
    radius_left: float
    radius_right: float
    turns: int
    size: tuple[float, float]

    @property
    def direction(self) -> str:
        """Which way round it is driven, in words."""
        if not self.is_closed:
            return "one way"
        if not self.turns:
            return "figure of eight"
        way = "counter-clockwise" if self.turns > 0 else "clockwise"
        return way if abs(self.turns) == 1 else f"{way}, {abs(self.turns)} times round"


@dataclass(frozen=True)
class SceneFigures:
    """A built place.

    Attributes:
        height: Least and greatest height of the road [m].
        slope: Steepest climb or descent along the path, as a share (0.1 is 10 %).
        standing: What a car can hit that stays where it is, by what it is called, and how many.
        movable: What a car can push about, the same way.
        start_lines: Start lines.
        grid: Cars that the start grid holds.
        triangles: Of the place, without cars and movable things.
    """

    height: tuple[float, float]
    slope: float
    standing: dict[str, int]
    movable: dict[str, int]
    start_lines: int
    grid: int
    triangles: int


def measure_line(track: TrackFile, line: CentreLine) -> LineFigures:
    """Return the figures of a path."""
    width = line.width_left + line.width_right
    _, (begin, end) = line.locate([0.0, line.length * (1.0 - 1e-9)])
    edges = np.vstack([line.offset(line.distance, side)[0] for side in (line.width_left, -line.width_right)])
    return LineFigures(
        length=float(line.length),
        is_closed=line.closed,
        node_count=len(place_nodes(track.path, line).distance),
        width=(float(width.min()), float(width.max())),
        radius_left=_find_radius(float(line.curvature.max())),
        radius_right=_find_radius(-float(line.curvature.min())),
        turns=round(float(end - begin) / (2.0 * math.pi)),
        size=(float(np.ptp(edges[:, 0])), float(np.ptp(edges[:, 1]))),
    )


def measure_scene(scene: Scene) -> SceneFigures:
    """Return the figures of a built place."""
    step = scene.path.frame.step
    level = np.hypot(step[:, 0], step[:, 1])
    rise = scene.path.position[:, 2] - scene.path.position[0, 2]
    return SceneFigures(
        height=(float(rise.min()), float(rise.max())),
        slope=float(np.abs(step[:, 2] / np.maximum(level, 1e-9)).max()),
        standing=_count_names(scene, scene.colliders.name.tolist()),
        movable=_count_names(scene, scene.props.name.tolist()),
        start_lines=len(scene.start.line),
        grid=len(scene.start.yaw),
        triangles=len(scene.static.triangle),
    )


def _find_radius(curvature: float) -> float:
    return 1.0 / curvature if curvature > 1.0 / SHARP else math.inf


def _count_names(scene: Scene, names: list[int]) -> dict[str, int]:
    """Return how often each thing stands there, by its label, most frequent first."""
    labels = [scene.labels[index] for index in names]
    return {label: labels.count(label) for label in sorted(dict.fromkeys(labels), key=labels.count, reverse=True)}
