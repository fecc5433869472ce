"""The wire's sockets on asyncio: who is connected, and what goes where."""

import asyncio
import contextlib
import functools
import itertools
import logging
import socket
from collections import Counter
from collections.abc import Mapping
from typing import Any

from donkeysim.core.clock import Clock, TokenBucket
from donkeysim.core.files import describe_failure
from donkeysim.serve.connection import Connection
from donkeysim.serve.options import DEFAULT_CONTROL, find_forbidden
from donkeysim.serve.output import Output
from donkeysim.serve.session import FaultLog
from donkeysim.serve.simulation_thread import SimulationThread
from donkeysim.web.listener import is_loopback
from donkeysim.wire.messages import Request
from donkeysim.wire.reading import Reading, read_request
from donkeysim.wire.replies import ErrorReply, encode_reply

CHECK_SECONDS = 0.5
"""How often time limits are looked at [s]."""

# The original's clients ask for something at once; port scanners and browsers never ask, and would get a car each.
JOIN_SECONDS, JOIN_SECONDS_OF_STRANGE = 0.1, 2.0
"""A client gets a car when it has asked for something, or has stayed so long; the second if it talked nonsense [s]."""

# Twice the 256 clients that servers are tested with (docs/decisions/0020), below the 1,024 files that systems let a
# process open.
MOST_CONNECTIONS = 512
"""Clients at once; one that comes then is sent away."""

# A classroom behind one router has some thirty; one address alone cannot take all places.
MOST_OF_AN_ADDRESS = 128
"""Clients at once from one address, but for this machine's own."""

READ_RATE, LEAST_READ_RATE = 2e5, 4e3
"""Work that clients may ask of the reader together, and each at least [token/s].

A token is a microsecond at most, of a plain control a third of one: so fifty clients take a fifth of the event loop's
time for reading in the worst case. A control costs 55; at the least rate 64 clients can drive at 60 Hz.
"""

# A class that starts at once comes in at once; a flood of connections gets no more of the event loop than that.
ACCEPT_RATE, MOST_ACCEPTED = 200.0, 64
"""Connections that are taken up in a second, and after a pause at once."""

SHORTAGE_SECONDS = 1.0
"""When the system has no more room for connections, it is asked again after this time [s]."""

_log = logging.getLogger("donkeysim.wire")


