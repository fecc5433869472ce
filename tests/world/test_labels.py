"""What can be hit has two names: what it is called, and what the original calls it; and what nobody sees is hit too."""

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.racing.rules.course import survey_course
from donkeysim.sim.simulator import Simulator
from donkeysim.world.scene import COLLIDER_CYLINDER
from donkeysim.world.specs import LidarSpec, SceneSpec, WorldSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.figures import measure_scene

TRACK = """format = 1
name = "names"
[path]
segments = [
    {{ straight = 6.0 }}, {{ turn = 180.0, radius = 2.0 }}, {{ straight = 6.0 }}, {{ turn = 180.0, radius = 2.0 }}
]
[road]
width_left = 0.4
width_right = 0.4
[start]
lines = [0.5]
slots = 2
{more}
"""

EVERYTHING = """
[[props]]
kind = "tall_cone"
places = [[2.0, -0.8]]
hit = "Line01"
fixed = true
[[props]]
kind = "cone"
places = [[3.0, -0.8], [3.5, -0.8]]
hit = "cone"
[[props]]
kind = "cone"
places = [[5.0, -0.8]]
hit = "CircuitLaunchCone"
[[props]]
kind = "person"
places = [[5.0, -1.8]]
hit = "dude_walking"
[[walls]]
kind = "guard_rail"
side = "left"
hit = "RepeatObjectAlong"
[[walls]]
kind = "fence"
points = [[0.0, -3.0], [6.0, -3.0]]
hit = "RepeatObjectAlong"
[[walls]]
kind = "invisible"
points = [[-1.0, -2.5], [7.0, -2.5]]
hit = "CollisionPerimeter (1)"
[[blocks]]
kind = "plain"
places = [[1.0, -1.5]]
size = [0.2, 0.3, 0.4]
hit = "backside"
[[blocks]]
kind = "crate"
places = [[0.0, -1.5]]
[room]
box = [-5.0, -5.0, 11.0, 9.0]
hits = { north = "Plane (3)", east = "Plane" }
"""


def write(folder, more):
    path = folder / "names.toml"
    path.write_text(TRACK.format(more=more), encoding="utf-8")
    return SceneSpec(str(path))


def load(folder, more):
    return load_scene(write(folder, more))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return write(tmp_path_factory.mktemp("names"), EVERYTHING)


def test_every_collider_has_both_names(place):
    scene = load_scene(place)
    assert len(scene.labels) == len(scene.hit_names)
    assert (scene.labels[0], scene.hit_names[0]) == ("terrain", "terrain")
    still = {(scene.labels[code], scene.hit_names[code]) for code in scene.colliders.name.tolist()}
    assert still == {
        ("cone", "Line01"),
        ("person", "dude_walking"),
        ("guard_rail", "RepeatObjectAlong"),
        ("fence", "RepeatObjectAlong"),
        ("wall", "CollisionPerimeter (1)"),
        ("block", "backside"),
        ("crate", "crate"),
        ("wall", "Plane (3)"),
        ("wall", "Plane"),
        ("wall", "wall"),
    }
    moved = [(scene.labels[code], scene.hit_names[code]) for code in scene.props.name.tolist()]
    assert moved == [("cone", "cone"), ("cone", "cone"), ("cone", "CircuitLaunchCone")]


def test_our_own_words_are_the_labels(place):
    scene = load_scene(place)
    assert survey_course(scene).labels == scene.labels
    figures = measure_scene(scene)
    assert (figures.standing["cone"], figures.movable) == (1, {"cone": 3})
    assert figures.standing["wall"] >= 5


def test_a_fixed_cone_is_an_upright_cylinder(place):
    scene = load_scene(place)
    (row,) = np.flatnonzero(scene.colliders.name == scene.hit_names.index("Line01"))
    assert scene.colliders.kind[row] == COLLIDER_CYLINDER
    assert scene.colliders.centre[row] == pytest.approx((2.0, -0.8, 0.5 * 0.4125))
    assert scene.colliders.half_size[row] == pytest.approx((0.1125, 0.1125, 0.5 * 0.4125))
    assert scene.colliders.friction[row] == pytest.approx(0.6)


