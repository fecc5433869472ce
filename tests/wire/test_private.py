"""What organisers say on the private API's port is read as leniently as on the wire, and nothing else is read there."""

import pytest

from donkeysim.core.errors import WireError
from donkeysim.wire.reading import MOST_SEED, ResetChallenges, SetRandomSeed, Verify, read_private_request


@pytest.mark.original("Messages", "the private API of races (9092)", "as it is")
@pytest.mark.parametrize(
    ("fields", "request_"),
    [
        ({"msg_type": "verify", "private_key": "12345678"}, Verify(private_key="12345678")),
        ({"msg_type": "verify", "private_key": 12345678}, Verify(private_key="12345678")),
        ({"msg_type": "set_random_seed", "seed": " 7.0 "}, SetRandomSeed(seed=7)),
        ({"msg_type": "set_random_seed", "seed": MOST_SEED}, SetRandomSeed(seed=MOST_SEED)),
        ({"msg_type": "reset_challenges", "more": None}, ResetChallenges()),
    ],
)
def test_messages_are_read(fields, request_):
    assert read_private_request(fields).request == request_


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"msg_type": "verify"}, "private_key is missing"),
        ({"msg_type": "verify", "private_key": True}, "must be a text"),
        ({"msg_type": "set_random_seed"}, "seed is missing"),
        ({"msg_type": "set_random_seed", "seed": "1.5"}, "whole number"),
        ({"msg_type": "set_random_seed", "seed": -1}, f"seed -1 is not valid; it takes 0 to {MOST_SEED}"),
        ({"msg_type": "set_random_seed", "seed": MOST_SEED + 1}, "is not valid"),
        ({"msg_type": "control", "steering": "0", "throttle": "0", "brake": "0"}, "'control'"),
        ({"msg_type": "verfy"}, "did you mean 'verify'"),
        ({}, "msg_type is missing; it must be one of reset_challenges, set_random_seed, verify."),
    ],
)
def test_what_cannot_be_understood_is_told(fields, text):
    with pytest.raises(WireError) as told:
        read_private_request(fields)
    assert text in str(told.value)
