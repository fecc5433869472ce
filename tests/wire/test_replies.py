"""What is sent is one compact ASCII line of JSON, with the type first."""

import base64
import json
import math

import pytest

from donkeysim.core.errors import WireError
from donkeysim.wire import messages, replies
from donkeysim.world.telemetry import LidarPoint, Telemetry


def make_telemetry(**changes):
    numbers = dict.fromkeys(
        ["steering_angle", "throttle", "speed", "time", "accel_x", "accel_y", "accel_z", "gyro_x", "gyro_y", "gyro_z",
         "gyro_w", "pitch", "yaw", "roll", "cte", "pos_x", "pos_y", "pos_z", "vel_x", "vel_y", "vel_z",
         "progress_on_shortest_path"], 0.1,
    )  # fmt: skip
    rest = {"hit": "none", "activeNode": 3, "totalNodes": 108, "on_road": True, "lap": 1, "frame": 7, "reset_count": 2}
    return Telemetry(**{**numbers, **rest, **changes})


def read_line(line):
    assert line.endswith(b"}\n")
    assert line.startswith(b'{"msg_type":"')
    assert line.count(b"\n") == 1
    assert line.isascii()
    message = json.loads(line)
    assert json.dumps(message, separators=(",", ":"), ensure_ascii=True).count(" ") == line.count(b" ")
    return message


def test_telemetry_has_all_fields_and_its_pictures():
    message = read_line(
        replies.encode_telemetry(make_telemetry(), b"picture", b"second", [LidarPoint(d=1.25, rx=2.0, ry=0.0)])
    )
    assert message["msg_type"] == "telemetry"
    assert base64.b64decode(message["image"]) == b"picture"
    assert message["imageb"] == message["image_b"] == base64.b64encode(b"second").decode()
    assert message["lidar"] == [{"d": 1.25, "rx": 2.0, "ry": 0.0}]
    assert message["activeNode"] == 3
    assert message["on_road"] is True
    assert message["hit"] == "none"


@pytest.mark.parametrize("numbers_as_strings", [False, True])
def test_pictures_stand_before_what_was_hit(numbers_as_strings):
    """As in the original's telemetry: a program that writes its values down in their order has columns for that."""
    points = [LidarPoint(d=1.25, rx=2.0, ry=0.0)]
    names = list(read_line(replies.encode_telemetry(make_telemetry(), b"p", b"s", points, numbers_as_strings)))
    begun = ["msg_type", "steering_angle", "throttle", "speed", "image", "imageb", "image_b", "lidar", "hit", "time"]
    assert names[: len(begun)] == begun


def test_optional_fields_are_left_out():
    line = replies.encode_telemetry(make_telemetry(cte=None, pos_x=None, pos_y=None, pos_z=None), b"p")
    message = read_line(line)
    assert not {"cte", "pos_x", "pos_y", "pos_z", "imageb", "image_b", "lidar"} & set(message)
    assert message["vel_x"] == 0.1


def test_an_empty_scan_is_an_empty_list():
    assert read_line(replies.encode_telemetry(make_telemetry(), b"p", None, []))["lidar"] == []


def test_names_travel_as_ascii_escapes():
    name = 'Zoë 🦓\n"x":null,\\'
    assert read_line(replies.encode_telemetry(make_telemetry(hit=name), b"p"))["hit"] == name
    assert read_line(replies.encode_reply(replies.ErrorReply(error=name)))["error"] == name


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_reading_that_is_not_finite_is_never_sent(value):
    with pytest.raises(WireError, match="speed"):
        replies.encode_telemetry(make_telemetry(speed=value), b"p")
    with pytest.raises(WireError, match="pos_y"):
        replies.encode_reply(messages.NodePosition(index=0, pos_x=0, pos_y=value, pos_z=0, Qx=0, Qy=0, Qz=0, Qw=1))


def test_numbers_are_texts_on_request():
    message = read_line(
        replies.encode_telemetry(make_telemetry(), b"p", None, [LidarPoint(d=1.0, rx=2.0, ry=0.0)], True)
    )
    assert message["speed"] == "0.1"
    assert message["totalNodes"] == "108"
    assert message["lidar"] == [{"d": "1.0", "rx": "2.0", "ry": "0.0"}]
    assert message["on_road"] is True
    node = messages.NodePosition(index=2, pos_x=1.0, pos_y=0, pos_z=0, Qx=0, Qy=0, Qz=0, Qw=1)
    assert read_line(replies.encode_reply(node, True))["index"] == "2"
    assert read_line(replies.encode_reply(node))["pos_x"] == 1.0


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (replies.SceneSelectionReady(), b'{"msg_type":"scene_selection_ready","loaded":"1"}\n'),
        (messages.ProtocolVersion(version="2"), b'{"msg_type":"protocol_version","version":"2"}\n'),
        (messages.SceneNames(scene_names=("a", "b")), b'{"msg_type":"scene_names","scene_names":["a","b"]}\n'),
        (replies.SceneLoaded(scene_name="a"), b'{"msg_type":"scene_loaded","scene_name":"a"}\n'),
        (replies.CarLoaded(scene_name="a"), b'{"msg_type":"car_loaded","scene_name":"a"}\n'),
        (
            replies.StartLineCrossed(starting_line_index=0, timeStamp=1.5),
            b'{"msg_type":"collision_with_starting_line","starting_line_index":0,"timeStamp":1.5}\n',
        ),
    ],
)
def test_events_look_as_the_original_sends_them(reply, expected):
    assert replies.encode_reply(reply) == expected
