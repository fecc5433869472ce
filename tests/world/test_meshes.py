"""Solids, props, cars and the ground: closed, facing outwards, without slivers, with materials that exist."""

import numpy as np
import pytest
import trimesh
from art.shape import make_beam, make_prism, mirror_mesh

from donkeysim.physics.vehicle import compute_rest_height
from donkeysim.world.scene import CLASS_GROUND, SHADE_CUTOUT, SHADE_PAINT, SHADE_TEXTURE
from donkeysim.world.specs import BODY_STYLES, SceneSpec, load_car
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.mesh import make_box, make_loft, make_revolved, place_mesh


@pytest.fixture(scope="module")
def scene():
    return load_scene(SceneSpec("generated_track"))


def as_trimesh(mesh):
    solid = trimesh.Trimesh(mesh.vertex, mesh.triangle, process=False)
    solid.merge_vertices(merge_tex=True, merge_norm=True)
    return solid


SOLIDS = {
    "box": make_box((0.2, 0.3, 0.4), (1.0, 2.0, 3.0), 0),
    "drum": make_revolved(((0.5, 0.0), (0.3, 1.0)), 9, 0),
    "spindle": make_revolved(((0.0, 0.0), (0.5, 0.4), (0.0, 1.0)), 7, 0),
    "wedge": make_prism(((0.0, 0.0), (1.0, 0.0), (0.0, 0.5)), 0.3, 0),
    "rod": make_beam((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0.1, 0),
    "mirrored": mirror_mesh(make_prism(((0.0, 0.0), (1.0, 0.0), (0.0, 0.5)), 0.3, 0, (0.0, 1.0, 0.0))),
    "moved": place_mesh(make_box((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), 0), (1.0, 2.0, 3.0), 0.7, 2.0),
    "backwards": make_loft([np.array([(x, y, z) for y, z in ((0, 0), (0, 1), (1, 0))]) for x in (0.0, 1.0)], 0),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_is_closed_and_faces_outwards(name):
    solid = as_trimesh(SOLIDS[name])
    assert solid.is_watertight
    assert solid.is_winding_consistent
    assert solid.volume > 0.0


def test_a_box_has_its_size_and_place():
    assert as_trimesh(SOLIDS["box"]).volume == pytest.approx(0.2 * 0.3 * 0.4, rel=1e-5)
    assert SOLIDS["box"].vertex.mean(axis=0) == pytest.approx([1.0, 2.0, 3.0], abs=0.1)


def test_every_mesh_of_a_scene_is_sound(scene):
    for mesh in (scene.static, *scene.models):
        corner = mesh.vertex[mesh.triangle].astype(float)
        area = 0.5 * np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
        assert area.min() > 1e-10
        assert np.isfinite(mesh.vertex).all()
        assert np.isfinite(mesh.uv).all()
        assert mesh.triangle.min() >= 0
        assert mesh.triangle.max() < len(mesh.vertex)
        assert mesh.material.min() >= 0
        assert mesh.material.max() < len(scene.materials)
        assert len(mesh.material) == len(mesh.triangle)
        assert mesh.vertex.dtype == mesh.uv.dtype == np.float32
        assert mesh.triangle.dtype == mesh.material.dtype == np.int32


def test_materials_and_textures_fit_together(scene):
    for material in scene.materials:
        assert bool(material.flags & SHADE_TEXTURE) == (material.texture >= 0)
        assert material.texture < len(scene.textures)
        assert all(0.0 <= part <= 1.0 for part in material.colour)
    for texture in scene.textures:
        assert texture.dtype == np.uint8
        assert texture.shape[2] == 4
        assert all(side & (side - 1) == 0 for side in texture.shape[:2])


def test_the_ground_faces_up_and_leaves_no_gap(scene):
    ground = [index for index, material in enumerate(scene.materials) if material.segment == CLASS_GROUND]
    triangle = scene.static.triangle[np.isin(scene.static.material, ground)]
    corner = scene.static.vertex[triangle].astype(float)
    up = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[:, 2]
    assert np.all(up > 0.0)
    x, y = scene.static.vertex[np.unique(triangle), :2].astype(float).T
    assert 0.5 * up.sum() == pytest.approx(np.ptp(x) * np.ptp(y), rel=1e-6)
    assert min(-x.min(), x.max(), -y.min(), y.max()) > 60.0


def test_trees_do_not_hang_into_the_road(scene):
    segment = np.array([material.segment for material in scene.materials])
    card = np.array([bool(material.flags & SHADE_CUTOUT) for material in scene.materials])
    solid = (segment != CLASS_GROUND) & ~card
    vertex = scene.static.vertex[np.unique(scene.static.triangle[solid[scene.static.material]])]
    low = vertex[vertex[:, 2] < 0.5]
    away = np.linalg.norm(low[:, None, :2] - scene.path.position[None, ::2, :2], axis=2).min(axis=1)
    assert away.min() > 0.34, "the foot of the original's nearest cone"


@pytest.mark.parametrize("style", BODY_STYLES)
def test_a_body_fits_the_chassis_and_clears_the_camera(scene, style):
    car = load_car("original")
    mesh = scene.models[scene.car_models[style].body]
    assert 150 <= len(mesh.triangle) <= 400
    low, high = mesh.vertex.min(axis=0), mesh.vertex.max(axis=0)
    assert high[0] - low[0] == pytest.approx(car.chassis_size[0], abs=0.06)
    assert low[2] > 0.02 - compute_rest_height(car)
    assert np.abs(mesh.vertex[:, 1]).max() < 0.11
    view = mesh.vertex - car.camera.position
    pitch = car.camera.rotation[1]
    ahead = view[:, 0] * np.cos(pitch) - view[:, 2] * np.sin(pitch)
    down = -view[:, 0] * np.sin(pitch) - view[:, 2] * np.cos(pitch)
    seen = (ahead > 0.01) & (np.abs(down) < np.tan(0.5 * car.camera.fov) * ahead)
    assert not seen.any()


@pytest.mark.parametrize("style", BODY_STYLES)
def test_a_body_shows_its_paint(scene, style):
    mesh = scene.models[scene.car_models[style].body]
    corner = mesh.vertex[mesh.triangle].astype(float)
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    painted = np.array([bool(scene.materials[index].flags & SHADE_PAINT) for index in mesh.material])
    assert area[painted].sum() > 0.25 * area.sum()


def test_bodies_differ_and_share_one_wheel(scene):
    outlines = {
        style: scene.models[scene.car_models[style].body].vertex.max(axis=0).round(3).tobytes() for style in BODY_STYLES
    }
    assert len(set(outlines.values())) == len(BODY_STYLES)
    assert len({scene.car_models[style].wheel for style in BODY_STYLES}) == 1


def test_the_wheel_is_as_large_as_the_cars(scene):
    car = load_car("original")
    wheel = scene.models[scene.car_models["donkey"].wheel]
    assert np.hypot(wheel.vertex[:, 0], wheel.vertex[:, 2]).max() == pytest.approx(car.wheel_radius, rel=1e-3)
    assert as_trimesh(wheel).is_watertight
    assert as_trimesh(wheel).volume > 0.0
