"""What places are made with: poses, rasters laid on each other, canvases, and graphs of poses."""

import math

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from donkeysim.core.rotation import between, compose, make_matrix, read_matrix, wrap_angles
from donkeysim.mapping.pose_graph import Edge, solve
from donkeysim.mapping.raster import BirdsEye, Canvas, Raster, Reach, align, make_axes
from mapping.painted_floor import CAMERA

CELL = 0.01


def test_a_motion_leads_from_one_pose_to_the_other():
    draws = np.random.default_rng(1)
    begin, end = draws.uniform(-3.0, 3.0, (2, 50, 3))
    led = compose(begin, between(begin, end))
    assert led[:, :2] == pytest.approx(end[:, :2])
    assert wrap_angles(led[:, 2] - end[:, 2]) == pytest.approx(0.0, abs=1e-9)
    assert read_matrix(make_matrix(end[0])) == pytest.approx([*end[0, :2], float(wrap_angles(end[0, 2]))])


def make_raster(field, motion=(0.0, 0.0, 0.0), side=120):
    """A square of a field of the floor as it is seen from a pose; its frame's origin is in the square's middle."""
    axes = make_axes(CELL, 0.5 * (side - 1) * CELL, 0.5 * (side - 1) * CELL)
    row, column = np.indices((side, side)).reshape(2, -1)
    x, y, _ = make_matrix(np.array(motion)) @ axes @ np.stack([column, row, np.ones(len(row))])
    value = field(x, y).reshape(side, side).astype(np.float32)
    return Raster(value - value.mean(), np.ones((side, side), bool), axes)


def waves(x, y):
    return sum(40.0 * np.sin(a * x + b * y + a) for a, b in ((9, 4), (-5, 11), (14, -3), (2, 17)))


@pytest.mark.parametrize("motion", [(0.03, -0.02, 0.05), (-0.04, 0.01, -0.08), (0.0, 0.0, 0.0)])
def test_a_raster_is_laid_where_it_was_seen(motion):
    found = align(make_raster(waves, motion), make_raster(waves), np.zeros(3))
    assert found.motion == pytest.approx(motion, abs=5e-4)
    assert found.correlation > 0.99


def test_stripes_tell_nothing_of_the_way_along_them():
    stripes = make_raster(lambda x, y: 50.0 * np.sin(20.0 * y))
    found = align(stripes, stripes, np.zeros(3))
    assert found.information[1, 1] > 1e3 * found.information[0, 0]


def test_what_has_nothing_in_common_is_not_laid():
    noise = gaussian_filter(np.random.default_rng(2).normal(size=(120, 120)), 2.0).astype(np.float32) * 100
    other = make_raster(waves)._replace(value=noise)
    found = align(other, make_raster(waves), np.zeros(3))
    assert found is None or found.correlation < 0.3
    unseen = make_raster(waves)._replace(known=np.zeros((120, 120), bool))
    assert align(unseen, make_raster(waves), np.zeros(3)) is None


def test_a_canvas_shows_what_was_painted_on_it():
    view = BirdsEye(CAMERA, np.zeros((120, 160), bool), CELL, Reach(5.0, 4.0, 0.5, 0.1))
    canvas = Canvas(CELL, np.full(2, -2.0), np.full(2, 2.0))
    pose = np.array([0.3, -0.2, 0.7])
    x, y = (view.axes @ np.stack([*np.indices(view.shape)[::-1].reshape(2, -1), np.ones(view.seen.size)]))[:2]
    seen = (100.0 * np.sin(3.0 * x) + 50.0 * y).reshape(view.shape).astype(np.float32)
    for _ in range(3):
        canvas.paint(view, pose, seen, view.weight)
    shown, known = canvas.look(view, pose)
    assert known.mean() > 0.1
    assert np.abs(shown - seen)[known].max() < 4.0
    nothing, known = canvas.look(view, np.array([50.0, 0.0, 0.0]))
    assert not known.any()
    assert not nothing.any()


def drive_round(count=40):
    turn = np.arange(count) * 2 * math.pi / (count - 1)
    return np.column_stack([np.sin(turn), 1.0 - np.cos(turn), turn])


def make_edges(poses, noise):
    draws = np.random.default_rng(3)
    root = np.diag(1.0 / noise)
    return [
        Edge(n, n + 1, between(poses[n], poses[n + 1]) + draws.normal(0.0, noise), root, is_loop=False)
        for n in range(len(poses) - 1)
    ]


def test_a_loop_takes_back_what_the_steps_drifted():
    poses, noise = drive_round(), np.array([0.01, 0.01, 0.02])
    edges = make_edges(poses, noise)
    start = [np.zeros(3)]
    for edge in edges:
        start.append(compose(start[-1], edge.motion))
    start = np.array(start)
    loops = [
        Edge(n, n + 38, between(poses[n], poses[n + 38]), np.diag(1 / (0.1 * noise)), is_loop=True) for n in (0, 1)
    ]
    solved, miss = solve(start, [*edges, *loops])
    assert np.hypot(*(solved[-1] - poses[-1])[:2]) < 0.2 * np.hypot(*(start[-1] - poses[-1])[:2])
    assert miss[-2:].max() < 3.0
    assert solved[0] == pytest.approx(poses[0])


def test_a_wrong_loop_bends_nothing_and_is_told_by_its_miss():
    poses, noise = drive_round(), np.array([0.01, 0.01, 0.02])
    edges = make_edges(poses, 1e-3 * noise)
    wrong = Edge(3, 30, np.array([2.0, -1.0, 0.5]), np.diag(1 / noise), is_loop=True)
    solved, miss = solve(poses, [*edges, wrong])
    assert np.abs(solved - poses).max() < 0.02
    assert miss[-1] > 50.0
