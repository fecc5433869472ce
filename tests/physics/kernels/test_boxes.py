"""Two boxes: how far apart, which faces or edges meet, and where."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.backends import on_every_back_end
from tests.scenes import make_room

from donkeysim.physics.kernels import boxes, layout

FRICTION, MARGIN = 0.5, 0.01


def make_boxes(*rows):
    """A scratch with two boxes: rows of (half size, centre, rotation vector)."""
    scratch = make_room(2, 0)
    for side, (half, centre, turn) in enumerate(rows):
        scratch.box[side] = (*half, *centre, *Rotation.from_rotvec(turn).as_matrix().ravel())
    return scratch


def collide(build, scratch):
    """Return points, normals and depths of all contacts."""
    count = build(boxes.collide_boxes)(scratch, 0, 0, 1, 5, 6, FRICTION, MARGIN)
    contact = scratch.contact[:count]
    assert scratch.link[:count].tolist() == [[0, 1, 5, 6]] * count
    points, normals = contact[:, layout.C_POINT :][:, :3], contact[:, layout.C_NORMAL :][:, :3]
    return points, normals, contact[:, layout.C_DEPTH]


@on_every_back_end
@pytest.mark.parametrize("turn", [0.0, 0.3, -1.2])
def test_a_box_on_a_box_rests_on_four_corners(build, turn):
    lower = ((1.0, 1.0, 0.5), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    upper = ((0.2, 0.1, 0.1), (0.3, 0.2, 0.595), (0.0, 0.0, turn))
    points, normals, depths = collide(build, make_boxes(upper, lower))
    assert len(points) == 4
    assert normals == pytest.approx(np.tile((0.0, 0.0, 1.0), (4, 1)), abs=1e-12)
    assert depths == pytest.approx(0.005)
    corners = np.array([(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.1, 0.1)])
    expected = np.add(Rotation.from_rotvec((0.0, 0.0, turn)).apply(corners), (0.3, 0.2, 0.0))
    assert sorted(points[:, :2].round(9).tolist()) == sorted(expected[:, :2].round(9).tolist())
    # On either of the two faces.
    assert np.abs(points[:, 2] - 0.4975) == pytest.approx(0.0025)


@on_every_back_end
def test_a_box_half_over_the_edge_touches_only_where_both_are(build):
    lower = ((1.0, 1.0, 0.5), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    upper = ((0.2, 0.1, 0.1), (1.0, 0.0, 0.6), (0.0, 0.0, 0.0))
    points, _, _ = collide(build, make_boxes(upper, lower))
    assert points[:, 0].min() == pytest.approx(0.8)
    assert points[:, 0].max() == pytest.approx(1.0)


@on_every_back_end
def test_crossed_edges_meet_in_one_point_between_them(build):
    roof = ((1.0, 0.1, 0.1), (0.0, 0.0, 0.0), (np.pi / 4, 0.0, 0.0))
    ridge = ((0.05, 1.0, 0.05), (0.05, 0.05, 0.15 * np.sqrt(2.0) - 0.004), (0.0, np.pi / 4, 0.0))
    points, normals, depths = collide(build, make_boxes(ridge, roof))
    assert len(points) == 1
    assert normals[0] == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)
    assert depths[0] == pytest.approx(0.004)
    assert points[0] == pytest.approx((0.05, 0.0, 0.1 * np.sqrt(2.0) - 0.002), abs=1e-9)


@on_every_back_end
def test_boxes_apart_by_more_than_the_margin_do_not_meet(build):
    near = ((0.1, 0.1, 0.1), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for gap, expected in ((MARGIN + 0.001, 0), (MARGIN - 0.001, 4)):
        points, _, depths = collide(build, make_boxes(near, ((0.1, 0.1, 0.1), (0.2 + gap, 0.0, 0.0), (0.0, 0.0, 0.0))))
        assert len(points) == expected
        assert depths == pytest.approx(-gap)


@on_every_back_end
@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (2.0, [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]),
        (0.25, [(0.0, 0.0), (0.25, 0.0), (0.25, 1.0), (0.0, 1.0)]),
        (-0.5, []),
    ],
    ids=["whole", "cut", "nothing left"],
)
def test_a_cut_keeps_what_lies_before_the_plane(build, limit, expected):
    polygon = np.zeros((2, 16, 3))
    polygon[1, :4] = [(0, 0, 3), (1, 0, 3), (1, 1, 3), (0, 1, 3)]
    count = build(boxes.cut_polygon)(polygon, 1, 4, (1.0, 0.0, 0.0), limit)
    assert polygon[0, :count].tolist() == [[x, y, 3.0] for x, y in expected]


@on_every_back_end
def test_the_projection_of_a_box_is_that_of_its_farthest_corner(build):
    scratch = make_boxes(((0.3, 0.2, 0.1), (5.0, 5.0, 5.0), (0.3, -0.5, 0.7)))
    direction = np.array((0.36, 0.48, 0.8))
    corners = np.array([(x, y, z) for x in (-0.3, 0.3) for y in (-0.2, 0.2) for z in (-0.1, 0.1)])
    reach = (Rotation.from_rotvec((0.3, -0.5, 0.7)).apply(corners) @ direction).max()
    assert build(boxes.project_axis)(scratch.box, 0, tuple(direction)) == pytest.approx(reach)
