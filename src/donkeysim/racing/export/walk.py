"""A race file played once more, frame by frame, while the director counts: all exports are made on one such walk."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from donkeysim.core.errors import SpecError
from donkeysim.core.files import replace_file
from donkeysim.core.types import PHYSICS_RATE, Report
from donkeysim.racing.rules.classification import Placing
from donkeysim.racing.rules.director import Director, Line
from donkeysim.racing.rules.incident import Incident
from donkeysim.racing.run.race_file import RacePlan
from donkeysim.racing.run.verify import Recount, Verification, conclude
from donkeysim.record.replay import Replay
from donkeysim.sim.simulator import Simulator
from donkeysim.world.ledger import Event
from donkeysim.world.specs import BodySpec


class RaceWalk:
    """A race file that is played; what may be read of it is that of the frame that has just passed.

    Attributes:
        path: Of the race file.
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
        self._told = self._last_number = 0

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
        self.lines = director.journal[self._told :]
        self._told = len(director.journal)
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
    """A file that grows with the frames of a race.

    Attributes:
        path: Where it will be.
    """

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
