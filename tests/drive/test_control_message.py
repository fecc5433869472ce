"""Messages to the control page: the original's and ours are understood, everything else is refused in one sentence."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from donkeysim.core.errors import WireError
from donkeysim.drive.control_state import MESSAGE_LIMIT, ControlMessage, read_message
from donkeysim.drive.look import Look


@pytest.mark.original(
    "Messages", "the control page's WebSocket (8887)", "as it is; also null, numbers as texts, 1 for true"
)
def test_a_message_of_the_original_is_understood():
    text = '{"angle":-0.25,"throttle":0.5,"drive_mode":"local_angle","recording":true,"buttons":{"w1":true,"w2":false}}'
    message = read_message(text)
    assert (message.angle, message.throttle, message.drive_mode, message.recording) == (-0.25, 0.5, "local_angle", True)
    assert message.buttons == {"w1": True, "w2": False}


def test_all_keys_may_be_missing_and_unknown_ones_are_ignored():
    assert read_message("{}") == ControlMessage()
    assert read_message('{"speed": [1, {"a": null}]}') == ControlMessage()


@pytest.mark.parametrize(("given", "taken"), [("1", 1.0), ("-1", -1.0), ("7", 1.0), ("-1e300", -1.0), ("0", 0.0)])
def test_angle_and_throttle_are_brought_into_their_range(given, taken):
    message = read_message(f'{{"angle":{given},"throttle":{given}}}')
    assert (message.angle, message.throttle) == (taken, taken)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"angle":"0.5","throttle":"-1"}', ControlMessage(angle=0.5, throttle=-1.0)),
        ('{"angle":null,"throttle":0.3,"buttons":null}', ControlMessage(throttle=0.3)),
        (
            '{"recording":1,"buttons":{"w1":1,"w2":0}}',
            ControlMessage(recording=True, buttons={"w1": True, "w2": False}),
        ),
        (
            '{"recording":1.0,"angle":" 0.5 ","buttons":{"w1":1,"w2":null}}',
            ControlMessage(angle=0.5, recording=True, buttons={"w1": True}),
        ),
        ('{"recording":"false","heartbeat":1}', ControlMessage(recording=False, heartbeat=True)),
    ],
)
def test_what_other_clients_write_for_numbers_and_truths_is_taken(text, meant):
    assert read_message(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "drive",
        "{",
        "[]",
        "null",
        "7",
        '{"angle":NaN}',
        '{"angle":Infinity}',
        '{"angle":1e999}',
        '{"angle":"half"}',
        '{"angle":true}',
        '{"angle":"nan"}',
        '{"throttle":"-inf"}',
        '{"angle":""}',
        '{"throttle":[0.5]}',
        '{"drive_mode":1}',
        '{"drive_mode":"usr"}',
        '{"drive_mode":""}',
        '{"recording":2}',
        '{"recording":"yes"}',
        '{"buttons":["w1"]}',
        '{"buttons":{"w1":[1]}}',
        '{"buttons":{"w9":true}}',
        '{"heartbeat":"yes"}',
        '{"pilot":3}',
        '{"x":' + "[" * 3000,
        '{"x":"' + "y" * MESSAGE_LIMIT + '"}',
        b"\xff\xfe",
        b'{"drive_mode":"\xff"}',
        "\ud800",
    ],
)
def test_anything_else_is_refused_in_one_sentence(text):
    with pytest.raises(WireError) as refused:
        read_message(text)
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 400


def test_a_wrong_mode_names_the_nearest():
    with pytest.raises(WireError, match="did you mean 'local'"):
        read_message('{"drive_mode":"locl"}')


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_bytes_do_anything_but_give_a_message_or_a_sentence(text):
    try:
        message = read_message(text)
    except WireError:
        return
    assert isinstance(message, ControlMessage)


JSON = st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=9), lambda x: st.lists(x, max_size=3))


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(ControlMessage.__struct_fields__, JSON)))
def test_whatever_values_the_keys_have_what_passes_is_in_range(fields):
    try:
        message = read_message(json.dumps(fields))
    except WireError:
        return
    for value in (message.angle, message.throttle):
        assert value is msgspec.UNSET or -1.0 <= value <= 1.0


def test_a_look_and_a_wish_to_erase_are_understood():
    message = read_message('{"look":{"car_name":"Anna","body_style":"f1","body_rgb":[1,2,255]},"erase":true}')
    assert (message.look, message.erase) == (Look("Anna", "f1", (1, 2, 255)), True)


@pytest.mark.parametrize(
    "look",
    ['{"body_style":"tank"}', '{"body_rgb":[1,2]}', '{"body_rgb":[1,2,256]}', f'{{"car_name":"{"x" * 41}"}}', "7"],
)
def test_a_look_that_cannot_be_worn_is_refused(look):
    with pytest.raises(WireError, match=r"nothing was changed"):
        read_message(f'{{"look":{look}}}')
