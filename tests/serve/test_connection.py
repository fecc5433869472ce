"""A client is disconnected when it neither takes nor says anything for too long, and only then."""

import asyncio
import errno
import json
import sys
import time
from types import SimpleNamespace

import pytest

from donkeysim.core.clock import AwakeClock, ManualClock
from donkeysim.serve.connection import BURST_COST, MOST_STALLED_SECONDS, Connection
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.session import FaultLog
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
        "note_health": lambda *told: None,
        "is_listening": lambda client_id: True,
        "scene_names": tuple,
        "welcome": lambda connection: None,
        "list_forbidden": lambda connection: forbidden,
        "find_read_rate": lambda: 1e5,
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
    pass_time(wire, MOST_STALLED_SECONDS - 1)
    assert not wire[1].is_aborted
    pass_time(wire, 3)
    assert wire[1].is_aborted


def test_who_leaves_bytes_unsent_is_cut(wire):
    wire[1].unsent = 100
    pass_time(wire, MOST_STALLED_SECONDS + 2, has_telemetry=False)
    assert wire[1].is_aborted


def test_who_takes_a_little_now_and_then_stays(wire):
    def take_a_little():
        wire[1].unsent -= 100

    wire[1].unsent = 100_000
    pass_time(wire, 3 * MOST_STALLED_SECONDS, take_a_little, has_telemetry=False)
    assert not wire[1].is_aborted


def test_who_says_something_stays(wire):
    pass_time(wire, 3 * MOST_STALLED_SECONDS, lambda: wire[2].buffer_updated(0))
    assert not wire[1].is_aborted


def test_who_has_read_all_before_telemetry_ended_stays(wire):
    pass_time(wire, 5)
    wire[1].window = Announcing.window
    pass_time(wire, 3 * MOST_STALLED_SECONDS, has_telemetry=False)
    assert not wire[1].is_aborted


@pytest.mark.parametrize("forbidden", [frozenset((QuitApp,)), frozenset()])
def test_only_who_may_ends_the_program(forbidden):
    ended = []
    connection = make_connection(ManualClock(), Buffering(), forbidden, quit=lambda: ended.append(True))
    quit_app = b'{"msg_type":"quit_app"}'
    connection.get_buffer(-1)[: len(quit_app)] = quit_app
    connection.buffer_updated(len(quit_app))
    assert ended == ([] if forbidden else [True])


SENT = [{"msg_type": "node_position", "index": index} for index in range(200)]
DATA = "".join(map(json.dumps, SENT)).encode()
COST = 200 * 30
"""At least, of reading it [token]."""


def read_all(rate, clients=1, **server):
    """Let clients send much at once; return who is taken with what, in order, and how long it took."""
    taken = []

    async def converse():
        began, connections = time.perf_counter(), []
        for client_id in range(clients):
            carry_out = lambda _, request, client_id=client_id: taken.append((client_id, request.index))  # noqa: E731
            transport, given = Buffering(), {"carry_out": carry_out, "find_read_rate": lambda: rate, **server}
            connections.append(make_connection(time.perf_counter, transport, **given))
            connections[-1].get_buffer(-1)[: len(DATA)] = DATA
        for connection in connections:
            connection.buffer_updated(len(DATA))
        while len(taken) < clients * len(SENT) and time.perf_counter() < began + 5.0:
            await asyncio.sleep(0)
        return time.perf_counter() - began

    return taken, asyncio.run(converse())


def test_what_came_at_once_is_read_in_portions_with_everybody_else_and_in_its_order():
    taken, _ = read_all(rate=None, clients=3)
    for client in range(3):
        assert [index for one, index in taken if one == client] == list(range(200))
    assert {client for client, _ in taken[:60]} == {0, 1, 2}


def test_who_sends_more_than_its_tokens_allow_is_read_as_they_come_in():
    taken, seconds = read_all(rate=20_000.0)
    assert [index for _, index in taken] == list(range(200))
    assert seconds > (COST - BURST_COST - 500) / 20_000.0


def test_who_is_not_listened_to_is_read_later():
    listens = iter([False, False])
    taken, seconds = read_all(rate=None, is_listening=lambda client_id: next(listens, True))
    assert len(taken) == 200
    assert seconds >= 0.019


def test_an_error_in_reading_one_client_ends_that_client_only(caplog):
    async def converse():
        transport = Buffering()
        connection = make_connection(time.perf_counter, transport, is_listening=lambda client_id: False)
        connection.get_buffer(-1)[:2] = b"{}"
        connection.buffer_updated(2)
        connection._server.is_listening = None
        await asyncio.sleep(0.05)
        return transport.is_aborted

    assert asyncio.run(converse())
    assert "disconnected" in caplog.text


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
