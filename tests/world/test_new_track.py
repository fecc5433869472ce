"""A new track loads at once and teaches the format; one from a file is made drivable."""

from pathlib import Path

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import RoadSpec, SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.catalogue import find_tracks
from donkeysim.world.tracks.figures import measure_line, measure_scene
from donkeysim.world.tracks.new_track import write_new_track, write_random_track
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.track_file import read_track

LINES = '<path id="lap" d="M 10 10 H 90 V 60 H 10 Z"/><path id="b" d="M0 0L9 9"/>'
SQUARE = f'<svg xmlns="http://www.w3.org/2000/svg">{LINES}</svg>'


def measure(path):
    track = read_track(path)
    return measure_line(track, build_centre_line(track.path, track.road))


def test_a_new_track_loads_and_every_line_of_it_is_told_about(tmp_path):
    path = write_new_track("mine", tmp_path / "place")
    scene = load_scene(SceneSpec(str(path)))
    assert scene.name == "mine"
    figures = measure_scene(scene)
    assert figures.standing["tree"] == 12
    assert figures.start_lines == 1
    text = path.read_text(encoding="utf-8")
    for table in ("[path]", "[road]", "[ground]", "[[props]]", "[start]", "[light]"):
        assert f"\n{table}" in text
    assert "donkey tracks" in text


def test_a_full_size_circuit_is_scaled_to_a_road_of_about_a_metre(tmp_path):
    path = write_new_track("lark", tmp_path, Path("examples/tracks/larkmoor.csv"))
    assert (tmp_path / "larkmoor.csv").is_file()
    figures = measure(path)
    assert 0.7 < figures.width[0] < figures.width[1] < 1.2
    assert figures.direction == "counter-clockwise"


def test_a_drawing_with_corners_is_rounded_until_it_can_be_driven(tmp_path):
    (tmp_path / "yard.svg").write_text(SQUARE, encoding="utf-8")
    path = write_new_track("yard", tmp_path, tmp_path / "yard.svg", "lap")
    figures = measure(path)
    assert figures.length == pytest.approx(30.0)
    assert min(figures.radius_left, figures.radius_right) > 0.5
    assert 'element = "lap"' in path.read_text(encoding="utf-8")
    assert figures.direction == "clockwise"


def test_a_small_open_list_of_points_keeps_its_size(tmp_path):
    (tmp_path / "walk.csv").write_text("0,0\n2,0\n4,1\n", encoding="utf-8")
    figures = measure(write_new_track("walk", tmp_path, tmp_path / "walk.csv"))
    assert figures.direction == "one way"
    assert figures.length == pytest.approx(4.3, abs=0.1)


@pytest.mark.parametrize("name", ["", "../up", "a b", "a/b", ".hidden", "x" * 99, "tr\nack"])
def test_a_name_that_is_no_name_of_a_file_is_refused(tmp_path, name):
    with pytest.raises(SceneError, match="cannot be called"):
        write_new_track(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path):
    path = write_new_track("mine", tmp_path)
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(SceneError, match=r"mine\.toml exists already"):
        write_new_track("mine", tmp_path)
    assert path.read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize("name", sorted(find_tracks()))
def test_a_built_in_place_is_not_hidden(tmp_path, name):
    with pytest.raises(SceneError, match=f"{name} is a built-in place, which a track of that name would hide; take"):
        write_new_track(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_a_path_leaves_nothing_behind(tmp_path):
    (tmp_path / "bad.csv").write_text("0,0\n1,nan\n", encoding="utf-8")
    with pytest.raises(SceneError, match=r"bad\.csv, line 2"):
        write_new_track("mine", tmp_path / "new", tmp_path / "bad.csv")
    with pytest.raises(SceneError, match=r"no file .*gone\.csv"):
        write_new_track("mine", tmp_path / "new", tmp_path / "gone.csv")
    assert not (tmp_path / "new").exists()


def test_figures_of_an_eight_and_of_an_open_path(tmp_path):
    angle = np.arange(40) * (2.0 * np.pi / 40)
    eight = np.column_stack((4.0 * np.sin(angle), 2.0 * np.sin(2.0 * angle)))
    np.savetxt(tmp_path / "eight.csv", eight, delimiter=",")
    figures = measure(write_new_track("eight", tmp_path, tmp_path / "eight.csv"))
    assert figures.direction == "figure of eight"
    assert figures.radius_left == pytest.approx(figures.radius_right, rel=0.05)
    assert figures.size == pytest.approx((9.0, 5.0), abs=0.2)


@pytest.mark.parametrize("seed", [0, 7, 12])
def test_a_random_place_as_a_file_is_the_place_that_was_drawn(tmp_path, seed):
    path = write_random_track("place", tmp_path, seed)
    drawn, written = load_scene(SceneSpec("random_place", road=RoadSpec(seed=seed))), load_scene(SceneSpec(str(path)))
    assert (written.path.position == drawn.path.position).all()
    assert (written.props.position == drawn.props.position).all()
    assert written.light == drawn.light
    for one, other in zip(written.textures, drawn.textures, strict=True):
        assert np.array_equal(one, other)


def test_every_random_place_is_read_as_it_was_written(tmp_path):
    known = set()
    for seed in range(60):
        track = read_track(write_random_track(f"place{seed}", tmp_path, seed))
        assert track.name == f"place{seed}"
        assert track.path.walk.seed == seed
        known |= {bool(track.room), bool(track.walls) + 10, track.road.texture}
        text = (tmp_path / f"place{seed}.toml").read_text(encoding="utf-8")
        assert "random]" not in text.replace("random_place", "")
    assert known == {True, False, 10, 11, "asphalt", "none"}


def test_a_random_track_takes_no_name_that_is_taken(tmp_path):
    write_random_track("place", tmp_path, 1)
    with pytest.raises(SceneError, match="exists already"):
        write_random_track("place", tmp_path, 2)
