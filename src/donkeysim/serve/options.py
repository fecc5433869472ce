"""How a server runs its simulation, and what clients on other machines may do to everybody.

The wire has no password, so the address decides who may do what.
"""

import socket
from dataclasses import dataclass, field

from donkeysim.web.listener import is_loopback
from donkeysim.wire import messages
from donkeysim.wire.messages import Request
from donkeysim.world.experiment import Experiment

WIRE_CONTROLS = ("local", "scenes", "all")
"""Of others: drive only; load and leave scenes, make roads and step time too; end the program too."""

DEFAULT_CONTROL = "scenes"
"""Unchanged clients load scenes from anywhere, and none needs to end the program for everybody."""

_FORBIDDEN: dict[str, frozenset[type[Request]]] = {
    "local": frozenset(kind for kind in messages.REQUESTS if kind.concerns_all),
    "scenes": frozenset((messages.QuitApp,)),
    "all": frozenset(),
}


@dataclass(frozen=True)
class SimulationOptions:
    """How the simulator is run.

    Attributes:
        experiment: What is simulated; clients choose among scenes, which are as its first one but for their names.
        telemetry_rate: Telemetries per simulated second; divides the physics rate.
        time_scale: Simulated seconds per second; None: as fast as possible.
        pace_car: "steady" or "fast"; None for none.
        max_cars: Most cars of clients.
        idle_timeout: A client whose car stays in its place for so long is sent away [s]; None: never.
        has_training_fields: Whether `pos_*`, `vel_*` and `cte` are sent and `set_position` works.
        numbers_as_strings: Whether telemetry has its numbers as text.
        worker_count: Threads for physics and pictures.
    """

    experiment: Experiment = field(default_factory=Experiment)
    telemetry_rate: int = 20
    time_scale: float | None = 1.0
    pace_car: str | None = None
    max_cars: int = 64
    idle_timeout: float | None = None
    has_training_fields: bool = True
    numbers_as_strings: bool = False
    worker_count: int = 1


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
