"""A race file is played again, bit for bit, and its result counted again: how a protest is settled.

What the race engineer does after a race is added to its file. Nothing of it is lost: the acts and the new result follow
the old one, so that they are counted, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from donkeysim.core.errors import SpecError
from donkeysim.core.files import put_in_place
from donkeysim.core.types import PHYSICS_STEP, Report
from donkeysim.racing.rules.act import Act
from donkeysim.racing.rules.course import survey_course
from donkeysim.racing.rules.director import OVER, Director, Result
from donkeysim.racing.run import race_file
from donkeysim.racing.run.race_file import Acted, Ended, RacePlan, load_report, unpack_note
from donkeysim.racing.run.race_run import make_director
from donkeysim.record import action_log as log
from donkeysim.record.replay import Replay
from donkeysim.sim.simulator import STEPS_PER_FRAME


@dataclass(frozen=True)
class Verification:
    """What came of it.

    Attributes:
        claimed: The result in the file; None: it ends before the race did.
        counted: The result as counted now; None: the recount did not reach one.
        reported: The result in the JSON file beside it; None: there is none.
        deviation: First frame that was not the same again, counted from 1; None: all were.
        differences: What is not as it was when the race was driven, in words: versions, machine, track.
        broken: How the file ends if not in order, a clause; "" else.
    """

    plan: RacePlan
    claimed: Result | None
    counted: Result | None
    reported: Result | None
    deviation: int | None
    differences: tuple[str, ...]
    broken: str

    @property
    def is_confirmed(self) -> bool:
        """Whether every pose was reproduced and every result is the one that was counted."""
        return not self.list_complaints()

    def list_complaints(self) -> list[str]:
        """Return what is wrong, a sentence each."""
        complaints = []
        if self.broken:
            complaints.append(f"the file is not whole: {self.broken}")
        if self.deviation is not None:
            likely = "; ".join(self.differences) or "versions, machine and track have not changed, so somebody has"
            complaints.append(f"frame {self.deviation} is not the same again; the likely cause: {likely}")
        if self.claimed is None:
            complaints.append("the file holds no result: the race was not driven to its end")
        elif self.claimed != self.counted:
            complaints.append("the result in the file is not the one that was counted")
        if self.reported is not None and self.reported != self.counted:
            complaints.append("the result in the JSON file beside it is not the one that was counted")
        return complaints


class Recount:
    """Listens to a replay, and directs the race again."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self.plan: RacePlan | None = None
        self.director: Director | None = None
        self.claimed: Result | None = None
        replay.listener = self._hear

    def _hear(self, text: str) -> None:
        note = unpack_note(text)
        if isinstance(note, RacePlan):
            self.plan = note
            self.director = make_director(note, survey_course(self._replay.simulator.scene))
            self.director.open()
        elif isinstance(note, Acted) and self.director is not None:
            self.director.apply(note.act, self._replay.simulator.ledger, is_logged=True)
        elif isinstance(note, Ended):
            self.claimed = note.result

    def judge_frame(self, step_count: int = STEPS_PER_FRAME) -> None:
        """Judge the frame that has just been played, `step_count` physics steps."""
        if self.director is not None:
            simulator = self._replay.simulator
            self.director.advance(simulator.ledger, simulator.list_events(), step_count * PHYSICS_STEP)


def verify_race(path: str | Path, report: Report | None = None) -> Verification:
    """Play a race file again and count its result again.

    Args:
        path: The race file; the JSON file of the same name beside it is compared, too.
        report: Called as report(bytes played, bytes in all) now and then.

    Raises:
        SpecError: There is no such file, or it holds no race.
    """
    path = Path(path).expanduser()
    replay = Replay(path)
    recount = Recount(replay)
    replay.simulator.compile()
    for step_count in replay.play(report=report):
        recount.judge_frame(step_count)
    return conclude(path, replay, recount)


def conclude(path: Path, replay: Replay, recount: Recount) -> Verification:
    """Return what came of a race file that has been played to its end and counted.

    Raises:
        SpecError: It holds no race.
    """
    if recount.plan is None or recount.director is None:
        raise SpecError(f"{path} is an action log without a race; take a file that donkey race has written.")
    beside = path.with_suffix(".json")
    return Verification(
        plan=recount.plan,
        claimed=recount.claimed,
        counted=recount.director.result,
        reported=load_report(beside).result if beside.is_file() else None,
        deviation=replay.deviation,
        differences=replay.differences,
        broken=replay.broken,
    )


def amend_race(path: str | Path, acts: Sequence[Act]) -> race_file.Report:
    """Let the race engineer act on a race that is over; write its file and its result anew.

    Args:
        acts: What to do, in order.

    Raises:
        SpecError: There is no such race, it does not verify, or an act is not possible.
    """
    path = Path(path).expanduser()
    found = verify_race(path)
    if not found.is_confirmed:
        raise SpecError(f"{path} cannot be judged again: {'; '.join(found.list_complaints())}.")
    replay = Replay(path)
    recount = Recount(replay)
    for step_count in replay.play():
        recount.judge_frame(step_count)
    director = recount.director
    assert director is not None, "a race that is confirmed has one"
    notes: list[race_file.Note] = []
    for act in acts:
        director.apply(act, replay.simulator.ledger)
        if director.session != OVER or director.result is None:
            raise SpecError("the race is over; it can only be penalised, and incidents taken back.")
        notes.append(Acted(act))
    assert director.result is not None, "it is over"
    _rewrite(path, [*notes, Ended(director.result)])
    report = race_file.Report(found.plan, director.result, tuple(director.journal), path.name)
    race_file.save_report(path.with_suffix(".json"), report)
    return report


def _rewrite(path: Path, notes: Sequence[race_file.Note]) -> None:
    """Add notes at the end of a race file."""
    reader = log.LogReader(path)
    writer = log.LogWriter(path.with_suffix(".new"), reader.head)
    for event in reader.read_events():
        if not isinstance(event, log.Closed):
            writer.append(event)
    for note in notes:
        writer.append(log.Noted(race_file.pack_note(note)))
    writer.close()
    put_in_place(writer.path, path)
