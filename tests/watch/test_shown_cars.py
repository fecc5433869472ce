"""The file of a place shows people the fine cars, stretched as the coarse ones; cameras keep theirs."""

import io
import json
import struct

import numpy as np
import pytest
import trimesh

from donkeysim.render.body import fit_models
from donkeysim.watch.place_model import dress_finely, find_corner_normals, pack_small, write_place
from donkeysim.world.specs import BODY_STYLES, SceneSpec, load_car
from donkeysim.world.tracks.art import read_form
from donkeysim.world.tracks.catalogue import load_scene


@pytest.fixture(scope="module")
def scene():
    return load_scene(SceneSpec("flat"))


@pytest.fixture(scope="module")
def document(scene):
    content = write_place(scene, load_car("original"))
    length = struct.unpack_from("<I", content, 12)[0]
    return json.loads(content[20 : 20 + length])


def test_a_dressed_scene_has_all_that_it_had(scene):
    dressed = dress_finely(scene)
    for name in ("models", "materials", "textures"):
        had = getattr(scene, name)
        assert all(one is other for one, other in zip(getattr(dressed, name), had, strict=False))
    for style, model in dressed.car_models.items():
        assert len(dressed.models[model.body].triangle) == len(read_form(f"cars/fine_{style}", 0).triangle)
        assert dressed.models[model.body].material.min() >= len(scene.materials)
        assert dressed.models[model.body].material.max() < len(dressed.materials)


@pytest.mark.parametrize("name", ["original", "rc10", "rc16"])
@pytest.mark.parametrize("style", BODY_STYLES)
def test_fine_bodies_are_stretched_as_coarse_ones(scene, name, style):
    car, dressed = load_car(name), dress_finely(scene)
    fine, coarse = (fit_models(each, car)[each.car_models[style].body].vertex for each in (dressed, scene))
    assert np.abs(fine.min(axis=0) - coarse.min(axis=0)).max() < 0.004
    assert np.abs(fine.max(axis=0) - coarse.max(axis=0)).max() < 0.004


def test_the_file_has_the_fine_bodies_and_wheels(scene):
    content = write_place(scene, load_car("original"))
    loaded = trimesh.load(io.BytesIO(content), file_type="glb", process=False)
    for style in BODY_STYLES:
        shown = [mesh for name, mesh in loaded.geometry.items() if name.startswith(f"body {style}")]
        form = read_form(f"cars/fine_{style}", 0)
        assert sum(len(mesh.faces) for mesh in shown) == len(form.triangle)


def test_metal_and_glass_have_a_finish_of_their_own(document):
    looks = [(each["extras"]["has_finish"], each["pbrMetallicRoughness"]) for each in document["materials"]]
    finished = [(look["metallicFactor"], look["roughnessFactor"]) for has_finish, look in looks if has_finish]
    assert any(metalness > 0.5 for metalness, _ in finished)
    assert any(roughness < 0.2 for _, roughness in finished)
    assert {look["metallicFactor"] for has_finish, look in looks if not has_finish} == {0.0}


def test_small_things_lie_where_they_are_to_three_hundredths_of_a_millimetre():
    vertex = np.random.default_rng(1).uniform(-0.9, 0.9, (100, 3)).astype(np.float32)
    packed = pack_small(vertex)
    assert packed.dtype == np.int16
    assert np.abs(packed / 32_767.0 - vertex).max() < 3e-5
    assert np.array_equal(pack_small(2.0 * vertex), 2.0 * vertex)
    assert pack_small(vertex[:0]).shape == (0, 3)


def test_chained_normals_are_one_at_each_corner_of_what_bends_little_by_little():
    ball = trimesh.creation.icosphere(subdivisions=2)
    vertex, triangle = ball.vertices.astype(np.float32), ball.faces.astype(np.int32)
    normal = find_corner_normals(vertex, triangle, is_chained=True)
    assert np.allclose(normal, vertex[triangle], atol=0.05)
    box = trimesh.creation.box()
    normal = find_corner_normals(box.vertices.astype(np.float32), box.faces.astype(np.int32), is_chained=True)
    assert np.allclose(normal, box.face_normals[:, None], atol=1e-6)
