"""A log that nobody can fill."""

import logging

import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.serve.session import MOST_LINES, STRETCH_SECONDS, FaultLog


@pytest.fixture
def told(caplog):
    caplog.set_level(logging.WARNING, "donkeysim.wire")
    return caplog


def test_the_first_of_each_kind_is_told_and_the_rest_counted(told):
    clock = ManualClock()
    faults = FaultLog(clock)
    for number in range(1000):
        faults.note("client 1", "syntax", "it is not JSON.", number == 0)
    assert told.messages == ["client 1: it is not JSON."]
    clock.advance(STRETCH_SECONDS)
    faults.check_time()
    assert told.messages[1:] == ["more of the same in the last 60 s: syntax 999"]
    clock.advance(STRETCH_SECONDS)
    faults.check_time()
    faults.close()
    assert told.messages[2:] == [
        "messages from clients that were not understood or could not be carried out: syntax 1000"
    ]


def test_a_thousand_new_connections_a_second_do_not_fill_it(told):
    clock = ManualClock()
    faults = FaultLog(clock)
    for number in range(300_000):
        faults.note(f"client {number}", "HTTP", "this port does not speak HTTP.", True)
        clock.advance(0.001)
        faults.check_time()
    assert len(told.messages) == pytest.approx(5 * (MOST_LINES + 1), abs=MOST_LINES)
    assert faults.totals == {"HTTP": 300_000}


def test_a_quiet_server_ends_without_a_word(told):
    FaultLog(ManualClock()).close()
    assert told.messages == []
