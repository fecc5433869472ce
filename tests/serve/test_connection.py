"""A client is disconnected when it neither takes nor says anything for too long, and only then."""

import asyncio
import errno
import json
import sys
import time
from types import SimpleNamespace

import pytest

from donkeysim.core.clock import AwakeClock, ManualClock
from donkeysim.serve.connection import MOST_DEAF_SECONDS, Connection
from donkeysim.serve.fault_log import FaultLog
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.reading_turns import ReadingTurns
from donkeysim.wire.messages import QuitApp
from donkeysim.wire.reading import read_request
from serve.test_peer_window import Announcing

LINE = b"x" * 3999 + b"\n"


class Buffering(Announcing):
    """Stands in for a socket and its transport: the peer's system takes every line, and nobody reads it."""

    def __init__(self):
        self.unsent = 0
        self.is_aborted = False
        self.is_heard = True

    def setsockopt(self, *arguments):
        pass

    def get_extra_info(self, name):
        return self

    def set_write_buffer_limits(self, high):
        pass

    def is_reading(self):
        return self.is_heard

    def is_closing(self):
        return self.is_aborted

    def get_write_buffer_size(self):
        return self.unsent

    def write(self, data):
        self.window = max(0, self.window - len(data))

    def abort(self):
        self.is_aborted = True

    def pause_reading(self):
        self.is_heard = False

    def resume_reading(self):
        self.is_heard = True


def make_connection(clock, transport, forbidden=frozenset(), **server):
    """Return a connection on a server of stand-ins."""
    given = {
        "calls_clients": "client",
        "read_message": read_request,
        "note_conduct": lambda *told: None,
        "is_listening": lambda client_id: True,
        "scene_names": tuple,
        "welcome": lambda connection: None,
        "list_forbidden": lambda connection: forbidden,
        "reading_turns": ReadingTurns(clock),
        "faults": FaultLog(clock),
        **server,
    }
    connection = Connection(SimpleNamespace(**given), 1, "127.0.0.1", clock)
    connection.connection_made(transport)
    return connection


def refuse(*arguments):
    """Stand in for a system call on macOS whose peer is gone."""
    raise OSError(errno.EINVAL, "Invalid argument")


@pytest.fixture
def wire():
    clock, transport = ManualClock(), Buffering()
    return clock, transport, make_connection(clock, transport)


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


def test_a_system_that_refuses_to_tune_a_socket_whose_peer_is_gone_stops_nothing():
    transport = Buffering()
    transport.setsockopt = refuse
    connection = make_connection(ManualClock(), transport)
    connection.take(Output(1, OutputKind.TELEMETRY, 100 * LINE))
    assert transport.window == 0, "it was sent"


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


@pytest.mark.parametrize("forbidden", [frozenset((QuitApp,)), frozenset()])
def test_only_who_may_ends_the_program(forbidden):
    ended = []
    connection = make_connection(ManualClock(), Buffering(), forbidden, quit=lambda: ended.append(True))
    quit_app = b'{"msg_type":"quit_app"}'
    connection.get_buffer(-1)[: len(quit_app)] = quit_app
    connection.buffer_updated(len(quit_app))
    assert ended == ([] if forbidden else [True])


def test_much_that_came_at_once_is_read_in_turns_with_everybody_else_and_in_its_order():
    sent = [{"msg_type": "node_position", "index": index} for index in range(200)]
    turns, taken = [], []

    async def converse():
        transport = Buffering()
        carry_out = lambda client_id, request: taken.append(request.index)  # noqa: E731
        connection = make_connection(time.perf_counter, transport, carry_out=carry_out)
        data = "".join(map(json.dumps, sent)).encode()
        connection.get_buffer(-1)[: len(data)] = data
        connection.buffer_updated(len(data))
        while not transport.is_heard:
            turns.append(len(taken))
            await asyncio.sleep(0)

    asyncio.run(converse())
    assert taken == list(range(200))
    assert turns, "others had a turn while it was read"
    assert turns[0] > 0


def test_nobody_is_cut_for_the_minute_in_which_the_server_was_stopped(wire):
    clock, transport, _ = wire
    connection = make_connection(AwakeClock(clock), transport)
    transport.unsent = 100
    pass_time((clock, transport, connection), 20, has_telemetry=False)
    clock.advance(60.0)
    pass_time((clock, transport, connection), 5, has_telemetry=False)
    assert not transport.is_aborted
    pass_time((clock, transport, connection), 7, has_telemetry=False)
    assert transport.is_aborted
