"""A place beside what is known of the original's: nodes, starts, start lines, cte, and what can be hit.

A file of facts is JSON in the original's own units and axes (U = 1/8 m; x right, y up, z forward; yaw clockwise from +z
in degrees), with the keys that `Facts` names; others are passed over.
"""

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from donkeysim.core import frames
from donkeysim.core.errors import SpecError
from donkeysim.core.types import FloatArray
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

NODE_BOUND, POSE_BOUND, YAW_BOUND, CTE_BOUND, THING_BOUND = 0.08, 0.008, 0.1, 0.02, 0.5
"""How far nodes and ends of start lines [U], start poses [U] and [degree], cte [U] and things [U] may be off."""

COMPARED_SHAPES = frozenset(("box", "capsule", "sphere"))
"""What has a place of its own; of meshes, such as walls and fences, only the name is compared."""

GROUNDS = frozenset(
    (
        "ground",
        "Terrain",
        "MountainTerrain",
        "floor",
        "TrackFloorMesh",
        "track",
        "nurbsToPoly1",
        "starting_line",
        "lines",
        "iceplate",
        "iceCollider",
        "red_ramp",
        "red_ramp (1)",
        "shatner_ramp_a",
        "shatner_ramp_a (1)",
    )
)
"""What a chassis may touch below it, by its names in the original: here it is the ground, ramps and plates included."""

FLAT = 1.0
"""What is lower than this lies on the ground, as paint does [U]."""


class Route(msgspec.Struct, rename={"node_count": "totalNodes"}):
    """The path: how many nodes, and x, y, z of each [U]; none: it is another one at every launch."""

    node_count: int
    nodes: list[list[float]] = []


class Pose(msgspec.Struct):
    """Where a car starts [U, degree], and its cte there and after a reset [U], where they are known."""

    pos: tuple[float, float, float]
    yaw: float
    cte: float | None = None
    cte_after_reset: float | None = None


class Starts(msgspec.Struct):
    """Start objects, and the poses of the first cars."""

    transforms: list[Pose]
    first_slots: list[Pose]


class Line(msgspec.Struct):
    """A start line: its number and its two ends [U]."""

    index: int
    across: list[tuple[float, float, float]]


class Thing(msgspec.Struct):
    """What `hit` can name: its shape, middle and size [U]; what is only a trigger is never hit."""

    hit: str
    shape: str
    center: tuple[float, float, float]
    size: tuple[float, float, float]
    trigger: bool | None = None


class Facts(msgspec.Struct):
    """What is known of a scene, and from where."""

    scene: str
    source: str
    path: Route
    starts: Starts
    lines: list[Line] = []
    colliders: list[Thing] = []


@dataclass(frozen=True)
class Comparison:
    """One figure of the original's beside ours.

    Attributes:
        what: In words, with its unit.
        original: As the facts say it.
        ours: As it is here.
        off: By how much they differ, in that unit.
        bound: By how much they may.
    """

    what: str
    original: str
    ours: str
    off: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether they agree within the bound."""
        return self.off <= self.bound


def read_facts(path: Path) -> Facts:
    """Return the facts of a file.

    Raises:
        SpecError: It cannot be read, or says something else.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Facts)
    except OSError as error:
        raise SpecError(f"cannot read {path}: {error.strerror or error}.") from error
    except msgspec.DecodeError as error:
        raise SpecError(f"{path} is not a file of facts: {error}.") from error


def compare(facts: Facts) -> list[Comparison]:
    """Return the figures of a scene beside those of the original's.

    Raises:
        SceneError: There is no scene of this name.
    """
    count = len(facts.starts.first_slots)
    simulator = Simulator(WorldSpec(scene=SceneSpec(facts.scene), cars_per_world=count))
    try:
        return [
            *_compare_path(facts, simulator),
            *_compare_starts(facts, simulator),
            *_compare_lines(facts, simulator),
            *_compare_things(facts, simulator),
        ]
    finally:
        simulator.close()


def _to_units(position: FloatArray) -> FloatArray:
    """Return positions of our world in the original's [U], shape [n, 3]."""
    return np.array([frames.position_to_units(place) for place in position.tolist()]).reshape(-1, 3)


def _compare_path(facts: Facts, simulator: Simulator) -> list[Comparison]:
    path = simulator.scene.path
    rows = [_compare_counts("nodes", facts.path.node_count, len(path.position))]
    if facts.path.nodes and rows[0].holds:
        place = path.position.copy()
        if path.told_height is not None:
            place[:, 2] = path.told_height
        node, known = _to_units(place), np.array(facts.path.nodes)[:, :3]
        away = np.hypot(*(node - known)[:, [0, 2]].T)
        worst = int(np.argmax(away))
        rows.append(_compare_points("node 0 [U]", known[:1], node[:1], NODE_BOUND))
        rows.append(_compare_points(f"farthest node, {worst} [U]", known[[worst]], node[[worst]], NODE_BOUND))
    return rows


