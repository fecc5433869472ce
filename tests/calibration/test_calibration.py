"""What `donkey calibrate` is made of, on made-up corners, floors and drives; cameras and cars: soak/test_calibrate."""

import dataclasses
import math
import tomllib

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from donkeysim.calibration import wizard
from donkeysim.calibration.board import Board, draw_board, find_corners
from donkeysim.calibration.camera import Mount, solve_lens, solve_mount
from donkeysim.calibration.motion import FloorCamera, find_own_body, find_rates, follow_floor, scale_lens
from donkeysim.calibration.pictures import list_pictures
from donkeysim.calibration.response import FLOOR, MeasuredDrive, Response, find_steady, fit_scales, measure_response
from donkeysim.calibration.wizard import HORIZON_COLOUR, draw_overlay
from donkeysim.cli.donkey import run
from donkeysim.core.errors import DonkeySimError
from donkeysim.core.rotation import make_rotation
from donkeysim.render.warp import bend_rays
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.camera_file import load_camera
from donkeysim.world.lens import LensSpec
from donkeysim.world.specs import SceneSpec, WorldSpec, load_car

BOARD = Board()
SIZE = (320, 240)
LENS = LensSpec("plumb_bob", SIZE, (210.0, 212.0), (163.0, 117.5), (-0.12, 0.03, 0.001, -0.001, 0.0))
FISHEYE = LensSpec("equidistant", SIZE, (150.0, 150.0), (158.0, 121.0), (0.02, -0.01, 0.004, -0.001))
MOUNT = Mount(0.18, math.radians(20.0), math.radians(1.0))


def project(lens, pose):
    """Corners of the board: turned about its middle, then moved before the camera."""
    roll, pitch, yaw, *place = pose
    corners = BOARD.list_corners()
    points = (corners - corners.mean(axis=0)) @ make_rotation((roll, pitch, yaw)).reshape(3, 3).T + place
    x, y = bend_rays(lens, points[:, 0] / points[:, 2], points[:, 1] / points[:, 2])
    return np.column_stack([x, y]) * lens.focal + lens.centre


