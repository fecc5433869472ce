"""The time between races, as pages show it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from donkeysim.race.rule_book import RuleBook
from donkeysim.serve.competitor import Competitor
from donkeysim.watch.race_view import RaceView, TowerLine

PADDOCK = "paddock"
"""As a session of `RaceView`."""


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
