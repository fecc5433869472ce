"""A race file played once more, frame by frame, while the director counts: all exports are made on one such walk.

And what is known of every car in every frame: one list for the Parquet table and for the telemetry in MCAP files.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from donkeysim.core.errors import SpecError
from donkeysim.core.files import replace_file
from donkeysim.core.types import PHYSICS_RATE, Report
from donkeysim.racing.rules.classification import Placing
from donkeysim.racing.rules.director import Director, Line
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.rules.scoring import CarLog
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.verify import Recount, Verification, conclude
from donkeysim.record.replay import Replay
from donkeysim.sim.simulator import Simulator
from donkeysim.world.ledger import EVENT_HIT, Event, Ledger
from donkeysim.world.specs import BodySpec

Values = Mapping[str, Sequence[Any]]
"""By the name of a column: its values, in the order of `RaceWalk.director.entries`; None for nothing."""


class RaceWalk:
    """A race file that is played; what may be read of it is that of the frame that has just passed.

    Attributes:
        simulator: As it is now.
        frame: Which one it is, from 1.
        events: Of this frame.
        lines: Of the journal, since the frame before.
        incidents: Since the frame before.
        standing: Who is where, by row; in practice and qualifying those of this run only.
    """

    def __init__(self, path: Path) -> None:
        """Open a race file.

        Raises:
            SpecError: There is no such file, or it is not an action log.
            SceneError: Its track does not exist here.
        """
        self.path = path
        self._replay = Replay(path)
        self._recount = Recount(self._replay)
        self.simulator: Simulator = self._replay.simulator
        self.frame = 0
        self.events: Sequence[Event] = ()
        self.lines: Sequence[Line] = ()
        self.incidents: Sequence[Incident] = ()
        self.standing: Mapping[int, Placing] = {}
        self._read_count = self._last_number = 0

    @property
    def plan(self) -> RacePlan:
        """The race."""
        assert self._recount.plan is not None, "the first frame comes after the plan"
        return self._recount.plan

    @property
    def director(self) -> Director:
        """Who counts."""
        assert self._recount.director is not None, "the first frame comes after the plan"
        return self._recount.director

    @property
    def time(self) -> float:
        """Since the file began; never set back, as the world's clock is for each run [s]."""
        return self._replay.time

    @property
    def nanoseconds(self) -> int:
        """The same [ns]."""
        return self._replay.physics_count * 10**9 // PHYSICS_RATE

    @property
    def clock(self) -> float | None:
        """Since green [s], below 0 before; None: no cars wait for it."""
        run, ledger = self.director.run, self.simulator.ledger
        times = [float(ledger.time[row]) for row in run.logs if ledger.present[row]]
        return max(times) - run.green if times and math.isfinite(run.green) else None

    def find_body(self, row: int) -> BodySpec:
        """Return how a car looks; the default as long as it has not joined."""
        try:
            return self.simulator.get_body(row)
        except KeyError:
            return BodySpec(name=self.director.entries[row])

    def find_row(self, name: str) -> int:
        """Return a car's row by its name.

        Raises:
            SpecError: There is none.
        """
        for row, entry in self.director.entries.items():
            if entry == name:
                return row
        names = ", ".join(self.director.entries.values())
        raise SpecError(f"no car of this race is called {name!r}; they are: {names}.")

    def play(self, report: Report | None = None) -> Iterator[None]:
        """Play the race, up to its end or to where a frame is not the same again; yields after every frame.

        Args:
            report: Called as report(bytes played, bytes in all) now and then.

        Raises:
            SpecError: The file holds no race.
        """
        self.simulator.compile()
        for step_count in self._replay.play(report=report):
            if self._recount.plan is None:
                break
            self.events = self.simulator.list_events()
            self._recount.judge_frame(step_count)
            self.frame += 1
            self._read_director()
            yield

    def _read_director(self) -> None:
        director = self.director
        self.lines = director.journal[self._read_count :]
        self._read_count = len(director.journal)
        self.incidents = [item for item in director.run.incidents if item.number > self._last_number]
        self._last_number = max((item.number for item in self.incidents), default=self._last_number)
        self.standing = {placing.row: placing for placing in director.list_standing()}

    def conclude(self) -> Verification:
        """Return what came of it, after the last frame.

        Raises:
            SpecError: The file holds no race.
        """
        verdict = conclude(self.path, self._replay, self._recount)
        self._read_director()
        return verdict


class Export(Protocol):
    """A file that grows with the frames of a race."""

    path: Path

    def begin(self, walk: RaceWalk, stream: IO[bytes]) -> None:
        """Begin the file; the first frame has just been played."""

    def note(self, walk: RaceWalk) -> None:
        """Note a frame, the first one too."""

    def finish(self, walk: RaceWalk, verdict: Verification) -> None:
        """End the file; the race has been played and counted."""

    def close(self) -> None:
        """Let go of the stream, however it ended."""


def export_race(path: Path, exports: Sequence[Export], report: Report | None = None) -> Verification:
    """Play a race file and write what is made of it, whole or not at all; `report` as for `RaceWalk.play`.

    Raises:
        SpecError: It holds no race, or a frame is not the same again: then what followed would be another race.
        DonkeySimError: A file cannot be written.
    """
    walk = RaceWalk(path)
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(stack.enter_context(replace_file(export.path)).open("wb")) for export in exports]
        for export in exports:
            stack.callback(export.close)
        for _ in walk.play(report):
            for export, stream in zip(exports, streams, strict=True):
                if walk.frame == 1:
                    export.begin(walk, stream)
                export.note(walk)
        verdict = walk.conclude()
        _require_same(path, walk, verdict)
        for export in exports:
            export.finish(walk, verdict)
    return verdict


