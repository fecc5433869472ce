"""Random places: the same seed is the same place, all ranges are reached, and each can be driven."""

import math
from dataclasses import replace

import numpy as np
import pytest

from donkeysim.core.errors import SceneError
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.envs.track_env import TrackVectorEnv
from donkeysim.world.specs import CameraSpec, RoadSpec, SceneSpec
from donkeysim.world.tracks.builder import build_scene
from donkeysim.world.tracks.catalogue import find_track, load_scene
from donkeysim.world.tracks.challenges import vary_track
from donkeysim.world.tracks.random_place import draw_place, draw_size
from donkeysim.world.tracks.tables.random import RandomTable
from donkeysim.world.tracks.track_check import build_line
from donkeysim.world.tracks.track_file import read_track
from driving import CAR, Course

FILE = read_track(find_track(SceneSpec("random_place")))
SEEDS = range(200)


def specify(seed, **options):
    return SceneSpec("random_place", road=RoadSpec(seed=seed, **options))


@pytest.fixture(scope="module")
def drawn():
    return [draw_place(FILE, FILE.random, RoadSpec(seed=seed)) for seed in SEEDS]


def test_the_same_seed_is_the_same_place_and_another_one_is_not():
    ours, theirs = (vary_track(FILE, specify(7)) for _ in range(2))
    assert ours == theirs
    assert vary_track(FILE, specify(8)) != ours
    scene = load_scene(specify(7))
    assert scene.road == RoadSpec(seed=7)
    assert scene.has_bare_road == (ours.road.texture == "none")
    again = load_scene(replace(specify(7), road=scene.road))
    assert np.array_equal(again.path.position, scene.path.position)
    assert all(np.array_equal(own, other) for own, other in zip(again.textures, scene.textures, strict=True))


def test_a_part_is_drawn_by_numbers_of_its_own(drawn):
    table = replace(FILE.random, floors=FILE.random.floors[:1], borders=("none",))
    other = [draw_place(FILE, table, RoadSpec(seed=seed)) for seed in SEEDS]
    assert [track.path for track in other] == [track.path for track in drawn]
    assert [track.light.sun for track in other] == [track.light.sun for track in drawn]


def test_all_that_may_be_drawn_is_drawn(drawn):
    table, roads = FILE.random, [track.road for track in drawn]
    assert {track.ground.texture for track in drawn} == {floor.texture for floor in table.floors}
    assert {wall.kind for track in drawn for wall in track.walls} == {"board", "wall"}
    assert {prop.kind for track in drawn for prop in track.props} >= {*table.things, "cone", "tyre"}
    assert {len(road.markings) for road in roads} == {0, 1, 2, 3}
    assert {road.texture for road in roads} == {"none", "asphalt"}
    assert {line.colour for road in roads for line in road.markings} == {*table.line_colours, *table.middle_colours}
    size = [draw_size(table, seed) for seed in SEEDS]
    for bounds, values in (
        (table.size, size),
        (table.length, [track.path.length / own for track, own in zip(drawn, size, strict=True)]),
        (table.turn, [track.path.walk.factor for track in drawn]),
        (table.width, [2.0 * road.width_left / own for road, own in zip(roads, size, strict=True)]),
        (table.line_width, [line.width / own for road, own in zip(roads, size, strict=True) for line in road.markings]),
    ):
        span = bounds[1] - bounds[0]
        assert 0.99 * bounds[0] <= min(values) < bounds[0] + 0.05 * span
        assert bounds[1] - 0.05 * span < max(values) <= 1.01 * bounds[1]


def test_a_road_is_always_to_be_seen(drawn):
    for track in drawn:
        rows = [prop for prop in track.props if prop.every]
        assert track.road.texture != "none" or track.road.markings or track.walls or rows


@pytest.mark.parametrize("first", range(0, 200, 100))
def test_outlines_close_and_never_touch_themselves(drawn, first):
    for track in drawn[first : first + 100 : 5]:
        line = build_line(track)
        assert math.isclose(line.length, track.path.length, rel_tol=1e-3)
        assert np.abs(line.curvature).max() * line.widest < 1.0


def test_livelier_roads_turn_more():
    calm, lively = (build_line(vary_track(FILE, specify(3, turn=turn))) for turn in (0.2, 2.0))
    assert np.abs(calm.curvature).mean() < np.abs(lively.curvature).mean()


@pytest.mark.parametrize("seed", range(400, 404))
def test_the_pace_car_drives_a_lap(seed):
    scene = load_scene(specify(seed))
    seen = Course(scene).drive(PathFollower(scene, CAR, "steady"), laps=1, seconds=120.0)
    assert len(seen.laps) == 1
    assert (seen.off_road, seen.hits) == (0, set())


def test_the_picture_of_a_place_is_repeatable():
    pictures = []
    for _ in range(2):
        env = TrackVectorEnv(1, specify(5), camera=CameraSpec(width=80, height=60), threads=1)
        pictures.append(env.reset(seed=1)[0])
        env.close()
    assert np.array_equal(*pictures)
    assert pictures[0].std() > 5.0


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"width": (0.9, 0.4)}, r"width is \[0.9, 0.4\]; it takes two numbers"),
        ({"length": (5.0, 30.0)}, "20 m long or longer"),
        ({"printed": 1.5}, "printed is 1.5; it is a share"),
        ({"floors": ()}, "floors is empty"),
    ],
)
def test_impossible_ranges_are_refused(values, told):
    with pytest.raises(ValueError, match=told):
        RandomTable(**values)


def test_where_there_is_no_room_for_all_things_fewer_do():
    crowded = replace(FILE.random, thing_count=(400.0, 400.0), things=("rack", "long_table"))
    track = draw_place(FILE, crowded, RoadSpec(seed=1))
    scene = build_scene(replace(track, props=tuple(replace(prop, scale=3.0) for prop in track.props)))
    assert 0 < len(scene.colliders.kind) < 400
    with pytest.raises(SceneError, match="there is room for"):
        build_scene(replace(track, props=tuple(replace(prop, scale=3.0, at_most=False) for prop in track.props)))


def test_a_coarser_ground_takes_a_quarter_of_the_texels():
    track = draw_place(FILE, FILE.random, RoadSpec(seed=2))
    fine = replace(track, ground=replace(track.ground, texel=0.0075))
    largest = [max(texture.nbytes for texture in build_scene(one).textures) for one in (track, fine)]
    assert largest[1] >= 2 * largest[0]


def test_a_file_of_ones_own_ranges_is_a_place_of_ones_own(tmp_path):
    text = find_track(SceneSpec("random_place")).read_text(encoding="utf-8")
    path = tmp_path / "club.toml"
    path.write_text(text.replace('"random_place"', '"club"').replace("printed = 0.5", "printed = 0.0"))
    spec = SceneSpec("club", folders=(str(tmp_path),), road=RoadSpec(seed=2))
    assert vary_track(read_track(path), spec).road.texture == "none"
    path.write_text(text.replace('"random_place"', '"club"').replace("printed = 0.5", "printed = 3.0"))
    with pytest.raises(SceneError, match=r"club.toml, line \d+.*printed is 3"):
        load_scene(spec)
