"""Hostile messages: mutations of real ones, and what no client in its right mind would send."""

import json
import random

from donkeysim.serve.session import Received, Session

REAL = [
    {"msg_type": "control", "steering": "0.1", "throttle": "0.3", "brake": "0.0"},
    {"msg_type": "cam_config", "fov": "90", "fish_eye_x": "0.4", "fish_eye_y": "0.7", "img_w": "64", "img_h": "48",
     "img_d": "3", "img_enc": "JPG", "offset_x": "0", "offset_y": "1.1", "offset_z": "0.5", "rot_x": "15"},
    {"msg_type": "cam_config_b", "fov": "0", "img_w": "32", "img_h": "24", "img_d": "1", "img_enc": "PNG"},
    {"msg_type": "car_config", "body_style": "f1", "body_r": "10", "body_g": "20", "body_b": "30", "car_name": "A\nB",
     "font_size": "50"},
    {"msg_type": "lidar_config", "degPerSweepInc": "10", "degAngDown": "0", "degAngDelta": "-1.0",
     "numSweepsLevels": "1", "maxRange": "50.0", "noise": "0.5", "offset_x": "0", "offset_y": "0.5", "offset_z": "0.5",
     "rot_x": "0"},
    {"msg_type": "set_position", "pos_x": "1", "pos_y": "1", "pos_z": "1", "Qx": "0", "Qy": "0", "Qz": "0", "Qw": "1"},
    {"msg_type": "node_position", "index": "3"},
    {"msg_type": "racer_info", "racer_name": "R", "car_name": "C", "bio": "B", "country": "X", "guid": "7"},
    {"msg_type": "regen_road", "road_style": "1", "rand_seed": "2", "turn_increment": "0.5"},
    {"msg_type": "step_mode", "step_mode": "asynchronous", "time_step": "0.05"},
    {"msg_type": "reset_car"},
    {"msg_type": "get_protocol_version"},
    {"msg_type": "get_scene_names"},
]  # fmt: skip

VALUES = [
    None, True, False, 0, -1, 1, 3.5, 1e308, -1e308, 10**30, float("nan"), float("inf"), "", " ", "nan", "inf", "-0",
    "1e999", ".5", "5.", "+.5e1", "٣", "off", "0", "100000000000000000000", "x" * 5000, [], {}, [[]], {"a": {"b": 1}},
    "\x00", "\ud83d", "🦓", "{", "}", '"', "\\", "\n{",
]  # fmt: skip

RAW = [
    b"", b"{", b"}", b"{}", b"[]", b"null", b"\x00" * 50, b"\xff\xfe", b"{" * 500, b"[" * 500, b'{"a":' * 200,
    b'"', b"\\", b'{"msg_type":"control","steering":1e', b'{"msg_type":', b'{"a":[{"msg_type":"control"}',
    b"HTTP/1.1 200 OK\r\n\r\n", b"{'msg_type':'control'}", b'{"msg_type":"control",}', b"{\xc3\x28}",
    b'\xef\xbb\xbf{"msg_type":"reset_car"}', b'{"msg_type":"control" "steering":"1"}', b'{"\xf0\x9f":1}',
    b'{"a":"\\ud800"}', b'{"a":"' + b"\\n" * 2000,
]  # fmt: skip

_NOISE = b'{}[]",:\\\x00\x1f\xff \n1.e-tnf'


def make_hostile(source: random.Random) -> bytes:
    """Return one hostile message; `quit_app`, scene changes and lock-step, which would be obeyed, are never made."""
    kind = source.random()
    if kind < 0.1:
        return source.choice(RAW)
    message: dict[str, object] = dict(source.choice(REAL))
    for _ in range(source.randint(0, 3)):
        _change_field(message, source)
    data = json.dumps(message, ensure_ascii=source.random() < 0.5).encode(errors="surrogatepass")
    if kind < 0.4:
        return data
    return _change_bytes(bytearray(data), source)


def _change_field(message: dict[str, object], source: random.Random) -> None:
    name = source.choice(list(message))
    how = source.random()
    if how < 0.2:
        del message[name]
        message["msg_type"] = message.get("msg_type", 0)
    elif how < 0.8:
        message[name] = source.choice(VALUES)
    else:
        message[name + source.choice(["", "_", "X"])] = source.choice(VALUES)


def _change_bytes(data: bytearray, source: random.Random) -> bytes:
    for _ in range(source.randint(1, 6)):
        index = source.randrange(len(data) + 1)
        how = source.random()
        if how < 0.25:
            del data[index:]
        elif how < 0.5:
            data[index:index] = bytes([source.choice(_NOISE)])
        elif how < 0.75:
            data[index : index + 1] = bytes([source.randrange(256)])
        else:
            data[index : index + source.randint(0, 20)] = b""
    return bytes(data)


def receive_all(session: Session, data: bytes) -> Received:
    """Return what bytes lead to in as many turns as they need."""
    whole = session.receive(data)
    while session.has_more:
        turn = session.receive()
        whole.replies += turn.replies
        whole.requests += turn.requests
        whole.wants_quit |= turn.wants_quit
        whole.is_over |= turn.is_over
    return whole
