"""The window that a peer announces tells when it stops reading, reads again, or only became smaller."""

import socket
import struct
import sys

import pytest

from donkeysim.core.clock import ManualClock
from donkeysim.serve.peer_window import FORCED_SECONDS, PeerWindow

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the window")

LINE = 4000


class Announcing:
    """Stands in for a socket whose peer announces `window`."""

    window = 100_000

    def getsockopt(self, level, option, length=0):
        if level == socket.SOL_SOCKET:  # no error
            return 0
        return bytes(228) + struct.pack("=I", self.window) + bytes(length - 232)


@pytest.fixture
def peer():
    clock, connection = ManualClock(), Announcing()
    window = PeerWindow(connection, clock)
    assert not window.is_behind(LINE)
    return clock, connection, window


def test_a_window_that_shrinks_by_a_line_means_unread_lines(peer):
    clock, connection, window = peer
    connection.window -= 1000
    assert not window.is_behind(LINE)
    connection.window -= 3000
    assert window.is_behind(LINE)
    clock.advance(3.0)
    assert window.is_behind(LINE)
    assert not window.may_force()


def test_a_window_that_opens_again_means_reading(peer):
    _, connection, window = peer
    connection.window -= 10_000
    assert window.is_behind(LINE)
    connection.window += 10_000
    assert not window.is_behind(LINE)


def test_one_line_is_sent_now_and_then_to_a_peer_that_seems_not_to_read(peer):
    clock, connection, window = peer
    connection.window -= 10_000
    forced = 0
    for _ in range(300):
        clock.advance(0.1)
        if window.is_behind(LINE) and window.may_force():
            forced += 1
            connection.window -= LINE
    assert forced == int(30 / FORCED_SECONDS) - (forced < int(30 / FORCED_SECONDS))
    assert window.is_behind(LINE)


def test_a_peer_whose_buffer_became_smaller_is_recognised_as_reading(peer):
    clock, connection, window = peer
    connection.window = 50_000
    assert window.is_behind(LINE)
    clock.advance(FORCED_SECONDS)
    assert window.may_force()
    clock.advance(0.3)
    assert not window.is_behind(LINE)


def test_a_peer_that_reads_on_with_a_smaller_buffer_is_not_held_back(peer):
    _, connection, window = peer
    connection.window -= 30_000
    assert window.is_behind(LINE)
    connection.window += 10_000
    assert not window.is_behind(LINE)
    assert not window.is_behind(LINE)


def test_who_answers_also_reads(peer):
    _, connection, window = peer
    connection.window -= 30_000
    assert window.is_behind(LINE)
    window.note_life()
    assert not window.is_behind(LINE)
