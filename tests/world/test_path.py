"""Centre lines from scripts and points, and raised ground."""

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.world.path_frame import measure_length
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.tables.path import PathTable, Segment
from donkeysim.world.tracks.tables.road import RoadTable, WidthPoint
from donkeysim.world.tracks.terrain.ground import CellGrid, paint_road_cells, sample_height

ROAD = RoadTable(width_left=0.4, width_right=0.4)
OVAL = (Segment(straight=2.0), Segment(turn=180.0, radius=1.0)) * 2


def test_a_closing_script_is_kept_as_it_is():
    line = build_centre_line(PathTable(node_count=40, segments=OVAL), ROAD)
    assert line.length == pytest.approx(4.0 + 2.0 * np.pi)
    quarter, yaw = line.locate([2.0 + 0.5 * np.pi])
    assert quarter[0] == pytest.approx([3.0, 1.0])
    assert yaw == pytest.approx([0.5 * np.pi])


def test_a_nearly_closing_script_is_closed_by_small_changes():
    script = (Segment(straight=2.1), *OVAL[1:3], Segment(turn=176.0, radius=1.03))
    line = build_centre_line(PathTable(node_count=40, segments=script), ROAD)
    ends, yaw = line.locate([0.0, line.length - 1e-9])
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)
    assert yaw[1] - yaw[0] == pytest.approx(2.0 * np.pi, abs=1e-6)
    assert line.length == pytest.approx(4.1 + 2.0 * np.pi, rel=0.02)


def test_a_wanted_length_is_kept():
    line = build_centre_line(PathTable(node_count=40, segments=OVAL, length=10.5), ROAD)
    assert line.length == pytest.approx(10.5)


def test_an_open_script_does_not_close():
    with pytest.raises(SceneError, match=r"the segments of \[path\] end .* m from the start"):
        build_centre_line(PathTable(node_count=9, segments=OVAL[:3]), ROAD)
    line = build_centre_line(PathTable(node_count=9, segments=OVAL[:3], closed=False), ROAD)
    beyond, _ = line.locate([-1.0, line.length + 1.0])
    assert beyond[0] == pytest.approx([-1.0, 0.0])
    assert beyond[1, 0] == pytest.approx(-1.0, abs=1e-6)


def test_points_are_passed_by_a_smooth_closed_curve():
    angle = np.arange(12) * (2.0 * np.pi / 12)
    points = tuple((3.0 * float(np.cos(a)), 3.0 * float(np.sin(a))) for a in angle)
    line = build_centre_line(PathTable(node_count=60, points=points), ROAD)
    assert line.length == pytest.approx(6.0 * np.pi, rel=1e-3)
    assert line.curvature == pytest.approx(np.full(len(line.curvature), 1.0 / 3.0), rel=0.05)
    away = np.linalg.norm(line.position[:, None] - np.array(points)[None], axis=2).min(axis=0)
    assert away.max() < 0.01


def test_cells_know_where_they_lie_beside_the_path():
    line = build_centre_line(PathTable(node_count=40, segments=OVAL), ROAD)
    seen = []

    def check(cells):
        x, y = -2.0 + (cells.column + 0.5) * 0.02, -1.0 + (cells.row + 0.5) * 0.02
        right = x > 2.0
        expected = 1.0 - np.hypot(x - 2.0, y - 1.0)
        near = right & (np.abs(expected) < 0.5)
        assert cells.place.lateral[near] == pytest.approx(expected[near], abs=2e-4)
        bottom = (np.abs(x - 1.0) < 0.9) & (np.abs(y) < 0.5)
        assert cells.place.lateral[bottom] == pytest.approx(y[bottom], abs=2e-4)
        assert cells.place.along[bottom] == pytest.approx(x[bottom], abs=2e-4)
        seen.append(near.sum() + bottom.sum())

    paint_road_cells(line, CellGrid((-2.0, -1.0), 0.02, 200, 304), 0.5, check)
    assert sum(seen) > 5000


