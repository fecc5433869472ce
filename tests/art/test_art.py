"""The files of pictures and meshes are what `python -m art` draws, and a scene gets what they hold."""

import re

import numpy as np
import pytest
from art.__main__ import is_mesh_kept, is_picture_kept, is_same, list_files, write_mesh, write_picture
from art.meshes import PROPS, draw_meshes
from art.pictures import PICTURES
from PIL import Image

from donkeysim.core.errors import SpecError
from donkeysim.world.scene import CLASS_CAR, SHADE_PAINT, SHADE_TEXTURE, SHADE_UNLIT, Material
from donkeysim.world.tracks import art, props
from donkeysim.world.tracks.art import build_mesh, find_mesh, find_picture, read_form, read_picture
from donkeysim.world.tracks.mesh import Assets

MESHES = draw_meshes()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_in_its_file_is_what_is_drawn(name):
    assert is_picture_kept(name, PICTURES[name]()), "draw it anew: python -m art"


@pytest.mark.parametrize("name", MESHES)
def test_a_mesh_in_its_file_is_what_is_drawn(name):
    assert is_mesh_kept(name, MESHES[name]), "draw it anew: python -m art"


def test_every_file_is_drawn_and_every_kind_has_one():
    assert list_files() == {*map(find_picture, PICTURES), *map(find_mesh, MESHES)}
    assert set(PROPS) == set(props.PROP_KINDS)


def test_every_picture_of_a_mesh_is_there_and_fits_the_renderer():
    named = {skin.picture for forms in MESHES.values() for form in forms for skin in form.skins}
    assert named - {""} <= set(PICTURES)
    for name in PICTURES:
        with Image.open(find_picture(name)) as picture:
            assert all(side & (side - 1) == 0 for side in picture.size), name


def test_another_drawing_is_told_from_its_file():
    picture = read_picture("faces")
    picture[0, 0, 0] += 1
    assert not is_picture_kept("faces", picture)
    forms = MESHES["props/barrel"]
    assert not is_mesh_kept("props/barrel", forms[:1])
    assert not is_mesh_kept("props/barrel", forms[::-1])
    assert not is_mesh_kept("props/unheard_of", forms)
    assert not is_same(forms[0], forms[0]._replace(corner=forms[0].corner + 1e-6))


def test_what_is_written_is_read_again_to_the_last_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(art, "FOLDER", tmp_path)
    monkeypatch.setattr("art.__main__.FOLDER", tmp_path)
    for folder in (find_picture("x").parent, find_mesh("props/x").parent):
        folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    for alpha in (random.integers(0, 256, (8, 16, 1)), np.full((8, 16, 1), 255)):
        picture = np.concatenate((random.integers(0, 256, (8, 16, 3)), alpha), axis=2).astype(np.uint8)
        write_picture(find_picture("x"), picture)
        assert np.array_equal(read_picture("x"), picture)
    forms = MESHES["props/person"][:2]
    write_mesh(find_mesh("props/another"), forms)
    assert is_mesh_kept("props/another", forms)


def test_a_mesh_brings_its_materials_into_a_scene_in_their_order():
    assets = Assets()
    assets.ensure_plain((0.5, 0.5, 0.5))
    wheel = build_mesh("cars/wheel", 0, assets)
    assert assets.materials[1:] == [
        Material(0, (0.12, 0.12, 0.13), -1, CLASS_CAR),
        Material(SHADE_TEXTURE, (1.0, 1.0, 1.0), 0, CLASS_CAR),
    ]
    assert sorted(set(wheel.material.tolist())) == [1, 2]
    assert np.array_equal(assets.textures[0], read_picture("wheel_face"))
    body = build_mesh("cars/donkey", 0, assets)
    flags = {assets.materials[index].flags for index in body.material.tolist()}
    assert flags == {0, SHADE_PAINT, SHADE_UNLIT}
    before = list(assets.materials)
    build_mesh("cars/donkey", 0, assets)
    assert assets.materials == before


def test_a_form_is_read_once_and_its_arrays_are_apart():
    assert read_form("props/tree", 3) is read_form("props/tree", 3)
    mesh = build_mesh("props/tree", 3, Assets())
    assert mesh.vertex.shape == (len(mesh.uv), 3)
    assert mesh.uv.shape[1] == 2
    assert all(part.flags.c_contiguous for part in (mesh.vertex, mesh.uv, mesh.triangle))
    assert mesh.vertex.dtype == mesh.uv.dtype == np.float32
    assert mesh.triangle.dtype == mesh.material.dtype == np.int32


def test_a_wrong_key_in_the_index_is_told_with_its_line(tmp_path, monkeypatch):
    text = props.PROPS_FILE.read_text(encoding="utf-8")
    file = tmp_path / "props.toml"
    file.write_text(text.replace("radius_top =", "radius_tip =", 1), encoding="utf-8")
    monkeypatch.setattr(props, "PROPS_FILE", file)
    with pytest.raises(SpecError, match=re.escape(f"{file}, line")) as caught:
        props.read_kinds()
    assert "radius_tip" in str(caught.value)
    assert "radius_top" in str(caught.value)


def test_hulls_are_as_the_index_says():
    kinds, assets = props.PROP_KINDS, Assets()
    assert kinds["barrel"].movable.mass == 6.0
    assert kinds["barrel"].movable.radius_base == kinds["barrel"].radius == 0.08
    heights = [2.0 * kinds["cactus"].build(assets, form).colliders[0].half_size[2] for form in range(6)]
    assert heights == pytest.approx([0.5, 0.62, 0.74] * 2)
    tent = kinds["tent"].build(assets, 0)
    assert len(tent.colliders) == 4
    assert tent.shadows[0].outline[0] == (-1.5, -1.5)
    rack = kinds["rack"].build(assets, 0)
    assert rack.shadows[0].height == 2.0 * rack.colliders[0].half_size[2] == 3.0
