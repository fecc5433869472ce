"""The time between races: which are held, what is waited for, how pages show it, and what clients hear meanwhile."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path

import msgspec

from donkeysim.core.clock import Clock
from donkeysim.racing.host.competitor import Competitor
from donkeysim.racing.rules.rule_book import RuleBook
from donkeysim.racing.run.race_file import Report
from donkeysim.racing.run.race_run import make_bodies
from donkeysim.racing.run.racer import Racer
from donkeysim.racing.show.race_view import RaceView, TowerLine, Waiting
from donkeysim.serve.output import Output, OutputKind
from donkeysim.serve.participants import Client, make_event
from donkeysim.wire.replies import Ping
from donkeysim.world.specs import BodySpec

RETRY_SECONDS = 10.0
"""A race that could not be held is tried again after this time at the earliest [s]."""

PADDOCK = "paddock"
"""As a session of `RaceView`."""


PING_SECONDS = 5.0
"""Everybody hears so often that the server is there [s, wall time]."""

REPEAT_SECONDS = 0.5
"""Whoever's car is off the track hears its last telemetry again so often: clients wait for one [s, wall time]."""


@dataclass(frozen=True)
class RaceOffer:
    """What is raced again and again.

    Attributes:
        track: A track's name, or the path of its file.
        rules: Name of the rule book, or its path.
        book: What it says.
        folder: Where race files and results go.
        local_racers: Who races beside the clients, by name.
        cars: How many clients' cars begin a race by themselves; 0: their number does not.
        wait: So long after the paddock opens a race begins with whoever is there, simulated; 0: not by time [s].
        races: How many are held before the server ends; 0: no limit.
        pause: Shortest time in the paddock between two races that begin by themselves, simulated [s].
        seed: Of the first race; each next one has the next.
        car: Preset of all cars' physics.
        report: Called with each result, on the simulation's thread.
        end: Called after the last race, on the simulation's thread.
    """

    track: str
    rules: str
    book: RuleBook
    folder: Path
    local_racers: Mapping[str, Racer] = field(default_factory=dict)
    cars: int = 0
    wait: float = 0.0
    races: int = 0
    pause: float = 10.0
    seed: int = 0
    car: str = "original"
    report: Callable[[Report], object] = lambda _report: None
    end: Callable[[], object] = lambda: None


def find_obstacle(offer: RaceOffer, race_count: int, passed: float, here: int, trouble: str) -> Waiting:
    """Return what the next race waits for; for nothing: it is time.

    Args:
        offer: What is raced, and when.
        race_count: Races so far.
        passed: Since the paddock was opened [s].
        here: Cars of clients.
        trouble: Why the last race could not be held or its result not be written, "" for nothing.
    """
    if 0 < offer.races <= race_count:
        return Waiting("the races are over.", "over")
    pause = offer.pause if race_count > 0 else 0.0
    pause = max(pause, RETRY_SECONDS) if trouble else pause
    if passed < pause:
        seconds = math.ceil(pause - passed)
        text = f"the next race starts in {seconds} s at the earliest."
        return Waiting(trouble) if trouble else Waiting(text, "pause", seconds)
    if 0 < offer.cars <= here:
        return Waiting()
    if offer.wait > 0.0 and (here or offer.local_racers):
        seconds = math.ceil(offer.wait - passed)
        return Waiting(f"the race starts in {seconds} s.", "time", seconds) if seconds > 0 else Waiting()
    if offer.cars:
        text = f"the race starts with {offer.cars} cars; {here} of them are here."
        return Waiting(text, "cars", cars=offer.cars, here=here)
    if offer.wait > 0.0:
        return Waiting("somebody has to come.", "somebody")
    return Waiting("the race engineer starts the race.", "engineer")


def draw_paddock(
    offer: RaceOffer, competitors: Iterable[Competitor], last: RaceView | None, waiting: Waiting
) -> RaceView:
    """Return who is here, or the result of the race before with all that is left of it.

    Args:
        offer: What is raced; its own racers have no cars before.
        competitors: Who takes part.
        last: The race before, at its end; None: there was none.
        waiting: For what.
    """
    if last is not None:
        tower = tuple(msgspec.structs.replace(line, car=-1) for line in last.tower)
        return msgspec.structs.replace(last, session=PADDOCK, tower=tower, clock=None, waiting=waiting)
    local = [(body, -1, True) for body in make_bodies(list(offer.local_racers))]
    return RaceView(
        title=offer.book.title,
        session=PADDOCK,
        attempt=1,
        flag="",
        is_held=False,
        clock=None,
        limit=0.0,
        laps=offer.book.race.laps,
        at=0.0,
        tower=tuple(starmap(_describe, enumerate([*map(_read_competitor, competitors), *local]))),
        marks=(),
        lap_chart={},
        is_over=False,
        number=0,
        waiting=waiting,
    )


def _read_competitor(known: Competitor) -> tuple[BodySpec, int, bool]:
    """Return how a competitor's car looks, its id, -1: none, and whether its client is here."""
    car = None if known.client is None else known.client.car
    return known.make_body(), -1 if car is None else car.car_id, known.client is not None


def _describe(row: int, known: tuple[BodySpec, int, bool]) -> TowerLine:
    body, car, is_here = known
    return TowerLine(
        car=car,
        row=row,
        name=body.name,
        colour=body.colour,
        place=0,
        status="",
        laps=0,
        gap=None,
        interval=None,
        laps_behind=0,
        last_lap=None,
        best_lap=None,
        is_fastest=False,
        sectors=(),
        time=None,
        penalty=0.0,
        flag="",
        is_here=is_here,
    )


class KeepAlive:
    """Knows the last telemetry of each client."""

    def __init__(self, read_clock: Clock) -> None:
        self._read_clock = read_clock
        self._pinged = self._repeated = read_clock()
        self._lines: dict[int, bytes] = {}

    def note(self, outputs: Iterable[Output], clients: Mapping[int, Client]) -> None:
        """Remember the telemetry of those who are connected, and forget those who have gone."""
        fresh = {out.client_id: out.line for out in outputs if out.kind is OutputKind.TELEMETRY}
        self._lines = {known: line for known, line in (self._lines | fresh).items() if known in clients}

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
