"""Paths whose nodes are the points of their file, heights of a file, and the pose of the first car."""

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.tables.path import PathTable
from donkeysim.world.tracks.tables.road import RoadTable
from donkeysim.world.tracks.terrain.ground import sample_height

ANGLE = np.sort(np.random.default_rng(3).uniform(0.0, 2.0 * np.pi, 12)) * 0.3 + np.arange(12) * (2.0 * np.pi / 12) * 0.7
RING = np.column_stack((4.0 * np.cos(ANGLE), 3.0 * np.sin(ANGLE)))
"""Points at uneven distances."""
HEIGHT = 0.3 + 0.25 * np.sin(ANGLE)
STAIR = [(0, 0), (1, 0), (1.1, 0.1), (2, 0.1), (3, 0.1), (4, 0.1)]
"""A straight with a short step aside."""

TRACK = """format = 1
name = "ring"
[path]
file = "ring.csv"
nodes = "points"
start = [{start}]
{path}
[road]
width_left = 0.4
width_right = 0.4
[start]
slots = 6
columns = [-0.1, 0.15]
{grid}
"""


def write_rows(columns, rows):
    return f"# a comment, with commas\n{columns}\n" + "".join(",".join(f"{v:.6f}" for v in row) + "\n" for row in rows)


@pytest.fixture
def load(tmp_path):
    """Load the scene of a list of points with these further lines in [path] and [start]."""

    def load_ring(rows=RING, columns="x_m,y_m", path="", grid=""):
        rows = np.asarray(rows, float)
        (tmp_path / "ring.csv").write_text(write_rows(columns, rows), encoding="utf-8")
        start = f"{rows[0, 0]:.6f}, {rows[0, 1]:.6f}"
        (tmp_path / "ring.toml").write_text(TRACK.format(start=start, path=path, grid=grid), encoding="utf-8")
        return load_scene(SceneSpec(str(tmp_path / "ring.toml")))

    return load_ring


def test_nodes_are_the_very_points_in_their_order(load):
    scene = load()
    assert scene.path.position[:, :2] == pytest.approx(RING, abs=1e-6)
    assert scene.path.middle == pytest.approx(RING, abs=1e-4)


def test_points_in_the_track_file_may_be_nodes_too():
    table = PathTable(nodes="points", points=tuple((float(x), float(y)) for x, y in RING))
    line = build_centre_line(table, RoadTable(0.3, 0.3))
    assert line.nodes.position == pytest.approx(RING)
    assert line.locate(line.nodes.distance)[0] == pytest.approx(RING, abs=1e-4)
    assert np.all(np.diff(line.nodes.distance) > 0.0)


def test_a_reversed_path_begins_at_the_same_node(load):
    scene = load(path="reverse = true")
    assert scene.path.position[:, :2] == pytest.approx(np.roll(RING[::-1], 1, axis=0), abs=1e-6)


@pytest.mark.parametrize("closed", [True, False])
def test_smooth_rounds_the_road_and_leaves_the_nodes(closed):
    points = [(x, float(y)) for x, y in STAIR] + [(4.0, 4.0), (0.0, 4.0)] * closed
    lines = [
        build_centre_line(
            PathTable(nodes="points", points=tuple(points), closed=closed, smooth=smooth), RoadTable(0.3, 0.3)
        )
        for smooth in (0.0, 0.3)
    ]
    sharp, rounded = (np.abs(line.curvature[:220]).max() for line in lines)
    assert rounded < 0.5 * sharp
    assert lines[1].nodes.position == pytest.approx(np.array(points))
    away = np.linalg.norm(lines[1].locate(lines[1].nodes.distance)[0] - np.array(points), axis=1)
    assert 0.005 < away[1:3].max() < 0.05


@pytest.mark.parametrize("radius", [0.1, 0.2])
def test_smooth_is_the_radius_of_a_right_angled_corner(radius):
    side = np.arange(0.05, 3.0, 0.05)
    corner = np.vstack((np.column_stack((side - 3.0, 0.0 * side)), [(0.0, 0.0)], np.column_stack((0.0 * side, side))))
    table = PathTable(nodes="points", points=tuple(map(tuple, corner.tolist())), closed=False, smooth=radius)
    line = build_centre_line(table, RoadTable(0.05, 0.05))
    assert 1.0 / line.curvature.max() == pytest.approx(radius, rel=0.25)


