"""Models in glTF as places: which line is the path, where meshes stand, what a car can hit, what broken ones get."""

import base64
import json

import numpy as np
import pytest
import trimesh
from PIL import Image

from donkeysim.core.errors import SceneError
from donkeysim.world.scene import CLASS_GROUND, CLASS_PROP, CLASS_ROAD, SHADE_TEXTURE
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.paths.path_file import read_model_path
from world.gltf_models import LINES, LOOP, STRIP, make_block, make_ring, write_model

RING = make_ring()


def area(point):
    x, y = point.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


@pytest.mark.parametrize(
    "line",
    [
        ("lap", RING, LOOP, None),
        ("lap", np.vstack((RING, RING[:1])), STRIP, None),
        ("lap", RING, LINES, [(i, (i + 1) % 60) for i in range(60)]),
        ("lap", RING, LINES, [(i, (i + 1) % 60) for i in np.random.default_rng(1).permutation(60)]),
        ("lap", np.repeat(RING, 2, axis=0), LINES, np.roll(np.arange(120), -1)),
    ],
    ids=["loop", "strip", "edges", "shuffled edges", "edges without common points"],
)
def test_a_line_is_read_however_the_model_writes_it(tmp_path, line):
    raw = read_model_path(write_model(tmp_path / "lap.glb", [line]), "")
    assert abs(area(raw.position)) == pytest.approx(12.0 * np.pi, rel=0.01)
    assert np.hypot(*np.diff(raw.position, axis=0).T).max() < 0.5


def test_the_map_is_what_a_modelling_program_shows_from_above(tmp_path):
    raw = read_model_path(write_model(tmp_path / "lap.glb", [("lap", RING, LOOP, None)]), "lap")
    assert area(raw.position) > 0.0
    assert raw.position[0] == pytest.approx((4.0, 0.0))
    assert raw.is_closed


def test_nodes_in_nodes_move_a_line(tmp_path):
    def hang(document):
        document["nodes"][0].update(translation=[1.0, 0.0, 0.0], scale=[2.0, 2.0, 2.0])
        document["nodes"].append({"children": [0], "rotation": [0.0, 0.70710678, 0.0, 0.70710678]})
        document["scenes"][0]["nodes"] = [1]

    raw = read_model_path(write_model(tmp_path / "lap.glb", [("lap", RING, LOOP, None)], change=hang), "")
    assert raw.position[0] == pytest.approx((0.0, 9.0), abs=1e-5)


def test_a_model_in_text_with_its_buffer_inside_is_read_too(tmp_path):
    points = RING.astype("<f4").tobytes()
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{"name": "lap", "mesh": 0}],
        "meshes": [{"primitives": [{"mode": LOOP, "attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 60, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": len(points)}],
        "buffers": [{"uri": "data:application/octet-stream;base64," + base64.b64encode(points).decode()}],
    }
    path = tmp_path / "lap.gltf"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert len(read_model_path(path, "").position) == 60
    document["buffers"] = [{"uri": "../secret.bin"}]
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(SceneError, match=r"a buffer lies at '\.\./secret\.bin', not beside the model"):
        read_model_path(path, "")


TWO = [("outer", RING, LOOP, None), ("inner", 0.8 * RING, LOOP, None)]
CROSS = [(0, 1), (0, 2), (0, 3)]


def set_in(document, keys, value):
    for key in keys[:-1]:
        document = document[key]
    document[keys[-1]] = value


BROKEN = [
    (TWO, "", None, r"has 2 lines: 'outer', 'inner'; choose one in \[path\] by element"),
    (TWO, "iner", None, r"unknown element 'iner'; did you mean 'inner'\?"),
    (TWO[:1] * 2, "outer", None, r"2 lines are called 'outer'"),
    ([], "", None, r"has no line; draw the path as edges"),
    ([("x", RING, LINES, CROSS)], "", None, r"the line 'x' branches"),
    ([("x", RING, LINES, [(0, 1), (2, 3)])], "", None, r"the line 'x' is in 2 pieces"),
    ([("x", RING, LINES, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])], "", None, r"in several pieces"),
    ([("x", RING, LINES, [(0, 0)])], "", None, r"has no length"),
    ([("x", RING * np.nan, LOOP, None)], "", None, r"not a valid model .*not a number"),
    ([("x", RING, STRIP, [0, 1, 999])], "", None, r"not a valid model .*999"),
    (TWO[:1], "", (("accessors", 0, "count"), 10**9), r"reaches beyond its buffer"),
    (TWO[:1], "", (("accessors", 0, "count"), "x"), r"not a valid model"),
    (TWO[:1], "", (("bufferViews", 0, "byteOffset"), -4), r"not a valid model"),
    (TWO[:1], "", (("nodes", 0, "children"), [0]), r"not a valid model|has no line"),
    (TWO[:1], "", (("nodes", 0, "mesh"), 7), r"not a valid model"),
    (TWO[:1], "", (("asset",), {"version": "1.0"}), r"another version"),
    (TWO[:1], "", (("nodes", 0, "scale"), [1e30, 1, 1]), r"far too large"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "element", "change", "sentence"), BROKEN, ids=[row[3][:40] for row in BROKEN])
def test_a_broken_model_gets_one_sentence(tmp_path, lines, element, change, sentence):
    path = write_model(tmp_path / "lap.glb", lines, change=change and (lambda document: set_in(document, *change)))
    with pytest.raises(SceneError, match=sentence) as caught:
        read_model_path(path, element)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"glTF", b"glTF\2\0\0\0\0\0\0\0", b"{}", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_model_gets_one_sentence(tmp_path, content):
    (tmp_path / "lap.glb").write_bytes(content)
    with pytest.raises(SceneError, match=r"lap\.glb is not a valid model in glTF 2\.0"):
        read_model_path(tmp_path / "lap.glb", "")


