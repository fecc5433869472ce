"""Clients' objects become messages in our units; numbers are taken as people write them."""

import math
import re
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from donkeysim.core.errors import WireError
from donkeysim.wire import equipment, reading
from donkeysim.wire.messages import DriveCar
from donkeysim.wire.reading import REQUESTS, read_request

LIDAR_FIELDS = (
    "degPerSweepInc", "degAngDown", "degAngDelta", "numSweepsLevels", "maxRange", "noise", "offset_x", "offset_y",
    "offset_z", "rot_x",
)  # fmt: skip

OF_THE_ORIGINAL = {
    "get_protocol_version", "get_scene_names", "load_scene", "exit_scene", "quit_app", "control", "reset_car",
    "step_mode", "regen_road", "car_config", "cam_config", "cam_config_b", "lidar_config", "set_position",
    "node_position", "racer_info", "connected",
}  # fmt: skip


def read(kind, **fields):
    return read_request({"msg_type": kind, **fields})


@pytest.mark.original("Messages", 'numbers as texts (`"0.5"`, `"+.5"`)', "read; what is no number is an error")
@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("0.5", 0.5),
        (0.5, 0.5),
        (1, 1.0),
        (" 0.5 ", 0.5),
        ("+.5", 0.5),
        ("-0.5", -0.5),
        ("1.", 1.0),
        ("5e-1", 0.5),
        ("-.5E0", -0.5),
    ],
)
def test_numbers_are_read_as_people_write_them(given, value):
    assert read("control", throttle=given).request.throttle == value


@pytest.mark.parametrize(
    "given",
    [
        True,
        None,
        "nan",
        "inf",
        "-Infinity",
        "1e999",
        10**400,
        "",
        " ",
        "abc",
        "1,5",
        "0x1",
        "1_0",
        "١",
        [],
        {},
        "1 2",
        "--1",
        ".",
    ],
)
def test_what_is_no_finite_number_is_an_error_that_names_the_field(given):
    with pytest.raises(WireError, match="control: steering"):
        read("control", steering=given)


@pytest.mark.original("Messages", "controls beyond 1", "limited")
def test_steering_right_is_negative_steer_and_controls_are_clamped():
    assert read("control", steering="0.25", throttle="-9", brake="7").request == DriveCar(
        steer=-0.25, throttle=-1.0, brake=1.0
    )
    assert read("control", steering=-3, brake=-1).request == DriveCar(steer=1.0, throttle=None, brake=0.0)


def test_missing_controls_are_kept_and_a_missing_brake_is_none():
    assert read("control").request == DriveCar(steer=None, throttle=None, brake=0.0)


@pytest.mark.original("Messages", "all messages of the original", "[as it is](wire.md)")
def test_every_message_of_the_page_is_known():
    assert set(REQUESTS) >= OF_THE_ORIGINAL


@pytest.mark.parametrize(
    "kind", ["connected", "get_protocol_version", "get_scene_names", "exit_scene", "quit_app", "reset_car"]
)
def test_messages_without_fields_need_only_their_type(kind):
    assert read(kind, more="ignored").request.message_type() == kind


@pytest.mark.parametrize(
    ("fields", "text"), [({}, "is missing"), ({"msg_type": 3}, "is 3"), ({"msg_type": None}, "is null")]
)
def test_an_object_without_a_type_is_an_error_that_lists_the_types(fields, text):
    with pytest.raises(WireError, match=text) as error:
        read_request(fields)
    assert "lidar_config" in str(error.value)


def test_an_unknown_type_names_the_nearest_one():
    with pytest.raises(WireError, match="did you mean 'reset_car'"):
        read("resetcar")


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        ("load_scene", {}, "scene_name is missing"),
        ("load_scene", {"scene_name": None}, "scene_name is null"),
        ("set_position", {"pos_x": 1, "pos_y": 1}, "pos_z is missing"),
        ("node_position", {}, "index is missing"),
        ("node_position", {"index": "1.5"}, "whole number"),
        ("cam_config", {"img_w": "160.5"}, "whole number"),
        ("set_position", {"pos_x": 1e9, "pos_y": 1, "pos_z": 1}, "too far"),
    ],
)
def test_only_fields_that_are_needed_are_required(kind, fields, text):
    with pytest.raises(WireError, match=text):
        read(kind, **fields)


def test_whole_numbers_may_be_written_with_a_point():
    assert read("node_position", index="3.0").request.index == 3
    assert read("node_position", index=4.0).request.index == 4


# -- step_mode --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("time_step", "count"), [("0.05", 24), (1, 480), ("0.0021", 1), (0.0166, 8)])
def test_time_steps_are_rounded_to_physics_steps(time_step, count):
    request = read("step_mode", step_mode="synchronous", time_step=time_step).request
    assert (request.is_synchronous, request.step_count) == (True, count)


@pytest.mark.parametrize("time_step", ["0", "0.001", "1.01", "-1", "1e300", "-1e300"])
def test_impossible_time_steps_are_errors(time_step):
    with pytest.raises(WireError, match="time_step"):
        read("step_mode", step_mode="synchronous", time_step=time_step)


