"""What organisers on the private API are told of all cars, the pace car included."""

from __future__ import annotations

from collections.abc import Iterable

from donkeysim.serve.output import ORGANISERS, Output, OutputKind
from donkeysim.serve.participants import find_line, name_car
from donkeysim.sim.simulator import Simulator
from donkeysim.wire.replies import CarCrossedLine, ConeTouched, Reply, encode_reply
from donkeysim.world.ledger import EVENT_HIT, Event

CONE = "cone"
"""What a cone is called, whatever `hit` says."""


def list_admin_events(simulator: Simulator, events: Iterable[Event]) -> list[Output]:
    """Return what is told of crossings of start lines and of solid cones; ghost cones are told where they are seen."""
    news = (_describe(simulator, event) for event in events)
    return [Output(ORGANISERS, OutputKind.EVENT, encode_reply(reply)) for reply in news if reply is not None]


def _describe(simulator: Simulator, event: Event) -> Reply | None:
    line = find_line(event, simulator.scene)
    if line is not None:
        return CarCrossedLine(line, event.time, name_car(simulator, event.car))
    if event.kind != EVENT_HIT or simulator.name_hit(event.car, int(event.value)) != CONE:
        return None
    cone = simulator.find_prop(event.car, int(event.value))
    return None if cone is None else ConeTouched(name_car(simulator, event.car), cone, event.time)
