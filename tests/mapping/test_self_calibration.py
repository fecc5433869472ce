"""The camera of a drive is found from the drive; where it cannot be, one sentence says why."""

import math

import numpy as np
import pytest

from donkeysim.calibration.camera import Mount
from donkeysim.calibration.motion import FloorCamera
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.rotation import between, compose
from donkeysim.mapping import self_calibration as module
from donkeysim.mapping.loops import _list_hints
from donkeysim.mapping.odometry import Submap, Track
from donkeysim.mapping.self_calibration import find_camera, find_turns
from donkeysim.mapping.turns import Returns, find_returns
from donkeysim.world.lens import LensSpec
from mapping.painted_floor import CAMERA, list_poses, paint_around, paint_floor, take_pictures

COUNT = 160
"""A lap and a third."""

FISHEYE = LensSpec("equidistant", (160, 120), (80.0, 80.0), (79.5, 59.5), (-0.05, 0.0, 0.0, 0.0))
TRUE = FloorCamera(FISHEYE, Mount(0.16, math.radians(16.0), math.radians(2.0)), 0.09)

DRIVEN = between(list_poses(COUNT)[:-1], list_poses(COUNT)[1:])


@pytest.fixture(scope="module")
def pictures():
    return take_pictures(paint_floor(), list_poses(COUNT), TRUE, paint_around())


@pytest.fixture(scope="module")
def found(pictures):
    shares = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_STEPS", (2.0,))  # one round of the search instead of two
        answer = find_camera(pictures, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    return answer


def find_horizon(camera):
    return camera.find_pixels(np.array([[1.0, 0.0, 0.0]]))[0, 1]


def test_lens_and_mounting_are_those_of_the_camera(found):
    camera, turns, _ = found
    assert find_horizon(camera) == pytest.approx(find_horizon(TRUE), abs=2.0)
    assert camera.lens.focal[0] == pytest.approx(80.0, rel=0.06)
    assert math.degrees(camera.mount.roll) == pytest.approx(2.0, abs=1.0)
    assert turns.sum() == pytest.approx(DRIVEN[:, 2].sum(), rel=0.01)
    assert np.abs(turns - DRIVEN[:, 2]).mean() < 0.001


def test_the_floor_has_its_shape_but_for_the_scale(found):
    camera, _, _ = found
    near, far = np.meshgrid((0.2, 0.35, 0.5), (-0.2, 0.0, 0.2))
    floor = np.stack([near.ravel(), far.ravel()], axis=-1)
    seen = camera.find_floor(TRUE.find_places(floor + np.array([TRUE.ahead, 0.0]))) - (camera.ahead, 0.0)
    scale = (seen * floor).sum() / (floor * floor).sum()
    assert seen == pytest.approx(scale * floor, abs=0.025)
    assert scale == pytest.approx(camera.mount.height / TRUE.mount.height, rel=0.1)


def test_turns_are_told_by_a_known_camera_too(pictures):
    turns, returns = find_turns(pictures, TRUE, lambda _share: None)
    assert turns == pytest.approx(DRIVEN[:, 2], abs=0.004)
    assert abs(returns.shift) == pytest.approx(2.0 * math.pi * 80.0, rel=0.03)


def test_a_view_returns_where_it_was_seen_a_lap_before(pictures, found):
    poses, returns = list_poses(COUNT), found[2]
    away = between(poses[returns.begin], poses[returns.end])
    assert len(returns.begin) > 20
    assert np.quantile(np.hypot(*away[:, :2].T), 0.9) < 0.5
    assert np.abs(np.sin(0.5 * away[:, 2])).max() < 0.15
    assert np.hypot(*away[returns.lap, :2]) < 0.4


def test_what_returns_says_where_submaps_are():
    poses = np.array([[0.1 * number, 0.0, 0.0] for number in range(12)])
    submaps = [Submap(poses[2 * number], None, [2 * number, 2 * number + 1]) for number in range(6)]
    track = Track(poses, submaps, np.ones(12))
    returns = Returns(500.0, np.array([1, 2, 3]), np.array([11, 99, 4]), 0)
    hints = _list_hints(track, returns, 0.2)
    assert [(hint.begin, hint.end) for hint in hints] == [(0, 5)]  # 99 was never reached, 4 is too near
    assert compose(np.zeros(3), hints[0].motion) == pytest.approx([0.0, 0.0, 0.0])


# ---- what does not tell ------------------------------------------------------------------------------------------


def refuse(pictures, words):
    with pytest.raises(DonkeySimError, match=f"cannot be found in it: .*({words}).*give --camera"):
        find_camera(pictures, lambda _share: None)


def test_a_drive_without_a_lap_is_refused(pictures):
    refuse(pictures[:105], "no view returns")


def test_nothing_above_the_floor_is_refused():
    refuse(take_pictures(paint_floor(), list_poses(60)), "the horizon is not in")


def test_a_camera_that_looks_down_is_refused():
    down = FloorCamera(CAMERA.lens, Mount(0.16, math.radians(55.0), 0.0), 0.05)
    refuse(take_pictures(paint_floor(), list_poses(60), down), "the horizon is not in")


def test_views_that_return_without_a_turn_are_refused(pictures):
    still = np.zeros(COUNT - 1)
    with pytest.raises(DonkeySimError, match="no view returns"):
        find_returns(pictures, still, 37.0)


def test_ctrl_c_ends_the_search(pictures, monkeypatch):
    def press(floor, report, turning):
        return Track(np.zeros((1, 3)), [], np.ones(1))  # what `follow` returns then

    monkeypatch.setattr(module, "follow", press)
    with pytest.raises(KeyboardInterrupt):
        find_camera(pictures, lambda _share: None)
