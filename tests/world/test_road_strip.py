"""The strip of a long road: it lies on the path, faces up, and shows lines where they are."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from donkeysim.world.scene import CLASS_GROUND, CLASS_LINE, CLASS_ROAD
from donkeysim.world.specs import RoadSpec, SceneSpec
from donkeysim.world.tracks import load_scene
from donkeysim.world.tracks.catalogue import find_track
from donkeysim.world.tracks.paths.path import build_centre_line
from donkeysim.world.tracks.terrain.land import LIFT, frame_strip
from donkeysim.world.tracks.track_file import read_track

SPEC = SceneSpec("generated_road", road=RoadSpec(seed=0))


@pytest.fixture(scope="module")
def scene():
    return load_scene(SPEC)


@pytest.fixture(scope="module")
def line():
    track = read_track(find_track(SPEC))
    return build_centre_line(track.path, track.road)


@pytest.fixture(scope="module")
def strip(scene):
    """Its corners, their places in its picture, its triangles, its picture and what is what there."""
    material = scene.materials[scene.static.material[0]]
    triangle = scene.static.triangle[scene.static.material == scene.static.material[0]]
    picture, classes = scene.textures[material.texture], scene.class_maps[material.class_map]
    return scene.static.vertex, scene.static.uv, triangle, picture, classes


def test_it_covers_the_road_from_end_to_end_and_faces_up(scene, strip, line):
    vertex, _, triangle, _, _ = strip
    corner = vertex[triangle].astype(float)
    up = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[:, 2]
    assert np.all(up > 0.0)
    assert 0.5 * up.sum() > 250.0 * 1.25
    assert 0.5 * up.sum() < 250.0 * 1.25 * 1.15
    assert len(triangle) < 1500
    assert corner[..., 2] == pytest.approx(scene.ground.height[0, 0] + LIFT)


def test_its_lines_are_where_the_track_has_them(strip, line):
    """A texel of each line, found through the triangle that shows it, lies as far beside the path as the line does."""
    vertex, uv, triangle, _, classes = strip
    samples = line.position
    tree = cKDTree(samples[::5])
    for across in (0.7736, -0.2219, 0.2738):
        found = 0
        for face in triangle[::37]:
            weight = np.random.default_rng(int(face[0])).dirichlet(np.ones(3), 400)
            place = weight @ vertex[face][:, :2].astype(float)
            at = weight @ uv[face].astype(float)
            row = (at[:, 1] * classes.shape[0]).astype(int)
            kind = classes[row, (at[:, 0] * classes.shape[1]).astype(int) % classes.shape[1]]
            index = tree.query(place)[1] * 5
            ahead = np.column_stack((np.cos(line.yaw[index]), np.sin(line.yaw[index])))
            beside = place - samples[index]
            lateral = ahead[:, 0] * beside[:, 1] - ahead[:, 1] * beside[:, 0]
            near = np.abs(lateral - across) < 0.006
            found += near.sum()
            assert np.all(kind[near] == CLASS_LINE)
            assert np.all(kind[np.abs(lateral) < 0.1] == CLASS_ROAD)
        assert found > 10


def test_below_the_pictures_last_stretch_is_ground(strip):
    assert set(np.unique(strip[4])) <= {CLASS_GROUND, CLASS_ROAD, CLASS_LINE}


@pytest.mark.parametrize("half", [0.5, 1.5, 3.0])
def test_a_frame_is_as_fine_across_as_a_small_place_s_picture(line, half):
    frame = frame_strip(line, half, half)
    assert frame.width / frame.rows <= 0.0075
    assert frame.count * frame.length == pytest.approx(line.length)
    assert frame.length / frame.columns < 0.035
    assert frame.count * frame.rows * frame.columns <= 2**24