def test_asynchronous_needs_no_time_step():
    assert read("step_mode", step_mode="asynchronous", time_step="0").request.is_synchronous is False
    with pytest.raises(WireError, match="did you mean 'synchronous'"):
        read("step_mode", step_mode="synchronus")


@pytest.mark.original("Messages", "fields of forks in `regen_road` (`wayPoints`)", "do nothing; the client is told so")
def test_a_road_by_waypoints_of_a_fork_is_told_to_do_nothing_here():
    request, note = read("regen_road", rand_seed="7", wayPoints="0,0@1,1")
    assert request.rand_seed == 7
    assert note == "regen_road: wayPoints does nothing here, only road_style, rand_seed, turn_increment do."
    assert read("regen_road", rand_seed="7").note == ""


# -- car_config -------------------------------------------------------------------------------------------------------


def test_a_car_is_dressed_and_missing_fields_keep():
    request, note = read(
        "car_config", body_style="f1", body_r="128", body_g=0.0, body_b=255, car_name="A\nB", font_size="10"
    )
    assert request == equipment.ConfigureCar(style="f1", colour=(128, 0, 255), name="A\nB", font_size=10)
    assert note == ""
    assert read("car_config").request == equipment.ConfigureCar(
        style=None, colour=(None, None, None), name=None, font_size=None
    )


def test_an_unknown_body_style_becomes_donkey_with_a_note():
    request, note = read("car_config", body_style="cybertrck", body_r=300, font_size="0")
    assert request.style == "donkey"
    assert request.colour[0] == 255
    assert request.font_size == 10
    assert "cybertruck" in note
    assert "body_r 300 was changed to 255" in note


def test_a_long_name_is_cut_with_a_note():
    request, note = read("car_config", car_name="x" * 100)
    assert len(request.name) == 64
    assert "64" in note


# -- cameras ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zero", [0, "0", 0.0, "0.0", " 0 "])
def test_zero_keeps_every_field_of_a_camera_silently(zero):
    names = [
        "fov",
        "fish_eye_x",
        "fish_eye_y",
        "img_w",
        "img_h",
        "img_d",
        "img_enc",
        "offset_x",
        "offset_y",
        "offset_z",
        "rot_x",
        "rot_y",
        "rot_z",
    ]
    request, note = read("cam_config", **dict.fromkeys(names, zero))
    assert note == ""
    assert request == read("cam_config").request
    assert all(
        value is None for value in (request.fov, request.size, request.fisheye, request.position, request.rotation)
    )
    assert request.grey is None
    assert request.encoding is None


def test_camera_fields_become_ours():
    request, note = read(
        "cam_config", fov="60", img_w="255", img_h=64, img_d="1", img_enc="PNG", fish_eye_x="0.5", fish_eye_y="0",
        offset_x="1", offset_y="2", offset_z="4", rot_x="90", rot_y="10", rot_z="0",
    )  # fmt: skip
    assert note == ""
    assert request.fov == pytest.approx(math.radians(60))
    assert request.size == (255, 64)
    assert request.grey is True
    assert request.encoding == "PNG"
    assert request.fisheye == (0.5, 0.0)
    assert request.position == pytest.approx((0.5, -0.125, 0.25))
    assert request.rotation == pytest.approx((0.0, math.radians(90), math.radians(-10)))


def test_width_and_height_change_only_together():
    assert read("cam_config", img_w=100).request.size is None
    assert read("cam_config", img_w=100, img_h="0").request.size is None


def test_missing_components_of_a_group_keep_theirs():
    request = read("cam_config", offset_y="2", rot_x="20", fish_eye_y=0.3).request
    assert request.position == (None, None, 0.25)
    assert request.rotation == (None, pytest.approx(math.radians(20)), None)
    assert request.fisheye == (None, 0.3)


def test_out_of_range_camera_fields_are_clamped_with_one_note():
    request, note = read("cam_config_b", fov=200, img_w=4, img_h=4000, img_d=2, fish_eye_x=3, img_enc="GIF")
    assert isinstance(request, equipment.ConfigureSecondCamera)
    assert request.fov == pytest.approx(math.radians(170))
    assert request.size == (16, 2160)
    assert request.fisheye == (1.0, None)
    assert request.grey is False
    assert request.encoding == "JPG"
    assert note.count("was changed to") == 6


@pytest.mark.parametrize(
    "fields", [{"fish_eye_x": "off"}, {"fish_eye_y": "OFF"}, {"fish_eye_x": "off", "fish_eye_y": "0"}]
)
def test_off_switches_the_fisheye_off(fields):
    assert read("cam_config", **fields).request.fisheye == (0.0, 0.0)


def test_encodings_are_read_in_any_case():
    assert [read("cam_config", img_enc=name).request.encoding for name in ("jpg", "JPEG", "tga", "0", 0)] == [
        "JPG",
        "JPG",
        "TGA",
        None,
        None,
    ]


# -- lidar, positions, racers -----------------------------------------------------------------------------------------