def test_heights_of_the_file_are_the_grounds(load):
    scene = load(np.column_stack((RING, HEIGHT)), "x_m,y_m,z_m")
    ground = sample_height(scene.ground, scene.path.position[:, :2])
    assert ground == pytest.approx(HEIGHT, abs=0.02)
    assert np.ptp(scene.path.position[:, 2] - ground) < 1e-9


def test_elevation_wins_over_the_heights_of_the_file(load):
    text = "slots = 6\n[ground]\nelevation = [{ at = 0.0, height = 0.5 }]"
    scene = load(np.column_stack((RING, HEIGHT)), "x_m,y_m,z_m", grid=text.removeprefix("slots = 6"))
    assert sample_height(scene.ground, RING) == pytest.approx(np.full(12, 0.5), abs=0.01)


def test_heights_are_scaled_and_thinned_with_their_points(tmp_path):
    rows = np.column_stack((np.repeat(RING, 2, axis=0), np.repeat(HEIGHT, 2))) * 10.0
    (tmp_path / "ring.csv").write_text(write_rows("x_m,y_m,z_m", rows), encoding="utf-8")
    table = PathTable(file=str(tmp_path / "ring.csv"), scale=0.1, start=(RING[0, 0], RING[0, 1]))
    line = build_centre_line(table, RoadTable(0.3, 0.3))
    at = [line.find_along(point) for point in RING]
    assert np.interp(at, line.distance, line.height, period=line.length) == pytest.approx(HEIGHT, abs=1e-3)
    assert line.nodes is None


def test_the_first_car_stands_at_its_pose_and_the_grid_behind_it(load):
    plain = load()
    x, y = RING[0] + (-0.05, 0.02)
    scene = load(grid=f"pose = [{x}, {y}, 100.0]")
    assert scene.start.position[0, :2] == pytest.approx((x, y))
    assert scene.start.yaw[:2] == pytest.approx(np.radians([100.0, 100.0]))
    beside = scene.start.position[1, :2] - (x, y)
    assert beside == pytest.approx(0.25 * np.array((-np.sin(scene.start.yaw[0]), np.cos(scene.start.yaw[0]))))
    assert scene.start.position[2:, :2] == pytest.approx(plain.start.position[2:, :2], abs=0.06)
    assert scene.start.yaw[2:] == pytest.approx(plain.start.yaw[2:], abs=0.05)


BESIDE = np.vstack((RING, RING[-1:] + 0.00005))
HIGH = {"rows": np.column_stack((RING, HEIGHT + 400.0)), "columns": "x_m,y_m,z_m"}
MORE = {"rows": np.column_stack((RING, HEIGHT, HEIGHT)), "columns": "x_m,y_m,z_m"}

HOSTILE = [
    ({"path": "node_count = 12"}, r"with nodes = 'points' the points say count and length"),
    ({"path": "length = 20.0"}, r"leave node_count and length out"),
    ({"rows": BESIDE}, r"7.*e-05 m between point 11 \(from 0\) and point 12; .* 0\.0001 m or more"),
    ({"rows": np.vstack((RING, RING[:1]))}, r"between point 12 \(from 0\) and the first again"),
    ({"rows": RING[:2]}, r"has 2 points; it takes 3 or more"),
    (HIGH, r"up to 400\.\d+ m high; z_m lies within 100 m of 0"),
    (MORE, r"line 3: 4 columns, but .* names 3"),
    ({"grid": "pose = [1.0, 2.0]"}, r"line 14: .*pose is \[1\.0, 2\.0\]; the first car stands at \[x, y"),
    ({"grid": "pose = [0.0, 0.0, 0.0]"}, r"line 14: .* first car at \(0\.00, 0\.00\), which lies beside"),
]


@pytest.mark.parametrize(("change", "sentence"), HOSTILE, ids=[sentence[:40] for _, sentence in HOSTILE])
def test_what_cannot_be_gets_one_sentence(load, change, sentence):
    with pytest.raises(SceneError, match=sentence) as caught:
        load(**change)
    assert "\n" not in str(caught.value)


def test_a_drawing_has_no_points_to_be_nodes():
    with pytest.raises(ValueError, match=r"is for a path with a \.csv file or points"):
        PathTable(file="ring.svg", nodes="points")
