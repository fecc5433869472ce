"""Props of one's own: what a model beside the track becomes, and what a wrong one is told."""

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from donkeysim.core.errors import SceneError
from donkeysim.world.scene import CLASS_PROP, COLLIDER_BOX, COLLIDER_CYLINDER, SHADE_CUTOUT, SHADE_TEXTURE
from donkeysim.world.specs import SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.model_file import read_meshes
from donkeysim.world.tracks.props import own
from donkeysim.world.tracks.tables.props import PropTable
from standing import write_track
from world.gltf_models import make_block, write_model


@pytest.fixture
def place(tmp_path):
    """Load an oval with a block of 0.4 x 0.2 x 0.1 m (length, width, height), off its origin, as a prop."""
    write_model(tmp_path / "block.glb", meshes=[("block", make_block((0.4, 0.1, 0.2), (3.0, 1.0, -2.0)))])

    def load(text, places="[[-2.0, -4.0, 90.0]]"):
        table = f'[[props]]\nmodel = "block.glb"\nplaces = {places}\n{text}\n'
        return load_scene(SceneSpec(write_track(tmp_path, table)))

    return load


def find_shown(scene):
    """Return the corners of all that is shown as a prop."""
    mesh = scene.static
    is_prop = np.array([material.segment == CLASS_PROP for material in scene.materials])[mesh.material]
    return mesh.vertex[mesh.triangle[is_prop].ravel()]


def test_what_has_no_mass_stands_where_it_is_placed_and_is_a_box(place):
    scene = place("")
    assert scene.colliders.kind.tolist() == [COLLIDER_BOX]
    assert scene.colliders.centre[0] == pytest.approx((-2.0, -4.0, 0.05), abs=1e-6)
    assert scene.colliders.half_size[0] == pytest.approx((0.2, 0.1, 0.05), abs=1e-6)
    assert scene.colliders.yaw[0] == pytest.approx(0.5 * np.pi)
    assert scene.hit_names[scene.colliders.name[0]] == "block"
    shown = find_shown(scene)
    assert shown.min(axis=0) == pytest.approx((-2.1, -4.2, 0.0), abs=1e-5)
    assert shown.max(axis=0) == pytest.approx((-1.9, -3.8, 0.1), abs=1e-5)


def test_what_has_a_mass_moves_and_keeps_that_mass_at_any_scale(place):
    scene = place('mass = 7.5\nhit = "brick"\nscale = 2.0')
    assert not len(scene.colliders.kind)
    assert not len(find_shown(scene))
    props = scene.props
    assert props.mass.tolist() == [7.5]
    assert props.radius_base[0] == props.radius_top[0] == pytest.approx(0.3)
    assert props.height[0] == pytest.approx(0.2)
    assert props.centre_of_mass[0] == pytest.approx(0.1)
    assert props.position[0] == pytest.approx((-2.0, -4.0, 0.0))
    assert scene.hit_names[props.name[0]] == "brick"
    vertex = scene.models[props.model[0]].vertex
    assert vertex.min(axis=0) == pytest.approx((-0.4, -0.2, 0.0), abs=1e-5)
    assert vertex.max(axis=0) == pytest.approx((0.4, 0.2, 0.2), abs=1e-5)


def test_a_ghost_is_seen_but_has_no_body_and_may_stand_on_the_road(place):
    scene = place("ghost = true", "[[2.0, 0.0]]")
    assert len(find_shown(scene))
    assert not len(scene.colliders.kind)
    assert not len(scene.props.mass)
    assert "block" not in scene.hit_names


def test_props_of_one_table_share_one_mesh(place):
    scene = place("mass = 1.0", "[[-2.0, -4.0], [-2.0, -5.0], [-2.0, -6.0]]")
    assert len(scene.props.mass) == 3
    assert len(set(scene.props.model.tolist())) == 1