def test_lidar_fields_become_ours_and_zero_keeps():
    request, note = read(
        "lidar_config", degPerSweepInc="2.0", degAngDown="25", degAngDelta="-1.0", numSweepsLevels="3", maxRange="50.0",
        noise="0.4", offset_x="0", offset_y="0.5", offset_z="0.5", rot_x="0",
    )  # fmt: skip
    assert note == ""
    assert request.sweep_increment == pytest.approx(math.radians(2))
    assert request.angle_down == pytest.approx(math.radians(25))
    assert request.angle_delta == pytest.approx(math.radians(-1))
    assert request.level_count == 3
    assert request.max_range == pytest.approx(6.25)
    assert request.noise == pytest.approx(0.05)
    assert request.position == pytest.approx((0.0625, 0.0, 0.0625))
    assert request.pitch is None
    names = LIDAR_FIELDS
    assert read("lidar_config", **dict.fromkeys(names, "0")) == read("lidar_config")


def test_positions_are_raw_units_and_rotations_take_both_spellings():
    request = read("set_position", pos_x="8", pos_y="16", pos_z="24", Qx=0, Qy="0", Qz=0, Qw=2).request
    assert request.position == pytest.approx((3.0, -1.0, 2.0))
    assert request.orientation == pytest.approx((1.0, 0.0, 0.0, 0.0))
    lower = read("set_position", pos_x=0, pos_y=0, pos_z=0, qx=0, qy=0.5**0.5, qz=0, qw=0.5**0.5).request
    half = 0.5**0.5
    assert lower.orientation == pytest.approx((half, 0.0, 0.0, -half)), "a turn to the right is a negative yaw"
    assert read("set_position", pos_x=0, pos_y=0, pos_z=0).request.orientation is None


@pytest.mark.parametrize("rotation", [{"Qx": 0, "Qy": 0, "Qz": 0, "Qw": 0}, {"Qx": 1}, {"qx": 0, "qy": 0, "qz": 0}])
def test_rotations_that_are_none_are_errors(rotation):
    with pytest.raises(WireError, match="Q"):
        read("set_position", pos_x=0, pos_y=0, pos_z=0, **rotation)


def test_tiny_and_huge_quaternions_keep_their_direction():
    for size in (1e-200, 1e200):
        request = read("set_position", pos_x=0, pos_y=0, pos_z=0, Qx=0, Qy=size, Qz=0, Qw=0).request
        assert request.orientation == pytest.approx((0.0, 0.0, 0.0, -1.0))


def test_racers_may_have_numbers_for_texts():
    request = read("racer_info", racer_name="R", car_name="C", bio="b", country="X", guid=0).request
    assert request.guid == "0"


def test_roads_take_whole_numbers():
    request = read("regen_road", road_style="2", rand_seed="7.0", turn_increment="1.5").request
    assert (request.road_style, request.rand_seed, request.turn_increment) == (2, 7, 1.5)
    with pytest.raises(WireError, match="road_style"):
        read("regen_road", road_style="2.5")


# -- quick ways ------------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""What a text must look like to be a number."""

NUMBER_TEXTS = st.one_of(
    st.from_regex(r"\s?[-+]?[0-9]{0,3}\.?[0-9]{0,3}([eE_][-+]?[0-9]{1,3})?\s?"),
    st.floats(-2, 2).map(str),
    st.text(alphabet="+-.eE_0123456789 nainf٣\u00a0\x1c", max_size=8),
    st.sampled_from(["0.1", "-0", "0" * 399 + "1", "0" * 400 + "1", "nan", "inf", "1_0", "٣", "1e999", "infinity"]),
)

VALUES = st.one_of(
    NUMBER_TEXTS, st.none(), st.booleans(), st.integers(), st.floats(), st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1), st.just(10**400),
)  # fmt: skip


def find_outcome(read_message):
    """Return what a message is read as, with the sign of every zero, or what the client is told."""
    try:
        return repr(read_message())
    except WireError as error:
        return str(error)


@given(NUMBER_TEXTS)
@settings(max_examples=100, deadline=None)
def test_a_text_is_a_number_exactly_when_it_is_written_like_one(text):
    stripped = text.strip()
    is_number = NUMBER.fullmatch(stripped) and len(stripped) <= 400 and math.isfinite(float(stripped))
    outcome = find_outcome(lambda: read("node_position", index=text, pos_x=0))
    assert ("must be a finite number" not in outcome) == bool(is_number)


@given(st.dictionaries(st.sampled_from(["steering", "throttle", "brake", "x"]), VALUES))
@settings(max_examples=100, deadline=None)
@example({"steering": 0.0, "throttle": 10**400, "brake": None})
@example({"steering": "1", "throttle": "-0", "brake": "-0"})
@example({"steering": [1], "throttle": [2], "brake": [3]})
@example({"steering": "1.5", "throttle": "0", "brake": "0"})
def test_a_control_is_read_the_same_by_the_quick_way_and_by_the_general_one(fields):
    fields = {"msg_type": "control", **fields}
    with mock.patch.object(reading, "_read_plain_control", return_value=None):
        general = find_outcome(lambda: read_request(fields))
    assert find_outcome(lambda: read_request(fields)) == general
