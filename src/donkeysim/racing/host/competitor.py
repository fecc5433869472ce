"""Who takes part in the races of a server: by name and `guid`, whether connected at the moment or not."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from donkeysim.drivers.steering import Action
from donkeysim.racing.run.race_run import pick_colours
from donkeysim.racing.run.racer import name_anew
from donkeysim.serve.participants import Client
from donkeysim.sim.simulator import Simulator
from donkeysim.wire import messages
from donkeysim.wire.equipment import CONFIGURATIONS, ConfigureCar
from donkeysim.wire.settings import change_body
from donkeysim.world.specs import BodySpec, CameraSpec

# Clients say all about their car at once after they connect; a second covers slow links.
INTRODUCTION_SECONDS, LONGEST_INTRODUCTION = 1.0, 5.0
"""When a client has said no more for so long, or has talked for so long, it has said who it is [s, wall time]."""

NO_GUID = ("", "0")
"""Clients of the original send the second unless they are configured otherwise."""

LONGEST_NAME = 32
"""Characters; what is longer is cut."""

COLOURS = 24
"""Different colours; after that they repeat."""


class ClientRacer:
    """Drives a car as its client has asked last, by pictures that come with telemetry. Implements `Racer`."""

    camera: CameraSpec | None = None

    def __init__(self) -> None:
        self._action = Action(0.0, 0.0, 0.0)

    def reset(self, simulator: Simulator, row: int, seed: int) -> None:
        """Continue as asked: whoever drives does not know yet that another run begins."""
        del simulator, row, seed

    def decide(self, simulator: Simulator, row: int) -> Action:
        """Return what the client wants."""
        del simulator, row
        return self._action

    def note(self, control: messages.DriveCar) -> None:
        """Take note of a control; what it leaves out stays as it was."""
        steer, throttle, _ = self._action
        steer = steer if control.steer is None else control.steer
        throttle = throttle if control.throttle is None else control.throttle
        self._action = Action(steer, throttle, control.brake)

    def stop(self) -> None:
        """Brake: nobody drives."""
        self._action = Action(0.0, 0.0, 1.0)


@dataclass(eq=False)
class _Stranger:
    """Somebody who has come at a time, was heard last at another [s], and has said this of itself so far."""

    client: Client
    came: float
    heard: float
    said: dict[type[messages.Request], messages.Request] = field(default_factory=dict)


@dataclass(eq=False)
class Competitor:
    """Somebody who takes part.

    Attributes:
        number: In the order in which they came, from 0.
        name: No other competitor has it.
        guid: By which its client is known again; "": it has none.
        client: None while it is not connected.
        racer: Drives its car in races.
        settings: The last of each kind of message about its car.
        waits: Races that it had to watch in a row.
        is_told: Whether it has a car, or was sent the reason why not.
        is_appearance_set: Whether its car in the paddock looks as it shall.
    """

    number: int
    name: str
    guid: str
    client: Client | None
    racer: ClientRacer = field(default_factory=ClientRacer)
    settings: dict[type[messages.Request], messages.Request] = field(default_factory=dict)
    waits: int = 0
    is_told: bool = False
    is_appearance_set: bool = True

    def make_body(self) -> BodySpec:
        """Return how its car looks."""
        body = BodySpec(colour=pick_colours(COLOURS)[self.number % COLOURS])
        setting = self.settings.get(ConfigureCar)
        if isinstance(setting, ConfigureCar):
            body = change_body(body, setting)
        return BodySpec(body.style, body.colour, self.name, body.font_size)


class Competitors:
    """All who take part, and those who have come but not said yet who they are."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """Begin with nobody; the taken names are nobody's."""
        self._taken = frozenset(taken)
        self._known: list[Competitor] = []
        self._strangers: dict[int, _Stranger] = {}
        self._count = 0

    def __iter__(self) -> Iterator[Competitor]:
        return iter(self._known)

    def list_here(self) -> list[Competitor]:
        """Return who is connected: first those who had to watch most races, then those who came first."""
        here = [known for known in self._known if known.client is not None]
        return sorted(here, key=lambda known: (-known.waits, known.number))

    def call_next(self) -> None:
        """Let the first who has no car try again to get one: a place is free."""
        for known in self.list_here():
            if known.client is not None and known.client.car is None:
                known.is_told = False
                return

    def welcome(self, client: Client, now: float) -> None:
        """Wait for a client to say who it is."""
        self._strangers[client.client_id] = _Stranger(client, now, now)

    def find(self, client: Client) -> Competitor | None:
        """Return who a client is, None before it has said so."""
        return next((known for known in self._known if known.client is client), None)

    def hear(self, client: Client, request: messages.Request, now: float) -> bool:
        """Take note of what a client says of itself or of its car; return whether it did."""
        if not isinstance(request, (*CONFIGURATIONS, messages.SetRacerInfo)):
            return False
        known = self.find(client)
        if known is not None:
            known.settings[type(request)] = request
        elif client.client_id in self._strangers:
            self._strangers[client.client_id].said[type(request)] = request
            self._strangers[client.client_id].heard = now
        return True

    def admit(self, now: float) -> None:
        """Let those take part from now on who have had the time to say who they are."""
        for stranger in list(self._strangers.values()):
            if now - stranger.heard >= INTRODUCTION_SECONDS or now - stranger.came >= LONGEST_INTRODUCTION:
                del self._strangers[stranger.client.client_id]
                self._admit(stranger.client, stranger.said)

    def part(self, client: Client) -> Competitor | None:
        """Let a client go and return who it was; it may come back until it is forgotten."""
        self._strangers.pop(client.client_id, None)
        known = self.find(client)
        if known is not None:
            known.client = None
            known.racer.stop()
        return known

    def forget_absent(self, entered: Collection[Competitor] = ()) -> None:
        """Forget who is not connected, but for those who have entered a race that is under way."""
        self._known = [known for known in self._known if known.client is not None or known in entered]

    def _admit(self, client: Client, said: dict[type[messages.Request], messages.Request]) -> None:
        """Find out who somebody is: one who was here with this `guid`, or without any by this name, or a new one."""
        name, racer = _read_name(said), said.get(messages.SetRacerInfo)
        guid = (racer.guid if isinstance(racer, messages.SetRacerInfo) else None) or ""
        guid = "" if guid in NO_GUID else guid
        for known in self._known:
            if known.client is None and known.guid == guid and (guid or known.name == name):
                known.client, known.is_told = client, False
                known.settings |= said
                return
        taken = {*self._taken, *(known.name for known in self._known)}
        own = name_anew(name or f"car {self._count + 1}", taken)
        made = Competitor(self._count, own, guid, client, settings=said)
        self._count += 1
        self._known.append(made)


def _read_name(said: dict[type[messages.Request], messages.Request]) -> str:
    """Return the name of the car, or else of the racer; "" if there is none."""
    car, racer = said.get(ConfigureCar), said.get(messages.SetRacerInfo)
    names: list[str | None] = []
    if isinstance(car, ConfigureCar):
        names.append(change_body(BodySpec(), car).name)
    if isinstance(racer, messages.SetRacerInfo):
        names += [racer.car_name, racer.racer_name]
    printable = (" ".join("".join(c for c in name if c.isprintable()).split()) for name in names if name)
    return next(filter(None, printable), "")[:LONGEST_NAME].strip()
