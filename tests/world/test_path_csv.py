"""Paths from lists of points: the racetrack database's format, and what is wrong with a file that is not it."""

from pathlib import Path

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks.catalogue import load_scene
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.paths.path_csv import read_points
from donkeysim.world.tracks.paths.raw_path import POINTS_MOST
from donkeysim.world.tracks.tables.path import PathTable
from donkeysim.world.tracks.tables.road import RoadTable
from donkeysim.world.tracks.track_check import read_line

HEADER = "# x_m,y_m,w_tr_right_m,w_tr_left_m\n"
ANGLE = np.arange(40) * (2.0 * np.pi / 40)
CIRCLE = np.column_stack((100.0 * np.sin(ANGLE), 100.0 - 100.0 * np.cos(ANGLE)))


def write_rows(rows, separator=","):
    return "".join(separator.join(f"{value:.6f}" for value in row) + "\n" for row in rows)


@pytest.fixture
def draw(tmp_path):
    """Draw the line of a CSV with these rows and this [path]."""

    def draw_line(text, road=None, **path):
        (tmp_path / "ring.csv").write_text(text, encoding="utf-8")
        table = PathTable(file=str(tmp_path / "ring.csv"), **path)
        return build_centre_line(table, road or RoadTable(0.5, 0.5))

    return draw_line


def test_a_circuit_is_scaled_to_the_cars_world_with_its_widths(draw):
    rows = np.column_stack((CIRCLE, np.full(40, 4.0), 5.0 + np.sin(ANGLE)))
    line = draw(HEADER + write_rows(rows), RoadTable(), scale=0.05)
    assert line.length == pytest.approx(10.0 * np.pi, rel=1e-4)
    assert line.curvature == pytest.approx(np.full(len(line.curvature), 0.2), rel=0.01)
    assert line.width_right == pytest.approx(np.full(len(line.distance), 0.2))
    quarter, _ = line.measure_widths([0.25 * line.length])
    assert quarter[0] == pytest.approx(0.3, rel=0.01)


def test_the_file_is_turned_and_moved_so_that_the_path_begins_at_start(draw):
    line = draw(write_rows(CIRCLE + 5_000_000.0), scale=0.05, start=(3.0, -2.0), yaw=90.0)
    position, yaw = line.locate([0.0, 0.5 * line.length])
    assert position == pytest.approx(np.array([(3.0, -2.0), (-7.0, -2.0)]), abs=1e-3)
    assert yaw[0] == pytest.approx(0.5 * np.pi, abs=0.01)


def test_a_wanted_length_overrules_the_scale(draw):
    assert draw(write_rows(CIRCLE), length=20.0).length == pytest.approx(20.0)
    assert draw(write_rows(CIRCLE), length=20.0, smooth=0.3).length == pytest.approx(20.0)


def test_the_other_way_round_swaps_direction_and_sides(draw):
    rows = np.column_stack((CIRCLE, np.full(40, 4.0), np.full(40, 6.0)))
    ahead = draw(write_rows(rows), RoadTable(), scale=0.05)
    back = draw(write_rows(rows), RoadTable(), scale=0.05, reverse=True)
    assert back.locate([1.0])[0] == pytest.approx(ahead.locate([-1.0])[0], abs=1e-3)
    assert (back.width_left[0], back.width_right[0]) == pytest.approx((0.2, 0.3))


def test_an_open_path_ends_at_its_last_point(draw):
    line = draw("0,0\n10,0\n20,5\n", closed=False, scale=0.1)
    assert line.locate([line.length])[0][0] == pytest.approx([2.0, 0.5], abs=1e-3)
    assert not line.closed


def test_points_that_repeat_are_left_out(draw):
    twice = np.vstack((np.repeat(CIRCLE, 3, axis=0), CIRCLE[:1]))
    line = draw(write_rows(twice), scale=0.05)
    assert line.length == pytest.approx(10.0 * np.pi, rel=1e-4)


