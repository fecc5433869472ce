"""One client's socket: bytes to its session, lines to its wire, and what to do when it reads slowly."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Mapping
from typing import Any, Protocol, cast

from donkeysim.core.clock import Clock, TokenBucket
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.peer_window import PeerWindow
from donkeysim.serve.session import FaultLog, Received, Session
from donkeysim.wire.messages import Request
from donkeysim.wire.reading import Reading
from donkeysim.wire.replies import TELEMETRY_START

# Sixteen portions: of more, the rest is better left in the system's buffer, which holds back its sender.
READ_BYTES = 1 << 14
"""Most bytes read at a time, so that no client keeps the others waiting."""

PORTION_BYTES = 1 << 10
"""Most bytes read before others have a turn, and half a millisecond's work at most."""

PORTION_COST = 20
"""What a portion costs besides the work that its text makes, in the same measure: tokens of about a microsecond."""

# A millisecond's work: what a client that has just connected says (car, camera, scene) costs less, so a start is never
# held.
BURST_COST = 1000
"""After a pause a client may ask for so much at once [token]."""

# A fifth of a beat, so that a control which had to wait still comes before the next one.
HELD_SECONDS = 0.01
"""A client that is not listened to now is listened to again after this time [s]."""

# As small as possible: what lies in it is old when a slow client reads it, and cannot be replaced by newer telemetry.
SEND_BUFFER_BYTES = 1 << 13
"""Asked of the system for its own send buffer; it holds about two telemetries of the default camera."""

MOST_SEND_BUFFER_BYTES = 1 << 20
"""The same for telemetries that are larger."""

MOST_UNSENT_BYTES = 1 << 20
"""A client that has so much to read, besides a telemetry, is not listened to until it has read it."""

# A wireless link that comes back after half a minute finds its car; of a machine that was switched off nothing else is
# ever heard.
MOST_STALLED_SECONDS = 30.0
"""A client that takes and says nothing for so long, though there is something to send, is disconnected [s]."""

# Four within three beats find a reader that is only late; then three a second, which cost nobody anything.
PROBE_SECONDS = (0.04,) * 4 + (0.3,) * (len(TELEMETRY_START) - 4)
"""Times between single bytes of the next telemetry, which ask a client that seems not to read for a sign [s]."""

_log = logging.getLogger("donkeysim.wire")


class _Server(Protocol):
    """Who accepted a client, and what its connection asks of them; see `server.Server`."""

    faults: FaultLog
    calls_clients: str

    def find_read_rate(self) -> float | None: ...

    def scene_names(self) -> tuple[str, ...]: ...

    def list_forbidden(self, connection: socket.socket) -> frozenset[type[Request]]: ...

    def read_message(self, fields: Mapping[str, Any]) -> Reading: ...

    def is_listening(self, client_id: int) -> bool: ...

    def note_health(self, client_id: int, is_reading: bool, is_troublesome: bool) -> None: ...

    def welcome(self, connection: Connection) -> None: ...

    def carry_out(self, client_id: int, request: Request) -> None: ...

    def forget(self, connection: Connection) -> None: ...

    def quit(self) -> None: ...