def run_into(place, x, y):
    """Drive against what stands at (x, y); return what the wire says, and what we call it."""
    simulator = Simulator(WorldSpec(place))
    car = simulator.add_car()
    simulator.place_car(car, (x - 0.5, y, 0.0736), (1.0, 0.0, 0.0, 0.0))
    simulator.drive_car(car, 0.0, 0.6, 0.0)
    for _ in range(40):
        simulator.step(24)
        if simulator.ledger.hit[car] >= 0:
            break
    code = int(simulator.ledger.hit[car])
    told = simulator.observe_telemetry(car).hit, simulator.name_hit(car, code)
    moved = np.linalg.norm(simulator.get_props(car)[:, :2] - simulator.scene.props.position[:, :2], axis=1).max(
        initial=0.0
    )
    simulator.close()
    return *told, float(moved)


@pytest.mark.parametrize(("x", "names"), [(2.0, ("Line01", "cone")), (5.0, ("CircuitLaunchCone", "cone"))])
def test_a_hit_is_told_in_the_originals_words_and_in_ours(place, x, names):
    assert run_into(place, x, -0.8)[:2] == names


def test_what_is_fixed_is_not_pushed(place):
    assert run_into(place, 2.0, -0.8)[2] == 0.0


BOXES = '[[blocks]]\nkind = "{kind}"\nplaces = [[2.0, -1.6]]\nsize = [0.4, 0.6, 0.5]\nbase = {base}\nhit = "Board"\n'


@pytest.mark.parametrize("kind", ["plain", "invisible"])
@pytest.mark.parametrize(("base", "is_hit"), [(0.0, True), (0.6, False)])
def test_a_box_is_where_its_base_says(tmp_path, kind, base, is_hit):
    """A car drives under it, and the lidar, which looks level, sees it only where it stands in its way."""
    place = write(tmp_path, BOXES.format(kind=kind, base=base))
    scene = load_scene(place)
    (centre,) = scene.colliders.centre
    assert centre == pytest.approx((2.0, -1.6, base + 0.25))
    assert run_into(place, 1.8, -1.6)[0] == ("Board" if is_hit else "none")
    simulator = Simulator(WorldSpec(place))
    car = simulator.add_car()
    simulator.place_car(car, (1.0, -1.6, 0.0736), (1.0, 0.0, 0.0, 0.0))
    simulator.configure_lidar(car, LidarSpec(max_range=3.0, noise=0.0))
    ahead = [row[0] for row in simulator.scan_distances(car) if row[1] == 0]
    assert (len(ahead) == 1) == is_hit
    simulator.close()


def test_a_plain_box_is_seen_and_an_invisible_one_is_not(tmp_path):
    count = {
        kind: len(load(tmp_path, BOXES.format(kind=kind, base=0.0)).static.triangle) for kind in ("plain", "invisible")
    }
    assert count["plain"] == count["invisible"] + 12
    pictured = load(tmp_path, BOXES.format(kind="plain", base=1.0) + 'picture = "bricks"\n')
    assert len(pictured.static.triangle) == count["plain"]


def test_an_invisible_wall_shows_and_darkens_nothing(tmp_path):
    wall = '[[walls]]\nkind = "invisible"\npoints = [[0.0, -2.0], [3.0, -2.0]]\n'
    bare, walled = load(tmp_path, ""), load(tmp_path, wall)
    assert len(walled.static.triangle) == len(bare.static.triangle)
    assert all(np.array_equal(a, b) for a, b in zip(walled.textures, bare.textures, strict=True))
    assert walled.colliders.half_size[0, 2] > 0.25


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ('[[props]]\nkind = "tree"\nplaces = [[2.0, -2.0]]\nfixed = true\n', r"\(tree\) never moves; leave fixed out"),
        ('[[props]]\nmodel = "x.glb"\nplaces = [[2.0, -2.0]]\nfixed = true\n', r"fixed is for a kind that moves"),
        ('[[props]]\nkind = "cone"\nplaces = [[2.0, -2.0]]\nmass = 2.0\n', r"mass, hull and ghost are for a prop with"),
        ('[[blocks]]\nkind = "crate"\nplaces = [[2.0, -2.0]]\npicture = "bricks"\n', r"picture is for kind = 'plain'"),
        (BOXES.format(kind="plain", base=0.0) + 'picture = "nowhere"\n', r"there is no picture 'nowhere'"),
        (BOXES.format(kind="plain", base=200.0), r"base is 200"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, more, sentence):
    with pytest.raises(SceneError, match=sentence):
        load(tmp_path, more)