def _compare_starts(facts: Facts, simulator: Simulator) -> list[Comparison]:
    rows, slots = [], facts.starts.first_slots
    cars = [simulator.add_car(0) for _ in slots]
    position = _to_units(simulator.ledger.position[cars])
    for slot, (pose, place) in enumerate(zip(slots, position, strict=True)):
        rows.append(_compare_points(f"start of car {slot} [U]", np.array([pose.pos]), place[None], POSE_BOUND))
        yaw = frames.euler_to_unity(simulator.ledger.orientation[cars[slot]].tolist())[1]
        off = abs(math.remainder(pose.yaw - yaw, 360.0))
        rows.append(Comparison(f"yaw of car {slot} [degree]", f"{pose.yaw:g}", f"{yaw % 360.0:.2f}", off, YAW_BOUND))
    for car, pose in enumerate(facts.starts.transforms):
        if pose.cte is not None:
            rows.append(_compare_cte(f"cte of car {car} [U]", pose.cte, simulator, cars[car]))
        if pose.cte_after_reset is not None:
            simulator.reset_car(cars[car])
            rows.append(_compare_cte("the same after a reset [U]", pose.cte_after_reset, simulator, cars[car]))
    return rows


def _compare_cte(what: str, known: float, simulator: Simulator, car: int) -> Comparison:
    told = simulator.observe_telemetry(car).cte or 0.0
    return Comparison(what, f"{known:.3f}", f"{told:.3f}", abs(known - told), CTE_BOUND)


def _compare_lines(facts: Facts, simulator: Simulator) -> list[Comparison]:
    lines = simulator.scene.start.line
    told = 0 if simulator.scene.start.is_silent else len(lines)
    rows = [_compare_counts("start lines that clients are told of", len(facts.lines), told)]
    if rows[0].holds:
        for known, ends in zip(sorted(facts.lines, key=lambda line: line.index), lines, strict=False):
            place = _to_units(np.column_stack((ends, np.zeros(2))))
            pairs = [_measure_away(np.array(known.across), order) for order in (place, place[::-1])]
            text = _format_point(np.array(known.across).mean(axis=0)), _format_point(place.mean(axis=0))
            rows.append(Comparison(f"ends of start line {known.index} [U]", *text, min(pairs), NODE_BOUND))
    return rows


def _compare_things(facts: Facts, simulator: Simulator) -> list[Comparison]:
    """Return a row for every name that `hit` may say: how many there are, or, of walls and fences, whether any is."""
    scene, rows = simulator.scene, []
    ours: dict[str, list[FloatArray]] = {}
    for name, centre in zip(scene.colliders.name.tolist(), _to_units(scene.colliders.centre), strict=True):
        ours.setdefault(scene.hit_names[name], []).append(centre)
    known = [thing for thing in facts.colliders if not thing.trigger and thing.hit not in GROUNDS]
    known = [thing for thing in known if thing.shape in COMPARED_SHAPES or thing.size[1] >= FLAT or 0.0 in thing.size]
    for name, count in sorted(Counter(thing.hit for thing in known).items()):
        placed = [thing for thing in known if thing.hit == name and thing.shape in COMPARED_SHAPES]
        here = ours.get(name, [])
        if not placed:
            rows.append(Comparison(f"things called {name}", str(count), str(len(here)), float(not here), 0.0))
            continue
        away = [
            min((_measure_away(np.array([thing.center]), place[None]) for place in here), default=math.inf)
            for thing in placed
        ]
        text = f"farthest of {count} called {name} [U]"
        worst = int(np.argmax(away))
        rows.append(Comparison(text, _format_point(np.array(placed[worst].center)), "", away[worst], THING_BOUND))
    return rows


def _compare_counts(what: str, known: int, ours: int) -> Comparison:
    return Comparison(what, str(known), str(ours), float(abs(known - ours)), 0.0)


def _compare_points(what: str, known: FloatArray, ours: FloatArray, bound: float) -> Comparison:
    return Comparison(what, _format_point(known[0]), _format_point(ours[0]), _measure_away(known, ours), bound)


def _measure_away(known: FloatArray, ours: FloatArray) -> float:
    """Return the greatest distance of points seen from above [U]."""
    return float(np.hypot(*(known - ours)[:, [0, 2]].T).max())


def _format_point(point: FloatArray) -> str:
    return f"({point[0]:.3f}, {point[2]:.3f})"