def test_a_model_in_a_row_turns_with_the_path(tmp_path):
    write_model(tmp_path / "block.glb", meshes=[("block", make_block((0.4, 0.1, 0.2), (0.0, 0.0, 0.0)))])
    scene = load_scene(
        SceneSpec(write_track(tmp_path, '[[props]]\nmodel = "block.glb"\nevery = 1.0\noffset = 0.9\nscale = 0.5\n'))
    )
    assert len(scene.colliders.kind) > 15
    assert len(np.unique(scene.colliders.yaw.round(3))) > 5


SIDES = st.floats(0.02, 5.0)


@given(SIDES, SIDES, SIDES, st.floats(0.5, 2.0), st.sampled_from(["", "cylinder"]), st.sampled_from([0.0, 3.0]))
def test_a_hull_is_as_high_as_the_model_and_no_wider_than_its_bounds(x, y, z, scale, hull, mass):
    block = trimesh.creation.box((x, z, y))
    table = PropTable(model="block.glb", places=((0.0, 0.0),), hull=hull, mass=mass, scale=scale)
    kind = make_kind(table, block)
    structure = kind.build(own_assets(), 0)
    if mass:
        body = kind.movable
        wide, high = (body.radius_base, body.radius_base), body.height
        assert 0.0 < body.centre_of_mass < body.height
    else:
        (collider,) = structure.colliders
        wide, high = collider.half_size[:2], 2.0 * collider.half_size[2]
        assert collider.kind == (COLLIDER_CYLINDER if hull else COLLIDER_BOX)
    assert high == pytest.approx(z * scale, rel=1e-6)
    if mass or hull:
        assert min(x, y) * scale <= 2.0 * wide[0] * 1.000001
        assert 2.0 * wide[0] <= max(x, y) * scale * 1.000001
    else:
        assert wide == pytest.approx((0.5 * x * scale, 0.5 * y * scale), rel=1e-6)


def own_assets():
    """Return what a scene gathers its materials in."""
    return own.Assets()


