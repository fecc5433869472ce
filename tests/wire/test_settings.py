"""Configuration messages change what they name and nothing else."""

import math

import pytest

from donkeysim.wire import settings
from donkeysim.wire.reading import read_request
from donkeysim.world.specs import BodySpec, CameraSpec, LidarSpec


def ask(kind, **fields):
    return read_request({"msg_type": kind, **fields}).request


def test_an_empty_configuration_changes_nothing():
    body, camera, lidar = BodySpec(name="abc"), CameraSpec(width=64, fisheye=(0.1, 0.2)), LidarSpec(noise=0.5)
    assert settings.change_body(body, ask("car_config")) == body
    assert settings.change_camera(camera, ask("cam_config")) == camera
    assert settings.change_lidar(lidar, ask("lidar_config")) == (lidar, "")


def test_a_placeholder_name_makes_the_whole_message_void_and_a_short_name_is_not_shown():
    body = BodySpec()
    assert settings.change_body(body, ask("car_config", car_name="Racer Name", body_style="f1")) == body
    assert settings.change_body(body, ask("car_config", car_name="x", body_style="f1")).name == ""
    assert settings.change_body(body, ask("car_config", car_name="xy")).name == "xy"


def test_offsets_replace_the_position_as_one_group():
    camera = settings.change_camera(
        CameraSpec(), ask("cam_config", offset_x="0.0", offset_y="3.0", offset_z="0.0", rot_x="90.0")
    )
    assert camera.position == pytest.approx((0.0, 0.0, 3.0 / 8.0))
    assert camera.rotation == pytest.approx((0.0, math.radians(90), 0.0))
    assert camera.fov == CameraSpec().fov


def test_components_that_are_missing_keep_their_value():
    camera = settings.change_camera(CameraSpec(), ask("cam_config", offset_y="8"))
    assert camera.position == pytest.approx((CameraSpec().position[0], 0.0, 1.0))


def test_fisheye_goes_on_stays_on_and_off():
    warped = settings.change_camera(CameraSpec(), ask("cam_config", fish_eye_x="0.4", fish_eye_y="0"))
    assert warped.fisheye == (0.4, 0.0)
    assert settings.change_camera(warped, ask("cam_config", fish_eye_x="0", fish_eye_y="0")).fisheye == (0.4, 0.0)
    assert settings.change_camera(warped, ask("cam_config", fish_eye_x="off")).fisheye == (0.0, 0.0)


def test_grey_and_back_to_colour():
    grey = settings.change_camera(CameraSpec(), ask("cam_config", img_d=1))
    assert grey.grey
    assert settings.change_camera(grey, ask("cam_config", img_d=0)).grey
    assert not settings.change_camera(grey, ask("cam_config", img_d=3)).grey


def test_a_lidar_with_too_many_rays_loses_levels_with_a_note():
    lidar, note = settings.change_lidar(LidarSpec(), ask("lidar_config", degPerSweepInc="0.25", numSweepsLevels="100"))
    assert lidar.level_count == 20_000 // 1440
    assert "numSweepsLevels" in note


def test_a_lidar_tells_everything_that_was_changed_in_one_sentence():
    reading = read_request({"msg_type": "lidar_config", "degPerSweepInc": "0.25", "numSweepsLevels": "500"})
    assert reading.note == ""
    lidar, note = settings.change_lidar(LidarSpec(), reading.request)
    assert lidar.level_count == 20_000 // 1440
    assert note == (
        "lidar_config: numSweepsLevels 500 was changed to 128; it takes 1 to 128; "
        "numSweepsLevels 128 was changed to 13; a scan has at most 20000 rays."
    )


@pytest.mark.parametrize("value", ["1e9", "-1e9", "1e-9"])
def test_a_lidar_brought_within_the_limits_of_the_wire_is_one_that_programs_may_ask_for_too(value):
    names = ("degPerSweepInc", "degAngDown", "degAngDelta", "maxRange", "noise", "offset_x", "offset_z", "rot_x")
    lidar, note = settings.change_lidar(LidarSpec(), ask("lidar_config", **dict.fromkeys(names, value)))
    assert "was changed" in note
    assert settings.change_lidar(lidar, ask("lidar_config", numSweepsLevels="200"))[0].level_count >= 1
