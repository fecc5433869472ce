"""Recorded conversations are understood the same at one byte, odd portions and whole."""

from pathlib import Path

import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.serve.session import Session

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))

EXPECTED = {
    "gym": "load_scene control car_config cam_config lidar_config control reset_car control control exit_scene",
    "page": "load_scene car_config set_position node_position",
    "broken": "control control reset_car control step_mode",
}


def replay(stream, size):
    session = Session("client 1", lambda: ("generated_track",), ManualClock())
    replies, requests = [], []
    for start in range(0, len(stream), size):
        turn = session.receive(stream[start : start + size])
        replies += turn.replies
        requests += turn.requests
    return replies, requests


@pytest.mark.original("Messages", "conversations of its clients", "answered the same, however they are cut")
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_conversation_is_the_same_in_every_slicing(path):
    stream = path.read_bytes()
    replies, requests = replay(stream, len(stream))
    assert " ".join(request.message_type() for request in requests) == EXPECTED[path.stem]
    for size in (1, 7, 64, 1021):
        assert replay(stream, size) == (replies, requests)


def test_the_broken_conversation_gets_one_error_per_fault():
    replies, _ = replay((Path(__file__).parent / "transcripts" / "broken.txt").read_bytes(), 1)
    assert [line.startswith(b'{"msg_type":"error"') for line in replies] == [True] * 4
