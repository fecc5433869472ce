"""mini_monaco, thunderhill and mountain_track: what their walls, grounds and roads are, beside what the places show."""

import tomllib

import numpy as np
import pytest

from donkeysim.core.frames import position_to_units
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import CLASS_LINE
from donkeysim.world.specs import SceneSpec, WorldSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.terrain.ground import sample_height

U = 1.0 / 8.0


@pytest.fixture(scope="module")
def mountain():
    return load_scene(SceneSpec("mountain_track"))


def read_table(name):
    return tomllib.loads(find_track(SceneSpec(name)).read_text(encoding="utf-8"))


def measure_walls(scene, hit):
    """Return the middles of all colliders with a name, seen from above [m]."""
    names = np.array(scene.hit_names)
    return scene.colliders.centre[names[scene.colliders.name] == hit][:, :2]


@pytest.mark.parametrize(("name", "offset"), [("mini_monaco", 6.0), ("thunderhill", 10.0)])
def test_fences_run_on_both_sides_all_along(name, offset):
    scene = load_scene(SceneSpec(name))
    frame, middle = scene.path.frame, scene.path.middle
    ahead = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    left = np.column_stack((-ahead[:, 1], ahead[:, 0])) / np.linalg.norm(ahead, axis=1)[:, None]
    walls = measure_walls(scene, "RepeatObjectAlong")
    assert len(walls) < 3.0 * frame.length, "few of them, however long the way"
    away = np.linalg.norm(walls[:, None] - middle, axis=2)
    assert np.median(away.min(axis=1)) / U == pytest.approx(offset, abs=0.4)
    nearest = away.argmin(axis=1)
    side = ((walls - middle[nearest]) * left[nearest]).sum(axis=1)
    assert 0.3 < np.mean(side > 0.0) < 0.7


def test_cones_of_mini_monaco_stand_where_the_originals_do():
    scene = load_scene(SceneSpec("mini_monaco"))
    cones = measure_walls(scene, "Line01")
    units = [position_to_units((x, y, 0.0))[::2] for x, y in cones]
    assert sorted(units) == [
        pytest.approx(place, abs=0.01) for place in ((-43.947, -50.115), (-40.788, 6.845), (-38.689, -107.653))
    ]


def test_mountain_track_is_banked_as_the_originals(mountain):
    file = find_track(SceneSpec("mountain_track")).parent / "lines" / "mountain_track.csv"
    rows = [line.split(",") for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    table = np.array(rows, float)
    node, right, left = table[:, :2], table[:, 2], table[:, 3]
    ahead = np.roll(node, -1, axis=0) - np.roll(node, 1, axis=0)
    aside = np.column_stack((-ahead[:, 1], ahead[:, 0])) / np.linalg.norm(ahead, axis=1)[:, None]
    for width, known in ((np.zeros(len(node)), table[:, 4]), (0.8 * left, None), (-0.8 * right, None)):
        found = sample_height(mountain.ground, node + width[:, None] * aside)
        if known is None:
            edge = table[:, 6] if width[0] > 0.0 else table[:, 5]
            known = table[:, 4] + 0.8 * (edge - table[:, 4])
        assert np.median(np.abs(found - known)) < 0.012
        assert np.mean(np.abs(found - known) < 0.06) > 0.9


def test_mountain_tracks_road_has_no_steps(mountain):
    """Where the left edge jumped by half a metre, cars that drove 0.2 m beside the path stood still before 5 cm."""
    node = mountain.path.position[:, :2]
    ahead = np.roll(node, -1, axis=0) - np.roll(node, 1, axis=0)
    left = np.column_stack((-ahead[:, 1], ahead[:, 0])) / np.linalg.norm(ahead, axis=1)[:, None]
    for aside in (-0.3, -0.2, 0.0, 0.2, 0.3):
        place = node + aside * left
        height = sample_height(mountain.ground, place)
        rise = np.abs(np.roll(height, -1) - height) / np.linalg.norm(np.roll(place, -1, axis=0) - place, axis=1)
        assert rise.max() < 0.2, f"{rise.max():.2f} at {aside} m, {node[rise.argmax()]}"


def test_trees_of_mountain_track_stand_as_high_as_the_originals(mountain):
    points = np.array(read_table("mountain_track")["ground"]["points"][:94])
    beside = np.linalg.norm(points[:, None, :2] - mountain.path.position[::2, :2], axis=2).min(axis=1) > 3.4
    found = sample_height(mountain.ground, points[beside, :2])
    assert np.quantile(np.abs(found - points[beside, 2]), 0.9) < 0.1


def test_lines_of_a_stretched_road_are_shares_of_its_width(mountain):
    """From the yellow line to both white ones it is as far as to the walls, times shares."""
    (classes,) = mountain.class_maps
    assert 0.004 < np.mean(classes == CLASS_LINE) < 0.05
    road = read_table("mountain_track")["road"]
    assert road["stretched"]
    assert [marking["offset"] for marking in road["markings"]] == pytest.approx([0.79, 0.0, -0.8], abs=0.01)


def test_a_car_that_runs_into_a_wall_of_mountain_track_is_told_its_name():
    simulator = Simulator(WorldSpec(SceneSpec("mountain_track")))
    car = simulator.add_car()
    told = set()
    for steer in (-1.0, 1.0):
        simulator.reset_car(car)
        simulator.drive_car(car, steer, 0.4, 0.0)
        for _ in range(200):
            simulator.step(24)
            told.add(simulator.observe_telemetry(car).hit)
    simulator.close()
    assert told & {"nurbsToPoly2", "nurbsToPoly3"}
