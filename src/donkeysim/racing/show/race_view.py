"""A race as pages show it: plain data, of one moment, and made anew for each."""

import msgspec

from donkeysim.racing.rules.incident import Incident


class SectorTime(msgspec.Struct, frozen=True):
    """How long a car took from one gate to the next, the last time it drove there."""

    time: float
    """[s]"""
    rank: str
    """"best": of all cars in this run; "own": the car's best; "": neither."""


class TowerLine(msgspec.Struct, frozen=True):
    """A line of the timing tower."""

    car: int
    """As in `CarRow.car_id`; -1: it has no car on the track now."""
    row: int
    """As the race's acts name it."""
    name: str
    colour: tuple[int, int, int]
    """Paint, sRGB 0 to 255."""
    place: int
    """From 1; 0: none."""
    status: str
    """As in `racing.rules.classification`: "racing", "finished", "did not finish", "did not start", "disqualified"."""
    laps: int
    """That count."""
    gap: float | None
    """Behind the first [s]; None: unknown, or the first itself."""
    interval: float | None
    """Behind the car in front [s]; None: unknown, or the first itself."""
    laps_behind: int
    """Whole laps behind the first."""
    last_lap: float | None
    """[s]"""
    best_lap: float | None
    """[s]"""
    is_fastest: bool
    """Whether its best lap is the best of all."""
    sectors: tuple[SectorTime | None, ...]
    """Of the lap that it drives, None where it has not been yet in this lap; of the last lap right after its end."""
    time: float | None
    """At the end, with penalties [s]; None: not yet, or never."""
    penalty: float
    """[s]"""
    flag: str
    """That is shown to this car alone: "black", "chequered", or ""."""
    is_here: bool
    """False while its client is gone."""
    why: str = ""
    """Why it did not finish, or was disqualified: a kind of incident, or words."""


class Mark(msgspec.Struct, frozen=True):
    """Something that happened, for the journal and the time line."""

    at: float
    """On the time line [s], see `RaceView.at`."""
    time: float | None
    """Since the green of its run [s]; below 0 before; None: no green has been announced yet."""
    text: str
    car: int = -1
    """Whose, as in `TowerLine.car`."""
    number: int = 0
    """Of an incident, from 1; 0: it is none."""
    is_undone: bool = False
    """Whether the race engineer has taken the incident back."""
    incident: Incident | None = None


class Waiting(msgspec.Struct, frozen=True):
    """What a race in the paddock waits for."""

    text: str = ""
    """One sentence; "": for nothing."""
    name: str = ""
    """Of the sentence; "": it has none."""
    seconds: int = 0
    cars: int = 0
    """That it begins with."""
    here: int = 0
    """Cars that are here."""


class RaceView(msgspec.Struct, frozen=True):
    """A race at one moment."""

    title: str
    """Of the rule book."""
    session: str
    """One of `racing.rules.director.SESSIONS`, or "paddock": the next race has not been begun, and cars drive about."""
    attempt: int
    flag: str
    """Shown to all: one of `racing.rules.decision.FLAGS`, or "" before the first."""
    is_held: bool
    """Whether the race engineer has stopped time."""
    clock: float | None
    """Since green [s]; below 0: the countdown; None: neither."""
    limit: float
    """When the run ends, since green [s]; 0: unknown."""
    laps: int
    """Of the race; 0: as many as the limit allows."""
    at: float
    """This moment on the time line: race time that has passed since the file began, never set back [s]."""
    tower: tuple[TowerLine, ...]
    """In the order of the race."""
    marks: tuple[Mark, ...]
    """Of the whole race so far, the latest last, 200 at most."""
    lap_chart: dict[int, tuple[int, ...]]
    """Places of each row: on the grid, then after each lap that the leader has finished."""
    is_over: bool
    """Whether the result stands."""
    number: int = 1
    """Which race of this server."""
    on_air: int = -1
    """Which car the director of pictures shows, as `TowerLine.car`; -1: none."""
    waiting: Waiting = Waiting()
    """In the paddock: for what."""


class TimeLine(msgspec.Struct, frozen=True):
    """What can be shown of the past."""

    begin: float
    """[s]"""
    end: float
    """[s]"""
    is_live: bool
    """Whether more is being added."""


class Joining(msgspec.Struct, frozen=True):
    """How drivers join."""

    host: str
    port: int
    watch: str
    """Address of the page, as others in the network reach it."""
