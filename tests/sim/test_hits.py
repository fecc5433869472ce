"""A car driven into anything that stands on a track says what it hit, and its lidar sees it before."""

import math

import numpy as np
import pytest

from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import LidarSpec, SceneSpec, WorldSpec
from donkeysim.world.state import HIT_NONE
from donkeysim.world.tracks.props import PROP_KINDS
from donkeysim.world.tracks.structures.wall_kinds import WALL_KINDS
from standing import GAP, SPAN, list_props, list_walls, write_track

LEVEL = LidarSpec(position=(0.0, 0.0, 0.0), angle_down=0.0, sweep_increment=math.radians(2.0), level_count=1, noise=0.0)
"""As high as the chassis' middle, so that nothing a car could hit is below it."""


class Crowd:
    """A place with one car for everything to drive into."""

    def __init__(self, path, count):
        self.simulator = Simulator(WorldSpec(scene=SceneSpec(path), cars_per_world=count))
        self.cars = [self.simulator.add_car(0) for _ in range(count)]

    def aim(self, car, x, y, yaw):
        """Put a car somewhere at rest."""
        height = self.simulator.scene.path.position[0, 2]
        self.simulator.move_car(car, (x, y, height), (math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)))

    def look_ahead(self, car):
        """Return what the car's lidar sees straight ahead [m]."""
        self.simulator.configure_lidar(car, LEVEL)
        rows = self.simulator.scan_distances(car)
        ahead = rows[rows[:, 1] == 0.0, 0]
        return float(ahead.min()) if len(ahead) else math.inf

    def drive(self, seconds):
        """Drive all ahead."""
        self.simulator.control.throttle[:] = 0.4
        self.simulator.step(int(480 * seconds))

    def get_hit(self, car):
        """Return what the car hit."""
        hit = int(self.simulator.state.hit[car])
        return "nothing" if hit == HIT_NONE else self.simulator.scene.hit_names[hit]


@pytest.fixture(scope="module")
def walls(tmp_path_factory):
    crowd = Crowd(write_track(tmp_path_factory.mktemp("walls"), list_walls()), len(WALL_KINDS))
    node = crowd.simulator.scene.path.position[:, :2]
    ends = np.vstack((node, node[:1]))
    at = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(ends, axis=0).T))))
    for car, index in zip(crowd.cars, range(len(WALL_KINDS)), strict=True):
        along = (index + 0.5) * SPAN
        x, y = (float(np.interp(along, at, ends[:, axis])) for axis in (0, 1))
        piece = int(np.searchsorted(at, along)) - 1
        ahead = ends[piece + 1] - ends[piece]
        crowd.aim(car, x, y, math.atan2(ahead[1], ahead[0]) + 0.5 * math.pi)
    crowd.seen = [crowd.look_ahead(car) for car in crowd.cars]
    crowd.drive(1.0)
    return crowd


@pytest.fixture(scope="module")
def props(tmp_path_factory):
    text, places = list_props()
    crowd = Crowd(write_track(tmp_path_factory.mktemp("props"), text), len(places))
    for car, (kind, (x, y)) in zip(crowd.cars, places.items(), strict=True):
        side = 1.44 if kind == "tent" else 0.0
        crowd.aim(car, x - PROP_KINDS[kind].radius - 0.5, y + side, 0.0)
    crowd.seen = [crowd.look_ahead(car) for car in crowd.cars]
    crowd.drive(3.0)
    return crowd


@pytest.mark.parametrize("kind", WALL_KINDS)
def test_a_wall_is_hit_by_its_name(walls, kind):
    assert walls.get_hit(list(WALL_KINDS).index(kind)) == (WALL_KINDS[kind].label or "nothing")


@pytest.mark.parametrize("kind", [kind for kind, wall in WALL_KINDS.items() if wall.label not in ("kerb", "")])
def test_lidar_sees_a_wall_where_it_stands(walls, kind):
    assert walls.seen[list(WALL_KINDS).index(kind)] == pytest.approx(0.4 + GAP, abs=0.02)


@pytest.mark.parametrize("kind", PROP_KINDS)
def test_a_prop_is_hit_by_its_name(props, kind):
    names = {
        "pine": "tree",
        "palm": "tree",
        "spruce": "tree",
        "birch": "tree",
        "tyre_stack": "tyres",
        "chevron": "sign",
        "tall_cone": "cone",
        "bell_cone": "cone",
        "orange_bell_cone": "cone",
        "oak": "tree",
        "footed_cone": "cone",
        "square_cone": "cone",
        "store_rack": "rack",
        "long_table": "table",
        "work_table": "table",
        "folding_chair": "chair",
    }
    car = list(PROP_KINDS).index(kind)
    assert props.get_hit(car) == names.get(kind, kind)


@pytest.mark.parametrize("kind", PROP_KINDS)
def test_lidar_sees_a_prop(props, kind):
    assert 0.3 < props.seen[list(PROP_KINDS).index(kind)] < PROP_KINDS[kind].radius + 0.6
