"""generated_road: random roads from seeds, and its five styles."""

import itertools
import math

import numpy as np
import pytest
from shapely import LinearRing

from donkeysim.core.errors import SceneError, SpecError
from donkeysim.world.specs import RoadSpec, SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.challenges import vary_track
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.structures.placement import place_props
from donkeysim.world.tracks.tables.path import PathTable, RandomWalk
from donkeysim.world.tracks.tables.road import RoadTable
from donkeysim.world.tracks.track_check import check_track
from donkeysim.world.tracks.track_file import read_track

SPEC = SceneSpec("generated_road")
OFFSETS, HALF_WIDTHS = (2.2, 6.0, 6.0, 6.0, 4.5), (5.0, 12.0, 10.0, 10.0, 12.0)
"""The original's [U]."""

START = [6.24623, -6.252]
PLACES = [[5.238166, 6.7812473], [13.5860487, 25.7726578], [15.360895, 11.2309739], [10.2614605, -14.2519293]]
"""Where the first car stands; the road of seed 0 after 50, 100, 150 and 200 m, seen from there."""


def vary(style=0, seed=0, turn=1.0, look=""):
    return vary_track(read_track(find_track(SPEC), look), SceneSpec("generated_road", road=RoadSpec(style, seed, turn)))


def draw(style=0, seed=0, turn=1.0):
    track = vary(style, seed, turn)
    return build_centre_line(track.path, track.road)


@pytest.fixture(scope="module")
def scene():
    return load_scene(SceneSpec("generated_road", look="meadow", road=RoadSpec(style=1, seed=7)))


def test_it_has_1000_nodes_of_2_u_that_come_back_to_the_first(scene):
    step = np.hypot(*(np.roll(scene.path.position, -1, axis=0) - scene.path.position)[:, :2].T)
    assert len(step) == 1000
    assert scene.path.closed
    assert step == pytest.approx(np.full(1000, 0.25), abs=0.002)


def test_the_first_nodes_of_a_seed_are_the_same_for_ever():
    line = draw(seed=0)
    places = line.locate([50.0, 100.0, 150.0, 200.0])[0]
    assert places == pytest.approx(np.array(PLACES) + START, abs=1e-6)


def test_same_seed_same_road_and_another_seed_another_road(scene):
    assert draw(1, 7).locate(np.arange(1000) * 0.25)[0] == pytest.approx(scene.path.position[:, :2], abs=1e-6)
    assert np.array_equal(draw(1, 7).position, draw(1, 7).position)
    others = [draw(seed=seed).position for seed in range(6)]
    for a, b in itertools.combinations(others, 2):
        assert np.abs(a[5000::5000] - b[5000::5000]).max() > 1.0


@pytest.mark.parametrize("style", range(5))
def test_styles_have_the_original_s_widths_and_one_path(style):
    line = draw(style, seed=4)
    left, right = OFFSETS[style] + HALF_WIDTHS[style], HALF_WIDTHS[style] - OFFSETS[style]
    assert (line.width_left[0] * 8.0, line.width_right[0] * 8.0) == (left, right)
    assert np.array_equal(line.position, draw(0, seed=4).position)
    assert vary(style + 5).road == vary(style).road, "as in the original the style counts modulo their number"


@pytest.mark.parametrize(("seed", "turn", "style"), [(n, (0.1, 1.0, 3.0, 20.0)[n % 4], n % 5) for n in range(20)])
def test_a_road_stays_clear_of_itself_and_inside_its_place(seed, turn, style):
    track, line = vary(style, seed, turn), draw(style, seed, turn)
    check_track(track, line)
    assert line.length == pytest.approx(250.0)
    assert LinearRing(line.position[::10]).is_simple
    for side, width in (("left", line.width_left[0]), ("right", line.width_right[0])):
        assert LinearRing(line.position[::10]).parallel_offset(width, side).length > 0.0
        edge = line.offset(np.arange(0.0, 250.0, 0.1), width if side == "left" else -width)[0]
        assert LinearRing(edge).is_simple, f"the {side} edge of the road crosses itself"
    both = [line.offset(np.arange(0.0, 250.0, 0.1), side)[0] for side in (line.width_left[0], -line.width_right[0])]
    assert LinearRing(both[0]).distance(LinearRing(both[1])) > 0.9 * (line.width_left[0] + line.width_right[0])
    assert np.ptp(line.position, axis=0).max() < 70.0


def test_a_livelier_road_turns_more_tightly():
    tightest = [np.abs(draw(seed=3, turn=turn).curvature).max() for turn in (0.3, 1.0, 3.0)]
    assert tightest == sorted(tightest)
    assert tightest[2] > 1.4 * tightest[0]


def test_it_starts_level_with_its_frame_on_a_straight_stretch():
    line = draw(seed=12)
    place, yaw = line.locate([0.0])
    assert place[0] == pytest.approx(START, abs=1e-9)
    assert math.sin(yaw[0]) == pytest.approx(0.0, abs=0.01)
    assert np.abs(line.curvature[:100]).max() < 0.12


def test_left_and_right_loops_are_both_drawn():
    turned = [draw(seed=seed).yaw[-1] > 0.0 for seed in range(12)]
    assert any(turned)
    assert not all(turned)


def test_the_sand_is_bare():
    scene = load_scene(SPEC)
    assert len(scene.colliders.kind) == len(scene.props.mass) == 0
    assert scene.start.is_silent, "the original has no start line there"


def test_nothing_stands_on_any_of_the_roads_in_the_meadow(scene):
    assert len(scene.colliders.kind) > 150
    for style in range(5):
        placed = place_props(vary(style, 7, look="meadow"), draw(style, 7), ())  # refuses what stands on the road
        assert len(placed) == len(scene.colliders.kind) - 2, "the gantry's posts"


def test_only_generated_roads_are_made_anew():
    with pytest.raises(SceneError, match="the road of generated_track is not a generated one"):
        load_scene(SceneSpec("generated_track", road=RoadSpec()))
    with pytest.raises(SpecError, match=r"turn of 0 degrees is not valid; it takes 0\.1 to 20"):
        RoadSpec(turn=0.0)


def test_a_road_too_wide_for_its_length_is_refused():
    with pytest.raises(SceneError, match="a random road of 30 m has no room") as caught:
        build_centre_line(PathTable(100, length=30.0, walk=RandomWalk()), RoadTable(9.0, 9.0))
    assert caught.value.key == "path.walk"
