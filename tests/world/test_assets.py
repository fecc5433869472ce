"""What scenes share, and what they draw and measure it with."""

import math

import numpy as np
import pytest
from art.canvas import Canvas

from donkeysim.world.scene import COLLIDER_BOX, COLLIDER_CYLINDER
from donkeysim.world.specs import BODY_STYLES, SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.mesh import Assets
from donkeysim.world.tracks.structures import placement
from donkeysim.world.tracks.structures.structure import Collider


def test_scenes_share_the_car_bodies_and_nothing_of_their_own():
    flat, yard = load_scene(SceneSpec("flat")), load_scene(SceneSpec("examples/own_props/yard.toml"))
    for style in BODY_STYLES:
        assert flat.models[flat.car_models[style].body] is yard.models[yard.car_models[style].body]
        assert flat.models[flat.car_models[style].wheel] is yard.models[yard.car_models[style].wheel]
    assert len(yard.models) == len(set(map(id, (*flat.models, *yard.models))))
    assert "drum" not in flat.hit_names


def test_a_texture_is_made_once_for_all_scenes_by_what_makes_it_and_of_what():
    made = []

    def make(shade):
        made.append(shade)
        return np.full((4, 4, 4), shade, np.uint8)

    first, second = Assets(), Assets()
    materials = [assets.ensure_textured(make, shade) for assets in (first, first, second) for shade in (1, 2)]
    assert made == [1, 2]
    assert materials == [0, 1, 0, 1, 0, 1]
    assert first.textures[1] is second.textures[1]
    assert first.textures[1][0, 0, 0] == 2


def test_a_copy_of_assets_grows_alone():
    first = Assets()
    first.ensure_plain((1.0, 0.0, 0.0))
    second = first.copy()
    assert second.ensure_plain((1.0, 0.0, 0.0)) == 0
    assert second.ensure_plain((0.0, 1.0, 0.0)) == 1
    assert second.ensure_named("wall") == 1
    assert (len(first.materials), first.named) == (1, [("terrain", "terrain")])


def test_a_canvas_is_painted_in_texels():
    canvas = Canvas(8, 4, (0, 0, 0))
    canvas.fill_inside((200, 100, 40), (2, 1, 5, 3))
    texture = canvas.finish()
    assert texture.shape == (4, 8, 4)
    painted = np.zeros((4, 8), bool)
    painted[1:3, 2:5] = True
    assert np.array_equal(texture[..., 0] == 200, painted)
    assert texture[..., 3].min() == 255


def test_a_canvas_with_holes_keeps_them():
    canvas = Canvas(4, 4, (90, 90, 90, 0))
    canvas.fill_inside((90, 90, 90, 255), (0, 0, 2, 4))
    assert canvas.finish()[..., 3].tolist() == [[255, 255, 0, 0]] * 4


def test_the_distance_from_colliders_is_that_to_the_nearest_base(monkeypatch):
    random = np.random.default_rng(3)
    colliders = [
        Collider(kind, tuple(random.uniform(-5, 5, 3)), tuple(random.uniform(0.1, 1, 3)), "x", random.uniform(-3, 3))
        for kind in (COLLIDER_BOX, COLLIDER_CYLINDER) * 5
    ]
    point = random.uniform(-6.0, 6.0, (300, 2))
    wanted = np.full(len(point), math.inf)
    for row in colliders:
        outline = placement.outline_base(row) if row.kind == COLLIDER_BOX else None
        away = point - np.array(row.centre[:2])
        if outline is None:
            distance = np.hypot(*away.T) - row.half_size[0]
        else:
            turned = away @ np.array([(math.cos(row.yaw), -math.sin(row.yaw)), (math.sin(row.yaw), math.cos(row.yaw))])
            inside = (np.abs(turned) < row.half_size[:2]).all(axis=1)
            distance = np.hypot(*(point[:, None] - outline).transpose(2, 0, 1)).min(axis=1) * ~inside
        wanted = np.minimum(wanted, np.maximum(distance, 0.0))
    found = placement.measure_distance(point, colliders)
    assert found == pytest.approx(wanted, abs=placement.STEP)
    assert (found == 0.0).sum() == (wanted == 0.0).sum() > 10
    monkeypatch.setattr(placement, "MOST_PAIRS", 77)
    assert np.array_equal(placement.measure_distance(point, colliders), found)
    assert np.isinf(placement.measure_distance(point, [])).all()