def _require_same(path: Path, walk: RaceWalk, verdict: Verification) -> None:
    """Refuse a race that did not come out the same again, or was over before it began."""
    if verdict.deviation is not None:
        likely = "; ".join(verdict.differences) or "versions, machine and track have not changed, so somebody has"
        raise SpecError(
            f"frame {verdict.deviation} of {path} is not the same again, so nothing was written; export it on the "
            f"machine that raced (the likely cause: {likely})."
        )
    if walk.frame == 0:
        raise SpecError(f"{path} ends before its first frame, so there is nothing to export.")


class Column(NamedTuple):
    """One value of a car."""

    name: str
    kind: str
    """ "float", "int", "bool" or "text"."""
    unit: str
    """ "" for none."""
    text: str
    """What it is."""


_READERS: Mapping[Column, Callable[[Ledger], Any]] = {
    Column("x", "float", "m", "position of the body's origin, world frame"): lambda ledger: ledger.position[:, 0],
    Column("y", "float", "m", "the same"): lambda ledger: ledger.position[:, 1],
    Column("z", "float", "m", "the same, upwards"): lambda ledger: ledger.position[:, 2],
    Column("qw", "float", "", "body to world, unit quaternion"): lambda ledger: ledger.orientation[:, 0],
    Column("qx", "float", "", "the same"): lambda ledger: ledger.orientation[:, 1],
    Column("qy", "float", "", "the same"): lambda ledger: ledger.orientation[:, 2],
    Column("qz", "float", "", "the same"): lambda ledger: ledger.orientation[:, 3],
    Column("yaw", "float", "rad", "counter-clockwise from +x"): lambda ledger: ledger.yaw,
    Column("speed", "float", "m/s", "along the nose, negative backwards"): lambda ledger: ledger.forward_speed,
    Column("left_speed", "float", "m/s", "sideways, positive to the left"): lambda ledger: ledger.left_speed,
    Column("yaw_rate", "float", "rad/s", "positive turning left"): lambda ledger: ledger.yaw_rate,
    Column("steer", "float", "", "asked for, -1 to 1, positive to the left"): lambda ledger: ledger.steer,
    Column("throttle", "float", "", "asked for, -1 to 1"): lambda ledger: ledger.throttle,
    Column("brake", "float", "", "asked for, 0 to 1, more after a reset"): lambda ledger: ledger.brake,
    Column("steer_angle", "float", "rad", "of the steered wheels, positive to the left"): lambda ledger: (
        ledger.steer_angle
    ),
    Column("along", "float", "m", "along the path to the place nearest to the car"): lambda ledger: ledger.along,
    Column("offset", "float", "m", "from the path, positive to the left"): lambda ledger: ledger.offset,
    Column("heading_error", "float", "rad", "yaw less the path's direction"): lambda ledger: ledger.heading_error,
    Column("on_road", "bool", "", "whether the body's origin is above the road"): lambda ledger: ledger.on_road,
    Column("off_road_time", "float", "s", "off the road for so long"): lambda ledger: ledger.off_road_time,
    Column("still_time", "float", "s", "standing for so long"): lambda ledger: ledger.still_time,
    Column("wrong_way_time", "float", "s", "against the path for so long"): lambda ledger: ledger.wrong_way_time,
}
"""From the ledger; nothing where a car is not there."""

_SCORES: Mapping[Column, Callable[[CarLog, Placing], Any]] = {
    Column("lap", "int", "", "the lap that the car is in, 0 before the line"): lambda log, _placing: log.lap,
    Column("laps", "int", "", "laps that count, less those of penalties"): lambda _log, placing: placing.laps,
    Column("place", "int", "", "from 1; 0 for none"): lambda _log, placing: placing.place,
    Column("status", "text", "", "racing, finished, did not finish, did not start or disqualified"): (
        lambda _log, placing: placing.status
    ),
    Column("way", "float", "m", "made along the path since green"): lambda _log, placing: placing.way,
    Column("penalty", "float", "s", "so far"): lambda _log, placing: placing.penalty,
    Column("last_lap", "float", "s", "time of the last finished lap"): (
        lambda log, _placing: log.laps[-1].time if log.laps else None
    ),
    Column("best_lap", "float", "s", "best lap that counts so far"): lambda _log, placing: placing.best_lap,
}
"""From the director; nothing for cars that this run is without."""

_HIT = Column("hit", "text", "", "what the car has newly touched in this frame; nothing if nothing")
_CAR_FLAG = Column("car_flag", "text", "", "flag shown to this car alone: black or chequered")
_PRESENT = Column("present", "bool", "", "whether the car is on the track")

CAR_COLUMNS: tuple[Column, ...] = (_PRESENT, *_READERS, _HIT, *_SCORES, _CAR_FLAG)
"""In this order."""


def read_cars(walk: RaceWalk) -> Values:
    """Return the values of `CAR_COLUMNS` of all cars in this frame."""
    ledger, director, rows = walk.simulator.ledger, walk.director, list(walk.director.entries)
    present = ledger.present[rows].astype(bool).tolist()
    values: dict[str, Sequence[Any]] = {_PRESENT.name: present}
    for column, read in _READERS.items():
        cells = read(ledger)[rows].tolist()
        values[column.name] = [cell if is_here else None for cell, is_here in zip(cells, present, strict=True)]
    hits = {event.car: int(event.value) for event in walk.events if event.kind == EVENT_HIT}
    values[_HIT.name] = [walk.simulator.name_hit(row, hits[row]) if row in hits else None for row in rows]
    logs = director.run.logs
    for score, weigh in _SCORES.items():
        values[score.name] = [weigh(logs[row], walk.standing[row]) if row in logs else None for row in rows]
    values[_CAR_FLAG.name] = [director.flags.get(row) for row in rows]
    return values
