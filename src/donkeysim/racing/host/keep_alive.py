"""What clients hear when there is nothing new for them: that the server is there, and their last telemetry again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from donkeysim.core.clock import Clock
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.participants import Client, make_event
from donkeysim.wire.replies import Ping

PING_SECONDS = 5.0
"""Everybody hears so often that the server is there [s, wall time]."""

REPEAT_SECONDS = 0.5
"""Whoever's car is off the track hears its last telemetry again so often: clients wait for one [s, wall time]."""


class KeepAlive:
    """Knows what each client was told last."""

    def __init__(self, read_clock: Clock) -> None:
        self._read_clock = read_clock
        self._pinged = self._repeated = read_clock()
        self._lines: dict[int, bytes] = {}

    def note(self, outputs: Iterable[Output], clients: Mapping[int, Client]) -> None:
        """Take note of what those who are connected are told; who has gone is forgotten."""
        told = {out.client_id: out.line for out in outputs if out.kind is OutputKind.TELEMETRY}
        self._lines = {known: line for known, line in (self._lines | told).items() if known in clients}

    def list_pings(self, clients: Iterable[Client]) -> Iterator[Output]:
        """Yield pings when it is time for them."""
        if self._read_clock() - self._pinged >= PING_SECONDS:
            self._pinged = self._read_clock()
            yield from (make_event(client, Ping()) for client in clients)

    def list_repeats(self, clients: Iterable[Client]) -> Iterator[Output]:
        """Yield the last telemetry of these clients when it is time to repeat it."""
        if self._read_clock() - self._repeated >= REPEAT_SECONDS:
            self._repeated = self._read_clock()
            for client in clients:
                if client.client_id in self._lines:
                    yield Output(client.client_id, OutputKind.TELEMETRY, self._lines[client.client_id])