class Connection(asyncio.BufferedProtocol):
    """Protocol of one accepted socket.

    Attributes:
        client_id: Never used again for another.
        address: Of the client's machine.
        session: The client's session.
    """

    def __init__(self, server: _Server, client_id: int, address: str, read_clock: Clock) -> None:
        self.client_id = client_id
        self.address = address
        name = f"{server.calls_clients} {client_id}"
        self.session = Session(name, server.scene_names, read_clock, server.faults, server.read_message)
        self._server = server
        self._read_clock = read_clock
        self._buffer = bytearray(READ_BYTES)
        self._view = memoryview(self._buffer)
        self._unread = bytearray()
        self._unread_since = 0.0
        self._bucket = TokenBucket(BURST_COST, BURST_COST, read_clock)
        self._is_waiting = False
        self._transport: asyncio.Transport | None = None
        self._window: PeerWindow | None = None
        self._is_blocked = False
        self._has_answered = False
        self._is_paused = False
        self._newest: bytes | None = None
        self._begun_bytes = 0
        self._probe_time = 0.0
        self._sent_bytes = 0
        self._line_bytes = 2 * SEND_BUFFER_BYTES
        self._health = (True, False)
        self._unsent_bytes = 0
        self._taken_bytes = 0
        self._life_time = read_clock()

    @property
    def is_sane(self) -> bool:
        """Whether all that came was read and understood."""
        return not self._has_unread and not self.session.has_faults

    @property
    def _has_unread(self) -> bool:
        return bool(self._unread) or self.session.has_more

    # -- called by asyncio --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tune the socket and report to the server."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        connection = transport.get_extra_info("socket")
        self.session.forbidden = self._server.list_forbidden(connection)
        _tune(connection)
        self._window = PeerWindow(connection, self._read_clock)
        self._server.welcome(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where the next bytes go."""
        del sizehint
        return self._view

    def buffer_updated(self, nbytes: int) -> None:
        """Read what came, or wait until there are tokens for it and take no more until then."""
        self._unread += self._view[:nbytes]
        self._has_answered = True
        self._life_time = self._unread_since = self._read_clock()
        if not self._is_waiting:
            self._read()
        self._set_listening()
        self._send_held()

    def eof_received(self) -> bool:
        """Let the transport close: a client that says no more gets no more."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the client away."""
        del exc
        self._transport = None
        self._server.forget(self)

    def pause_writing(self) -> None:
        """Note that the client has not taken everything."""
        self._is_blocked = True

    def resume_writing(self) -> None:
        """Send the newest telemetry, now that there is room.

        Not at once: asyncio's transport, which calls this in the middle of its own writing, would end the connection
        twice if the peer were gone.
        """
        self._is_blocked = False
        asyncio.get_running_loop().call_soon(self._send_held)

    # -- called by the server -----------------------------------------------------------------------------------------

    def take(self, output: Output) -> None:
        """Send, hold or replace what the simulation has for this client."""
        if output.kind is OutputKind.TELEMETRY:
            self._newest = output.line
            may_send = self._may_send(len(output.line))
            health = may_send, self.session.is_troublesome
            if health != self._health:
                self._health = health
                self._server.note_health(self.client_id, *health)
            if may_send:
                self._send_newest()
            else:
                self._probe()
        elif output.kind in (OutputKind.EVENT, OutputKind.ANSWER):
            self._write(output.line)
        else:
            text = output.line.decode()
            line = self.session.report_error(text.split(":")[0], text)
            if line is not None:
                self._write(line)
            if output.kind is OutputKind.FAREWELL:
                self.close()

    def check_time(self) -> None:
        """Let the session and the limits see that time passes; call it now and then."""
        if not self._has_unread:
            self._take_received(self.session.check_time())
        if self._transport is None:
            return
        unsent = self._transport.get_write_buffer_size()
        self._watch_for_life(unsent)
        if self._read_clock() - self._life_time > MOST_STALLED_SECONDS:
            self._transport.abort()
            return
        if self._is_paused and unsent < MOST_UNSENT_BYTES // 2:
            self._is_paused = False
            self._set_listening()

    def close(self) -> None:
        """Close after what was written has been sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read a portion of what came, if the client's tokens allow it; the rest a little later."""
        self._is_waiting = False
        if self._transport is None or self._transport.is_closing() or self._is_reset():
            self._unread.clear()
            return
        seconds = HELD_SECONDS
        if not self._is_paused and self._server.is_listening(self.client_id):
            seconds = self._find_seconds_left()
            if seconds == 0.0:
                self._read_portion()
                if not self._has_unread:
                    self._set_listening()
                    return
                seconds = self._find_seconds_left()
        self._is_waiting = True
        asyncio.get_running_loop().call_later(seconds, self._read_on)

    def _read_on(self) -> None:
        try:
            self._read()
        except Exception:  # noqa: BLE001  (the others must still be read; the traceback is logged)
            _log.exception("an error in reading a client, which is disconnected")
            self.abort()

    def _find_seconds_left(self) -> float:
        """Return how long to wait before more is read [s]: not at all while nobody needs the time."""
        rate = self._server.find_read_rate()
        if rate is None:
            return 0.0
        self._bucket.rate = rate
        return self._bucket.seconds_left()

    def _read_portion(self) -> None:
        self.session.skip_time(self._read_clock() - self._unread_since)
        portion = 0 if self.session.has_more else PORTION_BYTES
        received = self.session.receive(bytes(self._unread[:portion]))
        del self._unread[:portion]
        self._unread_since = self._read_clock()
        self._bucket.take(PORTION_COST + received.work)
        self._take_received(received)

    def _take_received(self, turn: Received) -> None:
        for line in turn.replies:
            self._write(line)
        for request in turn.requests:
            self._server.carry_out(self.client_id, request)
        if turn.is_over:
            self.close()
        if turn.wants_quit:
            self._server.quit()

    def _is_reset(self) -> bool:
        """End a connection that the client has reset while it was not read; asyncio does not look then."""
        assert self._transport is not None
        if self._transport.is_reading() or not self._transport.get_extra_info("socket").getsockopt(
            socket.SOL_SOCKET, socket.SO_ERROR
        ):
            return False
        self._transport.abort()
        return True

    def _set_listening(self) -> None:
        """Take more bytes from the system only when those that came are read and the client takes what it is sent."""
        if self._transport is None or self._transport.is_closing():
            return
        if self._has_unread or self._is_paused:
            self._transport.pause_reading()
        elif not self._transport.is_reading():
            self._transport.resume_reading()

    def _watch_for_life(self, unsent: int) -> None:
        """Note the time when nothing waits for the client, or when it has taken some of what waited."""
        taken = self._sent_bytes - unsent
        is_taking = self._unsent_bytes > 0 and taken > self._taken_bytes
        is_held = self._newest is not None and self._window is not None and self._window.is_behind(len(self._newest))
        if is_taking or (unsent == 0 and not is_held):
            self._life_time = self._read_clock()
        self._unsent_bytes, self._taken_bytes = unsent, taken

    def _may_send(self, line_bytes: int) -> bool:
        """Return whether a telemetry sent now would soon be read."""
        if self._is_blocked or self._window is None:
            return False
        if self._has_answered:
            self._window.note_life()
            return True
        return not self._window.is_behind(line_bytes) or self._window.may_force()

    def _send_held(self) -> None:
        if self._newest is not None and self._may_send(len(self._newest)):
            self._send_newest()

    def _send_newest(self) -> None:
        """Send the telemetry that is held, or the rest of it when its start was sent as probes."""
        assert self._newest is not None
        line, self._newest = self._newest[self._begun_bytes :], None
        self._fit_send_buffer(len(line))
        self._begun_bytes = 0
        self._has_answered = False
        self._write_now(line)

    def _fit_send_buffer(self, line_bytes: int) -> None:
        """Let the system hold more of a large picture: in small pieces it would keep the event loop busy."""
        if line_bytes > self._line_bytes and self._transport is not None:
            self._line_bytes = line_bytes
            size = min(line_bytes, MOST_SEND_BUFFER_BYTES)
            _set_option(self._transport.get_extra_info("socket"), socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def _probe(self) -> None:
        """Send the next byte of what every telemetry begins with: the answer shows whether the client reads again."""
        now = self._read_clock()
        if self._is_blocked or self._begun_bytes >= len(TELEMETRY_START):
            return
        if self._begun_bytes == 0 or now >= self._probe_time:
            self._probe_time = now + PROBE_SECONDS[self._begun_bytes]
            self._begun_bytes += 1
            self._write_now(TELEMETRY_START[self._begun_bytes - 1 : self._begun_bytes])

    def _write(self, line: bytes) -> None:
        """Send a line, after the telemetry whose start was already sent."""
        if self._begun_bytes:
            self._send_newest()
        self._write_now(line)

    def _write_now(self, line: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._sent_bytes += len(line)
        self._transport.write(line)
        if not self._is_paused and self._transport.get_write_buffer_size() > MOST_UNSENT_BYTES + self._line_bytes:
            self._is_paused = True
            self._set_listening()


def _tune(connection: socket.socket) -> None:
    """Make a socket send at once, buffer little and notice peers that are gone."""
    _set_option(connection, socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _set_option(connection, socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    _set_option(connection, socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", int(MOST_STALLED_SECONDS))):
        if hasattr(socket, name):  # its answers also show that a window has opened, see PeerWindow
            _set_option(connection, socket.IPPROTO_TCP, getattr(socket, name), value)


def _set_option(connection: socket.socket, level: int, name: int, value: int) -> None:
    """Set an option of a socket, if there still is a peer: macOS refuses otherwise, and reading shows soon enough."""
    with contextlib.suppress(OSError):
        connection.setsockopt(level, name, value)
