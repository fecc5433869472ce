"""No portion of bytes, however it was made up, keeps the event loop for more than ten milliseconds."""

import logging
import time

import msgspec
import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.serve.session import Session

READ_BYTES = 1 << 14
MOST_SECONDS = 0.010
MEBIBYTE = 1 << 20


def make(**fields):
    return msgspec.json.encode(fields)


LONG = {"words": "ab_" * 340_000, "accents": "é" * 500_000, "capitals grow": "ß" * 500_000, "blanks": " " * MEBIBYTE}

STREAMS = {
    "objects 20,000 deep": b'{"a":' * 20_000,
    "objects 20,000 deep on new lines": b'{"a":\n' * 20_000,
    "lists 20,000 deep": b'{"a":' + b"[" * 20_000,
    "new messages inside of others": b'{"a":\n{"msg_type":1,' * 3000,
    "braces": b"{" * 20_000,
    "broken objects": b"{a}" * 10_000,
    "broken members": b'{"a":1,}' * 10_000,
    "no objects": b"x{" * 10_000,
    "empty objects": b"{}" * 10_000,
    "nearly the name of a message": b'{"msg_type":"contrl"}' * 780,
    "a text of 3 MB": b'{"a":"' + b"x" * 3_000_000,
    "a text of escapes": b'{"a":"' + b"\\u00e9" * 170_000 + b'"}',
    "a list of lists": b'{"a":[' + b"[]," * 300_000,
    "many lists": (b'{"a":[' + b"[]," * 9000 + b"[]]}") * 5,
    "many keys": b"{" + b",".join(b'"%x":{}' % number for number in range(9000)) + b"}",
    "flat objects of many keys": (b"{" + b'"":1,' * 3200 + b'"":1}') * 5,
    "a number of a million digits": b'{"a":' + b"7" * MEBIBYTE,
    "blanks": b"{" + b" " * MEBIBYTE,
    **{f"a type of {name}": make(msg_type=text[:900_000]) for name, text in LONG.items()},
    **{f"a style of {name}": make(msg_type="car_config", body_style=text[:500_000]) for name, text in LONG.items()},
    **{f"a plate of {name}": make(msg_type="car_config", car_name=text[:500_000]) for name, text in LONG.items()},
    **{f"a mode of {name}": make(msg_type="step_mode", step_mode=text[:500_000]) for name, text in LONG.items()},
    **{f"an encoding of {name}": make(msg_type="cam_config", img_enc=text[:500_000]) for name, text in LONG.items()},
    **{f"a lens of {name}": make(msg_type="cam_config", fish_eye_x=text[:500_000]) for name, text in LONG.items()},
    **{f"a steering of {name}": make(msg_type="control", steering=text[:500_000]) for name, text in LONG.items()},
    "a type of many texts": make(msg_type=["éé"] * 9000),
    "a steering of many texts": make(msg_type="control", steering=["éé" * 50] * 5000),
}


def find_longest_call(stream):
    """Return the processor time of the longest call that reads a stream, in portions as a socket gives them."""
    session = Session("client 1", lambda: ("generated_track",), ManualClock())
    longest = 0.0
    for at in range(0, len(stream), READ_BYTES):
        portion = stream[at : at + READ_BYTES]
        while True:
            began = time.thread_time()
            session.receive(portion)
            longest = max(longest, time.thread_time() - began)
            if not session.has_more:
                break
            portion = b""
    return longest


def find_bytewise_time(stream):
    session = Session("client 1", tuple, ManualClock())
    pieces = [bytes([byte]) for byte in stream]
    began = time.thread_time()
    for piece in pieces:
        session.receive(piece)
    return time.thread_time() - began


@pytest.mark.parametrize("part", [b"x", b"\\n", b" ", b"7", b'","b":"'])
def test_four_times_as_many_bytes_one_by_one_are_four_times_the_work_and_not_sixteen(part):
    short, long = (b'{"a":"' + part * (length // len(part)) for length in (4000, 16_000))
    ratio = min(find_bytewise_time(long) for _ in range(3)) / min(find_bytewise_time(short) for _ in range(3))
    assert ratio < 8.0


@pytest.mark.parametrize("name", STREAMS)
def test_no_call_takes_longer_than_ten_milliseconds(name, caplog):
    caplog.set_level(logging.CRITICAL)
    assert min(find_longest_call(STREAMS[name]) for _ in range(2)) < MOST_SECONDS
