"""A race by a script: where everybody is follows from the moment alone, so any moment of it can be shown."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from donkeysim.core.errors import SpecError
from donkeysim.core.image import encode_jpeg
from donkeysim.racing.rules.act import Act, Continue, Pause, Undo
from donkeysim.racing.rules.describe import describe_incident
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.show.race_view import Joining, Mark, RaceView, SectorTime, TimeLine, TowerLine, Waiting
from donkeysim.watch.watchable import CHOSEN, CarRow, View
from stand_ins.watched_stage import WatchedStage, make_telemetry

GREEN = 8.0
"""When the race begins, on the time line [s]; five seconds on the grid and three of countdown before."""

SECTOR_COUNT = 3
STANDING, STANDS_FROM, STANDS_UNTIL = 3, 20.0, 27.0
"""Which row stands, and when [s since green]."""

LOST, LOST_FROM = 5, 30.0
"""Whose client is gone, and from when on."""

OUT, OUT_FROM = 6, 41.0
"""Who is disqualified."""

PENALISED, PENALISED_AT = 1, 33.0
PADDOCK = Waiting("the race starts with 4 cars; 3 of them are here.", "cars", cars=4, here=3)
RACERS = (
    "Anna", "Ben", "小红车", "Dai", "さくら号", "Finn", "Gao", "Hugo", "Ida", "Jean-Baptiste de la Tour", "Kim",
    "Lúcia", "Mo", "Noor", "Olga", "Pia", "Quentin", "Rosa", "Sam", "Tilda", "Uwe", "Vera", "Wu", "Yasemin",
)  # fmt: skip
PAINTS = (
    (220, 40, 30), (35, 110, 220), (245, 190, 40), (60, 160, 75), (150, 70, 190), (240, 240, 240), (30, 30, 30),
    (240, 120, 30), (30, 180, 190), (230, 100, 160), (120, 80, 50), (150, 200, 60),
)  # fmt: skip


@dataclass
class ScriptedRace(WatchedStage):
    """Tests set `moment`, which is now on the time line [s], and whether it goes on."""

    moment: float = 60.0
    laps: int = 5
    is_live: bool = True
    is_paddock: bool = False
    is_held: bool = False
    undone: tuple[int, ...] = ()
    on_air: int = -1

    def __post_init__(self):
        self.has_pace_car = None
        is_file = not (self.is_live or self.is_paddock)
        self.place_to_join = None if is_file else Joining("192.168.1.20", 9091, "http://192.168.1.20:9093")
        self._ends = [list(accumulate(self._lap_time(row, lap) for lap in range(self.laps))) for row in self._rows()]

    def _rows(self):
        return range(len(self.names))

    def _lap_time(self, row, lap):
        """How long a car takes for a lap: some get faster, so that places change."""
        time = 10.6 + 0.11 * row + 0.5 * math.sin(1.7 * row + 2.1 * lap) - 0.03 * row * lap
        return time + (STANDS_UNTIL - STANDS_FROM if row == STANDING and lap == 1 else 0.0)

    # -- one moment ---------------------------------------------------------------------------------------------------

    def _drive(self, row, clock):
        """Return how many laps a car has driven at a time since green, as a number with decimals."""
        if row == OUT and clock > OUT_FROM:
            clock = OUT_FROM
        if row == STANDING and clock > STANDS_FROM:
            slow = min(clock, STANDS_UNTIL) - STANDS_FROM
            begin, end = self._ends[row][0], self._ends[row][1]
            if clock < end:
                whole = end - begin - (STANDS_UNTIL - STANDS_FROM)
                return 1.0 + (clock - begin - slow) / whole
        if row == LOST and clock > LOST_FROM:
            clock = LOST_FROM
        done = bisect_right(self._ends[row], clock)
        if done >= self.laps:
            return float(self.laps)
        begin = self._ends[row][done - 1] if done else 0.0
        return done + max(clock - begin, 0.0) / (self._ends[row][done] - begin) - 0.006 * row * (done == 0)

    def _status(self, row, clock):
        if row == OUT and clock > OUT_FROM:
            return "disqualified"
        if row == LOST and clock > LOST_FROM + 10.0:
            return "did not finish"
        return "finished" if clock >= self._ends[row][-1] else "racing"

    def _order(self, clock):
        def key(row):
            status = self._status(row, clock)
            finish = self._ends[row][-1] if status == "finished" else math.inf
            return (status in ("disqualified", "did not finish"), finish, -self._drive(row, clock), row)

        return sorted(self._rows(), key=key)

    def _line(self, place, row, order, clock, fastest):
        status, laps = self._status(row, clock), int(self._drive(row, clock))
        driven = [self._lap_time(row, lap) for lap in range(laps)]
        is_in = status in ("racing", "finished") and self.session(clock) not in ("grid", "countdown")
        behind = lambda other: max((self._drive(other, clock) - self._drive(row, clock)) * 10.9, 0.0)  # noqa: E731
        if status == "finished":
            behind = lambda other: self._ends[row][-1] - self._ends[other][-1]  # noqa: E731
        is_first = place == 1
        penalty = 5.0 if row == PENALISED and clock > PENALISED_AT and 4 not in self.undone else 0.0
        return TowerLine(
            car=row + 1,
            row=row,
            name=self.names[row],
            colour=PAINTS[row % len(PAINTS)],
            place=0 if status == "disqualified" else place,
            status=status,
            laps=laps,
            gap=None if is_first or not is_in else behind(order[0]),
            interval=None if is_first or not is_in else behind(order[place - 2]),
            laps_behind=int(self._drive(order[0], clock) - self._drive(row, clock)) if status == "racing" else 0,
            last_lap=driven[-1] if driven else None,
            best_lap=min(driven, default=None),
            is_fastest=bool(driven) and row == fastest,
            sectors=tuple(self._sector(row, index, clock) for index in range(SECTOR_COUNT)),
            time=self._ends[row][-1] + penalty if status == "finished" else None,
            penalty=penalty,
            flag={"disqualified": "black", "finished": "chequered"}.get(status, ""),
            is_here=not (row == LOST and clock > LOST_FROM),
            why={OUT: "rear_end", LOST: "absent"}.get(row, "") if not is_in else "",
        )

    def _sector(self, row, index, clock):
        driven = self._drive(row, clock)
        lap, share = int(driven), driven % 1.0
        if driven < 1.0 and (index + 1) / SECTOR_COUNT > share:
            return None
        if (index + 1) / SECTOR_COUNT > share and share > 0.15:
            return None
        rank = ("best", "own", "", "", "own")[(5 * row + 3 * index + lap) % 5] if row % 3 == 0 or index else "own"
        return SectorTime(3.4 + 0.3 * index + 0.02 * row, rank if rank != "best" or row < 4 else "own")

    def session(self, clock):
        if self.is_paddock and clock >= self.moment - GREEN - 1e-6:  # the past is another race
            return "paddock"
        if clock < -3.0:
            return "grid"
        if clock < 0.0:
            return "countdown"
        return "over" if clock >= self.last_end() else "race"

    def last_end(self):
        return max(self._ends[row][-1] for row in self._rows() if row not in (LOST, OUT))

    def _flag(self, clock):
        if clock < 0.0:
            return "red"
        if clock >= min(ends[-1] for ends in self._ends):
            return "chequered"
        stands = len(self.names) > STANDING and STANDS_FROM < clock < STANDS_UNTIL
        return "yellow" if stands else "green"

    def _marks(self, clock):
        script = [
            (0.0, -1, "race begins"),
            (12.4, 1, Incident(1, 12.4, 1, "rear_end", 2, other=0)),
            (STANDS_FROM + 1, STANDING, Incident(2, 21.0, STANDING, "stuck", 2, what="asked to be put back")),
            (STANDS_UNTIL, STANDING, f"{RACERS[STANDING]} is put back"),
            (LOST_FROM, LOST, Incident(3, LOST_FROM, LOST, "absent", 3, counts=False)),
            (PENALISED_AT, PENALISED, Incident(4, PENALISED_AT, PENALISED, "engineer", 4, seconds=5.0, what="cutting")),
            (OUT_FROM, OUT, Incident(5, OUT_FROM, OUT, "rear_end", 4, other=7)),
            (44.0, 0, Incident(6, 44.0, 0, "obstacle", 5, what="guard_rail")),
            (45.0, -1, "the race engineer takes back no. 1"),
            (46.0, 0, "Anna and Ben touched; nobody is to blame"),
        ]
        return tuple(
            self._mark(time, row, what) for time, row, what in script if time <= clock and row < len(self.names)
        )

    def _mark(self, time, row, what):
        car = row + 1 if row >= 0 else -1
        if isinstance(what, str):
            return Mark(GREEN + time, time, what, car)
        text = describe_incident(what, dict(enumerate(self.names))).partition(": ")[2]
        return Mark(GREEN + time, time, text, car, what.number, what.number in self.undone, what)

    def _chart(self, clock):
        leader = max(int(self._drive(row, clock)) for row in self._rows())
        places = {row: [row + 1] for row in self._rows()}
        for lap in range(1, leader + 1):
            done = [row for row in self._rows() if self._drive(row, clock) > lap - 1 and self._alive(row, lap)]
            for place, row in enumerate(sorted(done, key=lambda row: self._ends[row][lap - 1]), 1):
                places[row].append(place)
        return {row: tuple(found) for row, found in places.items()}

    def _alive(self, row, lap):
        return self._ends[row][lap - 1] < {OUT: OUT_FROM, LOST: LOST_FROM}.get(row, math.inf)

    # -- what is watched ----------------------------------------------------------------------------------------------

    async def show_race(self, at: float | None) -> RaceView | None:
        if self.scene_name is None:
            return None
        at = self.moment if at is None else at
        clock = at - GREEN
        order, session = self._order(clock), self.session(clock)
        bests = {row: self._drive(row, clock) >= 1.0 for row in order}
        best = lambda row: min(self._lap_time(row, lap) for lap in range(int(self._drive(row, clock))))  # noqa: E731
        fastest = min((row for row in order if bests[row]), key=best, default=-1)
        return RaceView(
            title="Robo Racing League: Carnage",
            session=session,
            attempt=1,
            flag="" if session == "paddock" else self._flag(clock),
            is_held=self.is_held,
            clock=None if session in ("grid", "paddock") else clock if session != "over" else self.last_end(),
            limit=120.0,
            laps=self.laps,
            at=at,
            tower=tuple(self._line(place, row, order, clock, fastest) for place, row in enumerate(order, 1)),
            marks=self._marks(self.moment - GREEN),  # all that are known, also those that come later
            lap_chart=self._chart(clock),
            is_over=clock >= self.last_end(),
            on_air=self.on_air,
            waiting=PADDOCK if session == "paddock" else Waiting(),
        )

    def time_line(self) -> TimeLine | None:
        return TimeLine(0.0, min(self.moment, GREEN + self.last_end() + 3.0), self.is_live)

    async def list_cars(self, at: float | None = None) -> list[CarRow]:
        clock = (self.moment if at is None else at) - GREEN
        return [] if self.scene_name is None else [self._car(row, clock) for row in self._rows()]

    def _car(self, row, clock):
        driven = self._drive(row, clock) if not self.is_paddock else 0.02 * row
        angle = 2.0 * math.pi * driven
        side = 0.12 if row % 2 else -0.12
        return CarRow(
            car_id=row + 1,
            name=self.names[row],
            style="donkey",
            colour=PAINTS[row % len(PAINTS)],
            is_pace_car=False,
            telemetry=make_telemetry(max(clock, 0.0), int(driven)),
            pose=((4.0 + side) * math.cos(angle), (2.5 + side) * math.sin(angle), angle + math.pi / 2),
        )

    async def take_picture(self, view: View, car_id: int, width: int, height: int, at: float | None = None) -> bytes:
        if view != "place" and car_id != CHOSEN:
            self._require_car(car_id)
        self.picture_count += 1
        self.calls.append(("take_picture", view, car_id, width, height, *([] if at is None else [at])))
        if view == "camera":
            width, height = 160, 120
        picture = np.full((height, width, 3), (96, 142, 92), np.uint8)
        picture[: height * 2 // 5] = (150, 190, 225)
        for row in range(height * 2 // 5, height):
            half = int(width * (0.02 + 0.5 * (row / height - 0.4)))
            picture[row, width // 2 - half : width // 2 + half] = (70, 72, 78)
        paint = PAINTS[(car_id - 1) % len(PAINTS)] if car_id > 0 else (250, 250, 250)
        picture[height // 2 : height * 2 // 3, width * 4 // 9 : width * 5 // 9] = paint
        return encode_jpeg(picture)

    async def act(self, act: Act) -> None:
        self.calls.append(("act", act))
        if isinstance(act, Undo):
            self.undone += (act.number,)
        elif isinstance(act, Pause | Continue):
            self.is_held = isinstance(act, Pause)

    async def start_race(self) -> None:
        self.calls.append(("start_race",))
        if not self.is_paddock:
            raise SpecError("the race has begun already; restart it, or wait for its end.")
        self.is_paddock, self.moment = False, 0.0