def test_corners_are_rounded_by_smooth(draw):
    side = np.arange(40) * 0.1
    corners = [(side, 0 * side), (4.0 + 0 * side, side), (4.0 - side, 4.0 + 0 * side), (0 * side, 4.0 - side)]
    square = write_rows(np.vstack([np.column_stack(pair) for pair in corners]))
    sharp, round_ = draw(square), draw(square, smooth=0.3)
    assert abs(sharp.curvature).max() > 10.0
    assert 1.0 / abs(round_.curvature).max() == pytest.approx(0.3, rel=0.1)


def test_an_eight_may_cross_itself(draw):
    eight = np.column_stack((3.0 * np.sin(ANGLE), 1.5 * np.sin(2.0 * ANGLE)))
    line = draw(write_rows(eight))
    assert line.yaw[-1] - line.yaw[0] == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", ", "])
def test_columns_are_separated_in_any_usual_way(separator):
    raw = read_points("﻿x y".replace(" ", separator).lstrip("﻿") + "\n" + write_rows(CIRCLE, separator), "ring.csv")
    assert raw.position == pytest.approx(CIRCLE, abs=1e-5)
    assert raw.width is None


def test_named_columns_may_stand_in_any_order_among_others():
    raw = read_points("# s_m; w_tr_left_m; y_m; x_m; w_tr_right_m\n0; 6; 2; 1; 4\n1; 6; 3; 1; 4\n", "ring.csv")
    assert raw.position.tolist() == [[1.0, 2.0], [1.0, 3.0]]
    assert raw.width.tolist() == [[6.0, 4.0]] * 2


HOSTILE = [
    ("", r"ring\.csv has no point; a row is x_m,y_m,"),
    (HEADER, r"has no point"),
    ("0,0\n1,2,3\n", r"line 2: 3 columns; a row is x,y or x_m,y_m,w_tr_right_m,w_tr_left_m"),
    ("0,0\n1,2,3,4\n", r"line 2: 4 columns, but the rows before have 2"),
    (HEADER + "0,0,1,1\n1,1\n", r"line 3: 2 columns, but the first row names 4"),
    ("x_m,z_m\n0,0\n", r"line 1: the columns are x_m, z_m; y_m is missing"),
    ("# x_m,y_m,w_tr_left_m\n0,0,1\n", r"w_tr_right_m is missing"),
    ("0,0\nnan,1\n2,2\n", r"line 2: x_m is 'nan'; it takes a number"),
    ("0,0\n1,inf\n2,2\n", r"line 2: y_m is 'inf'"),
    ("0,0\n1,1e300\n2,2\n", r"line 2: y_m is '1e300'"),
    ("0;0\n1,5;2\n", r"line 2: x_m is '1,5'; it takes a number .* with a point"),
    ("0,0\n1_0,2\n", r"line 2: x_m is '1_0'"),
    (HEADER + "0,0,1,1\n1,1,0,1\n", r"line 3: w_tr_right_m is 0; .* above 0"),
    ("0,0\n", r"has 1 point that lie.* 0\.05 m"),
    ("1,1\n" * 9, r"has 1 point that"),
    ("0,0\n0.001,0\n0,0.001\n", r"larger scale, or length"),
    ("0,0\n1,0\n", r"has 2 points .* it takes 3 or more"),
    ("0,0\n9000,0\n0,9000\n", r"the path is \d+ m long; scenes are built for up to 5000 m, so give \[path\] a smaller"),
    ("0,0\n" * (POINTS_MOST + 1), r"more than 100000 points"),
    ("\x00\x01", r"ring\.csv has no point"),
    ("0,0\n\x00\x01\n", r"line 2: 1 column; a row is"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), HOSTILE, ids=[sentence[:40] for _, sentence in HOSTILE])
