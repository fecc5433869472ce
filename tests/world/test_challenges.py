"""Challenges: cones, trees and light from a seed, where they may be and nowhere else."""

import functools
import itertools

import numpy as np
import pytest

from donkeysim.core.errors import SpecError
from donkeysim.world.specs import NO_CHALLENGES, ChallengeSpec, SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.challenges import GRID_GAP, vary_light
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.structures.placement import measure_gap
from donkeysim.world.tracks.tables.light import LightTable
from donkeysim.world.tracks.track_file import read_track

SMALL = """
format = 1
name = "small"
path = { node_count = 80, segments = [{ straight = 6.0 }, { turn = 180.0, radius = 1.3 }, { straight = 6.0 }, { turn = 180.0, radius = 1.3 }] }
road = { width_left = 0.6, width_right = 0.4 }
start = { lines = [0.25], columns = [0.0, 0.4], slots = 8 }
ground = { texture = "plain" }
light = { sky = "plain" }
props = [{ kind = "rock", places = [[3.0, 1.3]] }, { kind = "cone", places = [[1.0, 1.0]] }]
"""  # noqa: E501


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    path = tmp_path_factory.mktemp("tracks") / "small.toml"
    path.write_text(SMALL)
    return functools.cache(lambda challenges=NO_CHALLENGES: load_scene(SceneSpec(str(path), challenges=challenges)))


def list_places(scene, bare):
    """Return positions of added cones and added still things."""
    cones = scene.props.position[len(bare.props.mass) :, :2]
    return cones, scene.colliders.centre[len(bare.colliders.kind) :, :2]


def test_nothing_is_added_unless_asked_for(load):
    assert len(load().props.mass) == 1
    assert len(load().colliders.kind) == 1
    assert load().ghosts.shape == (0, 2)


def test_cones_stand_within_5_u_of_nodes_away_from_grid_and_things(load):
    bare, scene = load(), load(ChallengeSpec(cones=15, seed=3))
    cones, still = list_places(scene, bare)
    assert len(cones) == 15
    assert len(still) == 0
    node = bare.path.position[10:-10, :2]
    away = np.abs(cones[:, None] - node).max(axis=2).min(axis=1)
    assert away.max() <= 5.0 / 8.0
    grid = bare.start.position[:, :2]
    assert np.hypot(*(cones[:, None] - grid).transpose(2, 0, 1)).min() >= GRID_GAP
    all_cones = scene.props.position[:, :2]
    assert min(np.hypot(*(a - b)) for a, b in itertools.combinations(all_cones, 2)) > 0.2
    assert np.hypot(*(cones - (3.0, 1.3)).T).min() > 0.12
    assert {scene.hit_names[name] for name in scene.props.name} == {"cone"}
    track = read_track(find_track(SceneSpec("generated_track")))
    assert track.name == "generated_track"


def test_trees_stand_7_to_20_u_from_the_path_and_never_on_the_road(load):
    bare, scene = load(), load(ChallengeSpec(trees=40, seed=3))
    _, trees = list_places(scene, bare)
    assert 30 <= len(trees) <= 40
    away = np.hypot(*(trees[:, None] - bare.path.position[:, :2]).transpose(2, 0, 1)).min(axis=1)
    assert away.min() >= 7.0 / 8.0
    assert away.max() <= 20.0 / 8.0
    assert "tree" in scene.hit_names


def test_no_tree_stands_on_a_wide_road():
    spec = SceneSpec("generated_track")
    track = read_track(find_track(spec))
    line = build_centre_line(track.path, track.road)
    bare, scene = load_scene(spec), load_scene(SceneSpec("generated_track", challenges=ChallengeSpec(30, trees=60)))
    cones, trees = list_places(scene, bare)
    assert len(trees) > 40
    assert measure_gap(trees, line).min() > 0.05
    assert (measure_gap(cones, line) < 0.0).any(), "cones may stand on the road"


def test_same_seed_same_challenge_and_cones_do_not_move_trees(load):
    bare = load()
    one = list_places(load(ChallengeSpec(cones=9, trees=9, seed=1)), bare)
    again = list_places(load(ChallengeSpec(cones=9, trees=9, seed=1)), bare)
    other = list_places(load(ChallengeSpec(cones=9, trees=9, seed=2)), bare)
    trees = list_places(load(ChallengeSpec(trees=9, seed=1)), bare)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[0], other[0])
    assert np.array_equal(one[1], trees[1])


def test_ghosts_are_seen_but_have_no_body(load):
    real, ghosts = load(ChallengeSpec(cones=12, seed=5)), load(ChallengeSpec(cones=12, ghosts=True, seed=5))
    assert len(ghosts.props.mass) == len(load().props.mass)
    assert len(ghosts.colliders.kind) == len(load().colliders.kind)
    assert ghosts.ghosts == pytest.approx(real.props.position[1:, :2])
    assert len(ghosts.static.triangle) > len(load().static.triangle)


def test_the_sun_stands_up_to_45_degrees_from_the_zenith_in_the_original_s_colours(load):
    drawn = [vary_light(LightTable(), seed) for seed in range(200)]
    assert min(light.sun_height for light in drawn) > 45.0
    assert {light.sun_azimuth > 180.0 for light in drawn} == {True, False}
    for light in drawn:
        red, green, blue = (part / max(LightTable().sun) for part in light.sun)
        assert red == pytest.approx(1.0)
        assert 0.863 <= green <= 1.0
        assert blue == pytest.approx(0.498 + (1.0 - green) / 0.137 * 0.365)
    assert load(ChallengeSpec(light=True, seed=1)).light.sun_direction != load().light.sun_direction
    assert load(ChallengeSpec(light=True, seed=1)).light == load(ChallengeSpec(light=True, seed=1)).light


def test_a_full_place_gets_fewer(load):
    cones, _ = list_places(load(ChallengeSpec(cones=600)), load())
    assert 50 < len(cones) < 600


def test_impossible_numbers_are_refused():
    with pytest.raises(SpecError, match="-1 cones are not valid for a challenge; it takes 0 to 1000"):
        ChallengeSpec(cones=-1)
    with pytest.raises(SpecError, match="1001 trees"):
        ChallengeSpec(trees=1001)
