"""A place with cars that drivers drive, for tests."""

import functools
import math
from dataclasses import dataclass, field, replace

import numpy as np

from donkeysim.drivers.path_follower import PathFollower
from donkeysim.sim.simulator import Simulator
from donkeysim.world.ledger import EVENT_CROSSING
from donkeysim.world.specs import SceneSpec, WorldSpec, load_car
from donkeysim.world.state import HIT_NONE
from donkeysim.world.tracks import load_scene

CAR = load_car("original")
STEPS = 24


@dataclass
class Drive:
    """What happened."""

    off_road: int = 0
    hits: set[int] = field(default_factory=set)
    crossings: list[float] = field(default_factory=list)
    time: float = 0.0
    distance: float = 0.0
    trace: list[np.ndarray] = field(default_factory=list)
    nearest: float = math.inf

    @property
    def laps(self):
        return np.diff(self.crossings)


class Course:
    """Cars on a scene, car 0 on the first place of the grid; others join when they are parked."""

    def __init__(self, scene, car_count=1):
        self.scene = scene
        self.simulator = Simulator(WorldSpec(cars_per_world=car_count), scene=scene)
        self.ledger = self.simulator.ledger
        self.simulator.add_car()

    def place_on_grid(self, car, slot):
        x, y, z = self.scene.start.position[slot]
        self.place(car, x, y, float(self.scene.start.yaw[slot]), height=z)

    def place(self, car, x, y, yaw, roll=0.0, height=0.1):
        c, s, cr, sr = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(roll / 2), math.sin(roll / 2)
        self.simulator.place_car(car, (x, y, height), (c * cr, c * sr, s * sr, s * cr))

    def park(self, car, node, lateral):
        """Put a car on the path, `lateral` to its left, brakes on."""
        if car not in self.simulator.list_cars():
            assert self.simulator.add_car() == car
        self.simulator.put_on_path(car, float(self.scene.path.frame.node_length[node]), lateral)
        self.simulator.drive_car(car, brake=1.0)

    def drive(self, driver, laps=None, seconds=90.0, steps=STEPS):
        """Let a driver drive car 0 until it has crossed the line once more than `laps`, or for `seconds`."""
        ledger, seen = self.ledger, Drive()
        while seen.time < seconds and (laps is None or ledger.lap[0] <= laps):
            self.simulator.drive_car(0, *driver.drive(ledger, 0))
            before = ledger.position[0].copy()
            self.simulator.step(steps)
            seen.time += steps / 480
            seen.distance += float(np.linalg.norm(ledger.position[0] - before))
            seen.off_road += not ledger.on_road[0]
            seen.trace.append(ledger.position[0].copy())
            if ledger.hit[0] != HIT_NONE:
                seen.hits.add(int(ledger.hit[0]))
            for event in self.simulator.list_events():
                if (event.car, event.kind, event.value) == (0, EVENT_CROSSING, 0):
                    seen.crossings.append(event.time)
            for other in np.flatnonzero(ledger.present[1:]) + 1:
                gap = float(np.linalg.norm(ledger.position[0, :2] - ledger.position[other, :2]))
                seen.nearest = min(seen.nearest, gap)
        return seen


@functools.cache
def load_track(name="generated_track"):
    return load_scene(SceneSpec(name))


def mirror_scene(scene):
    """The scene seen in a mirror: y becomes -y."""
    ground, path, start, props = scene.ground, scene.path, scene.start, scene.props

    def flip(points):
        return points * np.array([1.0, -1.0, 1.0])[: points.shape[-1]]

    def flip_gates(gates):
        return flip(gates)[:, ::-1].copy()

    def flip_origin(origin, extent):
        return (origin[0], -(origin[1] + extent))

    height_extent = (ground.height.shape[0] - 1) * ground.height_cell
    return replace(
        scene,
        path=replace(
            path,
            position=flip(path.position),
            width_left=path.width_right,
            width_right=path.width_left,
            shortest=flip(path.shortest),
            middle=flip(path.middle),
        ),
        ground=replace(
            ground,
            height=ground.height[::-1].copy(),
            height_origin=flip_origin(ground.height_origin, height_extent),
            surface=ground.surface[::-1].copy(),
            surface_origin=flip_origin(ground.surface_origin, ground.surface.shape[0] * ground.surface_cell),
        ),
        start=replace(
            start,
            position=flip(start.position),
            yaw=-start.yaw,
            line=flip_gates(start.line),
            checkpoint=flip_gates(start.checkpoint),
        ),
        props=replace(props, position=flip(props.position), yaw=-props.yaw),
        colliders=replace(scene.colliders, centre=flip(scene.colliders.centre), yaw=-scene.colliders.yaw),
    )


def drive_circuit(path, lap_count):
    """Let the pace car drive laps of a track file.

    Returns the laps driven, what was hit, moments off the road, and the greatest distance from the path as a share of
    the narrowest half of the road.
    """
    scene = load_scene(SceneSpec(str(path)))
    seen = Course(scene).drive(PathFollower(scene, CAR, "steady"), laps=lap_count, seconds=200.0 * lap_count)
    node = scene.path.position[:, :2]
    before, after = node, np.roll(node, -1, axis=0)
    side = (after - before) / np.linalg.norm(after - before, axis=1)[:, None]
    away = 0.0
    for point in np.array(seen.trace)[::4, :2]:
        offset = point - before
        along = np.clip(np.einsum("ij,ij->i", offset, side), 0.0, np.linalg.norm(after - before, axis=1))
        away = max(away, float(np.linalg.norm(offset - along[:, None] * side, axis=1).min()))
    narrowest = min(scene.path.width_left.min(), scene.path.width_right.min())
    return len(seen.laps), seen.hits, seen.off_road, away / narrowest
