"""Who takes part: clients, and cars with what a watcher wants to know of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from donkeysim.core.errors import SceneError
from donkeysim.core.types import FloatArray
from donkeysim.serve.client_queues import ClientQueue
from donkeysim.serve.options import SimulationOptions
from donkeysim.serve.output import ORGANISERS, Output, OutputKind
from donkeysim.serve.picture_budget import limit_camera
from donkeysim.sim.commands import SetCamera
from donkeysim.sim.viewpoint import find_pose
from donkeysim.watch.watchable import CarRow
from donkeysim.wire import messages
from donkeysim.wire.messages import Reply
from donkeysim.wire.replies import CarCrossedLine, ConeTouched, StartLineCrossed, encode_reply
from donkeysim.wire.settings import make_command
from donkeysim.world.ledger import EVENT_CROSSING, EVENT_HIT, EVENT_LAP, Event, Ledger
from donkeysim.world.scene import Scene
from donkeysim.world.specs import CarSpec
from donkeysim.world.telemetry import Telemetry

if TYPE_CHECKING:
    from donkeysim.sim.simulator import Simulator

IDLE_RADIUS = 0.125
"""A car that stays this near to where it was counts as idle [m]; the original's 1 U."""

SLOW_CONSUMER_SECONDS = 2.0
"""A client that does not read for so long gets telemetry less often [s]."""

# Drawing for somebody who does not read is work lost; four a second suffice to notice that it reads again.
SLOW_CONSUMER_INTERVAL = 0.25
"""Then it is made at this interval [s]."""

CONE_RADIUS = 0.052
"""Of a cone's foot [m]."""

CONE = "cone"
"""What a cone is called, whatever `hit` says."""


@dataclass
class Client:
    """Somebody connected.

    Attributes:
        client_id: Never used again for another.
        queue: What it has asked for.
        car: Its car; None in the menu and when no place was free.
        awaits_road: Whether it has asked for a road that is being made; what it says meanwhile is carried out after.
        slow_since: When it was first seen not to read its telemetry, None while it does [s].
        is_troublesome: Whether much of what it says lately was not understood or not possible.
        reported: When telemetry was last made for it [s].
        exited: When it has left a scene, where others may still drive, having chosen none since; None: it has not [s].
    """

    client_id: int
    queue: ClientQueue
    car: SceneCar | None = None
    awaits_road: bool = False
    slow_since: float | None = None
    is_troublesome: bool = False
    reported: float = 0.0
    exited: float | None = None

    def wants_telemetry(self, now: float) -> bool:
        """Return whether to make telemetry now; seldom for a client that has not read any for a while."""
        if (
            self.slow_since is not None
            and now - self.slow_since > SLOW_CONSUMER_SECONDS
            and now - self.reported < SLOW_CONSUMER_INTERVAL
        ):
            return False
        self.reported = now
        return True


