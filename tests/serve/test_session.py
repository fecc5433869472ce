"""A session answers, refuses and limits one client; nothing a client sends breaks it."""

import json
import logging
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from donkeysim.core.clock import ManualClock
from donkeysim.serve.session import MOST_MESSAGES_A_SECOND, FaultLog, Session, find_refusal
from donkeysim.wire import equipment, messages
from donkeysim.wire.messages import ClientState
from donkeysim.wire.reading import read_request
from wire.hostile import REAL, make_hostile, receive_all

PING = b'{"msg_type":"get_protocol_version"}'
PONG = b'{"msg_type":"protocol_version","version":"2"}\n'


JSON_BYTES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
).map(lambda value: json.dumps(value).encode())


def make_session(clock=None, faults=None):
    clock = clock or ManualClock()
    return Session("client 1", lambda: ("generated_track", "warehouse"), clock, faults or FaultLog(clock))


def test_what_needs_no_stage_is_answered_at_once():
    turn = make_session().receive(PING + b'{"msg_type":"get_scene_names"}')
    assert turn.replies == [PONG, b'{"msg_type":"scene_names","scene_names":["generated_track","warehouse"]}\n']
    assert turn.requests == []


def test_requests_keep_their_order():
    sent = b'{"msg_type":"reset_car"}{"msg_type":"control","steering":"1"}{"msg_type":"exit_scene"}'
    kinds = [request.message_type() for request in make_session().receive(sent).requests]
    assert kinds == ["reset_car", "control", "exit_scene"]


def test_racer_info_is_passed_on_without_an_error():
    turn = make_session().receive(b'{"msg_type":"racer_info","racer_name":"Ann","guid":"1"}')
    assert turn.replies == []
    assert [request.racer_name for request in turn.requests] == ["Ann"]


def test_quit_is_passed_on():
    assert make_session().receive(b'{"msg_type":"quit_app"}').wants_quit


def test_what_is_forbidden_is_an_error_and_the_next_message_works(caplog):
    session = make_session()
    session.forbidden = frozenset((messages.QuitApp, messages.ExitScene))
    turn = session.receive(b'{"msg_type":"quit_app"}{"msg_type":"exit_scene"}' + PING)
    assert (turn.wants_quit, turn.requests, turn.is_over) == (False, [], False)
    assert json.loads(turn.replies[0])["error"].startswith("quit_app: only clients on the simulator's own machine may")
    assert turn.replies[2:] == [PONG]
    session.receive(b'{"msg_type":"quit_app"}' * 5)
    assert len(caplog.records) == 2


def test_a_bad_message_is_an_error_and_the_next_good_one_works():
    turn = make_session().receive(b'{"msg_type":"contrl"}\n' + PING)
    error = json.loads(turn.replies[0])
    assert error["msg_type"] == "error"
    assert "did you mean 'control'" in error["error"]
    assert turn.replies[1] == PONG
    assert not turn.is_over


def test_a_changed_value_is_an_error_and_still_carried_out():
    turn = make_session().receive(b'{"msg_type":"cam_config","fov":"200"}')
    assert "fov 200 was changed to 170" in json.loads(turn.replies[0])["error"]
    assert isinstance(turn.requests[0], equipment.ConfigureCamera)


def test_errors_are_limited_to_ten_in_any_second_and_logged_once_per_kind(caplog):
    clock = ManualClock()
    session = make_session(clock)
    counts = []
    with caplog.at_level(logging.WARNING):
        for _ in range(40):
            counts.append(len(session.receive(b'{"msg_type":"nonsense"}').replies))
            clock.advance(0.05)
    for start in range(20):
        assert sum(counts[start : start + 20]) <= 10
    assert sum(counts) == 20
    assert len(caplog.records) == 1
    session.receive(b"garbage\n")
    assert len(caplog.records) == 2


def test_whoever_makes_many_mistakes_is_troublesome_until_it_has_stopped_for_a_while():
    clock = ManualClock()
    session = make_session(clock)
    for _ in range(9):
        session.receive(b'{"msg_type":"nonsense"}')
    assert not session.is_troublesome
    session.receive(b'{"msg_type":"nonsense"}')
    assert session.is_troublesome
    clock.advance(11.0)
    assert not session.is_troublesome


def test_kinds_of_faults_stay_few_whatever_is_invented():
    faults = FaultLog(ManualClock())
    session = make_session(faults=faults)
    for number in range(100):
        session.receive(b'{"msg_type":"invented %d"}{"msg_type":"control","steering":"%dx"}' % (number, number))
    assert faults.totals == {"unknown message": 100, "bad control": 100}
    assert session.has_faults


@pytest.mark.parametrize(
    "fields",
    [
        {"msg_type": "SAID"},
        {"msg_type": "node_position", "index": "SAID"},
        {"msg_type": "car_config", "body_style": "SAID"},
        {"msg_type": "cam_config", "img_enc": "SAID"},
        {"msg_type": "step_mode", "step_mode": "SAID"},
    ],
)
def test_what_a_client_says_forges_no_line_of_the_log(fields, caplog):
    said = "x\r\n2026 ERROR forged \x1b[2J\x9b\u2028"
    make_session().receive(
        json.dumps({key: said if value == "SAID" else value for key, value in fields.items()}).encode()
    )
    assert len(caplog.messages) == 1
    assert "forged" in caplog.messages[0]
    assert caplog.messages[0].isprintable()


