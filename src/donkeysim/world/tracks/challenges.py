"""What is asked of a scene beyond its track file: one of its generated roads, and challenges.

Challenges are cones on and about the road, trees beside it, another light; drawn from a seed, the original's ranges.

Positions follow the path's nodes as the original's do (U = 1/8 m): cones up to 5 U from a node on both axes, trees
7 to 20 U from one and never nearer than 7 U to any.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from donkeysim.core.draws import Draws
from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Ground, StartGrid
from donkeysim.world.specs import ChallengeSpec, RoadSpec, SceneSpec
from donkeysim.world.tracks.paths.path import CentreLine
from donkeysim.world.tracks.props import PROP_KINDS
from donkeysim.world.tracks.random_place import draw_place
from donkeysim.world.tracks.structures.placement import HEADROOM, Placement, measure_distance, measure_gap
from donkeysim.world.tracks.structures.structure import Collider, Structure
from donkeysim.world.tracks.tables.light import LightTable
from donkeysim.world.tracks.terrain.ground import sample_height
from donkeysim.world.tracks.track_file import TrackFile

CONE_REACH = 5.0 / 8.0
"""Of a cone from its node, along x and along y [m]."""

NODES_LEFT_OUT = 10
"""Nodes at both ends of the path that get no cone."""

TREE_NEAREST, TREE_FARTHEST = 7.0 / 8.0, 20.0 / 8.0
"""Of a tree from its node [m]; no node is nearer than the first."""

GRID_GAP = 0.26
"""From a cone to the middle of a place on the start grid, at least [m]: half a car and half a cone."""

# Half a car's width: what stands nearer would be one obstacle.
THING_GAP = 0.1
"""From a cone or a tree to everything else that stands there, at least [m]."""

TRIES = 30
"""Random places for each cone and each tree; then it is left out. The original has 10, and no walls."""

GREEN = ("tree", "spruce", "birch", "pine", "palm", "cactus", "bush")
"""What may be added as a tree: of these what the track has already, or `COMMON`."""

COMMON = ("tree", "spruce", "birch")

SUN_COLOURS = ((1.0, 1.0, 0.498), (1.0, 0.863, 0.863))
"""The original's two ends of the sun's colour."""


@dataclass(frozen=True)
class Surroundings:
    """What challenges must leave alone.

    Attributes:
        node: Of the path, x, y [m], shape [node_count, 2].
        line: The path, with the road's widths.
        ground: Heights.
        start: The grid.
        structures: What stands there.
        placed: Of these and of movable things, what the track's tables of props say.
    """

    node: FloatArray
    line: CentreLine
    ground: Ground
    start: StartGrid
    structures: Sequence[Structure]
    placed: Sequence[Placement]


def vary_light(light: LightTable, seed: int) -> LightTable:
    """Return a light whose sun stands elsewhere and has another colour: 0 to 45° from the zenith, azimuth 0 to 180°."""
    draws = Draws(seed, "light")
    tilt, azimuth, share = draws.draw_uniform(45.0, 135.0), draws.draw_uniform(0.0, 180.0), draws.draw_uniform()
    strength = max(light.sun)
    red, green, blue = (strength * (a + share * (b - a)) for a, b in zip(*SUN_COLOURS, strict=True))
    height, azimuth = (tilt, azimuth) if tilt <= 90.0 else (180.0 - tilt, azimuth + 180.0)
    return dataclasses.replace(light, sun_azimuth=azimuth, sun_height=height, sun=(red, green, blue))


def place_cones(spec: ChallengeSpec, around: Surroundings) -> list[Placement]:
    """Return cones, a few less than asked for where the place is full; they may stand on the road."""
    draws = Draws(spec.seed, "cones")
    count = len(around.node)
    kind = PROP_KINDS["cone"]

    def propose() -> tuple[float, float]:
        last = max(NODES_LEFT_OUT + 1, count - NODES_LEFT_OUT)
        x, y = around.node[(NODES_LEFT_OUT + draws.draw_index(last - NODES_LEFT_OUT)) % count]
        return x + draws.draw_uniform(-CONE_REACH, CONE_REACH), y + draws.draw_uniform(-CONE_REACH, CONE_REACH)

    grid = around.start.position[:, :2]

    def suits(x: float, y: float) -> bool:
        return bool(np.hypot(grid[:, 0] - x, grid[:, 1] - y).min(initial=math.inf) >= GRID_GAP)

    places = _find_places(spec.cones, kind.radius, propose, suits, around)
    return [Placement(kind, 0, place, draws.draw_uniform(0.0, 2.0 * math.pi), 1.0) for place in places]


def place_trees(spec: ChallengeSpec, around: Surroundings, kinds: Sequence[str]) -> list[Placement]:
    """Return trees of some kinds, less than asked for where the place is full; none on the road."""
    draws = Draws(spec.seed, "trees")
    widest = max(PROP_KINDS[kind].radius * (1.0 + PROP_KINDS[kind].spread) for kind in kinds)

    def propose() -> tuple[float, float]:
        x, y = around.node[draws.draw_index(len(around.node))]
        away, angle = draws.draw_uniform(TREE_NEAREST, TREE_FARTHEST), draws.draw_uniform(0.0, 2.0 * math.pi)
        return x + away * math.cos(angle), y + away * math.sin(angle)

    def suits(x: float, y: float) -> bool:
        if np.hypot(around.node[:, 0] - x, around.node[:, 1] - y).min() < TREE_NEAREST:
            return False
        return bool(measure_gap(np.array([(x, y)]), around.line)[0] >= widest + THING_GAP)

    placed = []
    for place in _find_places(spec.trees, widest, propose, suits, around):
        kind = PROP_KINDS[draws.choose(kinds)]
        scale = 1.0 + kind.spread * draws.draw_uniform(-1.0, 1.0)
        yaw = draws.draw_uniform(0.0, 2.0 * math.pi)
        placed.append(Placement(kind, draws.draw_index(kind.variants), place, yaw, scale))
    return placed


def choose_tree_kinds(track: TrackFile) -> tuple[str, ...]:
    """Return what grows on a track: the kinds it has, plants in pots under a roof."""
    if track.room is not None:
        return ("plant",)
    return tuple(dict.fromkeys(table.name for table in track.props if table.name in GREEN)) or COMMON


def _find_places(
    count: int,
    radius: float,
    propose: Callable[[], tuple[float, float]],
    suits: Callable[[float, float], bool],
    around: Surroundings,
) -> list[tuple[float, float]]:
    """Return places for things of a radius [m] that keep clear of each other and of all else."""
    colliders = _list_standing(around)
    movable = [item for item in around.placed if item.kind.movable is not None]
    taken = [(*item.position, item.kind.radius * item.scale) for item in movable]
    clear = radius + THING_GAP
    places: list[tuple[float, float]] = []
    for _ in range(count):
        for _ in range(TRIES):
            x, y = (float(part) for part in propose())
            if any(math.hypot(x - other[0], y - other[1]) < other[2] + clear for other in taken):
                continue
            if suits(x, y) and measure_distance(np.array([(x, y)]), colliders)[0] >= clear:
                places.append((x, y))
                taken.append((x, y, radius))
                break
    return places


def _list_standing(around: Surroundings) -> list[Collider]:
    """Return the colliders that reach down to where cars and cones are; roofs and arches hang higher."""
    rows = [row for structure in around.structures for row in structure.colliders]
    foot = sample_height(around.ground, np.array([row.centre[:2] for row in rows]).reshape(-1, 2))
    below = [row.centre[2] - row.half_size[2] for row in rows]
    return [row for row, low, high in zip(rows, below, foot + HEADROOM, strict=True) if low < high]


def vary_track(track: TrackFile, spec: SceneSpec) -> TrackFile:
    """Return a track as a scene's spec wants it.

    Raises:
        SceneError: A road is asked for where it is not a generated one.
    """
    road = spec.road or describe_road(track)
    track = track if road is None else _lay_road(track, road)
    if spec.challenges.light:
        return dataclasses.replace(track, light=vary_light(track.light, spec.challenges.seed))
    return track


def describe_road(track: TrackFile) -> RoadSpec | None:
    """Return which of its roads a track has; None: its road is not a generated one."""
    walk = track.path.walk
    return None if walk is None else RoadSpec(walk.style, walk.seed, walk.turn)


def _lay_road(track: TrackFile, road: RoadSpec) -> TrackFile:
    if track.path.walk is None:
        raise SceneError(f"the road of {track.name} is not a generated one; it cannot be regenerated.")
    if track.random is not None:
        return draw_place(track, track.random, road)
    styles = (track.road, *track.road_styles)
    style = road.style % len(styles)
    walk = dataclasses.replace(track.path.walk, seed=road.seed, turn=road.turn, style=style)
    return dataclasses.replace(track, path=dataclasses.replace(track.path, walk=walk), road=styles[style])
