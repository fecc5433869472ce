"""What cannot be is refused in a sentence, and what is doubtful is told: wrong lenses, drives that say little."""

import dataclasses
import math
import tomllib

import numpy as np
import pytest

from calibration.test_calibration import (
    BOARD,
    FISHEYE,
    LENS,
    MOUNT,
    SIZE,
    make_drive,
    make_floor_view,
    make_speckled_floor,
    project,
)
from donkeysim.calibration import wizard
from donkeysim.calibration.camera import (
    Mount,
    _Poses,
    _solve_equidistant,
    list_mount_doubts,
    refuse_impossible,
    solve_lens,
    solve_mount,
)
from donkeysim.calibration.lane import solve_lane
from donkeysim.calibration.lane_lines import LaneLine
from donkeysim.calibration.motion import FloorCamera
from donkeysim.calibration.response import fit_scales
from donkeysim.core.errors import DonkeySimError
from donkeysim.tub.writer import TubWriter


def see_floor(lens, share, noise=0.05):
    """How a camera is mounted if a board on the floor was seen through `lens` and another focal length is assumed."""
    random = np.random.default_rng(0)
    camera = FloorCamera(lens, MOUNT, 0.06)
    views = [make_floor_view(camera, ahead, turn) for ahead, turn in ((0.35, 1.6), (0.5, -0.1), (0.45, 0.8))]
    wrong = dataclasses.replace(lens, focal=tuple(share * focal for focal in lens.focal))
    return solve_mount(wrong, [view + random.normal(0.0, noise, view.shape) for view in views], BOARD)


@pytest.mark.parametrize("lens", [LENS, FISHEYE], ids=["plumb_bob", "fisheye"])
def test_a_lens_that_did_not_take_the_pictures_of_the_floor_is_told(lens):
    assert list_mount_doubts(see_floor(lens, 1.0)) == []
    for share in (0.8, 0.85, 1.2, 1.5):
        assert "did another one take the pictures" in list_mount_doubts(see_floor(lens, share))[0]


@pytest.mark.parametrize(("taken", "assumed"), [(LENS, FISHEYE), (FISHEYE, LENS)], ids=["a fisheye", "no fisheye"])
def test_a_lens_of_another_kind_is_told(taken, assumed):
    view = make_floor_view(FloorCamera(taken, MOUNT, 0.06), 0.4, 0.8)
    assert "did another one take the pictures" in list_mount_doubts(solve_mount(assumed, [view], BOARD))[0]


def test_pictures_of_the_floor_that_differ_are_told():
    views = [make_floor_view(FloorCamera(LENS, MOUNT, 0.06), 0.5, 0.8)]
    views.append(make_floor_view(FloorCamera(LENS, dataclasses.replace(MOUNT, height=0.24), 0.06), 0.5, 0.8))
    assert "differ by up to 3.0 cm" in list_mount_doubts(solve_mount(LENS, views, BOARD))[0]


@pytest.mark.parametrize(
    "mount",
    [Mount(5.0, 0.3, 0.0), Mount(0.001, 0.3, 0.0), Mount(0.2, 1.5, 0.0), Mount(0.2, 0.3, 1.0), Mount(-0.2, 0.3, 0)],
)
def test_a_mounting_that_no_camera_has_is_refused(mount):
    with pytest.raises(DonkeySimError, match="which no car's camera is; check the lens"):
        refuse_impossible(mount)
    refuse_impossible(MOUNT)


@pytest.mark.parametrize(
    "lines",
    [
        (LaneLine(-0.4, 0.5, 0.1, 0.5), LaneLine(0.4, 0.5, 0.1, 0.5)),  # side by side, nowhere on a horizon
        (LaneLine(math.nan, 1.0, 0.1, 0.5), LaneLine(0.4, 0.5, 0.1, 0.5)),
        (LaneLine(0.1, 0.0, 0.1, 0.5), LaneLine(0.1, 0.0, 0.1, 0.5)),
    ],
    ids=["parallel", "no number", "one line twice"],
)
def test_lines_that_are_none_of_a_lane_end_in_a_sentence(lines):
    with pytest.raises(DonkeySimError, match=r"do not come apart towards the camera|seen in \d+ of 20"):
        solve_lane([lines] * 20, 0.5, LENS.focal[0], SIZE[0])


