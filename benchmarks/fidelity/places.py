"""Where generated_track and mountain_track lie beside what recordings of the original show; see docs/fidelity.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from benchmarks.fidelity.row import Row
from donkeysim.core.types import FloatArray
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import Scene
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.telemetry import Telemetry
from donkeysim.world.tracks.catalogue import load_scene

U = 1.0 / 8.0
"""The original's unit of length [m]."""

FIRST_NODE = (47.948, 49.6885)
"""Of generated_track: z and x [U]."""

TURNS = ((12, 0.0), (9, 15.5), (10, 0.0), (7, 10.0), (2, 0.0), (15, -5.0), (5, 0.0), (9, 15.0), (10, 0.0), (8, 11.0))
LAST_TURNS = ((10, 0.0), (1, 3.0), (9, 0.0))
"""Of its path: steps of 2 U, and by how much the heading changes at the node before each [degree, + = right]."""

ACROSS = (("white line left", -5.99), ("yellow line", -1.99), ("white line right", 1.98))
"""Middles of the lines, right of the path [U], by the scene file; a camera made those on the left 4 to 8 % wider."""


@dataclass(frozen=True)
class Sight:
    """What a client is told first, as recorded.

    Attributes:
        scene: Where.
        total_nodes: Nodes of the path.
        node: Of the car; None: not recorded.
        position: x, y, z [m] on the original's axes.
        yaw: [degree]
        cte: [U]; None: not recorded.
    """

    scene: str
    total_nodes: int
    node: int | None
    position: tuple[float, float, float]
    yaw: float
    cte: float | None


SIGHTS = (Sight("generated_track", 108, None, (6.2116, 0.0736, 5.9797), 0.0, None),)


def measure_places() -> Iterator[Row]:
    """Measure nodes, cross-section and what a client is told at the start."""
    for sight in SIGHTS:
        simulator = Simulator(WorldSpec(SceneSpec(sight.scene)))
        simulator.compile()
        told = simulator.observe_telemetry(simulator.add_car())
        yield from compare_sight(sight, told)
        yield from compare_nodes(simulator.scene)
        yield from compare_lines(simulator.scene)
        simulator.close()
    yield from compare_path(load_scene(SceneSpec("mountain_track")))


def compare_sight(sight: Sight, told: Telemetry) -> Iterator[Row]:
    """Compare the first telemetry."""
    name = sight.scene
    yield Row(f"{name}: totalNodes", sight.total_nodes, told.totalNodes or 0, "", 0.0)
    if sight.node is not None:
        yield Row(f"{name}: activeNode at the start", sight.node, told.activeNode or 0, "", 0.0)
    for axis, wanted in zip("xyz", sight.position, strict=True):
        yield Row(f"{name}: pos_{axis} at the start", wanted, getattr(told, f"pos_{axis}"), "m", 0.002)
    yield Row(f"{name}: yaw at the start", sight.yaw, told.yaw, "°", 0.1)
    if sight.cte is not None:
        yield Row(f"{name}: cte at the start", sight.cte, told.cte or 0.0, "U", 0.02)


def make_nodes() -> FloatArray:
    """Return the nodes of generated_track as its script of steps and turns gives them, our axes [m], shape [108, 2]."""
    heading, place = 0.0, np.array([FIRST_NODE[0], -FIRST_NODE[1]])
    nodes = [place]
    for count, turn in (*TURNS, *LAST_TURNS):
        for _ in range(count):
            heading -= np.radians(turn)
            place = place + 2.0 * np.array([np.cos(heading), np.sin(heading)])
            nodes.append(place)
    return np.array(nodes) * U


def compare_nodes(scene: Scene) -> Iterator[Row]:
    """Compare the nodes with the script that the recordings tell."""
    nodes = make_nodes()
    away = np.linalg.norm(scene.path.position[:, :2] - nodes, axis=1)
    yield Row("generated_track: farthest node from the recorded script", 0.0, float(away.max()), "m", 0.001)


def compare_path(scene: Scene) -> Iterator[Row]:
    """Compare the path of mountain_track with the recorded nodes, which lie elsewhere along it."""
    text = (files("donkeysim.world.tracks") / "lines" / "canyon_road.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines() if line[:1].isdigit() or line[:1] == "-"]
    recorded = np.array(rows, float)[:, :2]
    node = scene.path.position[:, :2]
    ahead = np.roll(node, -1, axis=0) - node
    away = recorded[:, None] - node
    share = np.clip((away * ahead).sum(axis=2) / (ahead * ahead).sum(axis=1), 0.0, 1.0)
    off = np.linalg.norm(away - share[..., None] * ahead, axis=2).min(axis=1)
    yield Row("mountain_track: farthest recorded node from the path, seen from above", 0.0, float(off.max()), "m", 0.01)


def compare_lines(scene: Scene) -> Iterator[Row]:
    """Compare edges and painted lines of the first straight."""
    yield Row("road's right edge", 3.0, float(scene.path.width_right[3]) / U, "U", 0.01 / U)
    yield Row("road's left edge", -7.0, -float(scene.path.width_left[3]) / U, "U", 0.01 / U)
    for name, wanted in ACROSS:
        yield Row(f"middle of the {name}", wanted, find_line(scene, wanted), "U", 0.01 / U)


def find_line(scene: Scene, wanted: float) -> float:
    """Return how far right of the path the paint near a place is [U]: the middle of what differs from both sides."""
    start = scene.path.position[3, :2]
    across = np.arange(wanted - 0.45, wanted + 0.451, 0.01)
    along = np.arange(0.0, 1.0, 0.01)
    x = start[0] + along[:, None] + 0.0 * across
    colour = read_ground(scene, x, start[1] - across * U + 0.0 * x).mean(axis=0)
    unlike = np.linalg.norm(colour - 0.5 * (colour[:5].mean(axis=0) + colour[-5:].mean(axis=0)), axis=1)
    weight = np.maximum(unlike - 0.5 * unlike.max(), 0.0)
    return float((weight * across).sum() / weight.sum())


def read_ground(scene: Scene, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the colours of the ground's picture, sRGB, shape of `x` and then [3]."""
    picture = scene.textures[scene.materials[scene.static.material[0]].texture]
    corner = scene.static.vertex[:4]
    (x0, y0), (x1, y1) = corner[:, :2].min(axis=0), corner[:, :2].max(axis=0)
    rows, columns = picture.shape[:2]
    row, column = ((y1 - y) / (y1 - y0) * rows).astype(int), ((x - x0) / (x1 - x0) * columns).astype(int)
    return picture[row, column, :3].astype(float)