class Server:
    """Accepts clients on a listening socket and connects them with a simulation_thread.

    Attributes:
        simulation_thread: Runs the simulation.
        faults: What clients do wrong.
        neighbours: Servers of the same simulation on other ports, which start, hear and end with this one.
        calls_clients: How the log calls a client, before its number.
    """

    calls_clients = "client"

    def __init__(self, listener: socket.socket, read_clock: Clock, wire_control: str = DEFAULT_CONTROL) -> None:
        self.simulation_thread: SimulationThread
        self.faults = FaultLog(read_clock)
        self.neighbours: list[Server] = []
        self._wire_control = wire_control
        self._listener = listener
        self._read_clock = read_clock
        self._connections: dict[int, Connection] = {}
        self._joined: set[int] = set()
        self._addresses: Counter[str] = Counter()
        self._next_id = itertools.count(1)
        self._accepting: asyncio.Task[None] | None = None
        self._is_ending = asyncio.Event()

    async def start(self, simulation_thread: SimulationThread) -> None:
        """Begin to accept clients."""
        self.simulation_thread = simulation_thread
        self._accepting = asyncio.create_task(self._accept())
        for neighbour in self.neighbours:
            await neighbour.start(simulation_thread)

    async def run(self) -> None:
        """Serve until `quit` is called."""
        while not self._is_ending.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_ending.wait(), CHECK_SECONDS)
            for server in (self, *self.neighbours):
                server.check_time()

    def check_time(self) -> None:
        """Look at time limits; `run` does so now and then."""
        for connection in list(self._connections.values()):
            connection.check_time()
        self.faults.check_time()

    def quit(self) -> None:
        """End `run`."""
        self._is_ending.set()

    async def stop(self) -> None:
        """Close all sockets."""
        if self._accepting is not None:
            self._accepting.cancel()
        self._listener.close()
        for connection in list(self._connections.values()):
            connection.abort()
        self.faults.close()
        for neighbour in self.neighbours:
            await neighbour.stop()
        await asyncio.sleep(0)

    def deliver(self, outputs: list[Output]) -> None:
        """Hand outputs to the connections they are for."""
        connections = self._connections
        for output in outputs:
            connection = connections.get(output.client_id)
            if connection is not None:
                connection.take(output)
        for neighbour in self.neighbours:
            neighbour.deliver(outputs)

    def scene_names(self) -> tuple[str, ...]:
        """Return the scenes that the menu offers."""
        return self.simulation_thread.scene_names()

    def list_forbidden(self, connection: socket.socket) -> frozenset[type[Request]]:
        """Return what the client of this connection may not say, because of where it is."""
        return find_forbidden(self._wire_control, connection)

    def read_message(self, fields: Mapping[str, Any]) -> Reading:
        """Return what a client's JSON object asks for."""
        return read_request(fields)

    def is_listening(self, client_id: int) -> bool:
        """Return whether a client may ask for more now."""
        return self.simulation_thread.is_listening(client_id)

    def find_read_rate(self) -> float | None:
        """Return how much work each client may ask of the reader [token/s]; None: as much as it likes."""
        return max(READ_RATE / len(self._connections), LEAST_READ_RATE) if self._is_shared() else None

    def note_health(self, client_id: int, is_reading: bool, is_troublesome: bool) -> None:
        """Take note whether a client reads its telemetry, and whether it makes many mistakes."""
        self.simulation_thread.note_health(client_id, is_reading, is_troublesome)

    # -- coming and going ---------------------------------------------------------------------------------------------

    def welcome(self, connection: Connection) -> None:
        """Take up a new client."""
        self._connections[connection.client_id] = connection
        self._addresses[connection.address] += 1
        self._expect(connection)

    def _expect(self, connection: Connection) -> None:
        """Let the simulation hear of a new client a little later."""
        loop = asyncio.get_running_loop()
        loop.call_later(JOIN_SECONDS, self._let_stay, connection)
        loop.call_later(JOIN_SECONDS_OF_STRANGE, self._let_join, connection.client_id)

    def carry_out(self, client_id: int, request: Request) -> None:
        """Pass on what a client asks for."""
        self._let_join(client_id)
        self.simulation_thread.execute(client_id, request)

    def forget(self, connection: Connection) -> None:
        """Let a client go."""
        del self._connections[connection.client_id]
        self._addresses[connection.address] -= 1
        if not self._addresses[connection.address]:
            del self._addresses[connection.address]
        if connection.client_id in self._joined:
            self._joined.remove(connection.client_id)
            self.simulation_thread.leave(connection.client_id)

    def _is_shared(self) -> bool:
        """Return whether there are several clients, and time does not wait for them anyway."""
        return len(self._connections) > 1 and not self.simulation_thread.is_in_lock_step()

    def _let_stay(self, connection: Connection) -> None:
        if connection.is_sane:
            self._let_join(connection.client_id)

    def _let_join(self, client_id: int) -> None:
        if client_id in self._connections and client_id not in self._joined:
            self._joined.add(client_id)
            self.simulation_thread.join(client_id)

    async def _accept(self) -> None:
        """Take up clients, few enough at a time that the others don't feel it."""
        loop = asyncio.get_running_loop()
        bucket = TokenBucket(ACCEPT_RATE, MOST_ACCEPTED, self._read_clock)
        while True:
            try:
                accepted, peer = await loop.sock_accept(self._listener)
                bucket.take(1)
                await self._take_up(accepted, str(peer[0]))
            except ConnectionError:  # it came and went
                continue
            except OSError as error:
                self._note("no room for a connection", f"new connections must wait: {describe_failure(error)}")
                await asyncio.sleep(SHORTAGE_SECONDS)
            except Exception:  # noqa: BLE001  (others must be able to come; the traceback is logged)
                _log.exception("an error in taking up a client")
                await asyncio.sleep(SHORTAGE_SECONDS)
            await asyncio.sleep(bucket.seconds_left())

    async def _take_up(self, accepted: socket.socket, address: str) -> None:
        """Make a connection of a socket, or close it: many have gone already, others are too many."""
        with contextlib.ExitStack() as unless_taken_up:
            unless_taken_up.callback(accepted.close)
            if is_gone(accepted):
                return
            if refusal := self._find_refusal(address):
                self._note("too many connections", refusal)
                with contextlib.suppress(OSError):
                    accepted.send(encode_reply(ErrorReply(error=refusal)))
                return
            client_id = next(self._next_id)
            make = functools.partial(Connection, self, client_id, address, self._read_clock)
            await asyncio.get_running_loop().connect_accepted_socket(make, accepted)
            unless_taken_up.pop_all()

    def _find_refusal(self, address: str) -> str:
        """Return why nobody more may come, "" when there is room."""
        most, most_of_an_address = self._limit_connections()
        if len(self._connections) >= most:
            return f"{most} clients are connected, which is the limit; try again when one has left."
        if self._addresses[address] >= most_of_an_address and not is_loopback(address):
            return f"{most_of_an_address} clients of your address are connected, which is the limit; close one first."
        return ""

    def _limit_connections(self) -> tuple[int, int]:
        """Return how many clients there may be, in all and from one address."""
        return MOST_CONNECTIONS, MOST_OF_AN_ADDRESS

    def _note(self, kind: str, text: str) -> None:
        self.faults.note("donkey_sim", kind, text, kind not in self.faults.totals)


def is_gone(accepted: socket.socket) -> bool:
    """Return whether the peer of a fresh socket has closed it, saying nothing."""
    accepted.setblocking(False)
    try:
        return not accepted.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