def test_messages_of_any_number_of_unknown_types_are_one_kind_of_mistake(caplog):
    session = make_session()
    for type_ in ["nonsense", "other", 7, None, [], {}, "", *map(str, range(100))]:
        session.receive(json.dumps({"msg_type": type_}).encode())
    session.receive(b"{}")
    assert len(caplog.messages) == 1


def test_a_too_long_message_closes_after_an_error_even_when_errors_are_used_up():
    session = make_session()
    for _ in range(20):
        session.receive(b'{"msg_type":"nonsense"}')
    turn = session.receive(b'{"a":"' + b"x" * (1 << 20))
    assert turn.is_over
    assert json.loads(turn.replies[-1])["msg_type"] == "error"
    assert session.receive(PING).replies == []


def test_http_closes_without_an_answer():
    turn = make_session().receive(b'POST / HTTP/1.1\r\nHost: x\r\n\r\n{"msg_type":"quit_app"}')
    assert turn.is_over
    assert not turn.wants_quit
    assert turn.replies == []


def flood(seconds, messages_a_second):
    clock = ManualClock()
    session = make_session(clock)
    portion = b"{}" * (messages_a_second // 50)
    for _ in range(seconds * 50):
        clock.advance(0.02)
        if receive_all(session, portion).is_over:
            return clock.now
    return None


def test_a_flood_is_ended_after_five_seconds_and_fast_clients_are_not():
    assert flood(8, MOST_MESSAGES_A_SECOND + 100) == pytest.approx(5.0, abs=1.2)
    assert flood(8, MOST_MESSAGES_A_SECOND - 100) is None
    assert flood(4, 2 * MOST_MESSAGES_A_SECOND) is None


def test_an_unfinished_message_is_reported_by_the_passing_of_time():
    clock = ManualClock()
    session = make_session(clock)
    session.receive(b'{"msg_type":')
    clock.advance(2.0)
    assert b"unfinished" in session.check_time().replies[0]
    assert session.receive(PING).replies == [PONG]


def test_time_in_which_the_server_did_not_read_is_not_counted():
    clock = ManualClock()
    session = make_session(clock)
    session.receive(PING[:10])
    clock.advance(5.0)
    session.skip_time(4.5)
    assert session.receive(PING[10:]).replies == [PONG]


@pytest.mark.parametrize("fields", REAL, ids=lambda fields: fields["msg_type"])
def test_in_the_menu_only_load_scene_is_for_the_stage(fields):
    assert "load_scene first" in find_refusal(read_request(fields).request, ClientState.MENU)
    assert find_refusal(messages.LoadScene(scene_name="x"), ClientState.MENU) is None


@pytest.mark.parametrize("fields", REAL, ids=lambda fields: fields["msg_type"])
def test_on_the_track_everything_but_load_scene_may_be_said(fields):
    assert find_refusal(read_request(fields).request, ClientState.TRACK) is None
    assert "exit_scene first" in find_refusal(messages.LoadScene(scene_name="x"), ClientState.TRACK)


def test_without_a_car_one_may_leave_the_scene_but_not_drive():
    assert "no car" in find_refusal(messages.ResetCar(), ClientState.NO_CAR)
    assert find_refusal(messages.ExitScene(), ClientState.NO_CAR) is None


# -- hostile clients --------------------------------------------------------------------------------------------------


def check_answers(turn):
    for line in turn.replies:
        assert line.endswith(b"}\n")
        assert line.isascii()
        assert json.loads(line)["msg_type"] in ("error", "protocol_version", "scene_names")
    for request in turn.requests:
        assert isinstance(request, messages.Request)
    assert not turn.wants_quit


@pytest.mark.soak
def test_a_hundred_thousand_hostile_messages_are_each_survived():
    source = random.Random(9091)
    clock = ManualClock()
    session = make_session(clock)
    for number in range(100_000):
        hostile = make_hostile(source)
        turn = receive_all(session, hostile)
        check_answers(turn)
        assert not turn.is_over, hostile
        if number % 2:
            clock.advance(2.0)
            good = session.receive(PING)
        else:
            good = receive_all(session, b"\n" + PING)
        check_answers(good)
        assert good.replies[-1:] == [PONG], hostile
        clock.advance(0.0005)


@given(st.lists(st.one_of(st.binary(max_size=60), JSON_BYTES, st.sampled_from([PING, b"\n"])), max_size=12))
@settings(max_examples=150, deadline=None)
def test_arbitrary_bytes_and_values_are_survived(portions):
    clock = ManualClock()
    session = make_session(clock)
    for portion in portions:
        turn = receive_all(session, portion)
        check_answers(turn)
        if turn.is_over:
            return
    clock.advance(2.0)
    assert session.receive(PING).replies[-1:] == [PONG]


def test_a_control_that_comes_when_the_scene_has_ended_is_answered_and_not_logged(caplog):
    faults = FaultLog(ManualClock())
    session = make_session(faults=faults)
    refusal = find_refusal(messages.DriveCar(None, None, 0.0), ClientState.MENU)
    assert b"no scene is running" in session.report_error(refusal.split(":")[0], refusal)
    other = find_refusal(messages.ResetCar(), ClientState.MENU)
    session.report_error(other.split(":")[0], other)
    faults.close()
    assert "control" not in caplog.text
    assert "reset_car: no scene is running" in caplog.text
