"""A race as the page shows it, from the director's frames: tower, marks on the time line, lap chart."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from donkeysim.racing.rules import decision as decide
from donkeysim.racing.rules.classification import DISQUALIFIED, FINISHED, RACING, WAITING, Placing
from donkeysim.racing.rules.director import COUNTDOWN, FRAME, GRID, OVER, PRACTICE, QUALIFYING, Director, Line
from donkeysim.racing.rules.run import Run
from donkeysim.racing.rules.stopwatch import Stopwatch
from donkeysim.racing.show.race_view import Mark, RaceView, SectorTime, TowerLine
from donkeysim.world.ledger import Event, Ledger

MOST_MARKS = 200
"""The latest ones."""


class CarLook(NamedTuple):
    """A car of the race as it is watched."""

    car: int
    """As in `CarRow.car_id`."""
    colour: tuple[int, int, int]
    """Paint, sRGB 0 to 255."""


class Timing:
    """Follows a race frame by frame.

    Attributes:
        at: Time that has passed since the race was opened, which is never set back [s].
    """

    def __init__(self) -> None:
        self.at = 0.0
        self._clock: float | None = None
        self._present: set[int] = set()
        self._watch: Stopwatch | None = None
        self._run: Run | None = None
        self._line_run: Run | None = None
        self._is_over = False
        self._frames = 0
        self._drawn: tuple[object, RaceView] | None = None
        self._noted = 0
        self._marks: list[Mark] = []
        self._undone: set[int] = set()
        self._listed: tuple[list[Mark], dict[int, int], tuple[Mark, ...]] | None = None

    def note(self, director: Director, ledger: Ledger, events: Iterable[Event], passed: float = FRAME) -> None:
        """Note a frame of `passed` seconds once the director has judged it, whether or not it is carried out yet."""
        self._frames += 1
        if not director.is_held:
            self.at += passed
        if director.run is not self._run:  # rows and events still are those of the run before
            self._run, self._watch, self._clock = director.run, Stopwatch(director.run, director.course), None
            self._present = set()
        else:
            self._follow(director, ledger, events)
        self._note_journal(director)

    def draw(self, director: Director, cars: Mapping[int, CarLook], number: int = 1) -> RaceView:
        """Return the race now; for all who ask between two frames it is drawn once.

        Args:
            cars: How they are watched, by row.
            number: Which race of this server.
        """
        key = self._frames, len(director.journal), number, dict(cars)
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, self._draw(director, cars, number)
        return self._drawn[1]

    def _draw(self, director: Director, cars: Mapping[int, CarLook], number: int) -> RaceView:
        self._note_journal(director)
        run, session = director.run, director.session
        chart = {} if self._watch is None or session in (PRACTICE, QUALIFYING) else self._watch.chart
        return RaceView(
            title=director.book.title,
            session=session,
            attempt=director.attempt,
            flag="red" if session in (GRID, COUNTDOWN) else director.flags.get(-1, ""),
            is_held=director.is_held,
            clock=None if self._clock is None else round(self._clock, 3),
            limit=run.limit,
            laps=run.race.laps,
            at=round(self.at, 3),
            tower=tuple(self._list_lines(director, cars)),
            marks=self._list_marks(cars),
            lap_chart={row: tuple(places) for row, places in chart.items()},
            is_over=session == OVER,
            number=number,
        )

    # -- frames -------------------------------------------------------------------------------------------------------

    def _follow(self, director: Director, ledger: Ledger, events: Iterable[Event]) -> None:
        assert self._watch is not None
        run = director.run
        self._present = {row for row in run.logs if ledger.present[row]}
        times = [float(ledger.time[row]) for row in self._present]
        was_over, self._is_over = self._is_over, director.session == OVER
        if was_over or not times or not math.isfinite(run.green):
            return
        self._clock = max(times) - run.green
        if director.session not in (GRID, COUNTDOWN):
            self._watch.note(ledger, events, max(times))

    def _note_journal(self, director: Director) -> None:
        for line, decision in zip(director.journal[self._noted :], director.decided[self._noted :], strict=True):
            if isinstance(decision, decide.BeginSession) and decision.session in (PRACTICE, QUALIFYING, GRID):
                self._line_run = director.run  # lines before this one are of the run before
            mark = self._make_mark(director, line, decision)
            if mark is not None:
                self._marks = [*self._marks[1 - MOST_MARKS :], mark]
        self._noted = len(director.journal)
        if not director.run.undone <= self._undone:
            self._undone |= director.run.undone
            self._marks = [msgspec.structs.replace(mark, is_undone=mark.number in self._undone) for mark in self._marks]

    def _make_mark(self, director: Director, line: Line, decision: decide.Decision) -> Mark | None:
        text, incident = "", None
        if isinstance(decision, decide.Tell):
            text, incident = decision.text, decision.incident
            text = text if incident is None else text.partition(": ")[2]
        elif isinstance(decision, decide.BeginSession):
            alone = f" ({', '.join(director.run.names[row] for row in director.run.logs)})"
            text = f"{decision.session} begins" + (alone if len(director.run.logs) == 1 else "")
            text = "the race is over" if decision.session == OVER else text
        elif isinstance(decision, decide.ShowFlag) and decision.flag in ("red", "black", "chequered"):
            name = director.entries.get(decision.row, "all")
            text = f"{decision.flag} flag to {name}"
        elif isinstance(decision, decide.PutOnTrack | decide.PutOnGrid):
            text = f"{director.entries[decision.row]} is put back"
        if not text:
            return None
        time = line.time - self._line_run.green if self._line_run is not None else math.nan
        if isinstance(decision, decide.BeginSession) and decision.session in (PRACTICE, QUALIFYING):
            time = 0.0  # cars may drive at once
        number = 0 if incident is None else incident.number
        race_time = round(time, 3) if math.isfinite(time) else None
        return Mark(round(self.at, 3), race_time, text, line.row, number, incident=incident)

    # -- what is shown ------------------------------------------------------------------------------------------------

    def _list_marks(self, cars: Mapping[int, CarLook]) -> tuple[Mark, ...]:
        """Return the marks with the cars' ids instead of their rows; made anew only when something has changed."""
        ids = {row: look.car for row, look in cars.items()}
        if self._listed is None or self._listed[0] is not self._marks or self._listed[1] != ids:
            listed = tuple(msgspec.structs.replace(mark, car=ids.get(mark.car, -1)) for mark in self._marks)
            self._listed = self._marks, ids, listed
        return self._listed[2]

    def _list_lines(self, director: Director, cars: Mapping[int, CarLook]) -> list[TowerLine]:
        watch = self._watch or Stopwatch(director.run, director.course)
        standing = watch.sort_placings(_list_placings(director))
        best = min((placing.best_lap for placing in standing if placing.best_lap is not None), default=None)
        return [
            self._describe(director, watch, cars, placing, standing[0], standing[max(0, index - 1)], best)
            for index, placing in enumerate(standing)
        ]

    def _describe(
        self,
        director: Director,
        watch: Stopwatch,
        cars: Mapping[int, CarLook],
        placing: Placing,
        first: Placing,
        ahead: Placing,
        best: float | None,
    ) -> TowerLine:
        """Return a line of the tower; `ahead`: who is in front, `best`: the best lap of all [s]."""
        row = placing.row
        log, look = director.run.logs.get(row), cars[row]
        laps = [] if log is None else log.laps
        sectors = (None if sector is None else SectorTime(*sector) for sector in watch.rank_sectors(row))
        behind = max(0, first.laps - placing.laps)
        if placing.status == RACING:
            behind = watch.count_laps_behind(row, first.row)
        return TowerLine(
            car=look.car if row in self._present else -1,
            row=row,
            name=placing.name,
            colour=look.colour,
            place=placing.place,
            status=placing.status,
            laps=placing.laps,
            gap=None if placing is first else _measure_gap(director, watch, placing, first),
            interval=None if placing is first else _measure_gap(director, watch, placing, ahead),
            laps_behind=behind,
            last_lap=round(laps[-1].time, 3) if laps else None,
            best_lap=placing.best_lap,
            is_fastest=best is not None and placing.best_lap == best,
            sectors=tuple(sectors),
            time=placing.time,
            penalty=placing.penalty,
            flag={DISQUALIFIED: "black", FINISHED: "chequered"}.get(placing.status, ""),
            is_here=log is None or log.is_off or math.isinf(log.absent_since),
            why=placing.why,
        )


def _list_placings(director: Director) -> Sequence[Placing]:
    """Return who is where; in qualifying all entries: who still drives has not failed yet, and others wait."""
    if director.session != QUALIFYING:
        return director.list_standing()
    active, qualified = director.run.list_active(), director.list_qualified()
    known = {placing.row for placing in qualified}
    return [
        *(msgspec.structs.replace(one, status=RACING) if one.row in active else one for one in qualified),
        *(
            Placing(0, row, name, WAITING, 0, None, 0.0, None, None, 0.0)
            for row, name in director.entries.items()
            if row not in known
        ),
    ]


def _measure_gap(director: Director, watch: Stopwatch, placing: Placing, ahead: Placing) -> float | None:
    """Return how far behind a car is: between results where there are two, else on the track [s]."""
    if director.run.race.order == "best_lap":
        mine, theirs = placing.best_lap, ahead.best_lap
    elif placing.status == ahead.status == FINISHED and placing.time is not None:
        mine, theirs = placing.time, ahead.time
    elif placing.status in (RACING, FINISHED):
        mine, theirs = watch.measure_gap(placing.row, ahead.row), 0.0
    else:
        return None
    return None if mine is None or theirs is None else round(mine - theirs, 3)
