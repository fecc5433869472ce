"""The time between races: what is waited for, and how pages show it."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from donkeysim.racing.host.competitor import Competitor
from donkeysim.racing.host.race_offer import RaceOffer
from donkeysim.racing.rules.rule_book import RuleBook
from donkeysim.racing.show.race_view import RaceView, TowerLine

RETRY_SECONDS = 10.0
"""A race that could not be held is tried again after this time at the earliest [s]."""

PADDOCK = "paddock"
"""As a session of `RaceView`."""


def find_obstacle(offer: RaceOffer, race_count: int, passed: float, here: int, trouble: str) -> str:
    """Return what the next race waits for, one sentence; "": it is time.

    Args:
        offer: What is raced, and when.
        race_count: Races so far.
        passed: Since the paddock was opened [s].
        here: Cars of clients.
        trouble: Why the last race could not be held or its result not be written, "" for nothing.
    """
    if 0 < offer.races <= race_count:
        return "the races are over."
    pause = offer.pause if race_count > 0 else 0.0
    pause = max(pause, RETRY_SECONDS) if trouble else pause
    if passed < pause:
        return trouble or f"the next race starts in {math.ceil(pause - passed)} s at the earliest."
    if 0 < offer.cars <= here:
        return ""
    if offer.wait > 0.0 and (here or offer.local_racers):
        return "" if passed >= offer.wait else f"the race starts in {math.ceil(offer.wait - passed)} s."
    if offer.cars:
        return f"the race starts with {offer.cars} cars; {here} of them are here."
    return "somebody has to come." if offer.wait > 0.0 else "the race engineer starts the race."


def draw_paddock(book: RuleBook, competitors: Iterable[Competitor], last: RaceView | None, waiting: str) -> RaceView:
    """Return who is here, or the result of the race before with all that is left of it.

    Args:
        book: The rules.
        competitors: Who takes part.
        last: The race before, at its end; None: there was none.
        waiting: For what, one sentence.
    """
    if last is not None:
        tower = tuple(msgspec.structs.replace(line, car=-1) for line in last.tower)
        return msgspec.structs.replace(last, session=PADDOCK, tower=tower, clock=None, waiting=waiting)
    return RaceView(
        title=book.title,
        session=PADDOCK,
        attempt=1,
        flag="",
        is_held=False,
        clock=None,
        limit=0.0,
        laps=book.race.laps,
        at=0.0,
        tower=tuple(_describe(place, known) for place, known in enumerate(competitors)),
        marks=(),
        lap_chart={},
        is_over=False,
        number=0,
        waiting=waiting,
    )


def _describe(row: int, known: Competitor) -> TowerLine:
    client = known.client
    car = None if client is None else client.car
    return TowerLine(
        car=-1 if car is None else car.car_id,
        row=row,
        name=known.name,
        colour=known.make_body().colour,
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
        is_here=client is not None,
    )
