"""A race that was driven is judged again: the race engineer's acts after it, added to its file.

Nothing of the file is lost: the acts and the new result follow the old one, so `verify` counts them, too.
"""

from collections.abc import Sequence
from pathlib import Path

from donkeysim.core.errors import SpecError
from donkeysim.core.files import put_in_place
from donkeysim.racing.rules.act import Act
from donkeysim.racing.rules.director import OVER
from donkeysim.racing.run.race_file import Acted, Ended, Note, Report, pack_note, save_report
from donkeysim.racing.run.verify import Recount, verify_race
from donkeysim.record import action_log as log
from donkeysim.record.replay import Replay


def amend_race(path: str | Path, acts: Sequence[Act]) -> Report:
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
    notes: list[Note] = []
    for act in acts:
        director.apply(act, replay.simulator.ledger)
        if director.session != OVER or director.result is None:
            raise SpecError("the race is over; it can only be penalised, and incidents taken back.")
        notes.append(Acted(act))
    assert director.result is not None, "it is over"
    _rewrite(path, [*notes, Ended(director.result)])
    report = Report(found.plan, director.result, tuple(director.journal), path.name)
    save_report(path.with_suffix(".json"), report)
    return report


def _rewrite(path: Path, notes: Sequence[Note]) -> None:
    """Add notes at the end of a race file."""
    reader = log.LogReader(path)
    writer = log.LogWriter(path.with_suffix(".new"), reader.head)
    for event in reader.read_events():
        if not isinstance(event, log.Closed):
            writer.append(event)
    for note in notes:
        writer.append(log.Noted(pack_note(note)))
    writer.close()
    put_in_place(writer.path, path)
