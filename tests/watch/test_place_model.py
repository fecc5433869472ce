"""The file of a place: what another program reads from it is what the scene holds."""

import io
import json
import struct

import numpy as np
import pytest
import trimesh
from PIL import Image

from donkeysim.watch.gltf import MOST_KEPT, WEBP_QUALITIES, GltfWriter, encode_webp, find_alpha_factors, find_quality
from donkeysim.watch.place_model import (
    CLASS_NAMES,
    SHARES,
    encode_shares,
    find_corner_normals,
    find_linear,
    write_place,
)
from donkeysim.world.scene import CLASS_LINE, CLASS_PROP, CLASS_ROAD
from donkeysim.world.specs import SceneSpec, load_car
from donkeysim.world.tracks.catalogue import load_scene


@pytest.fixture(scope="module")
def scene():
    return load_scene(SceneSpec("roboracingleague_1"))


@pytest.fixture(scope="module")
def content(scene):
    return write_place(scene, load_car("original"))


def read_document(content):
    length, kind = struct.unpack_from("<II", content, 12)
    assert (content[:4], kind) == (b"glTF", 0x4E4F534A)
    assert struct.unpack_from("<II", content, 4) == (2, len(content))
    return json.loads(content[20 : 20 + length])


def test_another_program_finds_every_triangle_where_the_scene_has_it(scene, content):
    loaded = trimesh.load(io.BytesIO(content), file_type="glb")
    ground = [mesh for name, mesh in loaded.geometry.items() if name.startswith("ground")]
    assert sum(len(mesh.faces) for mesh in ground) == len(scene.static.triangle)
    corners = np.concatenate([mesh.vertices for mesh in ground])
    assert np.allclose(corners.min(axis=0), scene.static.vertex.min(axis=0), atol=1e-5)
    assert np.allclose(corners.max(axis=0), scene.static.vertex.max(axis=0), atol=1e-5)
    area = sum(mesh.area for mesh in ground)
    assert area == pytest.approx(trimesh.Trimesh(scene.static.vertex, scene.static.triangle, process=False).area, 1e-5)


def test_z_up_becomes_y_up_for_others(content):
    document = read_document(content)
    for listed in document["scenes"]:
        (root,) = listed["nodes"]
        x, y, z, w = document["nodes"][root]["rotation"]
        up = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
        assert np.allclose(up, (0.0, 1.0, 0.0), atol=1e-9)


def test_bodies_of_all_styles_and_notes_are_there(scene, content):
    document = read_document(content)
    place, cars = document["scenes"]
    names = {node["name"] for node in document["nodes"]}
    assert {f"{part} {style}" for style in scene.car_models for part in ("body", "wheel")} <= names
    assert sum(name.startswith("prop ") for name in names) == len(scene.props.model)
    assert len(place["extras"]["path"]) == len(scene.path.position)
    assert np.allclose(cars["extras"]["wheel_position"], load_car("original").wheel_position)
    kinds = {material["extras"]["segment"] for material in document["materials"]}
    assert kinds <= set(CLASS_NAMES)
    assert any(material["extras"]["is_paint"] for material in document["materials"])


def test_class_maps_have_a_channel_for_each_class_that_lies_on_the_ground():
    classes = np.array([[CLASS_ROAD, CLASS_LINE], [SHARES[0], CLASS_PROP]], np.uint8)
    read = np.asarray(Image.open(io.BytesIO(encode_shares(classes))))
    assert read.tolist() == [[[0, 255, 0], [0, 0, 255]], [[255, 0, 0], [0, 0, 0]]]


def test_textures_survive(scene):
    for texture in scene.textures[:4]:
        read = np.asarray(Image.open(io.BytesIO(encode_webp(texture))).convert("RGBA")).astype(float)
        solid = texture[..., 3] > 0
        assert np.abs(read - texture)[solid].mean() < 6.0
        assert (read[..., 3] == texture[..., 3]).all(), "holes are where they were"


def test_a_large_texture_is_as_good_as_its_bytes_allow():
    noise = np.random.default_rng(3).integers(0, 256, (4096, 2048, 3)).astype(np.uint8)
    assert find_quality(np.full_like(noise, 120)) == WEBP_QUALITIES[0], "a plain one"
    assert find_quality(noise) == WEBP_QUALITIES[-1]
    assert find_quality(noise[:64, :64]) == WEBP_QUALITIES[0], "a small one"
    for rows in (128, 256, 512):
        assert find_quality(np.zeros((rows, 8192, 4), np.uint8)) == WEBP_QUALITIES[0], "a strip of few rows"


def test_as_much_of_a_hedge_is_there_far_away_as_near():
    alpha = np.random.default_rng(5).integers(0, 170, (64, 128)).astype(np.uint8)
    factors = find_alpha_factors(alpha)
    assert len(factors) == 8, "of levels down to one texel"
    level = alpha / 255.0
    for factor in factors[:4]:
        assert (level * factor >= 0.5 - 1e-6).mean() == pytest.approx((alpha >= 128).mean(), abs=0.01)
        level = level.reshape(level.shape[0] // 2, 2, level.shape[1] // 2, 2).mean(axis=(1, 3))
    assert find_alpha_factors(np.full((4, 4), 255, np.uint8)) == [1.0, 0.5, 0.5], "what has no holes stays whole"
    assert find_alpha_factors(np.zeros((2, 1), np.uint8)) == [1.0, MOST_KEPT]


def test_textures_with_holes_alone_say_how_thin_parts_are_kept(scene, content):
    for material in read_document(content)["materials"]:
        assert (len(material["extras"]["alpha_factors"]) > 1) == (material.get("alphaMode") == "MASK")


def test_a_box_has_edges_and_a_ball_has_none():
    box = trimesh.creation.box()
    normals = find_corner_normals(box.vertices.astype(np.float32), box.faces.astype(np.int32))
    assert np.allclose(normals, box.face_normals[:, None], atol=1e-6)
    ball = trimesh.creation.icosphere(subdivisions=3)
    normals = find_corner_normals(ball.vertices.astype(np.float32), ball.faces.astype(np.int32))
    assert np.allclose(normals, ball.vertices[ball.faces], atol=0.02)
    assert find_corner_normals(np.zeros((3, 3), np.float32), np.zeros((0, 3), np.int32)).shape == (0, 3, 3)


def test_linear_colours_are_those_of_the_standard():
    assert np.allclose(find_linear(np.array([0.0, 0.02, 0.5, 1.0])), [0.0, 0.02 / 12.92, 0.21404, 1.0], atol=1e-5)


def test_parts_of_a_file_are_aligned_and_say_what_they_are():
    file = GltfWriter("test")
    file.add_array(np.array([[127, 0, -127]], np.int8))
    file.add_image(b"odd", "image/png", "three bytes")
    file.add_array(np.array([0, 1, 2], np.uint16), is_index=True)
    document = read_document(file.encode())
    assert [view["byteOffset"] % 4 for view in document["bufferViews"]] == [0, 0, 0]
    assert document["accessors"][0] == {
        "componentType": 5120, "count": 1, "type": "VEC3", "normalized": True, "bufferView": 0,
    }  # fmt: skip
    assert document["bufferViews"][0]["byteStride"] == 4
