"""What the simulation hands to the sockets."""

import enum
from typing import NamedTuple

ORGANISERS = 0
"""In place of a client's id: for all verified clients of the private API."""


class OutputKind(enum.Enum):
    """How an output must be treated."""

    EVENT = "sent in order, never dropped"
    TELEMETRY = "a newer one replaces it while it is unsent"
    ANSWER = "the telemetry that answers a control in lock-step: never dropped"
    REFUSAL = "an error, subject to the client's limit of errors"
    FAREWELL = "an error after which the connection is closed"


class Output(NamedTuple):
    """One thing for one client.

    Attributes:
        client_id: For whom.
        kind: How to treat it.
        line: The message; of a refusal or farewell, its text for the client in UTF-8.
    """

    client_id: int
    kind: OutputKind
    line: bytes