@dataclass(eq=False)
class SceneCar:
    """A car of the running scene.

    Attributes:
        car_id: Never used again for another.
        row: Of the simulator's arrays.
        client: Who drives it; None: nobody who is connected.
        is_pace_car: Whether it is the pace car.
        telemetry: Latest readings.
        picture: Latest picture of its first camera as a JPEG file; None before the first and in other encodings.
        lap_times: Since the last reset [s].
        telemetry_count: How often it has recipients them.
        last_hit: Name of what it touched last; "" for nothing.
        idle_position: Where it was when it last counted as moving [m].
        idle_since: When that was [s, wall time].
    """

    car_id: int
    row: int
    client: Client | None
    is_pace_car: bool = False
    telemetry: Telemetry | None = None
    picture: bytes | None = None
    lap_times: list[float] = field(default_factory=list)
    telemetry_count: int = 0
    last_hit: str = ""
    idle_position: tuple[float, float] = (0.0, 0.0)
    idle_since: float = 0.0

    def begin_anew(self) -> None:
        """Forget laps and hits, as a reset does."""
        self.lap_times.clear()
        self.last_hit = ""

    def carry_out(self, simulator: Simulator, request: messages.Request, options: SimulationOptions) -> str:
        """Do what a client asks of its car and return a note for it, "" for none.

        Raises:
            DonkeySimError: The request is not possible in this scene.
        """
        if isinstance(request, messages.SetPosition) and not options.has_training_fields:
            raise SceneError(
                "positions are neither sent nor accepted; the simulator runs with --no-training-telemetry."
            )
        note = change_car(simulator, self.row, request)
        if isinstance(request, messages.ResetCar):
            self.begin_anew()
        return note

    def note_telemetry(self, telemetry: Telemetry) -> None:
        """Keep the latest readings."""
        self.telemetry = telemetry
        self.telemetry_count += 1

    def note_event(self, event: Event, simulator: Simulator) -> Output | None:
        """Take note of what happened to the car and return what its client hears of it."""
        if event.kind == EVENT_LAP:
            self.lap_times.append(event.value)
        if event.kind == EVENT_HIT:
            self.last_hit = simulator.name_hit(self.row, int(event.value))
        line = find_line(event, simulator.scene)
        if self.client is None or line is None:
            return None
        return make_event(self.client, StartLineCrossed(starting_line_index=line, timeStamp=event.time))

    def list_cones(self, simulator: Simulator, ghosts: GhostWatch) -> list[Output]:
        """Return what is reported of ghost cones that the car has driven into since the last call."""
        entered = ghosts.find_entered(simulator.ledger, self.row)
        if not entered:
            return []
        name, time = name_car(simulator, self.row), float(simulator.ledger.time[self.row])
        lines = [encode_reply(ConeTouched(name, index, time)) for index in entered]
        recipients = [ORGANISERS] if self.client is None else [self.client.client_id, ORGANISERS]
        return [Output(client_id, OutputKind.EVENT, line) for client_id in recipients for line in lines]

    def has_idled(self, simulator: Simulator, now: float, limit: float) -> bool:
        """Return whether the car has not left its place for `limit` seconds of wall time."""
        x, y, _ = simulator.ledger.position[self.row].tolist()
        if (x - self.idle_position[0]) ** 2 + (y - self.idle_position[1]) ** 2 > IDLE_RADIUS**2:
            self.idle_position = (x, y)
            self.idle_since = now
        return now - self.idle_since > limit

    def make_row(self, simulator: Simulator) -> CarRow:
        """Return what a watcher sees."""
        x, y, _, yaw = find_pose(simulator.ledger, self.row)
        body = simulator.get_body(self.row)
        return CarRow(
            car_id=self.car_id,
            name=body.name,
            style=body.style,
            colour=body.colour,
            is_pace_car=self.is_pace_car,
            telemetry=self.telemetry,
            pose=(x, y, yaw),
            lap_times=tuple(self.lap_times),
            last_hit=self.last_hit,
            drawn=simulator.get_randomization(self.row),
        )


def change_car(simulator: Simulator, row: int, request: messages.Request) -> str:
    """Do what a client asks of the car of this row and return a note for it, "" for none.

    Raises:
        DonkeySimError: The request is not possible in this scene.
    """
    command, note = make_command(simulator, row, request)
    if isinstance(command, SetCamera):
        command, note = limit_camera(simulator, command)
    if command is not None:
        simulator.apply(command)
    return note


def find_line(event: Event, scene: Scene) -> int | None:
    """Return the start line that clients hear a car has crossed, None when the event is of something else.

    At the finish of an open road clients hear of line 0: from crossing to crossing they time their laps.
    """
    if scene.start.is_silent:
        return None
    if event.kind == EVENT_LAP and not scene.path.closed:
        return 0
    return int(event.value) if event.kind == EVENT_CROSSING else None


def name_car(simulator: Simulator, row: int) -> str:
    """Return what a car is called, also when its client gave it no name."""
    return simulator.get_body(row).name or f"car{row}"


def make_event(client: Client, reply: Reply, numbers_as_strings: bool = False) -> Output:
    """Return a reply as an output that is never dropped."""
    return Output(client.client_id, OutputKind.EVENT, encode_reply(reply, numbers_as_strings))


class GhostWatch:
    """Knows which car is in which ghost cone of a scene."""

    def __init__(self, scene: Scene, car: CarSpec) -> None:
        """Begin with nobody in any cone."""
        self._ghosts: FloatArray = scene.ghosts
        self._half = np.array(car.chassis_size[:2]) / 2.0
        self._centre = np.array(car.chassis_centre[:2])
        self._inside: dict[int, frozenset[int]] = {}

    def find_entered(self, ledger: Ledger, car: int) -> list[int]:
        """Return the cones that a car has driven into since the last call for it."""
        if not len(self._ghosts):
            return []
        yaw = float(ledger.yaw[car])
        away = self._ghosts - ledger.position[car, :2]
        turn = np.array(((np.cos(yaw), -np.sin(yaw)), (np.sin(yaw), np.cos(yaw))))
        beyond = np.maximum(np.abs(away @ turn - self._centre) - self._half, 0.0)
        inside = frozenset(np.flatnonzero(np.hypot(*beyond.T) < CONE_RADIUS).tolist())
        before, self._inside[car] = self._inside.get(car, frozenset()), inside
        return sorted(inside - before)


def list_admin_events(simulator: Simulator, events: Iterable[Event]) -> list[Output]:
    """Return what is reported of crossed start lines and solid cones; ghost cones are reported where they are seen."""
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