def test_the_edge_of_a_road_that_widens_has_no_steps():
    widths = (WidthPoint(0.0, 0.2, 0.2), WidthPoint(0.5, 0.9, 0.6))
    line = build_centre_line(PathTable(node_count=40, segments=OVAL), RoadTable(widths=widths))
    seen = []

    def check(cells):
        left, right = (
            np.interp(cells.place.along, line.distance, each) for each in (line.width_left, line.width_right)
        )
        assert cells.place.left == pytest.approx(left, abs=3e-3)
        assert cells.place.right == pytest.approx(right, abs=3e-3)
        seen.append(len(left))

    paint_road_cells(line, CellGrid((-2.0, -1.0), 0.02, 200, 304), 0.5, check)
    assert sum(seen) > 5000


HILL = """format = 1
name = "hill"
[path]
node_count = 60
segments = [{ straight = 4.0 }, { turn = 180.0, radius = 2.0 }, { straight = 4.0 }, { turn = 180.0, radius = 2.0 }]
[road]
width_left = 0.4
width_right = 0.4
[ground]
height = 0.1
elevation = [{ at = 0.0, height = 0.1 }, { at = 0.5, height = 0.8 }]
blend = 1.0
[start]
slots = 4
"""


@pytest.fixture(scope="module")
def hill(tmp_path_factory):
    path = tmp_path_factory.mktemp("tracks") / "hill.toml"
    path.write_text(HILL, encoding="utf-8")
    return load_scene(SceneSpec(str(path)))


def test_the_road_climbs_to_its_elevation(hill):
    height = sample_height(hill.ground, hill.path.position[:, :2])
    assert height[0] == pytest.approx(0.1, abs=0.03)
    assert height[30] == pytest.approx(0.8, abs=0.03)
    assert np.abs(np.diff(height)).max() < 0.06
    assert hill.path.position[:, 2] - height == pytest.approx(np.full(60, 0.0736))


def test_the_ground_is_level_far_from_a_hill(hill):
    border = np.concatenate((hill.ground.height[[0, -1]].ravel(), hill.ground.height[:, [0, -1]].ravel()))
    assert border == pytest.approx(np.full(len(border), 0.1))
    assert sample_height(hill.ground, np.array([(500.0, 500.0)])) == pytest.approx([0.1])


def test_the_picture_of_a_hill_is_its_height_field(hill):
    vertex = hill.static.vertex[hill.static.triangle[hill.static.material == hill.static.material[0]]].reshape(-1, 3)
    assert vertex[:, 2] == pytest.approx(sample_height(hill.ground, vertex[:, :2].astype(float)), abs=1e-5)
    assert len(vertex) > 1000


def test_the_shortest_line_of_very_many_nodes_takes_no_more_gates_than_it_needs(tmp_path):
    path, shortest = tmp_path / "hill.toml", {}
    for node_count in (1000, 8000):
        path.write_text(HILL.replace("node_count = 60", f"node_count = {node_count}"), encoding="utf-8")
        shortest[node_count] = load_scene(SceneSpec(str(path))).path.shortest
    assert {count: len(line) for count, line in shortest.items()} == {1000: 1000, 8000: 4000}
    lengths = [measure_length(np.vstack((line, line[:1])))[-1] for line in shortest.values()]
    assert lengths[1] == pytest.approx(lengths[0], rel=5e-3)


def test_widths_follow_the_path():
    road = RoadTable(widths=(WidthPoint(0.0, 0.3, 0.4), WidthPoint(0.5, 0.6, 0.2)))
    line = build_centre_line(PathTable(node_count=40, segments=OVAL), road)
    left, right = line.measure_widths([0.0, 0.25 * line.length, 0.5 * line.length])
    assert left == pytest.approx([0.3, 0.45, 0.6], abs=2e-3)
    assert right == pytest.approx([0.4, 0.3, 0.2], abs=2e-3)
    assert line.widest == pytest.approx(0.6, abs=1e-6)


def test_a_road_without_widths_is_refused():
    with pytest.raises(SceneError, match="no width"):
        build_centre_line(PathTable(node_count=40, segments=OVAL), RoadTable())
