"""The wire's sockets on asyncio: who is connected, and what goes where."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket

from donkeysim.core.clock import Clock
from donkeysim.serve.connection import Connection
from donkeysim.serve.output import Output
from donkeysim.serve.simulation_thread import SimulationThread
from donkeysim.web.exhaustion import tell_briefly
from donkeysim.web.listener import BACKLOG

CHECK_SECONDS = 0.5
"""How often time limits are looked at [s]."""


class Server:
    """Accepts clients on a listening socket and connects them with a simulation_thread.

    Attributes:
        simulation_thread: Runs the simulation.
    """

    def __init__(self, listener: socket.socket, read_clock: Clock) -> None:
        self.simulation_thread: SimulationThread
        self._listener = listener
        self._read_clock = read_clock
        self._connections: dict[int, Connection] = {}
        self._next_id = itertools.count(1)
        self._server: asyncio.Server | None = None
        self._is_ending = asyncio.Event()

    async def start(self, simulation_thread: SimulationThread) -> None:
        """Begin to accept clients."""
        self.simulation_thread = simulation_thread
        loop = asyncio.get_running_loop()
        tell_briefly(loop)
        self._server = await loop.create_server(self._make_connection, sock=self._listener, backlog=BACKLOG)

    async def run(self) -> None:
        """Serve until `quit` is called."""
        while not self._is_ending.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_ending.wait(), CHECK_SECONDS)
            for connection in list(self._connections.values()):
                connection.check_time()

    def quit(self) -> None:
        """End `run`."""
        self._is_ending.set()

    async def stop(self) -> None:
        """Close all sockets."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections.values()):
            connection.abort()
        await asyncio.sleep(0)

    def deliver(self, outputs: list[Output]) -> None:
        """Hand outputs to the connections they are for."""
        connections = self._connections
        for output in outputs:
            connection = connections.get(output.client_id)
            if connection is not None:
                connection.take(output)

    def scene_names(self) -> tuple[str, ...]:
        """Return the scenes that the menu offers."""
        return self.simulation_thread.scene_names()

    def welcome(self, connection: Connection) -> None:
        """Take up a new client."""
        self._connections[connection.client_id] = connection
        self.simulation_thread.join(connection.client_id)

    def forget(self, connection: Connection) -> None:
        """Let a client go."""
        del self._connections[connection.client_id]
        self.simulation_thread.leave(connection.client_id)

    def _make_connection(self) -> Connection:
        return Connection(self, next(self._next_id), self._read_clock)