@pytest.fixture(scope="module")
def depot(tmp_path_factory):
    """A track in a model: floor, two crates in one mesh, a beam overhead, a hall all round, a fence on the road."""
    folder = tmp_path_factory.mktemp("depot")
    crates = trimesh.util.concatenate(
        [make_block((0.6, 0.4, 0.3), (0.0, 0.0, 0.0)), make_block((0.2, 0.2, 0.2), (1.0, 0, 1))]
    )
    crates.visual.vertex_colors = (200, 60, 40, 255)
    floor = trimesh.Trimesh([[-9, 0, -9], [9, 0, -9], [9, 0, 9], [-9, 0, 9]], [[0, 2, 1], [0, 3, 2]], process=False)
    picture = Image.new("RGB", (100, 60), (20, 200, 30))
    paint = trimesh.visual.material.PBRMaterial(baseColorTexture=picture, doubleSided=True)
    floor.visual = trimesh.visual.TextureVisuals([[0, 0], [3, 0], [3, 3], [0, 3]], paint)
    meshes = [
        ("crate.001", crates),
        ("floor", floor),
        ("beam", make_block((9.0, 0.1, 0.1), (0.0, 0.8, 0.0))),
        ("hall", make_block((20.0, 2.0, 20.0), (0.0, 0.0, 0.0))),
        ("fence", make_block((0.1, 0.5, 3.0), (4.0, 0.0, 0.0))),
        ("road plate", make_block((0.3, 0.01, 0.3), (4.0, 0.0, 0.0))),
    ]
    write_model(folder / "depot.glb", [("lap", RING, LOOP, None)], meshes)
    text = """format = 1
name = "depot"
[path]
file = "depot.glb"
element = "lap"
yaw = 90.0
start = [2.0, 1.0]
scale = 2.0
[road]
width_left = 0.4
width_right = 0.4
[ground]
texture = "plain"
height = 0.5
"""
    (folder / "depot.toml").write_text(text, encoding="utf-8")
    return load_scene(SceneSpec(str(folder / "depot.toml")))


def test_only_what_stands_beside_the_road_is_in_a_cars_way(depot):
    assert [depot.hit_names[index] for index in depot.colliders.name] == ["crate", "crate"]


def test_a_model_is_turned_scaled_and_moved_with_its_path(depot):
    # the path begins at (4, 0) of the model: turned by 90 degrees, doubled, moved to (2, 1), crates with it
    assert depot.path.position[0, :2] == pytest.approx((2.0, 1.0), abs=1e-6)
    assert depot.colliders.centre[:, :2] == pytest.approx(np.array([(2.0, -7.0), (4.0, -5.0)]), abs=1e-3)
    assert depot.colliders.centre[:, 2] == pytest.approx((0.5 + 0.4 + 0.002, 0.5 + 0.2 + 0.002), abs=1e-3)
    assert sorted(depot.colliders.half_size[0, :2]) == pytest.approx((0.3, 0.6), abs=1e-3)


def test_colours_and_textures_of_a_model_are_kept(depot):
    materials = [depot.materials[index] for index in np.unique(depot.static.material)]
    textured = [item for item in materials if item.flags & SHADE_TEXTURE and item.segment == CLASS_GROUND]
    floor = next(item for item in textured if depot.textures[item.texture].shape[:2] == (64, 128))
    assert depot.textures[floor.texture][5, 5, :3] == pytest.approx((20, 200, 30), abs=2)
    crate = next(item for item in materials if item.segment == CLASS_PROP and item.colour[0] > 0.7)
    assert crate.colour == pytest.approx((200 / 255, 60 / 255, 40 / 255), abs=0.02)
    assert any(item.segment == CLASS_ROAD for item in materials)


def test_too_many_triangles_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("donkeysim.world.tracks.structures.model_mesh.TRIANGLES_MOST", 11)
    write_model(tmp_path / "yard.glb", [("lap", RING, LOOP, None)], [("box", make_block((1, 1, 1), (0, 0, 0)))])
    with pytest.raises(SceneError, match=r"has 12 triangles; a place may have 11"):
        load_scene(SceneSpec(str(tmp_path / "yard.glb")))


def test_a_node_with_faces_is_no_path(tmp_path):
    write_model(tmp_path / "yard.glb", [("lap", RING, LOOP, None)], [("box", make_block((1, 1, 1), (0, 0, 0)))])
    with pytest.raises(SceneError, match=r"'box' has faces; the path is a line"):
        read_model_path(tmp_path / "yard.glb", "box")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ((("accessors", 0, "count"), 10**9), r"yard\.glb cannot be read as a model"),
        ((("meshes", 0, "primitives", 0, "attributes", "POSITION"), 0), r"yard\.glb cannot be read as a model"),
        ((("bufferViews", 0, "byteLength"), 10**9), r"yard\.glb cannot be read as a model"),
    ],
)
def test_a_broken_mesh_gets_one_sentence(tmp_path, change, sentence):
    block = make_block((1, 1, 1), (0, 0, 0))
    write_model(
        tmp_path / "yard.glb",
        [("lap", RING, LOOP, None)],
        [("box", block)],
        change=lambda document: set_in(document, *change),
    )
    with pytest.raises(SceneError, match=sentence) as caught:
        load_scene(SceneSpec(str(tmp_path / "yard.glb")))
    assert "\n" not in str(caught.value)