def test_a_broken_list_gets_one_sentence_with_its_line(draw, text, sentence):
    with pytest.raises(SceneError, match=sentence) as caught:
        draw(text)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_or_too_long_is_refused(draw, tmp_path, monkeypatch):
    monkeypatch.setattr("donkeysim.world.tracks.paths.path_file.LONGEST_FILE", 10)
    with pytest.raises(SceneError, match="longer than"):
        draw("0,0\n1,0\n1,1\n")
    (tmp_path / "ring.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SceneError, match="not a text in UTF-8"):
        build_centre_line(PathTable(file=str(tmp_path / "ring.csv")), RoadTable(0.5, 0.5))


ROAD = "[road]\nwidth_left = 0.5\nwidth_right = 0.5\n"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ('file = "rinq.csv"', r"line 4: there is no file 'rinq\.csv' in .*; did you mean 'ring\.csv'\?"),
        ('file = "ring.txt"', r"line 4: path\.file is 'ring\.txt'; it takes a file that ends with \.csv or \.svg"),
        ("points = [\n[0, 0],\n[1, 0],\n[1, 0],\n]", r"line 7: points 1 and 2 of \[path\] are the same"),
        (
            "closed = false\npoints = [[0, 0], [1, 0], [0, 0], [1, 0], [0.5, 0]]",
            r"line 3: the path turns back on itself",
        ),
    ],
)
def test_a_track_file_with_an_impossible_path_gets_one_sentence_with_the_line(tmp_path, path, sentence):
    (tmp_path / "ring.csv").write_text("0,0\n", encoding="utf-8")
    track = tmp_path / "ring.toml"
    track.write_text(f'format = 1\nname = "ring"\n[path]\n{path}\n{ROAD}', encoding="utf-8")
    with pytest.raises(SceneError, match=r"ring\.toml, " + sentence):
        read_line(track)


def test_a_file_says_how_wide_the_road_is_or_the_track_must(draw):
    with pytest.raises(SceneError, match=r"\[road\] has no width"):
        draw(write_rows(CIRCLE), RoadTable(), scale=0.05)


def test_the_examples_are_circuits_in_points_of_five_metres_and_eight_to_fifteen_wide():
    files = sorted(Path("examples/tracks").glob("*.csv"))
    assert len(files) >= 5
    for file in files:
        raw = read_points(file.read_text(encoding="utf-8"), str(file))
        gap = np.hypot(*np.diff(np.vstack((raw.position, raw.position[:1])), axis=0).T)
        assert 4.0 < gap.min() < gap.max() < 5.5
        assert 8.0 <= raw.width.sum(axis=1).min() < raw.width.sum(axis=1).max() <= 15.0


@pytest.mark.original(
    "Programs and other files", "recorded paths (`x, y, throttle`)", "are tracks; the throttle is passed over"
)
def test_a_path_that_a_car_of_the_original_recorded_keeps_its_size(tmp_path):
    turn = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    rows = [f"{3.0 * np.cos(angle):f}, {2.0 * np.sin(angle):f}, {0.25:f}" for angle in turn]
    for name, text in (("three", "\n".join(rows)), ("two", "\n".join(row.rsplit(",", 1)[0] for row in rows))):
        (tmp_path / f"{name}.csv").write_text(text)
        scene = load_scene(SceneSpec(str(tmp_path / f"{name}.csv")))
        assert scene.path.closed
        assert scene.path.frame.length == pytest.approx(15.87, abs=0.1)
    far = "\n".join(f"{20 * np.cos(angle):f}, {16 * np.sin(angle):f}, 0.25" for angle in turn)
    large = "\n".join(f"{200 * np.cos(a):f},{150 * np.sin(a):f}" for a in turn)
    for name, text, length in (("far", far, 113.4), ("large", large, 110.5)):
        (tmp_path / f"{name}.csv").write_text(text)
        assert read_line(tmp_path / f"{name}.csv")[1].length == pytest.approx(length, abs=1.0)
