"""What clients on other machines may do to everybody: the wire has no password, so the address decides."""

from __future__ import annotations

import socket

from donkeysim.web.address import is_loopback
from donkeysim.wire import messages
from donkeysim.wire.messages import Request

WIRE_CONTROLS = ("local", "scenes", "all")
"""Of others: drive only; load and leave scenes, make roads and step time too; end the program too."""

DEFAULT_CONTROL = "scenes"
"""Unchanged clients load scenes from anywhere, and none needs to end the program for everybody."""

_SCENES = (messages.LoadScene, messages.ExitScene, messages.RegenerateRoad, messages.SetStepMode)

_FORBIDDEN: dict[str, frozenset[type[Request]]] = {
    "local": frozenset((messages.QuitApp, *_SCENES)),
    "scenes": frozenset((messages.QuitApp,)),
    "all": frozenset(),
}


def find_forbidden(control: str, connection: socket.socket) -> frozenset[type[Request]]:
    """Return what a client may not say.

    Args:
        control: One of `WIRE_CONTROLS`.
        connection: The client's; whoever comes from the address it was sent to is on this machine.
    """
    try:
        there, here = connection.getpeername()[0], connection.getsockname()[0]
    except OSError:  # it has gone
        return _FORBIDDEN["local"]
    return frozenset() if there == here or is_loopback(there) else _FORBIDDEN[control]
