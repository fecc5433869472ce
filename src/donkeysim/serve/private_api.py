"""The private API: a port of its own for whoever organises a race, open to those who know its key.

Its clients hear of every car at the start line and in cones, and draw the challenges anew. What protects the wire from
its clients protects this port too: the same sockets, sessions and limits.
"""

import asyncio
import hmac
import socket
from collections.abc import Coroutine, Mapping
from typing import Any

from donkeysim.core.clock import Clock
from donkeysim.core.errors import DonkeySimError
from donkeysim.serve.connection import Connection
from donkeysim.serve.output import ORGANISERS, Output, OutputKind
from donkeysim.serve.server import Server
from donkeysim.web.limits import BLOCKED_SECONDS, FailedLogins
from donkeysim.wire.messages import Request
from donkeysim.wire.reading import Reading, SetRandomSeed, Verify, read_private_request
from donkeysim.wire.replies import PrivateKeyError, Verified, encode_reply

MOST_ORGANISERS = 32
"""Clients at once."""

MOST_OF_AN_ADDRESS = 8
"""Clients at once from one address, but for this machine's own."""

VERIFY_SECONDS = 10.0
"""After this time a client that has not shown the key is sent away [s]."""

REFUSAL_SECONDS = 1.0
"""How long a client that does not know the key waits to hear it [s]."""

_WRONG = "the private key is wrong; donkey_sim printed it at its start, unless DONKEYSIM_PRIVATE_KEY holds it."
_FIRST = "send verify with the private key first."
_LATE = f"no right private key within {VERIFY_SECONDS:g} s; goodbye."
_TOO_MANY = f"too many wrong keys from your address; wait {BLOCKED_SECONDS:g} s, then send the right one."


class PrivateApi(Server):
    """Accepts organisers on a listening socket of their own."""

    calls_clients = "private client"

    def __init__(self, listener: socket.socket, read_clock: Clock, key: str) -> None:
        """Prepare a port that answers nobody yet.

        Args:
            listener: Listens already.
            key: What clients must know.
        """
        super().__init__(listener, read_clock)
        self._key = key.encode()
        self._failed_logins = FailedLogins(read_clock)
        self._verified: set[int] = set()
        self._refused: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def deliver(self, outputs: list[Output]) -> None:
        """Hand what is for organisers to those who are verified."""
        for output in outputs:
            if output.client_id == ORGANISERS:
                for client_id in self._verified:
                    self._connections[client_id].take(output)

    def read_message(self, fields: Mapping[str, Any]) -> Reading:
        """Return what an organiser's JSON object asks for."""
        return read_private_request(fields)

    def list_forbidden(self, connection: socket.socket) -> frozenset[type[Request]]:
        """Return nothing: the key decides, not the address."""
        del connection
        return frozenset()

    def is_listening(self, client_id: int) -> bool:
        """Return whether a client may say more now; not while it waits to hear that its key is wrong."""
        return client_id not in self._refused

    def carry_out(self, client_id: int, request: Request) -> None:
        """Do what a client asks for, if it has shown the key."""
        if client_id in self._refused:  # it came together with the wrong key
            return
        if isinstance(request, Verify):
            self._verify(self._connections[client_id], request.private_key)
        elif client_id not in self._verified:
            self._refuse(self._connections[client_id], f"{request.message_type()}: {_FIRST}")
        else:
            seed = request.seed if isinstance(request, SetRandomSeed) else None
            self._do(client_id, request.message_type(), self.simulation_thread.draw_challenges(seed))

    def forget(self, connection: Connection) -> None:
        """Let a client go."""
        self._verified.discard(connection.client_id)
        self._refused.discard(connection.client_id)
        super().forget(connection)

    def _expect(self, connection: Connection) -> None:
        asyncio.get_running_loop().call_later(VERIFY_SECONDS, self._send_away, connection)

    def _send_away(self, connection: Connection) -> None:
        if connection.client_id not in self._verified:
            _tell(connection, PrivateKeyError(error_message=_LATE))
            connection.close()

    def _verify(self, connection: Connection, key: str) -> None:
        address = connection.address
        if self._failed_logins.is_blocked(address):
            self._refuse(connection, _TOO_MANY)
        elif hmac.compare_digest(key.encode("utf-8", "replace"), self._key):
            self._verified.add(connection.client_id)
            _tell(connection, Verified())
        else:
            self._failed_logins.note(address, key)
            self._refuse(connection, _WRONG)

    def _refuse(self, connection: Connection, text: str) -> None:
        """Tell a client a little later why it may not do this, and listen to it no more until then."""
        self._note(f"{self.calls_clients} without key", f"{self.calls_clients} {connection.client_id}: {text}")
        self._refused.add(connection.client_id)
        asyncio.get_running_loop().call_later(REFUSAL_SECONDS, self._listen_again, connection, text)

    def _listen_again(self, connection: Connection, text: str) -> None:
        self._refused.discard(connection.client_id)
        _tell(connection, PrivateKeyError(error_message=text))

    def _do(self, client_id: int, name: str, work: Coroutine[None, None, None]) -> None:
        """Let the simulation work, and report to the client what is refused."""

        async def follow() -> None:
            try:
                await work
            except DonkeySimError as error:
                if (connection := self._connections.get(client_id)) is not None:
                    connection.take(Output(client_id, OutputKind.REFUSAL, f"{name}: {error}".encode()))

        task = asyncio.create_task(follow())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _is_shared(self) -> bool:
        return True

    def _limit_connections(self) -> tuple[int, int]:
        return MOST_ORGANISERS, MOST_OF_AN_ADDRESS


def _tell(connection: Connection, reply: Verified | PrivateKeyError) -> None:
    connection.take(Output(connection.client_id, OutputKind.EVENT, encode_reply(reply)))
