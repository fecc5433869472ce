"""Cones, posts and the ground, boxes and each other: how deep, where, and which way out."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.backends import on_every_back_end
from tests.scenes import make_room, make_scene, make_slope

from donkeysim.physics.engine import make_terrain
from donkeysim.physics.kernels import boxes, layout

FRICTION, MARGIN = 0.5, 0.002


def make_frustums(*rows):
    """A scratch with frustums: rows of (middle of the base, axis, height, radius of base, radius of top)."""
    scratch = make_room(0, 2)
    for side, (base, axis, height, low, high) in enumerate(rows):
        scratch.frustum[side] = (*base, *(np.array(axis) / np.linalg.norm(axis)), height, low, high)
        scratch.body[side, layout.ROTATION : layout.ROTATION + 9] = np.eye(3).ravel()
    return scratch


def list_contacts(scratch, count):
    """Return points, normals and depths."""
    contact = scratch.contact[:count]
    points, normals = contact[:, layout.C_POINT :][:, :3], contact[:, layout.C_NORMAL :][:, :3]
    return points, normals, contact[:, layout.C_DEPTH]


def collide_ground(build, scratch, ground=None):
    """Frustum 0 and the ground."""
    terrain = make_terrain([make_scene(ground=ground)])
    return list_contacts(scratch, build(boxes.collide_frustum_ground)(scratch, 0, 0, terrain, 0, FRICTION, MARGIN))


def collide_box(build, scratch, centre, half, movable=True, turn=(0.0, 0.0, 0.0)):
    """Frustum 0 and a box: as body 0 or as what never moves."""
    scratch.box[1] = (*half, *centre, *Rotation.from_rotvec(turn).as_matrix().ravel())
    a, b = (0, 1) if movable else (-1, 1)
    return list_contacts(scratch, build(boxes.collide_frustum_box)(scratch, 0, 0, 1, a, b, -1, 4, FRICTION, MARGIN))


@on_every_back_end
def test_an_upright_cone_stands_on_four_points_of_its_rim(build):
    scratch = make_frustums(((0.5, 0.2, -0.001), (0.0, 0.0, 1.0), 0.2, 0.1, 0.02))
    points, normals, depths = collide_ground(build, scratch)
    assert depths == pytest.approx(0.001)
    assert normals.tolist() == [[0.0, 0.0, 1.0]] * 4
    quarters = [(0.4, 0.2), (0.5, 0.1), (0.5, 0.3), (0.6, 0.2)]
    assert sorted(points[:, :2].round(9).tolist()) == pytest.approx(np.array(quarters))


@on_every_back_end
def test_a_lying_cylinder_rests_on_a_point_of_either_rim(build):
    scratch = make_frustums(((0.0, 0.0, 0.0995), (1.0, 0.0, 0.0), 0.3, 0.1, 0.1))
    points, _, depths = collide_ground(build, scratch)
    assert points == pytest.approx(np.array([(0.0, 0.0, -0.0005), (0.3, 0.0, -0.0005)]))
    assert depths == pytest.approx(0.0005)


@on_every_back_end
def test_on_a_slope_depth_is_measured_across_it(build):
    scratch = make_frustums(((0.0, 0.0, -0.001), (-np.sin(0.3), 0.0, np.cos(0.3)), 0.2, 0.1, 0.02))
    _, normals, depths = collide_ground(build, scratch, make_slope(0.3))
    assert len(depths) == 4
    assert normals == pytest.approx(np.tile((-np.sin(0.3), 0.0, np.cos(0.3)), (4, 1)))
    assert depths == pytest.approx(0.001 * np.cos(0.3))


@on_every_back_end
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.0, 0.0, np.pi / 2)], ids=["straight", "turned"])
def test_a_post_leaves_a_wall_by_the_wall_s_face(build, turn):
    scratch = make_frustums(((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.4, 0.1, 0.1))
    half = (0.5, 2.0, 1.0) if turn[2] == 0.0 else (2.0, 0.5, 1.0)
    points, normals, depths = collide_box(build, scratch, (0.597, 0.0, 0.0), half, turn=turn)
    assert depths == pytest.approx(0.003)
    assert normals == pytest.approx(np.tile((-1.0, 0.0, 0.0), (2, 1)), abs=1e-9)
    assert points[:, 0] == pytest.approx(0.097)
    assert points[0, 2] < 0.2 < points[1, 2]


@on_every_back_end
def test_a_box_is_pushed_off_a_post_that_never_moves(build):
    scratch = make_frustums(((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.4, 0.1, 0.1))
    _, normals, _ = collide_box(build, scratch, (0.597, 0.0, 0.0), (0.5, 2.0, 1.0), movable=False)
    assert normals == pytest.approx(np.tile((1.0, 0.0, 0.0), (2, 1)), abs=1e-9)
    assert scratch.link[0].tolist() == [1, -1, 4, -1]


@on_every_back_end
def test_a_cone_whose_axis_is_inside_a_box_leaves_by_the_nearest_side(build):
    scratch = make_frustums(((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.1, 0.05, 0.01))
    _, normals, depths = collide_box(build, scratch, (-0.47, 0.0, 0.0), (0.5, 2.0, 1.0))
    assert normals == pytest.approx(np.tile((1.0, 0.0, 0.0), (2, 1)), abs=1e-9)
    assert depths == pytest.approx(0.03)


@on_every_back_end
def test_a_box_on_top_of_a_post_is_held_by_its_end(build):
    scratch = make_frustums(((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.4, 0.1, 0.1))
    _, normals, depths = collide_box(build, scratch, (0.02, 0.0, 0.501), (0.5, 0.5, 0.1))
    assert depths[-1] == pytest.approx(-0.001)
    assert normals[-1] == pytest.approx((0.0, 0.0, -1.0))


@on_every_back_end
@pytest.mark.parametrize(("distance", "count"), [(0.19, 1), (0.201, 1), (0.21, 0)])
def test_two_posts_meet_when_nearer_than_their_radii(build, distance, count):
    scratch = make_frustums(
        ((distance, 0.0, 0.0), (0.0, 0.0, 1.0), 0.4, 0.1, 0.1), ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.4, 0.1, 0.1)
    )
    points, normals, depths = list_contacts(scratch, build(boxes.collide_frustums)(scratch, 0, 0, 1, FRICTION, MARGIN))
    assert len(points) == count
    assert depths == pytest.approx(0.2 - distance)
    assert normals == pytest.approx(np.tile((1.0, 0.0, 0.0), (count, 1)))