def test_a_board_that_was_seen_nowhere_ends_in_a_sentence():
    views = [np.full((len(BOARD.list_corners()), 2), 100.0)] * 6
    with pytest.raises(DonkeySimError, match=r"no lens shows the board|cannot be placed"):
        solve_lens(views, SIZE, BOARD)


def test_where_a_fisheye_cannot_begin_the_other_lens_stays():
    seen = np.array([project(LENS, (0.5, 0.0, 0.1, 0.0, 0.0, 0.35))] * 4)
    poses = np.zeros((4, 6))  # the board at the camera itself
    first = _Poses(LENS, poses, np.zeros(seen.shape[:2]), 0.1)
    found = _solve_equidistant(first, seen, np.ones(seen.shape[:2], bool), BOARD)
    assert found.lens == LENS
    assert np.isinf(found.apart).all()


@pytest.fixture(scope="module")
def winding_drive():
    """A camera, and what it sees of a floor on a winding way."""
    camera, take_picture = make_speckled_floor()
    place, pictures = np.zeros(3), []
    for frame in range(16):
        pictures.append(take_picture(place))
        c, s = math.cos(place[2]), math.sin(place[2])
        place = place + np.array([0.04 * c, 0.04 * s, 0.06 * math.sin(frame / 6)])
    return camera, pictures


@pytest.mark.parametrize(
    ("focal", "turned", "is_told"),
    [(1.0, 0.0, False), (0.8, 0.0, True), (1.2, 0.0, True), (1.0, 5.0, True), (1.0, -5.0, True)],
)
def test_a_drive_that_another_camera_took_is_told(winding_drive, focal, turned, is_told, tmp_path):
    camera, pictures = winding_drive
    with TubWriter(tmp_path, ["cam/image_array"], ["image_array"]) as tub:
        for picture in pictures:
            tub.write_record({"cam/image_array": picture})
    lens = dataclasses.replace(camera.lens, focal=tuple(focal * each for each in camera.lens.focal))
    mount = dataclasses.replace(camera.mount, pitch=camera.mount.pitch + math.radians(turned))
    drive = wizard.follow_drive(tmp_path, FloorCamera(lens, mount, 0.06), rate=20.0)
    assert bool(drive.list_doubts()) == is_told
    if is_told:
        assert "did another camera take the drive" in drive.list_doubts()[0]


@pytest.mark.parametrize("gain", [-0.3, 0.01])
def test_a_steering_that_no_car_has_is_refused(gain):
    with pytest.raises(DonkeySimError, match=r"steering 1 would turn the wheels by .* which no car does"):
        fit_scales(*make_drive(gain, 1.0))


def test_a_steering_of_which_little_is_known_is_refused():
    response, drive = make_drive(0.3, 1.0)
    noise = np.repeat([0.4, 0.5, 0.6, -0.7], 60)
    with pytest.raises(DonkeySimError, match="too uncertain; hold each steering for longer"):
        fit_scales(response, dataclasses.replace(drive, yaw_rate=drive.yaw_rate + noise))


@pytest.mark.parametrize("share", [-1.0, 0.001, 50.0, "noise"])
def test_a_torque_that_cannot_be_costs_the_steering_nothing(share, tmp_path):
    response, drive = make_drive(0.3, 1.0 if share == "noise" else share)
    if share == "noise":  # the throttle says nothing of the speed
        throttle = np.repeat([0.01, 0.9, -0.5, 0.02], 60)
        drive = dataclasses.replace(drive, throttle=throttle)
    scales = fit_scales(response, drive)
    assert scales.steer_gain == pytest.approx(0.3, abs=1e-3)
    assert scales.torque_max is None
    wizard.write_car(tmp_path / "car.toml", "original", scales.steer_gain, scales.torque_max)
    assert tomllib.loads((tmp_path / "car.toml").read_text()).keys() == {"base", "steer_gain"}
