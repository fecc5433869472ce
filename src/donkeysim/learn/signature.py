"""Which kind of pilot a network is, by its inputs and outputs."""

from __future__ import annotations

import math
from pathlib import Path

from donkeysim.core.errors import PilotError
from donkeysim.learn.files.session import PilotSession, Port
from donkeysim.learn.kinds import KINDS, PilotKind


def detect_kind(session: PilotSession, path: Path) -> PilotKind:
    """Return the kind of a network that does not say it.

    Raises:
        PilotError: Its inputs and outputs fit no kind.
    """
    fitting = [kind for kind in KINDS.values() if _fits(session, kind)]
    if not fitting:
        raise PilotError(
            f"{path} is not like any type of pilot: {describe_ports(session)}; see docs/pilots.md for what each has."
        )
    names = [port.name for port in session.outputs]
    return next((kind for kind in fitting if list(kind.output_names) == names), fitting[0])


def check_kind(session: PilotSession, kind: PilotKind, path: Path) -> None:
    """Make sure that a network can be run as a kind.

    Raises:
        PilotError: It cannot; the sentence says what it looks like.
    """
    if _fits(session, kind):
        return
    others = [other.name for other in KINDS.values() if _fits(session, other)]
    found = f"it looks like {' or '.join(others)}" if others else "nor is it like any other type"
    raise PilotError(
        f"{path} is not a pilot of the type {kind.name}, {found}: {describe_ports(session)}; "
        "leave --type out, or give the type that it was trained as."
    )


def describe_ports(session: PilotSession) -> str:
    """Return the inputs and outputs of a network in words."""
    takes, gives = (", ".join(map(_describe_port, ports)) for ports in (session.inputs, session.outputs))
    return f"it takes {takes} and gives {gives}"


def _describe_port(port: Port) -> str:
    return f"{port.name}[{'x'.join(map(str, port.shape)) or '1'}]"


def _fits(session: PilotSession, kind: PilotKind) -> bool:
    rank = 4 if kind.history == "pictures" else 3
    if len(session.image_shape) != rank:
        return False
    return _fits_inputs(session.inputs[1:], kind) and _fits_outputs(session.outputs, kind)


def _fits_inputs(further: tuple[Port, ...], kind: PilotKind) -> bool:
    if kind.history == "commands":
        return len(further) == 1 and "mem" in further[0].name and further[0].shape[0] % 2 == 0
    if not kind.channels:
        return not further
    if len(further) != 1 or len(further[0].shape) != 1 or "mem" in further[0].name:
        return False
    return len(kind.channels) == 1 or further[0].shape[0] == len(kind.channels)


def _fits_outputs(outputs: tuple[Port, ...], kind: PilotKind) -> bool:
    sizes = [math.prod(port.shape) for port in outputs]
    if kind.form == "bins":
        return len(sizes) == 2 and sizes[0] > 1  # donkeycar 2 gives the throttle as one number
    if kind.form == "place":
        return len(sizes) == 3 and sizes[:2] == [1, 1]
    if kind.form == "angle":
        return sizes == [1]
    return sizes in ([1, 1], [2])