POSES = [
    (0.5, 0.0, 0.1, 0.0, 0.0, 0.35), (-0.5, 0.2, 0.0, 0.05, 0.02, 0.4), (0.1, 0.6, -0.2, -0.06, 0.05, 0.4),
    (0.0, -0.6, 0.3, 0.1, -0.05, 0.45), (0.4, 0.4, 0.6, -0.1, -0.06, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("lens", [LENS, FISHEYE], ids=["plumb_bob", "fisheye"])
def test_a_lens_is_found_from_where_it_shows_corners(lens):
    fit = solve_lens([project(lens, pose) for pose in POSES], SIZE, BOARD)
    assert fit.lens.model == lens.model
    assert fit.error < 0.01
    assert math.degrees(fit.lens.fov) == pytest.approx(math.degrees(lens.fov), abs=0.05)
    assert any("5 views only" in doubt for doubt in fit.warnings)
    assert not any("alike" in doubt for doubt in fit.warnings)


def test_corners_that_were_found_wrongly_are_left_out():
    views = [project(LENS, pose) for pose in POSES]
    views[1][7] += (9.0, 4.0)
    views[1][8] += (0.0, 3.0)
    fit = solve_lens(views, SIZE, BOARD)
    assert np.argwhere(~fit.kept).tolist() == [[1, 7], [1, 8]]
    assert math.degrees(fit.lens.fov) == pytest.approx(math.degrees(LENS.fov), abs=0.05)


def test_a_view_of_another_board_is_left_out():
    views = [project(LENS, pose) for pose in POSES]
    views += [project(LENS, (-roll, -pitch, yaw, -x, -y, z)) for roll, pitch, yaw, x, y, z in POSES]
    views.append(views[0] + np.random.default_rng(1).normal(0.0, 12.0, (40, 2)))
    fit = solve_lens(views, SIZE, BOARD)
    assert fit.kept[:10].all()
    assert not fit.kept[10].any()
    assert any("corners stand out" in doubt for doubt in fit.warnings)
    with pytest.raises(DonkeySimError, match="other pictures"):
        solve_mount(fit.lens, views[10:], BOARD, fit.kept[10:])


def test_views_that_are_alike_are_told():
    views = [project(LENS, (0.02 * k, 0.0, 0.1 * k, 0.01 * k, 0.0, 0.35 + 0.02 * k)) for k in range(4)]
    assert any("alike" in doubt for doubt in solve_lens(views, SIZE, BOARD).warnings)


def test_too_few_views_are_refused():
    with pytest.raises(DonkeySimError, match="3 views"):
        solve_lens([project(LENS, pose) for pose in POSES[:3]], SIZE, BOARD)


def make_floor_view(camera, ahead, yaw):
    corners = BOARD.list_corners()[:, :2]
    c, s = math.cos(yaw), math.sin(yaw)
    return camera.find_places((corners - corners.mean(axis=0)) @ np.array([[c, s], [-s, c]]) + (ahead, 0.02))


@pytest.mark.parametrize("lens", [LENS, FISHEYE], ids=["plumb_bob", "fisheye"])
def test_height_pitch_and_roll_follow_from_a_board_on_the_floor(lens):
    camera = FloorCamera(lens, MOUNT, 0.06)
    found = solve_mount(lens, [make_floor_view(camera, 0.5, 1.6), make_floor_view(camera, 0.6, -0.1)], BOARD)
    assert found.height == pytest.approx(MOUNT.height, abs=1e-4)
    assert (found.pitch, found.roll) == pytest.approx((MOUNT.pitch, MOUNT.roll), abs=1e-4)


def test_the_board_that_is_printed_is_the_board_that_is_found(tmp_path):
    draw_board(BOARD, tmp_path / "board.png")
    with Image.open(tmp_path / "board.png") as sheet:
        small = np.array(sheet.resize((640, 453)))[..., None]
    corners = find_corners(small, BOARD)
    spacing = np.linalg.norm(np.diff(corners.reshape(5, 8, 2), axis=1), axis=-1)
    assert spacing == pytest.approx(30.0 / 297.0 * 640.0, abs=0.5)


def test_pictures_of_another_size_than_most_are_left_out(tmp_path):
    draw_board(BOARD, tmp_path / "board.png")
    with Image.open(tmp_path / "board.png") as sheet:
        for name, height in (("a", 453), ("b", 453), ("c", 440)):
            sheet.resize((640, height)).save(tmp_path / f"{name}.jpg")
    (tmp_path / "board.png").unlink()
    seen = wizard.look_for_board(list_pictures([str(tmp_path)]), BOARD)
    assert (seen.size, len(seen.corners)) == ((640, 453), 2)
    assert seen.odd == (str(tmp_path / "c.jpg"),)


def test_a_known_lens_is_mounted_by_the_board_on_the_floor():
    camera = FloorCamera(LENS, MOUNT, 0.06)
    floor = wizard.Seen(SIZE, (make_floor_view(camera, 0.5, 1.6),), ("a",), (), ())
    twice = scale_lens(LENS, (2 * SIZE[0], 2 * SIZE[1]))
    found = wizard.mount_on_floor(twice, floor, BOARD)
    assert (found.height, found.pitch, found.roll) == pytest.approx((MOUNT.height, MOUNT.pitch, MOUNT.roll), abs=1e-4)
    with pytest.raises(DonkeySimError, match="in no picture of the floor"):
        wizard.mount_on_floor(LENS, dataclasses.replace(floor, corners=()), BOARD)


def test_a_board_larger_than_the_sheet_is_refused(tmp_path):
    with pytest.raises(DonkeySimError, match="31 mm at most"):
        draw_board(Board(square=0.04), tmp_path / "board.png")


def test_places_on_the_floor_are_seen_where_they_are():
    camera = FloorCamera(FISHEYE, MOUNT, 0.06)
    floor = np.array([[0.4, 0.1], [1.0, -0.3], [0.3, 0.0]])
    assert camera.find_floor(camera.find_places(floor)) == pytest.approx(floor, abs=1e-6)


def test_a_smaller_picture_shows_what_the_large_one_does():
    small = FloorCamera(scale_lens(LENS, (160, 120)), MOUNT, 0.06)
    large = FloorCamera(LENS, MOUNT, 0.06)
    places = np.array([[40.0, 80.0], [100.0, 100.0]])
    assert small.find_floor(places) == pytest.approx(large.find_floor(2.0 * places + 0.5), abs=1e-6)


@pytest.fixture(scope="module")
def drive_by():
    return make_speckled_floor()


def make_speckled_floor():
    """A camera, and what takes its picture of a speckled floor from a place."""
    camera = FloorCamera(scale_lens(LENS, (160, 120)), MOUNT, 0.06)
    speckle = gaussian_filter(np.random.default_rng(3).normal(size=(800, 800)), 2.0)
    speckle = 128.0 + 45.0 * speckle / speckle.std()
    pixels = np.indices((120, 160))[::-1].reshape(2, -1).T.astype(float)
    floor = camera.find_floor(pixels)

    def take_picture(place):
        c, s = math.cos(place[2]), math.sin(place[2])
        where = np.nan_to_num(floor @ np.array([[c, s], [-s, c]]) + place[:2], nan=50.0)
        shade = map_coordinates(speckle, 200.0 * where.T + 400.0, order=1, mode="constant", cval=128.0)
        return np.clip(shade, 0, 255).astype(np.uint8).reshape(120, 160, 1)

    return camera, take_picture


def test_a_car_s_motion_is_seen_in_the_floor(drive_by):
    camera, take_picture = drive_by
    move = np.array([0.04, 0.003, 0.06])
    (found,) = follow_floor([take_picture(np.zeros(3)), take_picture(move)], camera)
    assert found == pytest.approx(move, abs=6e-4)


def test_the_car_s_own_body_in_the_picture_is_not_taken_for_floor(drive_by):
    camera, take_picture = drive_by
    pictures = [take_picture((0.05 * frame, 0.0, 0.0)) for frame in range(40)]
    row, column = np.indices((48, 160))
    for picture in pictures:
        picture[72:] = np.where((row // 6 + column // 6) % 2, 250, 10)[..., None]
    own = find_own_body(pictures)
    assert own[72:].mean() > 0.95
    assert own[52:64].mean() < 0.3
    seen, fooled = (follow_floor(pictures[:4], camera, body)[:, 0] for body in (own, None))
    assert seen == pytest.approx(0.05, abs=2e-3)
    assert abs(fooled - 0.05).max() > 0.01


def test_a_floor_without_a_pattern_is_not_followed():
    camera = FloorCamera(scale_lens(LENS, (160, 120)), MOUNT, 0.06)
    assert np.isnan(follow_floor([np.full((120, 160, 3), 90, np.uint8)] * 2, camera)).all()


@pytest.mark.parametrize("turn", [0.0, 1e-9, 0.08, -0.15])
def test_rates_are_those_along_the_bend_not_along_its_chord(turn):
    ahead, left = 0.05, 0.004 * np.sign(turn)
    place, heading, count = np.zeros(2), 0.0, 20000
    for _ in range(count):  # driven in small steps
        heading += 0.5 * turn / count
        c, s = math.cos(heading), math.sin(heading)
        place = place + np.array([c * ahead - s * left, s * ahead + c * left]) / count
        heading += 0.5 * turn / count
    found = find_rates(np.array([[*place, turn]]), np.array([0.05]))[0]
    assert found == pytest.approx([ahead / 0.05, left / 0.05, turn / 0.05], abs=1e-8)


def test_a_preset_that_drives_as_itself_has_its_own_steering():
    response = measure_response("original")
    steering = np.repeat([0.35, -0.35, 0.55, -0.55, 0.2, -0.2], 70)
    simulator = Simulator(WorldSpec(SceneSpec(str(FLOOR)), world_count=2))
    simulator.apply(commands.Join([0, 1], []))
    speed, yaw_rate = np.zeros((2, 2, len(steering)))
    for frame, steer in enumerate(steering):
        for row, throttle in enumerate((0.09, 0.14)):
            simulator.drive_car(row, -float(steer), throttle, 0.0)
        simulator.step()
        speed[:, frame], yaw_rate[:, frame] = simulator.ledger.forward_speed, simulator.ledger.yaw_rate
    simulator.close()
    time = np.arange(len(steering)) / 20.0
    for row, throttle in enumerate((0.09, 0.14)):
        drive = MeasuredDrive(time, steering, np.full(len(steering), throttle), speed[row], yaw_rate[row])
        assert fit_scales(response, drive).steer_gain == pytest.approx(response.car.steer_gain, rel=2e-3)


def make_drive(gain, share, trim=0.0):
    """A car without slip whose speed is proportional to throttle."""
    car, steering = load_car("original"), np.repeat([0.4, -0.4, 0.7, -0.7], 60)
    base = car.wheel_position[0][0] - car.wheel_position[2][0]
    throttle, speed = np.full(240, 0.1), np.full(240, 0.8)
    yaw_rate = speed * np.tan(trim - gain * steering) / base
    response = Response(car, np.eye(8)[0], 0.125 * share * np.eye(10)[1])
    return response, MeasuredDrive(np.arange(240) / 20.0, steering, throttle, speed, yaw_rate)


def test_scales_are_those_with_which_the_car_does_what_was_seen():
    scales = fit_scales(*make_drive(0.31, 1.2, trim=0.02))
    assert (scales.steer_gain, scales.trim) == pytest.approx((0.31, 0.02), abs=1e-6)
    assert scales.torque_max == pytest.approx(1.2 * load_car("original").torque_max)
    assert scales.used == 4


def test_a_drive_that_holds_nothing_is_refused():
    response, drive = make_drive(0.3, 1.0)
    restless = dataclasses.replace(drive, steering=np.sin(np.arange(240.0)))
    with pytest.raises(DonkeySimError, match="held for"):
        find_steady(restless)
    straight = dataclasses.replace(drive, steering=np.full(240, 0.4))
    with pytest.raises(DonkeySimError, match="one steering only"):
        fit_scales(response, straight)


def test_the_files_say_what_was_found(tmp_path):
    wizard.write_camera(tmp_path / "camera.toml", FISHEYE, MOUNT, 0.06, load_car("original"))
    found = load_camera(str(tmp_path / "camera.toml"))
    assert (found.lens.model, found.lens.size) == (FISHEYE.model, SIZE)
    assert found.lens.coefficients == pytest.approx(FISHEYE.coefficients)
    assert found.position == pytest.approx((0.0645, 0.0, MOUNT.height - 0.0736))
    assert found.rotation == pytest.approx((MOUNT.roll, MOUNT.pitch, 0.0))
    scales = fit_scales(*make_drive(0.31, 1.2))
    wizard.write_car(tmp_path / "car.toml", "original", scales.steer_gain, scales.torque_max)
    written = tomllib.loads((tmp_path / "car.toml").read_text(encoding="utf-8"))
    assert (written["base"], written["steer_gain"]) == ("original", pytest.approx(0.31, rel=1e-5))
    assert "steer_limit" not in written
    wizard.write_car(tmp_path / "wide.toml", "original", 0.52, scales.torque_max)
    assert load_car(str(tmp_path / "wide.toml")).steer_limit == pytest.approx(0.52)


def test_the_horizon_is_drawn_where_the_camera_looks_straight_ahead():
    level = FloorCamera(
        LensSpec("plumb_bob", (64, 48), (40.0, 40.0), (31.5, 23.5), (0.0,) * 5), Mount(0.2, 0.0, 0.0), 0.0
    )
    drawn = draw_overlay(np.zeros((48, 64, 3), np.uint8), level)
    rows = np.flatnonzero((drawn == HORIZON_COLOUR).all(axis=-1).any(axis=1))
    assert set(rows) <= {23, 24}
    assert len(rows) > 0


def test_what_is_asked_wrongly_is_told(tmp_path, capsys):
    assert run(["calibrate", "--views", str(tmp_path)]) != 0
    assert "--views and --floor" in capsys.readouterr().err
    assert run(["calibrate", "--views", str(tmp_path), "--floor", str(tmp_path)]) != 0
    assert "no pictures" in capsys.readouterr().err
    Image.fromarray(np.zeros((48, 64, 3), np.uint8)).save(tmp_path / "a.png")
    Image.fromarray(np.zeros((40, 64, 3), np.uint8)).save(tmp_path / "b.png")
    with pytest.raises(DonkeySimError, match="differ in size"):
        wizard.look_for_board(list_pictures([str(tmp_path)]), BOARD)
