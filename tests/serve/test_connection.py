"""A client is disconnected when it neither takes nor says anything for too long, and only then."""

import sys
from types import SimpleNamespace

import pytest

from donkeysim.core.clock import AwakeClock, ManualClock
from donkeysim.serve.connection import MOST_DEAF_SECONDS, Connection
from donkeysim.serve.output import Output, OutputKind
from serve.test_peer_window import Announcing

LINE = b"x" * 3999 + b"\n"


class Buffering(Announcing):
    """Stands in for a socket and its transport: the peer's system takes every line, and nobody reads it."""

    def __init__(self):
        self.unsent = 0
        self.is_aborted = False

    def setsockopt(self, *arguments):
        pass

    def get_extra_info(self, name):
        return self

    def set_write_buffer_limits(self, high):
        pass

    def is_closing(self):
        return self.is_aborted

    def get_write_buffer_size(self):
        return self.unsent

    def write(self, data):
        self.window = max(0, self.window - len(data))

    def abort(self):
        self.is_aborted = True


@pytest.fixture
def wire():
    clock, transport = ManualClock(), Buffering()
    server = SimpleNamespace(scene_names=tuple, welcome=lambda connection: None, simulation_thread=None)
    connection = Connection(server, 1, clock)
    connection.connection_made(transport)
    return clock, transport, connection


def pass_time(wire, seconds, happen=lambda: None, has_telemetry=True):
    """Let telemetry come at 20 Hz, and something happen twice a second."""
    clock, transport, connection = wire
    for beat in range(round(seconds * 20)):
        clock.advance(0.05)
        if has_telemetry:
            connection.take(Output(1, OutputKind.TELEMETRY, LINE))
        if beat % 10 == 9:
            happen()
            connection.check_time()
        if transport.is_aborted:
            return


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the window")
def test_who_reads_nothing_is_cut_though_the_systems_buffers_have_room(wire):
    pass_time(wire, MOST_DEAF_SECONDS - 1)
    assert not wire[1].is_aborted
    pass_time(wire, 3)
    assert wire[1].is_aborted


def test_who_leaves_bytes_unsent_is_cut(wire):
    wire[1].unsent = 100
    pass_time(wire, MOST_DEAF_SECONDS + 2, has_telemetry=False)
    assert wire[1].is_aborted


def test_who_takes_a_little_now_and_then_stays(wire):
    def take_a_little():
        wire[1].unsent -= 100

    wire[1].unsent = 100_000
    pass_time(wire, 3 * MOST_DEAF_SECONDS, take_a_little, has_telemetry=False)
    assert not wire[1].is_aborted


def test_who_says_something_stays(wire):
    pass_time(wire, 3 * MOST_DEAF_SECONDS, lambda: wire[2].buffer_updated(0))
    assert not wire[1].is_aborted


def test_who_has_read_all_before_telemetry_ended_stays(wire):
    pass_time(wire, 5)
    wire[1].window = Announcing.window
    pass_time(wire, 3 * MOST_DEAF_SECONDS, has_telemetry=False)
    assert not wire[1].is_aborted


def test_nobody_is_cut_for_the_minute_in_which_the_server_was_stopped(wire):
    clock, transport, _ = wire
    connection = Connection(wire[2]._server, 2, AwakeClock(clock))
    connection.connection_made(transport)
    transport.unsent = 100
    pass_time((clock, transport, connection), 20, has_telemetry=False)
    clock.advance(60.0)
    pass_time((clock, transport, connection), 5, has_telemetry=False)
    assert not transport.is_aborted
    pass_time((clock, transport, connection), 7, has_telemetry=False)
    assert transport.is_aborted
