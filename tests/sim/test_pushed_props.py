"""Props of one's own among cars: pushed by their mass, hit by their name, seen by camera and lidar, restored."""

import math

import numpy as np
import pytest
import trimesh
from PIL import Image

from donkeysim.sim.simulator import Simulator
from donkeysim.sim.snapshot import hash_state
from donkeysim.world.specs import CameraSpec, LidarSpec, SceneSpec, WorldSpec
from donkeysim.world.state import HIT_NONE
from standing import write_track
from world.gltf_models import write_model

MASSES = {"feather": 0.1, "light": 1.0, "heavy": 40.0, "anvil": 1000.0}
LANES = {name: (0.0, -8.0 - 6.0 * index) for index, name in enumerate((*MASSES, "ghost", "post", "nothing"))}
"""Where each thing stands; the car of its lane drives at it along +x."""

AHEAD = 0.5
"""From a car to the thing [m]."""

LEVEL = LidarSpec(position=(0.0, 0.0, 0.0), angle_down=0.0, sweep_increment=math.radians(2.0), level_count=1, noise=0.0)


def list_tables():
    """Tables of the model block.glb once in every lane but the last."""
    tables = []
    for name, (x, y) in LANES.items():
        body = {"ghost": "ghost = true", "post": 'hit = "post"\nhull = "cylinder"'}.get(name, f'hit = "{name}"')
        body += f"\nmass = {MASSES[name]}" if name in MASSES else ""
        tables.append(f'[[props]]\nmodel = "block.glb"\nplaces = [[{x}, {y}]]\n{body}\n' * (name != "nothing"))
    return "".join(tables)


def write_block(folder):
    """Write a block of 0.2 x 0.2 x 0.2 m, green by its texture."""
    block = trimesh.creation.box((0.2, 0.2, 0.2))
    paint = trimesh.visual.material.PBRMaterial(baseColorTexture=Image.new("RGB", (16, 16), (10, 230, 20)))
    block.visual = trimesh.visual.TextureVisuals(np.zeros((len(block.vertices), 2)), paint)
    write_model(folder / "block.glb", meshes=[("block", block)])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("props")
    write_block(folder)
    return write_track(folder, list_tables())


class Lanes:
    """A car before every thing."""

    def __init__(self, path):
        self.simulator = Simulator(WorldSpec(scene=SceneSpec(path), cars_per_world=len(LANES)))
        self.cars = dict(zip(LANES, [self.simulator.add_car(0) for _ in LANES], strict=True))
        height = self.simulator.scene.path.position[0, 2]
        for name, (x, y) in LANES.items():
            self.simulator.move_car(self.cars[name], (x - AHEAD, y, height), (1.0, 0.0, 0.0, 0.0))
        self.simulator.step(48)

    def drive(self, seconds):
        """Drive all ahead."""
        self.simulator.control.throttle[:] = 0.4
        self.simulator.step(int(480 * seconds))

    def get_hit(self, name):
        """Return what the car of a lane hit."""
        hit = int(self.simulator.state.hit[self.cars[name]])
        return "nothing" if hit == HIT_NONE else self.simulator.scene.hit_names[hit]

    def measure_way(self, name):
        """Return how far a thing has been pushed [m]."""
        moved = self.simulator.state.prop_position[list(MASSES).index(name)] - (*LANES[name], 0.0)
        return float(np.hypot(*moved[:2]))


@pytest.fixture(scope="module")
def driven(path):
    lanes = Lanes(path)
    lanes.drive(2.0)
    return lanes


@pytest.mark.parametrize("name", [*MASSES, "post"])
def test_an_own_prop_is_hit_by_its_name(driven, name):
    assert driven.get_hit(name) == name


def test_the_heavier_an_own_prop_is_the_less_it_is_pushed(driven):
    ways = [driven.measure_way(name) for name in MASSES]
    assert np.isfinite(driven.simulator.state.prop_position).all()
    assert ways[1] > ways[2] > ways[3]
    assert min(ways[0], ways[1]) > 0.3
    assert ways[3] < 0.1


def test_a_ghost_is_driven_through_as_if_nothing_were_there(driven):
    assert driven.get_hit("ghost") == driven.get_hit("nothing") == "nothing"
    position, ghost, nothing = driven.simulator.state.position, driven.cars["ghost"], driven.cars["nothing"]
    assert position[ghost, 0] > LANES["ghost"][0] + 0.5
    assert position[ghost, 0] == pytest.approx(position[nothing, 0], abs=1e-6)


def test_lidar_sees_own_props_that_have_a_body(path):
    lanes = Lanes(path)
    seen = {}
    for name, car in lanes.cars.items():
        lanes.simulator.configure_lidar(car, LEVEL)
        rows = lanes.simulator.scan_distances(car)
        seen[name] = float(rows[rows[:, 1] == 0.0, 0].min(initial=math.inf))
    for name in (*MASSES, "post"):
        assert seen[name] == pytest.approx(AHEAD - 0.1, abs=0.02)
    assert seen["ghost"] > 5.0


@pytest.mark.parametrize("name", ["light", "post", "ghost"])
def test_a_camera_sees_the_texture_of_an_own_prop(path, name):
    lanes = Lanes(path)
    camera = CameraSpec(width=64, height=48)
    x, y = LANES[name]
    picture = lanes.simulator.view(0, (x + 0.5, y, 0.1), (0.0, 0.0, math.pi), camera)
    red, green, blue = picture[24, 32].astype(int)
    assert green > 2 * max(red, blue)
    assert green > 80


def test_a_pushed_own_prop_comes_back_with_a_snapshot_and_runs_the_same_again(path):
    lanes = Lanes(path)
    before, start = lanes.simulator.snapshot(), lanes.simulator.state.prop_position.copy()
    lanes.drive(1.5)
    after = hash_state(lanes.simulator.state)
    assert np.abs(lanes.simulator.state.prop_position - start).max() > 0.1
    lanes.simulator.restore(before)
    assert lanes.simulator.state.prop_position.tobytes() == start.tobytes()
    lanes.drive(1.5)
    assert hash_state(lanes.simulator.state) == after