def make_kind(table, shape):
    """Return the kind of prop that a table makes of a mesh, without a file between."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "find_beside", lambda file, _suffixes, _key: own.Path(file))
        x, y, z = shape.vertices.T
        mesh = own.ModelMesh("mesh", np.column_stack((x, -z, y)), np.asarray(shape.faces), shape)
        patch.setattr(own, "read_meshes", lambda _path, _key: [mesh])
        return own.read_own_kind(table, "props[0]")


@pytest.mark.parametrize(("base", "top"), [(0.1, 0.02), (0.03, 0.12), (0.1, 0.0)])
def test_a_cone_is_as_wide_as_its_ends(base, top):
    angle = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
    rings = [
        np.column_stack((r * np.cos(angle), np.full(32, h), r * np.sin(angle))) for r, h in ((base, 0.0), (top, 0.4))
    ]
    shape = trimesh.convex.convex_hull(np.vstack(rings))
    body = make_kind(PropTable(model="cone.glb", places=((0.0, 0.0),), hull="cone", mass=1.0), shape).movable
    assert (body.radius_base, body.radius_top) == pytest.approx((max(base, 0.005), max(top, 0.005)), rel=1e-3)
    # of even density: as far below the middle as the cone is wider below
    assert np.sign(0.2 - body.centre_of_mass) == np.sign(base - top)
    if top == 0.0:
        assert body.centre_of_mass == pytest.approx(0.1, rel=0.1)


def test_textures_of_a_model_are_kept_with_their_holes_and_made_smaller(tmp_path):
    cloth = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]], process=False)
    picture = Image.new("RGBA", (3000, 60), (20, 200, 30, 255))
    paint = trimesh.visual.material.PBRMaterial(baseColorTexture=picture, alphaMode="MASK")
    cloth.visual = trimesh.visual.TextureVisuals([[0, 0], [1, 0], [1, 1], [0, 1]], paint)
    write_model(tmp_path / "cloth.glb", meshes=[("cloth", cloth)])
    table = '[[props]]\nmodel = "cloth.glb"\nghost = true\nplaces = [[0, -4]]\n'
    scene = load_scene(SceneSpec(write_track(tmp_path, 2 * table)))
    materials = [item for item in scene.materials if item.flags & SHADE_CUTOUT and item.segment == CLASS_PROP]
    assert len(materials) == 1  # both tables show the same picture
    assert materials[0].flags & SHADE_TEXTURE
    texture = scene.textures[materials[0].texture]
    assert texture.shape == (64, 1024, 4)
    assert texture[5, 5, :3] == pytest.approx((20, 200, 30), abs=2)


@pytest.mark.parametrize("scale", [[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [-2.0, 1.0, -1.0]])
def test_triangles_face_outwards_also_where_a_node_mirrors_its_mesh(tmp_path, scale):
    block = make_block((0.4, 0.1, 0.2), (0.0, 0.0, 0.0))

    def mirror(document):
        node = next(node for node in document["nodes"] if "mesh" in node)
        node.pop("matrix", None)
        node["scale"] = scale

    path = write_model(tmp_path / "block.glb", meshes=[("block", block)], change=mirror)
    (mesh,) = own.read_meshes(path, "props[0].model")
    corner = mesh.vertex[mesh.face]
    volume = np.einsum("ij,ij->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6.0
    assert volume == pytest.approx(0.4 * 0.1 * 0.2 * abs(np.prod(scale)))


WRONG = [
    ('model = "blok.glb"', r"line 16: there is no file 'blok\.glb' in .*; did you mean 'block\.glb'\?"),
    ('model = "block.obj"', r"line 16: props\[0\]\.model is 'block\.obj'; it takes a file that ends with \.glb"),
    ('model = "broken.glb"', r"line 16: broken\.glb cannot be read as a model: "),
    ('model = "empty.glb"', r"line 16: empty\.glb has no faces; a prop shows a mesh"),
    ('model = "block.glb"\nscale = 0.01', r"line 16: at scale = 0\.01 block\.glb is 0\.004 m long; a prop is 0\.01 to"),
    ('model = "block.glb"\nmass = "heavy"', r"line 17: props\[0\]\.mass is 'heavy', but must be a number"),
    ('model = "block.glb"\nmass = nan', r"line 17: props\[0\]\.mass is nan; numbers lie between"),
    ('model = "block.glb"\nmass = -1', r"line 17: \[props\[0\]\] mass is -1; it takes 0 .* or 0\.1 to 1000"),
    ('model = "block.glb"\nmass = 1e4', r"line 17: \[props\[0\]\] mass is 10000; it takes 0 .* or 0\.1 to 1000"),
    ('model = "block.glb"\nhull = "bal"', r"line 17: unknown props\[0\]\.hull 'bal'"),
    ('model = "block.glb"\nhull = "cone"', r"line 17: \[props\[0\]\] hull is 'cone'; a prop without mass takes 'box'"),
    ('model = "block.glb"\nmass = 1\nhull = "box"', r"line 18: .* hull is 'box'; a prop with mass takes 'cylinder'"),
    ('model = "block.glb"\nghost = true\nmass = 1', r"line 17: \[props\[0\]\] ghost = true leaves a prop without"),
    ('kind = "cone"\nmass = 1', r"mass, hull and ghost are for a prop with a model"),
    ('kind = "cone"\nmodel = "block.glb"', r"a prop needs either kind or model"),
    ("scale = 1.0", r"a prop needs either kind or model"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "sentence"), WRONG, ids=[keys.replace("\n", " ") for keys, _ in WRONG])
def test_a_wrong_prop_gets_one_sentence_with_file_and_line(tmp_path, keys, sentence):
    write_model(tmp_path / "block.glb", meshes=[("block", make_block((0.4, 0.1, 0.2), (0.0, 0.0, 0.0)))])
    write_model(tmp_path / "empty.glb", lines=[("line", [(0, 0, 0), (1, 0, 0)], 3, None)])
    (tmp_path / "broken.glb").write_bytes((tmp_path / "block.glb").read_bytes()[:200])
    path = write_track(tmp_path, f"[[props]]\n{keys}\nplaces = [[-2.0, -4.0]]\n")
    with pytest.raises(SceneError, match=r"place\.toml") as caught:
        load_scene(SceneSpec(path))
    assert caught.match(sentence)
    assert "\n" not in str(caught.value)


def name_a_file_elsewhere(document):
    document["buffers"][0]["uri"] = "../secret.bin"


@pytest.mark.parametrize("content", [b"", b"glTF", b"glTF" + 40 * b"\0", 100_000 * b"[", 3000 * b"\xff", None])
def test_what_is_no_model_gets_one_sentence(tmp_path, content):
    if content is None:
        block = make_block((0.4, 0.1, 0.2), (0.0, 0.0, 0.0))
        write_model(tmp_path / "block.glb", meshes=[("block", block)], change=name_a_file_elsewhere)
        (tmp_path.parent / "secret.bin").write_bytes(10_000 * b"\0")
    else:
        (tmp_path / "block.glb").write_bytes(content)
    path = write_track(tmp_path, '[[props]]\nmodel = "block.glb"\nplaces = [[-2.0, -4.0]]\n')
    with pytest.raises(
        SceneError, match=r"line 16: block\.glb cannot be read as a model: .*; export it again"
    ) as caught:
        load_scene(SceneSpec(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mass", ["", "mass = 2.0"])
def test_an_own_prop_on_the_road_is_refused(place, mass):
    with pytest.raises(SceneError, match=r"line 15: \[\[props\]\] 1 \(block\.glb\) at \(.*\) stands on the road"):
        place(mass, "[[2.0, 0.0]]")


def test_too_many_triangles_together_are_refused(place, monkeypatch):
    monkeypatch.setattr("donkeysim.world.tracks.structures.placement.TRIANGLES_MOST", 35)
    assert place("", "[[0, -3], [0, -4]]")
    with pytest.raises(
        SceneError, match=r"line 15: the models of \[\[props\]\] show 36 triangles; a place may have 35"
    ):
        place("", "[[0, -3], [0, -4], [0, -5]]")


def test_a_model_is_found_from_the_tracks_folder_not_from_here(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    assert len(place("").colliders.kind) == 1


def test_the_example_yard_has_what_its_page_shows():
    scene = load_scene(SceneSpec("examples/own_props/yard.toml"))
    assert {"drum", "skittle", "parcels"} < set(scene.hit_names)
    assert "ribbon" not in scene.hit_names
    assert sorted(set(scene.props.mass.tolist())) == [0.5, 12.0]


def declare_millions(document):
    for accessor in document["accessors"]:
        accessor["count"] = 20_000_000
        del accessor["bufferView"]


def show_a_thousand_times(document):
    for _ in range(1000):
        document["nodes"].append({"mesh": 0})
        document["scenes"][0]["nodes"].append(len(document["nodes"]) - 1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (declare_millions, "declares 20000000 elements of one kind; 1000 are allowed"),
        (show_a_thousand_times, "its nodes show 12012 triangles; 1000 are allowed"),
    ],
)
def test_a_model_that_unfolds_to_more_than_its_bytes_is_refused(tmp_path, monkeypatch, change, sentence):
    monkeypatch.setattr("donkeysim.world.tracks.model_file.ELEMENTS_MOST", 1000)
    path = write_model(tmp_path / "box.glb", meshes=[("box", make_block((1, 1, 1), (0, 0, 0)))], change=change)
    with pytest.raises(SceneError, match=sentence):
        read_meshes(path, "props[0].model")


def test_a_picture_of_a_model_that_unfolds_to_gigabytes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("donkeysim.world.tracks.model_file.TEXELS_MOST", 1000)
    block = make_block((1, 1, 1), (0, 0, 0))
    picture = Image.new("RGB", (64, 64), (200, 60, 40))
    block.visual = trimesh.visual.TextureVisuals(uv=block.vertices[:, :2], image=picture)
    path = write_model(tmp_path / "box.glb", meshes=[("box", block)])
    with pytest.raises(SceneError, match="a picture has 64 x 64 pixels; 1000 are allowed"):
        read_meshes(path, "props[0].model")
