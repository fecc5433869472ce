"""What clients hear of a race, in the words of the original's race builds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from donkeysim.racing.rules.decision import BeginSession, Decision, ShowFlag
from donkeysim.racing.rules.director import RACE, Director
from donkeysim.racing.rules.run import Run
from donkeysim.wire.replies import CrossStart, Disqualified, MissedCheckpoint, RaceStart, RaceStop, Reply
from donkeysim.world.ledger import EVENT_CROSSING, EVENT_LAP, Event

CHECKPOINT_INCIDENTS = ("missed_checkpoint", "late_checkpoint")

EVERYBODY = -1


class RaceMessages:
    """Finds what is new in a race after each frame."""

    def __init__(self, director: Director, is_silent: bool = False) -> None:
        """Begin before the first message.

        Args:
            director: Of the race.
            is_silent: Crossings are not sent, see `StartGrid.is_silent`.
        """
        self._director, self._is_silent = director, is_silent
        self._run: Run | None = None
        self._incident_count = 0
        self._is_racing = False

    def list_updates(self, decisions: Sequence[Decision], events: Sequence[Event]) -> Iterator[tuple[int, Reply]]:
        """Yield messages, each with the row it is for or `EVERYBODY`."""
        for event in () if self._is_silent else events:
            if event.kind == EVENT_LAP:
                yield event.car, CrossStart(lap_time=f"{1000.0 * event.value:.1f}")
            elif event.kind == EVENT_CROSSING and event.value == 0.0 and self._is_first(event):
                yield event.car, CrossStart(lap_time="0")
        yield from self._list_missed()
        for decision in decisions:
            if isinstance(decision, ShowFlag) and decision.flag == "black" and decision.row >= 0:
                why = self._director.run.count_costs(decision.row).why
                yield decision.row, Disqualified(missed_cp=why in CHECKPOINT_INCIDENTS)
            elif isinstance(decision, BeginSession):
                yield from self._begin(decision.session)

    def _begin(self, session: str) -> Iterator[tuple[int, Reply]]:
        if session == RACE:
            self._is_racing = True
            yield EVERYBODY, RaceStart()
        elif self._is_racing:  # it cools down, is over, or is run again
            self._is_racing = False
            yield EVERYBODY, RaceStop()

    def _is_first(self, event: Event) -> bool:
        """Return whether a crossing begins the first lap of a car, so that no lap ended there."""
        log = self._director.run.logs.get(event.car)
        return log is not None and log.lap == 1

    def _list_missed(self) -> Iterator[tuple[int, Reply]]:
        run = self._director.run
        if run is not self._run:
            self._run, self._incident_count = run, 0
        news, self._incident_count = run.incidents[self._incident_count :], len(run.incidents)
        for incident in news:
            if incident.kind == "missed_checkpoint":
                yield incident.row, MissedCheckpoint()
